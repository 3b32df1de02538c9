"""The acceptance situations of synchronisation as MLIR: views, calls, global memory, copies."""

from __future__ import annotations

import re
from dataclasses import dataclass

from corpus import kernels_bulk, kernels_mbarrier
from corpus.kernels_case import function, module


@dataclass(frozen=True)
class Kernel:
    """A module, and what the passes have to say and to do about it.

    Counts are of barriers of the block and of warps; within loops first, then outside."""

    name: str
    text: str
    verdicts: tuple[str, ...]
    inserted: tuple[int, int, int, int] | None = None
    left: tuple[int, int, int, int] | None = None
    """After elimination."""


_WG = "memref<128xi32, #wg>"
_ARGUMENTS = "%in: memref<?x128xi32> {llvm.noalias}, %out: memref<?x128xi32> {llvm.noalias}"
_X = "%x = memref.load %in[%bx, %tx] : memref<?x128xi32>"
_U = "%u = arith.subi %c127, %tx : index"
_END = "memref.store %y, %out[%bx, %tx] : memref<?x128xi32>"
_WRITE = f"memref.store %x, %A[%tx] : {_WG}"
_BARRIER = "gpu.barrier"
_SIZES = (128, 1, 1)


def count(text: str) -> tuple[int, int, int, int]:
    """Return how many barriers of the block and of warps are in loops, and outside."""
    counts = [0, 0, 0, 0]
    is_loop: list[bool] = []
    for line in map(str.strip, text.splitlines()):
        line = re.sub(r" loc\(.*\)$", "", line)
        was_loop = is_loop.pop() if line.startswith("}") else False
        for kind, opening in enumerate(("gpu.barrier", "nvvm.bar.warp.sync")):
            if line.startswith(opening):
                counts[kind + (0 if any(is_loop) else 2)] += 1
        if line.endswith("{"):
            begins = re.search(r"\b(scf\.(for|while)|affine\.for)\b", line)
            is_loop.append(bool(begins) or was_loop)
    return counts[0], counts[1], counts[2], counts[3]


def kernel(*lines: str, arguments: str = "", buffers: str = f"%A: {_WG}, %B: {_WG}") -> str:
    """Return a module with a kernel for blocks of 128 threads."""
    body = "\n".join(f"    {line}" for line in (_X, _U, *lines))
    both = ", ".join(part for part in (_ARGUMENTS, arguments) if part)
    return module(function("k", both, body, block=_SIZES, buffers=buffers))


def store(value: str = "%y") -> str:
    """Return the store of what a thread has found."""
    return f"memref.store {value}, %out[%bx, %tx] : memref<?x128xi32>"


# --- the barrier that is deleted by others --------------------------------------------------------

_STRIDED = "memref<128xi32, strided<[1]>, #wg>"
_CAST = "to offset: [0], sizes: [128], strides: [1]"
# Another name of %A, and its type.
ALIASES = {
    "reinterpret_cast": (
        f"%v = memref.reinterpret_cast %A {_CAST} : {_WG} to {_STRIDED}",
        _STRIDED,
    ),
    "select": (f"%v = arith.select %f, %A, %B : {_WG}", _WG),
    "memory_space_cast": (
        f"%v = memref.memory_space_cast %A : {_WG} to memref<128xi32>",
        "memref<128xi32>",
    ),
    "extract_strided_metadata": (
        f"%base, %o, %s, %st = memref.extract_strided_metadata %A : {_WG} -> memref<i32, #wg>, "
        "index, index, index\n"
        f"    %v = memref.reinterpret_cast %base {_CAST} : memref<i32, #wg> to {_STRIDED}",
        _STRIDED,
    ),
    "assume_alignment": (f"%v = memref.assume_alignment %A, 16 : {_WG}", _WG),
    "if": (
        f"%v = scf.if %f -> ({_WG}) {{\n      scf.yield %A : {_WG}\n    }} else {{\n"
        f"      scf.yield %B : {_WG}\n    }}",
        _WG,
    ),
}


def aliased(name: str, between: str) -> str:
    """Return a kernel that writes to a buffer, and reads it by another name."""
    make, kind = ALIASES[name]
    read = f"%y = memref.load %v[%u] : {kind}"
    return kernel(make, _WRITE, between, read, _END, arguments="%f: i1")


_ALIASED = tuple(
    kernel
    for name in ALIASES
    for kernel in (
        Kernel(f"12 {name}", aliased(name, ""), ("RACE", "MAYBE"), (0, 0, 1, 0)),
        Kernel(
            f"12 {name} with a barrier",
            aliased(name, _BARRIER),
            ("SAFE",),
            (0, 0, 0, 0),
            (0, 0, 1, 0),
        ),
    )
)

# --- views ----------------------------------------------------------------------------------------

_ROWS = "memref<8x16xi32, #wg>"
_FIRST = "memref<64xi32, strided<[1]>, #wg>"
_LATER = "memref<64xi32, strided<[1], offset: {}>, #wg>"


def subviews(first: int, second: int, index: str) -> str:
    """Return a kernel of threads that write one part of a buffer and read another one."""
    kinds = [_LATER.format(at) if at else _FIRST for at in (first, second)]
    lines = [
        f"%{name} = memref.subview %A[{at}] [64] [1] : {_WG} to {kind}"
        for name, at, kind in zip("pq", (first, second), kinds, strict=True)
    ]
    body = "\n".join(
        [
            *lines,
            "%x = memref.load %in[%bx, %tx] : memref<?x64xi32>",
            "%u = arith.subi %c63, %tx : index",
            f"memref.store %x, %p[%tx] : {kinds[0]}",
            f"%y = memref.load %q[{index}] : {kinds[1]}",
            "memref.store %y, %out[%bx, %tx] : memref<?x64xi32>",
        ]
    )
    arguments = _ARGUMENTS.replace("128", "64")
    return module(function("k", arguments, body, block=(64, 1, 1), buffers=f"%A: {_WG}"))


_VIEWS = (
    Kernel("11", subviews(0, 64, "%u"), ("SAFE",), (0, 0, 0, 0)),
    Kernel("11 overlapping", subviews(0, 32, "%tx"), ("RACE",), (0, 0, 1, 0)),
    Kernel(
        "13",
        kernel(
            "%row = arith.divui %tx, %c16 : index",
            "%column = arith.remui %tx, %c16 : index",
            f"memref.store %x, %S[%row, %column] : {_ROWS}",
            f"%flat = memref.collapse_shape %S [[0, 1]] : {_ROWS} into {_WG}",
            f"%y = memref.load %flat[%tx] : {_WG}",
            store(),
            buffers=f"%S: {_ROWS}",
        ),
        ("SAFE",),
        (0, 0, 0, 0),
    ),
)

# --- linalg ---------------------------------------------------------------------------------------

_C = "memref<16x8xf32>"
_TILE = "memref<2x4xf32, strided<[8, 1], offset: ?>>"
_LEFT = "memref<2x4xf32, strided<[4, 1], offset: ?>>"
_RIGHT = "memref<4x4xf32, strided<[8, 1], offset: ?>>"


def fill_and_matmul(row: str, column: str) -> str:
    """Return a kernel that fills tiles, by the thread given, and then adds products to them."""
    body = f"""
    %zero = arith.constant 0.0 : f32
    %i = affine.apply affine_map<(t) -> ((t floordiv 2) * 2)>(%tx)
    %j = affine.apply affine_map<(t) -> ((t mod 2) * 4)>(%tx)
    %fi = affine.apply affine_map<(t) -> ({row})>(%tx)
    %fj = affine.apply affine_map<(t) -> ({column})>(%tx)
    %first = memref.subview %c[%fi, %fj] [2, 4] [1, 1] : {_C} to {_TILE}
    linalg.fill ins(%zero : f32) outs(%first : {_TILE})
    %left = memref.subview %a[%i, 0] [2, 4] [1, 1] : memref<16x4xf32> to {_LEFT}
    %right = memref.subview %b[0, %j] [4, 4] [1, 1] : memref<4x8xf32> to {_RIGHT}
    %tile = memref.subview %c[%i, %j] [2, 4] [1, 1] : {_C} to {_TILE}
    linalg.matmul ins(%left, %right : {_LEFT}, {_RIGHT}) outs(%tile : {_TILE})
"""
    arguments = (
        "%a: memref<16x4xf32> {llvm.noalias}, %b: memref<4x8xf32> {llvm.noalias}, "
        f"%c: {_C} {{llvm.noalias}}"
    )
    text = module(function("k", arguments, body, block=(16, 1, 1)))
    return text.replace(
        "known_block_size", "known_grid_size = array<i32: 1, 1, 1>, known_block_size"
    )


_LINALG = (
    Kernel(
        "001-R1", fill_and_matmul("(t floordiv 2) * 2", "(t mod 2) * 4"), ("SAFE",), (0, 0, 0, 0)
    ),
    Kernel(
        "001-R2", fill_and_matmul("(t mod 8) * 2", "(t floordiv 8) * 4"), ("RACE",), (0, 0, 0, 1)
    ),
)

# --- warps ----------------------------------------------------------------------------------------

_MATRICES = "memref<4x16x16xf16, #wg>"


def matrices(warp: str) -> str:
    """Return a kernel whose warps write tiles, and read their own or the next one."""
    body = f"""
    %warp = arith.divui %tx, %c32 : index
    %next = arith.addi %warp, %c1 : index
    %other = arith.remui %next, %c4 : index
    %lane = arith.remui %tx, %c32 : index
    %row = arith.remui %lane, %c16 : index
    %half = arith.divui %lane, %c16 : index
    %column = arith.muli %half, %c8 : index
    %x = vector.load %in[%bx, %tx, %c0] : memref<?x128x8xf16>, vector<8xf16>
    vector.store %x, %S[%warp, %row, %column] : {_MATRICES}, vector<8xf16>
    %f = nvgpu.ldmatrix %S[{warp}, %row, %column] {{numTiles = 4 : i32, transpose = false}}
        : {_MATRICES} -> vector<4x2xf16>
    %y = vector.shape_cast %f : vector<4x2xf16> to vector<8xf16>
    vector.store %y, %out[%bx, %tx, %c0] : memref<?x128x8xf16>, vector<8xf16>
"""
    arguments = "%in: memref<?x128x8xf16> {llvm.noalias}, %out: memref<?x128x8xf16> {llvm.noalias}"
    return module(function("k", arguments, body, block=_SIZES, buffers=f"%S: {_MATRICES}"))


_WARPS = (
    Kernel("40", matrices("%warp"), ("RACE",), (0, 0, 0, 1)),
    Kernel("40 of others", matrices("%other"), ("RACE",), (0, 0, 1, 0)),
)

# --- asynchronous copies --------------------------------------------------------------------------

_COPY = (
    "%token = nvgpu.device_async_copy %in[%bx, %tx], %A[%tx], 1\n"
    f"        : memref<?x128xi32> to {_WG}\n    nvvm.cp.async.commit.group"
)
_WAIT = "nvvm.cp.async.wait.group 0"


def ring(left: int) -> str:
    """Return a kernel with a ring of three slots, whose waits leave so many copies."""
    slots = "memref<3x128xi32, #wg>"
    copy = f": memref<?x128xi32> to {slots}"
    body = f"""
    %u = arith.subi %c127, %tx : index
    %start = arith.muli %bx, %n : index
    scf.for %k = %c0 to %c2 step %c1 {{
      %live = arith.cmpi ult, %k, %n : index
      scf.if %live {{
        %from = arith.addi %start, %k : index
        %token = nvgpu.device_async_copy %in[%from, %tx], %S[%k, %tx], 1 {copy}
      }}
      nvvm.cp.async.commit.group
    }}
    scf.for %i = %c0 to %n step %c1 {{
      nvvm.cp.async.wait.group {left}
      %slot = arith.remui %i, %c3 : index
      %y = memref.load %S[%slot, %u] : {slots}
      %row = arith.addi %start, %i : index
      memref.store %y, %out[%row, %tx] : memref<?x128xi32>
      %next = arith.addi %i, %c2 : index
      %live = arith.cmpi ult, %next, %n : index
      scf.if %live {{
        %from = arith.addi %start, %next : index
        %to = arith.remui %next, %c3 : index
        %token = nvgpu.device_async_copy %in[%from, %tx], %S[%to, %tx], 1 {copy}
      }}
      nvvm.cp.async.commit.group
    }}
"""
    arguments = f"{_ARGUMENTS}, %n: index"
    return module(function("k", arguments, body, block=_SIZES, buffers=f"%S: {slots}"))


_ONE = kernels_mbarrier.ONE
_INIT = kernel(
    f"%b = nvgpu.mbarrier.create -> {_ONE}",
    "%first = arith.cmpi eq, %tx, %c0 : index",
    "%zeroth = arith.constant false",
    "%ticks = arith.constant 10000 : index",
    "scf.if %first {",
    f"  nvgpu.mbarrier.init %b[%c0], %c128 : {_ONE}",
    "}",
    _WRITE,
    f"%token = nvgpu.mbarrier.arrive %b[%c0] : {_ONE} -> !nvgpu.mbarrier.token",
    f"nvgpu.mbarrier.try_wait.parity %b[%c0], %zeroth, %ticks : {_ONE}",
    f"%y = memref.load %A[%u] : {_WG}",
    _END,
)
_PARITY = "%bit = arith.remui %iteration, %c2"
_ASYNC = (
    Kernel(
        "41",
        kernel(_COPY, _WAIT, f"%y = memref.load %A[%tx] : {_WG}", _END),
        ("SAFE",),
        (0, 0, 0, 0),
    ),
    Kernel(
        "42",
        kernel(_COPY, _WAIT, f"%y = memref.load %A[%u] : {_WG}", _END),
        ("RACE",),
        (0, 0, 1, 0),
    ),
    Kernel(
        "42 barrier before wait",
        kernel(_COPY, _BARRIER, _WAIT, f"%y = memref.load %A[%u] : {_WG}", _END),
        ("RACE",),
        (0, 0, 1, 0),
    ),
    Kernel("43", ring(1), ("RACE",), (1, 0, 0, 0)),
    Kernel("43 too many left", ring(2), ("UNFIXABLE",)),
    Kernel("45", _INIT, ("RACE",), (0, 0, 1, 0)),
    # Copies that one thread starts in a loop of its own are not followed.
    Kernel("46", kernels_bulk.PLAIN, ("MAYBE",)),
    Kernel(
        "46 constant parity",
        kernels_bulk.PLAIN.replace(_PARITY, "%bit = arith.remui %c0, %c2"),
        ("UNFIXABLE",),
    ),
)

# --- calls, global memory, sizes ------------------------------------------------------------------


def called(helper: str, *, between: str = "") -> str:
    """Return a kernel that writes to a buffer, and calls what reads it."""
    text = kernel(
        _WRITE,
        between,
        f"%y = func.call @helper(%A, %u) : ({_WG}, index) -> i32",
        _END,
    )
    return text.rstrip().removesuffix("}") + helper + "}\n"


_HELPER = f"""  func.func private @helper(%A: {_WG}, %i: index) -> i32 {{
    BARRIER
    %y = memref.load %A[%i] : {_WG}
    return %y : i32
  }}
"""
_CALLS = (
    Kernel(
        "49", called(_HELPER.replace("BARRIER", _BARRIER)), ("SAFE",), (0, 0, 0, 0), (0, 0, 1, 0)
    ),
    Kernel("49 without", called(_HELPER.replace("BARRIER", "")), ("RACE",), (0, 0, 1, 0)),
    Kernel(
        "50",
        kernel(
            _WRITE,
            f"func.call @helper(%A) : ({_WG}) -> ()",
            f"%y = memref.load %A[%tx] : {_WG}",
            _END,
        )
        .rstrip()
        .removesuffix("}")
        + f"  func.func private @helper({_WG})\n}}\n",
        # The call is at odds with what comes before and with what comes after it.
        ("MAYBE",),
        (0, 0, 2, 0),
    ),
    Kernel(
        "51",
        kernel(
            store("%x"),
            "%y = memref.load %out[%bx, %u] : memref<?x128xi32>",
            f"memref.store %y, %A[%tx] : {_WG}",
        ),
        ("RACE",),
        (0, 0, 1, 0),
    ),
    Kernel(
        "51 all blocks",  # if there are several, which nothing tells
        kernel("memref.store %x, %out[%c0, %tx] : memref<?x128xi32>"),
        ("MAYBE",),
    ),
    Kernel(
        "52",
        kernel(
            "%i = arith.index_cast %x : i32 to index",
            f"memref.store %x, %A[%i] : {_WG}",
            f"%y = memref.load %A[%tx] : {_WG}",
            _END,
        ),
        ("MAYBE",),
        (0, 0, 1, 0),
    ),
)


def symbolic(index: str) -> str:
    """Return a kernel for blocks of any size."""
    body = f"""
    %last = arith.subi %nx, %c1 : index
    %u = arith.subi %last, %tx : index
    %x = memref.load %in[%bx, %tx] : memref<?x1024xi32>
    memref.store %x, %A[%tx] : memref<1024xi32, #wg>
    %y = memref.load %A[{index}] : memref<1024xi32, #wg>
    memref.store %y, %out[%bx, %tx] : memref<?x1024xi32>
"""
    arguments = _ARGUMENTS.replace("128", "1024")
    return module(function("k", arguments, body, buffers="%A: memref<1024xi32, #wg>"))


_SYMBOLIC = (
    Kernel("54", symbolic("%tx"), ("SAFE",), (0, 0, 0, 0)),
    Kernel("54 mirrored", symbolic("%u"), ("MAYBE",), (0, 0, 1, 0)),
)

KERNELS = (*_ALIASED, *_VIEWS, *_LINALG, *_WARPS, *_ASYNC, *_CALLS, *_SYMBOLIC)
