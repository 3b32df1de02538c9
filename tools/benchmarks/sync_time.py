"""Measure how long the synchronisation passes take by the number of accesses.

Straight-line kernels, as unrolling leaves them: accesses to places of their own (apart), pairs of a
store and a load by another thread, and stores in loops to slots of a ring; stores and loads in turn
of one place, each of which needs a barrier, in a chain, and in a loop (iterations); half of them
stores, the others loads of one place, which need one barrier (halves); stores and loads in turn, in
a loop, each in a branch of its own, which depends on an argument (branches; as far as 256 accesses,
as all that follow); and loops in a loop, each with a store and a load of one place (nest).
Eliminated and verified is what insertion made right. Times are processor seconds of `mlir-opt`,
less what it takes to read and print the module, and as a ratio to `canonicalize,cse` on the same
module. Fails if 100 accesses take more than 0.3 seconds, or 4,096 more than 5.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from benchmarks.harness import Table, find_fastest, span, time_passes, times
from setup.arguments import positive

KINDS = ("apart", "pairs", "loop", "chain", "iterations", "halves", "branches", "nest")
COUNTS = (100, 256, 1024, 4096)
LIMITS = {100: 0.3, 4096: 5.0}
MOST = {"branches": 256, "nest": 256}
ROUNDS = 3
THREADS = 128
INSERT = "workgroup-insert-barriers"
PASSES = (INSERT, "workgroup-eliminate-barriers", "workgroup-verify-sync")
REFERENCE = "canonicalize,cse"


def print_kernel(kind: str, count: int) -> str:
    """Return a module whose kernel has that many accesses."""
    size = THREADS * count
    memory = f"memref<{size}xf32, 3>"
    flags = count if kind == "branches" else 0
    lines = [
        "gpu.module @kernels {",
        f"gpu.func @kernel(%x: f32, %n: index, %out: memref<{THREADS}xf32> {{llvm.noalias}}",
        "".join(f", %f{number}: i1" for number in range(flags)) + ")",
        f"workgroup(%S: {memory}) kernel",
        f"attributes {{known_block_size = array<i32: {THREADS}, 1, 1>,",
        "known_grid_size = array<i32: 1, 1, 1>} {",
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        f"%last = arith.constant {THREADS - 1} : index",
        "%t = gpu.thread_id x",
        "%u = arith.subi %last, %t : index",
    ]
    if kind in ("loop", "iterations", "branches", "nest"):
        lines.append("scf.for %i = %c0 to %n step %c1 {")
    total = "%x"  # of what is loaded: nothing is superfluous
    for number in range(count):
        is_alternate = kind in ("pairs", "chain", "iterations", "branches", "nest")
        is_load = number % 2 == 1 if is_alternate else kind == "halves" and number >= count // 2
        thread = "%u" if is_load else "%t"
        row = number - 1 if is_load else number
        if kind in ("chain", "iterations", "halves", "branches", "nest"):
            row = 0
        if kind == "nest" and not is_load:
            lines.append(f"%n{number} = scf.for %j{number} = %c0 to %n step %c1")
            lines.append(f"iter_args(%b{number} = {total}) -> (f32) {{")
            total = f"%b{number}"
        lines.append(f"%k{number} = arith.constant {THREADS * row} : index")
        lines.append(f"%i{number} = arith.addi {thread}, %k{number} : index")
        if kind == "branches":
            lines.append(f"scf.if %f{number} {{")
        if is_load:
            lines.append(f"%v{number} = memref.load %S[%i{number}] : {memory}")
            if kind == "branches":
                lines.append(f"memref.store %v{number}, %out[%t] : memref<{THREADS}xf32>")
            else:
                lines.append(f"%s{number} = arith.addf {total}, %v{number} : f32")
                total = f"%s{number}"
            if kind == "nest":
                lines += [f"scf.yield {total} : f32", "}"]
                total = f"%n{number - 1}"
        else:
            lines.append(f"memref.store %x, %S[%i{number}] : {memory}")
        lines += ["}"] if kind == "branches" else []
    lines.append(f"memref.store {total}, %out[%t] : memref<{THREADS}xf32>")
    lines += ["}"] if kind in ("loop", "iterations", "branches", "nest") else []
    return "\n".join([*lines, "gpu.return", "}", "}"])


def measure(text: str) -> tuple[float, list[float]]:
    """Return the processor seconds of the reference, and of each pass."""
    verified = [f"{INSERT},{passes}" for passes in PASSES[1:]]
    measures = [partial(time_passes, text, p) for p in ("", REFERENCE, INSERT, *verified)]
    idle, reference, inserted, *others = find_fastest(measures, ROUNDS)
    seconds = [inserted - idle, *(spent - inserted for spent in others)]
    return max(reference - idle, 1e-4), seconds


def main(arguments: Sequence[str]) -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--counts", type=positive, nargs="+", default=COUNTS, metavar="N")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, metavar="KIND")
    options = parser.parse_args(arguments)
    is_slow = False
    table = Table("kernel", "accesses", REFERENCE, *PASSES)
    for kind in options.kinds:
        for count in options.counts:
            if count > MOST.get(kind, count):
                continue
            reference, seconds = measure(print_kernel(kind, count))
            is_slow |= max(seconds) > LIMITS.get(count, float("inf"))
            cells = [f"{span(spent)} {times(spent / reference):>8}" for spent in seconds]
            table.row(kind, str(count), span(reference), *cells)
    return int(is_slow)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
