"""What memory-bound kernels move, as the emulator counts it: each byte once, 16 at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import pipeline
from linalg.linalg_programs.program import DTYPES, Array, coarse, whole

_ROWS = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> ()>
!t = tensor<{m}x{n}x{kind}>
"""

_SUM = (
    _ROWS
    + """
!r = tensor<{result}{kind}>
func.func @main(%x: !t) -> !r {{
  %zero = arith.constant {zero} : {kind}
  %e = tensor.empty() : !r
  %f = linalg.fill ins(%zero : {kind}) outs(%e : !r) -> !r
  %y = linalg.generic {{indexing_maps = [#id, #{along}], iterator_types = [{kinds}]}}
      ins(%x : !t) outs(%f : !r) {{
  ^bb0(%p: {kind}, %o: {kind}):
    %s = {add} %p, %o : {kind}
    linalg.yield %s : {kind}
  }} -> !r
  return %y : !r
}}
"""
)

_SOFTMAX = """
!t = tensor<{m}x{n}x{kind}>
func.func @main(%x: !t) -> !t {{
  %e = tensor.empty() : !t
  %y = linalg.softmax dimension(1) ins(%x : !t) outs(%e : !t) -> !t
  return %y : !t
}}
"""

_NORM = (
    _ROWS
    + """
!r = tensor<{m}x{kind}>
func.func @main(%x: !t) -> !t {{
  %zero = arith.constant 0.0 : {kind}
  %n = arith.constant {n}.0 : {kind}
  %one = arith.constant 1.0 : {kind}
  %er = tensor.empty() : !r
  %e = tensor.empty() : !t
  %f = linalg.fill ins(%zero : {kind}) outs(%er : !r) -> !r
  %s = linalg.generic {{indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x : !t) outs(%f : !r) {{
  ^bb0(%p: {kind}, %o: {kind}):
    %0 = arith.addf %p, %o : {kind}
    linalg.yield %0 : {kind}
  }} -> !r
  %v = linalg.generic {{indexing_maps = [#id, #row, #row],
                       iterator_types = ["parallel", "reduction"]}}
      ins(%x, %s : !t, !r) outs(%f : !r) {{
  ^bb0(%p: {kind}, %q: {kind}, %o: {kind}):
    %mean = arith.divf %q, %n : {kind}
    %d = arith.subf %p, %mean : {kind}
    %0 = arith.mulf %d, %d : {kind}
    %1 = arith.addf %0, %o : {kind}
    linalg.yield %1 : {kind}
  }} -> !r
  %y = linalg.generic {{indexing_maps = [#id, #row, #row, #id],
                       iterator_types = ["parallel", "parallel"]}}
      ins(%x, %s, %v : !t, !r, !r) outs(%e : !t) {{
  ^bb0(%p: {kind}, %q: {kind}, %w: {kind}, %o: {kind}):
    %mean = arith.divf %q, %n : {kind}
    %d = arith.subf %p, %mean : {kind}
    %0 = arith.divf %w, %n : {kind}
    %1 = arith.addf %0, %one : {kind}
    %2 = math.rsqrt %1 : {kind}
    %3 = arith.mulf %d, %2 : {kind}
    linalg.yield %3 : {kind}
  }} -> !t
  return %y : !t
}}
"""
)

_TRANSPOSE = """
func.func @main(%x: tensor<{m}x{n}x{kind}>) -> tensor<{n}x{m}x{kind}> {{
  %e = tensor.empty() : tensor<{n}x{m}x{kind}>
  %y = linalg.transpose ins(%x : tensor<{m}x{n}x{kind}>) outs(%e : tensor<{n}x{m}x{kind}>)
      permutation = [1, 0]
  return %y : tensor<{n}x{m}x{kind}>
}}
"""


class _Moved(NamedTuple):
    """Bytes of global memory: all, in accesses of 16, of whole sectors; barriers of a block."""

    total: int
    wide: int
    sectors: int
    barriers: float


def _count(module: pipeline.Module, *arrays: Array) -> _Moved:
    total = wide = sectors = 0
    barriers = 0.0
    for report in module.emulate(*arrays, options=pipeline.Options(statistics=True)):
        assert report.statistics is not None
        barriers = max(barriers, report.statistics.barriers / report.blocks)
        for place in report.statistics.per_access:
            if place.space != "global":
                continue
            moved = place.bytes * place.accesses
            total += moved
            wide += moved if place.bytes == 16 else 0
            sectors += 32 * place.sectors
    return _Moved(total, wide, sectors, barriers)


def _make(shape: tuple[int, ...], kind: str) -> Array:
    given = (whole if kind[0] == "i" else coarse)(*shape, kind=kind)
    return np.asarray(given.make(np.random.default_rng(7)))


def _reference(name: str, x: Array) -> Array:
    wide = x.astype(np.int64 if x.dtype.kind == "i" else np.float64)
    if name == "softmax":
        raised = np.exp(wide - wide.max(1, keepdims=True))
        made = raised / raised.sum(1, keepdims=True)
    elif name == "norm":
        centred = wide - wide.mean(1, keepdims=True)
        made = centred / np.sqrt((centred * centred).mean(1, keepdims=True) + 1)
    elif name == "transpose":
        made = wide.T
    else:
        made = wide.sum({"row": 1, "column": 0, "all": None}[name])
    return np.asarray(made).astype(x.dtype)


def _spell(name: str, m: int, n: int, kind: str) -> str:
    text = {"softmax": _SOFTMAX, "norm": _NORM, "transpose": _TRANSPOSE}.get(name, _SUM)
    loops = {
        "row": '"parallel", "reduction"',
        "column": '"reduction", "parallel"',
        "all": '"reduction", "reduction"',
    }
    is_whole = kind[0] == "i"
    return text.format(
        m=m,
        n=n,
        kind=kind,
        along=name,
        kinds=loops.get(name, ""),
        result={"row": f"{m}x", "column": f"{n}x"}.get(name, ""),
        zero="0" if is_whole else "0.0",
        add="arith.addi" if is_whole else "arith.addf",
    )


@pytest.mark.parametrize(
    ("name", "m", "n", "kind"),
    [
        ("softmax", 24, 1024, "f32"),
        ("softmax", 24, 1000, "f32"),
        ("softmax", 12, 4096, "f16"),
        ("norm", 24, 1024, "f32"),
        ("norm", 24, 1544, "f32"),
        ("transpose", 128, 192, "f32"),
        ("transpose", 128, 192, "f16"),
        ("row", 48, 1024, "f32"),
        ("column", 520, 256, "f32"),
        ("column", 520, 256, "i32"),
        ("all", 64, 1024, "f32"),
        ("all", 64, 1024, "i8"),
    ],
)
def test_each_byte_is_moved_once(name: str, m: int, n: int, kind: str) -> None:
    """What is read and written is what there is, by 16 bytes, with two barriers at most."""
    module = pipeline.compile(_spell(name, m, n, kind))
    x = _make((m, n), kind)
    expected = _reference(name, x)
    found = module.run(x, check="races")
    tolerance = 2e-3 if kind == "f16" else 1e-5
    np.testing.assert_allclose(
        found.astype("f8"), expected.astype("f8"), rtol=tolerance, atol=tolerance
    )
    moved = _count(module, x)
    # Results of sums are few; partial ones of blocks that share a sum are few, too.
    least = x.nbytes + (expected.nbytes if expected.ndim == 2 else 0)
    few = 0 if expected.ndim == 2 else least // 10
    assert least <= moved.total <= least + few
    assert moved.wide >= least
    assert moved.sectors <= least + 4 * few
    assert moved.barriers <= 2
    for kernel in module.kernels.values():
        resources = kernel.resources
        assert resources.spill_store_bytes == resources.stack_bytes == 0


_PRODUCT = """
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> ({of_b})>
#c = affine_map<(m, n, k) -> (m, n)>
!a = tensor<{m}x{k}x{kind}>
!b = tensor<{b}x{kind}>
!c = tensor<{m}x{n}x{total}>
func.func @main(%a: !a, %b: !b) -> !c {{
  %zero = arith.constant {zero} : {total}
  %e = tensor.empty() : !c
  %f = linalg.fill ins(%zero : {total}) outs(%e : !c) -> !c
  %r = linalg.generic {{indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : !a, !b) outs(%f : !c) {{
  ^bb0(%x: {kind}, %y: {kind}, %o: {total}):
    {body}
    linalg.yield %s : {total}
  }} -> !c
  return %r : !c
}}
"""

_BODIES = {
    "f32": ("f32", "%p = arith.mulf %x, %y : f32\n    %s = arith.addf %o, %p : f32"),
    "f16": (
        "f32",
        "%u = arith.extf %x : f16 to f32\n    %v = arith.extf %y : f16 to f32\n"
        "    %p = arith.mulf %u, %v : f32\n    %s = arith.addf %o, %p : f32",
    ),
    "i8": (
        "i32",
        "%u = arith.extsi %x : i8 to i32\n    %v = arith.extsi %y : i8 to i32\n"
        "    %p = arith.muli %u, %v : i32\n    %s = arith.addi %o, %p : i32",
    ),
}


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize(
    ("m", "kind"),
    [(1, "f32"), (1, "f16"), (1, "i8"), (4, "f32"), (4, "i8"), (8, "f16"), (8, "f32")],
)
def test_matrices_are_read_once(m: int, kind: str, is_transposed: bool) -> None:
    """Whatever multiplies it, a matrix is read once, and by accesses of 16 bytes."""
    n, k = 768, 512
    total, body = _BODIES[kind]
    text = _PRODUCT.format(
        m=m,
        n=n,
        k=k,
        kind=kind,
        total=total,
        body=body,
        zero="0" if total[0] == "i" else "0.0",
        of_b="n, k" if is_transposed else "k, n",
        b=f"{n}x{k}" if is_transposed else f"{k}x{n}",
    )
    module = pipeline.compile(text)
    a, b = _make((m, k), kind), _make((n, k) if is_transposed else (k, n), kind)
    found = module.run(a, b, check="races")
    wide = np.int64 if total == "i32" else np.float64
    expected = a.astype(wide) @ (b.T if is_transposed else b).astype(wide)
    np.testing.assert_allclose(found, expected.astype(DTYPES[total]), rtol=1e-4, atol=1e-4)
    reports = module.emulate(a, b, options=pipeline.Options(statistics=True))
    assert reports[0].statistics is not None
    reads = [
        place
        for place in reports[0].statistics.per_access
        if (place.space, place.kind) == ("global", "read")
    ]
    # A thread has four rows along the matrix at once, for which it reads the vectors again; across
    # it, a warp reads 512 bytes, and these once.
    again = m / 4 if is_transposed else 0.3
    assert b.nbytes <= 32 * sum(place.sectors for place in reads) <= (1.15 + again) * b.nbytes
    narrow = sum(place.sectors for place in reads if place.bytes < 16)
    assert 32 * narrow <= (0.02 if is_transposed else 0.3) * b.nbytes
    assert all(
        report.statistics and report.statistics.barriers <= report.blocks for report in reports
    )
