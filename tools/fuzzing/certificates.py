"""Look for mutants of kernels and of their certificates that `tools/check-certificate` accepts.

A mutant of a certificate has to be rejected, and so has one of LLVM IR whose checksum was mended.
What is accepted nevertheless runs on the emulator: it may do what the kernel did before. Of a
mutant of LLVM IR it is also asked whether its threads race, whatever the certificate says; where
that is denied, the emulator must not find a race.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pipeline
from certificates import claims
from certificates.cells import Refuted
from certificates.ir import NotUnderstood
from fuzzing.certificate_mutants import Mutant, mutate
from linalg.linalg_programs import PROGRAMS, Program
from linalg.linalg_programs.program import Input
from setup.arguments import positive

NAMES = (
    "softmax", "matmul", "matmul_f16_f32", "sum_columns", "two_matmuls", "layer_norm", "dot",
    "split_columns_33", "narrow_vecmat_odd", "category_elementwise", "conv_2d_nhwc_fhwc",
    "matmul_i8_i32", "batch_matmul_transposed", "columns_read_backwards", "two_results_columns",
    "matmul_bias_relu", "sum_rows", "vecmat", "max_rows", "sum_outside", "conv_2d_f16",
)  # fmt: skip
"""Programs whose kernels use workgroup memory."""

STEPS = 1 << 18
"""The rounds of loops that a thread may make on the emulator: of mutants some never end."""

PRODUCT = """
func.func @main(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x512xf32>) -> tensor<512x512xf32>
  %d = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>)
                     outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %d : tensor<512x512xf32>
}
"""
"""A product that warp groups multiply on sm_90a, of tiles that TMA brings."""


@dataclass
class Subject:
    """A program with its certificate, and what it computes, once somebody has asked."""

    name: str
    module: pipeline.Module
    document: dict[str, Any]
    text: str
    arguments: tuple[Any, ...]
    results: list[Any] | None = None

    @classmethod
    def of(cls, program: Program, chip: str, seed: int, memory_options: str = "") -> Subject:
        """Compile a program."""
        module = pipeline.compile(program.text, chip=chip, until="llvm", certify=True,
                                  memory_options=memory_options)  # fmt: skip
        rng = np.random.default_rng(seed)
        arguments = tuple(each.make(rng) for each in program.runs[0])
        document = json.loads(module.texts["certificate"])
        return cls(program.name, module, document, module.texts["llvm"], arguments)

    def run(self, text: str) -> list[Any]:
        """Run LLVM IR in the place of the program's; raises what the emulator finds."""
        code = subprocess.run(["llvm-as-22", "-o", "-"], input=text.encode(), check=True,
                              capture_output=True).stdout  # fmt: skip
        for kernel in self.module.kernels.values():
            kernel._emulation.bitcode = code
            kernel._emulation.translated.clear()
        arguments = copy.deepcopy(self.arguments)
        results = self.module.run(*arguments, backend="emulator", check="all", step_limit=STEPS)
        results = results if isinstance(results, tuple) else (results,)
        return [np.asarray(each) for each in (*arguments, *results) if each is not None]


def judge(document: dict[str, Any], text: str) -> str:
    """What the checker says: holds, refuted or not checked."""
    try:
        claims.check(document, text)
    except Refuted:
        return "refuted"
    except (NotUnderstood, KeyError, TypeError, ValueError, AttributeError):
        return "not checked"
    return "holds"


def find_race(document: dict[str, Any], text: str) -> str:
    """What the checker says of races, whatever the certificate says but for the assumptions."""
    try:
        claims.check_races(document, text)
    except Refuted:
        return "refuted"
    except (NotUnderstood, KeyError):
        return "not checked"
    return "holds"


def observe(subject: Subject, text: str) -> str:
    """What the emulator says of LLVM IR: as before, other numbers, a race, or another finding."""
    try:
        before = subject.results = subject.results or subject.run(subject.text)
    except pipeline.RaceError:
        return "not decided"  # reads that LLVM does and drops count as reads there
    try:
        after = subject.run(text)
    except subprocess.CalledProcessError:
        return "is no LLVM IR"
    except pipeline.RaceError as error:
        # Where all threads store one value, neither takes it for a race.
        kinds = ("race", "race.shared", "race.global", "race.blocks")
        races = [found for found in error.findings if found.kind in kinds]
        is_workgroup = any(found.space == "shared" for found in races)
        return "race" if is_workgroup else "race on other memory"
    except pipeline.Error:
        return "finding"
    same = all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
               for a, b in zip(before, after, strict=True))  # fmt: skip
    return "as before" if same else "other numbers"


def find_subjects(chip: str, seed: int) -> Iterator[Subject]:
    """Compile what mutants are made of: on sm_90a, kernels with mbarriers."""
    programs = {program.name: program for program in PROGRAMS}
    if chip == "sm_90a":
        halves = (Input((512, 512), "f16"), Input((512, 512), "f16"))
        product = Program("product", PRODUCT, (halves,), lambda a, b: a @ b)
        yield Subject.of(programs["attention_steps"], chip, seed)
        for threads in (0, 128):
            yield Subject.of(product, chip, seed, f"specialize-warps={threads}")
        return
    for name in NAMES:
        if name in programs:
            yield Subject.of(programs[name], chip, seed)


def try_mutants(
    subject: Subject, count: int, seed: int, *, runs: bool = True
) -> Iterator[tuple[Mutant, str, str, str]]:
    """Yield mutants with what is said of them: by the checker, of races alone, by the emulator."""
    mutants = mutate(subject.document, subject.text, random.Random(seed))
    for _ in range(count):
        mutant = next(mutants)
        said = judge(mutant.document, mutant.text)
        races = find_race(mutant.document, mutant.text) if mutant.is_of_code else ""
        seen = ""
        if runs and mutant.is_of_code and "holds" in (said, races):
            seen = observe(subject, mutant.text)
        yield mutant, said, races, seen


def fuzz(options: argparse.Namespace) -> int:
    """Try mutants, and return how many were accepted that should not have been."""
    subjects = list(find_subjects(options.chip, options.seed))
    counts: Counter[tuple[str, str]] = Counter()
    wrong = 0
    each = -(-options.mutants // len(subjects))
    for number, subject in enumerate(subjects):
        name = subject.name
        if (said := judge(subject.document, subject.text)) != "holds":
            print(f"{name}: its own certificate is {said}", flush=True)
            continue
        for mutant, said, races, seen in try_mutants(
            subject, each, options.seed + number, runs=not options.without_emulator
        ):
            counts[mutant.kind, said] += 1
            if races:
                counts["code, whatever the certificate says", f"{races}, {seen or 'not run'}"] += 1
            is_unsound = races == "holds" and seen == "race"
            is_accepted = said == "holds" and seen != "as before"
            wrong += is_unsound or is_accepted
            if is_unsound or said == "holds":
                print(f"{name}: {mutant.kind}: {mutant.what}: {said}, races: {races}, emulator: "
                      f"{seen}", flush=True)  # fmt: skip
    for kind in dict.fromkeys(kind for kind, _ in counts):
        told = {how: number for (of, how), number in counts.items() if of == kind}
        print(f"{kind}: {told}")
    return wrong


def main(arguments: Sequence[str]) -> int:
    """Run the program `tools/fuzz certificates`."""
    parser = argparse.ArgumentParser(prog="tools/fuzz certificates", description=__doc__)
    parser.add_argument("--mutants", type=positive, default=1000, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument("--without-emulator", action="store_true", help="run no mutants")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    try:
        wrong = fuzz(options)
    except pipeline.UsageError as error:  # a chip that there is not
        parser.error(str(error).removeprefix("error: "))
    print(f"{options.mutants} mutants in {time.perf_counter() - start:.0f} s, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
