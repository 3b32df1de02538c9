"""Compile the promoted matmul, tell what became of it, and run it without a GPU."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from pathlib import Path

import numpy as np

import pipeline

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "test" / "Examples" / "promoted-matmul.mlir"
THREADED = ROOT / "test" / "Examples" / "k-tiled-matmul.mlir"
FOLDER = ROOT / "build" / "demo"
TOLERANCE = 1e-3
EXTENT = 128
"""Of the matrices that races are looked for in: a few iterations show what many do."""
BARRIER = "gpu.barrier\n"


def report(module: pipeline.Module) -> None:
    """Print what the passes decided, in the order of the user's questions."""
    for title, names in (
        ("buffers", ("SunkIntoKernel", "Hoisted")),
        ("copies", ("LoweredCopy", "LoweredFill", "CopyPerThread", "NarrowCopy")),
        ("barriers", ("InsertedBarrier",)),
    ):
        print(f"\n{title}:")
        chosen = [remark for remark in module.remarks if remark.name in names]
        for remark in chosen:
            print(f"  line {remark.location.line}: {remark.message}")
        if title == "barriers":
            count = module.texts["gpu"].count("gpu.barrier\n")
            print(f"  {len(chosen)} added, {count} in the kernel")
    print("\nkernels:")
    for kernel in module.kernels.values():
        taken = kernel.resources
        print(
            f"  {kernel.name}: {taken.registers} registers, {taken.static_shared_bytes} bytes of "
            f"workgroup memory, {taken.spill_store_bytes} bytes spilled; grid {kernel.grid}, "
            f"block {kernel.block}"
        )


def emulate(module: pipeline.Module) -> bool:
    """Run the kernel on random matrices and compare with NumPy; tell whether they agree."""
    kernel = next(iter(module.kernels.values()))
    random = np.random.default_rng()
    shapes = [[extent or 0 for extent in argument.shape] for argument in kernel.arguments]
    a, b, c = (random.standard_normal(shape, dtype=np.float32) for shape in shapes)
    expected = c + a.astype(np.float64) @ b
    report = kernel.run(a, b, c)
    difference = float(np.abs(c - expected).max())
    agrees = difference < TOLERANCE
    print(f"\nrun on the CPU emulator with random A, B, C, in {report.seconds:.1f} s:")
    print(
        f"  {report.blocks_run} blocks; largest difference to NumPy {difference:.1e}"
        f"{'' if agrees else ', which is WRONG'}"
    )
    return agrees


def take_barriers_away() -> bool:
    """Compile a kernel of many threads with the fewest barriers, and show that each is needed."""
    name = THREADED.relative_to(ROOT)
    program = THREADED.read_text(encoding="utf-8").replace("1024", str(EXTENT))
    module = pipeline.compile(program, sync="minimize", until="gpu")
    parts = module.texts["gpu"].split(BARRIER)
    print(f"\n{name} --sync minimize, for matrices of {EXTENT}x{EXTENT}:")
    print(f"  256 threads a block, {len(parts) - 1} barriers; one of them taken away:")
    races: list[pipeline.RaceError] = []
    for number in range(1, len(parts)):
        fewer = BARRIER.join(parts[:number]) + BARRIER.join(["", *parts[number:]])[len(BARRIER) :]
        error = find_race(fewer)
        races += [error] if error else []
        print(f"  barrier {number}: {'races' if error else 'no race, which is WRONG'}")
    if races:
        lines = str(races[0]).split("\n")
        starts = [number for number, line in enumerate(lines) if ": error: " in line]
        end = starts[1] if len(starts) > 1 else None
        print("\nthe first of these races:\n  " + "\n  ".join(lines[:end]))
    return len(races) == len(parts) - 1 > 0


def find_race(text: str) -> pipeline.RaceError | None:
    """Run one block of the kernel of a program on random matrices."""
    with warnings.catch_warnings(category=pipeline.UnverifiedWarning, action="ignore"):
        module = pipeline.compile(text, until="llvm", sync="keep", verify=False)
    kernel = next(iter(module.kernels.values()))
    random = np.random.default_rng()
    shapes = [[extent or 0 for extent in argument.shape] for argument in kernel.arguments]
    matrices = [random.standard_normal(shape, dtype=np.float32) for shape in shapes]
    try:
        kernel.run(*matrices, check="races", blocks=1)
    except pipeline.RaceError as error:
        return error
    return None


def main() -> int:
    """Compile, assemble, report, run, and keep the results."""
    name = PROGRAM.relative_to(ROOT)
    print(f"{name}: linalg.matmul, its operands promoted to workgroup memory")
    try:
        module = pipeline.compile(PROGRAM, keep_texts=True)
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / "promoted-matmul.ptx").write_text(module.ptx, encoding="utf-8")
        (FOLDER / "promoted-matmul.cubin").write_bytes(module.cubin)
    except pipeline.Error as error:
        print(error, file=sys.stderr)
        return error.exit_code
    report(module)
    milliseconds = sum(module.seconds.values()) * 1e3
    print(f"\ncompiled to PTX for {module.chip} in {milliseconds:.0f} ms, accepted by ptxas:")
    print(f"  {os.path.relpath(FOLDER / 'promoted-matmul.ptx')}")
    try:
        return 0 if emulate(module) and take_barriers_away() else 1
    except pipeline.Error as error:
        print(error, file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader like head may leave early
    sys.exit(main())
