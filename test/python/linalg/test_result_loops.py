"""One operation with results along different loops: elements and their sums, against NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array
from linalg.linalg_programs.program import DTYPES

SEEDS = range(10)


@dataclass(frozen=True)
class Results:
    """Products of `x`, along all loops, and `w`, along the first; sums of them along some."""

    extents: dict[str, int]
    unknown: str
    results: tuple[str, ...]
    """The loops along each result; the first one has all of them."""
    kind: str
    reads_start: bool
    """What the first result starts from is added to the product, and goes into the sums."""

    @property
    def loops(self) -> str:
        return "".join(self.extents)

    def is_sum(self, result: str) -> bool:
        return len(result) < len(self.extents)

    def spell(self, along: str) -> str:
        sizes = ["?" if d in self.unknown else str(self.extents[d]) for d in along]
        return f"tensor<{'x'.join([*sizes, self.kind])}>"

    def body(self) -> str:
        kind = "f" if "f" in self.kind else "i"
        lines = [f"%p = arith.mul{kind} %a, %b : {self.kind}"]
        term = "%p"
        if self.reads_start:
            term = "%q"
            lines.append(f"%q = arith.add{kind} %p, %o0 : {self.kind}")
        yields = [term]
        for number, result in enumerate(self.results[1:], 1):
            yields.append(f"%s{number}" if self.is_sum(result) else "%p")
            if self.is_sum(result):
                lines.append(f"%s{number} = arith.add{kind} %o{number}, {term} : {self.kind}")
        kinds = ", ".join(self.kind for _ in yields)
        lines.append(f"linalg.yield {', '.join(yields)} : {kinds}")
        return "\n    ".join(lines)

    def print(self) -> str:
        loops = ", ".join(self.loops)
        maps = ", ".join(
            f"affine_map<({loops}) -> ({', '.join(along)})>"
            for along in (self.loops, self.loops[0], *self.results)
        )
        shared = set(self.loops).intersection(*self.results)
        kinds = ", ".join('"parallel"' if d in shared else '"reduction"' for d in self.loops)
        x, w = self.spell(self.loops), self.spell(self.loops[0])
        types = [self.spell(result) for result in self.results]
        names = [f"%e{number}" for number in range(len(types))]
        starts = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
        outputs = ", ".join(f"%o{number}: {self.kind}" for number in range(len(types)))
        listed = ", ".join(types)
        return f"""
func.func @main(%x: {x}, %w: {w}, {starts}) -> ({listed}) {{
  %r:{len(types)} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%x, %w : {x}, {w}) outs({", ".join(names)} : {listed}) {{
  ^bb0(%a: {self.kind}, %b: {self.kind}, {outputs}):
    {self.body()}
  }} -> ({listed})
  return {", ".join(f"%r#{number}" for number in range(len(types)))} : {listed}
}}
"""

    def compute(self, x: Array, w: Array, starts: list[Array]) -> list[Array]:
        products = np.einsum(f"{self.loops},{self.loops[0]}->{self.loops}", x, w)
        terms = products + starts[0] if self.reads_start else products
        expected = [terms]
        for result, start in zip(self.results[1:], starts[1:], strict=True):
            of = f"{self.loops}->{result}"
            is_sum = self.is_sum(result)
            expected.append(start + np.einsum(of, terms) if is_sum else np.einsum(of, products))
        return expected


def make(rng: np.random.Generator) -> Results:
    loops = "ijk"[: rng.integers(2, 4)]
    results = [loops]
    for _ in range(rng.integers(1, 3)):
        kept = [d for d in loops if rng.random() < 0.5]
        results.append("".join(str(d) for d in rng.permutation(kept)))
    return Results(
        extents={d: int(n) for d, n in zip(loops, rng.integers(1, 40, len(loops)), strict=True)},
        unknown="".join(d for d in loops if rng.random() < 0.4),
        results=tuple(results),
        kind=str(rng.choice(["f32", "f64", "i32"])),
        reads_start=bool(rng.random() < 0.5),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_random(seed: int) -> None:
    """Results along random loops, of which some read what others start from."""
    rng = np.random.default_rng(seed)
    program = make(rng)

    def numbers(along: str) -> Array:
        shape = tuple(program.extents[d] for d in along)
        values = rng.integers(1, 5, shape) * rng.choice([-1, 1], shape)
        return np.asarray(values, DTYPES[program.kind])

    x, w = numbers(program.loops), numbers(program.loops[0])
    starts = [numbers(result) for result in program.results]
    module = pipeline.compile(program.print(), until="llvm")
    found = module.run(x, w, *starts, check="races", workers=1)
    for actual, expected in zip(found, program.compute(x, w, starts), strict=True):
        np.testing.assert_array_equal(actual, expected)


HEAD = """
#x = affine_map<(i, j) -> (i, j)>
#s = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<4x?xf32>, %p: tensor<4x?xf32>, %s: tensor<4xf32>)
    -> (tensor<4x?xf32>, tensor<4xf32>) {
  %r:2 = linalg.generic {indexing_maps = [#x, #x, #s], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x?xf32>) outs(%p, %s : tensor<4x?xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0, %0 : f32, f32
  } -> (tensor<4x?xf32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4x?xf32>, tensor<4xf32>
}
"""


def test_running_sum() -> None:
    """Each element is the sum up to there: it cannot be computed apart from the sum."""
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(HEAD, until="llvm")
    errors = [item for item in caught.value.diagnostics if item.severity == "error"]
    assert [item.message for item in errors] == [
        "'linalg.generic' op does not write each element of its result #0 once: it goes along the "
        "reduction d1, and reads what another result has up to there; compute these one after the "
        "other, by scf.for"
    ]
    assert errors[0].location is not None
    assert errors[0].location.line == 6


def test_row_and_its_sum() -> None:
    text = """
#x = affine_map<(i, j) -> (i, j)>
#s = affine_map<(i, j) -> (i)>
!x = tensor<4x50xf32>
!s = tensor<4xf32>
func.func @main(%x: !x, %w: !s, %p0: !x, %s0: !s) -> (!x, !s) {
  %r:2 = linalg.generic {indexing_maps = [#x, #s, #x, #s],
      iterator_types = ["parallel", "reduction"]} ins(%x, %w : !x, !s) outs(%p0, %s0 : !x, !s) {
  ^bb0(%a: f32, %b: f32, %p: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %0, %1 : f32, f32
  } -> (!x, !s)
  return %r#0, %r#1 : !x, !s
}
"""
    rng = np.random.default_rng(8)
    x, p0 = (rng.integers(1, 9, (4, 50)).astype(np.float32) for _ in range(2))
    w, s0 = (rng.integers(1, 9, 4).astype(np.float32) for _ in range(2))
    p, s = pipeline.compile(text).run(x, w, p0, s0, check="races", workers=1)
    np.testing.assert_array_equal(p, x * w[:, None])
    np.testing.assert_array_equal(s, s0 + p.sum(1))
