"""Programs of the suite, run from their bundles and compared with what NumPy makes of them."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pipeline

from .arrays import Array, Json, PackError, compare
from .doors import Door, TorchDoor
from .verdicts import Verdict
from .ways import ML_TYPES, as_numpy, has_numpy_types

_FLOATS = ("f", "bf")


def check_program(
    case: Json, folder: Path, doors: Sequence[Door], progress: Callable[[str], None]
) -> Verdict:
    """Run a program on arrays of the host and, if there is PyTorch, on its tensors of the GPU."""
    module = pipeline.load(folder / case["bundle"])
    libraries: dict[str, Put] = {"host": as_numpy}
    libraries |= {door.name: door.put for door in doors if isinstance(door, TorchDoor)}
    ways: list[str] = []
    faults: list[str] = []
    skipped: list[str] = []
    differences: list[float] = []
    for name, put in libraries.items():
        if name == "host" and not has_numpy_types(elements_of(case)):
            skipped.append("host: ml_dtypes is missing")
            continue
        progress(name)
        found = [
            _check_run(module, case, run, number, folder, put)
            for number, run in enumerate(case["runs"])
        ]
        differences += [largest for largest, _ in found]
        texts = [f"{name}, {text}" for _, text in found if text]
        faults += texts
        ways += [] if texts else [name]
    is_number = not any(math.isnan(value) for value in differences)
    largest = max(differences, default=0.0) if is_number else math.nan
    word = "differ" if faults else "agree" if ways else "failed"
    return Verdict(word, "; ".join([*faults, *skipped]), {"difference": largest, "ways": ways})


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


def _check_run(
    module: Any, case: Json, run: Json, number: int, folder: Path, put: Put
) -> tuple[float, str]:
    """Return the largest difference of a run, and words unless all is well."""
    arguments = [_read(record, folder, put) for record in run["arguments"]]
    results = module.run(*arguments, entry=case["entry"], backend="cuda")
    found = [arguments[index] for index in case["written"]]
    found += [] if results is None else results if isinstance(results, tuple) else [results]
    if len(found) != len(run["expected"]):
        return math.nan, f"run {number}: {len(found)} results, not {len(run['expected'])}"
    largest, texts = 0.0, []
    for place, (value, record) in enumerate(zip(found, run["expected"], strict=True)):
        wanted, element = _load(folder / record["file"]), record["element"]
        actual = to_bits(value, element)
        if actual.shape != wanted.shape or actual.dtype != wanted.dtype:
            kinds = f"{actual.dtype}{list(actual.shape)}, not {wanted.dtype}{list(wanted.shape)}"
            return math.nan, f"run {number}, result {place}: {kinds}"
        tolerance = case["tolerance"] if element.startswith(_FLOATS) else 0.0
        difference = compare(actual, wanted, tolerance, element)
        largest = max(largest, difference.largest)  # NaN comes with words
        if difference.text:
            texts.append(f"run {number}, result {place}: {difference.text}")
    return largest, "; ".join(texts)


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


def to_bits(value: Any, element: str) -> Array:
    """Return a result as NumPy has it, or the bits of what it has no type for."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().contiguous()
        if element in ML_TYPES:
            torch = importlib.import_module("torch")
            signed = {1: torch.int8, 2: torch.int16}[value.element_size()]
            bits: Array = value.view(signed).numpy()
            return bits.view(f"u{bits.itemsize}")
        value = value.numpy()
    array = np.asarray(value)
    return array.view(f"u{array.itemsize}") if element in ML_TYPES else array
