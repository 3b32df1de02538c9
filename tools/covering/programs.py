"""Compile, and check, programs of one kind as users do, for the lines that this enters.

Each with barriers inserted, minimized and kept, with and without named ones; what was inserted is
checked again. None of them is random. What is refused is passed over.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pipeline
from corpus.kernels import CASES
from linalg.linalg_programs import PROGRAMS
from support.examples import EXAMPLES
from support.ring_loops import make_loop

CHIPS = ("sm_80", "sm_90a")
PEERS = ("eliminate-barriers-upstream", "insert-barriers-peers", "insert-barriers-peers-invalid")
MODES: tuple[dict[str, Any], ...] = (
    {"sync": "insert"},
    {"sync": "minimize"},
    {"sync": "insert", "named": True},
    {"sync": "minimize", "named": True},
    {"sync": "keep"},
)


@dataclass(frozen=True)
class Program:
    """A program, the options that it is compiled with, and the chips that have what it takes."""

    text: str
    memory_options: str = ""
    chips: tuple[str, ...] = CHIPS
    schedule: str | None = None


def linalg() -> Iterator[Program]:
    """Yield the suite of linalg programs."""
    for program in PROGRAMS:
        yield Program(program.text)


def examples() -> Iterator[Program]:
    """Yield the examples, and what their variants are."""
    for file in sorted(EXAMPLES.glob("*.mlir")):
        text = file.read_text(encoding="utf-8")
        yield Program(text)
        yield Program(text.replace("1024x1024", "1000x1000").replace("[4, 4, 0]", "[3, 6, 0]"))
        yield Program(text.replace("operands_to_promote = [0, 1]", "operands_to_promote = [0]"))


def rings() -> Iterator[Program]:
    """Yield loops whose copies run ahead."""
    engines = {"registers": CHIPS[:1], "cp-async": CHIPS[:1], "tma": CHIPS[1:]}
    for element, (iterations, outer), epilogue, slots, (engine, chips) in itertools.product(
        ("f32", "f16"), ((0, 3), (4, 2)), (True, False), (2, 3, 4, 8), engines.items()
    ):
        text = make_loop(iterations, outer, element=element, epilogue=epilogue)
        yield Program(text, f"slots={slots} engine={engine}", chips)


def peers() -> Iterator[Program]:
    """Yield the kernels that other compilers were given."""
    for name in PEERS:
        file = EXAMPLES.parent / "Transforms" / "Sync" / f"{name}.mlir"
        yield Program(file.read_text(encoding="utf-8"))


def kernels() -> Iterator[Program]:
    """Yield kernels written by hand, which other programs do not need to be like."""
    for case in CASES:
        yield Program(case.text, chips=(case.chip,))


def read(folder: Path) -> Iterator[Program]:
    """Yield the programs of a folder, with the schedule that is chosen for them and without one."""
    for file in sorted(folder.glob("*.mlir")):
        for schedule in (None, "none"):
            yield Program(file.read_text(encoding="utf-8"), schedule=schedule)


USUAL = {"linalg": linalg, "examples": examples, "rings": rings, "peers": peers}
KINDS = {**USUAL, "kernels": kernels}


def compile_program(program: Program, chip: str) -> None:
    """Compile a program in all modes, and check it before and after."""
    texts = [program.text]
    for mode in MODES:
        named = ["named-barriers"] if mode.get("named") else []
        try:
            module = pipeline.compile(
                program.text,
                chip=chip,
                schedule=program.schedule,
                sync=mode["sync"],
                memory_options=" ".join([*named, program.memory_options]),
                until="gpu",
            )
        except pipeline.Error:
            continue
        if mode is MODES[0]:
            texts.append(module.texts["gpu"])
    for text in texts:
        try:
            pipeline.check(text, schedule=program.schedule)
        except pipeline.Error:
            continue


def main(arguments: Sequence[str] | None = None) -> None:
    """Compile a part of the programs of one kind, or of a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("kind", help=f"{', '.join(KINDS)} or a folder")
    parser.add_argument("--part", type=int, default=0, help="which of the parts, from 0 on")
    parser.add_argument("--parts", type=int, default=1, help="how many there are")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    programs = KINDS[options.kind]() if options.kind in KINDS else read(Path(options.kind))
    for program in itertools.islice(programs, options.part, None, options.parts):
        for chip in program.chips:
            compile_program(program, chip)


if __name__ == "__main__":
    main()
