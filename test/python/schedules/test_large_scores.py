"""Attention whose scores are large: weights are taken from rounded products with the largest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pipeline
from schedules.attention_programs import Attention

Array = npt.NDArray[Any]

LONG = Attention(1, 1, 16, 2048, 32, 32, "f16", "added", "softmax", is_dynamic=False)
CASES = {
    "rows": LONG,
    "exp2": replace(LONG, spelling="exp2"),
    "bf16": replace(LONG, kind="bf16"),
    "few": replace(LONG, rows=3, keys=256),
    "parts": replace(LONG, rows=3, keys=1024),
}
LARGE = (*(size * 10.0**power for power in range(4, 19) for size in (1.0, 1.1, 3.3)), 1e30, 3e38)
"""From where the products are rounded by less than a tenth to the largest float."""


def compute(attention: Attention, q: Array, k: Array, v: Array, mask: Array) -> Array:
    """Return the results in f64 of scores that are rounded as the program rounds them."""
    base = 2.0 if attention.spelling == "exp2" else np.e
    q, k = (array.astype(np.float32) for array in (q, k))
    scores = np.einsum("hgmd,hnd->hgmn", q, k) * np.float32(0.25) + mask.astype(np.float32)
    scores = scores.astype(np.float64)
    weights = base ** (scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.asarray(np.einsum("hgmn,hne->hgme", weights, v.astype(np.float64)))


def compile_case(attention: Attention) -> pipeline.Module:
    module = pipeline.compile(attention.text, chip="sm_80")
    assert "ex2.approx" in module.ptx
    assert module.schedule is not None
    assert "stream" in module.schedule
    return module


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("attention", CASES.values(), ids=CASES.keys())
def test_masks_by_a_large_number(attention: Attention, sign: int) -> None:
    """Of a whole row, of its beginning, and of one key."""
    module = compile_case(attention)
    query, key, value, mask = attention.make_arguments(np.random.default_rng(8))
    # Small integers: sums have no rounding but that of the addition of the mask.
    query = np.round(query).astype(query.dtype)
    key = np.round(key).astype(key.dtype)
    for large in LARGE:
        mask[:] = 0
        mask[0, :] = sign * large
        mask[1, :64] = sign * large
        mask[2, 100] = sign * large
        result = np.asarray(module.run(query, key, value, mask, check="races", workers=1))
        expected = compute(attention, query, key, value, mask)
        np.testing.assert_allclose(
            result, expected, attention.tolerance, attention.tolerance, err_msg=str(sign * large)
        )


@pytest.mark.parametrize("scale", [1e6, 1e13, 1e18])
def test_large_products(scale: float) -> None:
    """Scores that are large without a mask, up to those that are next to infinity."""
    attention = replace(LONG, kind="bf16", mask="none")
    module = compile_case(attention)
    query, key, value, mask = attention.make_arguments(np.random.default_rng(9))
    query, key = (np.round(array.astype(np.float32)) for array in (query, key))
    query[..., 1:] = 0
    query[..., 0] = scale
    key[0, :, 0] = np.linspace(-scale, scale, attention.keys)
    kind = value.dtype
    query, key = query.astype(kind), key.astype(kind)
    result = np.asarray(module.run(query, key, value, mask, check="races", workers=1))
    expected = compute(attention, query, key, value, np.zeros_like(mask))
    np.testing.assert_allclose(result, expected, attention.tolerance, attention.tolerance)
