"""What a kernel of the corpus is made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Dim3 = tuple[int, int, int]


@dataclass(frozen=True)
class Case:
    """A kernel without races, its launch, and what it makes of its arguments."""

    name: str
    text: str
    """A program in MLIR."""
    kernel: str
    """The name of one of its kernels."""
    grid: Dim3
    block: Dim3
    make: Callable[[np.random.Generator], list[Any]]
    """Returns the arguments in the order of the kernel: arrays, no element zero, and scalars."""
    expect: Callable[[Sequence[Any]], dict[int, Array]]
    """Takes copies of the arguments and returns what those that change shall hold, by number."""
    tolerance: float = 0.0
    """Largest allowed ``abs(actual - expected) / max(1, abs(expected))``."""
    dynamic_bytes: int = 0
    chip: str = "sm_80"


def normal(rng: np.random.Generator, shape: int | tuple[int, ...], kind: str = "f4") -> Array:
    """Return random floating-point numbers between 0.25 and 2 of either sign."""
    sizes = rng.uniform(0.25, 2.0, shape)
    return np.asarray(sizes * rng.choice([-1.0, 1.0], shape), dtype=kind)


def positive(rng: np.random.Generator, shape: int | tuple[int, ...], kind: str = "f4") -> Array:
    """Return random floating-point numbers between 0.25 and 2."""
    return rng.uniform(0.25, 2.0, shape).astype(kind)


def whole(
    rng: np.random.Generator, shape: int | tuple[int, ...], kind: str = "i4", top: int = 100
) -> Array:
    """Return random whole numbers from 1 to `top`."""
    return rng.integers(1, top, shape, endpoint=True).astype(kind)


def eighths(rng: np.random.Generator, shape: int | tuple[int, ...], kind: str = "f4") -> Array:
    """Return random multiples of 1/8 between -2 and 2, of which few products and sums round."""
    sizes = rng.integers(1, 16, shape, endpoint=True) / 8
    return np.asarray(sizes * rng.choice([-1.0, 1.0], shape), dtype=kind)


def to_bfloat(values: Array) -> Array:
    """Return the bits of the bfloat16 numbers nearest to `values`."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bfloat(bits: Array) -> Array:
    """Return the values of bfloat16 numbers given by their bits."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


_SPACES = {"wg": "workgroup", "private": "private"}
_IDS = {
    f"{letter}{axis}": f"gpu.{name} {axis}"
    for letter, name in (
        ("t", "thread_id"),
        ("b", "block_id"),
        ("n", "block_dim"),
        ("g", "grid_dim"),
    )
    for axis in "xyz"
}


def function(
    name: str,
    arguments: str,
    body: str,
    *,
    block: Dim3 | None = None,
    buffers: str = "",
    private: str = "",
) -> str:
    """Return a kernel, with a definition of each `%c7`, `%tx`, `%by`, `%nx` and `%gx` in `body`.

    These are the index 7, the ids of thread and block and the sizes of block and grid.
    """
    lines = [
        f"    %c{value} = arith.constant {value} : index"
        for value in sorted({int(digits) for digits in re.findall(r"%c(\d+)\b", body)})
    ]
    lines += [f"    %{id} = {op}" for id, op in _IDS.items() if re.search(rf"%{id}\b", body)]
    head = [f"  gpu.func @{name}({arguments})"]
    head += [f"workgroup({buffers})"] if buffers else []
    head += [f"private({private})"] if private else []
    head += ["kernel"]
    if block:
        sizes = ", ".join(map(str, block))
        head += [f"attributes {{known_block_size = array<i32: {sizes}>}}"]
    opening = "\n      ".join(head) + " {"
    return "\n".join([opening, *lines, body.strip("\n"), "    gpu.return", "  }", ""])


def module(*functions: str) -> str:
    """Return a program of kernels and other functions, with `#wg` and `#private` for memories."""
    aliases = [f"#{name} = #gpu.address_space<{space}>" for name, space in _SPACES.items()]
    return "\n".join([*aliases, "gpu.module @kernels {", *functions, "}", ""])
