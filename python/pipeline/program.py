"""Host functions, as callers see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import ShapeError, UsageError

if TYPE_CHECKING:
    from .arguments import Value
    from .emulator import Options
    from .execution import Outcome
    from .module import Argument, Kernel
    from .plan import Function, Plan


@dataclass(frozen=True, slots=True)
class Entry:
    """A host function: its arguments, and which of them are memory that it may write to."""

    name: str
    arguments: tuple[Argument, ...]
    written: tuple[bool, ...]


def choose(
    entries: Mapping[str, Entry], plan: Plan, kernels: Mapping[str, Kernel], name: str | None
) -> Entry:
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
    for function in _reachable(plan, entry.name):
        if function.refusal:
            where = f"{function.location}: " if function.location.line else ""
            raise _point_to_kernels(
                f"{where}error: function '{entry.name}' cannot be run as a whole: "
                f"{function.refusal}",
                kernels,
            )
    return entry


def _reachable(plan: Plan, name: str) -> list[Function]:
    """Return the function of this name, and all that it calls."""
    names = [name]
    for known in names:  # grows
        body = plan.functions[known].body
        regions = [body] if body is not None else []
        for region in regions:
            for step in region.steps:
                regions.extend(step.regions.values())
                callee = step.fields.get("callee")
                if callee is not None and callee not in names:
                    names.append(callee)
    return [plan.functions[known] for known in names]


def _point_to_kernels(reason: str, kernels: Mapping[str, Kernel]) -> UsageError:
    if not kernels:
        return UsageError(reason, reason)
    start = f"{reason}; run its kernels by themselves: "
    calls = [f"kernels['{name}'].run(...)" for name in kernels]
    options = [f"--kernel {name}" for name in kernels]
    return UsageError(start + ", ".join(calls), start + ", ".join(options))


def _check_extents(function: Function, values: Sequence[Value]) -> None:
    """Raise ShapeError if arguments do not suit each other."""

    def extent_of(argument: int, dim: int) -> int:
        array = values[argument].array
        assert array is not None
        return int(array.shape[dim])

    for requirement in function.require:
        (argument, dim), equals = requirement.extent, requirement.equals
        extent, reason = extent_of(argument, dim), ""
        if isinstance(equals, tuple):
            reason = f", as dimension {equals[1]} of argument {equals[0]}"
            equals = extent_of(*equals)
        if extent != equals:
            raise ShapeError(
                f"{requirement.location}: error: dimension {dim} of argument {argument} is "
                f"{extent}, but must be {equals}{reason}",
                argument,
            )


def execute(
    entry: Entry,
    plan: Plan,
    kernels: Mapping[str, Kernel],
    values: Sequence[Any],
    options: Options,
) -> Outcome:
    """Do what the plan says for `entry`, until a launch has an error.

    Raises ArgumentError before anything runs, if an argument does not fit.
    """
    from .arguments import check_distinct, convert
    from .execution import Executor

    converted = convert(entry.name, entry.arguments, values)
    _check_extents(plan.functions[entry.name], converted)
    if any(kernel._emulation.needs_distinct_arguments for kernel in kernels.values()):
        check_distinct(converted, entry.written)
    return Executor(plan, kernels, options).run(plan.functions[entry.name], converted)
