"""Sums whose operands are read by quotients, remainders and in falling order, against NumPy.

An operand that is read so is looked up in the body; what it alone told, how long a loop is, has to
be told by something else then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array

EXTENTS = {"m": 6, "n": 12, "k": 8, "l": 3, "p": 2}

TEXT = """\
func.func @main({arguments}) -> {result} {{
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins({names} : {types}) outs(%o : {result}) {{
  ^bb0({elements}, %t: f32):
    {product}
    %s = {sum} %t, %p{last} : f32
    linalg.yield %s : f32
  }} -> {result}
  return %r : {result}
}}
"""


@dataclass(frozen=True)
class Sum:
    """The operands of a product, and its result, by their indices; loops in order of the sizes."""

    operands: tuple[str, ...]
    result: str
    body: str = "arith.addf"
    """What is made of the products: their sum, or the largest."""

    @property
    def loops(self) -> list[str]:
        used = set("".join((*self.operands, self.result)))
        return [loop for loop in EXTENTS if loop in used]

    def places(self, indices: str) -> tuple[Array, ...]:
        """Return where an operand is read in each iteration."""
        extents = [EXTENTS[loop] for loop in self.loops]
        grid: dict[str, Array] = dict(zip(self.loops, np.indices(extents), strict=True))
        zero = np.zeros(extents, int)
        return tuple(eval(part, {}, grid) + zero for part in indices.split(","))

    def shape(self, indices: str) -> tuple[int, ...]:
        return tuple(int(place.max()) + 1 for place in self.places(indices))

    def spell(self, indices: str, unknown: str) -> str:
        """Spell the type of what is indexed so, with the extents along `unknown` unknown."""
        parts = zip(indices.split(","), self.shape(indices), strict=True)
        extents = ["?" if set(part) & set(unknown) else str(extent) for part, extent in parts]
        return f"tensor<{'x'.join([*extents, 'f32'])}>"

    def print(self, unknown: str) -> str:
        loops = self.loops
        everything = (*self.operands, self.result)
        numbers = range(len(self.operands))
        types = [self.spell(indices, unknown) for indices in self.operands]
        result = self.spell(self.result, unknown)
        names = [f"%a{number}" for number in numbers]
        products = ["%p0 = arith.mulf %x0, %one : f32"]
        products += [f"%p{n} = arith.mulf %p{n - 1}, %x{n} : f32" for n in numbers[1:]]
        return TEXT.format(
            arguments=", ".join(
                [f"%o: {result}", *(f"{n}: {kind}" for n, kind in zip(names, types, strict=True))]
            ),
            result=result,
            maps=", ".join(
                f"affine_map<({', '.join(loops)}) -> ({spell_indices(indices)})>"
                for indices in everything
            ),
            kinds=", ".join(
                '"parallel"' if loop in self.result else '"reduction"' for loop in loops
            ),
            names=", ".join(names),
            types=", ".join(types),
            elements=", ".join(f"%x{number}: f32" for number in numbers),
            product="\n    ".join(["%one = arith.constant 1.0 : f32", *products]),
            sum=self.body,
            last=numbers[-1],
        )

    def compute(self, start: Array, operands: list[Array]) -> Array:
        product = np.prod(
            [
                operand[self.places(indices)]
                for operand, indices in zip(operands, self.operands, strict=True)
            ],
            axis=0,
        )
        result = start.copy()
        combine = np.add if self.body == "arith.addf" else np.maximum
        combine.at(result, self.places(self.result), product)
        return result


def spell_indices(indices: str) -> str:
    return indices.replace("//", " floordiv ").replace("%", " mod ").replace(",", ", ")


SUMS = {
    "quotient": Sum(("m,k", "k//2,n,l"), "m,n"),
    "remainder": Sum(("m,k", "k%2,n,l"), "m,n"),
    "falling": Sum(("m,k", "7-k,n,l"), "m,n"),
    "rounded_up": Sum(("m,k", "(k+1)//2,n,l"), "m,n"),
    "difference": Sum(("m,k", "k-k//2,n,l"), "m,n"),
    "own_loop_first": Sum(("m,k", "l,k//2,n"), "m,n"),
    "two_own_loops": Sum(("m,k", "l,k//2,n,p"), "m,n"),
    "own_loops_of_both": Sum(("m//2,k,l", "k%4,n,p"), "m,n"),
    "all_operands_looked_up": Sum(("m,k//2,p", "k,n%3,l"), "m,n"),
    "one_operand": Sum(("m//2,l",), "m"),
    "to_each_element": Sum(("l,k//2", "k%2"), "k"),
    "largest": Sum(("m,k", "k//2,n,l"), "m,n", "arith.maximumf"),
    "no_own_loop": Sum(("m,k", "k//2,n"), "m,n"),
    "own_loop_of_one_iteration_less": Sum(("m,k", "k//2,n,l", "p,n"), "m,n"),
}


@pytest.mark.parametrize("unknown", ["", "l", "k", "mn", "mnklp"])
@pytest.mark.parametrize("name", SUMS)
def test_sum(name: str, unknown: str) -> None:
    program = SUMS[name]
    rng = np.random.default_rng(5)
    shapes = [program.shape(indices) for indices in (program.result, *program.operands)]
    start, *operands = (rng.integers(-4, 5, shape).astype(np.float32) for shape in shapes)
    module = pipeline.compile(program.print(unknown), until="llvm")
    expected = program.compute(start, operands)
    result = module.run(start, *operands, check="races", workers=1)
    np.testing.assert_array_equal(result, expected)
