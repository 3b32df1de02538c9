"""The programs in ``exports``, which torch-mlir wrote, and what NumPy makes of them."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

EXPORTS = Path(__file__).parent / "exports"

_RESOURCE = re.compile(r'torch_tensor_((?:\d+_)+)torch\.float32(?:_(\d+))?: "0x04000000(\w+)"')


@dataclass(frozen=True)
class Block:
    """A module: shapes of an input and of weights, and what it computes of them.

    ``uses`` are the numbers of the weights in the order in which they are used first, if that is
    another than theirs.
    """

    name: str
    input: Shape
    weights: tuple[Shape, ...]
    compute: Callable[..., Array]
    uses: tuple[int, ...] = ()

    def path(self, *, with_weights: bool) -> Path:
        """Return its program: of one shape, or for any number of inputs, and with weights."""
        return EXPORTS / f"{self.name}{'-with-weights' * with_weights}.mlir"

    def make_weights(self, rng: np.random.Generator) -> list[Array]:
        """Return random weights; all may be variances."""
        return [rng.uniform(0.2, 1.0, shape).astype(np.float32) for shape in self.weights]

    def read_weights(self) -> list[Array]:
        """Return the weights in the program, whose names there count those of a shape by use."""
        found: dict[Shape, list[tuple[int, Array]]] = defaultdict(list)
        text = self.path(with_weights=False).read_text(encoding="utf-8")
        for extents, number, digits in _RESOURCE.findall(text):
            shape = tuple(map(int, extents.rstrip("_").split("_")))
            elements = np.frombuffer(bytes.fromhex(digits), np.float32).reshape(shape)
            found[shape].append((int(number or 0), elements))
        for items in found.values():
            items.sort(key=lambda item: item[0], reverse=True)
        weights = {}
        for number in self.uses or range(len(self.weights)):
            _, weights[number] = found[self.weights[number]].pop()
        return [weights[number] for number in sorted(weights)]


def make_input(shape: Sequence[int], rng: np.random.Generator) -> Array:
    """Return random numbers around zero, none of which is."""
    sizes = rng.uniform(0.1, 2.0, shape)
    return np.asarray(sizes * rng.choice([-1.0, 1.0], shape), np.float32)


def compute_mlp(x: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> Array:
    hidden: Array = np.maximum(x @ w1.T + b1, 0)
    return np.asarray(hidden @ w2.T + b2)


def compute_conv_block(
    x: Array, weight: Array, bias: Array, scale: Array, shift: Array, mean: Array, variance: Array
) -> Array:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2]
    y = np.einsum("nchwij,ocij->nohw", windows, weight) + bias[:, None, None]
    y = (y - mean[:, None, None]) / np.sqrt(variance + 1e-5)[:, None, None]
    y = np.maximum(y * scale[:, None, None] + shift[:, None, None], 0)
    batch, channels, height, width = y.shape
    pooled = y[:, :, : height // 2 * 2, : width // 2 * 2]
    pooled = pooled.reshape(batch, channels, height // 2, 2, width // 2, 2).max((3, 5))
    return np.asarray(pooled.mean((2, 3)))


def _normalize(x: Array, scale: Array, shift: Array) -> Array:
    centered = x - x.mean(-1, keepdims=True)
    return np.asarray(centered / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift)


def _gelu(x: Array) -> Array:
    return np.asarray(x * 0.5 * (1 + np.vectorize(math.erf, [np.float64])(x / math.sqrt(2))))


def compute_transformer_block(x: Array, *weights: Array, heads: int = 2) -> Array:
    scale1, shift1, qkv, qkv_bias, out, out_bias, scale2, shift2, up, up_bias, down, down_bias = (
        weights
    )
    batch, length, width = x.shape
    projected = _normalize(x, scale1, shift1) @ qkv.T + qkv_bias
    parts = projected.reshape(batch, length, 3, heads, width // heads).transpose(2, 0, 3, 1, 4)
    query, key, value = parts
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(width // heads)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    mixed = (shares @ value).transpose(0, 2, 1, 3).reshape(batch, length, width)
    x = x + mixed @ out.T + out_bias
    return np.asarray(
        x + _gelu(_normalize(x, scale2, shift2) @ up.T + up_bias) @ down.T + down_bias
    )


BLOCKS = (
    Block("mlp", (7, 20), ((33, 20), (33,), (10, 33), (10,)), compute_mlp),
    Block(
        "conv-block",
        (2, 3, 13, 18),
        ((8, 3, 3, 3), *[(8,)] * 5),
        compute_conv_block,
        (0, 1, 4, 5, 2, 3),
    ),
    Block(
        "transformer-block",
        (2, 5, 8),
        ((8,), (8,), (24, 8), (24,), (8, 8), (8,), (8,), (8,), (32, 8), (32,), (8, 32), (8,)),
        compute_transformer_block,
    ),
)
