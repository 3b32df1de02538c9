"""Measure how long packing the buffers of one kernel takes, by their number."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys

import pipeline
from pipeline.system.toolchain import find_mlir_opt

COUNTS = (10, 100, 500, 1000, 2000)
# How many buffers are in use at the same time, about; 1 means that all lives are disjoint.
OVERLAPS = (1, 8, 100)
REPETITIONS = 3


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


def measure(text: str, passes: str) -> float:
    """Return the seconds of processor time that mlir-opt takes, the least of some runs."""
    command = [str(find_mlir_opt()), f"--load-pass-plugin={pipeline.plugin_path()}"]
    command += [f"--pass-pipeline=builtin.module({passes})", "-o", "/dev/null"]
    times = []
    for _ in range(REPETITIONS):
        begun = os.times().children_user
        subprocess.run(command, input=text, text=True, check=True)
        times.append(os.times().children_user - begun)
    return min(times)


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("counts", nargs="*", type=int, default=COUNTS, help="numbers of buffers")
    options = parser.parse_args()
    print(f"{'buffers':>8} {'in use':>7} {'always':>8} {'auto':>8}   seconds, parsing left out")
    for overlap in OVERLAPS:
        for count in options.counts:
            text = write_kernel(count, overlap)
            parsing = measure(text, "")
            seconds = [
                measure(
                    text, f"workgroup-pack-memory{{reuse={reuse} dynamic=always max-bytes=9999999}}"
                )
                - parsing
                for reuse in ("always", "auto")
            ]
            print(f"{count:8} {overlap:7} {seconds[0]:8.3f} {seconds[1]:8.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
