"""Attention of 16 bits that the program computes in f32, as PyTorch does, on tensor cores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import pipeline
from pipeline.schedules import Target, target
from schedules.attention_programs import Attention

LONG = Attention(
    1, 2, 128, 640, 32, 32, "f16", "causal", "softmax", is_dynamic=False, is_extended=True
)
PROGRAMS = {
    "causal": LONG,
    "bf16": replace(LONG, kind="bf16", mask="added", spelling="exp2"),
    "hidden rows": replace(LONG, mask="chosen", spelling="guarded"),
    "as PyTorch": replace(LONG, mask="added-causal", spelling="guarded", groups=1),
    "all rows hidden": replace(LONG, mask="later", spelling="guarded", rows=64),
    "ragged": replace(LONG, rows=77, keys=597, mask="none"),
    "wide": replace(LONG, width=64, out=64, kind="bf16"),
    "few rows": replace(LONG, rows=3, keys=777, mask="added"),
    "one row": replace(LONG, groups=4, rows=1, keys=777, mask="none", kind="bf16"),
}


@pytest.fixture(autouse=True)
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no room for whole rows, and give each multiprocessor several blocks."""

    def make_target(chip: str, chips: object) -> Target:
        return Target(chip, 2, 64 << 10)

    monkeypatch.setattr(target, "make_target", make_target)


def check(module: pipeline.Module, attention: Attention, seed: int = 3) -> None:
    arguments = attention.make_arguments(np.random.default_rng(seed))
    with np.errstate(invalid="ignore"):
        expected = attention.compute(*arguments)
    for order in ("forward", "reverse", 7):
        result = module.run(*arguments, check="races", workers=1, order=order)
        np.testing.assert_allclose(result, expected, attention.tolerance, attention.tolerance)


def count_kernels(module: pipeline.Module) -> int:
    """Return the kernels, of which two are one if blocks share the keys."""
    return len(module.kernels) - ("split" in (module.schedule or ""))


def list_remarks(module: pipeline.Module) -> set[str]:
    return {remark.name for remark in module.remarks}


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_one_kernel(name: str, *, is_dynamic: bool) -> None:
    """Both products are those of 16 bits, and what is between stays in registers."""
    attention = replace(PROGRAMS[name], is_dynamic=is_dynamic, knows_rows=True)
    module = pipeline.compile(attention.text, chip="sm_80", numerics="narrow")
    assert count_kernels(module) == 1
    assert not module.diagnostics
    assert "mma.sync" in module.ptx
    assert "ex2.approx" in module.ptx
    assert ".local" not in module.ptx
    assert list_remarks(module) >= {"ScaledSums", "NarrowedWeights", "LoweredChain"}
    assert f".f32.{attention.kind}.{attention.kind}.f32" in module.ptx
    check(module, attention)


@pytest.mark.parametrize("chip", ["sm_75", "sm_90a"])
def test_chips(chip: str) -> None:
    module = pipeline.compile(LONG.text, chip=chip, numerics="narrow")
    assert count_kernels(module) == 1
    assert "mma.sync" in module.ptx
    check(module, LONG)


def test_chip_without_the_type() -> None:
    """Tensor cores of sm_75 have no bf16: weights stay as they are."""
    attention = PROGRAMS["bf16"]
    module = pipeline.compile(attention.text, chip="sm_75", numerics="narrow")
    assert "mma.sync" not in module.ptx
    assert not list_remarks(module) & {"NarrowedWeights", "WideWeights"}
    check(module, attention)


def test_lengths_of_the_launch() -> None:
    attention = replace(LONG, is_dynamic=True, mask="added")
    module = pipeline.compile(attention.text, chip="sm_80", numerics="narrow")
    assert count_kernels(module) == 1
    for rows, keys in ((1, 1), (17, 65), (100, 63)):
        check(module, replace(attention, rows=rows, keys=keys))


def test_what_needs_the_option() -> None:
    """Without it, f16 is scaled behind the sums, and remarks name it for the rest."""
    module = pipeline.compile(LONG.text, chip="sm_80")
    assert count_kernels(module) == 1
    assert "m16n8k16.row.col.f32.f16.f16.f32" in module.ptx
    missed = [remark for remark in module.remarks if "--numerics narrow" in remark.message]
    assert [remark.name for remark in missed] == ["WideWeights"]
    tight = replace(LONG, kind="f32")
    check_against(module, LONG, tight.tolerance)
    attention = replace(PROGRAMS["bf16"], width=16, out=16)
    module = pipeline.compile(attention.text, chip="sm_80")
    assert "mma.sync" not in module.ptx
    missed = [remark for remark in module.remarks if "--numerics narrow" in remark.message]
    assert {remark.name for remark in missed} == {"ScaledFactors", "WideWeights"}
    check_against(module, attention, tight.tolerance)


def check_against(module: pipeline.Module, attention: Attention, tolerance: float) -> None:
    arguments = attention.make_arguments(np.random.default_rng(1))
    result = module.run(*arguments, check="races", workers=1)
    np.testing.assert_allclose(result, attention.compute(*arguments), tolerance, tolerance)


def test_schedule_says_it() -> None:
    module = pipeline.compile(LONG.text, chip="sm_80", numerics="narrow")
    schedule = module.schedule
    assert schedule is not None
    assert '"narrow" = true' in schedule
    assert pipeline.compile(LONG.text, chip="sm_80", schedule=schedule).ptx == module.ptx


def test_masked_columns() -> None:
    """Both words together: what a mask hides is not read."""
    attention = replace(LONG, mask="added-causal")
    module = pipeline.compile(attention.text, chip="sm_80", numerics="narrow,finite")
    assert '"skip-masked" = true' in (module.schedule or "")
    check(module, attention)


EXPONENTIAL = "%1 = math.exp %0 : f32"
"""As the program has it: of the difference of a score and the largest one."""


@pytest.mark.parametrize("numerics", ["exact", "narrow"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_weights_without_bound(kind: str, numerics: Any) -> None:
    """Of the negated difference weights are one or more: none can be scaled later."""
    attention = replace(LONG, mask="none", rows=64, keys=320, kind=kind)
    negated = "%minus = arith.constant -1.0 : f32\n%less = arith.mulf %0, %minus : f32\n"
    text = attention.text.replace(EXPONENTIAL, negated + EXPONENTIAL.replace("%0", "%less"))
    module = pipeline.compile(text, chip="sm_80", numerics=numerics)
    assert '"stream" = ' not in (module.schedule or "")
    q, k, v, mask = attention.make_arguments(np.random.default_rng(5))
    result = module.run(q, k, v, mask, check="races", workers=1)
    expected = attention.compute(-q, k, v, mask)
    np.testing.assert_allclose(result, expected, attention.tolerance, attention.tolerance)


@pytest.mark.parametrize("factor", ["1.0e5", "1.0e-6"])
def test_weights_that_are_scaled(factor: str) -> None:
    """In 16 bits they may be infinite, or have few digits: they stay as they are."""
    attention = replace(LONG, mask="none", rows=64, keys=320)
    scaled = f"%times = arith.constant {factor} : f32\n%1 = arith.mulf %power, %times : f32"
    text = attention.text.replace(EXPONENTIAL, EXPONENTIAL.replace("%1", "%power") + "\n" + scaled)
    module = pipeline.compile(text, chip="sm_80", numerics="narrow")
    assert "NarrowedWeights" not in list_remarks(module)
    check(module, attention)


PRODUCT = """
!a = tensor<64x32x{t}>
!b = tensor<48x32x{t}>
!aw = tensor<64x32xf32>
!bw = tensor<48x32xf32>
!o = tensor<64x48xf32>
func.func @main(%a: !a, %b: !b) -> !o {{
  %zero = arith.constant 0.0 : f32
  %c = arith.constant dense<{scale}> : !aw
  %d = arith.constant dense<{scale}> : !bw
  %aw = arith.extf %a : !a to !aw
  %bw = arith.extf %b : !b to !bw
  %as = arith.mulf %aw, %c : !aw
  %bs = arith.mulf %bw, %d : !bw
  %e = tensor.empty() : !o
  %f = linalg.fill ins(%zero : f32) outs(%e : !o) -> !o
  %r = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
      affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
    ins(%as, %bs : !aw, !bw) outs(%f : !o) -> !o
  return %r : !o
}}
"""
SCALE = 0.35355338454246521
"""A float of 24 bits, the square of which is none."""

HALF = np.finfo(np.float16)


def run_product(kind: str, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
    text = PRODUCT.format(t=kind, scale=SCALE)
    module = pipeline.compile(text, chip="sm_80")
    assert len(module.kernels) == (1 if kind == "f16" else 3)
    assert ("mma.sync" in module.ptx) == (kind == "f16")
    return np.asarray(module.run(a, b, check="races", workers=1))


def test_bound_of_scaled_sums() -> None:
    """Rounding errors are within the bound of those of the program, for all magnitudes of f16."""
    rng = np.random.default_rng(2)
    a, b = (
        np.ldexp(rng.uniform(-2, 2, (rows, 32)), rng.integers(-24, 15, (rows, 32))).astype("f2")
        for rows in (64, 48)
    )
    a[0], b[0] = HALF.max, HALF.max
    a[1], b[1] = HALF.smallest_subnormal, -HALF.smallest_subnormal
    result = run_product("f16", a, b)
    exact = SCALE * SCALE * (a.astype("f8") @ b.astype("f8").T)
    sizes = SCALE * SCALE * (np.abs(a.astype("f8")) @ np.abs(b.astype("f8")).T)
    assert (np.abs(result - exact) <= (32 + 2) * 2.0**-24 * sizes).all()
    assert (result[1, 1] == exact[1, 1]) or abs(result[1, 1] / exact[1, 1] - 1) < 2.0**-22
    assert (result != 0).all()


def test_numbers_that_are_none() -> None:
    a, b = np.ones((64, 32), np.float16), np.ones((48, 32), np.float16)
    a[0, 3], a[1, 4], a[2, :2] = np.inf, np.nan, (np.inf, -np.inf)
    b[5, 3] = 0
    result = run_product("f16", a, b)
    with np.errstate(invalid="ignore"):
        expected = SCALE * SCALE * (a.astype("f8") @ b.astype("f8").T)
    np.testing.assert_allclose(result, expected, 1e-6)
    assert np.isnan(result[0, 5])
    assert np.isposinf(result[0, 4])


def test_sums_of_bf16_that_would_be_infinite() -> None:
    """What is finite in the program is so without the option."""
    a, b = (np.full((rows, 32), 2.0**62, ml_dtypes.bfloat16) for rows in (64, 48))
    result = run_product("bf16", a, b)
    np.testing.assert_allclose(result, 32 * (SCALE * 2.0**62) ** 2, 1e-6)
