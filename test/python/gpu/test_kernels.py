"""Single kernels launched on a GPU by ``Kernel.run``: the corpus, sizes, what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pipeline
from corpus.emulating import check_results, make_arguments
from corpus.kernels import CASES, Case
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import StandIn
from gpu.tensors import Torch

by_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@by_case
def test_corpus(gpu: StandIn, case: Case) -> None:
    """On arrays of the host, and in place on those of the GPU."""
    match = re.fullmatch(r"sm_(\d+)[af]?", case.chip)
    assert match is not None
    gpu.reset(f"chips={match[1]}")
    module = pipeline.compile(case.text, chip=case.chip, sync="keep")
    launches = EmulatedLaunches(gpu, module)
    sizes: dict[str, Any] = {"grid": case.grid, "block": case.block}
    if case.dynamic_bytes:
        sizes["dynamic_shared_bytes"] = case.dynamic_bytes
    on_host = make_arguments(case)
    report = module.kernels[case.kernel].run(*on_host, **sizes, backend="cuda")
    assert not report.findings
    check_results(case, on_host)
    given = make_arguments(case)
    # What has no name in the interface goes as bits.
    arrays = [gpu.put(value) if is_plain(value) else value for value in given]
    if all(is_plain(value) or not isinstance(value, np.ndarray) for value in given):
        module.kernels[case.kernel].run(*arrays, **sizes, backend="cuda")
        check_results(case, [getattr(value, "host", value) for value in arrays])
        assert [launch.name for launch in launches.launches] == 2 * [case.kernel]


def is_plain(value: Any) -> bool:
    """Return whether a value is a contiguous array, of elements that NumPy has by itself."""
    return (
        isinstance(value, np.ndarray)
        and bool(value.flags.c_contiguous)
        and value.dtype.isbuiltin == 1
    )


SHARED = """
gpu.module @m {
  gpu.func @k(%a: memref<?xf32>) kernel {
    %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    %n = gpu.block_dim x
    %view = memref.view %shared[%c0][%n] : memref<?xi8, #gpu.address_space<workgroup>>
        to memref<?xf32, #gpu.address_space<workgroup>>
    %x = memref.load %a[%i] : memref<?xf32>
    memref.store %x, %view[%i] : memref<?xf32, #gpu.address_space<workgroup>>
    %y = memref.load %view[%i] : memref<?xf32, #gpu.address_space<workgroup>>
    %z = arith.addf %y, %y : f32
    memref.store %z, %a[%i] : memref<?xf32>
    gpu.return
  }
}
"""


def test_dynamic_memory(gpu: StandIn) -> None:
    """More than any block has without asking is asked for, and never less than before."""
    module = pipeline.compile(SHARED, verify=False)
    EmulatedLaunches(gpu, module)
    kernel = module.kernels["k"]
    for size in (1024, 100_000, 60_000):
        a = np.arange(32, dtype=np.float32)
        kernel.run(a, grid=1, block=32, dynamic_shared_bytes=size, backend="cuda")
        np.testing.assert_array_equal(a, 2 * np.arange(32, dtype=np.float32))
    asked = [call for call in gpu.calls() if call.startswith("cuFuncSetAttribute")]
    assert len(asked) == 1
    assert "100000" in asked[0]
    with pytest.raises(pipeline.DeviceError, match="300000 bytes of shared memory") as caught:
        kernel.run(a, grid=1, block=32, dynamic_shared_bytes=300_000, backend="cuda")
    assert caught.value.index is None
    np.testing.assert_array_equal(a, 2 * np.arange(32, dtype=np.float32))


COPY = """
gpu.module @m {
  gpu.func @k(%a: memref<?xf32>, %b: memref<?xf32>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<?xf32>
    memref.store %x, %b[%i] : memref<?xf32>
    gpu.return
  }
}
"""


def test_refused(gpu: StandIn, torch: Torch) -> None:
    """Before anything is launched; what the emulator finds out, a GPU does not."""
    gpu.reset("chips=80,80")
    module = pipeline.compile(COPY, verify=False)
    launches = EmulatedLaunches(gpu, module)
    kernel = module.kernels["k"]
    a, b = (torch.put(np.ones(32, "f4")) for _ in range(2))
    fixed = np.ones(32, "f4")
    fixed.flags.writeable = False
    other = torch.put(np.ones(32, "f4"), 1)
    sizes: dict[str, Any] = {"grid": 1, "block": 32}
    wrong: list[tuple[tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
        ((fixed, np.ones(32, "f4")), {"backend": "cuda"}, pipeline.AccessError, "nobody finds out"),
        ((a, other), {}, pipeline.DeviceError, "argument 1 is on GPU 1, but argument 0 is on"),
        ((a, np.ones(32, "f4")), {}, pipeline.DeviceError, "argument 1 is on the host"),
        ((a, b), {"backend": "emulator"}, pipeline.DeviceError, "the emulator runs on the host"),
        ((a, b), {"check": "races"}, pipeline.DeviceError, "the emulator runs on the host"),
        ((a, b), {"block": 2048}, pipeline.UsageError, "a block of"),
        ((a, b), {"grid": (1, 70000)}, pipeline.UsageError, "a grid of"),
        ((a, b), {"grid": 3, "cluster": 2}, pipeline.UsageError, "no multiple of its clusters"),
        ((a, b), {"grid": 2, "cluster": 2}, pipeline.DeviceError, "launched in clusters, which"),
        ((a.as_strided((31,), (1,), 1), b), {}, pipeline.LayoutError, "no multiple of 16 bytes"),
        ((a, b), {"backend": "cuda", "seed": 3}, pipeline.UsageError, "has no checks, orders"),
    ]
    for values, options, error, words in wrong:
        with pytest.raises(error, match=words):
            kernel.run(*values, **(sizes | options))
    assert not launches.launches
    kernel.run(a, b, **sizes)
    assert len(launches.launches) == 1
