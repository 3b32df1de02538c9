"""The parts of random kernels that copy: slices of memrefs, numbers, and their text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Extents = Literal["static", "constant", "argument", "bounded"]
Space = Literal["global", "workgroup", "private"]

DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "index": np.int64,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}
SPACES = {
    "workgroup": ("#gpu.address_space<workgroup>", "3", "#nvvm.memory_space<shared>"),
    "private": ("#gpu.address_space<private>", "5", "#gpu.address_space<private>"),
}


@dataclass(frozen=True)
class Side:
    """A memref and the slice of it that is copied."""

    shape: tuple[int, ...]
    offsets: tuple[int, ...]
    steps: tuple[int, ...]
    extents: tuple[int, ...]
    order: tuple[int, ...]
    """Dimension i of the copy is dimension order[i] of the memref."""

    def slice_of(self, array: Array) -> Array:
        """Return the part of an array that is copied, as a view."""
        slices = tuple(
            slice(offset, offset + extent * step, step)
            for offset, extent, step in zip(self.offsets, self.extents, self.steps, strict=True)
        )
        view: Array = array[(*slices, ...)].transpose(self.order)  # type: ignore[arg-type]
        return view


def random_side(rng: random.Random, extents: Sequence[int], *, whole: float = 0.4) -> Side:
    """Choose a memref that holds a slice of the given extents."""
    order = list(range(len(extents)))
    if rng.random() < 0.3:
        rng.shuffle(order)
    own = [0] * len(extents)
    for i, dim in enumerate(order):
        own[dim] = extents[i]
    if rng.random() < whole:
        zeros, ones = (0,) * len(own), (1,) * len(own)
        held = tuple(max(extent, 1) for extent in own)
        return Side(held, zeros, ones, tuple(own), tuple(order))
    steps = [1 if rng.random() < 0.8 else 2 for _ in own]
    offsets = [rng.choice([0, 0, 1, 4, 8]) for _ in own]
    slack = [rng.choice([0, 0, 1, 4]) for _ in own]
    shape = [
        offset + max(extent * step, 1) + extra
        for offset, extent, step, extra in zip(offsets, own, steps, slack, strict=True)
    ]
    return Side(tuple(shape), tuple(offsets), tuple(steps), tuple(own), tuple(order))


def random_array(rng: random.Random, shape: Sequence[int], element: str) -> Array:
    """Return an array of random numbers that every type holds exactly."""
    generator = np.random.default_rng(rng.getrandbits(32))
    size = tuple(shape)
    numbers: Array = np.asarray(generator.integers(1, 120, size) * generator.choice([1, -1], size))
    if element == "i1":
        numbers = numbers > 0
    elif element.startswith("complex"):
        numbers = numbers + 1j * generator.integers(1, 120, size)
    return np.asarray(numbers.astype(DTYPES[element]))


def random_layout(rng: random.Random, array: Array) -> Array:
    """Return the array, maybe in the memory of a larger one, or in another order."""
    choice = rng.random()
    if choice < 0.75 or array.ndim == 0:
        return np.ascontiguousarray(array).reshape(array.shape)
    if choice < 0.9:
        room = np.zeros([n + rng.choice([0, 1, 4]) for n in array.shape], array.dtype)
        view = room[tuple(slice(n) for n in array.shape)]
        view[...] = array
        return view
    return np.asfortranarray(array)


class Writer:
    """Writes one kernel."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.extents: Extents = rng.choice(["static", "static", "constant", "argument"])
        # Whether rests of tiles are told by arith, too.
        self.is_least_of_index = False
        self.has_dynamic_offsets = rng.random() < 0.3
        self.spelling = rng.randrange(3)
        self.lines: list[str] = []
        # Extents that are the lesser of an argument and a constant, which is the number here.
        self.bounds: dict[int, tuple[str, int]] = {}
        self.indices: list[int] = []
        self.names = 0

    # Values.

    def emit(self, text: str) -> str:
        """Append an operation with one result and return its name."""
        self.names += 1
        self.lines.append(f"%v{self.names} = {text}")
        return f"%v{self.names}"

    def constant(self, value: int) -> str:
        """Return the name of a constant."""
        return self.emit(f"arith.constant {value} : index")

    def argument(self, value: int) -> str:
        """Return the name of an index argument of the kernel with a value."""
        if value not in self.indices:
            self.indices.append(value)
        return f"%n{self.indices.index(value)}"

    def size(self, value: int) -> str:
        """Return an extent in the way of this program."""
        if self.extents == "static":
            return str(value)
        if self.extents == "bounded":
            return self.bounded(value)[0]
        return self.argument(value) if self.extents == "argument" else self.constant(value)

    def bounded(self, value: int) -> tuple[str, int]:
        """Return the lesser of an argument and a constant, one of which is `value`; and that."""
        if value in self.bounds:
            return self.bounds[value]
        more = value + self.rng.choice([0, 0, 1, 3, 8])
        given, bound = (value, more) if self.rng.random() < 0.5 else (more, value)
        name, number = self.argument(given), self.constant(bound)
        kind = self.rng.randrange(4)
        if kind == 0:
            least = f"affine.min affine_map<()[s0] -> (s0, {bound})>()[{name}]"
        elif kind == 1:
            least = f"affine.min affine_map<(d0) -> ({bound}, d0)>({name})"
        else:
            least = f"arith.{'minsi' if kind == 2 else 'minui'} {name}, {number} : index"
        self.bounds[value] = self.emit(least), bound
        return self.bounds[value]

    def rest(self, start: str, step: int, extent: int) -> str:
        """Return how much of a tile that begins at `start` is left."""
        if self.is_least_of_index and self.rng.random() < 0.7:
            operation = self.rng.choice(["minsi", "minui"])
            rest = self.emit(f"arith.subi {self.constant(extent)}, {start} : index")
            return self.emit(f"arith.{operation} {rest}, {self.constant(step)} : index")
        bound = f"affine_map<(d0) -> ({step}, {extent} - d0)>"
        return self.emit(f"affine.min {bound}({start})")

    # Types.

    def space(self, space: Space) -> str:
        """Return how a memory is written at the end of a type."""
        return f", {SPACES[space][self.spelling]}" if space != "global" else ""

    def base_type(self, shape: Sequence[Any], element: str, space: Space, layout: str = "") -> str:
        """Return the type of a memref."""
        dims = "".join(f"{extent}x" for extent in shape)
        return f"memref<{dims}{element}{layout and ', ' + layout}{self.space(space)}>"

    # Views.

    def view(
        self,
        base: str,
        base_strides: Sequence[Any],
        kind: str,
        side: Side,
        element: str,
        space: Space,
    ) -> tuple[str, str]:
        """Write the slice of `base`, of type `kind`, in the order of the copy, and its type."""
        is_static = self.extents == "static"
        moves = [self.has_dynamic_offsets and n > 0 for n in side.offsets]
        offsets = [
            self.argument(n) if moved else str(n)
            for n, moved in zip(side.offsets, moves, strict=True)
        ]
        terms: list[Any] = [
            "?" if moved or (n and "?" in (stride, kind[-1:])) else (n and n * stride)
            for n, moved, stride in zip(side.offsets, moves, base_strides, strict=True)
        ]
        first = "?" if "?" in terms or "offset: ?" in kind else sum(terms)
        strides = [
            "?" if stride == "?" else stride * step
            for stride, step in zip(base_strides, side.steps, strict=True)
        ]
        sizes = [self.size(extent) for extent in side.extents]
        extents = [str(e) if is_static else "?" for e in side.extents]

        def layout(order: Sequence[int]) -> str:
            tail = f", offset: {first}" if first != 0 else ""
            return f"strided<[{', '.join(str(strides[i]) for i in order)}]{tail}>"

        own = tuple(range(len(side.order)))
        result = self.base_type(extents, element, space, layout(own))
        name = self.emit(
            f"memref.subview {base}[{', '.join(offsets)}] [{', '.join(sizes)}] "
            f"[{', '.join(map(str, side.steps))}] : {kind} to {result}"
        )
        if side.order == own:
            return name, result
        letters = [f"d{i}" for i in own]
        permuted = ", ".join(letters[i] for i in side.order)
        turned = self.base_type(
            [extents[i] for i in side.order], element, space, layout(side.order)
        )
        name = self.emit(
            f"memref.transpose {name} ({', '.join(letters)}) -> ({permuted}) : {result} to {turned}"
        )
        return name, turned

    def copy(self, source: tuple[str, str], target: tuple[str, str], *, converts: bool) -> None:
        """Write a copy."""
        if converts or self.rng.random() < 0.3:
            self.lines.append(
                f"linalg.copy ins({source[0]} : {source[1]}) outs({target[0]} : {target[1]})"
            )
        else:
            self.lines.append(f"memref.copy {source[0]}, {target[0]} : {source[1]} to {target[1]}")

    def alloc(self, shape: Sequence[int], element: str, space: Space) -> tuple[str, str]:
        """Write an allocation."""
        kind = self.base_type(shape, element, space)
        op = "alloca" if space == "private" else self.rng.choice(["alloc", "alloca"])
        return self.emit(f"memref.{op}() : {kind}"), kind

    def alloc_bounded(
        self, shape: Sequence[int], element: str, most: int
    ) -> tuple[str, Sequence[Any], str]:
        """Write an allocation of bounded extents, unless that takes more bytes than `most`."""
        bounds = [self.bounded(extent) for extent in shape]
        size = int(np.prod([bound for _, bound in bounds])) * np.dtype(DTYPES[element]).itemsize
        if not shape or size > most:
            name, kind = self.alloc(shape, element, "workgroup")
            return name, shape, kind
        dims = "?" * len(shape)
        kind = self.base_type(dims, element, "workgroup")
        sizes = ", ".join(name for name, _ in bounds)
        return self.emit(f"memref.alloc({sizes}) : {kind}"), dims, kind


def row_major(shape: Sequence[Any]) -> list[Any]:
    """Return the strides of a memref without a layout."""
    strides: list[Any] = [1] * len(shape)
    for i in reversed(range(len(shape) - 1)):
        is_known = "?" not in (strides[i + 1], shape[i + 1])
        strides[i] = strides[i + 1] * int(shape[i + 1]) if is_known else "?"
    return strides
