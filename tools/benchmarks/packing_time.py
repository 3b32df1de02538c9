"""Measure how long packing the buffers of one kernel takes, by their number."""

from __future__ import annotations

import argparse
import random
import sys
from functools import partial

from benchmarks.harness import Table, find_fastest, span, time_passes
from setup.arguments import positive

COUNTS = (10, 100, 500, 1000, 2000)
# How many buffers are in use at the same time, about; 1 means that all lives are disjoint.
OVERLAPS = (1, 8, 100)
ROUNDS = 3
PASSES = [
    f"workgroup-pack-memory{{reuse={reuse} dynamic=always max-bytes=9999999}}"
    for reuse in ("always", "auto")
]


def write_kernel(count: int, overlap: int) -> str:
    """Return a kernel of so many buffers, each of which is written, and read later."""
    chance = random.Random(count * overlap)
    sizes = [chance.randint(1, 64) for _ in range(count)]
    types = [f"memref<{size}xf32, #wg>" for size in sizes]
    attributions = ", ".join(f"%b{number}: {kind}" for number, kind in enumerate(types))
    lines = []
    for number in range(count + overlap):
        if number < count:
            lines.append(f"memref.store %x, %b{number}[%zero] : {types[number]}")
        if (old := number - overlap + 1) in range(count):
            lines.append(f"%v{old} = memref.load %b{old}[%zero] : {types[old]}")
            lines.append(f"memref.store %v{old}, %out[%thread] : memref<64xf32>")
    return "\n".join(
        [
            "#wg = #gpu.address_space<workgroup>",
            "gpu.module @kernels {",
            f"gpu.func @k(%out: memref<64xf32>) workgroup({attributions}) kernel {{",
            "%zero = arith.constant 0 : index",
            "%x = arith.constant 1.0 : f32",
            "%thread = gpu.thread_id x",
            *lines,
            "gpu.return",
            "}",
            "}",
            "",
        ]
    )


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="./tools/bench packing", description=__doc__)
    parser.add_argument(
        "counts", nargs="*", type=positive, default=COUNTS, help="numbers of buffers"
    )
    options = parser.parse_args()
    print(f"seconds of processors without parsing, the fastest of {ROUNDS} rounds")
    table = Table("buffers", "in use", "reuse=always", "reuse=auto")
    for overlap in OVERLAPS:
        for count in options.counts:
            text = write_kernel(count, overlap)
            measures = [partial(time_passes, text, passes) for passes in ("", *PASSES)]
            parsing, *seconds = find_fastest(measures, ROUNDS)
            table.row(str(count), str(overlap), *(span(spent - parsing) for spent in seconds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
