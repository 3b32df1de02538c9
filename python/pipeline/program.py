"""Host functions: which kernels they launch, with which of their arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .arguments import Value, check_distinct, convert
from .diagnostics import Location
from .emulator import Options
from .errors import UsageError
from .findings import Report
from .sizes import LaunchSizes

if TYPE_CHECKING:
    from .findings import Dim3
    from .module import Argument, Kernel


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a dimension: ``size`` elements, or all there are, from ``offset`` on in steps.

    With ``is_dropped``, it is one element, and the dimension is gone.
    """

    offset: int
    size: int | None
    stride: int
    is_dropped: bool

    @property
    def index(self) -> int | slice:
        """What selects the part from an array of NumPy."""
        if self.is_dropped:
            return self.offset
        if self.size is None:
            return slice(self.offset, None, self.stride)
        return slice(self.offset, self.offset + self.size * self.stride, self.stride)


@dataclass(frozen=True, slots=True)
class Operand:
    """A value that a launch takes: an argument of the function by its number, or a constant.

    A tensor map is made of the argument, or of slices of slices of it.
    """

    argument: int | None
    constant: bytes
    slices: tuple[tuple[Slice, ...], ...] = ()

    def number(self, values: Sequence[Value]) -> int:
        """Return the number that this stands for."""
        data = self.constant if self.argument is None else values[self.argument].bytes
        return int.from_bytes(data, "little", signed=True)

    def value(self, argument: Argument, values: Sequence[Value]) -> Value:
        """Return what this is as `argument` of a kernel.

        An argument of the function is one value for all launches: what one writes to it, the next
        has to see, whether the array is worked on in place or by a copy.
        """
        if self.argument is not None:
            return self._select(argument, values[self.argument])
        return Value(argument, None, None, self.constant)

    def _select(self, argument: Argument, value: Value) -> Value:
        """Return `value`, or the part of its array that `argument`, a tensor map, is made of."""
        if argument.tensor_map is None or value.array is None:
            return value
        array = value.array
        for parts in self.slices:
            array = array[tuple(part.index for part in parts)]
        return Value(argument, array, array, is_imported=value.is_imported)


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch in a host function."""

    kernel: str
    grid: tuple[Operand, Operand, Operand]
    block: tuple[Operand, Operand, Operand]
    dynamic_shared_bytes: Operand
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A host function that launches kernels.

    ``refusal`` tells why the launches are not all that it does, at ``location``; it is empty if
    they are.
    """

    name: str
    arguments: tuple[Argument, ...]
    launches: tuple[Launch, ...]
    refusal: str
    location: Location


def choose(entries: Mapping[str, Entry], kernels: Mapping[str, Kernel], name: str | None) -> Entry:
    """Return the entry called `name`, or the only one. Raises UsageError if it cannot be run."""
    if not entries:
        raise _point_to_kernels("error: the program has no function that launches kernels", kernels)
    known = ", ".join(entries)
    if name is None and len(entries) > 1:
        raise UsageError.of_option(
            "entry", f"must be given, as several functions launch kernels: {known}"
        )
    if name is not None and name not in entries:
        raise UsageError.of_option(
            "entry", f"is '{name}', but must be a function that launches kernels: {known}"
        )
    entry = entries[name] if name is not None else next(iter(entries.values()))
    if entry.refusal:
        where = f"{entry.location}: " if entry.location.line else ""
        raise _point_to_kernels(
            f"{where}error: function '{entry.name}' cannot be run as a whole yet: {entry.refusal}",
            kernels,
        )
    return entry


def _point_to_kernels(reason: str, kernels: Mapping[str, Kernel]) -> UsageError:
    start = f"{reason}; run its kernels by themselves: "
    calls = [f"kernels['{name}'].run(...)" for name in kernels]
    options = [f"--kernel {name}" for name in kernels]
    return UsageError(start + ", ".join(calls), start + ", ".join(options))


def emulate(
    entry: Entry, kernels: Mapping[str, Kernel], values: Sequence[Any], options: Options
) -> tuple[Report, ...]:
    """Launch the kernels of `entry` one after the other, until one has an error.

    Raises ArgumentError before anything runs, if an argument does not fit.
    """
    converted = convert(entry.name, entry.arguments, values)
    if any(kernels[launch.kernel]._emulation.needs_distinct_arguments for launch in entry.launches):
        check_distinct(converted)
    prepared = []
    for launch in entry.launches:
        kernel = kernels[launch.kernel]
        sizes = LaunchSizes(
            _dim3(launch.grid, converted),
            _dim3(launch.block, converted),
            launch.dynamic_shared_bytes.number(converted),
        )
        operands = [
            operand.value(argument, converted)
            for operand, argument in zip(launch.operands, kernel.arguments, strict=True)
        ]
        emulation = kernel._emulation
        prepared.append((emulation, emulation.prepare(kernel, operands, sizes, options)))
    reports = []
    for emulation, launch_ in prepared:
        reports.append(emulation.launch(launch_))
        if reports[-1].errors:
            break
    return tuple(reports)


def _dim3(operands: Sequence[Operand], values: Sequence[Value]) -> Dim3:
    x, y, z = (operand.number(values) for operand in operands)
    return x, y, z
