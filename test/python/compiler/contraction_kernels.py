"""Kernels that multiply matrices, tile by tile, as `workgroup-stage-operands` takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linalg.linalg_programs.program import DTYPES

Array = npt.NDArray[Any]

_TEXT = """
func.func @main(%a: {a}, %b: {b}, %v: memref<{n_}x{sum}>, %c: {c} {{llvm.noalias}},
                %gx: index, %gy: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant {step} : index
  %block_x = arith.constant {block[0]} : index
  %block_y = arith.constant {block[1]} : index
  %block_z = arith.constant {block[2]} : index
  %zero = arith.constant {zero} : {sum}
  gpu.launch blocks(%bx, %by, %bz) in (%sx = %gx, %sy = %gy, %sz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %block_x, %ny = %block_y, %nz = %block_z) {{
    {sizes}
    %i = affine.apply affine_map<(d) -> (d * {tm})>(%by)
    %j = affine.apply affine_map<(d) -> (d * {tn})>(%bx)
    %h = affine.min affine_map<(d)[s] -> ({tm}, s - d)>(%i)[%m]
    %w = affine.min affine_map<(d)[s] -> ({tn}, s - d)>(%j)[%n]
    %out = memref.subview %c[%i, %j] [%h, %w] [1, 1]
        : {c} to memref<?x?x{sum}, strided<[{n_}, 1], offset: ?>>
    {init}
    scf.for %k = %c0 to %s step %step {{
      %l = affine.min affine_map<(d)[s] -> ({step}, s - d)>(%k)[%s]
      %x = memref.subview %a[{a_at}] [{a_size}] [1, 1] : {a} to {a_view}
      %y = memref.subview %b[{b_at}] [{b_size}] [1, 1] : {b} to {b_view}
      linalg.generic {{
          indexing_maps = [affine_map<(i, j, k) -> ({a_dims})>, affine_map<(i, j, k) -> ({b_dims})>,
                           affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}}
          ins(%x, %y : {a_view}, {b_view})
          outs(%out : memref<?x?x{sum}, strided<[{n_}, 1], offset: ?>>) {{
      ^bb0(%p: {kinds[0]}, %q: {kinds[1]}, %o: {sum}):
        {body}
        linalg.yield %next : {sum}
      }}
    }}
    {end}
    gpu.terminator
  }}
  return
}}
"""

_FILL = """linalg.fill ins(%zero : {sum})
        outs(%out : memref<?x?x{sum}, strided<[{n_}, 1], offset: ?>>)"""

# Adds a bias and drops what is negative, in place.
_BIAS = """%bias = memref.subview %v[%j] [%w] [1]
        : memref<{n_}x{sum}> to memref<?x{sum}, strided<[1], offset: ?>>
    linalg.generic {{
        indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}}
        ins(%bias : memref<?x{sum}, strided<[1], offset: ?>>)
        outs(%out : memref<?x?x{sum}, strided<[{n_}, 1], offset: ?>>) {{
    ^bb0(%p: {sum}, %o: {sum}):
      %0 = {add} %o, %p : {sum}
      %1 = {largest} %0, %zero : {sum}
      linalg.yield %1 : {sum}
    }}"""


@dataclass(frozen=True)
class Kernel:
    """A product of an `m` x `k` and a `k` x `n` matrix, each stored transposed or not."""

    m: int
    n: int
    k: int
    tile: tuple[int, int, int] = (32, 32, 8)
    threads: int = 64
    kind: str = "f32"
    sum: str = "f32"
    is_dynamic: bool = False
    transposed: tuple[bool, bool] = (False, False)
    adds: bool = False
    """True to add the product to what is there, False to start from zero."""
    has_bias: bool = False
    block: tuple[int, int, int] | None = None
    """The shape of a block, where it is not all along x."""
    other_kind: str | None = None
    """The type of the second matrix, if it is another one."""
    unsigned: tuple[bool, bool] = (False, False)
    """Whether the integers of each matrix have no sign."""

    @property
    def kinds(self) -> tuple[str, str]:
        """The types of both matrices."""
        return self.kind, self.other_kind or self.kind

    @property
    def grid(self) -> tuple[int, int]:
        """The number of tiles along columns and rows."""
        return -(-self.n // self.tile[1]), -(-self.m // self.tile[0])

    def text(self) -> str:
        """Return the program."""
        m, n, k = ("?", "?", "?") if self.is_dynamic else (self.m, self.n, self.k)
        values: dict[str, Any] = {"kinds": self.kinds, "sum": self.sum}
        values["block"] = self.block or (self.threads, 1, 1)
        values |= {"tm": self.tile[0], "tn": self.tile[1], "step": self.tile[2], "n_": n}
        values |= {"zero": "0.0" if "f" in self.sum else "0", "c": f"memref<{m}x{n}x{self.sum}>"}
        sides = (("a", "i", "h", m, True), ("b", "j", "w", n, False))
        for (name, at, size, extent, row_first), swap, kind in zip(
            sides, self.transposed, self.kinds, strict=True
        ):
            dims = [(f"%{at}", f"%{size}", extent, at), ("%k", "%l", k, "k")]
            if row_first == swap:
                dims.reverse()
            values[name] = f"memref<{dims[0][2]}x{dims[1][2]}x{kind}>"
            values[f"{name}_at"] = ", ".join(d[0] for d in dims)
            values[f"{name}_size"] = ", ".join(d[1] for d in dims)
            values[f"{name}_dims"] = ", ".join(d[3] for d in dims)
            view = f"strided<[{dims[1][2]}, 1], offset: ?>"
            values[f"{name}_view"] = f"memref<?x?x{kind}, {view}>"
        values["sizes"] = self._sizes()
        is_float = "f" in self.sum
        values["add"] = "arith.addf" if is_float else "arith.addi"
        values["largest"] = "arith.maximumf" if is_float else "arith.maxsi"
        values["body"] = self._body()
        values["init"] = "" if self.adds else _FILL.format(**values)
        values["end"] = _BIAS.format(**values) if self.has_bias else ""
        return _TEXT.format(**values)

    def _sizes(self) -> str:
        if not self.is_dynamic:
            given = (("m", self.m), ("n", self.n), ("s", self.k))
            return "\n".join(f"%{name} = arith.constant {size} : index" for name, size in given)
        types = [f"memref<?x?x{kind}>" for kind in (self.sum, self.sum, self.kind)]
        of_sum = "%c0" if self.transposed[0] else "%c1"
        given_dims = (("m", "%c, %c0"), ("n", "%c, %c1"), ("s", f"%a, {of_sum}"))
        return "\n".join(
            f"%{name} = memref.dim {operands} : {kind}"
            for (name, operands), kind in zip(given_dims, types, strict=True)
        )

    def _body(self) -> str:
        names, lines = ["%p", "%q"], []
        for i, (name, kind, is_unsigned) in enumerate(
            zip(["%p", "%q"], self.kinds, self.unsigned, strict=True)
        ):
            if kind == self.sum:
                continue
            sign = "u" if is_unsigned else "s"
            cast = f"{sign}itofp" if "i" in kind and "f" in self.sum else f"ext{sign}i"
            cast = "extf" if "f" in kind else cast
            lines.append(f"%e{i} = arith.{cast} {name} : {kind} to {self.sum}")
            names[i] = f"%e{i}"
        suffix = "f" if "f" in self.sum else "i"
        lines.append(f"%t = arith.mul{suffix} {names[0]}, {names[1]} : {self.sum}")
        lines.append(f"%next = arith.add{suffix} %o, %t : {self.sum}")
        return "\n".join(lines)

    def arguments(self, seed: int = 1) -> list[Any]:
        """Return random arguments, of which no number is zero."""
        rng = np.random.default_rng(seed)

        def make(kind: str, *shape: int) -> Array:
            signs = rng.choice([-1, 1], shape)
            if "i" in kind:
                return np.asarray(signs * rng.integers(1, 100, shape)).astype(DTYPES[kind])
            # Multiples of 1/4, of which few products and sums round.
            return np.asarray(signs * rng.integers(1, 9, shape) / 4).astype(DTYPES[kind])

        a = (self.k, self.m) if self.transposed[0] else (self.m, self.k)
        b = (self.n, self.k) if self.transposed[1] else (self.k, self.n)
        arrays = [make(kind, *shape) for kind, shape in zip(self.kinds, (a, b), strict=True)]
        return [*arrays, make(self.sum, self.n), make(self.sum, self.m, self.n), *self.grid]

    def expect(self, arguments: list[Any]) -> Array:
        """Return what the kernel makes of its arguments."""
        exact = np.float64 if "f" in self.sum else np.int64
        factors = [
            value.view(f"u{value.dtype.itemsize}") if is_unsigned else value
            for value, is_unsigned in zip(arguments[:2], self.unsigned, strict=True)
        ]
        a, b, bias, old = (np.asarray(value).astype(exact) for value in (*factors, *arguments[2:4]))
        a, b = (x.T if swap else x for x, swap in zip((a, b), self.transposed, strict=True))
        result = a @ b + (old if self.adds else 0)
        if not self.has_bias:
            return np.asarray(result.astype(DTYPES[self.sum]))
        # Integers may have wrapped before they are compared.
        wrapped = (result + bias).astype(DTYPES[self.sum])
        return np.asarray(np.maximum(wrapped, DTYPES[self.sum].type(0)))
