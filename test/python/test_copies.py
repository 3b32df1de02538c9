"""Random copies through workgroup memory, compiled and run against NumPy."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pipeline
from launching import launch

DTYPES: dict[str, Any] = {
    "i8": np.uint8,
    "i16": np.uint16,
    "i32": np.uint32,
    "i64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "index": np.int64,
    "complex<f32>": np.complex64,
}
CAPACITY = 48 * 1024
BLOCKS = [(1, 1, 1), (32, 1, 1), (128, 1, 1), (16, 4, 2), (7, 3, 1), (96, 1, 1)]


@dataclass(frozen=True)
class Side:
    """A memref and the slice of it that is copied."""

    shape: tuple[int, ...]
    offsets: tuple[int, ...]
    steps: tuple[int, ...]
    extents: tuple[int, ...]
    order: tuple[int, ...]
    """Dimension i of the copy is dimension order[i] of the memref."""

    def slice_of(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the part of an array that is copied, as a view."""
        slices = tuple(
            slice(offset, offset + extent * step, step)
            for offset, extent, step in zip(self.offsets, self.extents, self.steps, strict=True)
        )
        return array[slices].transpose(self.order)


def random_side(rng: random.Random, extents: tuple[int, ...]) -> Side:
    """Choose a memref that holds a slice of the given extents."""
    rank = len(extents)
    order = list(range(rank))
    if rng.random() < 0.3:
        rng.shuffle(order)
    own = [0] * rank
    for i, dim in enumerate(order):
        own[dim] = extents[i]
    is_whole = rng.random() < 0.4
    steps = [1 if is_whole or rng.random() < 0.8 else 2 for _ in own]
    offsets = [0 if is_whole else rng.choice([0, 0, 1, 4, 8]) for _ in own]
    slack = [0 if is_whole else rng.choice([0, 0, 1, 4]) for _ in own]
    shape = [
        offset + max(extent * step, 1) + extra
        for offset, extent, step, extra in zip(offsets, own, steps, slack, strict=True)
    ]
    if is_whole:
        shape = own
    return Side(tuple(shape), tuple(offsets), tuple(steps), tuple(own), tuple(order))


class Writer:
    """Writes the views of one side."""

    def __init__(self, element: str, extents: str) -> None:
        self.element = element
        self.extents = extents
        """How extents are written: `static`, `constant` (in SSA) or `argument` of the kernel."""
        self.arguments: list[int] = []
        self.lines: list[str] = []
        self.types: dict[str, str] = {}
        self.count = 0

    def size(self, value: int) -> str:
        """Return an extent in the way of this program."""
        if self.extents == "static":
            return str(value)
        if self.extents == "argument":
            if value not in self.arguments:
                self.arguments.append(value)
            return f"%n{self.arguments.index(value)}"
        self.count += 1
        name = f"%c{self.count}"
        self.lines.append(f"{name} = arith.constant {value} : index")
        return name

    def view(self, base: str, side: Side, space: str, name: str, shape: list[str]) -> str:
        """Write the slice of `base`, of type `shape`, in the order of the copy; return its name."""
        kind = f"memref<{''.join(e + 'x' for e in shape)}{self.element}{space}>"
        strides: list[Any] = [1] * len(shape)
        for i in reversed(range(len(strides) - 1)):
            known = strides[i + 1] != "?" and shape[i + 1] != "?"
            strides[i] = strides[i + 1] * int(shape[i + 1]) if known else "?"
        offset = self.product_sum(side.offsets, strides)
        steps = ["?" if s == "?" else s * t for s, t in zip(strides, side.steps, strict=True)]
        sizes = [self.size(extent) for extent in side.extents]
        extents = [str(e) if self.extents == "static" else "?" for e in side.extents]
        result = self.view_type(extents, steps, offset, space)
        self.lines.append(
            f"%{name} = memref.subview {base}[{', '.join(map(str, side.offsets))}] "
            f"[{', '.join(sizes)}] [{', '.join(map(str, side.steps))}] : {kind} to {result}"
        )
        self.types[f"%{name}"] = result
        if side.order == tuple(range(len(side.order))):
            return f"%{name}"
        letters = [f"d{i}" for i in range(len(side.order))]
        permuted = [letters[i] for i in side.order]
        transposed = self.view_type(
            [extents[i] for i in side.order], [steps[i] for i in side.order], offset, space
        )
        self.lines.append(
            f"%{name}t = memref.transpose %{name} ({', '.join(letters)}) -> "
            f"({', '.join(permuted)}) : {result} to {transposed}"
        )
        self.types[f"%{name}t"] = transposed
        return f"%{name}t"

    @staticmethod
    def product_sum(offsets: tuple[int, ...], strides: list[Any]) -> Any:
        """Return the offset of a view in elements, `?` if it depends on a dynamic stride."""
        terms = [
            0 if o == 0 else "?" if s == "?" else o * s
            for o, s in zip(offsets, strides, strict=True)
        ]
        return "?" if "?" in terms else sum(terms)

    def view_type(self, extents: list[str], strides: list[Any], offset: Any, space: str) -> str:
        """Return a memref type with a strided layout."""
        tail = f", offset: {offset}" if offset != 0 else ""
        layout = f"strided<[{', '.join(map(str, strides))}]{tail}>"
        return f"memref<{''.join(e + 'x' for e in extents)}{self.element}, {layout}{space}>"


def write_program(
    rng: random.Random, element: str, block: tuple[int, int, int]
) -> tuple[str, Side, Side, list[int]]:
    """Write a kernel that copies from %a to %b through workgroup memory.

    Return it with the two ends of the copy and the values of its index arguments.
    """
    rank = rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])
    sizes = [1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 64] if rank < 3 else [1, 2, 3, 4, 8]
    extents = tuple(rng.choice(sizes) for _ in range(rank))
    if rank == 1:
        extents = (rng.choice([1, 5, 16, 100, 1027]),)
    source, middle, target = (random_side(rng, extents) for _ in range(3))
    while int(np.prod(middle.shape)) * np.dtype(DTYPES[element]).itemsize > CAPACITY:
        middle = random_side(rng, extents)
    writer = Writer(element, rng.choice(["static", "static", "constant", "argument"]))
    dynamic = writer.extents != "static"
    space = ", #gpu.address_space<workgroup>"
    shapes = [
        ["?" if dynamic and rng.random() < 0.6 else str(e) for e in side.shape]
        for side in (source, target)
    ]
    a, b = (f"memref<{''.join(e + 'x' for e in shape)}{element}>" for shape in shapes)
    held = [str(e) for e in middle.shape]
    w = f"memref<{''.join(e + 'x' for e in held)}{element}{space}>"
    from_name = writer.view("%a", source, "", "from", shapes[0])
    into_name = writer.view("%w", middle, space, "into", held)
    to_name = writer.view("%b", target, "", "to", shapes[1])
    from_type, into_type, to_type = (writer.types[n] for n in (from_name, into_name, to_name))
    op = "memref.copy {0}, {1} : {2} to {3}"
    if rng.random() < 0.4:
        op = "linalg.copy ins({0} : {2}) outs({1} : {3})"
    x, y, z = block
    body = "\n      ".join(
        [
            f"%w = memref.alloc() : {w}",
            *writer.lines,
            op.format(from_name, into_name, from_type, into_type),
            op.format(into_name, to_name, into_type, to_type),
        ]
    )
    parameters = "".join(f", %n{i}: index" for i in range(len(writer.arguments)))
    text = f"""
  func.func @main(%a: {a}, %b: {b}{parameters}) {{
    %one = arith.constant 1 : index
    %x = arith.constant {x} : index
    %y = arith.constant {y} : index
    %z = arith.constant {z} : index
    gpu.launch blocks(%i, %j, %k) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%s, %t, %u) in (%bx = %x, %by = %y, %bz = %z) {{
      {body}
      gpu.terminator
    }}
    return
  }}
"""
    return text, source, target, writer.arguments


def random_array(shape: tuple[int, ...], dtype: Any, seed: int) -> npt.NDArray[Any]:
    """Return an array of random numbers, none of them zero."""
    generator = np.random.default_rng(seed)
    return generator.integers(1, 120, shape or (1,)).astype(dtype)


def arrange(module: pipeline.Module, arrays: list[Any], indices: list[int]) -> list[Any]:
    """Return the kernel's arguments: outlining orders them by their first use in the body."""
    (kernel,) = module.kernels.values()
    text = module.texts["gpu"]
    operands = text[text.index(" args(") + 6 : text.index("\n", text.index(" args("))]
    names = re.findall(r"%arg(\d+)", operands)
    assert len(names) == len(kernel.arguments)
    return [[*arrays, *indices][int(name)] for name in names]


@pytest.mark.parametrize("seed", range(80))
def test_random_copy(seed: int) -> None:
    rng = random.Random(seed)
    element = rng.choice(list(DTYPES))
    block = rng.choice(BLOCKS)
    text, source, target, indices = write_program(rng, element, block)
    module = pipeline.compile(text, keep_texts=True)
    a = random_array(source.shape, DTYPES[element], seed)
    b = random_array(target.shape, DTYPES[element], seed + 1)
    expected = b.copy()
    if source.shape:
        target.slice_of(expected)[...] = source.slice_of(a)
    else:
        expected[...] = a
    launch(module, arrange(module, [a, b], indices))
    np.testing.assert_array_equal(b, expected)
