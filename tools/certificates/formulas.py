"""Addresses as a certificate states them: `@buffer + 144 * ((tid.x) >> (3)) + 4 * %k`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from certificates.cells import Refuted
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
