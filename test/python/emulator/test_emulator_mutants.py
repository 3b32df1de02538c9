"""Wrong variants of the corpus on the emulator: each is caught, and what is said mends it."""

from __future__ import annotations

import functools
import re
from collections import Counter
from typing import Any

import pytest

import pipeline
from corpus.emulating import compile_kernel, emulate
from corpus.kernels import CASES, Case
from emulator.mutants import EDITS, Mutant, mutants

SYNCHRONIZATION = {"divergence", "exited-thread", "deadlock", "exited-lane"}
RACES = {"race.shared", "race.global", "race.blocks", "async.not-published"}
# Whether a wait comes to nothing or never ends may be chance.
PHASES = {"race.shared", "async.not-waited", "mbarrier", "deadlock"}

MUTANTS = [(case, mutant) for case in CASES for mutant in mutants(case)]
by_mutant = pytest.mark.parametrize(
    ("case", "mutant"), MUTANTS, ids=[f"{case.name}: {mutant.name}" for case, mutant in MUTANTS]
)


def family(mutant: Mutant) -> str:
    """Return which kind of edit made a mutant."""
    if mutant.name.startswith("shorter "):
        return "shorter buffer"
    kinds = (
        "barrier|wait|commit|fence|order|bulk wait|phase|arrival|count|bytes|proxy fence|init fence"
    )
    match = re.fullmatch(rf"({kinds}) \d+ (.*)", mutant.name)
    return f"{match[1]} {match[2]}" if match else "edit"


# No fewer of each than when this was written; the more kernels, the more there are.
LEAST = {
    "barrier left out": 85,
    "barrier in a branch": 83,
    "wait for one group less": 11,
    "wait left out": 11,
    "commit left out": 4,
    "bulk wait left out": 2,
    "phase not waited for": 16,
    "phase of the other parity": 16,
    "arrival left out": 22,
    "count changed by 1": 15,
    "count changed by -1": 15,
    "bytes changed by 16": 10,
    "bytes changed by -16": 10,
    "proxy fence left out": 4,
    "init fence left out": 4,
    "fence left out": 9,
    "order loosened": 3,
    "shorter buffer": 44,
    "edit": 38,
}


def test_number_of_mutants() -> None:
    counts = Counter(family(mutant) for _, mutant in MUTANTS)
    assert set(counts) == set(LEAST)
    too_few = {name: counts[name] for name, least in LEAST.items() if counts[name] < least}
    assert too_few == {}


def test_every_edit_has_its_case() -> None:
    """An edit of a case that is called otherwise is never made."""
    assert set(EDITS) <= {case.name for case in CASES}


def test_mutants_differ() -> None:
    for case in CASES:
        texts = [case.text, *(mutant.text for mutant in mutants(case))]
        assert len(set(texts)) == len(texts), case.name


# --- every mutant is caught -----------------------------------------------------------------------


def expected_kinds(case: Case, mutant: Mutant) -> set[str]:
    """Return the kinds of which one has to be among the findings."""
    if mutant.kind == "out-of-bounds":
        return {"out-of-bounds"}
    if mutant.kind == "not-waited":
        return {"async.not-waited"}
    if mutant.kind == "race":
        return RACES | (PHASES if "mbarrier.init" in case.text else set())
    if mutant.kind == "phase":
        return PHASES
    if mutant.kind in ("deadlock", "proxy"):
        return {"proxy": {"async.proxy"}, "deadlock": {"deadlock"}}[mutant.kind]
    # Lanes may skip the barrier of a warp, which does not wait for those that have left.
    if family(mutant) == "barrier in a branch" and "nvvm.bar.warp.sync" in case.text:
        return {"race.shared", "deadlock"}
    return SYNCHRONIZATION | ({"mbarrier"} if "mbarrier.init" in case.text else set())


@functools.cache
def kernel_of_mutant(case: Case, mutant: Mutant) -> pipeline.Kernel:
    return compile_kernel(mutant.text, case.chip, case.kernel, verify=False)


@functools.cache
def report_of(case: Case, mutant: Mutant, order: Any = "forward") -> pipeline.Report:
    """Return what is found in a mutant."""
    kernel = kernel_of_mutant(case, mutant)
    check = "all" if mutant.name.startswith("lanes that ") else "races"
    return emulate(case, kernel, check=check, order=order, workers=1).report


@pytest.mark.parametrize("order", ["forward", "reverse"])
@by_mutant
def test_caught(case: Case, mutant: Mutant, order: str) -> None:
    report = report_of(case, mutant, order)
    kinds = {finding.kind for finding in report.findings}
    assert kinds & expected_kinds(case, mutant), report.rendered
    assert all(f"[{kind}]" in report.rendered for kind in kinds)
    assert report.errors


@by_mutant
def test_each_pair_of_places_is_told_once(case: Case, mutant: Mutant) -> None:
    findings = report_of(case, mutant).findings
    pairs = Counter(
        (finding.kind, tuple(access.location for access in finding.accesses))
        for finding in findings
    )
    assert [pair for pair, count in pairs.items() if count > 1] == []


@by_mutant
def test_each_access_has_its_place(case: Case, mutant: Mutant) -> None:
    """Line and column are those of an operation, behind what it defines."""
    lines = mutant.text.splitlines()
    for finding in report_of(case, mutant).findings:
        for access in finding.accesses:
            line, column = lines[access.location.line - 1], access.location.column - 1
            assert re.fullmatch(r" *(%[\w:]+ = )?", line[:column]), line
            assert re.match(r"(memref|vector|gpu|nvgpu|nvvm|scf|llvm)\.", line[column:]), line


# One of each case.
OUTSIDE = {case.name: (case, mutant) for case, mutant in MUTANTS if mutant.kind == "out-of-bounds"}


@pytest.mark.parametrize("name", OUTSIDE)
def test_found_without_races(name: str) -> None:
    """Accesses out of bounds are found without the shadow, in the optimised kernel."""
    case, mutant = OUTSIDE[name]
    report = emulate(case, kernel_of_mutant(case, mutant)).report
    assert {finding.kind for finding in report.findings} == {"out-of-bounds"}, mutant.name


# --- fixes ----------------------------------------------------------------------------------------

LEFT_OUT = [
    (case, mutant)
    for case, mutant in MUTANTS
    if family(mutant) == "barrier left out"
    and "gpu.barrier" in case.text
    # Its loop is one of blocks, whose end no line tells.
    and case.name != "wmma in workgroup memory"
]
# Of others, several places would do, or one that not all threads are known to come by.
WITH_FIXES = (
    "matmul",
    "matmul of dynamic extents",
    "transpose",
    "transpose of a row of tiles",
    "stencil",
    "double buffer",
    "tree reduction",
)


def removed_line(case: Case, mutant: Mutant) -> int:
    """Return the number of the line at which a mutant lacks a barrier."""
    pairs = zip(case.text.splitlines(), mutant.text.splitlines(), strict=False)
    return next(n for n, (old, new) in enumerate(pairs, 1) if old != new)


def line_of(fix: pipeline.Fix, text: str) -> int:
    """Return the number of the line before which a barrier is to stand."""
    at = fix.location.line
    if fix.place == "before":
        return at
    assert fix.place == "at the end of the loop at"
    lines = text.splitlines()
    indent = re.match(" *", lines[at - 1])
    assert indent
    end = next(n for n in range(at, len(lines)) if re.fullmatch(f"{indent[0]}}}", lines[n]))
    return end if "scf.yield" in lines[end - 1] else end + 1


def mend(text: str, fixes: set[pipeline.Fix]) -> str:
    """Insert the barriers that findings propose."""
    lines = text.splitlines(keepends=True)
    for at in sorted({line_of(fix, text) for fix in fixes}, reverse=True):
        indent = lines[at - 1][: len(lines[at - 1]) - len(lines[at - 1].lstrip())]
        lines.insert(at - 1, f"{indent}gpu.barrier\n")
    return "".join(lines)


def fixes_of(report: pipeline.Report) -> set[pipeline.Fix]:
    return {fix for finding in report.findings for fix in finding.fixes}


@pytest.mark.parametrize(
    ("case", "mutant"), LEFT_OUT, ids=[f"{case.name}: {mutant.name}" for case, mutant in LEFT_OUT]
)
def test_verified_fixes_mend(case: Case, mutant: Mutant) -> None:
    """A program with the barriers that were tried is clean, as it is said to be."""
    report = report_of(case, mutant)
    fixes = fixes_of(report)
    assert len({fix.is_verified for fix in fixes}) <= 1, "fixes are tried together"
    if case.name in WITH_FIXES:
        assert fixes, report.rendered
    if not all(fix.is_verified for fix in fixes):
        assert case.name not in WITH_FIXES, report.rendered
        return
    if not fixes:
        return
    kernel = compile_kernel(mend(mutant.text, fixes), case.chip, case.kernel, verify=False)
    assert emulate(case, kernel, check="races").report.rendered == ""


# One that is left out in the condition of a loop stands before the loop and at its end.
IN_PLACE = [name for name in WITH_FIXES if name != "tree reduction"]


@pytest.mark.parametrize("name", IN_PLACE)
def test_fixes_are_where_the_barriers_were(name: str) -> None:
    for case, mutant in LEFT_OUT:
        if case.name != name:
            continue
        removed = removed_line(case, mutant)
        fixes = fixes_of(report_of(case, mutant))
        lines = {line_of(fix, mutant.text) for fix in fixes}
        assert len(lines) == 1, mutant.name
        # Between the barrier and the access that needs it there may be some arithmetic.
        assert removed <= lines.pop() <= removed + 3, mutant.name


@pytest.mark.parametrize("number", [0, 1])
def test_matmul_gets_its_barriers_back(number: int) -> None:
    """Before the inner loop, not in it; at the end of the outer loop."""
    case = CASES[0]
    assert case.name == "matmul"
    mutant = {mutant.name: mutant for mutant in mutants(case)}[f"barrier {number} left out"]
    report = report_of(case, mutant)
    assert [finding.kind for finding in report.findings] == ["race.shared"] * 2
    (fix,) = fixes_of(report)
    assert fix.is_verified
    assert fix.is_uniform
    assert fix.place == ("before", "at the end of the loop at")[number]
    assert mend(mutant.text, {fix}) == case.text


@pytest.mark.parametrize("name", ["matmul of dynamic extents", "double buffer"])
def test_fixes_in_loops_up_to_an_argument_are_uniform(name: str) -> None:
    """Kernel arguments are the same for all threads."""
    for case, mutant in LEFT_OUT:
        if case.name == name:
            fixes = fixes_of(report_of(case, mutant))
            assert all(fix.is_uniform for fix in fixes), report_of(case, mutant).rendered
