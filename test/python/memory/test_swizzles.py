"""Tiles that TMA swizzles, and slots of rings that are padded or swizzled: right, and fast."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest

import pipeline
from pipeline.runtime.emulator import AsyncMode, Order

Array = npt.NDArray[Any]
ORDERS: tuple[Order | int, ...] = ("forward", "reverse", 5)
MODES: tuple[AsyncMode | int, ...] = ("on_wait", "eager", 5)
BYTES = {"i8": 1, "f16": 2, "f32": 4, "f64": 8}
THREADS = 64
Read = Literal["chunks", "elements"]


@dataclass(frozen=True)
class Program:
    """Blocks that copy tiles of `%a`, one per iteration of a loop, and write their columns to `%c`.

    A thread reads 16 bytes, or one element, of row `t mod rows`.
    """

    rows: int
    columns: int
    element: str = "f32"
    iterations: int = 1
    read: Read = "chunks"
    blocks: int = 2
    width: int = 0
    """Columns of the array; none asked for are as many as those of the tile."""

    @property
    def run(self) -> int:
        """Elements that a thread reads at once."""
        return 16 // BYTES[self.element] if self.read == "chunks" else 1

    @property
    def can_be_ideal(self) -> bool:
        """Copies of 16 bytes at once leave single elements of a column in conflict."""
        return self.read == "chunks" and self.rows % 8 == 0

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, ...]]:
        height = self.rows * self.blocks * self.iterations
        runs = self.columns // self.run
        return (height, self.width or self.columns), (
            self.blocks * self.iterations,
            runs,
            self.rows,
            self.run,
        )

    @property
    def text(self) -> str:
        rows, columns, run = self.rows, self.columns, self.run
        (height, width), result = self.shapes
        a = f"memref<{height}x{width}x{self.element}>"
        c = f"memref<{'x'.join(map(str, result))}x{self.element}>"
        tile = f"memref<{rows}x{columns}x{self.element}, #wg>"
        view = f"memref<{rows}x{columns}x{self.element}, strided<[{width}, 1], offset: ?>>"
        vector = f"vector<{run}x{self.element}>"
        return f"""
#wg = #gpu.address_space<workgroup>
func.func @main(%a: {a} {{llvm.noalias}}, %c: {c} {{llvm.noalias}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %iterations = arith.constant {self.iterations} : index
  %blocks = arith.constant {self.blocks} : index
  %threads = arith.constant {THREADS} : index
  %items = arith.constant {rows * columns // run} : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {{
    %tile = memref.alloc() : {tile}
    scf.for %k = %c0 to %iterations step %c1 {{
      %number = affine.apply affine_map<(b, k) -> (b * {self.iterations} + k)>(%bx, %k)
      %at = affine.apply affine_map<(n) -> (n * {rows})>(%number)
      %source = memref.subview %a[%at, 0] [{rows}, {columns}] [1, 1] : {a} to {view}
      memref.copy %source, %tile : {view} to {tile}
      scf.for %i = %tx to %items step %threads {{
        %row = affine.apply affine_map<(i) -> (i mod {rows})>(%i)
        %part = affine.apply affine_map<(i) -> (i floordiv {rows})>(%i)
        %column = affine.apply affine_map<(i) -> (i floordiv {rows} * {run})>(%i)
        %x = vector.load %tile[%row, %column] : {tile}, {vector}
        vector.store %x, %c[%number, %part, %row, %c0] : {c}, {vector}
      }}
    }}
    gpu.terminator
  }}
  return
}}
"""

    def make_input(self) -> Array:
        numbers = np.random.default_rng(11).integers(1, 100, self.shapes[0])
        return numbers.astype(f"{self.element[0]}{BYTES[self.element]}")

    def expect(self, array: Array) -> Array:
        count, runs, rows, run = self.shapes[1]
        tiles = array[:, : self.columns].reshape(count, rows, runs, run)
        return tiles.transpose(0, 2, 1, 3)


def compile_program(text: str, options: str) -> pipeline.Module:
    return pipeline.compile(text, chip="sm_90", until="llvm", memory_options=options)


def check(module: pipeline.Module, program: Program) -> None:
    """Run the program in all orders and modes, with all checks, against NumPy."""
    array = program.make_input()
    for order in ORDERS:
        for mode in MODES:
            result = np.zeros(program.shapes[1], array.dtype)
            options = pipeline.Options(check="all", order=order, async_mode=mode, workers=1)
            (report,) = module.emulate(array, result, options=options)
            assert not report.findings, str(report)
            np.testing.assert_array_equal(result, program.expect(array))


def get_wavefronts(module: pipeline.Module, program: Program) -> float:
    """Return the wavefronts of reads of workgroup memory, by the fewest that there can be."""
    array = program.make_input()
    result = np.zeros(program.shapes[1], array.dtype)
    options = pipeline.Options(statistics=True, workers=1)
    (report,) = module.emulate(array, result, options=options)
    assert report.statistics is not None
    reads = [
        place
        for place in report.statistics.per_access
        if place.space == "shared" and place.kind == "read"
    ]
    assert reads
    return sum(p.wavefronts for p in reads) / sum(p.ideal_wavefronts for p in reads)


def lower(program: Program, options: str) -> str:
    """Return the kernel and its launch, as the passes on memory leave them."""
    text = pipeline.compile(program.text, chip="sm_90", until="gpu", memory_options=options)
    return text.texts["gpu"]


SWIZZLED = [
    Program(32, 32),
    Program(64, 16),
    Program(64, 8),
    Program(64, 64, "f16"),
    Program(24, 32, "f16"),
    Program(128, 128, "i8"),
    Program(40, 16, "f64"),
    Program(20, 32),
    Program(32, 32, iterations=3),
    Program(512, 8),
    Program(16, 32, width=48, iterations=2),
    Program(17, 16),
    Program(264, 32),
    Program(32, 32, read="elements"),
    Program(64, 64, "f16", read="elements"),
]


@pytest.mark.parametrize("program", SWIZZLED, ids=str)
def test_swizzled_tiles(program: Program) -> None:
    """Columns of tiles that TMA swizzles are right, and have no conflicts in chunks of 16 bytes."""
    row_bytes = program.columns * BYTES[program.element]
    assert f"swizzle = swizzle_{row_bytes}b" in lower(program, "copies=tma")
    module = compile_program(program.text, "copies=tma")
    check(module, program)
    plain = compile_program(program.text, "copies=tma resolve-bank-conflicts=false")
    before, after = (get_wavefronts(each, program) for each in (plain, module))
    assert after < before
    assert after == 1 or not program.can_be_ideal


RINGS = [
    Program(32, 32, iterations=5),
    Program(64, 64, "f16", iterations=4),
    Program(32, 16, iterations=5),
    Program(16, 24, iterations=5),
    Program(20, 32, iterations=5),
    Program(32, 32, iterations=5, read="elements"),
    Program(16, 64, iterations=3),
]


@pytest.mark.parametrize("engine", ["tma", "cp-async", "registers"])
@pytest.mark.parametrize("program", RINGS, ids=str)
def test_slots_of_rings(program: Program, engine: str) -> None:
    """Slots get the layouts that buffers do: padded, or swizzled, by TMA as by the block."""
    options = f"slots=3 engine={engine}"
    module = compile_program(program.text, options)
    check(module, program)
    plain = compile_program(program.text, f"{options} resolve-bank-conflicts=false")
    before, after = (get_wavefronts(each, program) for each in (plain, module))
    row_bytes = program.columns * BYTES[program.element]
    if engine != "tma":
        assert after < before
        assert after == 1 or not program.can_be_ideal
    elif row_bytes in (32, 64, 128):
        assert f"swizzle = swizzle_{row_bytes}b" in lower(program, options)
        assert after < before
        assert after == 1 or not program.can_be_ideal
    else:
        assert after == before


MUTANTS = {
    "rows that are not swizzled": (r"swizzle_128b", "none"),
    "another chunk": (r"arith.xori (%\w+), %\w+ : index", r"arith.ori \1, \1 : index"),
    "another period": (r"arith.remui (%\w+), %c8(\w*) ", r"arith.remui \1, %c4\2 "),
}


@pytest.mark.parametrize("options", ["copies=tma", "slots=2 engine=tma"])
@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name: str, options: str) -> None:
    """What writers and readers do has to be the same."""
    program = Program(32, 32, iterations=3)
    text = lower(program, options)
    mutant, count = re.subn(*MUTANTS[name], text)
    assert count > 0
    module = compile_program(mutant, "")
    check(compile_program(text, ""), program)
    with pytest.raises((AssertionError, pipeline.KernelFaultError)):
        check(module, program)
