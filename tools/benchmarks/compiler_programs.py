"""The programs of `bench compilers`: two matmuls, attention, and a block of twenty operations."""

from __future__ import annotations

from collections.abc import Sequence

MATMUL = """\
func.func @main(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>)
      outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}
"""
# On tensor cores, with sums in f32.
HALF_SIZE = 4096
HALF = f"""\
!factor = tensor<{HALF_SIZE}x{HALF_SIZE}xf16>
!sum = tensor<{HALF_SIZE}x{HALF_SIZE}xf32>
func.func @main(%a: !factor, %b: !factor, %c: !sum) -> !sum {{
  %r = linalg.matmul ins(%a, %b : !factor, !factor) outs(%c : !sum) -> !sum
  return %r : !sum
}}
"""
# Heads of a ragged attention in f16, rows and keys of each, and their width.
HEADS, LENGTH, WIDTH = 8, 1000, 64
ATTENTION = f"""\
#row = affine_map<(h, i, j, d) -> (h, i, d)>
#key = affine_map<(h, i, j, d) -> (h, j, d)>
#score = affine_map<(h, i, j, d) -> (h, i, j)>
#weight = affine_map<(h, i, d, j) -> (h, i, j)>
#value = affine_map<(h, i, d, j) -> (h, j, d)>
#result = affine_map<(h, i, d, j) -> (h, i, d)>
#same = affine_map<(h, i, j) -> (h, i, j)>
!vectors = tensor<{HEADS}x{LENGTH}x{WIDTH}xf16>
!sums = tensor<{HEADS}x{LENGTH}x{WIDTH}xf32>
!scores = tensor<{HEADS}x{LENGTH}x{LENGTH}xf32>
!weights = tensor<{HEADS}x{LENGTH}x{LENGTH}xf16>
func.func @main(%q: !vectors, %k: !vectors, %v: !vectors) -> !sums {{
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %e = tensor.empty() : !scores
  %f = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic {{indexing_maps = [#row, #key, #score],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%q, %k : !vectors, !vectors) outs(%f : !scores) {{
  ^bb0(%x: f16, %y: f16, %o: f32):
    %a = arith.extf %x : f16 to f32
    %b = arith.extf %y : f16 to f32
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %o, %p : f32
    linalg.yield %n : f32
  }} -> !scores
  %t = linalg.generic {{indexing_maps = [#same, #same],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%s : !scores) outs(%e : !scores) {{
  ^bb0(%x: f32, %o: f32):
    %n = arith.mulf %x, %scale : f32
    linalg.yield %n : f32
  }} -> !scores
  %w = linalg.softmax dimension(2) ins(%t : !scores) outs(%e : !scores) -> !scores
  %g = tensor.empty() : !weights
  %c = linalg.generic {{indexing_maps = [#same, #same],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%w : !scores) outs(%g : !weights) {{
  ^bb0(%x: f32, %o: f16):
    %n = arith.truncf %x : f32 to f16
    linalg.yield %n : f16
  }} -> !weights
  %u = tensor.empty() : !sums
  %z = linalg.fill ins(%zero : f32) outs(%u : !sums) -> !sums
  %r = linalg.generic {{indexing_maps = [#weight, #value, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%c, %v : !weights, !vectors) outs(%z : !sums) {{
  ^bb0(%x: f16, %y: f16, %o: f32):
    %a = arith.extf %x : f16 to f32
    %b = arith.extf %y : f16 to f32
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %o, %p : f32
    linalg.yield %n : f32
  }} -> !sums
  return %r : !sums
}}
"""
ROWS = 256
# Of the input, and of what each layer makes.
WIDTHS = (512, 1024, 512, 1024, 256)
OPERATIONS = 5 * (len(WIDTHS) - 1)

_LAYER = """\
  %e{n} = tensor.empty() : !t{n}
  %z{n} = linalg.fill ins(%zero : f32) outs(%e{n} : !t{n}) -> !t{n}
  %m{n} = linalg.matmul ins(%x{before}, %w{n} : !t{before}, !w{n}) outs(%z{n} : !t{n}) -> !t{n}
  %a{n} = linalg.generic {{indexing_maps = [#id, #row, #id],
      iterator_types = ["parallel", "parallel"]}}
      ins(%m{n}, %b{n} : !t{n}, !b{n}) outs(%e{n} : !t{n}) {{
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  }} -> !t{n}
  %r{n} = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%a{n} : !t{n}) outs(%e{n} : !t{n}) {{
  ^bb0(%p: f32, %o: f32):
    %s = arith.maximumf %p, %zero : f32
    linalg.yield %s : f32
  }} -> !t{n}
  %x{n} = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%r{n} : !t{n}) outs(%e{n} : !t{n}) {{
  ^bb0(%p: f32, %o: f32):
    %s = arith.mulf %p, %half : f32
    linalg.yield %s : f32
  }} -> !t{n}
"""


def network(widths: Sequence[int] = WIDTHS) -> str:
    """Return layers of fill, matmul, bias, relu and scaling, of which each makes such a width."""
    numbers = range(1, len(widths))
    types = [f"!t{n} = tensor<{ROWS}x{width}xf32>\n" for n, width in enumerate(widths)]
    for n in numbers:
        types.append(f"!w{n} = tensor<{widths[n - 1]}x{widths[n]}xf32>\n")
        types.append(f"!b{n} = tensor<{widths[n]}xf32>\n")
    arguments = ["%x0: !t0"] + [f"%w{n}: !w{n}, %b{n}: !b{n}" for n in numbers]
    last = len(widths) - 1
    return (
        "#id = affine_map<(i, j) -> (i, j)>\n#row = affine_map<(i, j) -> (j)>\n"
        + "".join(types)
        + f"func.func @main({', '.join(arguments)}) -> !t{last} {{\n"
        + "  %zero = arith.constant 0.0 : f32\n  %half = arith.constant 0.5 : f32\n"
        + "".join(_LAYER.format(n=n, before=n - 1) for n in numbers)
        + f"  return %x{last} : !t{last}\n}}\n"
    )


PROGRAMS = {"matmul": MATMUL, "half": HALF, "attention": ATTENTION, "network": network()}
