"""Pieces of random programs: parallel loops on tensors."""

from __future__ import annotations

import numpy as np

from linalg.loop_shapes import (
    Array,
    Piece,
    Shape,
    describe_tile,
    identity_map,
    ids_of,
    insert_slice,
    make_forall,
    make_function,
    make_generic,
    take_slice,
)


def make_tiles(
    shape: Shape,
    tile: list[int],
    part: tuple[list[str], str],
    steps: str,
    *,
    result: str = "%v",
    before: str | None = None,
    shared: str = "%e",
) -> str:
    """Return a function whose loop makes each tile, of the sizes and dims `part`, by `steps`.

    These end in `result`, which goes into the tile of `shared`, `%o` in the loop. What stands
    `before` the loop is an empty `%e` if nothing else is given.
    """
    loop = make_forall(shape, tile, f" shared_outs(%o = {shared}) -> ({shape.type})")
    body = f"""\
{shape.empty() if before is None else before}\
  %r = {loop}{steps}\
    scf.forall.in_parallel {{
{insert_slice(shape, result, "%o", *part)}\
    }}
  }}
  return %r : {shape.type}
}}
"""
    return make_function(shape, body)


def tiles_of_tensors(shape: Shape) -> Piece:
    """Element-wise operations on tiles, the second of what the first makes for the block."""
    tile = shape.choose_tile()
    minimum, dims, _, sizes = describe_tile(shape, tile)
    first, second = shape.number(), shape.number()
    asked = ", ".join(size for size in sizes if size.startswith("%"))
    kind = f"tensor<{dims}x{shape.element}>"
    steps = (
        minimum
        + take_slice(shape, "a", "%x", sizes, dims)
        + take_slice(shape, "b", "%o", sizes, dims)
        + f"    %t = tensor.empty({asked}) : {kind}\n"
        + make_generic(shape, "u", "%a", "%a", "%t", dims, first)
        + make_generic(shape, "v", "%u", "%a", "%b", dims, second)
    )
    return Piece(
        make_tiles(shape, tile, (sizes, dims), steps), lambda x: (x * first + x) * second + x
    )


def updates_of_tensors(shape: Shape) -> Piece:
    """Tiles of a tensor are updated, with what another one of it has been before."""
    tile = shape.choose_tile()
    minimum, dims, _, sizes = describe_tile(shape, tile)
    number = shape.number()
    zeros = ", ".join(["%c0"] * shape.rank)
    e, s = shape.element, shape.suffix
    steps = (
        minimum
        + f"    %first = tensor.extract %o[{zeros}] : {shape.type}\n"
        + take_slice(shape, "b", "%o", sizes, dims)
        + f"""\
    %v = linalg.generic {{indexing_maps = [{identity_map(shape.rank)}],
        iterator_types = [{", ".join(['"parallel"'] * shape.rank)}]}}
        outs(%b : tensor<{dims}x{e}>) {{
      ^bb0(%p: {e}):
        {shape.constant("k", number).strip()}
        %w = arith.mul{s} %p, %k : {e}
        %y = arith.add{s} %w, %first : {e}
        linalg.yield %y : {e}
    }} -> tensor<{dims}x{e}>
"""
    )
    return Piece(
        make_tiles(shape, tile, (sizes, dims), steps, before="", shared="%x"),
        lambda x: x * number + x.flat[0],
    )


def points_of_tensors(shape: Shape) -> Piece:
    """Each iteration computes one element."""
    ids, ones = ", ".join(ids_of(shape)), ["1"] * shape.rank
    e, s = shape.element, shape.suffix
    one = "x".join(ones)
    zeros = ", ".join(["%c0"] * shape.rank)
    number = shape.number()
    steps = (
        shape.constant("k", number)
        + f"    %v = tensor.extract %x[{ids}] : {shape.type}\n"
        + f"    %w = arith.mul{s} %v, %k : {e}\n    %y = arith.add{s} %w, %v : {e}\n"
        + take_slice(shape, "b", "%o", ones, one)
        + f"    %t = tensor.insert %y into %b[{zeros}] : tensor<{one}x{e}>\n"
    )
    return Piece(
        make_tiles(shape, [1] * shape.rank, (ones, one), steps, result="%t"),
        lambda x: x * number + x,
    )


def sums_of_tensors(shape: Shape) -> Piece:
    """Tiles of rows: each element gets the sum of its row in the tile."""
    tile = shape.choose_tile()
    minimum, dims, _, sizes = describe_tile(shape, tile)
    e, s, rank = shape.element, shape.suffix, shape.rank
    kind = f"tensor<{dims}x{e}>"
    row_sizes = ", ".join(size for size in sizes[:-1] if size.startswith("%"))
    row = "tensor<" + "".join(f"{dim}x" for dim in dims.split("x")[:-1]) + f"{e}>"
    names = [f"d{dim}" for dim in range(rank)]
    rows = f"affine_map<({', '.join(names)}) -> ({', '.join(names[:-1])})>"
    parallel = ", ".join(['"parallel"'] * (rank - 1) + ['"reduction"'])
    steps = (
        minimum
        + take_slice(shape, "a", "%x", sizes, dims)
        + take_slice(shape, "b", "%o", sizes, dims)
        + shape.constant("zero", 0)
        + f"    %t = tensor.empty({row_sizes}) : {row}\n"
        + f"    %f = linalg.fill ins(%zero : {e}) outs(%t : {row}) -> {row}\n"
        + f"""\
    %u = linalg.generic {{indexing_maps = [{identity_map(rank)}, {rows}],
        iterator_types = [{parallel}]}} ins(%a : {kind}) outs(%f : {row}) {{
      ^bb0(%p: {e}, %q: {e}):
        %y = arith.add{s} %p, %q : {e}
        linalg.yield %y : {e}
    }} -> {row}
    %v = linalg.generic {{indexing_maps = [{identity_map(rank)}, {rows}, {identity_map(rank)}],
        iterator_types = [{", ".join(['"parallel"'] * rank)}]}}
        ins(%a, %u : {kind}, {row}) outs(%b : {kind}) {{
      ^bb0(%p: {e}, %q: {e}, %w: {e}):
        %y = arith.sub{s} %q, %p : {e}
        linalg.yield %y : {e}
    }} -> {kind}
"""
    )

    def make(x: Array) -> Array:
        result = np.empty_like(x)
        for start in range(0, x.shape[-1], tile[-1]):
            part = x[..., start : start + tile[-1]]
            sums = part.sum(-1, keepdims=True, dtype=x.dtype)
            result[..., start : start + tile[-1]] = sums - part
        return result

    return Piece(make_tiles(shape, tile, (sizes, dims), steps), make)


def loops_in_loops_of_tensors(shape: Shape) -> Piece:
    """Tiles, and in each a loop over its elements."""
    tile = shape.choose_tile()
    minimum, dims, _, sizes = describe_tile(shape, tile)
    e, s, rank = shape.element, shape.suffix, shape.rank
    kind, one = f"tensor<{dims}x{e}>", "x".join(["1"] * rank)
    inner = [f"%q{dim}" for dim in range(rank)]
    zeros, ones = ", ".join(["%c0"] * rank), ", ".join(["1"] * rank)
    at = ", ".join(inner)
    number = shape.number()
    steps = (
        minimum
        + take_slice(shape, "a", "%x", sizes, dims)
        + take_slice(shape, "b", "%o", sizes, dims)
        + f"""\
    %v = scf.forall ({at}) in ({", ".join(sizes)}) shared_outs(%p = %b) -> ({kind}) {{
    {shape.constant("k", number).strip()}
      %w = tensor.extract %a[{at}] : {kind}
      %y = arith.mul{s} %w, %k : {e}
      %g = tensor.extract_slice %p[{at}] [{ones}] [{ones}] : {kind} to tensor<{one}x{e}>
      %t = tensor.insert %y into %g[{zeros}] : tensor<{one}x{e}>
      scf.forall.in_parallel {{
        tensor.parallel_insert_slice %t into %p[{at}] [{ones}] [{ones}]
            : tensor<{one}x{e}> into {kind}
      }}
    }}
"""
    )
    return Piece(make_tiles(shape, tile, (sizes, dims), steps), lambda x: x * number)


def products_of_tensors(shape: Shape) -> Piece:
    """Tiles of a product with a matrix that adds up neighbours, in steps or at once."""
    if shape.rank != 2:
        return tiles_of_tensors(shape)
    tile = shape.choose_tile()
    minimum, dims, _, sizes = describe_tile(shape, tile)
    e, (rows, columns) = shape.element, dims.split("x")
    width = shape.dims.split("x")[1]
    asked = "%n1, %n1" if shape.is_dynamic[1] else ""
    step = shape.choose_tile()[1] if shape.rng.integers(2) else shape.extents[1]
    matrix, part = f"tensor<{width}x{width}x{e}>", f"tensor<{dims}x{e}>"
    one, zero = ("1.0", "0.0") if shape.suffix == "f" else ("1", "0")
    before = f"""{shape.empty()}\
  %step = arith.constant {step} : index
  %one = arith.constant {one} : {e}
  %zero = arith.constant {zero} : {e}
  %g = tensor.empty({asked}) : {matrix}
  %w = linalg.generic {{indexing_maps = [{identity_map(2)}],
      iterator_types = ["parallel", "parallel"]}} outs(%g : {matrix}) {{
    ^bb0(%q: {e}):
      %a = linalg.index 0 : index
      %b = linalg.index 1 : index
      %d = arith.subi %a, %b : index
      %near = arith.cmpi ule, %d, %c1 : index
      %v = arith.select %near, %one, %zero : {e}
      linalg.yield %v : {e}
  }} -> {matrix}
"""
    steps = f"""{minimum}\
{take_slice(shape, "b", "%o", sizes, dims)}\
    %f = linalg.fill ins(%zero : {e}) outs(%b : {part}) -> {part}
    %v = scf.for %k = %c0 to %n1 step %step iter_args(%t = %f) -> ({part}) {{
      %s = affine.min affine_map<(k)[n] -> ({step}, n - k)>(%k)[%n1]
      %x0 = tensor.extract_slice %x[%i0, %k] [{sizes[0]}, %s] [1, 1]
          : {shape.type} to tensor<{rows}x?x{e}>
      %w0 = tensor.extract_slice %w[%k, %i1] [%s, {sizes[1]}] [1, 1]
          : {matrix} to tensor<?x{columns}x{e}>
      %d = linalg.matmul ins(%x0, %w0 : tensor<{rows}x?x{e}>, tensor<?x{columns}x{e}>)
          outs(%t : {part}) -> {part}
      scf.yield %d : {part}
    }}
"""

    def make(x: Array) -> Array:
        result = x.copy()
        result[:, :-1] += x[:, 1:]
        return result

    return Piece(make_tiles(shape, tile, (sizes, dims), steps, before=before), make)
