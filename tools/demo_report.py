"""Compile the promoted matmul and tell what became of its buffers, copies and barriers."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pipeline

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "test" / "Examples" / "promoted-matmul.mlir"
FOLDER = ROOT / "build" / "demo"


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


def main() -> int:
    """Compile, assemble, report, and keep the results."""
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
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader like head may leave early
    sys.exit(main())
