"""All that the threads of a block do to workgroup memory, for any arguments and any block.

The block goes from barrier to barrier. What arguments, memory or the number of the block decide is
not known, so all ways are taken: by the block as a whole where all threads go the same way and a
barrier lies on it, else each thread may go either way. A state of the block at a barrier that has
been there before is not followed again, so that a loop without a known end comes to an end here.
"""

from __future__ import annotations

import numpy as np

from certificates.cells import Cells, Event, Refuted
from certificates.effects import Access, Order
from certificates.graph import EXIT
from certificates.ir import Instruction, NotUnderstood
from certificates.machine import Machine
from certificates.slices import registers
from certificates.states import Frame, Path, Pending, State, freeze, freeze_copies
from certificates.values import (
    DIVERGENT,
    UNIFORM,
    Array,
    Environment,
    Unknown,
    Value,
    blend,
    merge_unknown,
    pick,
    refine,
    refine_second,
)

STEPS = 500_000
"""The instructions that are followed before it is too much."""
TURNS = 40
"""How often a loop without a known end goes round before what it counts is taken as unknown."""
CASES = 129
"""The most cases of a value that are followed each by itself."""
MOST_GROUPS = 64
"""How many groups that were closed since a copy began are counted."""


def follow_all(machine: Machine) -> None:
    """Follow a kernel until there is nothing new; raises Refuted where threads may race."""
    rest = [machine.begin()]
    while rest:
        state = rest.pop()
        if machine.is_new(state):
            rest += Interval(machine, state).run()


class Interval:
    """What happens from one barrier to the next ones."""

    def __init__(self, machine: Machine, start: State) -> None:
        self.machine, self.start = machine, start
        self.slice, self.graph = machine.slice, machine.graph
        self.next: list[State] = []
        self.doubted: set[str] = set()
        """What decided where threads went while it was not known."""

    def run(self) -> list[State]:
        """Go on to the next barriers; returns what begins there."""
        start = self.start
        frame = Frame(start.label, start.step, None, EXIT)
        paths = [Path(dict(start.environment), [frame], start.copies)]
        while paths:
            paths += self._follow(paths.pop())
        return self.next

    def _follow(self, path: Path) -> list[Path]:
        """Follow a path to its end, or to where it forks."""
        while path.frames:
            frame = path.frames[-1]
            if frame.waits:
                self._resume(path, frame)
                continue
            if frame.refined:
                frame.saved = {name: path.environment[name] for name in frame.refined}
                path.environment.update(frame.refined)
                frame.refined = {}
            steps = self.slice.steps[frame.label]
            self.machine.steps += len(steps) - frame.step + 1
            if self.machine.steps > STEPS:
                raise NotUnderstood("more happens than is followed")
            for number in range(frame.step, len(steps)):
                line = steps[number]
                if self.machine.effects.is_barrier(line):
                    self._end(path, line, number)
                    return []
                self._step(path, frame, line)
                if line.name in self.machine.cases and (cases := self._cases(path, line, number)):
                    return cases
            if forks := self._branch(path, frame):
                return forks
        self._judge(path)
        return []

    def _end(self, path: Path, line: Instruction, number: int) -> None:
        """All threads are at a barrier."""
        frame = path.frames[-1]
        if len(path.frames) > 1 or frame.threads is not None:
            raise Refuted(f"line {line.line}: a barrier that not all threads may reach")
        self._judge(path)
        live = self.slice.live_at(frame.label, number + 1)
        environment = {name: path.environment[name] for name in live if name in path.environment}
        self.next.append(State(line.line, frame.label, number + 1, environment, path.copies))

    # One instruction.

    def _step(self, path: Path, frame: Frame, line: Instruction) -> None:
        if line.op == "phi":
            return  # set on the way here
        effect = self.machine.effects.of(line)
        if isinstance(effect, Access):
            self._access(path, frame, line, effect)
        elif isinstance(effect, Order):
            self._order(path, frame, line, effect)
        if line.name in self.slice.names:
            value = self.machine.values.instruction(line, path.environment)
            if line.name in self.machine.assumed and isinstance(value, Unknown):
                value = value.at_least(self.machine.assumed[line.name])
            self._define(path, line.name, value, frame.threads)
            if isinstance(value, Unknown) and line.type.bits > 1 and value.has_few(CASES):
                self.machine.few[line.name] = value.high - value.low + 1

    def _cases(self, path: Path, line: Instruction, number: int) -> list[Path]:
        """Follow each value that an instruction may have by itself."""
        value = path.environment[line.name]
        if not isinstance(value, Unknown) or not value.has_few(CASES) or len(path.frames) > 1:
            return []
        if path.frames[0].threads is not None:
            return []
        label = path.frames[0].label
        return [
            Path({**path.environment, line.name: each % (1 << line.type.bits)},
                 [Frame(label, number + 1, None, EXIT)], path.copies, list(path.events),
                 list(path.vague), set(path.seen))
            for each in range(value.low, value.high + 1)
        ]  # fmt: skip

    def _want_cases(self, names: set[str], *, needed: bool = True) -> None:
        """Ask for the cases of what values are made of: of the first ones, others follow."""
        sources = names.union(*map(self.slice.sources, names))
        few = self.machine.few.keys() & sources
        wanted = {name for name in few if not (self.slice.sources(name) - {name}) & few}
        self.machine.wanted_cases |= wanted
        if needed:
            self.machine.needed_cases |= wanted

    def _define(self, path: Path, name: str, value: Value, threads: Array | None) -> None:
        self._set(path.environment, name, value, threads)
        for frame in path.frames:
            # What was known of an earlier value is not restored.
            frame.saved.pop(name, None)
            frame.refined.pop(name, None)

    def _set(
        self, environment: Environment, name: str, value: Value, threads: Array | None
    ) -> None:
        """Give some threads a value; others keep theirs."""
        old = environment.get(name)
        if threads is None or old is None:
            environment[name] = value
        elif isinstance(value, Unknown) or isinstance(old, Unknown):
            environment[name] = blend(old, value, threads, self.machine.threads)
        elif not (isinstance(value, int) and isinstance(old, int) and value == old):
            new = pick(old, None, self.machine.threads).copy()
            new[threads] = pick(value, threads, self.machine.threads)
            environment[name] = new

    def _access(self, path: Path, frame: Frame, line: Instruction, access: Access) -> None:
        value = self.machine.values.operand(access.pointer, path.environment)
        self.machine.check(line.line, value, frame.threads, path.environment)
        self.machine.intervals.setdefault(line.line, set()).add(self.start.line)
        if isinstance(value, Unknown):
            self._want_cases(registers([access.pointer]), needed=access.kind == "copy")
            if access.kind == "copy":
                raise NotUnderstood(f"line {line.line}: a copy to a place that is not known")
            path.vague.append((line.line, access))
            return
        at = pick(value, frame.threads, self.machine.threads).astype(np.int64)
        outside = self.machine.find_outside(at, access.size, access.variables)
        if len(outside):
            self._want_cases(self.slice.names)
            raise Refuted(f"line {line.line}: byte {outside[0]} is not in "
                          f"{sorted(access.variables)}")  # fmt: skip
        threads = self.machine.everybody if frame.threads is None else frame.threads
        if access.wanted:
            wants = self._wants(path, access)
            at, threads = at[wants[threads]], threads[wants[threads]]
        event = Event(line.line, access, at, threads)
        path.events.append(event)
        if access.kind == "copy":
            path.copies = (*path.copies, (event, np.zeros(len(at), np.int64)))

    def _wants(self, path: Path, access: Access) -> Array:
        """Which threads may use what they read."""
        assert access.wanted is not None
        condition, truth = access.wanted
        value = path.environment.get(condition.name, DIVERGENT)
        if not isinstance(value, Unknown):
            wants: Array = pick(value, None, self.machine.threads).astype(bool) == truth
            return wants
        possible = value.true if truth else value.false
        return np.ones(self.machine.threads, bool) if possible is None else possible

    def _order(self, path: Path, frame: Frame, line: Instruction, order: Order) -> None:
        is_sure = all(below.doubt is None for below in path.frames)
        if order.kind == "warp":
            if is_sure:
                everybody = self.machine.everybody
                path.events.append(everybody if frame.threads is None else frame.threads)
            return
        if not is_sure:
            raise NotUnderstood(f"line {line.line}: copies that some threads may wait for")
        here = np.ones(self.machine.threads, bool)
        if frame.threads is not None:
            here[:] = False
            here[frame.threads] = True
        kept: list[Pending] = []
        done: list[Event] = []
        for copy, ages in path.copies:
            if order.kind == "commit":
                kept.append((copy, np.minimum(ages + here[copy.threads], MOST_GROUPS)))
                continue
            is_done = (ages > order.pending) & here[copy.threads]
            if is_done.any():
                done.append(copy.of(is_done))
            if not is_done.all():
                kept.append((copy.of(~is_done), ages[~is_done]))
        path.copies = tuple(kept)
        if done:
            path.events.append(tuple(done))

    # From block to block.

    def _branch(self, path: Path, frame: Frame) -> list[Path]:
        label = frame.label
        last = self.graph.function.blocks[label][-1]
        targets = self.graph.successors[label]
        if len(targets) == 1:
            self._go(path, frame, targets[0])
            return []
        if label not in self.slice.branches:
            self._go(path, frame, self.graph.meets.get(label, EXIT))
            return []
        if last.op != "br":
            raise NotUnderstood(f"line {last.line}: a branch of many ways")
        condition = self.machine.values.operand(last.operands[0], path.environment)
        if label in self.slice.forgotten:
            condition = UNIFORM
        if isinstance(condition, Unknown):
            return self._branch_unknown(path, frame, condition)
        taken = pick(condition, frame.threads, self.machine.threads).astype(bool)
        if taken.all() or not taken.any():
            self._go(path, frame, last.labels[0 if taken.all() else 1])
            return []
        threads = self.machine.everybody if frame.threads is None else frame.threads
        self._split(
            path, frame, [(last.labels[0], threads[taken]), (last.labels[1], threads[~taken])]
        )
        return []

    def _branch_unknown(self, path: Path, frame: Frame, condition: Unknown) -> list[Path]:
        label = frame.label
        last = self.graph.function.blocks[label][-1]
        if label not in self.slice.crossed:
            self.doubted |= registers(last.operands)
            threads = self.machine.everybody if frame.threads is None else frame.threads
            ways = []
            for way, possible in zip(last.labels, (condition.true, condition.false), strict=True):
                some = threads if possible is None else threads[possible[threads]]
                if len(some):
                    is_whole = frame.threads is None and len(some) == len(threads)
                    ways.append((way, None if is_whole else some))
            self._split(path, frame, ways, condition)
            return []
        if condition.varied or len(path.frames) > 1 or frame.threads is not None:
            self._want_cases(registers(last.operands))
            raise Refuted(f"line {last.line}: a barrier or a wait behind a condition that threads "
                          "may not agree on")  # fmt: skip
        forks = []
        for way in last.labels:
            fork = Path(dict(path.environment), [Frame(label, 0, None, EXIT)], path.copies,
                        list(path.events), list(path.vague), set(path.seen))  # fmt: skip
            fork.environment.update(self._refine(path, last, way))
            self._go(fork, fork.frames[0], way)
            if fork.frames:
                live = self.slice.live_at(way, 0) | self._phis(way)
                key = way.encode() + freeze(fork.environment, live) + freeze_copies(fork.copies)
                if key in fork.seen:
                    continue  # round a loop without a barrier, and nothing new
                fork.seen.add(key)
            forks.append(fork)
        return forks

    def _phis(self, label: str) -> set[str]:
        return {line.name for line in self.slice.steps[label] if line.op == "phi"}

    def _split(
        self, path: Path, frame: Frame, ways: list[tuple[str, Array | None]],
        doubt: Unknown | None = None,
    ) -> None:  # fmt: skip
        """Let threads go different ways until they meet; with a doubt, each may go all ways."""
        label = frame.label
        meet = self.graph.meets.get(label, EXIT)
        region = self.slice.regions[label]
        if frame.stop == meet and label in region and len(path.frames) > 1:
            self._leave(path, frame)
            waiting = self._waiting(path, meet)
        else:
            waiting = frame
            frame = Frame(label, 0, None, meet)
            waiting.waits, waiting.label, waiting.step = True, meet, 0
        if doubt is not None:
            waiting.doubt = merge_unknown(doubt, *([waiting.doubt] if waiting.doubt else []))
            if meet != EXIT:
                names = {line.name for block in region for line in self.slice.steps[block]}
                waiting.blurred |= names & self.slice.live[meet]
        for way, threads in ways:
            side = Frame(label, 0, threads, meet)
            if doubt is not None:
                side.refined = self._refine(path, self.graph.function.blocks[label][-1], way)
            path.frames.append(side)
            self._go(path, side, way)
            if doubt is not None and label in region and path.frames[-1] is side:
                self._turn(path, waiting, side, way)

    def _turn(self, path: Path, waiting: Frame, side: Frame, way: str) -> None:
        """Threads may go round a loop: not if they have gone so before."""
        waiting.turns += 1
        phis = self._phis(way)
        if waiting.turns > TURNS:
            for name in phis:
                old, new = waiting.before.get(name), path.environment[name]
                if freeze({name: old if old is not None else 0}, {name}) != freeze(
                    {name: new}, {name}
                ):
                    path.environment[name] = merge_unknown(new)
        waiting.before = {name: path.environment[name] for name in phis}
        threads = b"" if side.threads is None else side.threads.tobytes()
        key = way.encode() + threads + freeze(path.environment, self.slice.live[way] | phis)
        key += freeze_copies(path.copies)
        if key in waiting.seen:
            self._leave(path, side)
        waiting.seen.add(key)

    def _leave(self, path: Path, frame: Frame) -> None:
        path.frames.remove(frame)
        path.environment.update(frame.saved)

    def _refine(self, path: Path, branch: Instruction, way: str) -> Environment:
        """What more is known of values on one way of a branch."""
        line = self.machine.effects.definitions.get(branch.operands[0].name)
        if line is None or line.op != "icmp" or branch.labels[0] == branch.labels[1]:
            return {}
        first, second = (self.machine.values.operand(o, path.environment) for o in line.operands)
        bits, truth = line.operands[0].type.bits, way == branch.labels[0]
        refined = (
            refine(line.flag, first, second, bits, truth=truth),
            refine_second(line.flag, first, second, bits, truth=truth),
        )
        return {
            operand.name: value
            for operand, value in zip(line.operands, refined, strict=True)
            if operand.kind == "register" and isinstance(value, Unknown)
            and operand.name in path.environment
        }  # fmt: skip

    def _waiting(self, path: Path, label: str) -> Frame:
        return next(f for f in reversed(path.frames) if f.waits and f.label == label)

    def _go(self, path: Path, frame: Frame, target: str) -> None:
        """Take threads from the end of a block to another one."""
        values = self.machine.values.choose(
            self.slice.steps.get(target, []), frame.label, path.environment
        )
        if target != frame.stop:
            for name, value in values.items():
                self._define(path, name, value, frame.threads)
            frame.label, frame.step = target, 0
            return
        self._leave(path, frame)
        if target == EXIT or not path.frames:
            return
        waiting = self._waiting(path, target)
        for name, value in values.items():
            merged = waiting.merged.get(name)
            waiting.merged[name] = (
                (value, frame.threads)
                if merged is None
                else self._merge(merged, (value, frame.threads), waiting.doubt)
            )

    def _merge(
        self, first: tuple[Value, Array | None], second: tuple[Value, Array | None],
        doubt: Unknown | None,
    ) -> tuple[Value, Array | None]:  # fmt: skip
        (a, among), (b, others) = first, second
        everybody = self.machine.everybody
        here = everybody if among is None else among
        there = everybody if others is None else others
        both = np.union1d(here, there)
        threads = None if len(both) == len(everybody) else both
        if isinstance(a, Unknown) or isinstance(b, Unknown):
            return merge_unknown(a, b, doubt or DIVERGENT), threads
        count = self.machine.threads
        shared = np.intersect1d(here, there)
        if len(shared) and not np.array_equal(pick(a, shared, count), pick(b, shared, count)):
            return merge_unknown(a, b, doubt or DIVERGENT), threads
        if isinstance(a, int) and isinstance(b, int) and a == b:
            return a, threads
        value = pick(a, None, count).copy()
        value[there] = pick(b, there, count)
        return value, threads

    def _resume(self, path: Path, frame: Frame) -> None:
        """All threads that went different ways have met."""
        if frame.label == EXIT:
            path.frames.remove(frame)
            return
        for name, (value, _) in frame.merged.items():
            self._set(path.environment, name, value, frame.threads)
        for name in frame.blurred:
            value = path.environment.get(name, DIVERGENT)
            path.environment[name] = merge_unknown(value, frame.doubt or DIVERGENT)
        target = frame.label
        frame.waits, frame.doubt, frame.merged = False, None, {}
        frame.blurred, frame.seen, frame.turns = set(), set(), 0
        if target == frame.stop:  # the place where those meet who went another way before
            values = {line.name for line in self.slice.steps[target] if line.op == "phi"}
            path.frames.remove(frame)
            waiting = self._waiting(path, target)
            for name in values:
                pair = (path.environment.get(name, DIVERGENT), frame.threads)
                merged = waiting.merged.get(name)
                waiting.merged[name] = (
                    pair if merged is None else self._merge(merged, pair, waiting.doubt)
                )

    # What happened.

    def _judge(self, path: Path) -> None:
        """Look for races among what happened since the barrier."""
        try:
            self._find_races(path)
        except Refuted:
            self._want_cases(self.doubted, needed=self.machine.needed_cases <= self.machine.cases)
            raise

    def _find_races(self, path: Path) -> None:
        start = self.start
        copies = [copy for copy, _ in start.copies]
        for copy in copies:
            self.machine.intervals.setdefault(copy.line, set()).add(start.line)
        events = [event for event in path.events if isinstance(event, Event)]
        self._judge_vague(path, [*copies, *events])
        if not copies and all(event.access.kind == "read" for event in events):
            return
        grain = min(event.access.size for event in [*copies, *events])
        if any(e.access.size % grain or np.any(e.at % grain) for e in [*copies, *events]):
            grain = 1
        cells = Cells(self.machine.size, grain, self.machine.threads, copies)
        for event in path.events:
            if isinstance(event, Event):
                cells.touch(event)
            elif isinstance(event, tuple):
                cells.finish(event)
            else:
                cells.synchronize_warps(event)

    def _judge_vague(self, path: Path, events: list[Event]) -> None:
        """Look for races of accesses whose place is not known."""
        for line, access in path.vague:
            others = [(event.line, event.access) for event in events] + path.vague
            for other, with_what in others:
                touches = access.variables & with_what.variables
                if touches and not (access.kind == with_what.kind == "read"):
                    self._want_cases(registers([access.pointer, with_what.pointer]))
                    raise Refuted(f"line {line}: touches {sorted(touches)} at a place that is not "
                                  f"known, as line {other} may")  # fmt: skip
