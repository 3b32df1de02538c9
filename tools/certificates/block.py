"""What threads of a block do to memory and to each other, one instruction at a time.

What is beside the threads, units that work by themselves, goes on until somebody waits for it.
"""

from __future__ import annotations

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
from certificates.values import Array, Environment, Unknown, pick

KINDS = ("copy", "product", "store")
"""What goes on by itself until a thread waits for groups of it."""
_COMMITS = {"commit products": "product", "commit stores": "store"}
_WAITS = {"wait products": "product", "wait stores": "store"}


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


class Block:
    """A block of threads, and its workgroup memory.

    ``boxes``: the bytes that a transfer by each tensor map brings. ``groups``: of what goes on by
    itself, how many each thread has closed. ``last``: the barrier of the block that each thread was
    at last. ``moved``: whether something has happened.
    """

    def __init__(self, machine: Machine, boxes: Mapping[str, int]) -> None:
        self.machine, self.boxes = machine, boxes
        count = machine.threads
        self.clocks = Clocks(count)
        self.touches = Touches(machine.size, self._find_grain(), self.clocks)
        self.groups = {what: np.zeros(count, np.int64) for what in KINDS}
        self.last = np.full(count, START)
        self.moved = False

    def _find_grain(self) -> int:
        sizes = [each.size for each in self.machine.effects.lines.values()
                 if isinstance(each, Access)]  # fmt: skip
        return min([8, *sizes])

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
        outside = self.machine.find_outside(at, size, variables)
        if len(outside):
            raise Refuted(f"line {line.line}: byte {outside[0]} is not in {sorted(variables)}")

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
                at = np.array(starts, np.int64)
                if len(outside := self.machine.find_outside(at, size, self.machine.bases)):
                    raise Refuted(f"line {line.line}: reads byte {outside[0]}, which is in nothing")
                cells = self.touches.spread(at, size).ravel()
                self._read_slowly(line, here, cells)

    def _read_slowly(self, line: Instruction, threads: Array, cells: Array) -> None:
        """Let warps read until they have waited; one lane stands for all, which wait together."""
        agents = threads[::WARP]
        self.touches.add(Touch(
            line.line, False, True, np.tile(cells, (len(agents), 1)), agents,
            np.full(len(agents), GOING_ON, np.int32), agents, "product",
            self.groups["product"][agents] + 1,
        ))  # fmt: skip
