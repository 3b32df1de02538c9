"""Kernels that take tensor maps: how they are described."""

from __future__ import annotations

import programs

import pipeline
from pipeline import Part, TensorMap


def test_tensor_map_is_described() -> None:
    module = pipeline.compile(programs.TENSOR_MAP, chip="sm_90")
    kernel = module.kernels["prefetch"]
    number, tensor_map = kernel.arguments
    assert number.tensor_map is None
    assert not tensor_map.is_memref
    assert tensor_map.tensor_map == TensorMap(
        "f16", (64, 8), "swizzle_128b", "none", "l2promo_256b", "nan"
    )
    assert kernel.parameters[1].parts == (Part("tensormap", 1, 0),)
    assert ".param .align 64 .b8 prefetch_param_1[128]" in module.ptx
