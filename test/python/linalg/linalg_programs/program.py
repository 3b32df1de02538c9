"""What a program of the suite is: its text, its inputs, and what NumPy makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# The names of element types in MLIR, and the types of NumPy that hold them.
DTYPES: dict[str, np.dtype[Any]] = {
    "f64": np.dtype("float64"),
    "f32": np.dtype("float32"),
    "f16": np.dtype("float16"),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "i1": np.dtype("bool"),
    "i8": np.dtype("int8"),
    "i16": np.dtype("int16"),
    "i32": np.dtype("int32"),
    "i64": np.dtype("int64"),
    "index": np.dtype("int64"),
}


@dataclass(frozen=True)
class Input:
    """A random argument, in which no number is zero.

    ``signed`` floats are between 0.25 and 2 of either sign, ``positive`` ones have none, ``coarse``
    ones are multiples of 1/4, of which few products and sums round. Integers are from `low` to
    `high` without 0; ``distinct`` ones differ from each other, ``below`` may be 0.
    """

    shape: tuple[int, ...]
    kind: str = "f32"
    values: Literal["signed", "positive", "coarse", "whole", "distinct", "below", "scalar"] = (
        "signed"
    )
    low: int = 1
    high: int = 100

    def make(self, rng: np.random.Generator) -> Any:
        """Return the next argument of `rng`."""
        dtype, shape = DTYPES[self.kind], self.shape
        if self.kind == "i1":
            return rng.integers(0, 2, shape).astype(dtype)
        if self.values == "scalar":
            return self.high if self.kind == "index" else dtype.type(self.high)
        if self.values == "distinct":
            return np.asarray(rng.permutation(self.high)[: shape[0]], dtype)
        if self.values == "below":
            return rng.integers(0, self.high, shape).astype(dtype)
        if self.values == "whole":
            numbers = rng.integers(self.low, self.high, shape, endpoint=True)
            return np.where(numbers == 0, 1, numbers).astype(dtype)
        if self.values == "coarse":
            sizes = rng.integers(1, 8, shape, endpoint=True) / 4
        else:
            sizes = rng.uniform(0.25, 2.0, shape)
        signs = 1.0 if self.values == "positive" else rng.choice([-1.0, 1.0], shape)
        return np.asarray(sizes * signs).astype(dtype)


Inputs = tuple[Input, ...]


@dataclass(frozen=True)
class Program:
    """A program, arguments for some runs of it, and what it makes of them."""

    name: str
    text: str
    runs: tuple[Inputs, ...]
    """The arguments of each run; more than one where sizes are dynamic."""
    reference: Callable[..., Any]
    """Takes the arguments and returns the arrays that are written, then the results."""
    tolerance: float = 1e-5
    """Largest allowed ``abs(actual - expected) / max(1, abs(expected))`` of floats."""
    written: tuple[int, ...] = ()
    """The numbers of the arguments that the program writes to."""
    entry: str = "main"

    def arguments(self, run: int) -> list[Any]:
        """Return the arguments of a run, the same ones each time."""
        rng = np.random.default_rng(len(self.name) + run)
        return [given.make(rng) for given in self.runs[run]]

    def expect(self, run: int) -> list[Any]:
        """Return the written arrays, then the results, of a run."""
        with np.errstate(all="ignore"):
            expected = self.reference(*self.arguments(run))
        return list(expected) if isinstance(expected, tuple) else [expected]

    def check(self, run: int, actual: list[Any]) -> None:
        """Check what a run wrote and returned against NumPy."""
        expected = self.expect(run)
        assert len(actual) == len(expected)
        for number, (got, wanted) in enumerate(zip(actual, expected, strict=True)):
            where = f"{self.name}, run {run}, number {number}"
            compare(np.asarray(got), np.asarray(wanted), self.tolerance, where)

    def check_module(self, module: Any, run: int) -> None:
        """Run a compiled module of the program with race checks, and check it against NumPy."""
        arguments = self.arguments(run)
        entry = self.entry if len(module.entries) > 1 else None
        found = module.run(*arguments, entry=entry, check="races", workers=1)
        results = () if found is None else found if isinstance(found, tuple) else (found,)
        self.check(run, [*(arguments[index] for index in self.written), *results])


def compare(actual: Array, expected: Array, tolerance: float, where: str) -> None:
    """Check that an array is as expected, floats nearly so; NaN and infinities are equal."""
    assert actual.shape == expected.shape, f"{where}: {actual.shape}, not {expected.shape}"
    assert actual.dtype == expected.dtype, f"{where}: {actual.dtype}, not {expected.dtype}"
    if expected.dtype.kind in "biu":
        wrong = actual != expected
    else:
        got, wanted = actual.astype("f8"), expected.astype("f8")
        with np.errstate(invalid="ignore"):
            near = np.abs(got - wanted) <= tolerance * np.maximum(1, np.abs(wanted))
        wrong = ~(near | (got == wanted) | (np.isnan(got) & np.isnan(wanted)))
    if wrong.any():
        first = tuple(int(i) for i in np.argwhere(wrong)[0]) if expected.ndim else ()
        raise AssertionError(
            f"{where}: {int(wrong.sum())} of {expected.size} elements differ; "
            f"[{', '.join(map(str, first))}] is {actual[first]}, not {expected[first]}"
        )


def floats(*shape: int, kind: str = "f32") -> Input:
    """Return floats of either sign."""
    return Input(shape, kind)


def positive(*shape: int, kind: str = "f32") -> Input:
    """Return floats above zero."""
    return Input(shape, kind, "positive")


def coarse(*shape: int, kind: str = "f32") -> Input:
    """Return multiples of 1/4."""
    return Input(shape, kind, "coarse")


def whole(*shape: int, kind: str = "i32", low: int = -100, high: int = 100) -> Input:
    """Return integers that are not 0."""
    return Input(shape, kind, "whole", low, high)


def indices(*shape: int, below: int, kind: str = "i64") -> Input:
    """Return indices."""
    return Input(shape, kind, "below", 0, below)


def distinct(size: int, below: int, kind: str = "i64") -> Input:
    """Return indices of which no two are equal."""
    return Input((size,), kind, "distinct", 0, below)


def truths(*shape: int) -> Input:
    """Return truth values."""
    return Input(shape, "i1")


def number(value: int, kind: str = "index") -> Input:
    """Return this number."""
    return Input((), kind, "scalar", value, value)
