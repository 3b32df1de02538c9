"""Batches of products by warp groups: tensor maps with the dimensions of batches."""

from __future__ import annotations

import re

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
    "one": Product("b=3 m=128 n=64 k=256", "bmk", "bkn", "bmn"),
    "nt": Product("b=2 m=64 n=128 k=192", "bmk", "bnk", "bmn"),
    "tn": Product("b=2 m=64 n=64 k=128", "bkm", "bkn", "bmn", kind="bf16"),
    "two": Product("b=2 c=3 m=64 n=64 k=128", "bcmk", "bckn", "bcmn"),
    "three": Product("b=2 c=2 d=2 m=64 n=64 k=64", "bcdmk", "bcdnk", "bcdmn"),
    "shared-rhs": Product("b=3 m=128 n=64 k=128", "bmk", "kn", "bmn"),
    "shared-lhs": Product("b=3 m=64 n=128 k=128", "mk", "bnk", "bmn"),
    "each-shares-one": Product("b=2 c=3 m=64 n=64 k=128", "bmk", "cnk", "bcmn"),
    "heads": Product("b=2 h=3 m=64 n=64 k=64", "bmhk", "bnhk", "bhmn"),
    "heads-behind": Product("b=2 h=3 m=64 n=64 k=128", "bhmk", "bkhn", "bmhn"),
    "bytes": Product("b=3 m=64 n=64 k=256", "bmk", "bnk", "bmn", kind="f8E4M3FN"),
    "one-batch": Product("b=1 m=64 n=64 k=128", "bmk", "bkn", "bmn"),
}


@LOOPS
@pytest.mark.parametrize("product", CASES.values(), ids=CASES.keys())
def test_numbers(product: Product, options: str) -> None:
    module = compile_text(product.text, options)
    assert "wgmma.mma_async" in module.ptx, remarks_of(module)
    assert "mma.sync" not in module.ptx
    assert ".local" not in module.ptx
    check_proof(module)
    check_numbers(module, product)


def test_named_operation() -> None:
    text = """
func.func @main(%a: tensor<4x128x256xf16>, %b: tensor<4x256x64xf16>) -> tensor<4x128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x128x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x128x64xf32>) -> tensor<4x128x64xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<4x128x256xf16>, tensor<4x256x64xf16>)
      outs(%f : tensor<4x128x64xf32>) -> tensor<4x128x64xf32>
  return %r : tensor<4x128x64xf32>
}"""
    module = pipeline.compile(text, chip="sm_90a")
    assert "wgmma.mma_async" in module.ptx
    check_numbers(module, Product("b=4 m=128 n=64 k=256", "bmk", "bkn", "bmn"))


def test_batches_along_columns_are_not_for_warp_groups() -> None:
    """The batch is contiguous: rows of a tile are not, and the result is right all the same."""
    product = Product("b=16 m=64 n=64 k=64", "mkb", "knb", "mnb")
    module = compile_text(product.text)
    assert "wgmma.mma_async" not in module.ptx
    check_numbers(module, product)


def test_tensor_maps_have_five_dimensions() -> None:
    """Of more batches, tiles go by the instructions of warps."""
    product = Product("b=2 c=2 d=2 e=2 m=64 n=64 k=64", "bcdemk", "bcdenk", "bcdemn")
    module = compile_text(product.text)
    assert "wgmma.mma_async" not in module.ptx
    check_numbers(module, product)


def test_large_batch_is_assembled() -> None:
    """As few instructions for each product as without batches, and no spills."""
    module = compile_text(Product("b=8 m=4096 n=4096 k=4096", "bmk", "bkn", "bmn").text)
    assert module.ptx.count("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16") == 4
    check_assembled(module)


DEEP = Product("b=2 m=64 n=64 k=384", "bmk", "bkn", "bmn")
"""So many steps that slots are filled again."""


def make_mistake(text: str, kind: str) -> str:
    """Return a kernel with one mistake, or none."""
    # The coordinates of loads: the batch comes last.
    batch, count = re.subn(r"(tma\.async\.load %\w+\[%\w+, %\w+, )%\w+\]", r"\1%c0]", text)
    assert count > 0
    return mutate(text, kind, batch=batch)


@pytest.mark.parametrize("kind", ["none", "wait", "barrier", "batch"])
def test_mistakes_are_found(kind: str) -> None:
    """By the proof, where threads would race, and by the emulator."""
    text = make_mistake(compile_text(DEEP.text, WAITING).texts["gpu"], kind)
    (kernel,) = pipeline.check(text).kernels
    assert (kernel.verdict == "SAFE") == (kind in ("none", "batch"))
    assert is_right(text, DEEP) == (kind == "none")
