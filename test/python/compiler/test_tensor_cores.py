"""Contractions on tensor cores, against NumPy, checked for races, and assembled."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import pytest

import pipeline
from compiler.contraction_kernels import Kernel
from compiler.test_contractions import EMULATED, compile_kernel
from linalg.linalg_programs.program import DTYPES
from pipeline.runtime.emulator import AsyncMode, Order


class Types(NamedTuple):
    """Types of factors and of sums, what `mma.sync` calls them, and a chip that has it."""

    kinds: tuple[str, str]
    sum: str
    name: str
    chip: str = "sm_80"
    unsigned: tuple[bool, bool] = (False, False)
    numerics: Any = "exact"


TYPES = {
    "f16": Types(("f16", "f16"), "f32", "m16n8k16.row.col.f32.f16.f16.f32"),
    "f16_sum": Types(("f16", "f16"), "f16", "m16n8k16.row.col.f16.f16.f16.f16"),
    "bf16": Types(("bf16", "bf16"), "f32", "m16n8k16.row.col.f32.bf16.bf16.f32"),
    "tf32": Types(("f32", "f32"), "f32", "m16n8k8.row.col.f32.tf32.tf32.f32", numerics="tf32"),
    "s8": Types(("i8", "i8"), "i32", "m16n8k32.row.col.s32.s8.s8.s32"),
    "u8": Types(("i8", "i8"), "i32", "m16n8k32.row.col.s32.u8.u8.s32", unsigned=(True, True)),
    "s8_u8": Types(("i8", "i8"), "i32", "m16n8k32.row.col.s32.s8.u8.s32", unsigned=(False, True)),
    "u8_s8": Types(("i8", "i8"), "i32", "m16n8k32.row.col.s32.u8.s8.s32", unsigned=(True, False)),
    "f64": Types(("f64", "f64"), "f64", "m8n8k4.row.col.f64.f64.f64.f64"),
    "e4m3": Types(("f8E4M3FN",) * 2, "f32", "m16n8k32.row.col.f32.e4m3.e4m3.f32", "sm_89"),
    "e4m3_e5m2": Types(
        ("f8E4M3FN", "f8E5M2"), "f32", "m16n8k32.row.col.f32.e4m3.e5m2.f32", "sm_90"
    ),
    # Weights of 8 bits become numbers of 16, which hold them.
    "f16_s8": Types(("f16", "i8"), "f32", "m16n8k16.row.col.f32.f16.f16.f32"),
    "u8_bf16": Types(
        ("i8", "bf16"), "f32", "m16n8k16.row.col.f32.bf16.bf16.f32", unsigned=(True, False)
    ),
    "e4m3_as_f16": Types(("f8E4M3FN",) * 2, "f32", "m16n8k16.row.col.f32.f16.f16.f32"),
    "f16_bf16": Types(("f16", "bf16"), "f32", "m16n8k8.row.col.f32.tf32.tf32.f32"),
    "f32_f64": Types(("f32", "f64"), "f64", "m8n8k4.row.col.f64.f64.f64.f64"),
    "turing_f16": Types(("f16", "f16"), "f32", "m16n8k8.row.col.f32.f16.f16.f32", "sm_75"),
    "turing_s8": Types(("i8", "i8"), "i32", "m8n8k16.row.col.s32.s8.s8.s32", "sm_75"),
    # On sm_90a, warp groups would multiply tiles that suit them.
    "hopper": Types(("f16", "f16"), "f32", "m16n8k16.row.col.f32.f16.f16.f32", "sm_90"),
}
LAYOUTS = {
    "nn": (False, False),
    "nt": (False, True),
    "tn": (True, False),
    "tt": (True, True),
}


def make(types: Types, m: int, n: int, k: int, **options: Any) -> Kernel:
    """Return the kernel of a product of some types."""
    return Kernel(
        m,
        n,
        k,
        kind=types.kinds[0],
        other_kind=types.kinds[1],
        sum=types.sum,
        unsigned=types.unsigned,
        **options,
    )


def build(kernel: Kernel, types: Types, **options: Any) -> pipeline.Module:
    """Compile a kernel for the chip of its types."""
    return compile_kernel(kernel, chip=types.chip, numerics=types.numerics, **options)


def check(kernel: Kernel, module: pipeline.Module, **options: Any) -> None:
    """Run a kernel, of whose arguments products and sums are exact, and compare with NumPy."""
    arguments = kernel.arguments()
    expected = kernel.expect(arguments)
    module.run(*arguments, **{**EMULATED, **options})
    np.testing.assert_array_equal(arguments[3], expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", TYPES)
def test_types(name: str, layout: str) -> None:
    """All types in all layouts: the instruction is there, and no other product."""
    types = TYPES[name]
    kernel = make(
        types, 70, 72, 100, tile=(64, 32, 64), threads=64, transposed=LAYOUTS[layout], adds=True
    )
    module = build(kernel, types, slots=2, until="ptx")
    ptx = module.ptx or ""
    assert set(re.findall(r"mma\.sync\.aligned\.(\S+)", ptx)) == {types.name}
    assert not re.search(r"\b(fma|mad)\.\S*(f16|f32|f64)", ptx)
    assert "satfinite" not in ptx
    check(kernel, module)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["f16", "f16_sum", "bf16", "hopper"])
def test_sixteen_bits_by_ldmatrix(name: str, layout: str) -> None:
    """Numbers of 16 bits are loaded four matrices at once, transposed where need be."""
    types, transposed = TYPES[name], LAYOUTS[layout]
    kernel = make(types, 128, 128, 2048, tile=(64, 64, 32), threads=128, transposed=transposed)
    # Else some loads stand before the loop, too; and short loops are unrolled.
    ptx = build(kernel, types, slots=3, until="ptx", options=" rotate-loops=false").ptx or ""
    # A warp has 32x32: per 16 steps 2 loads of either factor and 8 products.
    is_across = (transposed[0], not transposed[1])
    assert len(re.findall(r"ldmatrix\S*\.x4\.trans", ptx)) == 4 * sum(is_across)
    assert len(re.findall(r"ldmatrix\S*\.x4\.shared", ptx)) == 4 * (2 - sum(is_across))
    assert len(re.findall(r"mma\.sync", ptx)) == 16
    assert "ld.shared" not in ptx
    assert ".local" not in ptx
    assert ptx.count("bar.sync") == 1


@pytest.mark.parametrize(
    "block",
    [(32, 2, 2), (64, 2, 1), (16, 8, 1), (2, 64, 1), (8, 4, 4), (1, 1, 32), (128, 1, 1)],
)
def test_block_shapes(block: tuple[int, int, int]) -> None:
    """The lane is the linear number of the thread modulo 32, whatever shape the block has."""
    types = TYPES["f16"]
    kernel = make(types, 70, 50, 40, tile=(64, 32, 16), block=block, has_bias=True)
    check(kernel, build(kernel, types, slots=2))


def test_too_deep_blocks() -> None:
    """No GPU has blocks of more than 64 threads along z."""
    kernel = make(TYPES["f16"], 64, 64, 32, tile=(64, 32, 16), block=(1, 1, 128))
    with pytest.raises(pipeline.CompileError, match="128 threads along z"):
        build(kernel, TYPES["f16"])


@pytest.mark.parametrize("seed", range(24))
def test_random(seed: int) -> None:
    """Any size, tile and number of warps, whether tensor cores take it or not."""
    rng = np.random.default_rng(seed)
    types = TYPES[list(TYPES)[seed % len(TYPES)]]
    tile = [
        int(rng.choice(sizes)) for sizes in ((8, 16, 32, 64, 96), (8, 16, 32, 64), (16, 32, 48))
    ]
    size = [int(rng.integers(1, 2 * extent + 1)) for extent in tile]
    kernel = make(
        types,
        *(max(2, extent) for extent in size),
        tile=tuple(tile),
        threads=int(rng.choice([32, 64, 96, 128, 256])),
        transposed=tuple(bool(swap) for swap in rng.integers(0, 2, 2)),
        adds=bool(rng.integers(2)),
        has_bias=bool(rng.integers(2)),
        is_dynamic=bool(rng.integers(2)),
    )
    check(kernel, build(kernel, types, slots=int(rng.integers(1, 4))))


@pytest.mark.parametrize(("order", "mode"), [("reverse", "eager"), (7, 7)])
def test_orders(order: Order | int, mode: AsyncMode | int) -> None:
    """However threads and copies interleave, the result is the same."""
    types = TYPES["bf16"]
    kernel = make(types, 128, 64, 96, tile=(64, 64, 32), threads=128, has_bias=True)
    check(kernel, build(kernel, types, slots=3), order=order, async_mode=mode)


def test_tf32_rounds_to_nearest() -> None:
    """Factors are rounded to 10 bits of fraction, ties away from zero; sums are not."""
    types = TYPES["tf32"]
    kernel = make(types, 32, 32, 64, tile=(32, 32, 16), threads=64)
    rng = np.random.default_rng(3)
    arguments = kernel.arguments()
    for i in (0, 1):
        arguments[i] = rng.standard_normal(arguments[i].shape).astype(np.float32)
    rounded = [
        ((a.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
        for a in arguments[:2]
    ]
    build(kernel, types).run(*arguments, **EMULATED)
    expected = rounded[0].astype(np.float64) @ rounded[1].astype(np.float64)
    np.testing.assert_allclose(arguments[3], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("factor", ["f32", "f16"])
def test_exact_by_default(factor: str) -> None:
    """Nobody rounds f32 who is not asked to, and tensor cores can be left out."""
    kernel = Kernel(64, 64, 32, tile=(64, 64, 16), threads=128, kind=factor)
    options = "" if factor == "f32" else " tensor-cores=false"
    ptx = compile_kernel(kernel, until="ptx", options=options).ptx or ""
    assert "mma" not in ptx
    assert "fma" in ptx


def test_integers_wrap() -> None:
    """Sums beyond 32 bits wrap, as those of the program do."""
    types = TYPES["s8"]
    kernel = make(types, 16, 16, 32, tile=(16, 16, 32), threads=32, adds=True)
    arguments = kernel.arguments()
    arguments[0][:], arguments[1][:] = -128, -128
    arguments[3][:] = np.iinfo(np.int32).max
    build(kernel, types).run(*arguments, **EMULATED)
    expected = np.int64(np.iinfo(np.int32).max) + 32 * 128 * 128 - 2**32
    assert (arguments[3] == expected).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["f16", "bf16", "tf32", "s8", "f64"])
def test_wavefronts(name: str, layout: str) -> None:
    """No bank of workgroup memory is asked twice: whoever copies and whoever multiplies."""
    types, transposed = TYPES[name], LAYOUTS[layout]
    kernel = make(types, 128, 128, 128, tile=(64, 64, 64), threads=128, transposed=transposed)
    (entry,) = build(kernel, types, slots=2).kernels.values()
    # Of what is in the arrays, nothing depends.
    shapes = [tuple(extent or 0 for extent in item.shape) for item in entry.arguments]
    arrays = [
        np.ones(shape, DTYPES[item.element_type])
        for shape, item in zip(shapes, entry.arguments, strict=True)
    ]
    report = entry.run(*arrays, grid=(2, 2, 1), backend="emulator", statistics=True, workers=1)
    assert report.statistics is not None
    places = [place for place in report.statistics.per_access if place.space == "shared"]
    assert places
    for place in places:
        assert place.wavefronts == place.ideal_wavefronts, place


def _mutate(text: str, pattern: str, value: str) -> str:
    mutated, count = re.subn(pattern, value, text, count=1)
    assert count == 1, pattern
    return mutated


def _finishes(text: str, arguments: list[Any]) -> bool:
    """Run kernels, unless they are refused or found to be at fault."""
    try:
        module = pipeline.compile(text, schedule="none", sync="keep", verify=False, until="llvm")
        module.run(*arguments, **EMULATED)
    except pipeline.Error:
        return False
    return True


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (r"transpose = false", "transpose = true"),
        (r"transpose = true", "transpose = false"),
        (r"gpu\.barrier\n", "\n"),
        (r"(= arith\.remui %thread_id_x, )%c4\b", r"\1%c2"),
        (r"(= arith\.divui %thread_id_x, )%c4\b", r"\1%c8"),
        (r"(= arith\.remui %thread_id_x, )%c8\b", r"\1%c4"),
        (r"(= arith\.divui %thread_id_x, )%c16\b", r"\1%c8"),
    ],
)
def test_mutants(pattern: str, value: str) -> None:
    """What makes a lane load something else, or too soon, is seen."""
    types = TYPES["f16"]
    kernel = make(types, 64, 64, 64, tile=(64, 64, 32), threads=128)
    text = build(kernel, types, until="gpu").texts["gpu"]
    arguments = kernel.arguments()
    expected = kernel.expect(arguments)
    with pytest.warns(pipeline.UnverifiedWarning):
        is_done = _finishes(_mutate(text, pattern, value), arguments)
    assert not is_done or (arguments[3] != expected).any()


@pytest.mark.parametrize(("threads", "products"), [(128, 64), (256, 32)])
def test_no_spills(threads: int, products: int) -> None:
    """The tile of a warp fits into the registers of a thread."""
    types = TYPES["f16"]
    kernel = make(types, 1024, 1024, 1024, tile=(128, 128, 32), threads=threads)
    module = build(kernel, types, slots=3, until="ptx")
    assert "0 bytes spill stores, 0 bytes spill loads" in (module.ptxas_log or "")
    assert not module.diagnostics
    # Else the last iteration stands behind the loop, too.
    plain = build(kernel, types, slots=3, until="ptx", options=" rotate-loops=false")
    assert (plain.ptx or "").count("mma.sync") == products


def test_one_text_for_kernels_of_different_needs() -> None:
    """The version of PTX is the one that all kernels can do with."""
    text = """
    func.func @main(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>)
        -> (tensor<64x64xf32>, tensor<64x64xf32>) {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<64x64xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
      %0 = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>)
          outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
      %1 = linalg.exp ins(%c : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
          -> tensor<64x64xf32>
      return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
    }"""
    module = pipeline.compile(text, chip="sm_75")
    assert ".version 6.5" in module.ptx
    assert "mma.sync" in module.ptx
    assert len(module.kernels) == 2
