"""Arrays of random programs of parallel loops, and the text that works on parts of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Make = Callable[[Array], Array]


class Piece(NamedTuple):
    """A function from an array of one shape to a new one, and the same in NumPy."""

    text: str
    make: Make


class Shape:
    """An array's shape in the program: extents are numbers there, or known to the launch only."""

    def __init__(self, rng: np.random.Generator, kind: str, extents: tuple[int, ...]) -> None:
        self.rng = rng
        self.kind = kind
        self.extents = extents
        self.is_dynamic = [bool(rng.integers(3) == 0) for _ in extents]
        self.element = "f32" if rng.integers(2) else "i32"
        self.suffix = self.element[0]

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def dims(self) -> str:
        return "x".join(
            "?" if dynamic else str(extent)
            for extent, dynamic in zip(self.extents, self.is_dynamic, strict=True)
        )

    @property
    def type(self) -> str:
        return f"{self.kind}<{self.dims}x{self.element}>"

    def sizes(self) -> tuple[str, list[str]]:
        """Return the text that makes extents into values, and these."""
        text = ""
        for dim, extent in enumerate(self.extents):
            text += f"  %c{dim} = arith.constant {dim} : index\n"
            if self.is_dynamic[dim]:
                text += f"  %n{dim} = {self.kind}.dim %x, %c{dim} : {self.type}\n"
            else:
                text += f"  %n{dim} = arith.constant {extent} : index\n"
        return text, [f"%n{dim}" for dim in range(self.rank)]

    def empty(self) -> str:
        asked = ", ".join(f"%n{dim}" for dim in range(self.rank) if self.is_dynamic[dim])
        return f"  %e = tensor.empty({asked}) : {self.type}\n"

    def choose_tile(self, most: int = 20) -> list[int]:
        return [int(self.rng.integers(1, min(most, extent) + 1)) for extent in self.extents]

    def number(self) -> int:
        return int(self.rng.integers(1, 5))

    def constant(self, name: str, number: int) -> str:
        value = f"{number}.0" if self.suffix == "f" else str(number)
        return f"  %{name} = arith.constant {value} : {self.element}\n"


def ids_of(shape: Shape) -> list[str]:
    return [f"%i{dim}" for dim in range(shape.rank)]


def describe_tile(shape: Shape, tile: list[int]) -> tuple[str, str, str, list[str]]:
    """Return the text that computes the sizes of a tile, its dims, and the sizes."""
    text, dims, sizes = "", [], []
    ids = ids_of(shape)
    for dim, (extent, size) in enumerate(zip(shape.extents, tile, strict=True)):
        if not shape.is_dynamic[dim] and extent % size == 0:
            sizes.append(str(size))
            dims.append(str(size))
            continue
        text += (
            f"    %z{dim} = affine.min affine_map<(d)[s] -> ({size}, s - d)>({ids[dim]})[%n{dim}]\n"
        )
        sizes.append(f"%z{dim}")
        dims.append("?")
    ones = ", ".join("1" for _ in tile)
    return text, "x".join(dims), ones, sizes


def make_forall(shape: Shape, tile: list[int], results: str) -> str:
    _, sizes = shape.sizes()
    zeros = ", ".join("0" for _ in tile)
    steps = ", ".join(map(str, tile))
    return (
        f"scf.forall ({', '.join(ids_of(shape))}) = ({zeros}) to ({', '.join(sizes)}) "
        f"step ({steps}){results} {{\n"
    )


def make_function(shape: Shape, body: str, name: str = "NAME") -> str:
    sizes, _ = shape.sizes()
    return f"func.func VISIBILITY @{name}(ARGUMENTS){sizes}{body}"


def identity_map(rank: int) -> str:
    dims = ", ".join(f"d{dim}" for dim in range(rank))
    return f"affine_map<({dims}) -> ({dims})>"


def make_generic(
    shape: Shape, name: str, left: str, right: str, into: str, dims: str, number: int
) -> str:
    """Return an operation that computes `left` * number + `right` in a tile."""
    maps = ", ".join([identity_map(shape.rank)] * 3)
    kinds = ", ".join(['"parallel"'] * shape.rank)
    kind, e, s = f"tensor<{dims}x{shape.element}>", shape.element, shape.suffix
    return f"""\
    %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
        ins({left}, {right} : {kind}, {kind}) outs({into} : {kind}) {{
      ^bb0(%p: {e}, %q: {e}, %r: {e}):
        {shape.constant(name + "k", number).strip()}
        %{name}0 = arith.mul{s} %p, %{name}k : {e}
        %{name}1 = arith.add{s} %{name}0, %q : {e}
        linalg.yield %{name}1 : {e}
    }} -> {kind}
"""


def take_slice(shape: Shape, name: str, source: str, sizes: list[str], dims: str) -> str:
    ones = ", ".join(["1"] * shape.rank)
    return (
        f"    %{name} = tensor.extract_slice {source}[{', '.join(ids_of(shape))}] "
        f"[{', '.join(sizes)}] [{ones}] : {shape.type} to tensor<{dims}x{shape.element}>\n"
    )


def insert_slice(shape: Shape, source: str, into: str, sizes: list[str], dims: str) -> str:
    ones = ", ".join(["1"] * shape.rank)
    return (
        f"      tensor.parallel_insert_slice {source} into {into}[{', '.join(ids_of(shape))}] "
        f"[{', '.join(sizes)}] [{ones}] : tensor<{dims}x{shape.element}> into {shape.type}\n"
    )
