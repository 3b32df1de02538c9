"""Try `workgroup-lower-copies`, in the whole pipeline, on random kernels that copy.

Each kernel is compiled and runs on the emulator with all checks, in an order of threads of its own.
There must be no finding, the target must hold what NumPy says, and what the threads store must add
up to each element of each target once.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

import pipeline
from oracles.copies.programs import Program, generate
from setup.arguments import positive

ORDERS: tuple[Literal["forward", "reverse", "seeded"], ...] = ("forward", "reverse", "seeded")
MODES: tuple[Literal["on_wait", "eager"], ...] = ("on_wait", "eager")
# The chip, and how to copy to workgroup memory.
TARGETS = (("sm_80", "auto"), ("sm_90", "tma"), ("sm_75", "auto"), ("sm_90", "auto"))


@dataclass
class Counts:
    """What was tried: programs, copies as they were lowered, and bytes per access."""

    kinds: Counter[str] = field(default_factory=Counter)
    lowered: Counter[str] = field(default_factory=Counter)
    widths: Counter[int] = field(default_factory=Counter)
    dynamic: int = 0
    """How many have a buffer of dynamic size."""


def count(module: pipeline.Module, counts: Counts) -> None:
    """Note how the copies of a program were lowered."""
    for remark in module.remarks:
        if remark.name == "Hoisted" and remark.category == "workgroup-hoist-copies":
            counts.lowered["copy hoisted out of a loop"] += 1
        if remark.name == "ErasedFill":
            counts.lowered["fill erased"] += 1
        if remark.name == "LoweredCopy":
            counts.lowered[remark.message.split(",")[0]] += 1
            if width := remark.arguments.get("BytesPerAccess"):
                counts.widths[int(width)] += 1


def is_by_tma(module: pipeline.Module) -> bool:
    """Tell whether TMA does some of the copies, which no thread stores then."""
    return any("copy done by TMA" in remark.message for remark in module.remarks)


def run(program: Program, module: pipeline.Module, *, statistics: bool) -> pipeline.Report:
    """Run the kernel in place."""
    seed = program.seed
    order = ORDERS[seed % len(ORDERS)]
    options = pipeline.Options(
        check="none" if statistics else "all",
        statistics=statistics,
        order=order,
        seed=seed if order == "seeded" else 0,
        async_mode=MODES[seed // 3 % 2],
        workers=1,
    )
    if program.has_host:
        (report,) = module.emulate(*program.arguments, options=options)
        return report
    return module.kernels["main_kernel"].emulate(
        *program.arguments, grid=program.grid, block=program.block, options=options
    )


def stored_bytes(report: pipeline.Report) -> dict[str, int]:
    """Return how many bytes all threads stored in each memory."""
    assert report.statistics is not None
    stored = Counter(dict.fromkeys(("global", "shared"), 0))
    for place in report.statistics.per_access:
        if place.kind == "write":
            stored[place.space] += place.accesses * place.bytes
    return dict(stored)


def check(program: Program, counts: Counts) -> str:
    """Return what is wrong with a program; empty if nothing is."""
    chip, copies = TARGETS[program.seed % len(TARGETS)]
    try:
        module = pipeline.compile(
            program.text,
            until="llvm",
            chip=chip,
            memory_options=f"copies={copies}",
            sync="insert" if program.seed // len(TARGETS) % 2 else "keep",
        )
        report = run(program, module, statistics=False)
    except pipeline.Error as error:
        return str(error)
    counts.kinds[program.kind] += 1
    counts.dynamic += "alloc(%" in program.text
    count(module, counts)
    if report.findings:
        return report.rendered
    if not np.array_equal(program.arguments[1], program.expected):
        return "other numbers than NumPy's"
    if program.seed // len(TARGETS) % 2:
        return ""  # without a barrier, a thread may keep in registers what only it reads again
    stored = stored_bytes(run(program, module, statistics=True))
    wanted = {**stored, **program.stored}
    if np.prod(program.block) == 1 or is_by_tma(module):
        wanted["shared"] = stored["shared"]  # one thread may keep it in registers
    return "" if stored == wanted else f"threads stored {stored} bytes, not {wanted}"


def fuzz(seeds: Sequence[int], counts: Counts, *, is_bounded: bool = False) -> dict[int, str]:
    """Return what is wrong with the programs of some seeds."""
    problems = {seed: check(generate(seed, is_bounded=is_bounded), counts) for seed in seeds}
    return {seed: problem for seed, problem in problems.items() if problem}


def main() -> int:
    """Fuzz seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=positive, default=1000, help="how many")
    parser.add_argument("--bounded", action="store_true", help="extents are bounded, not known")
    parser.add_argument("--keep", type=Path, help="where to write the programs that fail")
    options = parser.parse_args()
    counts, begun, failed = Counts(), time.monotonic(), 0
    for seed in range(options.first, options.first + options.seeds):
        for problem in fuzz([seed], counts, is_bounded=options.bounded).values():
            failed += 1
            print(f"seed {seed}: {problem}\n", flush=True)
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                program = generate(seed, is_bounded=options.bounded)
                (options.keep / f"{seed}.mlir").write_text(program.text)
    print(f"{options.seeds} programs in {time.monotonic() - begun:.0f} s: {dict(counts.kinds)}")
    print(
        f"copies: {dict(counts.lowered)}; bytes per access: {dict(sorted(counts.widths.items()))}; "
        f"{counts.dynamic} programs have buffers of dynamic size"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
