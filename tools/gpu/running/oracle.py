"""Results beside what PyTorch's own operators make of the same inputs, where it has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .arrays import Array, Json, compare
from .doors import TORCH_TYPES, TorchDoor, to_bits
from .peers import set_precision
from .pytorch import Argument, find_formula
from .reports import shorten


class Oracle(Protocol):
    """What computes cases in another way."""

    def knows(self, case: Json) -> bool:
        """Return whether it has the operators for a case."""

    def expect(
        self, case: Json, arguments: Sequence[Argument], element: Callable[[int], str]
    ) -> dict[int, Array]:
        """Return results as bits by place, of elements of the MLIR types that a place is to have.

        Raises what its library raises.
        """


class PyTorch:
    """PyTorch's operators on the GPU; what is f32 is computed in f32."""

    def __init__(self, torch: Any, device: str = "cuda") -> None:
        set_precision(torch)
        self._torch = torch
        self._door = TorchDoor(torch, device)

    def knows(self, case: Json) -> bool:
        """Return whether a formula says how."""
        return find_formula(case) is not None

    def expect(
        self, case: Json, arguments: Sequence[Argument], element: Callable[[int], str]
    ) -> dict[int, Array]:
        """Return results, rounded to the types that they are to have."""
        formula = find_formula(case)
        assert formula is not None
        values = [self._door.put(*each) if isinstance(each, tuple) else each for each in arguments]
        made = formula(self._torch, *values)
        if not isinstance(made, dict):
            made = dict(enumerate(made if isinstance(made, tuple) else (made,)))
        return {place: self._round(value, element(place)) for place, value in made.items()}

    def _round(self, value: Any, element: str) -> Array:
        return to_bits(value.to(getattr(self._torch, TORCH_TYPES[element])), element)


@dataclass(frozen=True)
class Found:
    """A result of ours: bits of an MLIR type, and how far from another's they may be."""

    bits: Array
    element: str
    tolerance: float


@dataclass(frozen=True)
class Comparison:
    """What became of comparing results: `fault` tells what differs, `reason` why none were."""

    is_done: bool = False
    fault: str = ""
    reason: str = ""
    largest: float = 0.0


def compare_with(
    oracle: Oracle | None, case: Json, arguments: Sequence[Argument], found: Mapping[int, Found]
) -> Comparison:
    """Compare results, by place, with those of an oracle if it has operators for the case."""
    if oracle is None or not oracle.knows(case):
        return Comparison()
    try:
        expected = oracle.expect(case, arguments, lambda place: found[place].element)
    except Exception as error:  # whatever its library says of its own operators
        reason = f"without PyTorch's result: {type(error).__name__}: {error}"
        return Comparison(reason=shorten(reason))
    texts, largest = [], 0.0
    for place, wanted in expected.items():
        ours = found[place]
        if ours.bits.shape != wanted.shape:
            text = f"it is of {list(ours.bits.shape)}, not of {list(wanted.shape)}"
            texts.append(f"beside PyTorch's result {place}: {text}")
            continue
        difference = compare(ours.bits, wanted, ours.tolerance, ours.element)
        if difference.text:
            texts.append(f"beside PyTorch's result {place}: {difference.text}")
        is_number = not math.isnan(difference.largest)
        largest = max(largest, difference.largest) if is_number else math.nan
    return Comparison(True, "; ".join(texts), "", largest)
