"""Blocks whose threads hand memory over by mbarriers, or by barriers of part of the block.

Threads that go the same way go together, until they part; parts run on by turns, and those that
parted at a branch go on together where its ways meet. One order of turns is followed. That each
other order does the same is what `clocks` checks: so nothing may depend on what only the launch or
memory knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

from certificates.asynchronous import Async
from certificates.block import Block, Unit
from certificates.cells import WARP, Refuted
from certificates.effects import Access, Order
from certificates.graph import EXIT
from certificates.ir import Instruction, NotUnderstood
from certificates.launch import Launch, Symbol
from certificates.machine import Machine
from certificates.values import (
    UNIFORM,
    Array,
    Environment,
    Unknown,
    Value,
    limits_of,
    pick,
    same,
)

STEPS = 2_000_000
"""The instructions that are followed before it is too much."""
_PART = re.compile(r"extractvalue \{ i32, i1 \} (%\S+), ([01])")


class Units(Block):
    """The units of a block in one launch.

    Its threads begin together.
    """

    def __init__(self, machine: Machine, boxes: Mapping[str, int], launch: Launch) -> None:
        super().__init__(machine, boxes)
        self.launch = launch
        self.slice, self.graph = machine.slice, machine.graph
        parameters: Environment = {
            name: launch.name(name, *limits_of(UNIFORM, type.bits))
            if type.kind == "int"
            else UNIFORM
            for name, type in machine.graph.function.parameters.items()
        }
        self.rest = [Unit(machine.everybody, machine.graph.entry, 0, parameters)]

    def bits_of(self, name: str) -> int:
        """The width of a value; 64 of an address."""
        made = self.machine.effects.definitions.get(name)
        type = made.type if made else self.graph.function.parameters[name]
        return type.bits or 64

    def run(self, is_known: Callable[[Units], bool]) -> None:
        """Follow all threads to their ends; raises Refuted where they race or wait for ever.

        `is_known` says of a block whether it has been followed from there on.
        """
        asked = 0
        while self.rest:
            if asked != len(self.launch.answers):
                asked = len(self.launch.answers)
                if asked >= len(self.launch.script) and is_known(self):
                    return
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
        """Let a unit go on until it waits, has asked something of the launch, or is no more."""
        asked = len(self.launch.answers)
        while unit in self.rest:
            steps = self.slice.steps[unit.label]
            while unit.step < len(steps):
                if asked != len(self.launch.answers) or not self._step(unit, steps[unit.step]):
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
        values = self.machine.values
        operands = [values.operand(operand, unit.environment) for operand in line.operands]
        if line.op == "icmp" and any(isinstance(each, Symbol) for each in operands):
            answer = self.launch.decide(line, operands)
            if answer is not None:
                return int(answer)
        value = values.instruction(line, unit.environment)
        return self.launch.evaluate(line, operands, value) if isinstance(value, Unknown) else value

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
        steps = self.slice.steps.get(target, [])
        unit.environment |= self.machine.values.choose(steps, unit.label, unit.environment)
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
            if old is value or (old is not None and same(old, value)):
                continue
            if old is None or isinstance(old, Unknown) or isinstance(value, Unknown):
                merged[name] = value if old is None else Unknown(varied=True)
                continue
            both = pick(old, None, self.machine.threads).copy()
            both[others] = pick(value, others, self.machine.threads)
            merged[name] = both
        return merged
