"""Workgroup memory allocated in every place it can stand, in every spelling: right numbers."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline
from support.launching import launch

SPACES = ("3", "#gpu.address_space<workgroup>", "#nvvm.memory_space<shared>")

HEAD = """\
func.func @main(%in: memref<4x64xf32>, %out: memref<4x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  HOST_BEFORE
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    KERNEL_BEFORE
    scf.for %i = %c0 to %c4 step %c1 {
      LOOP_BEFORE
      %row = memref.subview %in[%i, 0] [1, 64] [1, 1]
          : memref<4x64xf32> to memref<64xf32, strided<[1], offset: ?>>
      memref.copy %row, %w : memref<64xf32, strided<[1], offset: ?>> to TYPE
      %other = arith.subi %c63, %tx : index
      %v = memref.load %w[%other] : TYPE
      memref.store %v, %out[%i, %tx] : memref<4x64xf32>
      LOOP_AFTER
    }
    KERNEL_AFTER
    gpu.terminator
  }
  HOST_AFTER
  return
}
"""
PLACES = ("HOST", "KERNEL", "LOOP")


def program(place: str, space: str, before: str, after: str = "") -> str:
    """Return the program that reverses rows through a buffer made at one place."""
    text = HEAD
    for name in PLACES:
        text = text.replace(f"{name}_BEFORE", before if name == place else "")
        text = text.replace(f"{name}_AFTER", after if name == place else "")
    return text.replace("TYPE", f"memref<64xf32, {space}>")


def check(text: str) -> None:
    """Run the program on random numbers; the interpreter sees races and barriers missed."""
    module = pipeline.compile(text)
    (kernel,) = module.kernels.values()
    generator = np.random.default_rng(7)
    source, result = generator.standard_normal((2, 4, 64), dtype=np.float32)
    launch(module, [source, result], grid=(1, 1, 1), block=(64, 1, 1))
    np.testing.assert_array_equal(result, source[:, ::-1])
    assert kernel.static_shared_bytes == 256
    assert ".local" not in module.ptx
    assert "malloc" not in module.ptx


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("op", ["alloc", "alloca"])
def test_place(op: str, place: str, space: str) -> None:
    after = "memref.dealloc %w : TYPE" if op == "alloc" else ""
    check(program(place, space, f"%w = memref.{op}() : TYPE", after))


@pytest.mark.parametrize("place", PLACES)
def test_without_dealloc(place: str) -> None:
    check(program(place, SPACES[1], "%w = memref.alloc() : TYPE"))


@pytest.mark.parametrize("place", PLACES)
def test_view(place: str) -> None:
    """A column of a larger buffer, as promotion and padding leave it."""
    text = program(
        place,
        SPACES[1],
        "%bytes = memref.alloc() : memref<256xi8, #gpu.address_space<workgroup>>\n"
        "%w = memref.view %bytes[%c0][]"
        " : memref<256xi8, #gpu.address_space<workgroup>> to TYPE",
        "memref.dealloc %bytes : memref<256xi8, #gpu.address_space<workgroup>>",
    )
    check(text)


@pytest.mark.parametrize("place", PLACES)
def test_global(place: str) -> None:
    table = 'memref.global "private" @table : memref<64xf32, 3> = uninitialized\n'
    check(table + program(place, "3", "%w = memref.get_global @table : TYPE"))


def test_branch() -> None:
    """In a branch that all threads take together."""
    text = program("LOOP", "3", "%w = memref.alloc() : TYPE", "memref.dealloc %w : TYPE")
    text = text.replace("%w = memref.alloc", "scf.if %some {\n%w = memref.alloc")
    text = text.replace("memref.dealloc %w : memref<64xf32, 3>", "}")
    text = text.replace("scf.for", "%some = arith.cmpi ult, %bx, %c1 : index\nscf.for")
    check(text)


def test_function() -> None:
    """In a function that the kernel calls."""
    text = HEAD
    for name in PLACES:
        text = text.replace(f"{name}_BEFORE", "").replace(f"{name}_AFTER", "")
    body = text[text.index("%row =") : text.index("memref.store %v")]
    kernel = text.replace(
        body, "%v = func.call @reversed(%in, %i, %tx) : (memref<4x64xf32>, index, index) -> f32\n"
    )
    check(
        f"""\
func.func private @reversed(%in: memref<4x64xf32>, %i: index, %tx: index) -> f32 {{
  %c63 = arith.constant 63 : index
  %w = memref.alloc() : TYPE
  {body}
  memref.dealloc %w : TYPE
  return %v : f32
}}
{kernel}""".replace("TYPE", "memref<64xf32, #gpu.address_space<workgroup>>")
    )


OUTLINED = """\
gpu.module @kernels {
  gpu.func @kernel(%in: memref<4x64xf32>, %out: memref<4x64xf32>) ATTRIBUTION kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tx = gpu.thread_id x
    BODY
    gpu.return
  }
}
"""


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("place", ["ATTRIBUTION", "KERNEL", "LOOP"])
def test_outlined(place: str, space: str) -> None:
    """In kernels that somebody else outlined."""
    text = program(place, space, "%w = memref.alloc() : TYPE", "memref.dealloc %w : TYPE")
    constants = text[text.index("%c0 =") : text.index("gpu.launch")]
    body = text[text.index("{", text.index("threads(")) + 1 : text.index("gpu.terminator")]
    attribution = f"workgroup(%w : memref<64xf32, {space}>)" if place == "ATTRIBUTION" else ""
    check(OUTLINED.replace("BODY", constants + body).replace("ATTRIBUTION", attribution))
