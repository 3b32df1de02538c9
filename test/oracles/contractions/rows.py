"""Sums and largest numbers of rows, and softmax, with their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32}
_LEAST = {"f16": "0xFC00", "f32": "0xFF800000", "f64": "0xFFF0000000000000", "i32": "-2147483648"}


@dataclass(frozen=True)
class Rows:
    """What is made of the rows of a matrix: ``sum``, ``max`` or ``softmax``."""

    rows: int
    length: int
    kind: str
    op: str
    is_dynamic: bool = False

    def text(self) -> str:
        """Return the program."""
        rows, length = ("?", "?") if self.is_dynamic else (self.rows, self.length)
        of = self.kind
        matrix, vector = f"tensor<{rows}x{length}x{of}>", f"tensor<{rows}x{of}>"
        largest = self._reduce("m", "%x", matrix, vector, "max")
        if self.op != "softmax":
            made = self._reduce("m", "%x", matrix, vector, self.op)
            return _TEXT.format(x=matrix, y=vector, dims=self._dims(matrix), body=made, last="%m")
        size = "%d0, %d1" if self.is_dynamic else ""
        body = (
            largest
            + _EACH.format(
                name="e", source="%x", of=of, x=matrix, y=vector, v="%m", size=size, op=_EXP
            ).replace("OF", of)
            + self._reduce("z", "%e", matrix, vector, "sum")
            + _EACH.format(
                name="r", source="%e", of=of, x=matrix, y=vector, v="%z", size=size, op=_DIVIDE
            ).replace("OF", of)
        )
        return _TEXT.format(x=matrix, y=matrix, dims=self._dims(matrix), body=body, last="%r")

    def _dims(self, matrix: str) -> str:
        if not self.is_dynamic:
            return ""
        return "".join(
            f"  %c{i} = arith.constant {i} : index\n  %d{i} = tensor.dim %x, %c{i} : {matrix}\n"
            for i in (0, 1)
        )

    def _reduce(self, name: str, source: str, matrix: str, vector: str, op: str) -> str:
        is_float = self.kind != "i32"
        start = _LEAST[self.kind] if op == "max" else "0.0" if is_float else "0"
        ops = {"sum": ("addf", "addi"), "max": ("maximumf", "maxsi")}[op]
        return _REDUCE.format(
            name=name,
            source=source,
            start=start,
            of=self.kind,
            x=matrix,
            y=vector,
            size="%d0" if self.is_dynamic else "",
            op=ops[not is_float],
        )

    def arguments(self, seed: int) -> list[Array]:
        """Return a random matrix, without zeros."""
        rng = np.random.default_rng(seed)
        signs = rng.choice([-1, 1], (self.rows, self.length))
        numbers = rng.integers(1, 9, (self.rows, self.length))
        if self.kind == "i32":
            return [np.asarray(signs * numbers * 1000).astype(np.int32)]
        return [np.asarray(signs * numbers / 4).astype(_DTYPES[self.kind])]

    def compute(self, x: Array) -> Array:
        """Return the result of a matrix, by sums in f64."""
        exact = x.astype(np.int64 if self.kind == "i32" else np.float64)
        if self.op == "sum":
            return np.asarray(exact.sum(axis=1).astype(x.dtype))
        if self.op == "max":
            return np.asarray(exact.max(axis=1).astype(x.dtype))
        powers = np.exp(exact - exact.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


_TEXT = """
func.func @main(%x: {x}) -> {y} {{
{dims}{body}  return {last} : {y}
}}
"""

_REDUCE = """\
  %s{name} = arith.constant {start} : {of}
  %t{name} = tensor.empty({size}) : {y}
  %f{name} = linalg.fill ins(%s{name} : {of}) outs(%t{name} : {y}) -> {y}
  %{name} = linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}} ins({source} : {x}) outs(%f{name} : {y}) {{
  ^bb0(%p: {of}, %o: {of}):
    %v = arith.{op} %o, %p : {of}
    linalg.yield %v : {of}
  }} -> {y}
"""

_EACH = """\
  %t{name} = tensor.empty({size}) : {x}
  %{name} = linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins({source}, {v} : {x}, {y})
      outs(%t{name} : {x}) {{
  ^bb0(%p: {of}, %q: {of}, %o: {of}):
    {op}
    linalg.yield %v : {of}
  }} -> {x}
"""

_EXP = "%d = arith.subf %p, %q : OF\n    %v = math.exp %d : OF"
_DIVIDE = "%v = arith.divf %p, %q : OF"
