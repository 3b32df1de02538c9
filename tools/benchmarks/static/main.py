"""Count what machine code shows without a GPU: registers, spills, the mix of the main loop.

Files are programs (.mlir, compiled by this project), PTX and machine code (.cubin). A main loop is
the innermost loop that does most of the work: with tensor cores, else by fused multiply-adds, else
by other arithmetic, else by moving data. `work/cycle` is the share of cycles in which a warp alone
would issue work, by the stalls that ptxas has put in. Without files, a suite of kernels is compiled
by default schedules, and held against bars.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pipeline
from benchmarks.static.bars import missed
from benchmarks.static.cases import Case, cases
from benchmarks.static.peers import measure_peers
from benchmarks.static.records import (
    JSON,
    MARKDOWN,
    dump,
    find_regressions,
    load,
    merge,
    read_version,
)
from benchmarks.static.rows import OURS, Row, compare_loops, measure_case
from benchmarks.static.sass import DisassemblyError, disassemble, install_nvdisasm
from benchmarks.static.tables import write_document
from pipeline.figures.figures import Figures, measure
from pipeline.system.assembler import Resources, assemble, find_version, parse_resources

SHOWN = 14  # kinds of instructions
CHECKED = (
    r"^matmul (f32|f16|i8) 4096\^3$|^conv_2d_nhwc_hwcf f16 32x58x58x64 |^softmax 8192x4096 f32$"
    r"|^attention f16 64 heads, 1000 rows|^layer_norm 8192x4096.* f32$|^transpose 8192x4096 f32$"
)
"""The cases that `--check` measures: one of each kind that takes no second."""


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
    ratios = [f"{loop.math} {loop.work}, {loop.share:.1%}"]
    ratios += [f"of what every turn passes {loop.always_share:.1%}"]
    ratios += [f"work/cycle {loop.issue_ratio:.3f}"]
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
            "always": round(loop.always_share, 4),
            "issue_ratio": round(loop.issue_ratio, 4),
            "math_per_ldsm_x4": loop.math_per_ldsm_x4,
            "mix": dict(sorted(loop.mix.items())),
        }
    return found


def measure_files(paths: Sequence[Path], chips: Sequence[str], schedule: str) -> list[Any]:
    """Measure files, and print what there is; return it as data."""
    found = []
    for path in paths:
        for chip in chips:
            print(f"\n{path} for {chip}")
            for figures in measure_file(path, chip, schedule):
                print("\n".join(describe(figures)), flush=True)
                found.append({"file": path.name, "chip": chip, **to_json(figures)})
    return found


def find_cases(pattern: str) -> list[Case]:
    """Return the cases whose names match."""
    return [case for case in cases() if re.search(pattern, case.name)]


def measure_suite(options: argparse.Namespace, chips: Sequence[str]) -> int:
    """Measure cases of the suite, and print, write or check them; return the exit code."""
    everything = cases()
    rows = []
    chosen = find_cases(CHECKED if options.check else options.only)
    compilers = [OURS] if options.check else options.by.split(",")
    for case in chosen if OURS in compilers else ():
        for chip in chips:
            rows.append(measure_case(case, chip))
            print_row(rows[-1])
    for row in measure_peers([case for case in chosen if not case.options], chips, compilers):
        rows.append(row)
        print_row(row)
    compare_loops(rows)
    recorded = load(JSON, everything)
    if options.check:
        worse = list(find_regressions(recorded, rows))
        print("\n".join(worse or ["nothing is worse than recorded"]))
        if worse and find_version() != read_version(JSON):
            print(f"(recorded with ptxas {read_version(JSON)}; this is {find_version()})")
        return 1 if worse else 0
    if options.write:
        merged = merge(recorded, rows, everything)
        compare_loops(merged)
        JSON.write_text(dump(merged, find_version()), encoding="utf-8")
        document = write_document(load(JSON, everything), read_version(JSON))
        MARKDOWN.write_text(document, encoding="utf-8")
    return 0


def print_row(row: Row) -> None:
    """Print which bars a row misses, or what a peer has made."""
    failed = ", ".join(map(str, missed(row))) if row.compiler == OURS else ""
    made = f"{row.figures.get('math', 'no loop')} {row.figures.get('work', '')}"
    words = f"misses {failed}" if failed else "meets all" if row.compiler == OURS else made
    print(f"{row.key}: {row.note or words}", flush=True)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="./tools/bench static", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--chip", help="one or several (default: sm_80; of the suite sm_80,sm_90a)")
    parser.add_argument(
        "--schedule", default="auto", help="a schedule for programs, as `compile` takes it"
    )
    parser.add_argument("--json", type=Path, help="write the figures of files there, too")
    parser.add_argument(
        "--only", default="", metavar="REGEX", help="of the suite, cases with such names"
    )
    parser.add_argument(
        "--by",
        default=OURS,
        metavar="COMPILERS",
        help=f"of the suite: {OURS},Triton,IREE, or some; peers are installed (default: {OURS})",
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--write", action="store_true", help="record the suite in docs/measurements")
    way.add_argument(
        "--check", action="store_true", help="fail if a few kernels are worse than recorded"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Measure and print; return the exit code."""
    options = parse(arguments)
    chips = (options.chip or ("sm_80" if options.files else "sm_80,sm_90a")).split(",")
    try:
        install_nvdisasm()
        if not options.files:
            return measure_suite(options, chips)
        found = measure_files(options.files, chips, options.schedule)
        if options.json:
            options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    except (DisassemblyError, pipeline.Error, OSError) as error:
        print(error if str(error).startswith("error") else f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
