"""Attention: heads in groups, masks, types, and spellings of the softmax."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

MASKS = ("none", "causal", "added", "chosen")
SPELLINGS = ("softmax", "guarded", "exp2")


@dataclass(frozen=True)
class Attention:
    """One program: ``groups`` query heads share each of ``heads`` key and value heads.

    ``spelling``: how weights are written; ``guarded`` has zeros for rows of which all is masked.
    Lengths are the launch's if ``is_dynamic``, that of keys alone if ``knows_rows``. If
    ``is_extended``, all is f32 before it is multiplied, and queries and keys are scaled then, as
    PyTorch does it.
    """

    heads: int
    groups: int
    rows: int
    keys: int
    width: int
    out: int
    kind: str
    mask: str
    spelling: str
    is_dynamic: bool
    knows_rows: bool = False
    is_extended: bool = False

    @property
    def text(self) -> str:
        """The program, on queries of (heads, groups, rows, width), keys, values and a mask."""
        is_wide = self.kind == "f32" or self.is_extended
        unused, score = _MASKS[self.mask]
        asks_rows = self.is_dynamic and not self.knows_rows
        sizes = ["%m"] * asks_rows + ["%n"] * self.is_dynamic
        names = {
            "h": self.heads,
            "g": self.groups,
            "m": "?" if asks_rows else self.rows,
            "n": "?" if self.is_dynamic else self.keys,
            "d": self.width,
            "e": self.out,
            "t": self.kind,
            "f": "f32" if is_wide else self.kind,
            "scale": 1.0 if self.is_extended else 0.25,
            "keys": "%n" if self.is_dynamic else "",
            "names": "%qs, %ks" if self.is_extended else "%q, %k",
            "values": "%vs" if self.is_extended else "%v",
            "log": "exp2" if self.spelling == "exp2" else "exp",
            "sizes": ", ".join(sizes),
            "row": "%m" if asks_rows else "",
            "factors": "%a, %b" if is_wide else "%c, %d",
            "shares": "%r" if is_wide else "%f",
            "mask": unused,
            "score": score,
        }
        parts = {
            "weights": _WEIGHTS[self.spelling],
            "extended": "" if is_wide else _EXTENDED,
            "narrowed": "" if is_wide else _NARROWED,
            "scaled": _SCALED if self.is_extended else "",
        }
        return _TEXT.format(**names, **{key: part.format(**names) for key, part in parts.items()})

    def make_arguments(self, rng: np.random.Generator) -> list[Array]:
        """Return random arguments, none of them zero; of masks some rows are all masked."""
        kind = _numpy_type(self.kind)
        shapes = (
            (self.heads, self.groups, self.rows, self.width),
            (self.heads, self.keys, self.width),
            (self.heads, self.keys, self.out),
        )
        arguments = [
            (rng.uniform(0.1, 1.0, shape) * rng.choice([-1.0, 1.0], shape)).astype(kind)
            for shape in shapes
        ]
        mask = rng.uniform(-1.0, 1.0, (self.rows, self.keys)).astype(np.float32)
        if self.mask == "chosen" and self.rows > 2:
            mask[rng.integers(self.rows)] = -1.0
        return [*arguments, mask]

    def compute(self, q: Array, k: Array, v: Array, mask: Array) -> Array:
        """Return the results in f64."""
        q, k, v = (array.astype(np.float64) for array in (q, k, v))
        scores = np.einsum("hgmd,hnd->hgmn", q, k) * 0.25
        i, j = np.arange(self.rows)[:, None], np.arange(self.keys)[None, :]
        if self.mask in _HIDDEN:
            scores = np.where(_HIDDEN[self.mask](i, j, self), -np.inf, scores)
        elif self.mask == "added":
            scores = scores + mask
        elif self.mask == "chosen":
            scores = np.where(mask > 0, scores, -np.inf)
        base = 2.0 if self.spelling == "exp2" else np.e
        with np.errstate(invalid="ignore"):
            largest = scores.max(-1, keepdims=True, initial=-np.inf)
            weights = base ** (scores - largest)
            weights /= weights.sum(-1, keepdims=True)
        if self.spelling == "guarded":
            weights = np.where(np.isneginf(largest), 0.0, weights)
        return np.asarray(np.einsum("hgmn,hne->hgme", weights, v))

    @property
    def tolerance(self) -> float:
        return {"f32": 2e-5, "f16": 2e-3, "bf16": 2e-2}[self.kind]


def _numpy_type(kind: str) -> Any:
    if kind == "bf16":
        from ml_dtypes import bfloat16

        return bfloat16
    return {"f32": np.float32, "f16": np.float16}[kind]


def _by_indices(condition: str) -> tuple[str, str]:
    """Return a mask that leaves the scores for which the condition, ``%1``, holds."""
    return (
        "%unused: f32",
        "%0 = arith.mulf %a, %scale : f32\n"
        "    %i = linalg.index 2 : index\n"
        "    %j = linalg.index 3 : index\n"
        f"    {condition}\n"
        "    %score = arith.select %1, %0, %least : f32",
    )


_MASKS = {
    "none": ("%unused: f32", "%score = arith.mulf %a, %scale : f32"),
    "added": (
        "%b: f32",
        "%0 = arith.mulf %a, %scale : f32\n    %score = arith.addf %0, %b : f32",
    ),
    "chosen": (
        "%b: f32",
        "%0 = arith.mulf %a, %scale : f32\n"
        "    %1 = arith.cmpf ogt, %b, %zero : f32\n"
        "    %score = arith.select %1, %0, %least : f32",
    ),
    "causal": (
        "%unused: f32",
        "%0 = arith.mulf %a, %scale : f32\n"
        "    %i = linalg.index 2 : index\n"
        "    %j = linalg.index 3 : index\n"
        "    %1 = arith.cmpi sgt, %j, %i : index\n"
        "    %score = arith.select %1, %least, %0 : f32",
    ),
    # The last row is the one that has the last key, as where earlier keys are kept.
    "latest": _by_indices(
        "%far = arith.subi %n, %m : index\n"
        "    %end = arith.addi %i, %far : index\n"
        "    %1 = arith.cmpi sle, %j, %end : index"
    ),
    # No key is left of some rows.
    "later": _by_indices(
        "%c100 = arith.constant 100 : index\n"
        "    %end = arith.subi %i, %c100 : index\n"
        "    %1 = arith.cmpi sge, %end, %j : index"
    ),
    # 100 keys up to the row's own.
    "window": _by_indices(
        "%c100 = arith.constant 100 : index\n"
        "    %end = arith.addi %j, %c100 : index\n"
        "    %2 = arith.cmpi sgt, %end, %i : index\n"
        "    %3 = arith.cmpi sle, %j, %i : index\n"
        "    %1 = arith.andi %2, %3 : i1"
    ),
    "unsigned": _by_indices("%1 = arith.cmpi ule, %j, %i : index"),
    # As JAX writes it: indices are compared in 32 bits.
    "causal-i32": _by_indices(
        "%row = arith.index_cast %i : index to i32\n"
        "    %column = arith.index_cast %j : index to i32\n"
        "    %1 = arith.cmpi sge, %row, %column : i32"
    ),
    "window-i32": _by_indices(
        "%row = arith.index_cast %i : index to i32\n"
        "    %column = arith.index_cast %j : index to i32\n"
        "    %c100 = arith.constant 100 : i32\n"
        "    %first = arith.subi %row, %c100 : i32\n"
        "    %2 = arith.cmpi slt, %first, %column : i32\n"
        "    %3 = arith.cmpi sle, %column, %row : i32\n"
        "    %1 = arith.andi %2, %3 : i1"
    ),
    # Sums that wrap: rows from 100 on are less than all columns.
    "wrapping-i32": _by_indices(
        "%row = arith.index_cast %i : index to i32\n"
        "    %column = arith.index_cast %j : index to i32\n"
        "    %most = arith.constant 2147483548 : i32\n"
        "    %end = arith.addi %row, %most : i32\n"
        "    %1 = arith.cmpi sle, %column, %end : i32"
    ),
    # As PyTorch writes it: what is added is 0 or minus infinity.
    "added-causal": (
        "%unused: f32",
        "%0 = arith.mulf %a, %scale : f32\n"
        "    %i = linalg.index 2 : index\n"
        "    %j = linalg.index 3 : index\n"
        "    %row = arith.index_cast %i : index to i64\n"
        "    %column = arith.index_cast %j : index to i64\n"
        "    %1 = arith.cmpi sle, %column, %row : i64\n"
        "    %2 = arith.select %1, %zero, %least : f32\n"
        "    %score = arith.addf %0, %2 : f32",
    ),
}

_HIDDEN: dict[str, Callable[[Array, Array, Attention], Array]] = {
    "causal": lambda i, j, _: j > i,
    "added-causal": lambda i, j, _: j > i,
    "unsigned": lambda i, j, _: j > i,
    "latest": lambda i, j, of: j > i + of.keys - of.rows,
    "later": lambda i, j, _: j > i - 100,
    "window": lambda i, j, _: (j > i) | (j + 100 <= i),
    "causal-i32": lambda i, j, _: j > i,
    "window-i32": lambda i, j, _: (j > i) | (j + 100 <= i),
    "wrapping-i32": lambda i, j, _: (i >= 100) | (j < 0),
}

_EXTENDED = "%c = arith.extf %a : {t} to f32\n    %d = arith.extf %b : {t} to f32\n    "

_NARROWED = """
  %j = tensor.empty({sizes}) : !w
  %f = linalg.generic {{indexing_maps = [#id, #id], iterator_types = #four}}
      ins(%r : !s) outs(%j : !w) {{
  ^bb0(%a: f32, %o: {t}):
    %0 = arith.truncf %a : f32 to {t}
    linalg.yield %0 : {t}
  }} -> !w"""

_SCALED = """
  %half = arith.constant 0.5 : f32
  %qe = tensor.empty({row}) : !qf
  %ke = tensor.empty({keys}) : !kf
  %ve = tensor.empty({keys}) : !vf
  %qs = linalg.generic {{indexing_maps = [#id, #id], iterator_types = #four}}
      ins(%q : !q) outs(%qe : !qf) {{
  ^bb0(%a: {t}, %o: f32):
    %0 = arith.extf %a : {t} to f32
    %1 = arith.mulf %0, %half : f32
    linalg.yield %1 : f32
  }} -> !qf
  %ks = linalg.generic {{indexing_maps = [#id3, #id3], iterator_types = #three}}
      ins(%k : !k) outs(%ke : !kf) {{
  ^bb0(%a: {t}, %o: f32):
    %0 = arith.extf %a : {t} to f32
    %1 = arith.mulf %0, %half : f32
    linalg.yield %1 : f32
  }} -> !kf
  %vs = linalg.generic {{indexing_maps = [#id3, #id3], iterator_types = #three}}
      ins(%v : !v) outs(%ve : !vf) {{
  ^bb0(%a: {t}, %o: f32):
    %0 = arith.extf %a : {t} to f32
    linalg.yield %0 : f32
  }} -> !vf"""

_LARGEST = """
  %ml = linalg.fill ins(%least : f32) outs(%er : !r) -> !r
  %l = linalg.generic {{indexing_maps = [#id, #row], iterator_types = #sum}}
      ins(%t : !s) outs(%ml : !r) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  }} -> !r
  %p = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = #four}}
      ins(%t, %l : !s, !r) outs(%e : !s) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.{log} %0 : f32
    linalg.yield %1 : f32
  }} -> !s"""

_DIVIDED = """
  %zl = linalg.fill ins(%zero : f32) outs(%er : !r) -> !r
  %y = linalg.generic {{indexing_maps = [#id, #row], iterator_types = #sum}}
      ins(%p : !s) outs(%zl : !r) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }} -> !r
  %r = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = #four}}
      ins(%p, %y : !s, !r) outs(%e : !s) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  }} -> !s"""

_GUARDED = """
  %zl = linalg.fill ins(%zero : f32) outs(%er : !r) -> !r
  %y = linalg.generic {{indexing_maps = [#id, #row], iterator_types = #sum}}
      ins(%p : !s) outs(%zl : !r) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }} -> !r
  %ei = tensor.empty({row}) : !i
  %ti = linalg.fill ins(%true : i1) outs(%ei : !i) -> !i
  %i = linalg.generic {{indexing_maps = [#id, #row], iterator_types = #sum}}
      ins(%t : !s) outs(%ti : !i) {{
  ^bb0(%a: f32, %o: i1):
    %0 = arith.cmpf oeq, %a, %least : f32
    %1 = arith.andi %0, %o : i1
    linalg.yield %1 : i1
  }} -> !i
  %r = linalg.generic {{indexing_maps = [#id, #row, #row, #id], iterator_types = #four}}
      ins(%p, %y, %i : !s, !r, !i) outs(%e : !s) {{
  ^bb0(%a: f32, %b: f32, %c: i1, %o: f32):
    %0 = arith.divf %a, %b : f32
    %1 = arith.select %c, %zero, %0 : f32
    linalg.yield %1 : f32
  }} -> !s"""

_WEIGHTS = {
    "softmax": _LARGEST + _DIVIDED,
    "exp2": _LARGEST + _DIVIDED,
    "guarded": _LARGEST + _GUARDED,
}

_TEXT = """
#q = affine_map<(h, g, m, n, d) -> (h, g, m, d)>
#k = affine_map<(h, g, m, n, d) -> (h, n, d)>
#s = affine_map<(h, g, m, n, d) -> (h, g, m, n)>
#w = affine_map<(h, g, m, e, n) -> (h, g, m, n)>
#v = affine_map<(h, g, m, e, n) -> (h, n, e)>
#o = affine_map<(h, g, m, e, n) -> (h, g, m, e)>
#id = affine_map<(h, g, m, n) -> (h, g, m, n)>
#mask = affine_map<(h, g, m, n) -> (m, n)>
#row = affine_map<(h, g, m, n) -> (h, g, m)>
#id3 = affine_map<(h, n, d) -> (h, n, d)>
#three = ["parallel", "parallel", "parallel"]
#four = ["parallel", "parallel", "parallel", "parallel"]
#sum = ["parallel", "parallel", "parallel", "reduction"]
#product = ["parallel", "parallel", "parallel", "parallel", "reduction"]
!q = tensor<{h}x{g}x{m}x{d}x{t}>
!k = tensor<{h}x{n}x{d}x{t}>
!v = tensor<{h}x{n}x{e}x{t}>
!qf = tensor<{h}x{g}x{m}x{d}x{f}>
!kf = tensor<{h}x{n}x{d}x{f}>
!vf = tensor<{h}x{n}x{e}x{f}>
!m = tensor<{m}x{n}xf32>
!s = tensor<{h}x{g}x{m}x{n}xf32>
!w = tensor<{h}x{g}x{m}x{n}x{f}>
!r = tensor<{h}x{g}x{m}xf32>
!i = tensor<{h}x{g}x{m}xi1>
!o = tensor<{h}x{g}x{m}x{e}xf32>
func.func @main(%q: !q, %k: !k, %v: !v, %mask: !m) -> !o {{
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %scale = arith.constant {scale} : f32
  %least = arith.constant 0xFF800000 : f32
  %m = tensor.dim %q, %c2 : !q
  %n = tensor.dim %k, %c1 : !k{scaled}
  %e = tensor.empty({sizes}) : !s
  %er = tensor.empty({row}) : !r
  %z = linalg.fill ins(%zero : f32) outs(%e : !s) -> !s
  %s = linalg.generic {{indexing_maps = [#q, #k, #s], iterator_types = #product}}
      ins({names} : !qf, !kf) outs(%z : !s) {{
  ^bb0(%a: {f}, %b: {f}, %o: f32):
    {extended}%0 = arith.mulf {factors} : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }} -> !s
  %t = linalg.generic {{indexing_maps = [#id, #mask, #id], iterator_types = #four}}
      ins(%s, %mask : !s, !m) outs(%e : !s) {{
  ^bb0(%a: f32, {mask}, %o: f32):
    {score}
    linalg.yield %score : f32
  }} -> !s{weights}{narrowed}
  %x = tensor.empty({row}) : !o
  %u = linalg.fill ins(%zero : f32) outs(%x : !o) -> !o
  %result = linalg.generic {{indexing_maps = [#w, #v, #o], iterator_types = #product}}
      ins({shares}, {values} : !w, !vf) outs(%u : !o) {{
  ^bb0(%a: {f}, %b: {f}, %o: f32):
    {extended}%0 = arith.mulf {factors} : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }} -> !o
  return %result : !o
}}
"""
