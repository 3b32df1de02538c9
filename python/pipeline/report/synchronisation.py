"""Barriers, and what else orders threads of a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .document import Around, Barrier, Operation, Ring, Verdict, Witness
from .lines import LineTable

if TYPE_CHECKING:
    from ..compiling.checking import KernelVerdict, SyncFinding
    from ..diagnostics import Remark
    from ..records import barriers
    from ..records.explanation import BarrierNeed, SyncOperation

GIVEN, INSERTED = "given", "inserted"

_WITNESSES = 8
"""Told of a barrier."""


def list_barriers(
    needs: Iterable[BarrierNeed], inserted: Sequence[barriers.Barrier], table: LineTable
) -> tuple[Barrier, ...]:
    """Return the barriers of a kernel."""
    return tuple(_describe_barrier(need, inserted, table) for need in needs)


def _describe_barrier(
    need: BarrierNeed, inserted: Sequence[barriers.Barrier], table: LineTable
) -> Barrier:
    why = None if need.inserted is None else inserted[need.inserted]
    certificate = why.certificate if why else None
    return Barrier(
        site=table.site(need.at),
        origin=INSERTED if why else GIVEN,
        pairs=tuple(_describe_pair(pair, table) for pair in why.pairs) if why else (),
        barriers=why.barriers if why else None,
        needed=why.needed if why else None,
        is_optimal=why.is_optimal if why else None,
        certificate=_describe_pair(certificate, table) if certificate else None,
        without=need.verdict,
        witnesses=tuple(describe_finding(one, table) for one in need.findings[:_WITNESSES]),
        witness_count=len(need.findings),
    )


def _describe_pair(pair: barriers.OrderedPair, table: LineTable) -> Witness:
    return Witness(
        verdict="",
        message="",
        first=table.site(pair.first),
        second=table.site(pair.second),
        is_in_later_iteration=pair.is_in_later_iteration,
        threads=pair.threads,
        blocks=(),
        meeting=pair.place,
        is_in_bytes=pair.is_in_bytes,
        reason=pair.reason,
    )


def describe_finding(finding: SyncFinding, table: LineTable) -> Witness:
    """Return what is wrong with a kernel."""
    return Witness(
        verdict=finding.verdict,
        message=finding.message,
        first=table.site(finding.other) if finding.other else None,
        second=table.site(finding.at),
        is_in_later_iteration=False,
        threads=finding.threads,
        blocks=finding.blocks,
        meeting=finding.place,
        is_in_bytes=len(finding.place) == 1,
        reason="",
    )


def describe_verdict(verdict: KernelVerdict, table: LineTable) -> Verdict:
    """Return what is proved of a kernel."""
    return Verdict(
        verdict.verdict,
        verdict.assumes_in_bounds,
        tuple(describe_finding(finding, table) for finding in verdict.findings),
    )


def list_operations(
    operations: Iterable[SyncOperation], names: Mapping[int, str], table: LineTable
) -> tuple[Operation, ...]:
    """Return what orders threads of a kernel, or copies for them, in the order of its text.

    names: of its mbarriers, by their numbers.
    """
    return tuple(
        Operation(
            role=one.role,
            site=table.site(one.at),
            loops=tuple(Around(loop.line, loop.iterations) for loop in one.loops),
            is_conditional=one.is_conditional,
            pending=one.num_pending,
            mbarriers="" if one.mbarriers is None else names[one.mbarriers],
        )
        for one in operations
    )


def list_rings(remarks: Iterable[Remark], table: LineTable) -> tuple[Ring, ...]:
    """Return the rings of a kernel, by what the pass that lowers them says."""
    rings = []
    for remark in remarks:
        if remark.name != "LoweredRing":
            continue
        engine = remark.arguments["Engine"]
        place = table.place(remark.location)
        iterations = remark.arguments.get("Iterations")
        rings.append(
            Ring(
                place=place,
                slots=int(remark.arguments["Slots"]),
                ahead=int(remark.arguments["IterationsAhead"]),
                engine=engine,
                iterations=int(iterations) if iterations else None,
            )
        )
    return tuple(rings)
