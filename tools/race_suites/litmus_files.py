"""Reads litmus tests for PTX as Dat3M has them: a column of instructions for each thread."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from oracles.litmus.notation import Condition, Instruction, Litmus, Operand, Term

_THREAD = re.compile(r"P\d+\s*@\s*cta\s*(\d+)\s*,\s*gpu\s*(\d+)")
_TERM = re.compile(r"P?(\d+)\s*:\s*(\w+)|(\w+)")
_ALIAS = re.compile(r"(\w+)\s*@\s*(\w+)\s+aliases\s+(\w+)")
_QUANTIFIERS = {"exists": "sometimes", "~exists": "never", "forall": "always"}
EXPECTED = "dartagnan/src/test/resources"


def find_verdicts(folder: Path) -> dict[Path, dict[str, bool]]:
    """Return what Dat3M expects of the tests in its folder, by versions of PTX's model."""
    return _read_tables(folder, "")


def find_endings(folder: Path) -> dict[Path, dict[str, bool]]:
    """Return whether Dat3M expects that all threads end, likewise."""
    return _read_tables(folder, "-Liveness")


def _read_tables(folder: Path, kind: str) -> dict[Path, dict[str, bool]]:
    verdicts: dict[Path, dict[str, bool]] = {}
    for version, name in (("60", "PTXv6_0"), ("75", "PTXv7_5")):
        table = folder / EXPECTED / f"{name}{kind}-expected.csv"
        with table.open() as lines:
            for path, verdict in filter(None, csv.reader(lines)):
                verdicts.setdefault(folder / path, {})[version] = verdict.strip() == "1"
    return verdicts


def read_file(path: Path, name: str, verdicts: dict[str, bool]) -> Litmus:
    """Read a test. Raises ValueError if it is not understood."""
    text = re.sub(r'"[^"]*"', "", path.read_text())
    head, _, rest = text.partition("{")
    initial, _, rest = rest.partition("}")
    end = re.search(r"(~exists|exists|forall)\b", rest)
    if not end or not head.strip().startswith("PTX"):
        raise ValueError(f"{path.name} is no litmus test for PTX")
    litmus = Litmus(name, verdicts)
    _read_initial(litmus, initial)
    _read_columns(litmus, rest[: end.start()])
    litmus.quantifier = _QUANTIFIERS[end[1]]  # type: ignore[assignment]
    litmus.condition = _Conditions(rest[end.end() :]).read()
    return litmus


def _read_initial(litmus: Litmus, text: str) -> None:
    for item in filter(None, (it.strip() for it in text.split(";"))):
        if alias := _ALIAS.fullmatch(item):
            name, proxy, other = alias.groups()
            litmus.aliases[name] = proxy, other  # type: ignore[assignment]
            continue
        place, _, value = (it.strip() for it in item.partition("="))
        if ":" in place:
            thread, _, register = place.partition(":")
            litmus.registers[int(thread.strip().lstrip("P")), register.strip()] = int(value)
        else:
            litmus.initial[place] = int(value)


def _read_columns(litmus: Litmus, text: str) -> None:
    heading, *rows = [row for row in (it.strip() for it in text.split(";")) if row]
    litmus.places = [(int(block), int(gpu)) for block, gpu in _THREAD.findall(heading)]
    columns: list[list[Instruction]] = [[] for _ in litmus.places]
    for row in rows:
        for column, cell in zip(columns, row.split("|"), strict=True):
            if cell.strip():
                column.append(_read_instruction(cell.strip()))
    litmus.threads = [tuple(column) for column in columns]


_PROXIED = {"sust": "st", "suld": "ld", "tld": "ld", "cold": "ld"}


def _read_instruction(text: str) -> Instruction:
    if text.endswith(":"):
        return Instruction("label", place=text[:-1])
    word, _, rest = text.partition(" ")
    operands = [it.strip() for it in rest.split(",") if it.strip()]
    name, *marks = word.split(".")
    name = _PROXIED.get(name, name)
    if name == "goto":
        return Instruction("goto", place=operands[0])
    if name in ("beq", "bne"):
        first, second, target = operands
        sign = "==" if name == "beq" else "!="
        return Instruction("if", sign, place=target, operands=(first, _operand(second)))
    if name == "bar":
        kind = "arrive" if marks[-1] == "arrive" else "bar"
        return Instruction(kind, operands=tuple(map(_operand, operands)))
    if name == "fence":
        if marks[0] == "proxy":
            return Instruction("fence", "proxy", place=marks[1])
        return Instruction("fence", marks[0], marks[1])
    if name in ("add", "mov") or (name == "ld" and not marks):
        return Instruction("mov", result=operands[0], operands=tuple(map(_operand, operands[1:])))
    scope = marks[1] if len(marks) > 1 else "sys"
    if name == "st":
        return Instruction("st", marks[0], scope, "", operands[0], (_operand(operands[1]),))
    if name == "ld":
        return Instruction("ld", marks[0], scope, operands[0], operands[1])
    if name in ("atom", "red"):
        register = operands.pop(0) if name == "atom" else ""
        place, *values = operands
        return Instruction(marks[2], marks[0], scope, register, place, tuple(map(_operand, values)))
    raise ValueError(f"'{text}' is not understood")


def _operand(text: str) -> Operand:
    return int(text) if re.fullmatch(r"-?\d+", text) else text


class _Conditions:
    """Reads a condition into a disjunction of conjunctions."""

    def __init__(self, text: str) -> None:
        self._tokens = re.findall(r"/\\|\\/|==|!=|=|\(|\)|P?\d+\s*:\s*\w+|-?\w+", text)

    def read(self) -> Condition:
        """Read all of it."""
        condition = self._any()
        if self._tokens:
            raise ValueError(f"'{' '.join(self._tokens)}' follows a condition")
        return condition

    def _any(self) -> Condition:
        found = self._all()
        while self._tokens and self._tokens[0] == "\\/":
            self._tokens.pop(0)
            found = (*found, *self._all())
        return found

    def _all(self) -> Condition:
        found = self._one()
        while self._tokens and self._tokens[0] == "/\\":
            self._tokens.pop(0)
            others = self._one()
            found = tuple((*a, *b) for a in found for b in others)
        return found

    def _one(self) -> Condition:
        if self._tokens[0] == "(":
            self._tokens.pop(0)
            found = self._any()
            self._tokens.pop(0)
            return found
        name, sign, value = (self._tokens.pop(0) for _ in range(3))
        return ((_make_term(name, sign != "!=", value),),)


def _make_term(name: str, is_equal: bool, value: str) -> Term:
    thread, register = _split(name)
    if ":" in value:
        return Term(thread, register, is_equal, 0, _split(value))
    return Term(thread, register, is_equal, int(value))


def _split(name: str) -> tuple[int, str]:
    thread, _, register = name.rpartition(":")
    return (int(thread.strip().lstrip("P")), register.strip()) if thread else (-1, name)
