"""What passes and schedules decided, what else there was, and where to decide otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..schedules.alternatives import weigh
from ..schedules.roofline import find_roofline
from .document import Alternative, Choice, Decision, Roofline
from .lines import LineTable

if TYPE_CHECKING:
    from ..compiling.compiler import Chooser
    from ..diagnostics import Remark
    from ..schedules.kernel import Kernel
    from ..schedules.target import Target


def list_decisions(remarks: Iterable[Remark], table: LineTable) -> tuple[Decision, ...]:
    """Return the remarks of all passes, but for those that are a document of their own."""
    return tuple(
        Decision(
            kind=one.kind,
            pass_name=one.category,
            name=one.name,
            function=one.function,
            message=one.message,
            place=table.place(one.location),
            arguments=dict(one.arguments),
        )
        for one in remarks
        if one.name != "ExplainedBarrier"
    )


def list_choices(chooser: Chooser | None, table: LineTable) -> tuple[Choice, ...]:
    """Return why each kernel of a schedule that was chosen has its tile."""
    if chooser is None or chooser.choice is None:
        return ()
    lines = chooser.choice.text.splitlines()
    target = chooser.target
    return tuple(_describe(kernel, target, lines, table) for kernel in chooser.kernels)


def _describe(kernel: Kernel, target: Target, lines: list[str], table: LineTable) -> Choice:
    weighing = weigh(kernel, target)
    roofline = find_roofline(kernel, target)
    return Choice(
        function=kernel.name,
        place=table.place(kernel.main.location),
        schedule=weighing.schedule,
        rule=weighing.rule,
        numbers=dict(weighing.numbers),
        passed_over=weighing.passed_over,
        unit=weighing.unit,
        alternatives=tuple(Alternative(*one) for one in weighing.alternatives),
        schedule_lines=find_lines(lines, kernel.symbol),
        roofline=roofline
        and Roofline(
            unit=roofline.unit,
            work=roofline.work,
            bytes=roofline.bytes,
            work_a_cycle=roofline.work_a_cycle,
            bytes_a_cycle=roofline.bytes_a_cycle,
            intensity=roofline.intensity,
            ridge=roofline.ridge,
            is_matrix=roofline.is_matrix,
        ),
    )


def find_lines(lines: list[str], symbol: str) -> tuple[int, ...]:
    """Return the lines of a schedule that apply passes to a function, by its quoted name.

    These are the ones that go on with what is matched by the name, and no others do so first.
    """
    found: list[int] = []
    names: set[str] = set()
    for number, line in enumerate(lines, 1):
        made, _, rest = line.strip().partition(" = ")
        is_match = f"sym_name = {symbol}}}" in rest
        if is_match or any(f"to {name} :" in rest for name in names):
            names.add(made)
            found.append(number)
    return tuple(found)
