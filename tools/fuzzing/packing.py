"""Try `workgroup-pack-memory` on random kernels.

Each kernel runs on the emulator, with all checks, without packing and packed in several ways. There
must be no finding, and the numbers must be the same. Packed kernels that lack one of the barriers
that packing put are run as well, to tell how many of these are needed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

import pipeline
from oracles.packing.programs import generate
from oracles.packing.steps import ASYNC_ELEMENTS, Program, padded
from oracles.packing.text import print_program
from pipeline.system.toolchain import find_mlir_opt
from setup.arguments import positive

# The first one is what the others have to agree with, or the second where the first is refused.
VARIANTS = {
    "hoisted": "workgroup-hoist-allocs{insert-barriers=true}",
    "separate": "workgroup-pack-memory{reuse=never dynamic=always}",
    "always": "workgroup-pack-memory{reuse=always}",
    "auto": "workgroup-pack-memory{reuse=auto}",
    "dynamic": "workgroup-pack-memory{reuse=always dynamic=always}",
}
BARE = "workgroup-pack-memory{reuse=always insert-barriers=false}"
ORDERS: tuple[Literal["forward", "reverse", "seeded"], ...] = ("forward", "reverse", "seeded")
# What hoisting cannot do is refused without packing, and may be refused with it.
REFUSAL = "cannot synchronize the uses of this workgroup buffer in consecutive iterations"
# A layout is good enough if it takes so many times the largest sum of what is in use at one time.
GOOD = 1.05
# Upstream takes the next line for an operand of the form that it prints itself.
_GROUP = re.compile(r"nvgpu\.device_async_create_group *$", re.M)
_GENERIC_GROUP = '"nvgpu.device_async_create_group"() : () -> !nvgpu.device.async.token'
_METRICS = re.compile(
    r"\[Passed\] PackedKernel .*BytesAfter=(\d+), BytesBefore=(\d+), LowerBound=(\d+)"
)


@dataclass
class Packed:
    """What became of a program, or the error; and what the remark says."""

    text: str = ""
    error: str = ""
    is_dynamic: bool = False
    after: int = 0
    before: int = 0
    bound: int = 0


@dataclass
class Counts:
    """What was tried."""

    runs: int = 0
    dynamic: int = 0
    refused: int = 0
    # Programs that the default refuses.
    rejected: int = 0
    shared: int = 0
    needed: int = 0
    redundant: int = 0
    unreached: int = 0
    barriers: int = 0
    ratios: list[float] = field(default_factory=list)
    padded_ratios: list[float] = field(default_factory=list)


# --- passes ---------------------------------------------------------------------------------------


def run_opt(texts: Sequence[str], passes: str) -> list[Packed]:
    """Run passes on each module; in one process as long as none of them makes it crash."""
    source = "// -----\n".join(texts)
    command = [
        str(find_mlir_opt()),
        f"--load-pass-plugin={pipeline.plugin_path()}",
        "--split-input-file",
        "--remarks-filter=workgroup.*",
        "--remark-format=emitRemark",
        f"--pass-pipeline=builtin.module({passes})",
    ]
    result = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if result.returncode < 0 or "PLEASE submit a bug report" in result.stderr:
        if len(texts) == 1:
            return [Packed(error=f"mlir-opt crashed\n{result.stderr[:2000]}")]
        return [run_opt([text], passes)[0] for text in texts]
    return _read_outcomes(texts, result.stdout, result.stderr)


def _read_outcomes(texts: Sequence[str], output: str, messages: str) -> list[Packed]:
    """Attribute modules and messages to texts by their lines; those with errors print nothing."""
    outcomes = [Packed() for _ in texts]
    starts = [1]
    for text in texts:
        starts.append(starts[-1] + text.count("\n") + 1)

    def find(line: int) -> Packed:
        return outcomes[max(i for i in range(len(texts)) if starts[i] <= line)]

    for match in re.finditer(r"^<stdin>:(\d+):\d+: (error|remark): (.*)$", messages, re.M):
        outcome = find(int(match[1]))
        if match[2] == "error":
            outcome.error = outcome.error or match[3]
        elif metrics := _METRICS.search(match[3]):
            outcome.is_dynamic = "into dynamic memory" in match[3]
            outcome.after, outcome.before, outcome.bound = (int(n) for n in metrics.groups())
    modules = [module.strip() + "\n" for module in output.split("// -----")]
    modules = [module for module in modules if module.strip()]
    good = [outcome for outcome in outcomes if not outcome.error]
    if len(modules) != len(good):
        raise RuntimeError(f"{len(good)} modules without errors, but {len(modules)} were printed")
    for outcome, module in zip(good, modules, strict=True):
        outcome.text = _GROUP.sub(_GENERIC_GROUP, module)
    return outcomes


# --- runs -----------------------------------------------------------------------------------------


def make_arguments(program: Program) -> list[Any]:
    """Return sources of copies, and the output."""
    sizes = np.random.default_rng(program.seed)
    kinds = {"f32": np.float32, "f64": np.float64, "i64": np.int64}
    sources: list[Any] = [
        sizes.integers(1, 60000, 400).astype(kinds[element]) for element in ASYNC_ELEMENTS
    ]
    return [*sources, np.zeros(program.threads * program.blocks, np.int64)]


def compile_text(text: str) -> pipeline.Module | str:
    """Return the compiled module, or the error."""
    try:
        return pipeline.compile(text, until="llvm", sync="keep", verify=False)
    except pipeline.CompileError as error:
        return str(error)


def run(program: Program, packed: Packed, module: pipeline.Module, order: Any) -> tuple[bytes, str]:
    """Run the kernel; return its output and what the emulator found."""
    arguments = make_arguments(program)
    modes: list[Literal["on_wait", "eager"]] = ["on_wait", "eager"]
    options = pipeline.Options(
        check="all",
        order=order,
        seed=program.seed if order == "seeded" else 0,
        async_mode=modes[program.seed % 2],
        workers=1,
    )
    if program.has_launch:
        (report,) = module.emulate(*arguments, options=options)
    else:
        kernel = module.kernels["main_kernel"]
        report = kernel.emulate(
            *arguments,
            *(program.flag, program.trips, program.extent),
            grid=(program.blocks, 1, 1),
            block=(program.threads, 1, 1),
            dynamic_shared_bytes=packed.after if packed.is_dynamic else None,
            options=options,
        )
    return arguments[-1].tobytes(), report.rendered if report.findings else ""


class Checker:
    """Compares the variants of one program."""

    def __init__(self, program: Program, counts: Counts) -> None:
        self.program = program
        self.counts = counts
        self.expected: bytes | None = None
        self.texts: set[str] = set()

    def check(self, name: str, packed: Packed) -> str:
        """Return what is wrong with a variant; empty if nothing is."""
        if packed.error:
            return self.refuse(name, packed.error)
        if packed.after > packed.before:
            return f"{name}: {packed.after} bytes after packing, {packed.before} before"
        if packed.text in self.texts or (name == "separate" and self.expected is not None):
            return ""
        self.texts.add(packed.text)
        module = compile_text(packed.text)
        if isinstance(module, str):
            return self.refuse(name, module)
        for order in ORDERS if self.expected is not None else ORDERS[:1]:
            self.counts.runs += 1
            output, findings = run(self.program, packed, module, order)
            if findings:
                return f"{name}, order {order}:\n{findings}"
            if self.expected is None:
                self.expected = output
            if output != self.expected:
                return f"{name}, order {order}: other numbers than without packing"
        return ""

    def refuse(self, name: str, error: str) -> str:
        """Return what is wrong with a refusal."""
        if REFUSAL not in error:
            return f"{name}: {error}"
        self.counts.refused += 1
        self.counts.rejected += name == "auto"
        return ""

    def mutate(self, packed: Packed, bare: Packed, most: int) -> None:
        """Count how many of the barriers that packing put are needed."""
        lines = packed.text.splitlines()
        inserted = find_inserted(lines, bare.text.splitlines())
        self.counts.barriers += len(inserted)
        shift = self.program.seed % max(1, len(inserted))
        for line in (inserted[shift:] + inserted[:shift])[:most]:
            text = "\n".join(lines[:line] + lines[line + 1 :]) + "\n"
            module = compile_text(text)
            if isinstance(module, str):
                continue
            _, findings = run(self.program, packed, module, "forward")
            if findings:
                self.counts.needed += 1
            elif self.reaches(packed, lines, line):
                self.counts.redundant += 1
            else:
                self.counts.unreached += 1

    def reaches(self, packed: Packed, lines: Sequence[str], line: int) -> bool:
        """Tell whether the launch gets to the barrier in a line."""
        trap = ["%never_ = arith.constant false", 'cf.assert %never_, "reached"']
        module = compile_text("\n".join([*lines[:line], *trap, *lines[line + 1 :], ""]))
        assert not isinstance(module, str), module
        return bool(run(self.program, packed, module, "forward")[1])


def find_inserted(lines: Sequence[str], bare: Sequence[str]) -> list[int]:
    """Return which barriers in `lines` are not in `bare`, which is the same otherwise."""
    inserted = []
    rest = iter([*bare, ""])
    expected = next(rest)
    for number, line in enumerate(lines):
        if line == expected:
            expected = next(rest)
        elif line.strip() == "gpu.barrier":
            inserted.append(number)
        else:
            raise RuntimeError(f"line {number} differs by more than a barrier")
    return inserted


def check_ratio(packed: Packed, wide: Packed, counts: Counts) -> str:
    """Note how good the layout is; return what is wrong with it."""
    if not packed.bound:
        return ""
    counts.ratios.append(packed.after / packed.bound)
    if packed.after <= GOOD * packed.bound or not wide.bound:
        return ""
    counts.padded_ratios.append(packed.after / wide.bound)
    if packed.after <= GOOD * wide.bound:
        return ""
    return f"{packed.after} bytes; {packed.bound} are in use at one time, {wide.bound} with padding"


def fuzz(
    seeds: Sequence[int], counts: Counts, mutants: int = 1, dynamic_share: float = 0.2
) -> dict[int, str]:
    """Return what is wrong with the programs of some seeds."""
    programs = [generate(seed, dynamic_share) for seed in seeds]
    counts.dynamic += sum(
        any(buffer.extent is not None for buffer in program.buffers.values())
        for program in programs
    )
    texts = [print_program(program) for program in programs]
    wide_texts = [print_program(padded(program)) for program in programs]
    jobs = {name: (texts, passes) for name, passes in {**VARIANTS, "bare": BARE}.items()}
    jobs["wide"] = (wide_texts, VARIANTS["always"])
    outcomes = {name: run_opt(*job) for name, job in jobs.items()}
    problems: dict[int, str] = {}
    for number, program in enumerate(programs):
        variants = {name: packed[number] for name, packed in outcomes.items()}
        if problem := _check_program(program, variants, counts, mutants):
            problems[program.seed] = problem
    return problems


def _check_program(
    program: Program, variants: dict[str, Packed], counts: Counts, mutants: int
) -> str:
    checker = Checker(program, counts)
    try:
        for name in VARIANTS:
            if problem := checker.check(name, variants[name]):
                return problem
        always = variants["always"]
        if problem := check_ratio(always, variants["wide"], counts):
            return problem
        if always.text and variants["bare"].text:
            counts.shared += always.after < always.before
            checker.mutate(always, variants["bare"], mutants)
    except pipeline.Error as error:
        return str(error)
    return ""


def keep(seed: int, dynamic_share: float, folder: Path) -> None:
    """Write a program and what the passes make of it."""
    folder.mkdir(parents=True, exist_ok=True)
    text = print_program(generate(seed, dynamic_share))
    (folder / f"{seed}.mlir").write_text(text)
    for name, passes in {**VARIANTS, "bare": BARE}.items():
        (packed,) = run_opt([text], passes)
        (folder / f"{seed}-{name}.mlir").write_text(packed.text or packed.error)


def report(counts: Counts, seeds: int, seconds: float) -> str:
    """Return what was found out."""
    ratios, wide = np.array(counts.ratios or [1]), np.array(counts.padded_ratios or [1])
    spread = ", ".join(f"{np.percentile(ratios, p):.3f}" for p in (50, 90, 99, 100))
    removed = counts.needed + counts.redundant + counts.unreached
    return (
        f"{seeds} programs in {seconds:.0f} s, {counts.runs} runs; {counts.dynamic} have buffers "
        f"of dynamic size, {counts.shared} share bytes, "
        f"{counts.refused} variants were refused, "
        f"{counts.rejected} of them the default\n"
        f"bytes / lower bound at 50, 90, 99, 100 %: {spread}; {len(counts.padded_ratios)} above "
        f"{GOOD}, of which the worst is {wide.max():.3f} of the bound with padding\n"
        f"{counts.barriers} barriers put; of {removed} that were removed, {counts.needed} were "
        f"needed, {counts.unreached} never reached; without {counts.redundant} nothing was found"
    )


def main() -> int:
    """Fuzz seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=positive, default=500, help="how many")
    parser.add_argument("--mutants", type=int, default=1, help="barriers to remove, per program")
    parser.add_argument(
        "--dynamic", type=float, default=0.2, help="the share of allocations of dynamic size"
    )
    parser.add_argument("--keep", type=Path, help="where to write the programs that fail")
    options = parser.parse_args()
    counts, begun, failed = Counts(), time.monotonic(), 0
    end, share = options.first + options.seeds, options.dynamic
    for first in range(options.first, end, 25):
        seeds = range(first, min(first + 25, end))
        for seed, problem in fuzz(seeds, counts, options.mutants, share).items():
            failed += 1
            print(f"seed {seed}: {problem}\n", flush=True)
            if options.keep:
                keep(seed, share, options.keep)
    print(report(counts, options.seeds, time.monotonic() - begun))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
