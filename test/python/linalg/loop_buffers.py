"""Pieces of random programs: parallel loops on buffers."""

from __future__ import annotations

import numpy as np

from linalg.loop_shapes import (
    Array,
    Piece,
    Shape,
    describe_tile,
    identity_map,
    ids_of,
    make_forall,
    make_function,
)


def _parallel(names: list[str], lower: list[str], upper: list[str], step: list[str]) -> str:
    return (
        f"scf.parallel ({', '.join(names)}) = ({', '.join(lower)}) to ({', '.join(upper)}) "
        f"step ({', '.join(step)}) {{\n"
    )


def points_of_buffers(shape: Shape) -> Piece:
    """Each iteration stores elements: from an odd start, in steps."""
    starts = [int(shape.rng.integers(0, 3)) for _ in shape.extents]
    steps = [int(shape.rng.integers(1, 4)) for _ in shape.extents]
    ids, e, s = ", ".join(ids_of(shape)), shape.element, shape.suffix
    text = ""
    for dim in range(shape.rank):
        text += f"  %l{dim} = arith.constant {starts[dim]} : index\n"
        text += f"  %s{dim} = arith.constant {steps[dim]} : index\n"
    numbers = range(shape.rank)
    loop = _parallel(
        ids_of(shape),
        [f"%l{dim}" for dim in numbers],
        [f"%n{dim}" for dim in numbers],
        [f"%s{dim}" for dim in numbers],
    )
    body = f"""{text}  memref.copy %x, %y : {shape.type} to {shape.type}
  {loop}\
    %v = memref.load %x[{ids}] : {shape.type}
    %w = arith.add{s} %v, %v : {e}
    memref.store %w, %y[{ids}] : {shape.type}
  }}
  return
}}
"""

    def make(x: Array) -> Array:
        result = x.copy()
        result[tuple(slice(a, None, b) for a, b in zip(starts, steps, strict=True))] *= 2
        return result

    return Piece(make_function(shape, body), make)


def rows_of_buffers(shape: Shape) -> Piece:
    """A loop over rows, with a sum of each, and a loop over columns of two kinds of loops."""
    e, s, rank = shape.element, shape.suffix, shape.rank
    ids = ids_of(shape)
    row, last = ids[:-1], ids[-1]
    at = ", ".join(ids)
    numbers = range(rank - 1)
    if rank == 1:
        return points_of_buffers(shape)
    form = int(shape.rng.integers(3))
    if form == 0:
        total = f"""\
    %t = scf.for %q = %c0 to %n{rank - 1} step %c1 iter_args(%sum = %zero) -> ({e}) {{
      %v = memref.load %x[{", ".join([*row, "%q"])}] : {shape.type}
      %w = arith.add{s} %sum, %v : {e}
      scf.yield %w : {e}
    }}
"""
    elif form == 1:
        total = f"""\
    %t = scf.parallel (%q) = (%c0) to (%n{rank - 1}) step (%c1) init (%zero) -> {e} {{
      %v = memref.load %x[{", ".join([*row, "%q"])}] : {shape.type}
      scf.reduce(%v : {e}) {{
        ^bb0(%g: {e}, %h: {e}):
          %w = arith.add{s} %g, %h : {e}
          scf.reduce.return %w : {e}
      }}
    }}
"""
    else:
        total = f"""\
    %m = memref.alloca() : memref<{e}>
    memref.store %zero, %m[] : memref<{e}>
    scf.for %q = %c0 to %n{rank - 1} step %c1 {{
      %v = memref.load %x[{", ".join([*row, "%q"])}] : {shape.type}
      %u = memref.load %m[] : memref<{e}>
      %w = arith.add{s} %u, %v : {e}
      memref.store %w, %m[] : memref<{e}>
    }}
    %t = memref.load %m[] : memref<{e}>
"""
    upper = [f"%n{dim}" for dim in numbers]
    outer = _parallel(row, ["%c0"] * (rank - 1), upper, ["%c1"] * (rank - 1))
    inner = _parallel([last], ["%c0"], [f"%n{rank - 1}"], ["%c1"])
    if shape.rng.integers(2):
        inner = f"scf.for {last} = %c0 to %n{rank - 1} step %c1 {{\n"
    body = f"""{shape.constant("zero", 0)}  {outer}{total}    {inner}\
      %v = memref.load %x[{at}] : {shape.type}
      %w = arith.sub{s} %t, %v : {e}
      memref.store %w, %y[{at}] : {shape.type}
    }}
  }}
  return
}}
"""
    return Piece(make_function(shape, body), lambda x: x.sum(-1, keepdims=True, dtype=x.dtype) - x)


def tiles_of_buffers(shape: Shape) -> Piece:
    """Operations on views of tiles, a copy between, and an element that is stored besides."""
    tile = shape.choose_tile()
    minimum, dims, _, sizes = describe_tile(shape, tile)
    e, s, rank = shape.element, shape.suffix, shape.rank
    ones = ", ".join(["1"] * rank)
    strides = ["?"] * rank
    product = 1
    for dim in reversed(range(rank)):
        strides[dim] = str(product)
        if shape.is_dynamic[dim] or product < 0:
            product = -1
            strides[:dim] = ["?"] * dim
            break
        product *= shape.extents[dim]
    view = f"memref<{dims}x{e}, strided<[{', '.join(strides)}], offset: ?>>"
    at = ", ".join(ids_of(shape))
    parts = f"[{at}] [{', '.join(sizes)}] [{ones}] : {shape.type} to {view}"
    asked = ", ".join(size for size in sizes if size.startswith("%"))
    number = shape.number()
    maps = f"[{identity_map(rank)}, {identity_map(rank)}]"
    kinds = ", ".join(['"parallel"'] * rank)
    loop = make_forall(shape, tile, "")
    if shape.rng.integers(2):
        steps = [f"%s{dim}" for dim in range(rank)]
        constants = "".join(
            f"  {name} = arith.constant {size} : index\n"
            for name, size in zip(steps, tile, strict=True)
        )
        upper = [f"%n{dim}" for dim in range(rank)]
        loop = constants + _parallel(ids_of(shape), ["%c0"] * rank, upper, steps)
    body = f"""  {loop}{minimum}\
    %a = memref.subview %x{parts}
    %b = memref.subview %y{parts}
    %t = memref.alloc({asked}) : memref<{dims}x{e}>
    memref.copy %a, %t : {view} to memref<{dims}x{e}>
    linalg.generic {{indexing_maps = {maps}, iterator_types = [{kinds}]}}
        ins(%t : memref<{dims}x{e}>) outs(%b : {view}) {{
      ^bb0(%p: {e}, %q: {e}):
        {shape.constant("k", number).strip()}
        %w = arith.mul{s} %p, %k : {e}
        linalg.yield %w : {e}
    }}
    %g = memref.load %x[{at}] : {shape.type}
    memref.store %g, %y[{at}] : {shape.type}
    memref.dealloc %t : memref<{dims}x{e}>
  }}
  return
}}
"""

    def make(x: Array) -> Array:
        result = x * number
        corner = tuple(slice(None, None, size) for size in tile)
        result[corner] = x[corner]
        return np.asarray(result, x.dtype)

    return Piece(make_function(shape, body), make)
