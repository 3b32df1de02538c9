"""Data races of litmus programs, by PTX's memory model.

Two accesses of different threads to one place, one of which writes, race if they are not morally
strong, and neither comes before the other in causality order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from .candidates import Candidate, find_candidates
from .model import Axioms
from .notation import Instruction, Litmus
from .traces import Event


def guard(litmus: Litmus) -> Litmus:
    """Return a program whose threads go on behind a read only with what the question asks for.

    The plain read of a message is a race if the flag was not seen; behind a guard it is one if
    seeing the flag orders nothing. Reads that are not the last of their thread are guarded.
    """
    if len(litmus.condition) != 1:
        return litmus
    wanted = {
        (term.thread, term.name): term.value
        for term in litmus.condition[0]
        if term.thread >= 0 and term.is_equal and term.other is None
    }
    threads = []
    for number, thread in enumerate(litmus.threads):
        guarded: list[Instruction] = []
        accesses = [
            at for at, it in enumerate(thread) if it.name in ("ld", "st", "exch", "cas", "add")
        ]
        for at, it in enumerate(thread):
            guarded.append(it)
            value = wanted.get((number, it.result))
            if it.result and it.place and value is not None and at < accesses[-1]:
                guarded.append(Instruction("if", "!=", place="left", operands=(it.result, value)))
        if len(guarded) > len(thread):
            guarded.append(Instruction("label", place="left"))
        threads.append(tuple(guarded))
    return dataclasses.replace(litmus, threads=threads)


def has_race(litmus: Litmus, version: str, sequential: bool = True) -> bool:
    """Say whether some execution has a race; ``sequential``: one in which threads take turns."""
    for candidate in find_candidates(litmus):
        if sequential and not takes_turns(candidate):
            continue
        axioms = Axioms(candidate, version)
        for _, cause in axioms.find_orders():
            if any(_race(axioms, cause, candidate)):
                return True
    return False


def _race(axioms: Axioms, cause: object, candidate: Candidate) -> Iterator[bool]:
    events = candidate.events
    for a, first in enumerate(events):
        for b in range(a + 1, len(events)):
            second = events[b]
            if (
                first.thread >= 0
                and first.thread != second.thread
                and "W" in (first.kind, second.kind)
                and {first.kind, second.kind} <= {"R", "W"}
                and axioms.share(first, second)
            ):
                yield not (
                    axioms.are_strong(a, b) or axioms.comes_before(cause, a, b)  # type: ignore[arg-type]
                )


def takes_turns(candidate: Candidate) -> bool:
    """Say whether threads that take turns, each access at once, may read what is read."""
    litmus = candidate.litmus
    threads: dict[int, list[int]] = {}
    for number, event in enumerate(candidate.events):
        if event.thread >= 0:
            threads.setdefault(event.thread, []).append(number)
    programs = list(threads.values())
    groups: dict[int, set[int]] = {}
    for a, b in candidate.synced:
        groups.setdefault(a, {a}).add(b)
    memory = {
        litmus.origin(event.place): number
        for number, event in enumerate(candidate.events)
        if event.thread < 0
    }
    return _play(candidate, programs, groups, memory)


def _play(
    candidate: Candidate,
    programs: list[list[int]],
    groups: dict[int, set[int]],
    memory: dict[str, int],
) -> bool:
    seen: set[tuple[object, ...]] = set()
    stack = [(tuple(0 for _ in programs), tuple(sorted(memory.items())))]
    while stack:
        at, held = stack.pop()
        if (at, held) in seen:
            continue
        seen.add((at, held))
        if all(it == len(program) for it, program in zip(at, programs, strict=True)):
            return True
        for thread, program in enumerate(programs):
            if at[thread] == len(program):
                continue
            after = _turn(candidate, programs, groups, at, dict(held), thread)
            if after:
                stack.append(after)
    return False


def _turn(
    candidate: Candidate,
    programs: list[list[int]],
    groups: dict[int, set[int]],
    at: tuple[int, ...],
    memory: dict[str, int],
    thread: int,
) -> tuple[tuple[int, ...], tuple[tuple[str, int], ...]] | None:
    """Return where all threads are, and what places hold, after a turn; None if it waits."""
    program, number = programs[thread], at[thread]
    event: Event = candidate.events[program[number]]
    places = list(at)
    if event.kind == "B":
        waiting = groups.get(program[number], {program[number]})
        there = {programs[it][at[it]] for it in range(len(programs)) if at[it] < len(programs[it])}
        passed = {one for it, ones in enumerate(programs) for one in ones[: at[it]]}
        if not event.is_arrival and not waiting <= there | passed:
            return None
        places[thread] += 1
        return tuple(places), tuple(sorted(memory.items()))
    while True:
        event = candidate.events[program[places[thread]]]
        place = candidate.litmus.origin(event.place) if event.place else ""
        if event.kind == "R" and memory[place] != candidate.sources[program[places[thread]]]:
            return None
        if event.kind == "W":
            memory[place] = program[places[thread]]
        places[thread] += 1
        following = program[places[thread]] if places[thread] < len(program) else -1
        if following < 0 or candidate.events[following].partner != event.position:
            break
    return tuple(places), tuple(sorted(memory.items()))
