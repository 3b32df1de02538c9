"""Write index expressions as affine ones, where they are."""

from __future__ import annotations

from collections.abc import Mapping

from oracles.sync.expressions import THREAD, Binary, Condition, Expression, Name, Number, names
from oracles.sync.programs import Loop


class AffinePrinter:
    """Writes expressions of the values of names; iterations count only if their loop is affine."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self.iterations = {THREAD, *values}

    def is_affine(self, expression: Expression) -> bool:
        """Tell whether an expression can be written."""
        match expression:
            case Number():
                return True
            case Name(name):
                return name in self.iterations
            case Binary("+" | "-", left, right):
                return self.is_affine(left) and self.is_affine(right)
            case Binary("*" | "//" | "%", left, Number()):
                return self.is_affine(left)
            case _:
                return False

    def has_loop(self, loop: Loop) -> bool:
        """Tell whether a loop can be written: its counter, from bounds that can be."""
        return self.is_affine(loop.start) and self.is_affine(loop.end)

    def inline(self, expression: Expression) -> str:
        """Return an expression of values."""
        return self._write(expression, self.values)

    def bound(self, expression: Expression) -> str:
        """Return an expression as the bound of a loop."""
        if isinstance(expression, Number):
            return str(expression.value)
        operands = list(dict.fromkeys(names(expression)))
        dimensions = {name: f"d{number}" for number, name in enumerate(operands)}
        written = self._write(expression, dimensions)
        values = ", ".join(self.values[name] for name in operands)
        return f"affine_map<({', '.join(dimensions.values())}) -> ({written})>({values})"

    def has_set(self, condition: Condition) -> bool:
        """Tell whether a comparison can be written."""
        sides = (condition.left, condition.right)
        return condition.relation != "!=" and all(map(self.is_affine, sides))

    def set(self, condition: Condition) -> str:
        """Return a comparison as an integer set, of values."""
        operands = list(dict.fromkeys(names(condition)))
        dimensions = {name: f"d{number}" for number, name in enumerate(operands)}
        left, right = (self._write(s, dimensions) for s in (condition.left, condition.right))
        constraint = {
            "<": f"{right} - ({left}) - 1 >= 0",
            ">=": f"{left} - ({right}) >= 0",
            "==": f"{left} - ({right}) == 0",
        }[condition.relation]
        values = ", ".join(self.values[name] for name in operands)
        return f"affine_set<({', '.join(dimensions.values())}) : ({constraint})>({values})"

    def _write(self, expression: Expression, values: Mapping[str, str]) -> str:
        match expression:
            case Number(value):
                return str(value)
            case Name(name):
                return values[name]
            case Binary(kind, left, right):
                symbol = {"//": "floordiv", "%": "mod"}.get(kind, kind)
                return f"({self._write(left, values)} {symbol} {self._write(right, values)})"
