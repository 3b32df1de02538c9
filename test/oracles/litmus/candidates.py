"""Executions of a litmus program that may be: traces of all threads, and what reads are fed by."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .notation import Litmus
from .relations import Relation
from .traces import Event, Trace, find_traces


@dataclass(slots=True)
class Candidate:
    """Events of all threads, those of the initial values first, and how reads are fed."""

    litmus: Litmus
    events: list[Event]
    sources: dict[int, int]  # of each read
    registers: list[dict[str, int]]
    synced: list[tuple[int, int]]  # barriers that meet
    is_hanging: bool

    @property
    def size(self) -> int:
        """How many events there are."""
        return len(self.events)


def find_candidates(litmus: Litmus) -> Iterator[Candidate]:
    """Yield all ways in which reads may be fed, of all traces of the threads."""
    places = {
        litmus.origin(it.place)
        for thread in litmus.threads
        for it in thread
        if it.name in ("st", "ld", "add", "sub", "exch", "cas")
    }
    initial = [
        Event(-1, number, "W", "weak", "sys", place, litmus.initial.get(place, 0))
        for number, place in enumerate(sorted(places))
    ]
    for traces in _combine(litmus, initial, find_traces(litmus)):
        for stopped, synced in _meet(litmus, traces):
            yield from _feed(litmus, initial, _cut(traces, stopped), synced, bool(stopped))


def _combine(
    litmus: Litmus, initial: Sequence[Event], threads: Sequence[Sequence[Trace]]
) -> Iterator[tuple[Trace, ...]]:
    """Yield traces of all threads, in which somebody writes each value that is read."""
    bits: dict[tuple[str, int], int] = {}

    def mask(events: Sequence[Event], kind: str) -> int:
        found = 0
        for event in events:
            if event.kind == kind:
                found |= 1 << bits.setdefault((litmus.origin(event.place), event.value), len(bits))
        return found

    known = mask(initial, "W")
    weighed = [
        [(trace, mask(trace.events, "R"), mask(trace.events, "W")) for trace in traces]
        for traces in threads
    ]
    for chosen in itertools.product(*weighed):
        read = written = 0
        for _, reads, writes in chosen:
            read |= reads
            written |= writes
        if not read & ~(written | known):
            yield tuple(trace for trace, _, _ in chosen)


_Place = tuple[int, int]  # a thread, and the position of an event


def _meet(
    litmus: Litmus, traces: Sequence[Trace]
) -> Iterator[tuple[set[_Place], list[tuple[_Place, _Place]]]]:
    """Yield which barriers threads wait at for ever, and which meet.

    Barriers of a block with one number and one name meet; those that count threads in groups of
    that many, and what is left over waits.
    """
    groups: dict[tuple[object, ...], list[_Place]] = {}
    for thread, trace in enumerate(traces):
        for event in trace.events:
            if event.kind == "B":
                key = (litmus.places[thread], event.barrier)
                groups.setdefault(key, []).append((thread, event.position))
    choices: list[list[list[tuple[_Place, ...]]]] = []
    for (_, barrier), members in groups.items():
        needed = barrier[2] if isinstance(barrier, tuple) and len(barrier) > 2 else 0
        choices.append(
            [[tuple(members)]] if not needed else list(_partition(tuple(members), needed))
        )
    for chosen in itertools.product(*choices):
        together = [group for groups_ in chosen for group in groups_]
        if not _can_end(traces, together):
            continue
        met = {place for group in together for place in group}
        stopped = {place for members in groups.values() for place in members} - met
        yield (
            stopped,
            [(a, b) for group in together for a in group for b in group if a != b and a[0] != b[0]],
        )


def _can_end(traces: Sequence[Trace], together: Sequence[Sequence[_Place]]) -> bool:
    """Say whether no threads wait for each other at two barriers, in two orders."""
    waiting = {place: number for number, group in enumerate(together) for place in group}
    before: set[tuple[int, int]] = set()
    for (thread, position), group in waiting.items():
        if not traces[thread].events[position].is_arrival:
            before |= {
                (group, other)
                for (number, later), other in waiting.items()
                if number == thread and later > position
            }
    return Relation.of_pairs(len(together), before).is_acyclic


def _partition(members: tuple[_Place, ...], needed: int) -> Iterator[list[tuple[_Place, ...]]]:
    """Yield groups of as many members as can be made, disjoint, as long as there are enough."""
    if len(members) < needed:
        yield []
        return
    first, *rest = members
    for others in itertools.combinations(rest, needed - 1):
        left = tuple(it for it in rest if it not in others)
        for groups in _partition(left, needed):
            yield [(first, *others), *groups]
    # The first may be the one that is left over.
    if len(rest) >= needed:
        yield from (it for it in _partition(tuple(rest), needed) if it)


def _cut(traces: Sequence[Trace], stopped: set[_Place]) -> list[Trace]:
    """Return traces that end where threads wait for ever, with the registers that are set."""
    cut: list[Trace] = []
    for thread, trace in enumerate(traces):
        ends = [position for number, position in stopped if number == thread]
        if not ends:
            cut.append(trace)
            continue
        events = trace.events[: min(ends)]
        known = {event.value for event in events if event.kind == "R"}
        registers = {name: it for name, it in trace.registers.items() if it in known}
        cut.append(Trace(events, registers if known else {}))
    return cut


def _feed(
    litmus: Litmus,
    initial: Sequence[Event],
    traces: Sequence[Trace],
    synced: Sequence[tuple[_Place, _Place]],
    is_hanging: bool,
) -> Iterator[Candidate]:
    events = [*initial, *(event for trace in traces for event in trace.events)]
    numbers = {(event.thread, event.position): it for it, event in enumerate(events)}
    reads = [it for it, event in enumerate(events) if event.kind == "R"]
    sources = [
        [
            it
            for it, event in enumerate(events)
            if event.kind == "W"
            and litmus.origin(event.place) == litmus.origin(events[read].place)
            and event.value == events[read].value
        ]
        for read in reads
    ]
    met = [(numbers[a], numbers[b]) for a, b in synced if a in numbers and b in numbers]
    registers = [trace.registers for trace in traces]
    for chosen in itertools.product(*sources):
        fed = dict(zip(reads, chosen, strict=True))
        yield Candidate(litmus, events, fed, registers, met, is_hanging)
