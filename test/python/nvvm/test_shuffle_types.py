"""Shuffles and reductions of elements other than words, and of vectors of them."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array, function, module

DTYPES: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i32": np.int32,
    "f32": np.float32,
    "i64": np.int64,
    "f64": np.float64,
}
LANES = np.arange(32)


def numbers(kind: str, shape: tuple[int, ...]) -> Array:
    rng = np.random.default_rng(len(kind) + len(shape))
    return np.asarray(rng.integers(1, 7, shape) * rng.choice([-1, 1], shape), DTYPES[kind])


def sources(mode: str, offset: int, width: int) -> Array:
    """Return the lane that each lane gets from; its own where there is none."""
    groups = LANES // width * width
    found = {
        "xor": LANES ^ offset,
        "up": LANES - offset,
        "down": LANES + offset,
        "idx": groups + offset,
    }[mode]
    inside = (found >= groups) & (found < groups + width)
    return np.where(inside, found, LANES)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 8])
@pytest.mark.parametrize("kind", DTYPES)
def test_shuffles(kind: str, count: int) -> None:
    memory = f"memref<4x64x{max(count, 1)}x{kind}>"
    element = f"vector<{count}x{kind}>" if count else kind
    body = "%w = arith.constant 32 : i32\n"
    modes = {"xor": 5, "up": 3, "down": 7, "idx": 9}
    for number, (mode, offset) in enumerate(modes.items()):
        at = f"[%n{number}, %tx, %c0] : {memory}" + (f", {element}" if count else "")
        load, store = ("vector.load", "vector.store") if count else ("memref.load", "memref.store")
        body += f"""
    %n{number} = arith.constant {number} : index
    %o{number} = arith.constant {offset} : i32
    %x{number} = {load} %a{at}
    %y{number}, %p{number} = gpu.shuffle {mode} %x{number}, %o{number}, %w : {element}
    %z{number} = arith.select %p{number}, %y{number}, %x{number} : {element}
    {store} %z{number}, %a{at}
"""
    text = module(function("k", f"%a: {memory}", body, block=(64, 1, 1)))
    a = numbers(kind, (4, 64, max(count, 1)))
    expected = np.stack(
        [
            part.reshape(2, 32, -1)[:, sources(mode, offset, 32)].reshape(part.shape)
            for part, (mode, offset) in zip(a, modes.items(), strict=True)
        ]
    )
    kernel = pipeline.compile(text).kernels["k"]
    kernel.run(a, grid=(1, 1, 1), block=(64, 1, 1), check="races")
    np.testing.assert_array_equal(a.view(np.uint8), expected.view(np.uint8))


CASES = [
    *itertools.product(("i8", "i16", "i1"), ("add", "maxsi", "xor")),
    *itertools.product(("f16", "bf16", "f8E5M2"), ("add", "maximumf")),
]


def reduce(kind: str, op: str, values: Array) -> Any:
    """Reduce small whole numbers, whose sums are exact in all types."""
    if op == "xor":
        return np.bitwise_xor.reduce(values)
    if op == "add":
        wide = values.astype(np.float64).sum()
        return (int(wide) % 2 == 1) if kind == "i1" else np.asarray(wide).astype(values.dtype)
    if kind == "i1":  # true is the least of two signed numbers
        return values.min()
    return values.astype(np.float64).max().astype(values.dtype)


def small(kind: str, shape: tuple[int, ...]) -> Array:
    rng = np.random.default_rng(len(kind))
    if kind == "i1":
        return rng.integers(0, 2, shape).astype(bool)
    signs = rng.choice([-1, 1], shape)
    return (signs * (rng.random(shape) < 0.2)).astype(DTYPES[kind])


@pytest.mark.parametrize("threads", [8, 32, 96, 100, 256])
@pytest.mark.parametrize(("kind", "op"), CASES)
def test_block(kind: str, op: str, threads: int) -> None:
    body = f"""
    %x = memref.load %a[%tx] : memref<{threads}x{kind}>
    %y = gpu.all_reduce {op} %x uniform {{}} : ({kind}) -> {kind}
    memref.store %y, %b[%tx] : memref<{threads}x{kind}>
"""
    arguments = f"%a: memref<{threads}x{kind}>, %b: memref<{threads}x{kind}>"
    text = module(function("k", arguments, body, block=(threads, 1, 1)))
    a = small(kind, (threads,))
    b = np.zeros_like(a)
    kernel = pipeline.compile(text).kernels["k"]
    kernel.run(a, b, grid=(1, 1, 1), block=(threads, 1, 1), check="races")
    np.testing.assert_array_equal(b, np.full_like(b, reduce(kind, op, a)))


@pytest.mark.parametrize("count", [0, 3, 4])
@pytest.mark.parametrize("threads", [64, 44])
@pytest.mark.parametrize(("kind", "op"), CASES)
def test_warp(kind: str, op: str, threads: int, count: int) -> None:
    if kind == "i1" and count:
        pytest.skip("memory has no vectors of bits")
    memory = f"memref<{threads}x{max(count, 1)}x{kind}>"
    element = f"vector<{count}x{kind}>" if count else kind
    at = f"[%tx, %c0] : {memory}" + (f", {element}" if count else "")
    load, store = ("vector.load", "vector.store") if count else ("memref.load", "memref.store")
    body = f"""
    %x = {load} %a{at}
    %y = gpu.subgroup_reduce {op} %x : ({element}) -> {element}
    {store} %y, %b{at}
"""
    text = module(function("k", f"%a: {memory}, %b: {memory}", body, block=(threads, 1, 1)))
    a = small(kind, (threads, max(count, 1)))
    b = np.zeros_like(a)
    kernel = pipeline.compile(text).kernels["k"]
    kernel.run(a, b, grid=(1, 1, 1), block=(threads, 1, 1), check="races")
    for warp in range(0, threads, 32):
        for part in range(max(count, 1)):
            expected = reduce(kind, op, a[warp : warp + 32, part])
            found = b[warp : warp + 32, part]
            np.testing.assert_array_equal(found, np.full_like(found, expected))
