"""Dat3M's litmus tests for PTX: its verdicts by our copy of the model, races by the emulator."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

import pipeline
from oracles.litmus.kernels import Unsupported, make_kernel
from oracles.litmus.liveness import always_ends
from oracles.litmus.model import VERSIONS, decide
from oracles.litmus.notation import Litmus
from oracles.litmus.races import guard, has_race

from .cases import Case, Expected, Outcome, Status, is_race, judge, outcome_of
from .litmus_files import find_endings, find_verdicts, read_file

_STEPS = 2_000
_ORDERS: tuple[Literal["forward", "reverse"] | int, ...] = ("forward", "reverse", 1, 2, 3, 4, 5, 6)


def find_cases(folder: Path) -> Iterator[Case]:
    """Yield what is asked of the tests of a folder that has Dat3M's tables of verdicts in it."""
    root = folder / "litmus" / "PTX"
    for path, verdicts in sorted(find_verdicts(folder).items()):
        name = str(path.relative_to(root).with_suffix(""))
        category = name.partition("/")[0]
        for version in VERSIONS:
            if version in verdicts:
                suite = f"Dat3M, PTX {version[0]}.{version[1]}"
                holds = "holds" if verdicts[version] else "fails"
                yield Case(suite, category, name, str(path), "open", holds, kind="model")
        yield Case("Dat3M, emulated", category, name, str(path), "open", kind="litmus")
    for path, endings in sorted(find_endings(folder).items()):
        name = str(path.relative_to(root).with_suffix(""))
        for version, ends in endings.items():
            suite = f"Dat3M, liveness, PTX {version[0]}.{version[1]}"
            answer = "ends" if ends else "may not end"
            category = name.partition("/")[0]
            yield Case(suite, category, name, str(path), "open", answer, kind="progress")


def execute(case: Case) -> Outcome:
    """Answer a question, or run a test."""
    start = time.monotonic()
    status: Status
    expected: Expected = case.expected
    message, kinds = "", dict[str, int]()
    try:
        litmus = read_file(Path(case.source), case.name, {})
        if case.kind == "model":
            status, message = _answer(case, litmus)
        elif case.kind == "progress":
            status, message = _compare(case, "ends" if always_ends(litmus) else "may not end")
        else:
            expected = _expect(litmus)
            kinds = emulate(guard(litmus))
            status = judge(expected, kinds)
            if not is_race_or_end(kinds):
                status, message = "open", "blocks that wait for each other"
    except Unsupported as error:
        status, expected, message = "open", "open", str(error)
    except (pipeline.Error, ValueError) as error:
        status, message = "refused", str(error).partition("\n")[0]
    seconds = round(time.monotonic() - start, 3)
    details: dict[str, Any] = {"kinds": kinds, "message": message, "seconds": seconds}
    return outcome_of(case, status, expected=expected, **details)


def _answer(case: Case, litmus: Litmus) -> tuple[Status, str]:
    version = "".join(filter(str.isdigit, case.suite.rpartition(" ")[2]))
    return _compare(case, "holds" if decide(litmus, version) else "fails")


def _compare(case: Case, answer: str) -> tuple[Status, str]:
    if answer == case.kernel:
        return "equal", ""
    return "differs", f"{answer}, and not {case.kernel}"


def _expect(litmus: Litmus) -> Expected:
    """Say whether a test has a race, by the model. Raises Unsupported."""
    make_kernel(guard(litmus))
    return "racy" if has_race(guard(litmus), VERSIONS[0]) else "clean"


def emulate(litmus: Litmus) -> dict[str, int]:
    """Return the kinds of findings in runs of a test. Raises Unsupported, Error."""
    made = make_kernel(litmus)
    module = pipeline.compile(
        made.text, block=made.block, grid=made.grid, verify=False, until="llvm"
    )
    (kernel,) = module.kernels.values()
    kinds = Counter[str]()
    for order in _ORDERS:
        arrays = [np.array(values, np.int32) for values in made.values]
        options = pipeline.Options(check="races", order=order, step_limit=_STEPS, workers=1)
        report = kernel.emulate(*arrays, grid=made.grid, block=made.block, options=options)
        kinds.update({finding.kind for finding in report.errors})
        if any(map(is_race, kinds)):
            break
    return dict(sorted(kinds.items()))


def is_race_or_end(kinds: dict[str, int]) -> bool:
    """Say whether a race was found, or in some order no thread waited in vain.

    Blocks run one after the other: one that waits for a later one does so for ever.
    """
    return any(map(is_race, kinds)) or kinds.get("step-limit", 0) < len(_ORDERS)
