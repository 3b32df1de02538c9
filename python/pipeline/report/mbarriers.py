"""Which threads arrive and wait at which mbarriers, when, and for which phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .document import MBarriers, MBarrierStep, MBarrierUse, Threads

if TYPE_CHECKING:
    from ..records import explanation
    from .lines import LineTable

JSON = Mapping[str, Any]


def name_mbarriers(groups: Iterable[tuple[int, explanation.MBarriers]]) -> dict[int, str]:
    """Return the names of a kernel's mbarriers by their numbers: what they are for, and which."""
    names: dict[int, str] = {}
    seen: Counter[str] = Counter()
    for number, group in groups:
        seen[group.purpose] += 1
        nth = seen[group.purpose]
        names[number] = f"{group.purpose} {nth}" if nth > 1 else group.purpose
    return names


def list_mbarriers(
    groups: Sequence[explanation.MBarriers],
    names: Mapping[int, str],
    operations: Sequence[explanation.SyncOperation],
    table: LineTable,
) -> tuple[MBarriers, ...]:
    """Return the mbarriers of a kernel, which have `names`.

    groups, operations: of all kernels.
    """
    return tuple(
        _describe(groups[number], number, names[number], operations, table) for number in names
    )


def _describe(
    group: explanation.MBarriers,
    number: int,
    name: str,
    operations: Sequence[explanation.SyncOperation],
    table: LineTable,
) -> MBarriers:
    followed = {use.operation for use in group.uses}
    uses = sorted(group.uses, key=lambda use: use.operation)
    return MBarriers(
        name=name,
        site=table.site(group.at),
        slots=group.slots,
        purpose=group.purpose,
        arrivals=group.arrivals,
        uses=tuple(_describe_use(use, operations[use.operation], table) for use in uses),
        unfollowed=tuple(
            table.site(one.at)
            for nth, one in enumerate(operations)
            if one.mbarriers == number and one.role != "mbarrier_init" and nth not in followed
        ),
        missing=group.missing,
    )


def _describe_use(
    use: explanation.MBarrierUse, operation: explanation.SyncOperation, table: LineTable
) -> MBarrierUse:
    return MBarrierUse(
        role=operation.role,
        site=table.site(operation.at),
        threads=tuple(Threads(*one) for one in use.threads),
        steps=tuple(
            MBarrierStep(one.iterations, one.slot, one.phase, int(one.parity), one.bytes)
            for one in use.steps
        ),
    )


# --- the table of a page --------------------------------------------------------------------------


class Row(NamedTuple):
    """Uses of mbarriers by the same threads, and what they are for in each column.

    A cell is empty where they are not executed. ``bytes``: of all uses together, at first.
    """

    name: str
    role: str
    threads: JSON
    lines: tuple[int, ...]
    bytes: int
    cells: tuple[tuple[JSON, ...], ...]


class Grid(NamedTuple):
    """Uses of mbarriers over iterations."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def tabulate(groups: Sequence[JSON]) -> Grid:
    """Return the uses of a kernel's mbarriers over iterations: copies of one tile in one row."""
    alike: dict[str, list[tuple[str, JSON]]] = {}
    for group in groups:
        for use in group["uses"]:
            steps = [(one["iterations"], one["slot"], one["phase"]) for one in use["steps"]]
            key = (group["name"], use["role"], use["threads"], steps)
            alike.setdefault(repr(key), []).append((group["name"], use))
    uses = sorted(alike.values(), key=lambda same: _order(same[0][1]))
    times = sorted({tuple(step["iterations"]) for (_, one), *_ in uses for step in one["steps"]})
    rows = tuple(_make_row(same[0][0], [use for _, use in same], times) for same in uses)
    columns = tuple(
        f"iteration {', '.join(map(str, time))}" if time else "outside of loops" for time in times
    )
    return Grid(columns, rows)


def _make_row(name: str, same: Sequence[JSON], times: Sequence[tuple[int, ...]]) -> Row:
    first = same[0]
    return Row(
        name,
        first["role"],
        first["threads"],
        tuple(use["site"]["gpu_line"] for use in same),
        sum(use["steps"][0]["bytes"] for use in same),
        tuple(
            tuple(step for step in first["steps"] if tuple(step["iterations"]) == time)
            for time in times
        ),
    )


def _order(use: JSON) -> tuple[int, int]:
    return use["threads"][0]["first"], use["site"]["gpu_line"]


# --- tiles of a ring ------------------------------------------------------------------------------


class Tile(NamedTuple):
    """A tile of a ring: the iteration in which its copy begins, and in which it is read.

    ``begin`` is None for a copy that begins before the loop.
    """

    slot: int
    begin: int | None
    read: int


def find_tiles(groups: Sequence[JSON]) -> list[Tile]:
    """Return the tiles that are read first, if one ring has all mbarriers; else none.

    Where the threads that read release slots by an mbarrier, a copy begins no sooner than that.
    """
    fulls = [group for group in groups if group["purpose"] == "full"]
    empties = [group for group in groups if group["purpose"] == "empty"]
    if len(fulls) != 1 or len(empties) > 1 or any(group["missing"] for group in groups):
        return []
    arrivals = _find_iterations(fulls[0], "mbarrier_arrive")
    reads = _find_iterations(fulls[0], "mbarrier_wait")
    if empties:
        released = _find_iterations(empties[0], "mbarrier_arrive")
        waits = _find_iterations(empties[0], "mbarrier_wait")
        freed = {when: released.get(of) for of, when in waits.items()}
        arrivals = {of: freed.get(when) for of, when in arrivals.items()}
    return [
        Tile(of[0], arrivals[of], when)
        for of, when in sorted(reads.items(), key=lambda item: item[1] or 0)
        if when is not None and of in arrivals
    ]


def _find_iterations(group: JSON, role: str) -> dict[tuple[int, int], int | None]:
    """Return the iteration of each slot and phase that operations are for; None outside loops."""
    return {
        (step["slot"], step["phase"]): step["iterations"][-1] if step["iterations"] else None
        for use in group["uses"]
        if use["role"] == role
        for step in use["steps"]
    }


# --- words --------------------------------------------------------------------------------------


def name_threads(ranges: Sequence[JSON]) -> str:
    """Return threads in words: ``threads 0 to 255``, or ``threads 0 to 224 in steps of 32``."""
    words = []
    for one in ranges:
        if one["first"] == one["last"]:
            words.append(str(one["first"]))
        else:
            by = f" in steps of {one['step']}" if one["step"] > 1 else ""
            words.append(f"{one['first']} to {one['last']}{by}")
    is_one = len(ranges) == 1 and ranges[0]["first"] == ranges[0]["last"]
    return f"thread{'' if is_one else 's'} {', '.join(words)}"
