"""What copies cost: the accesses in their PTX, and what the emulator counts as they run."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array, Dim3
from support import ptx_text
from support.launching import launch

DENSE = 1.0
"""As many sectors, or wavefronts, as if the lanes' accesses lay side by side."""


@dataclass(frozen=True)
class Cost:
    """What all threads together do to one memory: bytes, and their price beside the least."""

    bytes: int
    ratio: float


def numbered(*shape: int, kind: str) -> Array:
    """Return an array whose elements are all different, as far as their bytes allow."""
    size = np.dtype(kind).itemsize
    return np.arange(np.prod(shape), dtype=f"u{size}").reshape(shape).view(kind)


def assert_same_bits(actual: Array, expected: Array) -> None:
    """Compare as whole numbers: some of the elements are no numbers."""
    kind = f"u{expected.itemsize}"
    assert np.array_equal(actual.view(kind), expected.view(kind))


def accesses(kernel: ptx_text.Kernel) -> Counter[tuple[str, int]]:
    """Count the accesses in the text of a kernel by what they do and how many bytes they take."""
    counts: Counter[tuple[str, int]] = Counter()
    for instruction in kernel.instructions:
        head = ".".join(instruction.opcode.split(".")[:2])
        if head == "cp.async" and len(instruction.operands) == 3:
            counts[head, int(instruction.operands[2])] += 1
        elif head.startswith(("ld", "st")) and head != "ld.param":
            vector = re.search(r"\.v(\d)\.", instruction.opcode)
            bits = ptx_text.bits_of(instruction.opcode.split(".")[-1])
            counts[head, bits // 8 * int(vector[1] if vector else 1)] += 1
    return counts


def parse(module: pipeline.Module) -> ptx_text.Kernel:
    """Return the only kernel of a module."""
    (kernel,) = ptx_text.parse(module.ptx).values()
    return kernel


def is_straight_line(kernel: ptx_text.Kernel) -> bool:
    """Tell whether each thread executes each instruction once."""
    return not kernel.labels and all(
        instruction.guard is None and not instruction.opcode.startswith("bra")
        for instruction in kernel.instructions
    )


def costs(
    module: pipeline.Module,
    *arrays: Array,
    grid: Dim3 | None = None,
    block: Dim3 | None = None,
    blocks: int = 0,
) -> dict[str, Cost]:
    """Run the only kernel of a module; return its costs by `global read` and so on."""
    (kernel,) = module.kernels.values()
    report = kernel.emulate(
        *arrays,
        grid=grid,
        block=block,
        options=pipeline.Options(statistics=True, blocks=blocks),
    )
    assert not report.findings
    assert report.blocks_run == (blocks or report.blocks)
    assert report.statistics is not None
    found: dict[str, list[tuple[int, int, int]]] = {}
    for place in report.statistics.per_access:
        pair = (
            (place.wavefronts, place.ideal_wavefronts)
            if place.space == "shared"
            else (place.sectors, place.dense_sectors)
        )
        name = f"{place.space} {place.kind}"
        found.setdefault(name, []).append((place.accesses * place.bytes, *pair))
    sums = {name: np.sum(rows, axis=0) for name, rows in found.items()}
    return {name: Cost(int(row[0]), float(row[1] / row[2])) for name, row in sums.items()}


# --- a tile, through workgroup memory -------------------------------------------------------------

TILE, THREADS = 64, 128
TILE_BYTES = TILE * TILE * 2
PER_THREAD = TILE_BYTES // 16 // THREADS
WAYS = ("copies=sync", "")
"""By loads and stores, and by cp.async, which is the default."""


def tile_program(rows: int, columns: int, *, first_column: int = 0, margin: int = 0) -> str:
    """Return a program whose blocks each take a tile of `%a` into a buffer, and on to `%b`.

    `%a` has `margin` columns more than `%b`; what is copied of it begins at `first_column`.
    """
    source, target = f"memref<{rows}x{columns + margin}xf16>", f"memref<{rows}x{columns}xf16>"
    buffer = f"memref<{TILE}x{TILE}xf16, #gpu.address_space<workgroup>>"

    def tile(stride: int) -> str:
        return f"memref<{TILE}x{TILE}xf16, strided<[{stride}, 1], offset: ?>>"

    return f"""\
func.func @main(%a: {source}, %b: {target}) {{
  %c1 = arith.constant 1 : index
  %c{TILE} = arith.constant {TILE} : index
  %threads = arith.constant {THREADS} : index
  %columns = arith.constant {columns // TILE} : index
  %rows = arith.constant {rows // TILE} : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %columns, %gy = %rows, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %threads, %ny = %c1, %nz = %c1) {{
    %w = memref.alloc() : {buffer}
    %i = arith.muli %by, %c{TILE} : index
    %j = arith.muli %bx, %c{TILE} : index
    %k = affine.apply affine_map<(j) -> (j + {first_column})>(%j)
    %from = memref.subview %a[%i, %k] [{TILE}, {TILE}] [1, 1]
        : {source} to {tile(columns + margin)}
    %to = memref.subview %b[%i, %j] [{TILE}, {TILE}] [1, 1] : {target} to {tile(columns)}
    memref.copy %from, %w : {tile(columns + margin)} to {buffer}
    memref.copy %w, %to : {buffer} to {tile(columns)}
    gpu.terminator
  }}
  return
}}
"""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("rows", "columns"), [(TILE, TILE), (3 * TILE, 2 * TILE)])
def test_tile(rows: int, columns: int, way: str) -> None:
    """Four accesses of 16 bytes per thread and memory, in straight line, each at the least cost."""
    module = pipeline.compile(tile_program(rows, columns), memory_options=way, sync="keep")
    kernel = parse(module)
    assert PER_THREAD == 4
    assert is_straight_line(kernel)
    ways_in = [("cp.async", 16)] if way == "" else [("ld.global", 16), ("st.shared", 16)]
    ways_out = [("ld.shared", 16), ("st.global", 16)]
    assert accesses(kernel) == dict.fromkeys(ways_in + ways_out, PER_THREAD)

    a = numbered(rows, columns, kind="f2")
    b, interpreted = np.zeros_like(a), np.zeros_like(a)
    assert costs(module, a, b) == dict.fromkeys(
        ("global read", "shared write", "shared read", "global write"), Cost(a.nbytes, DENSE)
    )
    assert_same_bits(b, a)
    barriers = launch(module, [a, interpreted])
    assert barriers == a.nbytes // TILE_BYTES
    assert_same_bits(interpreted, a)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("first_column", "width", "sectors"),
    # Of 32 bytes: those that 32 lanes touch, beside those that their bytes would fill.
    [(16, 16, 16 / 16), (8, 16, 20 / 16), (4, 8, 10 / 8), (2, 4, 5 / 4), (1, 2, 3 / 2)],
)
def test_tile_off_alignment(first_column: int, width: int, sectors: float, way: str) -> None:
    """Accesses are as wide as the rows are aligned, and no wider."""
    text = tile_program(TILE, TILE, first_column=first_column, margin=16)
    module = pipeline.compile(text, memory_options=way, sync="keep")
    head = "cp.async" if way == "" and width >= 4 else "ld.global"
    reads = [access for access in accesses(parse(module)) if access[0] in ("cp.async", "ld.global")]
    assert reads == [(head, width)]

    a = numbered(TILE, TILE + 16, kind="f2")
    b = np.zeros((TILE, TILE), a.dtype)
    assert costs(module, a, b)["global read"] == Cost(TILE_BYTES, sectors)
    assert_same_bits(b, np.ascontiguousarray(a[:, first_column:][:, :TILE]))


# --- an array, by all blocks ----------------------------------------------------------------------

SIDE = 8192


def array_program(rows: int, columns: int, side: int) -> str:
    """Return a program whose blocks each copy so many rows and columns of a static array."""
    array = f"memref<{side}x{side}xf32>"
    part = f"memref<{rows}x{columns}xf32, strided<[{side}, 1], offset: ?>>"
    return f"""\
func.func @main(%a: {array}, %b: {array}) {{
  %c1 = arith.constant 1 : index
  %threads = arith.constant 256 : index
  %height = arith.constant {rows} : index
  %width = arith.constant {columns} : index
  %rows = arith.constant {side // rows} : index
  %columns = arith.constant {side // columns} : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %columns, %gy = %rows, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %threads, %ny = %c1, %nz = %c1) {{
    %i = arith.muli %by, %height : index
    %j = arith.muli %bx, %width : index
    %from = memref.subview %a[%i, %j] [{rows}, {columns}] [1, 1] : {array} to {part}
    %to = memref.subview %b[%i, %j] [{rows}, {columns}] [1, 1] : {array} to {part}
    memref.copy %from, %to : {part} to {part}
    gpu.terminator
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("rows", "columns", "blocks"),
    [(64, 64, 0), (1, SIDE, 512), (16, 512, 512), (32, 32, 512)],
)
def test_array(rows: int, columns: int, blocks: int) -> None:
    """Every access is of 16 bytes, and all blocks, or `blocks` of them, move each byte once."""
    side = SIDE if blocks else SIDE // 4
    module = pipeline.compile(array_program(rows, columns, side), sync="keep")
    kernel = parse(module)
    assert is_straight_line(kernel)
    assert set(accesses(kernel)) == {("ld.global", 16), ("st.global", 16)}

    a = numbered(side, side, kind="f4")
    b = np.zeros_like(a)
    size = blocks * rows * columns * 4 or side * side * 4
    assert costs(module, a, b, blocks=blocks) == dict.fromkeys(
        ("global read", "global write"), Cost(size, DENSE)
    )
    if blocks == 0:
        assert_same_bits(b, a)


# --- arrays whose sizes only the launch knows -----------------------------------------------------


def dynamic_program(body: str) -> str:
    """Return a program of blocks of 256 threads that do `body`; `%n` is how many columns are."""
    return f"""\
#rows = strided<[?, 1], offset: ?>
#row = strided<[1], offset: ?>
func.func @main(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %blocks: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %n = memref.dim %a, %c1 : memref<?x?xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %blocks, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c256, %ny = %c1, %nz = %c1) {{{body}
    gpu.terminator
  }}
  return
}}
"""


RAGGED_TILES = """
    %i = affine.apply affine_map<(b) -> (b * 64)>(%by)
    %j = affine.apply affine_map<(b) -> (b * 64)>(%bx)
    %height = affine.min affine_map<(i)[m] -> (64, m - i)>(%i)[%m]
    %width = affine.min affine_map<(j)[n] -> (64, n - j)>(%j)[%n]
    %from = memref.subview %a[%i, %j] [%height, %width] [1, 1]
        : memref<?x?xf32> to memref<?x?xf32, #rows>
    %to = memref.subview %b[%i, %j] [%height, %width] [1, 1]
        : memref<?x?xf32> to memref<?x?xf32, #rows>
    memref.copy %from, %to : memref<?x?xf32, #rows> to memref<?x?xf32, #rows>"""
WHOLE_TILES = """
    %i = affine.apply affine_map<(b) -> (b * 64)>(%by)
    %j = affine.apply affine_map<(b) -> (b * 64)>(%bx)
    %from = memref.subview %a[%i, %j] [64, 64] [1, 1]
        : memref<?x?xf32> to memref<64x64xf32, #rows>
    %to = memref.subview %b[%i, %j] [64, 64] [1, 1]
        : memref<?x?xf32> to memref<64x64xf32, #rows>
    memref.copy %from, %to : memref<64x64xf32, #rows> to memref<64x64xf32, #rows>"""
ROWS = """
    %from = memref.subview %a[%bx, 0] [1, %n] [1, 1] : memref<?x?xf32> to memref<?xf32, #row>
    %to = memref.subview %b[%bx, 0] [1, %n] [1, 1] : memref<?x?xf32> to memref<?xf32, #row>
    memref.copy %from, %to : memref<?xf32, #row> to memref<?xf32, #row>"""
WHOLE = """
    memref.copy %a, %b : memref<?x?xf32> to memref<?x?xf32>"""
PIECES = """
    %x = memref.collapse_shape %a [[0, 1]] : memref<?x?xf32> into memref<?xf32>
    %y = memref.collapse_shape %b [[0, 1]] : memref<?x?xf32> into memref<?xf32>
    %i = affine.apply affine_map<(b) -> (b * 4096)>(%bx)
    %from = memref.subview %x[%i] [4096] [1] : memref<?xf32> to memref<4096xf32, #row>
    %to = memref.subview %y[%i] [4096] [1] : memref<?xf32> to memref<4096xf32, #row>
    memref.copy %from, %to : memref<4096xf32, #row> to memref<4096xf32, #row>"""


@pytest.mark.parametrize(
    ("body", "shape", "grid", "widths"),
    [
        pytest.param(RAGGED_TILES, (100, 168), (3, 2), [4], id="ragged tiles"),
        pytest.param(WHOLE_TILES, (128, 192), (3, 2), [4], id="whole tiles"),
        pytest.param(ROWS, (5, 1000), (5, 1), [4], id="rows"),
        pytest.param(WHOLE, (37, 53), (1, 1), [16, 4], id="one copy"),
        pytest.param(PIECES, (128, 96), (3, 1), [16], id="pieces of it in one dimension"),
    ],
)
def test_dynamic_array(
    body: str, shape: tuple[int, int], grid: tuple[int, int], widths: list[int]
) -> None:
    """Wide where memory is known to be contiguous, else by elements; dense either way.

    That rows begin at multiples of 16 bytes is known of no array whose number of columns is not.
    """
    module = pipeline.compile(dynamic_program(body))
    heads = ("ld.global", "st.global")
    kinds = {(head, width) for head in heads for width in widths}
    assert set(accesses(parse(module))) == kinds

    a = numbered(*shape, kind="f4")
    b = np.zeros_like(a)
    found = costs(module, a, b, grid=(*grid, 1), block=(256, 1, 1))
    assert found == dict.fromkeys(("global read", "global write"), Cost(a.nbytes, DENSE))
    assert_same_bits(b, a)
