"""What only the launch knows, where threads hand memory over by mbarriers.

A value that is made of parameters and ids of blocks is a sum of multiples of terms, and stands for
any number within limits. Where a comparison is not decided by the limits of its difference, both
ways are followed, one after the other, each with the limits that it sets: so all threads that ask
the same are told the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from certificates.ir import Instruction, NotUnderstood
from certificates.values import Unknown, Value, limits_of

Terms = tuple[tuple[str, int], ...]
"""Factors of terms by their names, in the order of these."""
QUESTIONS = 40
"""How often a launch decides something before it is too much."""


class Symbol(Unknown):
    """A sum of terms and a constant: the same for all threads of the block."""

    __slots__ = ("constant", "terms")

    def __init__(self, terms: Terms, constant: int, low: int, high: int) -> None:
        super().__init__(varied=False, low=low, high=high)
        self.terms, self.constant = terms, constant

    def __repr__(self) -> str:
        return f"{self.terms} {self.constant}"


def split(value: Value, bits: int) -> tuple[Terms, int] | None:
    """The terms and the constant of a value that all threads have; None of another one."""
    if isinstance(value, Symbol):
        return value.terms, value.constant
    if isinstance(value, Unknown | np.ndarray):
        return None
    return (), limits_of(value, bits)[0]


def combine(first: tuple[Terms, int], second: tuple[Terms, int], factor: int) -> tuple[Terms, int]:
    """The sum of one and a multiple of another one."""
    sums = dict(first[0])
    for name, count in second[0]:
        sums[name] = sums.get(name, 0) + count * factor
    terms = tuple((name, count) for name, count in sorted(sums.items()) if count)
    return terms, first[1] + second[1] * factor


class Launch:
    """One launch, as far as it has been asked.

    ``limits``: the least and the greatest of sums whose factors have no common divisor, the first
    one positive. ``answers``: what it has decided, the first ones by a script.
    """

    def __init__(self, script: Sequence[bool]) -> None:
        self.script = script
        self.answers: list[bool] = []
        self.limits: dict[Terms, tuple[int, int]] = {}

    def others(self) -> list[list[bool]]:
        """Scripts of the launches that decide otherwise where this one had a choice."""
        return [[*self.answers[:at], not self.answers[at]]
                for at in range(len(self.script), len(self.answers))]  # fmt: skip

    def name(self, name: str, low: int, high: int) -> Symbol:
        """Something that it decides, by its name."""
        terms = ((name, 1),)
        self.limits.setdefault(terms, (low, high))
        return Symbol(terms, 0, low, high)

    def find_limits(self, terms: Terms) -> tuple[int, int]:
        """The least and the greatest that a sum may be."""
        low = high = 0
        for name, count in terms:
            ends = [end * count for end in self.limits[((name, 1),)]]
            low, high = low + min(ends), high + max(ends)
        if not terms:
            return 0, 0
        scale, terms = _scale(terms)
        if terms in self.limits:
            ends = [end * scale for end in self.limits[terms]]
            low, high = max(low, min(ends)), min(high, max(ends))
        return low, high

    def evaluate(self, line: Instruction, values: Sequence[Value], value: Unknown) -> Value:
        """What an instruction makes of values, if it is the same for all threads."""
        bits = line.type.bits
        if value.varied or line.type.kind != "int" or bits > 64:
            return value
        sums = [split(each, operand.type.bits or 64)
                for each, operand in zip(values, line.operands, strict=True)]  # fmt: skip
        known = [each for each in sums if each is not None]
        if len(known) < len(sums):
            return value
        edge = 1 << (bits - 1)
        if line.op == "zext" and limits_of(values[0], bits)[0] >= 0:
            return self._sum(known[0], bits)
        if (made := _add_up(line, known)) is not None:
            low, high = (end + made[1] for end in self.find_limits(made[0]))
            if (-edge <= low and high < edge) or "nsw" in line.words:
                return self._sum(made, bits)
        what = line.callee if line.op == "call" else f"{line.op} {bits}"
        return self.name(f"{what} {known}", *limits_of(value, bits))

    def _sum(self, made: tuple[Terms, int], bits: int) -> Value:
        terms, constant = made
        low, high = (end + constant for end in self.find_limits(terms))
        edge = 1 << (bits - 1)
        if not terms:
            return constant % (1 << bits)
        return Symbol(terms, constant, max(low, -edge), min(high, edge - 1))

    def decide(self, line: Instruction, values: Sequence[Value]) -> bool | None:
        """Whether a comparison is so; None if it is not the launch that decides."""
        bits = line.operands[0].type.bits
        sums = [split(each, bits) for each in values]
        if None in sums or bits > 64:
            return None
        first, second = (each for each in sums if each is not None)
        word = line.flag[-2:]
        if line.flag[0] == "u" and "samesign" not in line.words:
            negative = [self._is_at_most(line, terms, -1 - constant)
                        for terms, constant in (first, second)]  # fmt: skip
            if negative[0] != negative[1]:  # without a sign, what is negative is large
                return negative[0] == (word in ("gt", "ge"))
        if word in ("ge", "gt"):
            first, second, word = second, first, {"ge": "le", "gt": "lt"}[word]
        terms, constant = combine(first, second, -1)
        if word in ("lt", "le"):
            return self._is_at_most(line, terms, -constant - (word == "lt"))
        is_less = self._is_at_most(line, terms, -constant - 1)
        is_equal = not is_less and self._is_at_most(line, terms, -constant)
        return is_equal == (word == "eq")

    def _is_at_most(self, line: Instruction, terms: Terms, most: int) -> bool:
        low, high = self.find_limits(terms)
        if high <= most or low > most:
            return high <= most
        if len(self.answers) == QUESTIONS:
            raise NotUnderstood(f"line {line.line}: what the launch decides has more cases than "
                                "are followed")  # fmt: skip
        at = len(self.answers)
        answer = self.script[at] if at < len(self.script) else False
        self.answers.append(answer)
        scale, plain = _scale(terms)
        least, greatest = self.find_limits(plain)
        if scale > 0:
            edge = most // scale
            least, greatest = (least, edge) if answer else (edge + 1, greatest)
        else:
            edge = -(most // -scale)
            least, greatest = (edge, greatest) if answer else (least, edge - 1)
        self.limits[plain] = (least, greatest)
        return answer


def _scale(terms: Terms) -> tuple[int, Terms]:
    """A common factor of a sum, and what is left without it."""
    scale = math.gcd(*(count for _, count in terms)) * (1 if terms[0][1] > 0 else -1)
    return scale, tuple((name, count // scale) for name, count in terms)


def _add_up(line: Instruction, sums: Sequence[tuple[Terms, int]]) -> tuple[Terms, int] | None:
    """The sum that an instruction makes of sums, if it makes one."""
    op = line.op
    if op in ("freeze", "sext", "trunc"):
        return sums[0]
    if op in ("add", "sub") or (op == "or" and "disjoint" in line.words):
        return combine(sums[0], sums[1], -1 if op == "sub" else 1)
    if op in ("mul", "shl") and not sums[1][0]:
        factor = sums[1][1]
        return combine(((), 0), sums[0], 1 << factor if op == "shl" else factor)
    return None
