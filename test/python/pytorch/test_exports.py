"""Programs as torch-mlir exports them, with nothing but their text: compiled, and run on NumPy's.

What they are exported from is in ``torch_modules.py``; here nothing needs PyTorch.
"""

from __future__ import annotations

import numpy as np
import pytest

import pipeline
from pytorch.blocks import BLOCKS, Array, Block, make_input


def check(
    module: pipeline.Module, block: Block, x: Array, weights: list[Array], *given: Array
) -> None:
    result = module.run(x, *given, check="races", workers=1)
    expected = block.compute(x.astype(np.float64), *(w.astype(np.float64) for w in weights))
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_weights_in_the_program(block: Block) -> None:
    module = pipeline.compile(block.path(with_weights=False), chip="sm_80")
    assert not module.diagnostics
    weights = block.read_weights()
    for seed in range(3):
        check(module, block, make_input(block.input, np.random.default_rng(seed)), weights)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_weights_as_arguments(block: Block) -> None:
    module = pipeline.compile(block.path(with_weights=True), chip="sm_80")
    assert not module.diagnostics
    for batch in (1, 2, 3, 9, 0):
        rng = np.random.default_rng(batch)
        weights = block.make_weights(rng)
        x = make_input((batch, *block.input[1:]), rng)
        check(module, block, x, weights, *weights)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_wrong_shapes_are_refused(block: Block) -> None:
    module = pipeline.compile(block.path(with_weights=True), chip="sm_80")
    rng = np.random.default_rng(0)
    weights = block.make_weights(rng)
    wide = make_input((*block.input[:-1], block.input[-1] + 1), rng)
    with pytest.raises(pipeline.ShapeError, match="argument 0 has shape"):
        module.run(wide, *weights)
    with pytest.raises(pipeline.ShapeError, match="argument 2 has shape"):
        module.run(make_input(block.input, rng), weights[0], weights[1][:-1], *weights[2:])
    with pytest.raises(pipeline.DTypeError, match="argument 0 has elements of type float64"):
        module.run(make_input(block.input, rng).astype(np.float64), *weights)
