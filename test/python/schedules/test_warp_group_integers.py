"""Products of integers of 8 bits by warp groups: sums of 32 bits, which wrap around."""

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
    "signed": Product("m=128 n=64 k=512", rhs="nk", kind="i8", sums="i32"),
    "unsigned": Product("m=64 n=128 k=256", rhs="nk", kind="u8", sums="i32"),
    "signed-by-unsigned": Product("m=64 n=64 k=384", rhs="nk", kind="i8", other="u8", sums="i32"),
    "unsigned-by-signed": Product("m=64 n=64 k=256", rhs="nk", kind="u8", other="i8", sums="i32"),
    "ragged": Product("m=131 n=75 k=208", rhs="nk", kind="i8", sums="i32"),
    "few-columns": Product("m=64 n=24 k=208", rhs="nk", kind="i8", sums="i32"),
    "batch": Product("b=2 m=64 n=64 k=128", "bmk", "bnk", "bmn", kind="i8", sums="i32"),
    "split-sum": Product("m=64 n=64 k=2080", rhs="nk", kind="i8", sums="i32"),
}


@LOOPS
@pytest.mark.parametrize("product", CASES.values(), ids=CASES.keys())
def test_numbers(product: Product, options: str) -> None:
    module = compile_text(product.text, options)
    kinds = [kind.replace("i", "s") for kind in product.kinds]
    assert re.search(rf"wgmma\.mma_async\.\S+\.s32\.{kinds[0]}\.{kinds[1]}\s", module.ptx), (
        remarks_of(module)
    )
    assert "mma.sync" not in module.ptx
    assert ".local" not in module.ptx
    assert ".satfinite" not in module.ptx
    check_proof(module)
    check_numbers(module, product)


def test_sums_wrap_around() -> None:
    """As `arith.addi` does: what the sums begin with is near the greatest number."""
    product = Product("m=64 n=64 k=256", rhs="nk", kind="u8", sums="i32")
    start = 2**31 - 5
    text = product.text.replace("arith.constant 0 : i32", f"arith.constant {start} : i32")
    module = pipeline.compile(text, chip="sm_90a")
    assert "wgmma.mma_async" in module.ptx
    inputs = product.make_inputs()
    given = [array.view(np.int8) for array in inputs]
    result = np.asarray(module.run(*given, backend="emulator", check="all", workers=1))
    expected = (product.expect(inputs).astype(np.int64) + start).astype(np.int32)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    "product",
    [
        Product("m=64 n=64 k=128", kind="i8", sums="i32"),
        Product("m=64 n=64 k=128", lhs="km", rhs="nk", kind="i8", sums="i32"),
    ],
    ids=["nn", "tt"],
)
def test_sums_across_rows_are_not_for_warp_groups(product: Product) -> None:
    """The instruction reads bytes along the sum only; those of warps sort them out."""
    module = compile_text(product.text)
    assert "wgmma" not in module.ptx
    check_numbers(module, product)


def test_large_product_is_assembled() -> None:
    """Nothing is spilled, no product waits for another, and all sums are in registers."""
    module = compile_text(Product("m=4096 n=4096 k=4096", rhs="nk", kind="i8", sums="i32").text)
    assert module.ptx.count("wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8") == 4
    check_assembled(module)


DEEP = Product("m=64 n=64 k=496", rhs="nk", kind="i8", other="u8", sums="i32")
"""Four steps."""


def compile_deep() -> str:
    """Return a kernel of so few slots that they are filled again; all warps wait for copies."""
    schedule = re.sub(r'"slots" = \d+', '"slots" = 3', compile_text(DEEP.text).schedule or "")
    module = pipeline.compile(
        DEEP.text, chip="sm_90a", schedule=schedule, until="gpu", memory_options=WAITING
    )
    return module.texts["gpu"]


def make_mistake(text: str, kind: str) -> str:
    """Return a kernel with one mistake, or none."""
    loose = text.replace("{pending = 1 : i64", "{pending = 2 : i64")
    return mutate(text, kind, sign=text.replace(", unsigned_rhs", ""), loose=loose)


@pytest.mark.parametrize("kind", ["none", "wait", "barrier", "sign", "loose"])
def test_mistakes_are_found(kind: str) -> None:
    """By the proof, where threads would race, and by the emulator."""
    text = make_mistake(compile_deep(), kind)
    (kernel,) = pipeline.check(text).kernels
    assert (kernel.verdict == "SAFE") == (kind in ("none", "sign"))
    assert is_right(text, DEEP) == (kind == "none")
