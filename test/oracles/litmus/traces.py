"""What each thread of a litmus program may do, whatever the others do: its events and their values.

Reads take any value that is written to their place somewhere; which of these fit together is the
model's matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from .notation import Instruction, Litmus, Operand

_VISITS = 2
"""Of one instruction: loops that wait are left after so many turns, or not looked at."""


@dataclass(frozen=True, slots=True)
class Event:
    """A read or write (``kind`` R, W), fence (F) or barrier (B) of a thread.

    ``position``: in its thread. ``depends``: positions of reads of the thread that it depends on,
    by its address, its value, or whether it happens. ``partner``: the position of the read of the
    same operation. ``barrier``: number, name, and how many threads.
    """

    thread: int
    position: int
    kind: str
    meaning: str
    scope: str
    place: str = ""
    value: int = 0
    depends: frozenset[int] = frozenset()
    partner: int = -1
    barrier: tuple[int, ...] = ()
    is_arrival: bool = False


@dataclass(slots=True)
class Trace:
    """A way of a thread through its program, and its registers at the end."""

    events: list[Event] = field(default_factory=list)
    registers: dict[str, int] = field(default_factory=dict)


def find_traces(litmus: Litmus) -> list[list[Trace]]:
    """Return the traces of each thread."""
    values: dict[str, set[int]] = defaultdict(set)
    for thread in litmus.threads:
        for it in thread:
            if it.place and it.name in ("st", "ld", "add", "sub", "exch", "cas"):
                origin = litmus.origin(it.place)
                values[origin].add(litmus.initial.get(origin, 0))
    traces: list[list[Trace]] = []
    while True:
        known = {name: set(found) for name, found in values.items()}
        traces = [
            list(_Walker(litmus, number, known).walk()) for number in range(len(litmus.threads))
        ]
        for trace in (trace for thread in traces for trace in thread):
            for event in trace.events:
                origin = litmus.origin(event.place)
                if event.kind == "W" and _is_reachable(litmus, origin, event.value):
                    values[origin].add(event.value)
        if values == known:
            return traces


def _is_reachable(litmus: Litmus, place: str, value: int) -> bool:
    """Say whether a sum may be had if each instruction adds once, as most values are."""
    sums = [
        abs(it.operands[0]) if isinstance(it.operands[0], int) else 1
        for thread in litmus.threads
        for it in thread
        if it.name in ("add", "sub") and litmus.origin(it.place) == place
    ]
    most = max(
        (
            abs(it)
            for thread in litmus.threads
            for i in thread
            for it in i.operands
            if isinstance(it, int)
        ),
        default=0,
    )
    return abs(value - litmus.initial.get(place, 0)) <= max(sum(sums), most) + bool(sums)


@dataclass(slots=True)
class _State:
    at: int
    trace: Trace
    sources: dict[str, frozenset[int]]  # reads that the value of a register comes from
    control: frozenset[int]
    visits: dict[int, int]

    def fork(self) -> _State:
        trace = Trace(list(self.trace.events), dict(self.trace.registers))
        return _State(self.at, trace, dict(self.sources), self.control, dict(self.visits))


class _Walker:
    def __init__(self, litmus: Litmus, thread: int, values: dict[str, set[int]]) -> None:
        self._litmus, self._thread, self._values = litmus, thread, values
        self._program = litmus.threads[thread]
        self._labels = {
            it.place: number for number, it in enumerate(self._program) if it.name == "label"
        }

    def walk(self) -> Iterator[Trace]:
        """Yield all traces that end."""
        initial = {
            name: value
            for (thread, name), value in self._litmus.registers.items()
            if thread == self._thread
        }
        states = [_State(0, Trace([], initial), {}, frozenset(), {})]
        while states:
            state = states.pop()
            if state.at >= len(self._program):
                yield state.trace
                continue
            visits = state.visits[state.at] = state.visits.get(state.at, 0) + 1
            if visits <= _VISITS:
                states += self._step(state)

    def _step(self, state: _State) -> list[_State]:
        it = self._program[state.at]
        state.at += 1
        if it.name in ("ld", "add", "sub", "exch", "cas"):
            return list(self._read(state, it))
        if it.name == "st":
            self._add(state, it, "W", self._value(state, it.operands[0]), it.operands)
        elif it.name == "mov":
            state.trace.registers[it.result] = sum(self._value(state, v) for v in it.operands)
            state.sources[it.result] = self._sources(state, it.operands)
        elif it.name == "fence":
            self._add(state, it, "F", 0, ())
        elif it.name in ("bar", "arrive"):
            self._add(state, it, "B", 0, it.operands)
        elif it.name == "goto":
            state.at = self._labels[it.place]
        elif it.name == "if":
            first, second = (self._value(state, operand) for operand in it.operands)
            state.control |= self._sources(state, it.operands)
            if (first == second) == (it.meaning == "=="):
                state.at = self._labels[it.place]
        return [state]

    def _read(self, state: _State, it: Instruction) -> Iterator[_State]:
        for value in sorted(self._values[self._litmus.origin(it.place)]):
            fork = state.fork()
            read = self._add(fork, it, "R", value, ())
            new = self._update(fork, it, value)
            if new is not None:
                self._add(fork, it, "W", new, it.operands, read)
            if it.result:
                fork.trace.registers[it.result] = value
                fork.sources[it.result] = frozenset({read})
            yield fork

    def _update(self, state: _State, it: Instruction, value: int) -> int | None:
        """Return what an atomic operation writes; None if nothing."""
        operands = [self._value(state, operand) for operand in it.operands]
        if it.name in ("add", "sub"):
            return value + operands[0] if it.name == "add" else value - operands[0]
        if it.name == "exch":
            return operands[0]
        if it.name == "cas":
            return operands[1] if value == operands[0] else None
        return None

    def _add(
        self,
        state: _State,
        it: Instruction,
        kind: str,
        value: int,
        operands: tuple[Operand, ...],
        partner: int = -1,
    ) -> int:
        position = len(state.trace.events)
        depends = state.control | self._sources(state, operands)
        if partner >= 0 and it.name != "exch":
            depends |= {partner}
        barrier = tuple(self._value(state, v) for v in operands) if kind == "B" else ()
        place = it.place
        meaning = it.meaning
        state.trace.events.append(
            Event(
                self._thread,
                position,
                kind,
                meaning,
                it.scope,
                place,
                value,
                depends,
                partner,
                barrier,
                it.name == "arrive",
            )
        )
        return position

    def _value(self, state: _State, operand: Operand) -> int:
        return operand if isinstance(operand, int) else state.trace.registers.get(operand, 0)

    def _sources(self, state: _State, operands: tuple[Operand, ...]) -> frozenset[int]:
        found = frozenset[int]()
        for operand in operands:
            if isinstance(operand, str):
                found |= state.sources.get(operand, frozenset())
        return found
