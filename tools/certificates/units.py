"""Blocks whose threads hand memory over by mbarriers, or by barriers of part of the block.

Threads that go the same way go together, until they part; parts run on by turns, and those that
parted at a branch go on together where its ways meet. One order of turns is followed. That each
other order does the same is what `clocks` checks: so nothing may depend on what only the launch or
memory knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from certificates.asynchronous import Async, find_atoms
from certificates.cells import WARP, Refuted
from certificates.clocks import Barrier, Clocks
from certificates.effects import Access, Order
from certificates.graph import EXIT, START
from certificates.ir import Instruction, NotUnderstood, Operand
from certificates.machine import Machine
from certificates.touches import GOING_ON, Touch, Touches
from certificates.values import Array, Environment, Unknown, Value, pick

STEPS = 2_000_000
"""The instructions that are followed before it is too much."""
KINDS = ("copy", "product", "store")
"""What goes on by itself until a thread waits for groups of it."""
_COMMITS = {"commit products": "product", "commit stores": "store"}
_WAITS = {"wait products": "product", "wait stores": "store"}
_PART = re.compile(r"extractvalue \{ i32, i1 \} (%\S+), ([01])")


@dataclass(slots=True, eq=False)
class Unit:
    """Threads that are at one place. ``stop``: where those that parted from others meet them.

    ``waits``: it has come to barriers, each of which ends a phase before it goes on. ``parts``: of
    one whose threads have parted, how many are still on their way; ``met``: threads that are there,
    with what they know.
    """

    threads: Array
    label: str
    step: int
    environment: Environment
    stop: str = EXIT
    parent: Unit | None = None
    waits: list[tuple[Barrier, int]] = field(default_factory=list)
    parts: int = 0
    met: list[tuple[Array, Environment]] = field(default_factory=list)


class Units:
    """The units of a block. ``boxes``: the bytes that a transfer by each tensor map brings."""

    def __init__(self, machine: Machine, boxes: Mapping[str, int]) -> None:
        self.machine, self.boxes = machine, boxes
        self.slice, self.graph = machine.slice, machine.graph
        count = machine.threads
        self.clocks = Clocks(count)
        self.touches = Touches(machine.size, self._find_grain(), self.clocks)
        self.groups = {what: np.zeros(count, np.int64) for what in KINDS}
        self.last = np.full(count, START)
        self.moved = False
        self.rest = [Unit(machine.everybody, machine.graph.entry, 0, dict(machine.parameters))]

    def _find_grain(self) -> int:
        sizes = [each.size for each in self.machine.effects.lines.values()
                 if isinstance(each, Access)]  # fmt: skip
        return min([8, *sizes])

    def run(self) -> None:
        """Follow all threads to their ends; raises Refuted where they race or wait for ever."""
        while self.rest:
            self.moved = False
            for unit in list(self.rest):
                self._run(unit)
            if not self.moved:
                lines = {self.slice.steps[unit.label][unit.step].line for unit in self.rest}
                raise Refuted(f"threads wait for ever, at lines {sorted(lines)}")
        self.clocks.finish()
        for what in ("product", "store"):  # memory may be somebody else's when they go on
            for touch in self.touches.going_on(what):
                raise Refuted(f"line {touch.line}: nobody waits for what it does")

    # A unit.

    def _run(self, unit: Unit) -> None:
        """Let a unit go on until it waits, or is no more."""
        while unit in self.rest:
            steps = self.slice.steps[unit.label]
            while unit.step < len(steps):
                if not self._step(unit, steps[unit.step]):
                    return
                self._count()
                unit.step += 1
            self._count()
            self._branch(unit)

    def _count(self) -> None:
        self.moved = True
        self.machine.steps += 1
        if self.machine.steps > STEPS:
            raise NotUnderstood("more happens than is followed")

    def _step(self, unit: Unit, line: Instruction) -> bool:
        """Follow an instruction; returns whether it is over."""
        if line.op == "phi":
            return True
        effect = self.machine.effects.of(line)
        is_over = True
        if isinstance(effect, Access):
            self._access(unit, line, effect)
        elif isinstance(effect, Order):
            is_over = self._order(unit, line, effect)
        elif isinstance(effect, Async):
            is_over = self._work(unit, line, effect)
        if not is_over:
            return False
        if line.name in self.slice.names:
            unit.environment[line.name] = self._evaluate(unit, line, effect)
        return True

    def _evaluate(self, unit: Unit, line: Instruction, effect: object) -> Value:
        if isinstance(effect, Async) and effect.kind == "elect":
            return self._elect(unit, line)
        if match := _PART.search(line.text):
            made = self.machine.effects.definitions.get(match[1])
            if made is not None and made.callee == "@llvm.nvvm.elect.sync":
                lanes = unit.environment[match[1]]
                if match[2] == "1" or isinstance(lanes, Unknown):
                    return lanes
        return self.machine.values.instruction(line, unit.environment)

    def _elect(self, unit: Unit, line: Instruction) -> Array:
        """One lane of each warp: the first one of those that take part."""
        mask = self._number(unit, line.operands[0], line)
        elected = np.zeros(self.machine.threads, np.uint64)
        lanes = [lane for lane in range(WARP) if mask >> lane & 1]
        for warp in np.unique(unit.threads // WARP):
            here = unit.threads[unit.threads // WARP == warp] % WARP
            if not lanes or not np.isin(lanes, here).all() or not np.isin(here, lanes).all():
                raise Refuted(f"line {line.line}: not the lanes that it names are there")
            elected[warp * WARP + lanes[0]] = 1
        return elected

    def _values(self, unit: Unit, operand: Operand, line: Instruction) -> Array:
        """What an operand is for each thread of a unit."""
        value = self.machine.values.operand(operand, unit.environment)
        if isinstance(value, Unknown):
            raise NotUnderstood(f"line {line.line}: {operand.name} is not known")
        return pick(value, unit.threads, self.machine.threads)

    def _number(self, unit: Unit, operand: Operand, line: Instruction) -> int:
        """The same, where all threads have one value."""
        values = np.unique(self._values(unit, operand, line))
        if len(values) != 1:
            raise NotUnderstood(f"line {line.line}: threads differ in {operand.name}")
        return int(values[0])

    # What it does.

    def _access(self, unit: Unit, line: Instruction, access: Access) -> None:
        value = self.machine.values.operand(access.pointer, unit.environment)
        self.machine.check(line.line, value, unit.threads, unit.environment)
        self._note_barriers(line.line, unit.threads)
        if isinstance(value, Unknown):
            raise NotUnderstood(f"line {line.line}: touches a place that is not known")
        at = pick(value, unit.threads, self.machine.threads).astype(np.int64)
        self._check_bounds(line, at, access.size, access.variables)
        threads = unit.threads
        times = self.clocks.now(threads)
        touch = Touch(line.line, access.kind != "read", False,
                      self.touches.spread(at, access.size), threads, times, threads)  # fmt: skip
        if access.kind == "copy":
            touch.what, touch.groups = "copy", self.groups["copy"][threads] + 1
            touch.times = np.full(len(threads), GOING_ON, np.int32)
        if access.warp and touch.writes:
            raise NotUnderstood(f"line {line.line}: what a warp writes as one")
        if access.warp:
            self._read_as_warp(unit, line, touch)
        else:
            self.touches.add(touch, same=access.same)

    def _read_as_warp(self, unit: Unit, line: Instruction, touch: Touch) -> None:
        """All lanes of a warp read what its lanes name."""
        for warp in np.unique(unit.threads // WARP):
            lanes = unit.threads // WARP == warp
            if lanes.sum() < WARP:
                raise Refuted(f"line {line.line}: a warp that is not there as a whole")
            cells = np.tile(touch.cells[lanes].ravel(), (WARP, 1))
            agents = unit.threads[lanes]
            self.touches.add(Touch(line.line, False, False, cells, agents,
                                   self.clocks.now(agents), agents))  # fmt: skip

    def _check_bounds(
        self, line: Instruction, at: Array, size: int, variables: frozenset[str]
    ) -> None:
        inside = np.zeros(len(at), bool)
        for name in variables:
            base = self.machine.bases[name]
            inside |= (at >= base) & (at + size <= base + self.machine.sizes[name])
        if not inside.all():
            raise Refuted(f"line {line.line}: byte {int(at[~inside][0])} is not in "
                          f"{sorted(variables)}")  # fmt: skip

    def _note_barriers(self, line: int, threads: Array) -> None:
        """Note behind which barriers of the block threads do something."""
        found = self.machine.intervals.setdefault(line, set())
        found.update(np.unique(self.last[threads]).tolist())

    def _order(self, unit: Unit, line: Instruction, order: Order) -> bool:
        """Follow what orders threads of a warp or the block, or copies; whether it is over."""
        if order.kind == "barrier":
            return self._meet_others(unit, line, order)
        if order.kind == "warp":
            self.clocks.synchronize_warps(unit.threads)
        elif order.kind == "commit":
            self.groups["copy"][unit.threads] += 1
        else:
            self.touches.finish("copy", unit.threads, self.groups["copy"], order.pending)
        return True

    def _work(self, unit: Unit, line: Instruction, effect: Async) -> bool:
        """Follow what concerns mbarriers, parts of the block, and units that work by themselves."""
        kind = effect.kind
        if kind in ("meet", "signal"):
            return self._meet_others(unit, line, effect)
        if kind in ("init", "arrive", "expect", "try"):
            return self._use_mbarrier(unit, line, effect)
        if kind in ("elect", "product", "commit products", "wait products"):
            self.clocks.gather_warps(unit.threads)
        if kind in ("proxy", "init fence"):
            self.clocks.fence(unit.threads, data=kind == "proxy")
        elif kind == "transfer":
            self._transfer(unit, line, effect)
        elif kind == "store":
            self._store(unit, line, effect)
        elif kind == "product":
            self._multiply(unit, line, effect)
        elif kind in _COMMITS:
            self.groups[_COMMITS[kind]][unit.threads] += 1
        elif kind in _WAITS:
            what = _WAITS[kind]
            self.touches.finish(what, unit.threads, self.groups[what], effect.pending)
        return True

    def _meet_others(self, unit: Unit, line: Instruction, effect: Order | Async) -> bool:
        """Come to a barrier, or go on behind it once all are there."""
        is_of_block = isinstance(effect, Order)
        if not unit.waits:
            self.moved = True
            numbers, count = np.zeros(len(unit.threads), np.int64), -(-self.machine.threads // WARP)
            if isinstance(effect, Async):
                numbers = self._values(unit, effect.operands[0], line)
                count = self._number(unit, effect.operands[1], line) // WARP
            unit.waits = [
                self.clocks.meet(line.line, int(number), unit.threads[numbers == number],
                                 count * WARP, waits=effect.kind != "signal")
                for number in np.unique(numbers)
            ]  # fmt: skip
        is_over = all(barrier.phase > phase for barrier, phase in unit.waits)
        if effect.kind != "signal" and not is_over:
            return False
        unit.waits = []
        if is_of_block:
            self.last[unit.threads] = line.line
            for touch in self.touches.going_on("copy"):
                if np.isin(touch.agents[touch.times == GOING_ON], unit.threads).any():
                    self.machine.intervals.setdefault(touch.line, set()).add(line.line)
        return True

    def _use_mbarrier(self, unit: Unit, line: Instruction, effect: Async) -> bool:
        address = self._number(unit, effect.operands[0], line)
        variables = frozenset(self.machine.effects.variables_of(effect.operands[0]))
        self._check_bounds(line, np.array([address]), 8, variables)
        if effect.kind == "arrive":
            self.clocks.arrive(line.line, address, unit.threads)
            return True
        number = self._number(unit, effect.operands[1], line)
        if effect.kind == "expect":
            self.clocks.arrive(line.line, address, unit.threads, number)
        elif effect.kind == "try":
            return self.clocks.wait(line.line, address, unit.threads, number)
        else:
            if len(unit.threads) != 1:
                raise Refuted(f"line {line.line}: several threads make an mbarrier")
            self.clocks.make(line.line, address, number, int(unit.threads[0]))
            cells = self.touches.spread(np.array([address]), 8)
            self.touches.add(Touch(line.line, True, False, cells, unit.threads,
                                   self.clocks.now(unit.threads), unit.threads))  # fmt: skip
            self.touches.words |= set(cells.ravel().tolist())
        return True

    def _find_box(self, line: Instruction, tensor_map: Operand) -> int:
        """The bytes that a transfer brings, or takes away."""
        if tensor_map.name not in self.boxes:
            raise NotUnderstood(f"line {line.line}: how much {tensor_map.name} brings is not said")
        return self.boxes[tensor_map.name]

    def _check_transfer(self, line: Instruction, at: Array, size: int, place: Operand) -> None:
        variables = frozenset(self.machine.effects.variables_of(place))
        self._check_bounds(line, at, size, variables)
        if np.any(at % 128):
            raise Refuted(f"line {line.line}: a transfer at bytes {at}, no multiples of 128")

    def _transfer(self, unit: Unit, line: Instruction, effect: Async) -> None:
        target, barrier, tensor_map = effect.operands
        size = self._find_box(line, tensor_map)
        if len(unit.threads) != 1:
            raise Refuted(f"line {line.line}: several threads begin a transfer")
        at = np.array([self._number(unit, target, line)], np.int64)
        self._check_transfer(line, at, size, target)
        address = self._number(unit, barrier, line)
        cells = self.touches.spread(at, size)
        column, done = self.clocks.bring(line.line, address, int(unit.threads[0]), size)
        self.touches.add(Touch(line.line, True, True, cells, np.array([column]),
                               np.array([done], np.int32), unit.threads))  # fmt: skip

    def _store(self, unit: Unit, line: Instruction, effect: Async) -> None:
        """Let TMA read what threads have written; each begins a store by itself."""
        source, tensor_map = effect.operands
        size = self._find_box(line, tensor_map)
        at = self._values(unit, source, line).astype(np.int64)
        self._check_transfer(line, at, size, source)
        threads = unit.threads
        self.touches.add(Touch(
            line.line, False, True, self.touches.spread(at, size), threads,
            np.full(len(threads), GOING_ON, np.int32), threads, "store",
            self.groups["store"][threads] + 1,
        ))  # fmt: skip

    def _multiply(self, unit: Unit, line: Instruction, effect: Async) -> None:
        """Warp groups read the matrices that their descriptors are of until they have waited."""
        for group in np.unique(unit.threads // (4 * WARP)):
            here = unit.threads[unit.threads // (4 * WARP) == group]
            if len(here) < 4 * WARP:
                raise Refuted(f"line {line.line}: a warp group that is not there as a whole")
            for operand, tile in zip(effect.operands, effect.tiles, strict=True):
                values = np.unique(self._values(unit, operand, line)[np.isin(unit.threads, here)])
                if len(values) != 1:
                    raise Refuted(f"line {line.line}: a warp group with several matrices")
                starts, size = find_atoms(int(values[0]), *tile)
                for start in starts:
                    inside = any(
                        base <= start and start + size <= base + self.machine.sizes[name]
                        for name, base in self.machine.bases.items()
                    )
                    if not inside:
                        raise Refuted(f"line {line.line}: reads byte {start}, which is in nothing")
                cells = self.touches.spread(np.array(starts, np.int64), size).ravel()
                self._read_slowly(line, here, cells)

    def _read_slowly(self, line: Instruction, threads: Array, cells: Array) -> None:
        """Let warps read until they have waited; one lane stands for all, which wait together."""
        agents = threads[::WARP]
        self.touches.add(Touch(
            line.line, False, True, np.tile(cells, (len(agents), 1)), agents,
            np.full(len(agents), GOING_ON, np.int32), agents, "product",
            self.groups["product"][agents] + 1,
        ))  # fmt: skip

    # From block to block.

    def _branch(self, unit: Unit) -> None:
        label = unit.label
        last = self.graph.function.blocks[label][-1]
        targets = self.graph.successors[label]
        if len(targets) == 1:
            self._go(unit, targets[0])
            return
        if label not in self.slice.branches:
            self._go(unit, self.graph.meets.get(label, EXIT))
            return
        ways = self._find_ways(unit, last)
        if len(ways) == 1:
            self._go(unit, *ways)
        else:
            self._part(unit, ways)

    def _find_ways(self, unit: Unit, last: Instruction) -> dict[str, Array]:
        """Which of the threads of a unit go which way."""
        value = self._values(unit, last.operands[0], last)
        default, *labels = last.labels
        numbers = [operand.number % (1 << operand.type.bits) for operand in last.operands[1:]]
        if last.op == "br":
            labels, numbers = [*labels], [0]
        ways: dict[str, Array] = {}
        rest = np.ones(len(value), bool)
        for number, label in zip(numbers, labels, strict=True):
            here = value == number
            ways[label] = ways.get(label, np.zeros(len(value), bool)) | here
            rest &= ~here
        ways[default] = ways.get(default, np.zeros(len(value), bool)) | rest
        return {label: unit.threads[here] for label, here in ways.items() if here.any()}

    def _part(self, unit: Unit, ways: dict[str, Array]) -> None:
        """Let threads go different ways."""
        meet = self.graph.meets.get(unit.label, EXIT)
        parent = unit.parent
        if parent is None or unit.stop != meet:
            parent = unit
        else:
            parent.parts -= 1
        self.rest.remove(unit)
        parent.parts += len(ways)
        for way, threads in ways.items():
            part = Unit(threads, unit.label, 0, dict(unit.environment), meet, parent)
            self.rest.append(part)
            self._go(part, way)

    def _go(self, unit: Unit, target: str) -> None:
        """Take a unit to a block."""
        for name, value in self._edge(unit, target).items():
            unit.environment[name] = value
        unit.label, unit.step = target, 0
        if target != unit.stop and target != EXIT:
            return
        if target == EXIT and unit.stop != EXIT:
            raise Refuted("threads end where others go on")
        self._leave(unit, target)

    def _meet(self, parent: Unit, target: str) -> None:
        """Let threads go on together."""
        environment = parent.met[0][1]
        for others, other in parent.met[1:]:
            environment = self._merge(environment, other, others)
        parent.met = []
        parent.environment = environment
        parent.label, parent.step = target, 0
        self.rest.append(parent)
        if target in (EXIT, parent.stop):
            self._leave(parent, target)

    def _leave(self, unit: Unit, target: str) -> None:
        """Let a unit that is where it meets others wait for them, or end."""
        self.rest.remove(unit)
        parent = unit.parent
        if parent is None:
            return
        parent.met.append((unit.threads, unit.environment))
        parent.parts -= 1
        if parent.parts == 0:
            self._meet(parent, target)

    def _merge(self, first: Environment, second: Environment, others: Array) -> Environment:
        """What threads know, of which some know what is in the second environment."""
        merged = dict(first)
        for name, value in second.items():
            old = first.get(name)
            if old is value or (isinstance(old, int) and isinstance(value, int) and old == value):
                continue
            if old is None or isinstance(old, Unknown) or isinstance(value, Unknown):
                merged[name] = value if old is None else Unknown(varied=True)
                continue
            both = pick(old, None, self.machine.threads).copy()
            both[others] = pick(value, others, self.machine.threads)
            merged[name] = both
        return merged

    def _edge(self, unit: Unit, target: str) -> Environment:
        """What the values that are chosen by the way to a block are."""
        if target == EXIT:
            return {}
        values = self.machine.values
        return {
            line.name: values.operand(line.operands[line.labels.index(unit.label)],
                                      unit.environment)
            for line in self.slice.steps[target]
            if line.op == "phi" and unit.label in line.labels
        }  # fmt: skip
