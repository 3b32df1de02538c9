"""What torch-mlir exports on a GPU: on arrays of NumPy, on tensors in place, by an operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pipeline
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import StandIn
from gpu.tensors import Torch
from pytorch.blocks import BLOCKS, Array, Block, make_input

OF_BLOCKS = pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)


def compare(result: Any, block: Block, x: Array, weights: list[Array]) -> None:
    expected = block.compute(x.astype(np.float64), *(w.astype(np.float64) for w in weights))
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-4, atol=1e-4)


@OF_BLOCKS
def test_weights_in_the_program(gpu: StandIn, block: Block) -> None:
    module = pipeline.compile(block.path(with_weights=False), chip="sm_80")
    EmulatedLaunches(gpu, module)
    for seed in range(2):
        x = make_input(block.input, np.random.default_rng(seed))
        compare(module.run(x, backend="cuda"), block, x, block.read_weights())


@OF_BLOCKS
def test_weights_as_tensors(gpu: StandIn, torch: Torch, block: Block) -> None:
    module = pipeline.compile(block.path(with_weights=True), chip="sm_80")
    EmulatedLaunches(gpu, module)
    for batch in (1, 3, 3, 5):  # the second call of 3 takes the quick way
        rng = np.random.default_rng(batch)
        x, weights = make_input((batch, *block.input[1:]), rng), block.make_weights(rng)
        result = module(*(torch.put(array) for array in (x, *weights)))
        compare(result.host, block, x, weights)


def test_operator(gpu: StandIn) -> None:
    torch: Any = pytest.importorskip("torch", reason="PyTorch is missing: ./tools/test --torch")
    block = BLOCKS[0]
    module = pipeline.compile(block.path(with_weights=True), chip="sm_80")
    EmulatedLaunches(gpu, module)
    op = pipeline.torch.custom_op(module, "workgroup_test::gpu", backend="cuda")
    rng = np.random.default_rng(7)
    weights = block.make_weights(rng)
    compiled = torch.compile(
        lambda x: op(x, *map(torch.from_numpy, weights)), fullgraph=True, backend="aot_eager"
    )
    for batch in (2, 4):
        x = make_input((batch, *block.input[1:]), rng)
        result = compiled(torch.from_numpy(x))
        assert result.device.type == "cpu"
        compare(result, block, x, weights)
