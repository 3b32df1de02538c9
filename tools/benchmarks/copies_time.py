"""Measure how long copies take by their number, in processor time.

That is `workgroup-lower-copies`, and `workgroup-hoist-copies` for those in loops that do not change
their sources. Fails if 1,000 copies take more than 2 seconds, or if time grows from 300 to 3,000
copies by more than their number to the power of 1.3. Runs of more than 10 seconds are given up.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from benchmarks.harness import Sample, Table, find_fastest, span, time_passes
from setup.arguments import positive

COUNTS = (10, 30, 100, 300, 1000, 3000)
ROUNDS = 5
PATIENCE = 10.0  # seconds for one run
ENOUGH = 3000  # copies in a run, for its time to stand out from that of starting and parsing
LOWER, HOIST = "workgroup-lower-copies", "workgroup-hoist-copies"
LIMIT_COUNT, LIMIT_SECONDS = 1000, 2.0
GROWTH_COUNTS, GROWTH_EXPONENT = (300, 3000), 1.3

# --- programs -------------------------------------------------------------------------------------

ALIASES = """\
#wg = #gpu.address_space<workgroup>
!matrix = memref<4096x4096xf32>
!half = memref<4096x4096xf16>
!half_tile = memref<64x64xf16, strided<[4096, 1], offset: ?>>
!row = memref<1027xf32, strided<[1], offset: ?>>
"""
OPENING = """\
module {
func.func private @main(%half: !half, %in: !matrix, %out: !matrix, %any: memref<?x?xf32>) {
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c64 = arith.constant 64 : index
%c128 = arith.constant 128 : index
%c4096 = arith.constant 4096 : index
%zero = arith.constant 0.0 : f32
%m = memref.dim %any, %c0 : memref<?x?xf32>
%n = memref.dim %any, %c1 : memref<?x?xf32>
"""
LAUNCH = """\
gpu.launch blocks(%bx, %by, %bz) in (%gx = %c64, %gy = %c1, %gz = %c1)
    threads(%tx, %ty, %tz) in (%nx = %c128, %ny = %c1, %nz = %c1) {
"""

# Copies with the shapes of their buffers: {n} is the number of the copy, {w} its buffer, {i} the
# index where it begins.
KINDS: tuple[tuple[str, str], ...] = (
    (  # a tile of a matrix
        "64x64xf16",
        """
%from{n} = memref.subview %half[{i}, 64] [64, 64] [1, 1] : !half to !half_tile
memref.copy %from{n}, {w} : !half_tile to memref<64x64xf16, #wg>""",
    ),
    (  # every other row, into a padded buffer
        "32x56xf32",
        """
%from{n} = memref.subview %in[{i}, 0] [32, 48] [2, 1]
    : !matrix to memref<32x48xf32, strided<[8192, 1], offset: ?>>
%to{n} = memref.subview {w}[0, 0] [32, 48] [1, 1]
    : memref<32x56xf32, #wg> to memref<32x48xf32, strided<[56, 1]>, #wg>
memref.copy %from{n}, %to{n} : memref<32x48xf32, strided<[8192, 1], offset: ?>>
    to memref<32x48xf32, strided<[56, 1]>, #wg>""",
    ),
    (  # a tile, transposed
        "32x32xf32",
        """
%tile{n} = memref.subview %in[{i}, {i}] [32, 32] [1, 1]
    : !matrix to memref<32x32xf32, strided<[4096, 1], offset: ?>>
%from{n} = memref.transpose %tile{n} (i, j) -> (j, i)
    : memref<32x32xf32, strided<[4096, 1], offset: ?>>
    to memref<32x32xf32, strided<[1, 4096], offset: ?>>
memref.copy %from{n}, {w} : memref<32x32xf32, strided<[1, 4096], offset: ?>>
    to memref<32x32xf32, #wg>""",
    ),
    (  # what is left of a matrix of dynamic size
        "16x24xf32",
        """
%height{n} = affine.min affine_map<(i)[m] -> (16, m - i)>({i})[%m]
%width{n} = affine.min affine_map<(i)[n] -> (24, n - i)>({i})[%n]
%from{n} = memref.subview %any[{i}, {i}] [%height{n}, %width{n}] [1, 1]
    : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
%to{n} = memref.subview {w}[0, 0] [%height{n}, %width{n}] [1, 1]
    : memref<16x24xf32, #wg> to memref<?x?xf32, strided<[24, 1]>, #wg>
memref.copy %from{n}, %to{n} : memref<?x?xf32, strided<[?, 1], offset: ?>>
    to memref<?x?xf32, strided<[24, 1]>, #wg>""",
    ),
    (  # back to global memory
        "8x128xf32",
        """
%to{n} = memref.subview %out[{i}, 0] [8, 128] [1, 1]
    : !matrix to memref<8x128xf32, strided<[4096, 1], offset: ?>>
memref.copy {w}, %to{n} : memref<8x128xf32, #wg>
    to memref<8x128xf32, strided<[4096, 1], offset: ?>>""",
    ),
    (  # between global memories, of a length that no width divides
        "1xf32",
        """
%from{n} = memref.subview %in[{i}, 0] [1, 1027] [1, 1] : !matrix to !row
%to{n} = memref.subview %out[{i}, 0] [1, 1027] [1, 1] : !matrix to !row
memref.copy %from{n}, %to{n} : !row to !row""",
    ),
    (  # of one value
        "2x3x40xf32",
        """
linalg.fill ins(%zero : f32) outs({w} : memref<2x3x40xf32, #wg>)""",
    ),
    (  # with a conversion
        "64x64xf32",
        """
%from{n} = memref.subview %half[{i}, 0] [64, 64] [1, 1] : !half to !half_tile
linalg.copy ins(%from{n} : !half_tile) outs({w} : memref<64x64xf32, #wg>)""",
    ),
    (  # from one half of a buffer to the other
        "64x32xf32",
        """
%from{n} = memref.subview {w}[0, 0] [32, 32] [1, 1]
    : memref<64x32xf32, #wg> to memref<32x32xf32, strided<[32, 1]>, #wg>
%to{n} = memref.subview {w}[32, 0] [32, 32] [1, 1]
    : memref<64x32xf32, #wg> to memref<32x32xf32, strided<[32, 1], offset: 1024>, #wg>
memref.copy %from{n}, %to{n} : memref<32x32xf32, strided<[32, 1]>, #wg>
    to memref<32x32xf32, strided<[32, 1], offset: 1024>, #wg>""",
    ),
)


def buffer(name: str, kind: int) -> str:
    """Write the allocation of a buffer for a kind of copy."""
    return f"{name} = memref.alloc() : memref<{KINDS[kind][0]}, #wg>\n"


def copy(number: int, index: str) -> str:
    """Write a copy; the kinds take turns, and each has one buffer for all of its copies."""
    kind = number % len(KINDS)
    return KINDS[kind][1].format(n=number, i=index, w=f"%w{kind}")


def kernel(*lines: str) -> str:
    """Write a kernel with a buffer for each kind of copy."""
    buffers = [buffer(f"%w{kind}", kind) for kind in range(len(KINDS))]
    return "\n".join([LAUNCH, *buffers, *lines, "gpu.terminator\n}\n"])


def in_iterations(count: int) -> str:
    """Write copies one behind the other, of which each waits for the last that had its buffer."""
    return kernel(*(copy(number, "%bx") for number in range(count)))


def together(count: int) -> str:
    """Write copies that can all be under way together: to buffers of their own."""
    kinds = [kind for kind in range(len(KINDS)) if "%out" not in KINDS[kind][1]]
    lines = []
    for number in range(count):
        kind, name = kinds[number % len(kinds)], f"%own{number}"
        lines += [buffer(name, kind), KINDS[kind][1].format(n=number, i="%bx", w=name)]
    return kernel(*lines)


def in_loops(count: int) -> str:
    """Write nests of four loops, each with five copies of its own."""
    lines, index = [], ""
    for number in range(count):
        place = number % 20
        if place % 5 == 0:
            index = f"%i{number}"
            lines.append(f"scf.for {index} = %c0 to %c4096 step %c64 {{")
        lines.append(copy(number, index))
        if place == 19 or number == count - 1:
            lines.append("}\n" * (place // 5 + 1))
    return kernel(*lines)


def in_launches(count: int) -> str:
    """Write a kernel for each copy."""
    return "".join(kernel(copy(number, "%bx")) for number in range(count))


def after_host(count: int) -> str:
    """Write copies in a kernel that the host launches after as many operations of its own."""
    return "memref.store %zero, %in[%c0, %c1] : !matrix\n" * count + in_iterations(count)


def by_steps(count: int) -> str:
    """Write copies of which each begins a step behind the last, as unrolled loops have them."""
    lines = []
    for number in range(count):
        last = f"%i{number - 1}" if number else "%bx"
        lines += [f"%i{number} = arith.addi {last}, %c64 : index", copy(number, f"%i{number}")]
    return kernel(*lines)


def invariant(number: int) -> str:
    """Write a copy that is the same in all iterations of a loop, with its buffer and a reader."""
    return f"""
%own{number} = memref.alloc() : memref<4xf32, #wg>
%from{number} = memref.subview %in[%bx, {4 * number % 4096}] [1, 4] [1, 1]
    : !matrix to memref<4xf32, strided<[1], offset: ?>>
memref.copy %from{number}, %own{number} : memref<4xf32, strided<[1], offset: ?>>
    to memref<4xf32, #wg>
%read{number} = memref.load %own{number}[%c1] : memref<4xf32, #wg>
memref.store %read{number}, %free[%c0] : memref<64xf32>
"""


def hoisting(*lines: str) -> str:
    """Write a kernel with no more memory than its copies need."""
    free = "%free = memref.alloca() : memref<64xf32>\n"
    return "\n".join([LAUNCH, free, *lines, "gpu.terminator\n}\n"])


def out_of_loops(count: int) -> str:
    """Write copies that are to be hoisted, each out of a loop of its own."""
    loop = "scf.for %i{n} = %c0 to %c4096 step %c64 {{{copy}}}\n"
    return hoisting(*(loop.format(n=n, copy=invariant(n)) for n in range(count)))


def out_of_one(count: int) -> str:
    """Write copies that are to be hoisted, all out of one loop."""
    copies = (invariant(number) for number in range(count))
    return hoisting("scf.for %i = %c0 to %c4096 step %c64 {", *copies, "}\n")


FORMS: dict[str, Callable[[int], str]] = {
    "in iterations": in_iterations,
    "together": together,
    "in loops": in_loops,
    "in launches": in_launches,
    "after host": after_host,
    "by steps": by_steps,
    "out of loops": out_of_loops,
    "out of one": out_of_one,
}
PASSES = {"out of loops": HOIST, "out of one": HOIST}
"""What is measured, where it is not the lowering."""


def program(form: str, count: int, times: int = 1) -> str:
    """Return as many modules as `times` says, each with so many copies."""
    inner = OPENING + FORMS[form](count) + "return\n}\n}\n"
    return f"{ALIASES}module {{\n{inner * times}}}\n"


# --- measuring ------------------------------------------------------------------------------------


def run(text: str, *passes: str) -> Sample:
    """Return what mlir-opt takes. Raises TimeoutExpired if that is too long."""
    # Nobody calls the functions: nothing of them is left to be printed.
    nested = f"builtin.module({','.join([*passes, 'symbol-dce'])})"
    flags = ("--mlir-disable-threading", "--verify-each=false")
    return time_passes(text, nested, *flags, patience=PATIENCE)


def measure(form: str, count: int) -> float:
    """Return the seconds of the pass alone, the fastest of some rounds; infinity for too many."""
    for repeated in (max(ENOUGH // count, 1), 1):
        text = program(form, count, repeated)
        measures = [partial(run, text, PASSES.get(form, LOWER)), partial(run, text)]
        try:
            whole, rest = find_fastest(measures, ROUNDS)
        except subprocess.TimeoutExpired:
            continue
        return max(whole - rest, 1e-4) / repeated
    return math.inf


def growth(seconds: Mapping[int, float]) -> float:
    """Return the exponent by which time grows; no number if that has not been measured."""
    first, last = (seconds.get(count, math.nan) for count in GROWTH_COUNTS)
    return math.log(last / first) / math.log(GROWTH_COUNTS[1] / GROWTH_COUNTS[0])


def complaints(seconds: Mapping[int, float]) -> list[str]:
    """Return what of the measured is too slow."""
    found = [
        f"{count} copies are given up after {PATIENCE} s"
        for count, time in seconds.items()
        if time == math.inf
    ]
    if LIMIT_SECONDS < seconds.get(LIMIT_COUNT, 0) < math.inf:
        found.append(f"{LIMIT_COUNT} copies take more than {LIMIT_SECONDS} s")
    if GROWTH_EXPONENT < growth(seconds) < math.inf:
        found.append(f"time grows by an exponent of more than {GROWTH_EXPONENT}")
    return found


def measure_form(form: str, counts: Sequence[int]) -> dict[int, float]:
    """Measure programs of growing size, up to the first that is given up."""
    seconds: dict[int, float] = {}
    for count in sorted(counts):
        seconds[count] = measure(form, count)
        if seconds[count] == math.inf:
            break
    return seconds


def main() -> int:
    """Print a table; return 1 if something is too slow."""
    parser = argparse.ArgumentParser(prog="./tools/bench copies", description=__doc__)
    parser.add_argument(
        "counts", nargs="*", type=positive, default=COUNTS, help="numbers of copies"
    )
    counts = sorted(parser.parse_args().counts)
    print(f"{LOWER} and {HOIST}, processor time, fastest of {ROUNDS} rounds")
    table = Table("copies", *map(str, counts), "exponent", name=13)
    results: dict[str, dict[int, float]] = {}
    for form in FORMS:
        seconds = results[form] = measure_form(form, counts)
        exponent = growth(seconds)
        cells = [span(seconds.get(count, math.nan)) for count in counts]
        table.row(form, *cells, "" if math.isnan(exponent) else f"{exponent:.2f}")
    failures = [
        f"{form}: {complaint}"
        for form, seconds in results.items()
        for complaint in complaints(seconds)
    ]
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
