"""Attention that torch-mlir exported, in ``exports``, and what NumPy makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from pytorch.blocks import EXPORTS, Array


@dataclass(frozen=True)
class Attention:
    """A call of ``scaled_dot_product_attention``: queries have ``groups`` heads for each of keys.

    ``mask``: none, causal, of truth values, or of numbers. ``by_hand``: matmul, softmax, matmul.
    Keys of a length that only the launch knows are looked up by an index that is zero where there
    is one key, which no chain has: the programs do not tell that there are as many values.
    """

    name: str
    kind: str
    mask: str
    groups: int = 1
    is_dynamic: bool = False
    by_hand: bool = False
    batch: int = 1
    heads: int = 2
    rows: int = 80
    keys: int = 640
    width: int = 32

    @property
    def text(self) -> str:
        return (EXPORTS / f"{self.name}.mlir").read_text(encoding="utf-8")

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of queries, keys and values."""
        keys = (self.batch, self.heads, self.keys, self.width)
        return ((self.batch, self.heads * self.groups, self.rows, self.width), keys, keys)

    @property
    def dtype(self) -> Any:
        return {"f16": np.float16, "bf16": ml_dtypes.bfloat16}[self.kind]

    @property
    def tolerance(self) -> float:
        """Of results from -1 to 1: what a rounding of weights, and one of results, may come to."""
        return {"f16": 2e-3, "bf16": 2e-2}[self.kind]

    def make_arguments(self, rng: np.random.Generator) -> list[Array]:
        """Return random arguments; masks of truth values hide all of one row."""
        arguments = [rng.uniform(-1, 1, shape).astype(self.dtype) for shape in self.shapes]
        shape = (self.rows, self.keys)
        if self.mask == "truth":
            chosen = rng.random(shape) > 0.5
            chosen[rng.integers(self.rows)] = False
            return [*arguments, chosen]
        if self.mask == "numbers":
            return [*arguments, rng.uniform(-1, 1, shape).astype(self.dtype)]
        return arguments

    def compute(self, query: Array, key: Array, value: Array, *mask: Array) -> Array:
        query, key, value = (array.astype(np.float64) for array in (query, key, value))
        key, value = (array.repeat(self.groups, 1) for array in (key, value))
        scores = query @ key.swapaxes(-1, -2) / np.sqrt(self.width)
        hidden = np.zeros(scores.shape[-2:], bool)
        if self.mask == "causal":
            hidden = np.triu(np.ones_like(hidden), 1)
        elif self.mask == "truth":
            hidden = ~mask[0]
        elif self.mask == "numbers":
            scores = scores + mask[0].astype(np.float64)
        scores = np.where(hidden, -np.inf, scores)
        largest = np.maximum(scores.max(-1, keepdims=True), np.finfo(np.float64).min)
        weights = np.exp(scores - largest)
        sums = weights.sum(-1, keepdims=True)
        return np.asarray(weights / np.where(sums == 0, 1, sums) @ value)


ATTENTIONS = (
    Attention("attention-f16", "f16", "none"),
    Attention("attention-f16-causal", "f16", "causal"),
    Attention("attention-f16-truth", "f16", "truth"),
    Attention("attention-f16-numbers", "f16", "numbers"),
    Attention("attention-f16-grouped", "f16", "causal", groups=2),
    Attention("attention-f16-dynamic", "f16", "none", is_dynamic=True),
    Attention("attention-f16-by-hand", "f16", "none", by_hand=True),
    Attention("attention-bf16-causal", "bf16", "causal"),
    Attention("attention-bf16-numbers", "bf16", "numbers"),
)
