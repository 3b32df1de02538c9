"""The programs of `bench compilers`: a matmul, and a block of a network of twenty operations."""

from __future__ import annotations

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


def network() -> str:
    """Return layers of fill, matmul, bias, relu and scaling."""
    numbers = range(1, len(WIDTHS))
    types = [f"!t{n} = tensor<{ROWS}x{width}xf32>\n" for n, width in enumerate(WIDTHS)]
    for n in numbers:
        types.append(f"!w{n} = tensor<{WIDTHS[n - 1]}x{WIDTHS[n]}xf32>\n")
        types.append(f"!b{n} = tensor<{WIDTHS[n]}xf32>\n")
    arguments = ["%x0: !t0"] + [f"%w{n}: !w{n}, %b{n}: !b{n}" for n in numbers]
    last = len(WIDTHS) - 1
    return (
        "#id = affine_map<(i, j) -> (i, j)>\n#row = affine_map<(i, j) -> (j)>\n"
        + "".join(types)
        + f"func.func @main({', '.join(arguments)}) -> !t{last} {{\n"
        + "  %zero = arith.constant 0.0 : f32\n  %half = arith.constant 0.5 : f32\n"
        + "".join(_LAYER.format(n=n, before=n - 1) for n in numbers)
        + f"  return %x{last} : !t{last}\n}}\n"
    )


PROGRAMS = {"matmul": MATMUL, "network": network()}
