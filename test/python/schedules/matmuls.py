"""Products of two matrices for warp groups: programs, numbers, schedules of two warp groups."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from schedules.group_products import TYPES, Array


@dataclass(frozen=True)
class Matmul:
    """The product of two matrices, each of which may be given transposed."""

    m: int = 256
    n: int = 256
    k: int = 256
    kind: str = "f16"
    lhs: str = "mk"
    rhs: str = "kn"
    epilogue: str = ""

    def shape(self, letters: str) -> tuple[int, int]:
        rows, columns = (getattr(self, letter) for letter in letters)
        return rows, columns

    @property
    def text(self) -> str:
        def type_of(letters: str, kind: str) -> str:
            rows, columns = self.shape(letters)
            return f"tensor<{rows}x{columns}x{kind}>"

        a, b = type_of(self.lhs, self.kind), type_of(self.rhs, self.kind)
        sums, half = type_of("mn", "f32"), type_of("mn", "f16")
        maps = ", ".join(
            f"affine_map<(m, n, k) -> ({', '.join(letters)})>"
            for letters in (self.lhs, self.rhs, "mn")
        )
        result = half if self.epilogue else sums
        relu = f"""
  %h = tensor.empty() : {half}
  %o = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                                         affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}}
      ins(%r, %bias : {sums}, tensor<{self.n}xf32>) outs(%h : {half}) {{
    ^bb0(%x: f32, %y: f32, %z: f16):
      %s = arith.addf %x, %y : f32
      %p = arith.maximumf %s, %zero : f32
      %t = arith.truncf %p : f32 to f16
      linalg.yield %t : f16
  }} -> {half}"""
        return f"""
func.func @main(%a: {a}, %b: {b}, %bias: tensor<{self.n}xf32>) -> {result} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {sums}
  %f = linalg.fill ins(%zero : f32) outs(%e : {sums}) -> {sums}
  %r = linalg.matmul indexing_maps = [{maps}]
      ins(%a, %b : {a}, {b}) outs(%f : {sums}) -> {sums}{relu if self.epilogue else ""}
  return {"%o" if self.epilogue else "%r"} : {result}
}}"""

    def make_inputs(self) -> list[Array]:
        """Return numbers whose products add up without rounding."""
        random = np.random.default_rng(len(self.kind) + self.m)
        made = [
            random.integers(-4, 5, self.shape(letters)).astype(TYPES[self.kind])
            for letters in (self.lhs, self.rhs)
        ]
        return [*made, random.integers(-9, 10, self.n).astype(np.float32)]

    def expect(self, inputs: list[Array]) -> Array:
        a, b, bias = (array.astype(np.float32) for array in inputs)
        left, right = a if self.lhs == "mk" else a.T, b if self.rhs == "kn" else b.T
        product: Array = left @ right
        if not self.epilogue:
            return product
        result: Array = np.maximum(product + bias, 0).astype(np.float16)
        return result


MATMULS = {
    "f16": Matmul(),
    "nt": Matmul(rhs="nk"),
    "tn": Matmul(lhs="km"),
    "tt": Matmul(lhs="km", rhs="nk"),
    "bf16": Matmul(kind="bf16", m=128, n=512, k=128),
    "bytes": Matmul(kind="f8E4M3FN", rhs="nk"),
    "other-bytes": Matmul(kind="f8E5M2", rhs="nk", m=128, k=512),
    "fused": Matmul(epilogue="relu"),
    "one-block": Matmul(m=64, n=64, k=1024),
}


def use_two_groups(schedule: str) -> str:
    """Return a schedule whose blocks have two warp groups that multiply."""
    schedule = re.sub(r'"block" = \[\d+, \d+, 0\]', '"block" = [128, 64, 0]', schedule)
    return re.sub(r'"threads" = (\[?)\d+', r'"threads" = \g<1>256', schedule)
