"""Random functions that bodies of structured operations call: nested, with branches and blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array

Value = Callable[[Array, Array], Array]

OPERATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "xori": np.bitwise_xor,
    "maxsi": np.maximum,
    "minsi": np.minimum,
}

MAIN = """
#m = affine_map<(i, j) -> (i, j)>
func.func @main(%x: TYPE, %y: TYPE) -> TYPE {
  %c0 = arith.constant 0 : index
  SIZE
  %e = tensor.empty(DIMS) : TYPE
  %r = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : TYPE, TYPE) outs(%e : TYPE) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %v = func.call @FIRST(%a, %b) : (i32, i32) -> i32
    %w = func.call @SECOND(%v, %b) : (i32, i32) -> i32
    linalg.yield %w : i32
  } -> TYPE
  return %r : TYPE
}
"""


@dataclass(frozen=True)
class Function:
    """A function of two numbers: its text, and what it computes."""

    name: str
    text: str
    compute: Value


class Writer:
    """Writes a function: numbers have names, and what they are of the arguments."""

    def __init__(self, rng: np.random.Generator, known: list[Function]) -> None:
        self._rng = rng
        self._known = known
        self._values: list[tuple[str, Value]] = [("%x", lambda x, y: x), ("%y", lambda x, y: y)]
        self._lines: list[str] = []

    def _choose(self) -> tuple[str, Value]:
        # The last ones more often, so that chains are long.
        number = int(len(self._values) * self._rng.random() ** 0.5)
        return self._values[number]

    def _add(self, kind: str, compute: Callable[[Array, Array], Array]) -> tuple[str, Value]:
        (left, lhs), (right, rhs) = self._choose(), self._choose()
        name = f"%v{len(self._values)}"
        if kind.startswith("@"):
            self._lines.append(f"{name} = func.call {kind}({left}, {right}) : (i32, i32) -> i32")
        else:
            self._lines.append(f"{name} = arith.{kind} {left}, {right} : i32")
        value = (name, lambda x, y: compute(lhs(x, y), rhs(x, y)))
        self._values.append(value)
        return value

    def _add_any(self) -> tuple[str, Value]:
        if self._known and self._rng.random() < 0.5:
            callee = self._known[self._rng.integers(len(self._known))]
            return self._add(f"@{callee.name}", callee.compute)
        kind = str(self._rng.choice(list(OPERATIONS)))
        return self._add(kind, OPERATIONS[kind])

    def _add_region(self) -> tuple[str, Value]:
        """Add something that is computed in a branch, whose numbers others do not see."""
        size = len(self._values)
        result = self._add_any()
        del self._values[size:]
        return result

    def _branch(self, is_structured: bool) -> tuple[str, Value]:
        (left, lhs), (right, rhs) = self._choose(), self._choose()
        self._lines.append(f"%is_less = arith.cmpi slt, {left}, {right} : i32")
        opening = "%r = scf.if %is_less -> (i32) {" if is_structured else "^first:"
        if not is_structured:
            self._lines.append("cf.cond_br %is_less, ^first, ^second")
        self._lines.append(opening)
        first, one = self._add_region()
        self._lines += (
            [f"scf.yield {first} : i32", "} else {"]
            if is_structured
            else [f"return {first} : i32", "^second:"]
        )
        second, other = self._choose()
        self._lines.append(f"scf.yield {second} : i32\n}}" if is_structured else "")
        name = "%r" if is_structured else second
        return name, lambda x, y: np.where(lhs(x, y) < rhs(x, y), one(x, y), other(x, y))

    def write(self, name: str) -> Function:
        """Return a function that ends with a number, a branch, or blocks that return."""
        for _ in range(self._rng.integers(1, 5)):
            self._add_any()
        ending = self._rng.integers(3)
        result, compute = self._values[-1] if ending == 0 else self._branch(ending == 1)
        body = "\n".join([*self._lines, f"return {result} : i32"])
        head = f"func.func private @{name}(%x: i32, %y: i32) -> i32"
        return Function(name, f"{head} {{\n{body}\n}}\n", compute)


def make_functions(rng: np.random.Generator) -> list[Function]:
    """Return functions that call those before them."""
    functions: list[Function] = []
    for number in range(rng.integers(2, 6)):
        functions.append(Writer(rng, list(functions)).write(f"f{number}"))
    return functions


@pytest.mark.parametrize("seed", range(24))
def test_random_calls(seed: int) -> None:
    rng = np.random.default_rng(seed)
    functions = make_functions(rng)
    first, second = functions[-1], functions[rng.integers(len(functions))]
    is_dynamic = bool(rng.integers(2))
    text = MAIN.replace("FIRST", first.name).replace("SECOND", second.name)
    text = text.replace("SIZE", "%n = tensor.dim %x, %c0 : TYPE" if is_dynamic else "")
    text = text.replace("DIMS", "%n" if is_dynamic else "")
    text = text.replace("TYPE", "tensor<?x9xi32>" if is_dynamic else "tensor<7x9xi32>")
    program = "".join(function.text for function in functions) + text
    module = pipeline.compile(program, until="llvm")
    x, y = (rng.integers(-(2**31), 2**31, (7, 9)).astype(np.int32) for _ in range(2))
    result = module.run(x, y, check="races", workers=1)
    expected = second.compute(first.compute(x, y), y)
    np.testing.assert_array_equal(result, expected, program)
