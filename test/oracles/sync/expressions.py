"""Index expressions of kernels: of the thread, the iterations of loops, and arguments.

They are evaluated for all threads at once, and read from text such as ``(t + i) % 64``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Operator = Literal["+", "-", "*", "//", "%", "^", "&", "<<", ">>"]
Relation = Literal["<", ">=", "==", "!="]

THREAD = "t"


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: int

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Name:
    """The thread (`t`), the iteration of a loop, or an argument of the kernel."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Binary:
    """An operation on what is never negative, with a result that is never negative."""

    operator: Operator
    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"({self.left} {self.operator} {self.right})"


Expression = Number | Name | Binary


@dataclass(frozen=True)
class Condition:
    """A comparison."""

    relation: Relation
    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


_OPERATIONS: dict[Operator, Callable[[Integers, Integers], Integers]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "^": operator.xor,
    "&": operator.and_,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
_RELATIONS: dict[Relation, Callable[[Integers, Integers], npt.NDArray[np.bool_]]] = {
    "<": operator.lt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def evaluate(expression: Expression, values: Mapping[str, Integers]) -> Integers:
    """Return the value for each thread."""
    match expression:
        case Number(value):
            return np.full_like(values[THREAD], value)
        case Name(name):
            return values[name]
        case Binary(kind, left, right):
            return _OPERATIONS[kind](evaluate(left, values), evaluate(right, values))


def holds(condition: Condition, values: Mapping[str, Integers]) -> npt.NDArray[np.bool_]:
    """Return for which threads a condition holds."""
    compare = _RELATIONS[condition.relation]
    return compare(evaluate(condition.left, values), evaluate(condition.right, values))


def names(expression: Expression | Condition) -> Iterator[str]:
    """Yield the names in an expression."""
    match expression:
        case Name(name):
            yield name
        case Binary(_, left, right) | Condition(_, left, right):
            yield from names(left)
            yield from names(right)
        case Number():
            pass


# --- text -----------------------------------------------------------------------------------------

_SYMBOLS: dict[type[ast.AST], Operator] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
_COMPARISONS: dict[type[ast.AST], Relation] = {
    ast.Lt: "<",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def parse_expression(text: str) -> Expression:
    """Read an expression."""
    return _expression(ast.parse(text.strip(), mode="eval").body)


def parse_condition(text: str) -> Condition:
    """Read a comparison."""
    match ast.parse(text.strip(), mode="eval").body:
        case ast.Compare(left, [relation], [right]):
            return Condition(_COMPARISONS[type(relation)], _expression(left), _expression(right))
        case _:
            raise ValueError(f"not a comparison: {text}")


def _expression(tree: ast.expr) -> Expression:
    match tree:
        case ast.Constant(int(value)):
            return Number(value)
        case ast.Name(name):
            return Name(name)
        case ast.BinOp(left, kind, right):
            return Binary(_SYMBOLS[type(kind)], _expression(left), _expression(right))
        case _:
            raise ValueError(f"not an index expression: {ast.unparse(tree)}")
