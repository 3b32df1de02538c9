"""Arrays of the host that share memory: what is written to one is in the others, on a GPU as well.

Only programs that were compiled for it take them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pipeline
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import StandIn

Array = npt.NDArray[Any]

M = "memref<?xi32, strided<[?], offset: ?>>"
# Reads each element of %c just before it writes it to %a, and then marks %b.
TEXT = f"""
module attributes {{gpu.container_module}} {{
  gpu.module @m {{
    gpu.func @k(%a: {M}, %b: {M}, %c: {M}) kernel {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %mark = arith.constant 1000 : i32
      %n = memref.dim %a, %c0 : {M}
      scf.for %i = %c0 to %n step %c1 {{
        %x = memref.load %c[%i] : {M}
        %y = arith.addi %x, %x : i32
        memref.store %y, %a[%i] : {M}
        %z = memref.load %b[%i] : {M}
        %w = arith.addi %z, %mark : i32
        memref.store %w, %b[%i] : {M}
      }}
      gpu.return
    }}
  }}
  func.func @main(%a: {M}, %b: {M}, %c: {M}) {{
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : {M}, %b : {M}, %c : {M})
    return
  }}
}}
"""

ARRAYS: dict[str, Callable[[Array], tuple[Array, Array, Array]]] = {
    "one array": (lambda x: (x[:8], x[:8], x[:8])),
    "two are one": (lambda x: (x[:8], x[8:16], x[:8])),
    "shifted": (lambda x: (x[4:12], x[:8], x[8:16])),
    "a chain": (lambda x: (x[:8], x[12:20], x[4:12])),
    "with gaps": (lambda x: (x[0:24:3], x[4:20:2], x[8:16])),
    "backwards": (lambda x: (x[16:8:-1], x[4:12], x[8:16])),
    "beside each other": (lambda x: (x[:8], x[8:16], x[16:24])),
    "no elements": (lambda x: (x[4:4], x[:4], x[:4])),
}


@pytest.fixture(scope="module")
def shared() -> pipeline.Module:
    return pipeline.compile(TEXT, sync="keep", verify=False)


def aligned() -> Array:
    memory = np.empty(64, "i4")
    first: int = -memory.ctypes.data % 64 // 4
    memory[first : first + 32] = np.arange(1, 33)
    return memory[first : first + 32]


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("what", ["kernel", "function"])
def test_shared_memory(gpu: StandIn, shared: pipeline.Module, name: str, what: str) -> None:
    EmulatedLaunches(gpu, shared)
    shared._gpu._reset()
    memories = []
    for backend in ("emulator", "cuda"):
        memory = aligned()
        arrays = ARRAYS[name](memory)
        if what == "kernel":
            shared.kernels["k"].run(*arrays, grid=1, block=1, backend=backend)
        else:
            shared.run(*arrays, backend=backend)
        memories.append(memory)
    np.testing.assert_array_equal(memories[1], memories[0])


@pytest.mark.parametrize("backend", ["cuda", "emulator"])
def test_where_copies_would_be_aligned(gpu: StandIn, shared: pipeline.Module, backend: str) -> None:
    """One copy of both cannot be, if they are not."""
    memory = aligned()
    before = memory.copy()
    with pytest.raises(pipeline.LayoutError, match=r"argument 1 .* and overlaps") as error:
        shared.run(memory[:8], memory[1:9], memory[16:24], backend=backend)  # type: ignore[arg-type]
    assert error.value.index == 1
    np.testing.assert_array_equal(memory, before)
    assert not [call for call in gpu.calls() if call.startswith("cuLaunch")]


def test_what_is_only_read(gpu: StandIn) -> None:
    """It is copied to where it is aligned, also if it overlaps."""
    module = pipeline.compile("""
!m = memref<?xf32>
func.func @main(%a: !m, %b: !m, %c: !m) {
  linalg.add ins(%a, %b : !m, !m) outs(%c : !m)
  return
}
""")
    EmulatedLaunches(gpu, module)
    memory, c = aligned().view("f4"), np.zeros(8, "f4")
    memory[...] = np.arange(32)
    module.run(memory[1:9], memory[2:10], c, backend="cuda")
    np.testing.assert_array_equal(c, memory[1:9] + memory[2:10])
