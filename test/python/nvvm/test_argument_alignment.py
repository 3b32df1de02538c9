"""What accesses need the memory of arguments to be aligned to is part of the interface."""

from __future__ import annotations

import numpy as np

import pipeline
from corpus.kernels_case import Array
from support import programs

EXP = """
!m = memref<64xf32>
func.func @main(%a: !m, %b: !m) {
  linalg.exp ins(%a : !m) outs(%b : !m)
  return
}
"""

# The sizes of the launches are arguments, and the kernel has none.
SIZES = """
module attributes {gpu.container_module} {
func.func @main(%n: index) {
  %c1 = arith.constant 1 : index
LAUNCHES
  return
}
gpu.module @m {
  gpu.func @nothing() kernel { gpu.return }
}
}
"""


def place(array: Array, past: int) -> Array:
    """Return a copy that starts `past` bytes behind a multiple of 32."""
    memory = np.zeros(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 32 + past
    copy = np.ndarray(array.shape, array.dtype, memory, start)
    copy[...] = array
    return copy


def test_alignment_of_fragments() -> None:
    """32 bytes for what `wmma` loads and stores, also by views; else what is assumed."""
    module = pipeline.compile(programs.WMMA)
    (kernel,) = module.kernels.values()
    assert [argument.alignment for argument in kernel.arguments] == [32, 32, 32]
    assert [argument.alignment for argument in module.entry().arguments] == [32, 32, 32]
    module = pipeline.compile(EXP)
    (kernel,) = module.kernels.values()
    assert [argument.alignment for argument in kernel.arguments] == [16, 16]
    assert [argument.alignment for argument in module.entry().arguments] == [16, 16]


def test_sizes_of_launches() -> None:
    """An argument that is the size of a launch is not passed to the kernel."""
    launch = "gpu.launch_func @m::@nothing blocks in (%c1, %c1, %c1) threads in (%n, %c1, %n)"
    for count in range(1, 21):  # what lies behind the operands of a launch differs
        module = pipeline.compile(SIZES.replace("LAUNCHES", (launch + "\n") * count))
        assert module.kernels["nothing"].arguments == ()


def test_arrays_that_are_aligned_to_less() -> None:
    """The emulator works on copies of them."""
    rng = np.random.default_rng(5)
    module = pipeline.compile(programs.WMMA)
    for past in (0, 16):
        a, b = (place(rng.integers(-4, 5, (16, 16)).astype("f2"), past) for _ in range(2))
        c = place(rng.integers(-4, 5, 256).astype("f4"), past)
        wanted = c + (a.astype("f4") @ b.astype("f4")).ravel()
        module.run(a, b, c, check="races")
        np.testing.assert_array_equal(c, wanted)
