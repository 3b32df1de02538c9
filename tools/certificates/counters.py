"""Counters of rounds, which nothing depends on but how many rounds there are.

A later moment is compared with an earlier one: what the launch decides is to be less by its shift,
and each value by its own. Where that leads from there on is found from instruction to instruction:
in the end no address, number or comparison may tell a difference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from certificates.asynchronous import Async
from certificates.effects import Access
from certificates.graph import EXIT, Graph
from certificates.ir import Instruction, Operand
from certificates.launch import Terms
from certificates.slices import Slice, operands_of, registers


@dataclass(frozen=True, slots=True)
class Shift:
    """By how much a value is greater.

    ``signs``: as what it does not overflow, `u` without and `s` with a sign; ``moved``: whether it
    is made of something of the launch that is greater; ``width``: bits that are sure, from the
    lowest one.
    """

    amount: int = 0
    signs: frozenset[str] = frozenset("su")
    moved: bool = False
    width: int = 64

    def join(self, other: Shift, amount: int, signs: frozenset[str]) -> Shift:
        """That of something made of both."""
        return Shift(amount, self.signs & other.signs & signs, self.moved or other.moved,
                     min(self.width, other.width))  # fmt: skip


_ALIKE = Shift()


@dataclass(slots=True)
class Moment:
    """A block at some time.

    ``places``: blocks of code that threads are in, or will be, and at what step; ``numbers``:
    values that all threads of a unit have, ``others``: names of those that they do not; ``limits``:
    of what the launch decides.
    """

    places: dict[str, int] = field(default_factory=dict)
    numbers: dict[tuple[int, str], tuple[Terms, int]] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)
    limits: dict[Terms, tuple[int, int]] = field(default_factory=dict)

    def add_place(self, label: str, step: int) -> None:
        """Note where threads go on."""
        self.places[label] = min(step, self.places.get(label, step))


class _Differs(Exception):
    """Something else may happen than before."""


class Counters:
    """The counters of a kernel."""

    def __init__(self, graph: Graph, slice: Slice) -> None:
        self.graph, self.slice = graph, slice

    def agree(self, before: Moment, now: Moment) -> bool:
        """Whether the same happens from now on as before, for each launch that may be now."""
        if not before.limits.keys() <= now.limits.keys():
            return False
        shifts = _find_shifts(before, now)
        for terms, (low, high) in before.limits.items():
            least, greatest = now.limits[terms]
            moved = sum(count * shifts.get(name, 0) for name, count in terms)
            if least - moved < low or greatest - moved > high:
                return False
        values = dict.fromkeys(now.others, _ALIKE)
        for (number, name), (terms, constant) in now.numbers.items():
            old_terms, old = before.numbers[number, name]
            moved = sum(count * shifts.get(term, 0) for term, count in terms)
            if terms != old_terms or (not terms and (constant < 0) != (old < 0)):
                return False
            is_launch = any(term in shifts for term, _ in terms)
            shift = Shift(constant - old + moved, moved=is_launch)
            if values.setdefault(name, shift) != shift:
                return False
        if all(shift == _ALIKE for shift in values.values()):
            return True
        try:
            self._spread(values, self._find_rest(now.places))
        except _Differs:
            return False
        return True

    def _find_rest(self, places: Mapping[str, int]) -> dict[str, list[Instruction]]:
        """The instructions that threads may still come to."""
        again: set[str] = set()
        rest = list(places)
        while rest:
            for target in self.graph.successors[rest.pop()]:
                if target != EXIT and target not in again:
                    again.add(target)
                    rest.append(target)
        return {
            label: self.slice.steps[label][0 if label in again else places[label] :]
            for label in self.graph.order
            if label in again or label in places
        }

    def _spread(self, values: dict[str, Shift], rest: Mapping[str, list[Instruction]]) -> None:
        """Find how much greater each value will be; raises _Differs where that tells."""
        lines = [line for steps in rest.values() for line in steps if line.name in self.slice.names]
        changed = True
        while changed:
            changed = False
            for line in lines:
                shift, old = self._follow(line, values, rest), values.get(line.name)
                if shift is not None:
                    values[line.name] = shift if old is None else _merge([old, shift])
                    changed |= values[line.name] != old
        if any(line.name not in values for line in lines):
            raise _Differs
        for label, steps in rest.items():
            for line in steps:
                effect = self.slice.effects.of(line)
                if isinstance(effect, Access | Async):
                    self._expect_alike(registers(operands_of(effect)), values)
            if label in self.slice.branches:
                last = self.graph.function.blocks[label][-1]
                self._expect_alike(registers(last.operands), values)

    def _expect_alike(self, names: set[str], values: Mapping[str, Shift]) -> None:
        if any(values.get(name) != _ALIKE for name in names):
            raise _Differs

    def _follow(
        self, line: Instruction, values: Mapping[str, Shift], rest: Mapping[str, object]
    ) -> Shift | None:
        """How much greater the result of an instruction is; None while that is not known."""
        if line.op == "phi":
            known = [
                shift
                for operand, source in zip(line.operands, line.labels, strict=True)
                if source in rest and (shift := _shift_of(operand, values)) is not None
            ]
            return _merge(known) if known else None
        shifts = [_shift_of(operand, values) for operand in line.operands]
        known = [shift for shift in shifts if shift is not None]
        if len(known) < len(shifts):
            return None
        if all(shift == _ALIKE for shift in known):
            return _ALIKE
        shift = _compare(line, known) if line.op == "icmp" else _compute(line, known)
        is_same = shift.amount == 0 and not shift.moved and shift.width >= line.type.bits
        return _ALIKE if is_same else shift


def _find_shifts(before: Moment, now: Moment) -> dict[str, int]:
    """By how much what the launch decides is to be less than now, to be as before."""
    shifts: dict[str, int] = {}
    for terms, (low, _) in sorted(before.limits.items(), key=lambda pair: len(pair[0])):
        least = now.limits[terms][0]
        moved = least - low - sum(count * shifts.get(name, 0) for name, count in terms)
        free = [name for name, count in terms if count == 1 and name not in shifts]
        if moved and free:
            shifts[free[-1]] = moved
    return shifts


def _shift_of(operand: Operand, values: Mapping[str, Shift]) -> Shift | None:
    if operand.kind == "register":
        return values.get(operand.name)
    names = registers([operand])
    return _ALIKE if all(values.get(name) == _ALIKE for name in names) else None


def _merge(shifts: list[Shift]) -> Shift:
    """That of a value that is one of some."""
    merged = shifts[0]
    for shift in shifts[1:]:
        if shift.amount != merged.amount:
            raise _Differs
        merged = merged.join(shift, shift.amount, shift.signs)
    return merged


def _compare(line: Instruction, shifts: list[Shift]) -> Shift:
    """What a comparison of values says is the same, if both are greater by as much."""
    signs = shifts[0].signs & shifts[1].signs
    is_exact = line.flag in ("eq", "ne") or line.flag[0] in signs
    width = line.operands[0].type.bits
    if shifts[0].amount != shifts[1].amount or not is_exact or shifts[0].width < width:
        raise _Differs
    if shifts[1].width < width:
        raise _Differs
    return _ALIKE


def _compute(line: Instruction, shifts: list[Shift]) -> Shift:
    """That of the result of an operation."""
    op, first = line.op, shifts[0]
    flags = frozenset(sign for sign, word in (("u", "nuw"), ("s", "nsw")) if word in line.words)
    if op in ("add", "sub"):
        other = shifts[1]
        sign = 1 if op == "add" else -1
        return first.join(other, first.amount + sign * other.amount, flags)
    if op == "select" and first == _ALIKE:
        return _merge(shifts[1:])
    if op == "freeze":
        return first
    bits = line.operands[0].type.bits
    if op in ("trunc", "zext", "sext"):
        is_exact = {"zext": "u", "sext": "s"}.get(op, "") in first.signs
        signs = {"zext": "su", "sext": "s"}[op] if is_exact else ""
        width = first.width if is_exact else min(first.width, bits, line.type.bits)
        return replace(first, signs=frozenset(signs), width=width)
    if re.fullmatch(r"@llvm\.[us](min|max)\.i\d+", line.callee):
        if all(line.callee[6] in shift.signs and shift.width >= bits for shift in shifts):
            return _merge(shifts)
        raise _Differs
    if shifts[-1] != _ALIKE or line.operands[-1].kind != "int" or first.moved:
        raise _Differs
    return _compute_with(line, first, line.operands[-1].number, flags)


def _compute_with(line: Instruction, first: Shift, constant: int, flags: frozenset[str]) -> Shift:
    """That of the result of an operation with a constant."""
    op, bits = line.op, line.type.bits
    if op in ("mul", "shl") and constant > 0:
        factor = constant if op == "mul" else 1 << constant
        return first.join(_ALIKE, first.amount * factor, flags)
    size = {"lshr": 1 << max(constant, 0), "and": 1 << constant.bit_length()}.get(op, constant)
    if constant < 0 or size <= 0 or first.amount % size:
        raise _Differs
    is_power = size & (size - 1) == 0 and size <= 1 << min(first.width, bits)
    if op in ("and", "urem") and is_power:
        return _ALIKE
    if "u" in first.signs and first.width >= bits:
        if op in ("udiv", "lshr"):
            return Shift(first.amount // size)
        if op == "urem":
            return _ALIKE
    if op in ("udiv", "lshr") and is_power:
        width = min(first.width, bits) - (size.bit_length() - 1)
        return Shift(first.amount // size, frozenset(), width=width)
    raise _Differs
