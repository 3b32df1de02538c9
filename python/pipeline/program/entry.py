"""Host functions, as callers see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from ..records.signature import Entry
    from ..runtime.arguments import Value
    from ..runtime.emulation import Launchable
    from ..runtime.emulator import Options
    from ..runtime.host.execution import Outcome
    from ..runtime.host.plan import Function, Plan


def choose(
    entries: Mapping[str, Entry], plan: Plan, kernels: Mapping[str, Launchable], name: str | None
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


def _point_to_kernels(reason: str, kernels: Mapping[str, Launchable]) -> UsageError:
    if not kernels:
        return UsageError(reason, reason)
    start = f"{reason}; run its kernels by themselves: "
    calls = [f"kernels['{name}'].run(...)" for name in kernels]
    options = [f"--kernel {name}" for name in kernels]
    return UsageError(start + ", ".join(calls), start + ", ".join(options))


def needs_distinct_arguments(kernels: Mapping[str, Launchable]) -> bool:
    """Return whether kernels were compiled for arguments that do not overlap."""
    return any(kernel._emulation.needs_distinct_arguments for kernel in kernels.values())


def execute(
    entry: Entry,
    plan: Plan,
    kernels: Mapping[str, Launchable],
    values: Sequence[Any],
    options: Options,
) -> Outcome:
    """Do what the plan says for `entry`, until a launch has an error.

    Raises ArgumentError before anything runs, if an argument does not fit.
    """
    from ..runtime.host.execution import Executor

    converted = check_call(entry, plan, kernels, values)
    return Executor(plan, kernels, options).run(plan.functions[entry.name], converted)


def check_call(
    entry: Entry,
    plan: Plan,
    kernels: Mapping[str, Launchable],
    values: Sequence[Any],
    stream: Any = None,
) -> list[Value]:
    """Return the arguments of a call, for work on `stream` of a GPU, or on the host.

    Raises ArgumentError for what does not fit, wherever it is going to run, and UsageError if the
    program was not compiled that far.
    """
    from ..runtime.arguments import check_access, check_distinct, convert
    from ..runtime.host.requirements import check_requirements

    for name in plan.kernels:
        if name not in kernels:
            raise UsageError(
                f"error: there is no code of kernel '{name}': an earlier stage was asked for"
            )
    handle = None
    if stream is not None:
        from ..runtime.cuda.streams import read_stream

        handle = read_stream(stream)
    converted = convert(entry.name, entry.arguments, values, handle)
    check_requirements(plan.functions[entry.name], converted)
    check_access(entry.name, converted, entry.written)
    if needs_distinct_arguments(kernels):
        check_distinct(converted, entry.written)
    return converted
