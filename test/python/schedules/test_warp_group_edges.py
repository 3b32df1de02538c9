"""Products by warp groups whose tiles are ragged: TMA fills with zeros what the tensor has not."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pipeline
from schedules.group_products import (
    LOOPS,
    WAITING,
    Product,
    check_assembled,
    check_numbers,
    check_proof,
    compile_text,
    is_right,
    mutate,
    remarks_of,
)

CASES = {
    "rows": Product("m=100 n=64 k=128"),
    "columns": Product("m=64 n=72 k=128"),
    "sums": Product("m=64 n=64 k=200"),
    "all": Product("m=129 n=136 k=264"),
    "nt": Product("m=77 n=51 k=88", rhs="nk"),
    "tn": Product("m=72 n=104 k=131", lhs="km"),
    "tt": Product("m=136 n=65 k=72", lhs="km", rhs="nk"),
    "bf16": Product("m=65 n=80 k=328", kind="bf16"),
    "bytes": Product("m=67 n=93 k=336", rhs="nk", kind="f8E4M3FN"),
    "less-than-a-tile": Product("m=40 n=40 k=56"),
    "one-row-more": Product("m=193 n=64 k=64", rhs="nk"),
    "batch": Product("b=3 m=97 n=72 k=136", "bmk", "bkn", "bmn"),
    "heads": Product("b=2 h=2 m=70 n=70 k=72", "bmhk", "bnhk", "bhmn"),
    "split-sum": Product("m=64 n=72 k=1096"),
    "one-column": Product("m=33 n=17 k=40", rhs="nk"),
}

DYNAMIC = {
    "rows": (Product("m=100 n=64 k=128"), "m"),
    "columns": (Product("m=64 n=83 k=128", rhs="nk"), "n"),
    "both": (Product("m=77 n=150 k=200", rhs="nk"), "mn"),
    "batch": (Product("b=2 m=64 n=72 k=104", "bmk", "bkn", "bmn"), "b"),
    "whole": (Product("m=128 n=64 k=64"), "m"),
}


def check(module: pipeline.Module, product: Product) -> None:
    assert "wgmma.mma_async" in module.ptx, remarks_of(module)
    assert "mma.sync" not in module.ptx
    assert ".local" not in module.ptx
    check_proof(module)
    check_numbers(module, product)


@LOOPS
@pytest.mark.parametrize("product", CASES.values(), ids=CASES.keys())
def test_numbers(product: Product, options: str) -> None:
    check(compile_text(product.text, options), product)


@pytest.mark.parametrize(("product", "letters"), DYNAMIC.values(), ids=DYNAMIC.keys())
def test_extents_that_the_launch_knows(product: Product, letters: str) -> None:
    check(compile_text(product.dynamic_text(letters)), product)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 129])
def test_one_module_for_all_sizes(size: int) -> None:
    product = Product(f"m={size} n=72 k=136")
    module = compile_text(product.dynamic_text("m"))
    assert "wgmma.mma_async" in module.ptx
    check_numbers(module, product)


@pytest.mark.parametrize(
    ("product", "reason"),
    [
        (Product("m=65 n=65 k=65"), "the stride of 130 bytes of the source is no multiple of 16"),
        (Product("m=64 n=100 k=64"), "the stride of 200 bytes of the source is no multiple of 16"),
    ],
    ids=["odd", "columns"],
)
def test_strides_that_tensor_maps_do_not_have(product: Product, reason: str) -> None:
    """Tiles go by the instructions of warps, and a remark says why."""
    module = compile_text(product.text)
    assert "mma.sync" in module.ptx
    assert "wgmma" not in module.ptx
    assert [text for text in remarks_of(module) if reason in text], remarks_of(module)
    check_numbers(module, product)


def test_sums_whose_length_the_launch_knows() -> None:
    """Where an operand makes strides of it, or may go on behind it, warps multiply."""
    for product in (Product("m=64 n=64 k=72"), Product("m=64 n=64 k=75", lhs="km")):
        module = compile_text(product.dynamic_text("k"))
        assert "wgmma" not in module.ptx
        check_numbers(module, product)


def test_what_is_not_a_number_stays_outside() -> None:
    """Zeros fill both tiles, whatever is behind the sum in memory."""
    product = Product("m=64 n=64 k=72")
    module = compile_text(product.text)
    a, b = product.make_inputs()
    a[5, 3], b[7, 9] = np.inf, np.nan
    result = np.asarray(module.run(a, b, backend="emulator", check="all", workers=1))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(result, product.expect([a, b]))


def test_large_product_is_assembled() -> None:
    """The loop is that of whole tiles, and nothing is spilled."""
    module = compile_text(Product("m=4000 n=4000 k=4008").text)
    assert module.ptx.count("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16") == 4
    check_assembled(module)


DEEP = Product("m=64 n=72 k=376")
"""So many steps that slots are filled again."""


def make_mistake(text: str, kind: str) -> str:
    """Return a kernel with one mistake, or none."""
    # What is outside of the tensor is no zero.
    fill = text.replace("oob = zero", "oob = nan")
    count = re.sub(r"(expect_tx %\w+\[%\w+\], %c)(\d+)", r"\g<1>16", text)
    return mutate(text, kind, fill=fill, bytes=count)


@pytest.mark.parametrize("kind", ["none", "wait", "barrier", "fill", "bytes"])
def test_mistakes_are_found(kind: str) -> None:
    """By the proof, where threads would race, and by the emulator."""
    text = make_mistake(compile_text(DEEP.text, WAITING).texts["gpu"], kind)
    if kind in ("none", "wait", "barrier"):
        (kernel,) = pipeline.check(text).kernels
        assert (kernel.verdict == "SAFE") == (kind == "none")
    assert is_right(text, DEEP) == (kind == "none")
