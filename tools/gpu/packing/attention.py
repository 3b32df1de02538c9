"""Attention of 16 bits as operations of linalg."""

from __future__ import annotations

ATTENTION_MAPS = """\
#q = affine_map<(b, m, n, k) -> (b, m, k)>
#k = affine_map<(b, m, n, k) -> (b, n, k)>
#s = affine_map<(b, m, n, k) -> (b, m, n)>
#v = affine_map<(b, m, n, k) -> (b, k, n)>
#id = affine_map<(b, m, n) -> (b, m, n)>"""

# As torch-mlir decomposes scaled_dot_product_attention.
_BODY = """\
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant {scale} : f32
  %least = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : {s}
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : {s}) -> {s}
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%x0, %x1 : {q}, {k}) outs(%z0 : {s}) -> {s}
  %t = linalg.generic {{
      indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%s : {s}) outs(%e0 : {s}) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %scale : f32{mask}
    linalg.yield %{score} : f32
  }} -> {s}
  %p = linalg.softmax dimension(2) ins(%t : {s}) outs(%e0 : {s}) -> {s}
  %e1 = tensor.empty() : {p}
  %h = linalg.generic {{
      indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%p : {s}) outs(%e1 : {p}) {{
  ^bb0(%a: f32, %o: {kind}):
    %0 = arith.truncf %a : f32 to {kind}
    linalg.yield %0 : {kind}
  }} -> {p}
  %e2 = tensor.empty() : {w}
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : {w}) -> {w}
  %u = linalg.contract indexing_maps = [#q, #v, #s]
      ins(%h, %x2 : {p}, {k}) outs(%z2 : {w}) -> {w}
  %r = linalg.generic {{
      indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%u : {w}) outs(%e : {q}) {{
  ^bb0(%a: f32, %o: {kind}):
    %0 = arith.truncf %a : f32 to {kind}
    linalg.yield %0 : {kind}
  }} -> {q}"""


_CAUSAL = """
    %m = linalg.index 1 : index
    %n = linalg.index 2 : index
    %later = arith.cmpi sgt, %n, %m : index
    %1 = arith.select %later, %least, %0 : f32"""


def write_attention(
    heads: int, rows: int, keys: int, width: int, kind: str = "f16", *, is_causal: bool = False
) -> str:
    """Return what makes `%r` of queries `%x0`, keys `%x1` and values `%x2`, in `%e`."""
    return _BODY.format(
        scale=repr(width**-0.5),
        kind=kind,
        mask=_CAUSAL if is_causal else "",
        score="1" if is_causal else "0",
        q=f"tensor<{heads}x{rows}x{width}x{kind}>",
        k=f"tensor<{heads}x{keys}x{width}x{kind}>",
        s=f"tensor<{heads}x{rows}x{keys}xf32>",
        p=f"tensor<{heads}x{rows}x{keys}x{kind}>",
        w=f"tensor<{heads}x{rows}x{width}xf32>",
    )
