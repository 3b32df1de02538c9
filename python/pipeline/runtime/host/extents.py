"""What a function returns, before it runs: extents, as expressions of its arguments.

An expression is an integer, ``("extent", argument, dim)``, ``("argument", n)`` for an argument that
is a number, or an operation on expressions: ``+ - * floordiv ceildiv mod min max``, comparisons
``== != < <= > >=``, and ``("select", condition, then, else)``.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from .plan import Function, Plan, Region, Step

if TYPE_CHECKING:
    from ...records.signature import Argument

Expression = Any

_MEMREF = re.compile(r"memref<(?P<extents>(?:(?:\?|\d+)x)*)(?P<element>[\w<>]+?)(?:, .*)?>")

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "floordiv": operator.floordiv,
    "ceildiv": lambda lhs, rhs: -(-lhs // rhs),
    "mod": operator.mod,
    "min": min,
    "max": max,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_ARITHMETIC = {
    "addi": "+",
    "subi": "-",
    "muli": "*",
    "floordivsi": "floordiv",
    "ceildivsi": "ceildiv",
    "minsi": "min",
    "maxsi": "max",
}

# Of numbers that are not negative, they are the same as others.
_UNSIGNED = {
    "divsi": "floordiv",
    "divui": "floordiv",
    "ceildivui": "ceildiv",
    "remsi": "mod",
    "remui": "mod",
    "minui": "min",
    "maxui": "max",
}

_PREDICATES = {"eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">="}


@dataclass(frozen=True, slots=True)
class Result:
    """What a function returns: a number if there are no ``extents``, or an array.

    ``is_new`` tells that its memory is nothing else: no argument, constant or other result.
    """

    element_type: str
    extents: tuple[Expression, ...] | None
    is_new: bool


def find_results(plan: Plan, name: str, arguments: Sequence[Argument]) -> tuple[Result, ...]:
    """Return what a function of the plan returns.

    Raises UsageError if an extent follows from more than the extents and numbers of its arguments.
    """
    function = plan.functions[name]
    assert function.body is not None
    scope = _Scope(plan, function, [_Given(n, argument) for n, argument in enumerate(arguments)])
    operands = function.body.steps[-1].fields["args"] if function.body.steps else []
    results = []
    roots = [scope.root(operand) for operand in operands]
    for kind, operand, root in zip(function.results, operands, roots, strict=True):
        found = _MEMREF.fullmatch(kind)
        if found is None:
            results.append(Result(kind, None, is_new=True))
            continue
        is_new = root is not None and roots.count(root) == 1
        extents = _find_extents(found["extents"], scope, operand)
        results.append(Result(found["element"], extents, is_new))
    return tuple(results)


def _find_extents(text: str, scope: _Scope, operand: Any) -> tuple[Expression, ...]:
    """Return the extents of a result, which its type may tell."""
    if "?" in text:
        return scope.extents(operand)
    return tuple(int(extent) for extent in text.split("x")[:-1])


def evaluate(
    expression: Expression,
    read: Callable[[int, int | None], Any],
    operations: Mapping[str, Callable[[Any, Any], Any]] = _OPERATIONS,
) -> Any:
    """Return the value of an expression.

    `read` returns an extent, given argument and dimension, or an argument that is a number, for
    which the dimension is None. `operations` may replace some. Raises ZeroDivisionError.
    """
    if not isinstance(expression, tuple):
        return expression
    name, *parts = expression
    if name == "extent":
        return read(parts[0], parts[1])
    if name == "argument":
        return read(parts[0], None)
    if name == "select":
        branch = parts[1] if evaluate(parts[0], read, operations) else parts[2]
        return evaluate(branch, read, operations)
    lhs, rhs = (evaluate(part, read, operations) for part in parts)
    return operations.get(name, _OPERATIONS[name])(lhs, rhs)


def is_symbolic(expression: Expression) -> bool:
    """Return whether it takes the arguments to know an expression."""
    return isinstance(expression, tuple)


def _combine(name: str, lhs: Expression, rhs: Expression) -> Expression:
    """Return an operation on expressions, or its value if that is known."""
    divides = name in ("floordiv", "ceildiv", "mod")
    if not is_symbolic(lhs) and not is_symbolic(rhs) and not (divides and rhs == 0):
        return _OPERATIONS[name](lhs, rhs)
    if (lhs == 0 and name == "+") or (lhs == 1 and name == "*"):
        return rhs
    if (rhs == 0 and name in "+-") or (rhs == 1 and name in ("*", "floordiv", "ceildiv")):
        return lhs
    if name == "max" and rhs == 0 and _is_natural(lhs):
        return lhs
    return name, lhs, rhs


def _is_natural(expression: Expression) -> bool:
    """Return whether an expression is known not to be negative."""
    if not is_symbolic(expression):
        return bool(expression >= 0)
    name, *parts = expression
    if name in ("extent", "argument"):
        return bool(name == "extent")
    if name == "select":
        return all(map(_is_natural, parts[1:]))
    if name == "max":
        return any(map(_is_natural, parts))
    return name in ("+", "*", "floordiv", "ceildiv", "mod", "min") and all(map(_is_natural, parts))


@dataclass(frozen=True, slots=True)
class _Given:
    """An argument of the function that is asked about."""

    number: int
    argument: Argument

    def extents(self) -> tuple[Expression, ...]:
        return tuple(
            ("extent", self.number, dim) if extent is None else extent
            for dim, extent in enumerate(self.argument.shape)
        )

    def value(self) -> Expression:
        return "argument", self.number

    def root(self) -> tuple[int, ...] | None:
        return None


@dataclass(frozen=True, slots=True)
class _Passed:
    """An argument of a function that another one calls."""

    scope: _Scope
    operand: Any

    def extents(self) -> tuple[Expression, ...]:
        return self.scope.extents(self.operand)

    def value(self) -> Expression:
        return self.scope.number(self.operand)

    def root(self) -> tuple[int, ...] | None:
        return self.scope.root(self.operand)


class _Scope:
    """A function that is called with `arguments`, and where its values come from.

    Values are looked up from where they are used, so that only what decides an extent has to be
    understood.
    """

    def __init__(
        self,
        plan: Plan,
        function: Function,
        arguments: Sequence[_Given | _Passed],
        calls: tuple[int, ...] = (),
    ) -> None:
        self._plan = plan
        self._function = function
        self._calls = calls
        assert function.body is not None
        self._arguments = dict(zip(function.body.arguments, arguments, strict=True))
        self._origins = {
            value: (step, index)
            for step in _walk(function.body)
            for index, value in enumerate(step.results)
        }
        self._carried = {
            value: (step, index)
            for step in _walk(function.body)
            if step.op == "scf.for"
            for index, value in enumerate(step.regions["body"].arguments[1:])
        }

    def number(self, operand: Any) -> Expression:
        """Return an integer. Raises UsageError if it follows from more than the arguments."""
        if not isinstance(operand, str):
            return operand
        value = int(operand[1:])
        if value in self._arguments:
            return self._arguments[value].value()
        if value not in self._origins:
            raise self._refuse(None)
        step, index = self._origins[value]
        if step.op == "memref.dim" and isinstance(step.fields["dim"], int):
            extents, dim = self.extents(step.fields["source"]), step.fields["dim"]
            if not 0 <= dim < len(extents):
                raise self._refuse(step)
            return extents[dim]
        if step.op.startswith("affine."):
            return self._affine(step)
        if step.op.startswith("arith."):
            return self._arithmetic(step)
        if step.op == "scf.if":
            condition = self.number(step.fields["condition"])
            branches = [self.number(self._branch(step, name)[index]) for name in ("then", "else")]
            return branches[0] if branches[0] == branches[1] else ("select", condition, *branches)
        if step.op == "func.call":
            callee, handed = self._call(step)
            return callee.number(handed[index])
        raise self._refuse(step)

    def _affine(self, step: Step) -> Expression:
        numbers, form = [self.number(arg) for arg in step.fields["args"]], step.fields["map"]
        dims, symbols = numbers[: form["dims"]], numbers[form["dims"] :]
        value, *others = (_substitute(result, dims, symbols) for result in form["results"])
        for other in others:
            value = _combine(step.op.removeprefix("affine."), value, other)
        return value

    def _arithmetic(self, step: Step) -> Expression:
        fields, name = step.fields, step.op.removeprefix("arith.")
        if name == "select":
            condition, *branches = (self.number(arg) for arg in fields["args"])
            return "select", condition, *branches
        if fields["from"] not in ("index", "i64"):
            raise self._refuse(step)
        numbers = [self.number(arg) for arg in fields["args"]]
        if name in ("index_cast", "index_castui") and fields["type"] in ("index", "i64"):
            return numbers[0]
        if name == "cmpi" and fields["predicate"] in _PREDICATES:
            return _combine(_PREDICATES[fields["predicate"]], *numbers)
        if name in _ARITHMETIC:
            return _combine(_ARITHMETIC[name], *numbers)
        if name in _UNSIGNED and all(map(_is_natural, numbers)):
            return _combine(_UNSIGNED[name], *numbers)
        raise self._refuse(step)

    def extents(self, operand: str) -> tuple[Expression, ...]:
        """Return the extents of memory. Raises UsageError as ``number`` does."""
        value = int(operand[1:])
        if value in self._arguments:
            return self._arguments[value].extents()
        if value in self._carried:
            step, index = self._carried[value]
            return self.extents(step.fields["init"][index])
        if value not in self._origins:
            raise self._refuse(None)
        step, index = self._origins[value]
        fields = step.fields
        if step.op == "memref.alloc":
            return self._all(fields["shape"])
        if step.op == "memref.get_global":
            return tuple(self._plan.data[fields["data"]].shape)
        if step.op in ("memref.subview", "memref.reinterpret_cast", "memref.expand_shape"):
            sizes, dropped = self._all(fields["sizes"]), fields.get("dropped", ())
            return tuple(size for dim, size in enumerate(sizes) if dim not in dropped)
        if step.op in ("memref.cast", "memref.transpose", "memref.collapse_shape"):
            return _view(step, self.extents(fields["source"]))
        if step.op == "scf.if":
            return self._either(step, index)
        if step.op == "scf.for":
            return self._loop(step, index)
        if step.op == "func.call":
            callee, handed = self._call(step)
            return callee.extents(handed[index])
        raise self._refuse(step)

    def _all(self, operands: Sequence[Any]) -> tuple[Expression, ...]:
        return tuple(self.number(operand) for operand in operands)

    def _either(self, step: Step, index: int) -> tuple[Expression, ...]:
        then, other = (self.extents(self._branch(step, name)[index]) for name in ("then", "else"))
        if then == other:
            return then
        condition = self.number(step.fields["condition"])
        return tuple(
            one if one == two else ("select", condition, one, two)
            for one, two in zip(then, other, strict=True)
        )

    def _loop(self, step: Step, index: int) -> tuple[Expression, ...]:
        """Return the extents of what a loop carries, which are the same in all iterations."""
        before = self.extents(step.fields["init"][index])
        if self.extents(self._branch(step, "body")[index]) != before:
            raise self._refuse(step)
        return before

    def _branch(self, step: Step, name: str) -> Sequence[Any]:
        """Return what a region of a step hands on."""
        handed: Sequence[Any] = step.regions[name].steps[-1].fields["args"]
        return handed

    def _call(self, step: Step) -> tuple[_Scope, Sequence[Any]]:
        """Return a function that is called, and what it hands on."""
        function = self._plan.functions[step.fields["callee"]]
        assert function.body is not None  # as of all that an entry calls
        arguments = [_Passed(self, operand) for operand in step.fields["args"]]
        calls = (*self._calls, *step.results[:1])
        scope = _Scope(self._plan, function, arguments, calls)
        handed: Sequence[Any] = function.body.steps[-1].fields["args"]
        return scope, handed

    def root(self, operand: Any) -> tuple[int, ...] | None:
        """Return which allocation memory is of, by its value and those of the calls it is in.

        None if it may be something else.
        """
        if not isinstance(operand, str):
            return None
        value = int(operand[1:])
        if value in self._arguments:
            return self._arguments[value].root()
        if value not in self._origins:
            return None
        step, index = self._origins[value]
        if step.op == "memref.alloc":
            return *self._calls, value
        if step.op == "func.call":
            callee, handed = self._call(step)
            return callee.root(handed[index])
        if step.op.startswith("memref.") and "source" in step.fields:
            return self.root(step.fields["source"])
        return None

    def _refuse(self, step: Step | None) -> UsageError:
        location = step.location if step else self._function.location
        what = f"'{step.op}' op" if step else "a loop"
        return UsageError(
            f"{location}: error: function '{self._function.name}' returns arrays whose extents "
            f"{what} decides: they do not follow from the extents and numbers of its arguments"
        )


def _walk(region: Region) -> Iterator[Step]:
    for step in region.steps:
        yield step
        for inner in step.regions.values():
            yield from _walk(inner)


def _substitute(form: Any, dims: Sequence[Expression], symbols: Sequence[Expression]) -> Expression:
    """Return an affine expression of a plan with its operands put in."""
    if isinstance(form, int):
        return form
    name, *parts = form
    if name == "d":
        return dims[parts[0]]
    if name == "s":
        return symbols[parts[0]]
    lhs, rhs = (_substitute(part, dims, symbols) for part in parts)
    return _combine(name, lhs, rhs)


def _view(step: Step, source: tuple[Expression, ...]) -> tuple[Expression, ...]:
    if step.op == "memref.transpose":
        return tuple(source[dim] for dim in step.fields["permutation"])
    if step.op == "memref.cast":
        return source
    extents: list[Expression] = []
    for group in step.fields["groups"]:
        extent: Expression = 1
        for dim in group:
            extent = _combine("*", source[dim], extent)
        extents.append(extent)
    return tuple(extents)
