"""Try `workgroup-allocate-device-memory` on random host programs that launch kernels.

Each program is run with one memory as it stands and, behind the pass, with a memory of the device
of its own, for several arguments: nobody may touch what is not his, and what has a value in the
first run has it in the second. In programs of branches and loops, the copies are compared with the
fewest that there can be, found by trying.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pipeline
from oracles.device import memories, minimum
from oracles.device.programs import LOG, SIZE, Program, generate
from pipeline.system.toolchain import find_mlir_opt
from setup.arguments import positive

BATCH = 100
RUNS = 6
# Copies and places of the programs for which the fewest are looked for.
MOST, PLACES = 4, 11
PASS = "workgroup-allocate-device-memory{assume-distinct-arguments strict}"


def transform(programs: Sequence[Program], plugin: Path, passes: str) -> list[str]:
    """Return what passes make of programs, in generic form."""
    command = [
        str(find_mlir_opt()),
        f"--load-pass-plugin={plugin}",
        f"--pass-pipeline=builtin.module({passes})",
        "--split-input-file",
        "--mlir-print-op-generic",
    ]
    text = "\n// -----\n".join(program.text for program in programs)
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if result.returncode:
        raise pipeline.Error(result.stderr[:2000])
    return result.stdout.split("// -----")


def make_arguments(program: Program, chance: random.Random) -> list[memories.View | int]:
    """Return arguments of a program."""
    arguments: list[memories.View | int] = []
    for origin in program.buffers.values():
        if origin == "argument":
            elements: list[int | None] = [chance.randint(0, 1000) for _ in range(SIZE)]
            arguments.append(memories.whole(memories.Memory(elements)))
    arguments.append(memories.whole(memories.Memory([0] * LOG)))
    arguments += [chance.randint(0, 1) for _ in range(program.conditions)]
    arguments += [chance.choice([0, 1, 2, 3]) for _ in range(program.trips)]
    return arguments


def run(
    module: memories.Operation, program: Program, seed: str, has_two: bool
) -> tuple[list[list[int | None]], int]:
    """Return all memory that others know behind a run, and the number of copies."""
    arguments = make_arguments(program, random.Random(seed))
    machine = memories.Machine(module, has_two)
    machine.run(arguments)
    known = [*machine.globals.values()]
    known += [argument.memory for argument in arguments if isinstance(argument, memories.View)]
    return [memory.elements for memory in known], machine.copies


def compare(program: Program, before: memories.Operation, after: memories.Operation) -> str:
    """Return in what runs of a program differ; empty if in nothing."""
    for number in range(RUNS):
        seed = f"{program.text} {number}"
        expected, _ = run(before, program, seed, has_two=False)
        try:
            found, _ = run(after, program, seed, has_two=True)
        except memories.WrongMemory as error:
            return str(error)
        for wanted, got in zip(expected, found, strict=True):
            for left, right in zip(wanted, got, strict=True):
                if left is not None and left != right:
                    return f"{wanted} is expected, {got} is found"
    return ""


def count_wrongly(program: Program, after: memories.Operation, counts: Counter[str]) -> str:
    """Return how copies differ from the fewest there can be; empty if they do not."""
    total: tuple[int, ...] = (0, 0, 0)
    for buffer in program.buffers:
        least = minimum.find_minimum(program, buffer, MOST, PLACES)
        if least is None:
            counts["too large to count"] += 1
            return ""
        padded = (0,) * (3 - len(least)) + least
        total = tuple(left + right for left, right in zip(total, padded, strict=True))
    found = memories.count_by_level(memories.get_function(after))
    placed = tuple(found.get(level, 0) for level in (2, 1, 0))
    counts["counted"] += 1
    counts["copies"] += sum(placed)
    if placed != total:
        return f"{placed} copies at levels 2, 1, 0, where {total} are enough"
    return ""


def check(
    programs: Sequence[Program], joins: bool, plugin: Path, counts: Counter[str]
) -> dict[int, str]:
    """Return what is wrong with programs, by their number."""
    problems: dict[int, str] = {}
    texts = [transform(programs, plugin, passes) for passes in ("", PASS)]
    for number, (program, old, new) in enumerate(zip(programs, *texts, strict=True)):
        before, after = memories.read(old), memories.read(new)
        problem = compare(program, before, after)
        if not problem and not joins:
            problem = count_wrongly(program, after, counts)
        if problem:
            problems[number] = problem
    return problems


def main() -> int:
    """Fuzz seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=positive, default=500, help="how many")
    parser.add_argument("--size", type=positive, default=6, help="statements of a program, at most")
    parser.add_argument("--joins", action="store_true", help="with loops that swap buffers")
    parser.add_argument("--plugin", type=Path, help="the plugin to try, in place of the package's")
    parser.add_argument("--keep", type=Path, help="where to write the programs that fail")
    options = parser.parse_args()
    plugin = options.plugin or pipeline.plugin_path()
    counts: Counter[str] = Counter()
    begun, failed = time.monotonic(), 0
    for first in range(options.first, options.first + options.seeds, BATCH):
        last = min(first + BATCH, options.first + options.seeds)
        programs = [generate(seed, options.joins, options.size) for seed in range(first, last)]
        for number, problem in check(programs, options.joins, plugin, counts).items():
            failed += 1
            print(f"seed {first + number}: {problem}\n", flush=True)
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{first + number}.mlir").write_text(programs[number].text)
    told = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    seconds = time.monotonic() - begun
    print(f"{options.seeds} programs in {seconds:.0f} s, {failed} failed: {told}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
