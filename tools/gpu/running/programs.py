"""Programs of the suite, run from their bundles and compared with what NumPy makes of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import pipeline

from .arrays import Array, Json, PackError, compare
from .doors import Door, TorchDoor, to_bits
from .oracle import Comparison, Found, Oracle, compare_with
from .verdicts import Verdict
from .ways import as_numpy, has_numpy_types

_FLOATS = ("f", "bf")


def check_program(
    case: Json,
    folder: Path,
    doors: Sequence[Door],
    progress: Callable[[str], None],
    oracle: Oracle | None = None,
) -> Verdict:
    """Run a program on arrays of the host and, if there is PyTorch, on its tensors of the GPU.

    What it makes of the last of them is compared with the oracle's results too.
    """
    module = pipeline.load(folder / case["bundle"])
    libraries: dict[str, Put] = {"host": as_numpy}
    libraries |= {door.name: door.put for door in doors if isinstance(door, TorchDoor)}
    ways: list[str] = []
    faults: list[str] = []
    skipped: list[str] = []
    differences: list[float] = []
    made: list[_Made] = []
    for name, put in libraries.items():
        if name == "host" and not has_numpy_types(elements_of(case)):
            skipped.append("host: ml_dtypes is missing")
            continue
        progress(name)
        made = [
            _check_run(module, case, run, number, folder, put)
            for number, run in enumerate(case["runs"])
        ]
        differences += [run.largest for run in made]
        texts = [f"{name}, {run.text}" for run in made if run.text]
        faults += texts
        ways += [] if texts else [name]
    progress("PyTorch's result")
    beside = _compare_runs(case, folder, made, oracle)
    differences += [each.largest for each in beside]
    faults += [f"run {number}, {each.fault}" for number, each in enumerate(beside) if each.fault]
    skipped += [each.reason for each in beside if each.reason]
    compared = ["NumPy"]
    compared += ["PyTorch"] if beside and all(each.is_done for each in beside) else []
    is_number = not any(math.isnan(value) for value in differences)
    largest = max(differences, default=0.0) if is_number else math.nan
    word = "differ" if faults else "agree" if ways else "failed"
    figures = {"difference": largest, "ways": ways, "compared": compared}
    return Verdict(word, "; ".join([*faults, *skipped]), figures)


def exercise_program(case: Json, folder: Path) -> None:
    """Run a program once, for a tool that watches."""
    module = pipeline.load(folder / case["bundle"])
    if not has_numpy_types(elements_of(case)):
        raise PackError("ml_dtypes is missing")
    for run in case["runs"]:
        arguments = [_read(record, folder, as_numpy) for record in run["arguments"]]
        module.run(*arguments, entry=case["entry"], backend="cuda")


def elements_of(case: Json) -> set[str]:
    """Return the MLIR types of all arrays of a program."""
    runs = case["runs"]
    return {record["element"] for run in runs for record in (*run["arguments"], *run["expected"])}


Put = Callable[[Array, str], Any]
"""Makes an argument of bits of an MLIR type."""


@dataclass(frozen=True)
class _Made:
    """A run: its largest difference, words unless all is well, and its results by place."""

    largest: float
    text: str
    found: dict[int, Found] = field(default_factory=dict)


def _check_run(module: Any, case: Json, run: Json, number: int, folder: Path, put: Put) -> _Made:
    """Run once, and compare with NumPy's results."""
    arguments = [_read(record, folder, put) for record in run["arguments"]]
    results = module.run(*arguments, entry=case["entry"], backend="cuda")
    found = [arguments[index] for index in case["written"]]
    found += [] if results is None else results if isinstance(results, tuple) else [results]
    if len(found) != len(run["expected"]):
        text = f"run {number}: {len(found)} results, not {len(run['expected'])}"
        return _Made(math.nan, text)
    largest, texts = 0.0, []
    by_place: dict[int, Found] = {}
    for place, (value, record) in enumerate(zip(found, run["expected"], strict=True)):
        wanted, element = _load(folder / record["file"]), record["element"]
        actual = to_bits(value, element)
        if actual.shape != wanted.shape or actual.dtype != wanted.dtype:
            kinds = f"{actual.dtype}{list(actual.shape)}, not {wanted.dtype}{list(wanted.shape)}"
            return _Made(math.nan, f"run {number}, result {place}: {kinds}")
        tolerance = case["tolerance"] if element.startswith(_FLOATS) else 0.0
        difference = compare(actual, wanted, tolerance, element)
        largest = max(largest, difference.largest)  # NaN comes with words
        if difference.text:
            texts.append(f"run {number}, result {place}: {difference.text}")
        by_place[place] = Found(actual, element, 2 * tolerance)
    return _Made(largest, "; ".join(texts), by_place)


def _compare_runs(
    case: Json, folder: Path, made: Sequence[_Made], oracle: Oracle | None
) -> list[Comparison]:
    """Compare the results of runs, where there are any, with those of the oracle."""

    def keep(bits: Array, element: str) -> tuple[Array, str]:
        return bits, element

    return [
        compare_with(
            oracle, case, [_read(record, folder, keep) for record in run["arguments"]], ours.found
        )
        for run, ours in zip(case["runs"], made, strict=False)
        if ours.found
    ]


def _read(record: Json, folder: Path, put: Put) -> Any:
    """Return an argument, in memory of its own."""
    if "value" in record:
        return record["value"]
    return put(_load(folder / record["file"]), record["element"])


def _load(file: Path) -> Array:
    try:
        array: Array = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise PackError(f"{file.name} cannot be read: {error}") from error
    return array
