"""Whether all threads of a litmus program end, if each that can go on does so some time.

A program may run for ever in two ways: threads wait at barriers that others never come to, or
threads go around in loops. The second is no fault of the program if somebody who could go on is
never let. What was written is seen some time by reads that have a scope; a weak one may go on to
read what was there before, as nothing is promised of it.

A barrier that counts lets through whoever comes once as many have come, as Dat3M has it; by PTX
they wait for as many again. One that does not count waits for all threads of the block that have
it.

States are those of executions in which one thread acts after the other. That is enough for the
programs here, whose loops end by what one place has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .notation import Instruction, Litmus, Operand

_MOST_STATES = 200_000


@dataclass(frozen=True, slots=True)
class _Thread:
    """Where a thread is, and its registers; ``waits``: at the barrier that it has come to."""

    at: int
    registers: tuple[tuple[str, int], ...] = ()
    waits: bool = False

    def value(self, operand: Operand) -> int:
        """Return a number, or what a register has."""
        return operand if isinstance(operand, int) else dict(self.registers).get(operand, 0)

    def put(self, register: str, value: int) -> _Thread:
        """Return the thread with another value in a register."""
        if not register:
            return self
        return replace(
            self, registers=tuple(sorted({**dict(self.registers), register: value}.items()))
        )


_Barrier = tuple[tuple[int, int], tuple[int, ...]]  # of a block, by its numbers


@dataclass(frozen=True, slots=True)
class _State:
    threads: tuple[_Thread, ...]
    memory: tuple[tuple[str, int], ...]
    seen: frozenset[tuple[str, int]]
    """What places have had, for weak reads."""
    come: frozenset[tuple[_Barrier, int]] = frozenset()
    """Who has come to which barriers."""


_Step = tuple[int, _State]  # a thread, and what comes of its step


class _Machine:
    def __init__(self, litmus: Litmus) -> None:
        self._litmus = litmus
        self._labels = [
            {it.place: number for number, it in enumerate(thread) if it.name == "label"}
            for thread in litmus.threads
        ]

    def begin(self) -> _State:
        """Return the state before the first step."""
        litmus = self._litmus
        places = {
            litmus.origin(it.place)
            for thread in litmus.threads
            for it in thread
            if it.name in ("st", "ld", "add", "sub", "exch", "cas")
        }
        memory = tuple(sorted((place, litmus.initial.get(place, 0)) for place in places))
        threads = [
            _Thread(
                0,
                tuple(
                    sorted(
                        (name, it) for (of, name), it in litmus.registers.items() if of == number
                    )
                ),
            )
            for number in range(len(litmus.threads))
        ]
        return _State(tuple(threads), memory, frozenset(memory))

    def has_ended(self, state: _State, number: int) -> bool:
        """Say whether a thread is at its end."""
        return state.threads[number].at >= len(self._litmus.threads[number])

    def steps(self, state: _State) -> Iterator[_Step]:
        """Yield what threads can do."""
        for number, thread in enumerate(state.threads):
            if not self.has_ended(state, number) and not thread.waits:
                it = self._litmus.threads[number][thread.at]
                for after in self._do(state, number, it):
                    yield number, after

    def _do(self, state: _State, number: int, it: Instruction) -> Iterator[_State]:
        thread = replace(state.threads[number], at=state.threads[number].at + 1)
        if it.name in ("bar", "arrive"):
            yield self._meet(state, number, it)
        elif it.name in ("st", "ld", "add", "sub", "exch", "cas"):
            yield from self._access(state, number, thread, it)
        else:
            yield _put(state, number, self._go(thread, number, it))

    def _go(self, thread: _Thread, number: int, it: Instruction) -> _Thread:
        if it.name == "mov":
            return thread.put(it.result, sum(map(thread.value, it.operands)))
        if it.name == "if":
            first, second = map(thread.value, it.operands)
            is_taken = (first == second) == (it.meaning == "==")
            return replace(thread, at=self._labels[number][it.place]) if is_taken else thread
        if it.name == "goto":
            return replace(thread, at=self._labels[number][it.place])
        return thread  # a label, or a fence

    def _access(
        self, state: _State, number: int, thread: _Thread, it: Instruction
    ) -> Iterator[_State]:
        place = self._litmus.origin(it.place)
        memory = dict(state.memory)
        operands = [thread.value(operand) for operand in it.operands]
        if it.name == "ld":
            stale = {value for name, value in state.seen if name == place}
            for value in sorted(stale) if it.meaning == "weak" else [memory[place]]:
                yield _put(state, number, thread.put(it.result, value))
            return
        before = memory[place]
        memory[place] = _update(it.name, before, operands)
        after = _put(state, number, thread.put(it.result, before))
        written = tuple(sorted(memory.items()))
        yield replace(after, memory=written, seen=state.seen | {(place, memory[place])})

    def _meet(self, state: _State, number: int, it: Instruction) -> _State:
        """Let a thread come to a barrier, and those go on who need not wait any more."""
        if it.name == "arrive":
            raise ValueError("threads that arrive and go on are not followed")
        here = self._barrier(number, state.threads[number], it)
        state = _put(state, number, replace(state.threads[number], waits=True))
        state = replace(state, come=state.come | {(here, number)})
        if sum(barrier == here for barrier, _ in state.come) < self._count(here):
            return state
        for other, thread in enumerate(state.threads):
            if thread.waits and self._barrier(other, thread, self._at(other, thread)) == here:
                state = _put(state, other, replace(thread, at=thread.at + 1, waits=False))
        return state

    def _count(self, barrier: _Barrier) -> int:
        """Return how many threads a barrier waits for: as it says, or all that ever come."""
        if len(barrier[1]) > 2:
            return barrier[1][2]
        return sum(
            any(
                it.name == "bar" and self._barrier(number, begin, it) == barrier
                for it in self._litmus.threads[number]
            )
            for number, begin in enumerate(self.begin().threads)
        )

    def _at(self, number: int, thread: _Thread) -> Instruction:
        return self._litmus.threads[number][thread.at]

    def _barrier(self, number: int, thread: _Thread, it: Instruction) -> _Barrier:
        return self._litmus.places[number], tuple(map(thread.value, it.operands))


def _put(state: _State, number: int, thread: _Thread) -> _State:
    threads = list(state.threads)
    threads[number] = thread
    return replace(state, threads=tuple(threads))


def _update(name: str, before: int, operands: list[int]) -> int:
    if name in ("add", "sub"):
        return before + operands[0] if name == "add" else before - operands[0]
    if name == "cas":
        return operands[1] if before == operands[0] else before
    return operands[0]  # st, exch


def always_ends(litmus: Litmus) -> bool:
    """Say whether all threads end in all fair executions. Raises ValueError if that takes long."""
    machine = _Machine(litmus)
    begin = machine.begin()
    graph: dict[_State, list[_Step]] = {}
    waiting = [begin]
    while waiting:
        state = waiting.pop()
        if state in graph:
            continue
        if len(graph) == _MOST_STATES:
            raise ValueError(f"'{litmus.name}' has more than {_MOST_STATES} states")
        graph[state] = list(machine.steps(state))
        waiting += [after for _, after in graph[state]]
        is_over = all(machine.has_ended(state, it) for it in range(len(state.threads)))
        if not graph[state] and not is_over:
            return False
    return not any(_may_stay(machine, graph, part) for part in _find_parts(graph))


def _may_stay(machine: _Machine, graph: dict[_State, list[_Step]], part: frozenset[_State]) -> bool:
    """Say whether an execution may stay in a part of the graph though each thread is let go on."""
    acting = {number for state in part for number, after in graph[state] if after in part}
    if not acting:
        return False
    idle = {
        number
        for state in part
        for number, thread in enumerate(state.threads)
        if thread.waits or machine.has_ended(state, number)
    }
    return all(it in acting or it in idle for it in range(len(next(iter(part)).threads)))


def _find_parts(graph: dict[_State, list[_Step]]) -> Iterator[frozenset[_State]]:
    """Yield the sets of states that can all be reached from each other (Tarjan)."""
    index: dict[_State, int] = {}
    low: dict[_State, int] = {}
    stack: list[_State] = []
    on_stack: set[_State] = set()
    for root in graph:
        work = [(root, iter(graph[root]))] if root not in index else []
        while work:
            state, steps = work[-1]
            if state not in index:
                index[state] = low[state] = len(index)
                stack.append(state)
                on_stack.add(state)
            for _, after in steps:
                if after not in index:
                    work.append((after, iter(graph[after])))
                    break
                if after in on_stack:
                    low[state] = min(low[state], index[after])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[state])
                if low[state] == index[state]:
                    part = set[_State]()
                    while state not in part:
                        part.add(stack.pop())
                    on_stack -= part
                    yield frozenset(part)
