"""What reference programs compute, by name, in the arrays of NumPy or of PyTorch.

A pack names them; nothing that it holds is run as code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_EPSILON = 1e-5


def matmul(xp: Any, x: Any, y: Any) -> Any:
    """Return x y."""
    return x @ y


def matmul_nt(xp: Any, x: Any, y: Any) -> Any:
    """Return x times y transposed."""
    return x @ y.T


def softmax(xp: Any, x: Any) -> Any:
    """Return the softmax of the rows."""
    powers = xp.exp(x - xp.amax(x, axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def layer_norm(xp: Any, x: Any, scale: Any, shift: Any) -> Any:
    """Return rows of mean 0 and variance 1, scaled and shifted by column."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / xp.sqrt(variance + _EPSILON) * scale + shift


def add(xp: Any, x: Any, y: Any) -> Any:
    """Return x + y."""
    return x + y


def silu(xp: Any, x: Any) -> Any:
    """Return x / (1 + exp(-x))."""
    return x / (1.0 + xp.exp(-x))


def sum_rows(xp: Any, x: Any) -> Any:
    """Return the sum of each row."""
    return x.sum(axis=-1)


def sum_columns(xp: Any, x: Any) -> Any:
    """Return the sum of each column."""
    return x.sum(axis=0)


def max_rows(xp: Any, x: Any) -> Any:
    """Return the largest of each row."""
    return xp.amax(x, axis=-1)


def transpose(xp: Any, x: Any) -> Any:
    """Return a copy with rows as columns."""
    return x.T


def conv_2d(xp: Any, x: Any, weights: Any) -> Any:
    """Return the convolution of NHWC images with FHWC windows, without a border."""
    rows, columns = weights.shape[1:3]
    height, width = x.shape[1] - rows + 1, x.shape[2] - columns + 1
    return sum(
        x[:, i : i + height, j : j + width, :] @ weights[:, i, j, :].T
        for i in range(rows)
        for j in range(columns)
    )


def copy(xp: Any, x: Any) -> Any:
    """Return x."""
    return x


def batch_matmul(xp: Any, x: Any, y: Any) -> Any:
    """Return the product of each matrix of a batch."""
    return x @ y


def attention(xp: Any, q: Any, k: Any, v: Any) -> Any:
    """Return the attention of each head, without a mask."""
    scores = q @ xp.swapaxes(k, -1, -2) * q.shape[-1] ** -0.5
    return softmax(xp, scores) @ v


REFERENCES: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        matmul,
        matmul_nt,
        softmax,
        layer_norm,
        add,
        silu,
        sum_rows,
        sum_columns,
        max_rows,
        transpose,
        conv_2d,
        copy,
        batch_matmul,
        attention,
    )
}
