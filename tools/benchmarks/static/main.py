"""Count what machine code shows without a GPU: registers, spills, the mix of the main loop.

Files are programs (.mlir, compiled by this project), PTX and machine code (.cubin). A main loop is
the innermost loop that does most of the work: with tensor cores, else by fused multiply-adds, else
by other arithmetic, else by moving data. `work/cycle` is the share of cycles in which a warp alone
would issue work, by the stalls that ptxas has put in.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pipeline
from benchmarks.static.figures import Figures, measure
from benchmarks.static.sass import DisassemblyError, disassemble, install_nvdisasm
from pipeline.system.assembler import Resources, assemble, parse_resources

SHOWN = 14  # kinds of instructions


def measure_code(cubin: bytes, resources: Mapping[str, Resources]) -> list[Figures]:
    """Return the figures of all kernels in machine code."""
    functions = disassemble(cubin)
    return [measure(function, resources.get(name)) for name, function in functions.items()]


def measure_ptx(ptx: str, chip: str) -> list[Figures]:
    """Return the figures of all kernels in PTX."""
    cubin, log = assemble(ptx, chip)
    return measure_code(cubin, parse_resources(log))


def measure_file(path: Path, chip: str, schedule: str) -> list[Figures]:
    """Return the figures of all kernels in a file."""
    if path.suffix == ".cubin":
        return measure_code(path.read_bytes(), {})
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ptx":
        return measure_ptx(text, chip)
    module = pipeline.compile(text, chip=chip, schedule=schedule)
    return measure_ptx(module.ptx or "", chip)


def describe(figures: Figures) -> Iterator[str]:
    """Yield lines about a kernel for a reader."""
    taken = figures.resources
    words = [f"{figures.instructions} instructions"]
    if taken:
        words += [f"{taken.registers} registers", f"{taken.static_shared_bytes} B shared"]
        words += [f"{taken.stack_bytes} B stack"]
    yield f"{figures.name}: {', '.join([*words, f'spills {figures.spills}'])}"
    loop = figures.loop
    if not loop:
        yield f"  no loop; {_list(figures.mix)}"
        return
    ratios = [f"{loop.math} {loop.work}, {loop.share:.1%}", f"work/cycle {loop.issue_ratio:.3f}"]
    ratios += [f"{loop.per_work:.2f} instructions each"]
    if loop.math_per_ldsm_x4:
        ratios.append(f"{loop.math_per_ldsm_x4:.1f} per LDSM.x4")
    yield f"  loop of {loop.instructions} instructions: {'; '.join(ratios)}"
    yield f"  {_list(loop.mix)}"


def _list(mix: Mapping[str, int]) -> str:
    most = sorted(mix.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {name}" for name, count in most[:SHOWN])


def to_json(figures: Figures) -> dict[str, Any]:
    """Return the figures as data."""
    taken, loop = figures.resources, figures.loop
    found: dict[str, Any] = {
        "kernel": figures.name,
        "registers": taken.registers if taken else None,
        "shared_bytes": taken.static_shared_bytes if taken else None,
        "stack_bytes": taken.stack_bytes if taken else None,
        "spills": figures.spills,
        "instructions": figures.instructions,
    }
    if loop:
        found["loop"] = {
            "instructions": loop.instructions,
            "work": loop.work,
            "math": loop.math,
            "share": round(loop.share, 4),
            "issue_ratio": round(loop.issue_ratio, 4),
            "math_per_ldsm_x4": loop.math_per_ldsm_x4,
            "mix": dict(sorted(loop.mix.items())),
        }
    return found


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="./tools/bench static", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--chip", default="sm_80", help="one or several, as sm_80,sm_90a")
    parser.add_argument(
        "--schedule", default="auto", help="a schedule for programs, as `compile` takes it"
    )
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Measure and print; return the exit code."""
    options = parse(arguments)
    rows = []
    try:
        install_nvdisasm()
        for path in options.files:
            for chip in options.chip.split(","):
                print(f"\n{path} for {chip}")
                for figures in measure_file(path, chip, options.schedule):
                    print("\n".join(describe(figures)), flush=True)
                    rows.append({"file": path.name, "chip": chip, **to_json(figures)})
    except (DisassemblyError, pipeline.Error, OSError) as error:
        print(error if str(error).startswith("error") else f"error: {error}", file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
