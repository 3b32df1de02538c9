"""Running what a launch plan says on arrays of the host, with the emulator as the GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...records.findings import Report
from ..arguments import Value
from ..arrays import count
from ..emulator import Options, ValuesNeeded, launch, prepare
from ..emulator_arrays import Placement
from ..host_arrays import allocate, as_numpy, hand_over
from .interpreter import call
from .launching import make_values
from .machine import Token
from .memory import Buffer, Memory
from .numbers import from_bits
from .plan import Data, Function, Plan, Step, dtype_of
from .results import make_number

if TYPE_CHECKING:
    from ...diagnostics import Location
    from ..emulation import Launchable
    from ..sizes import LaunchSizes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of running a function: a report per launch, and its results.

    There are no results if a launch had an error, which is the last one then.
    """

    reports: tuple[Report, ...]
    results: tuple[Any, ...]


class _LaunchError(Exception):
    """A launch had an error, and what follows must not run."""


class Executor:
    """Runs functions of a plan; the machine that does so is the host.

    Launches and copies wait until an element is read by the host, or the end: what can be found
    wrong with a launch before anything runs, is.
    """

    def __init__(self, plan: Plan, kernels: Mapping[str, Launchable], options: Options) -> None:
        self._plan = plan
        self._kernels = kernels
        self._options = options
        self._waiting: list[Callable[[], None]] = []
        self._reports: list[Report] = []
        self._globals: dict[int, Memory] = {}

    def run(self, function: Function, values: Sequence[Value]) -> Outcome:
        """Run `function` on its converted arguments."""
        placement = Placement(values)
        arguments = [
            Token(index, value.argument.element_type, value.bytes)
            if value.view is None
            else Memory.of_argument(index, value)
            for index, value in enumerate(placement.values)
        ]
        try:
            results = call(self._plan, self, function, arguments)
            self._flush()
        except _LaunchError:
            return Outcome(tuple(self._reports), ())
        finally:
            placement.finish()
        library = next((value.view.library for value in values if value.view is not None), "numpy")
        given = tuple(
            self._give(result, kind, library)
            for kind, result in zip(function.results, results, strict=True)
        )
        return Outcome(tuple(self._reports), given)

    def _give(self, result: Any, kind: str, library: str) -> Any:
        """Return a result as the caller gets it."""
        if isinstance(result, Token):
            result = self.number(result)
        if not isinstance(result, Memory):
            return make_number(kind, result)
        if result.given is not None:
            return result.given
        return hand_over(as_numpy(result.array, result.element_type), library)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for action in waiting:
            action()

    def number(self, token: Token) -> Any:
        """Return the number that an argument is."""
        return from_bits(token.element_type, int.from_bytes(token.bytes, "little"))

    def allocate(self, element_type: str, shape: Sequence[int], location: Location) -> Memory:
        """Return new memory, of what no result looks like: floats that are no numbers.

        It is zero, and takes no time, if nobody looks at results.
        """
        dtype = dtype_of(element_type)
        extents = tuple(shape)
        poison = (1 if dtype.kind == "b" else 0xFF) if self._options.results else 0
        try:
            address, owner = allocate(count(extents) * dtype.itemsize, poison)
        except (MemoryError, ValueError) as error:
            raise UsageError(f"{location}: error: no memory of shape {extents}") from error
        buffer = Buffer(-1, address, count(extents), owner=owner)
        return Memory.of_buffer(buffer, extents, element_type, dtype.itemsize)

    def data(self, number: int, location: Location) -> Memory:
        """Return memory of the program: a constant, or what all steps of this run see."""
        if number not in self._globals:
            data = self._plan.data[number]
            memory = self.allocate(data.dtype, data.shape, location)
            _initialize(memory, data)
            self._globals[number] = memory
        return self._globals[number]

    def copy(self, source: Memory, target: Memory, location: Location) -> None:
        """Copy elements, later."""
        arrays = as_numpy(source.array), as_numpy(target.array)

        def copy() -> None:
            arrays[1][...] = arrays[0]

        self._waiting.append(copy)

    def fill(self, target: Memory, pattern: bytes, location: Location) -> None:
        """Write an element to all places, later."""
        array = as_numpy(target.array)

        def fill() -> None:
            import numpy as np

            array[...] = np.frombuffer(pattern, array.dtype)[0]

        self._waiting.append(fill)

    def read(self, memory: Memory, location: Location) -> Any:
        """Return the elements, after all that may write to them."""
        self._need_values()
        self._flush()
        return as_numpy(memory.array, memory.element_type)

    def load(self, element: Memory, location: Location) -> bytes:
        """Return an element, after all that may write to it."""
        self._need_values()
        self._flush()
        return ctypes.string_at(element.address, element.itemsize)

    def _need_values(self) -> None:
        if not self._options.values:
            raise ValuesNeeded

    def print(self, text: str, location: Location) -> None:
        """Print, after what the kernels before print."""
        self._flush()
        print(text, end="")

    def launch(self, number: int, sizes: LaunchSizes, operands: Sequence[Any], step: Step) -> None:
        """Check a launch, and keep it for later."""
        if 0 in sizes.grid:
            return
        kernel = self._kernels[self._plan.kernels[number]]
        values = make_values(kernel, operands, step.location)
        prepared = prepare(kernel, values, sizes, self._options, step.location)

        def run() -> None:
            report = launch(prepared)
            self._reports.append(report)
            if report.errors:
                raise _LaunchError

        self._waiting.append(run)


def _initialize(memory: Memory, data: Data) -> None:
    if data.elements is not None:
        ctypes.memmove(memory.address, data.elements, len(data.elements))
    if not data.mutable:
        memory.buffer.read_only = "a constant"
