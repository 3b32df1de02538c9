"""Addresses as a certificate states them: `@buffer + 144 * (tid.x >> 3) + 4 * %k`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from certificates.cells import Refuted
from certificates.ir import Instruction, Operand, Type
from certificates.values import DIVERGENT, Environment, Value, binary

_NAME = re.compile(r'[%@]"[^"]*"|[%@][\w.$-]+|tid\.[xyz]')
_OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.RShift: "lshr",
    ast.FloorDiv: "udiv",
    ast.Mod: "urem",
}
_WORD = 1 << 64


class Formula:
    """A formula of integers of 64 bits; raises Refuted if it is none."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: list[str] = []
        try:
            # A remainder has spaces around its sign, a value has its name behind it.
            self.tree = ast.parse(_NAME.sub(self._take, text), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Refuted(f"{text[:80]!r} is no formula") from error

    def _take(self, match: re.Match[str]) -> str:
        self.names.append(match[0])
        return f"v{len(self.names) - 1}"

    def evaluate(self, environment: Environment, fixed: Mapping[str, Value]) -> Value:
        """What it is, where values are known; `fixed`: ids and the addresses of variables."""
        values = [
            fixed[name] if name in fixed else environment.get(name, DIVERGENT)
            for name in self.names
        ]
        return self._compute(self.tree, values)

    def _compute(self, node: ast.expr, values: list[Value]) -> Value:
        if isinstance(node, ast.Name):
            return values[int(node.id[1:])]
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value % _WORD
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
            first, second = (self._compute(part, values) for part in (node.left, node.right))
            return binary(_OPERATIONS[type(node.op)], first, second, 64)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return binary("sub", 0, self._compute(node.operand, values), 64)
        raise Refuted(f"{self.text[:80]!r} has something that no formula has")


Sums = dict[str, int]
"""A sum of multiples of terms, by the text of each; that of the constant is empty."""

_DEPTH, _TERMS = 24, 12
_SIGNS = {"and": "&", "or": "|", "xor": "^", "lshr": ">>", "udiv": "//", "urem": "%"}
_OVERFLOWING = ("add", "sub", "mul", "shl")


def _add(to: Sums, sums: Sums, factor: int) -> None:
    for term, count in sums.items():
        to[term] = (to.get(term, 0) + count * factor) % _WORD
        if to[term] == 0:
            del to[term]


def _print(sums: Sums) -> str:
    text = ""
    for term in sorted(sums, key=lambda term: (not term, not term.startswith("@"), term)):
        count = sums[term] if sums[term] < _WORD // 2 else sums[term] - _WORD
        text += "" if not text else " - " if count < 0 else " + "
        text += "-" if not text and count < 0 else ""
        if not term:
            text += str(abs(count))
        else:
            text += (f"{abs(count)} * " if abs(count) != 1 else "") + term
    return text or "0"


def _enclose(sums: Sums) -> str:
    text = _print(sums)
    is_term = len(sums) == 1 and "" not in sums and 1 in sums.values()
    return f"({text})" if " " in text and not is_term else text


class Writer:
    """Writes the formulas of addresses, in the normal form of docs/certificates.md.

    ``named``: the values that stand for themselves in them.
    """

    def __init__(self, definitions: Mapping[str, Instruction]) -> None:
        self.definitions = definitions
        self.named: dict[str, None] = {}

    def write(self, operand: Operand) -> str:
        """The formula of a pointer."""
        return _print(self._expand(operand, 0))

    def _name(self, operand: Operand) -> str:
        line = self.definitions.get(operand.name)
        if line is not None and line.op == "call" and "sreg.tid." in line.callee:
            return line.callee.split("sreg.")[1]
        self.named[operand.name] = None
        return operand.name

    def _expand(self, operand: Operand, depth: int) -> Sums:
        if operand.kind == "int" and operand.type.kind == "int" and operand.type.bits <= 64:
            number = operand.number % (1 << operand.type.bits)
            return {"": number} if number else {}
        if depth < _DEPTH:
            found = None
            if operand.type.kind == "ptr":
                found = self._expand_pointer(operand, depth)
            elif operand.type.kind == "int" and operand.kind == "register":
                found = self._expand_operation(self.definitions.get(operand.name), depth)
            if found is not None:
                return found
        return {self._name(operand): 1}

    def _expand_pointer(self, operand: Operand, depth: int) -> Sums | None:
        if operand.kind == "expression":
            op, parts, base = operand.name, operand.parts, operand.base
        else:
            line = self.definitions.get(operand.name)
            if line is None:
                return None
            op, parts, base = line.op, line.operands, line.base
        if op == "addrspacecast":
            return self._expand(parts[0], depth + 1)
        if op != "getelementptr" or base is None:
            return None
        variable: dict[Operand, int] = {}
        constant = 0
        type: Type = base
        for number, index in enumerate(parts[1:]):
            if number > 0 and type.kind == "struct":
                constant += type.offset(index.number)
                type = type.parts[index.number]
                continue
            if number > 0:
                type = type.parts[0]
            if index.kind == "int":
                constant += index.number * type.stride
            else:
                variable[index] = variable.get(index, 0) + type.stride
        sums = self._expand(parts[0], depth + 1)
        for index, factor in variable.items():
            is_word = index.type.bits == 64
            _add(
                sums, self._expand(index, depth + 1) if is_word else {self._name(index): 1}, factor
            )
        _add(sums, {"": 1}, constant)
        return sums

    def _expand_operation(self, line: Instruction | None, depth: int) -> Sums | None:
        """Expand an operation of integers; None if it stands for itself."""
        if line is None:
            return None
        op = line.op
        if op in _OVERFLOWING and line.type.bits != 64 and "nuw" not in line.words:
            return None
        if op == "zext":
            return self._expand(line.operands[0], depth + 1)
        if op not in _SIGNS and op not in _OVERFLOWING:
            return None
        first, second = (self._expand(operand, depth + 1) for operand in line.operands)
        sums: Sums = {}
        if op in ("add", "sub") or (op == "or" and "disjoint" in line.words):
            sums = first
            _add(sums, second, -1 if op == "sub" else 1)
        elif op in ("mul", "shl"):
            if second and [*second] != [""]:
                return None
            factor = second.get("", 0)
            if op == "shl" and factor > 63:
                return None
            _add(sums, first, 1 << factor if op == "shl" else factor)
        else:
            sums = {f"({_enclose(first)} {_SIGNS[op]} {_enclose(second)})": 1}
        return sums if len(sums) <= _TERMS else None
