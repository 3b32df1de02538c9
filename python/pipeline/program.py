"""Host functions: which kernels they launch, with which of their arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .arguments import Constant, convert
from .diagnostics import Location
from .emulator import LaunchSizes, Options
from .errors import UsageError
from .findings import Report

if TYPE_CHECKING:
    from .module import Argument, Dim3, Kernel


@dataclass(frozen=True, slots=True)
class Operand:
    """A value that a launch takes: an argument of the function by its number, or a constant."""

    argument: int | None
    constant: bytes

    def number(self, values: Sequence[Any]) -> int:
        """Return the number that this stands for."""
        if self.argument is not None:
            return int(values[self.argument])
        return int.from_bytes(self.constant, "little", signed=True)


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
    if name is not None and name not in entries:
        known = ", ".join(entries) or "none"
        raise UsageError(
            f"error: there is no entry '{name}' that launches kernels; there are: {known}"
        )
    if name is None and len(entries) != 1:
        if entries:
            raise UsageError(f"error: there are several entries, name one: {', '.join(entries)}")
        raise UsageError(
            "error: the program has no function that launches kernels; "
            f"run one by itself: {_hint(kernels)}"
        )
    entry = entries[name] if name is not None else next(iter(entries.values()))
    if entry.refusal:
        where = f"{entry.location}: " if entry.location.line else ""
        raise UsageError(
            f"{where}error: function '{entry.name}' cannot be run as a whole yet: {entry.refusal}; "
            f"run its kernels by themselves: {_hint(kernels)}"
        )
    return entry


def _hint(kernels: Mapping[str, Kernel]) -> str:
    return ", ".join(f"kernels['{name}'].run(...)" for name in kernels) or "there is none"


def emulate(
    entry: Entry, kernels: Mapping[str, Kernel], values: Sequence[Any], options: Options
) -> tuple[Report, ...]:
    """Launch the kernels of `entry` one after the other, until one has an error.

    Raises ArgumentError before anything runs, if an argument does not fit.
    """
    convert(entry.name, entry.arguments, values)
    prepared = []
    for launch in entry.launches:
        kernel = kernels[launch.kernel]
        sizes = LaunchSizes(
            _dim3(launch.grid, values),
            _dim3(launch.block, values),
            launch.dynamic_shared_bytes.number(values),
        )
        operands = [
            values[operand.argument] if operand.argument is not None else Constant(operand.constant)
            for operand in launch.operands
        ]
        emulation = kernel._emulation
        prepared.append((emulation, emulation.prepare(kernel, operands, sizes, options)))
    reports = []
    for emulation, launch_ in prepared:
        reports.append(emulation.launch(launch_))
        if reports[-1].errors:
            break
    return tuple(reports)


def _dim3(operands: Sequence[Operand], values: Sequence[Any]) -> Dim3:
    x, y, z = (operand.number(values) for operand in operands)
    return x, y, z
