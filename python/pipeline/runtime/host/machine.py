"""What the host's part of a program is run on: what it has to do for a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Protocol

    from ...diagnostics import Location
    from ..sizes import LaunchSizes
    from .memory import Memory
    from .plan import Step


@dataclass(frozen=True, slots=True)
class Token:
    """A number that the function was called with: argument number ``index``.

    Machines that record what a function does for many calls are asked for the number where
    something is computed from it, and nowhere else.
    """

    index: int
    element_type: str
    bytes: bytes


if TYPE_CHECKING:

    class Machine(Protocol):
        """Memory, kernels, and the order of what is done with them."""

        def number(self, token: Token) -> Any:
            """Return the number of a token, which something is computed from."""

        def allocate(self, element_type: str, shape: Sequence[int], location: Location) -> Memory:
            """Return new memory. Raises UsageError for what there is no memory of."""

        def data(self, number: int, location: Location) -> Memory:
            """Return memory of the program."""

        def copy(self, source: Memory, target: Memory, location: Location) -> None:
            """Copy elements between memory of one shape, when all before is done."""

        def fill(self, target: Memory, pattern: bytes, location: Location) -> None:
            """Write a number, by its bytes, to all elements, when all before is done."""

        def read(self, memory: Memory, location: Location) -> Any:
            """Return the elements as an array of NumPy, after all that may write to them."""

        def load(self, element: Memory, location: Location) -> bytes:
            """Return the bytes of one element, after all that may write to it."""

        def print(self, text: str, location: Location) -> None:
            """Print, after all that is to be done before."""

        def launch(
            self, number: int, sizes: LaunchSizes, operands: Sequence[Any], step: Step
        ) -> None:
            """Launch kernel `number` of the plan on memory, numbers and tokens.

            What can be found wrong with it is found here, before anything that waits runs.
            """
