"""Dimensions that are joined and split, of tensors and of memory, at any place, against NumPy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import pipeline

# The extents of two to five dimensions that are joined, and of those around them.
JOINED = (3, 2, 4, 2, 3)
LEADING, TRAILING = 5, 2

TENSORS = """\
func.func @{name}(%a: tensor<{source}xf32>, %n: index) -> tensor<{result}xf32> {{
{reshape}
  %e = tensor.empty({dynamic}) : tensor<{result}xf32>
  %r = linalg.negf ins(%v : tensor<{result}xf32>) outs(%e : tensor<{result}xf32>)
      -> tensor<{result}xf32>
  return %r : tensor<{result}xf32>
}}
"""

MEMREFS = """\
func.func @{name}(%a: memref<{source}xf32>, %n: index, %o: memref<{result}xf32>) {{
{reshape}
  linalg.negf ins(%v : memref<{result}xf32>) outs(%o : memref<{result}xf32>)
  return
}}
"""


@dataclass(frozen=True)
class Case:
    """One reshape: `joined` dimensions and one, whichever of them is the source."""

    kind: str
    operation: str
    joined: int
    has_leading: bool
    has_trailing: bool
    is_dynamic: bool

    @property
    def name(self) -> str:
        where = "l" * self.has_leading + "t" * self.has_trailing
        return f"{self.operation}_{where}_{'dynamic' if self.is_dynamic else 'static'}"

    def around(self, middle: list[int]) -> tuple[int, ...]:
        leading, trailing = [LEADING] * self.has_leading, [TRAILING] * self.has_trailing
        return (*leading, *middle, *trailing)

    @property
    def many(self) -> tuple[int, ...]:
        return self.around(list(JOINED[: self.joined]))

    @property
    def few(self) -> tuple[int, ...]:
        return self.around([math.prod(JOINED[: self.joined])])

    def spell(self, extents: tuple[int, ...]) -> str:
        """Spell a shape; what is not known is first of what is joined."""
        unknown = int(self.has_leading) if self.is_dynamic else -1
        # All but the last one: what several unknown extents make is their product.
        width = len(extents) - int(self.has_trailing) - 1
        several = self.operation == "collapse_shape" and len(extents) == len(self.many)
        return "x".join(
            "?" if place == unknown or (several and 0 <= unknown <= place < width) else str(extent)
            for place, extent in enumerate(extents)
        )

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of the source and of the result."""
        joins = self.operation in ("collapse_shape", "reshape_to_few")
        return (self.many, self.few) if joins else (self.few, self.many)

    @property
    def text(self) -> str:
        source, result = (self.spell(extents) for extents in self.shapes)
        dynamic = "%n" if "?" in result else ""
        types = f"{self.kind}<{source}xf32>", f"{self.kind}<{result}xf32>"
        form = TENSORS if self.kind == "tensor" else MEMREFS
        return form.format(
            name=self.name,
            source=source,
            result=result,
            dynamic=dynamic,
            reshape=self.reshape(result, *types),
        )

    def reshape(self, result: str, source_type: str, result_type: str) -> str:
        if self.operation.startswith("reshape"):
            sizes = [
                f"  %s{place} = arith.constant {extent} : index"
                if extent != "?"
                else f"  %s{place} = arith.addi %n, %zero : index"
                for place, extent in enumerate(result.split("x"))
            ]
            names = ", ".join(f"%s{place}" for place in range(len(sizes)))
            shape = f"tensor<{len(sizes)}xindex>"
            return "\n".join(
                [
                    "  %zero = arith.constant 0 : index",
                    *sizes,
                    f"  %s = tensor.from_elements {names} : {shape}",
                    f"  %v = tensor.reshape %a(%s) : ({source_type}, {shape}) -> {result_type}",
                ]
            )
        first = int(self.has_leading)
        groups = [[0]] * first + [list(range(first, first + self.joined))]
        groups += [[first + self.joined]] * int(self.has_trailing)
        extents = result.replace("?", "%n").replace("x", ", ")
        shape = f" output_shape [{extents}]" if self.operation == "expand_shape" else ""
        name = f"{self.kind}.{self.operation}"
        return f"  %v = {name} %a {groups}{shape} : {source_type} into {result_type}"


def cases(kind: str, joined: int) -> Iterator[Case]:
    operations = ["collapse_shape", "expand_shape"]
    if kind == "tensor":
        operations += ["reshape_to_few", "reshape_to_many"]
    truths = (False, True)
    for operation, *where in itertools.product(operations, truths, truths, truths):
        yield Case(kind, operation, joined, *where)


@pytest.mark.parametrize("joined", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", ["tensor", "memref"])
def test_reshapes(kind: str, joined: int) -> None:
    programs = list(cases(kind, joined))
    module = pipeline.compile("\n".join(case.text for case in programs), until="llvm")
    for case in programs:
        source, result = case.shapes
        a = np.arange(math.prod(source), dtype=np.float32).reshape(source)
        unknown = result[int(case.has_leading)]
        o = np.empty(result, np.float32)
        given = [a, unknown] if kind == "tensor" else [a, unknown, o]
        got = module.run(*given, entry=case.name, check="races", workers=1)
        np.testing.assert_array_equal(o if got is None else got, -a.reshape(result), case.name)


def test_join_of_all_dimensions() -> None:
    module = pipeline.compile("""\
func.func @main(%a: tensor<?x?x4xf32>) -> tensor<?xf32> {
  %r = tensor.collapse_shape %a [[0, 1, 2]] : tensor<?x?x4xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}
""")
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(module.run(a), a.reshape(24))
