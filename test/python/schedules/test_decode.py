"""Attention of few queries is one launch, or two if blocks share the keys."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pipeline
from fuzzing.mutants import try_mutants
from oracles.contractions.programs import Case
from schedules.attention_programs import MASKS, Attention
from schedules.test_contraction_mutants import is_fine

Array = npt.NDArray[Any]

DECODE = Attention(1, 4, 1, 777, 64, 64, "f16", "none", "softmax", is_dynamic=False)
SPLIT = (
    *(replace(DECODE, groups=2, rows=3, mask=mask) for mask in MASKS),
    replace(DECODE, groups=1, mask="added"),
    replace(DECODE, groups=2, rows=15, keys=513, out=72, kind="bf16", mask="causal"),
    replace(DECODE, width=128, out=128, keys=640, kind="bf16", spelling="exp2"),
    replace(DECODE, heads=2, groups=1, rows=5, mask="chosen", spelling="guarded"),
    replace(DECODE, heads=2, width=16, out=8, mask="chosen", spelling="guarded"),
)
ODD = (
    replace(DECODE, width=40, out=40, mask="causal", groups=2, rows=3),
    replace(DECODE, width=80, out=72, keys=640, kind="bf16", spelling="exp2"),
    replace(DECODE, width=33, out=37, keys=500, mask="added"),
)
WHOLE = (
    replace(DECODE, heads=2, keys=65),
    replace(DECODE, heads=3, groups=1, keys=50, kind="bf16", mask="added"),
    replace(DECODE, heads=120, groups=1, rows=2, keys=150, mask="chosen"),
)


def compile_decode(attention: Attention, chip: str = "sm_80") -> pipeline.Module:
    """Compile to tensor cores, with what is between the contractions in registers."""
    module = pipeline.compile(attention.text, chip=chip)
    assert "mma.sync" in module.ptx
    assert ".local" not in module.ptx
    assert "ex2.approx" in module.ptx
    return module


def run(module: pipeline.Module, attention: Attention, arguments: list[Array]) -> Array:
    results = [
        np.asarray(module.run(*arguments, order=order, check="races", workers=1))
        for order in ("forward", "reverse", 7)
    ]
    # No sum depends on which block is done first.
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    with np.errstate(invalid="ignore"):
        expected = attention.compute(*arguments)
    np.testing.assert_allclose(results[0], expected, attention.tolerance, attention.tolerance)
    return results[0]


def is_split(module: pipeline.Module) -> bool:
    assert module.schedule is not None
    has_parts = '"split" = ' in module.schedule
    assert len(module.kernels) == (2 if has_parts else 1)
    return has_parts


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("number", range(len(SPLIT)))
def test_blocks_share_keys(number: int, is_dynamic: bool) -> None:
    attention = replace(SPLIT[number], is_dynamic=is_dynamic, knows_rows=True)
    module = compile_decode(attention)
    assert is_split(module)
    run(module, attention, attention.make_arguments(np.random.default_rng(number)))


@pytest.mark.parametrize("number", range(len(ODD)))
def test_rows_of_odd_lengths(number: int) -> None:
    """Rows that are not made of whole matrices are filled up with zeros."""
    attention = ODD[number]
    module = compile_decode(attention)
    assert is_split(module)
    run(module, attention, attention.make_arguments(np.random.default_rng(number)))


@pytest.mark.parametrize("number", range(len(WHOLE)))
def test_blocks_have_all_keys(number: int) -> None:
    """Of short rows, or of so many heads that all multiprocessors have some."""
    attention = WHOLE[number]
    module = compile_decode(attention)
    assert not is_split(module)
    run(module, attention, attention.make_arguments(np.random.default_rng(number)))


def test_lengths_of_the_launch() -> None:
    """Parts are of as many keys as there are; of no keys, nothing is added up."""
    attention = replace(DECODE, mask="added", is_dynamic=True, knows_rows=True)
    module = compile_decode(attention)
    assert is_split(module)
    for keys in (1, 63, 64, 512, 513, 1500):
        launched = replace(attention, keys=keys)
        run(module, launched, launched.make_arguments(np.random.default_rng(keys)))


def test_parts_without_weight() -> None:
    """A part of which all is masked has no weight; scores of another are far above the rest."""
    attention = replace(DECODE, groups=1, rows=3, mask="added", keys=1024)
    module = compile_decode(attention)
    assert is_split(module)
    query, key, value, mask = attention.make_arguments(np.random.default_rng(5))
    mask[0, :512] = -np.inf
    mask[1, 700:] += 300
    mask[2, 100] = 1e30
    run(module, attention, [query, key, value, mask])


def test_nan_and_infinities() -> None:
    """What is no number in one part is so in the result; rows of nothing but -inf are NaN."""
    attention = replace(DECODE, groups=1, rows=4, mask="added", keys=1024)
    module = compile_decode(attention)
    query, key, value, mask = attention.make_arguments(np.random.default_rng(6))
    mask[0, 900] = np.nan
    mask[1, :] = -np.inf
    mask[2, 10] = np.inf
    result = np.asarray(module.run(query, key, value, mask, check="races", workers=1))
    assert np.isnan(result[:, :, :3]).all()
    with np.errstate(invalid="ignore"):
        expected = attention.compute(query, key, value, mask)
    np.testing.assert_allclose(result[:, :, 3], expected[:, :, 3], 2e-3, 2e-3)


FULL = (
    replace(DECODE, kind="f32", mask="causal", groups=2, rows=3),
    replace(DECODE, kind="f32", groups=1, rows=15, keys=513, out=72, mask="added", spelling="exp2"),
    replace(DECODE, kind="f32", heads=2, groups=1, rows=5, width=33, out=20, spelling="guarded"),
)


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("number", range(len(FULL)))
def test_f32_without_tensor_cores(number: int, *, is_dynamic: bool) -> None:
    """Of f32, products are exact: fused multiply-adds, without atomic operations."""
    attention = replace(FULL[number], is_dynamic=is_dynamic, knows_rows=True)
    module = pipeline.compile(attention.text, chip="sm_80")
    assert is_split(module)
    assert not module.diagnostics
    assert "mma.sync" not in module.ptx
    assert "atom" not in module.ptx
    assert "fma.rn.f32" in module.ptx
    run(module, attention, attention.make_arguments(np.random.default_rng(number)))


@pytest.mark.parametrize("chip", ["sm_75", "sm_86", "sm_90", "sm_100"])
def test_chips(chip: str) -> None:
    attention = replace(DECODE, rows=2, groups=2, mask="added")
    module = compile_decode(attention, chip)
    run(module, attention, attention.make_arguments(np.random.default_rng(3)))


def test_chip_without_the_type() -> None:
    """Tensor cores of sm_75 have no bf16: nothing is made for them."""
    attention = replace(DECODE, rows=2, groups=2, kind="bf16", mask="added")
    module = pipeline.compile(attention.text, chip="sm_75")
    assert "mma.sync" not in module.ptx
    assert module.schedule is not None
    assert "stream" not in module.schedule
    run(module, attention, attention.make_arguments(np.random.default_rng(3)))


def test_mutants_are_found() -> None:
    """Barriers, waits and lanes that are wrong are found, or proved not to be needed."""
    attention = replace(DECODE, groups=1, rows=3, keys=640, mask="added")
    arguments = attention.make_arguments(np.random.default_rng(1))
    expected = attention.compute(*arguments)
    case = Case(1, "decode", attention.text, "sm_80", tuple(arguments), expected, 2e-3)
    kinds = ("barrier", "wait", "commit", "lane")
    verdicts = list(try_mutants(case, 2, kinds))
    assert {verdict.mutant.kind for verdict in verdicts} == set(kinds)
    missed = [str(verdict) for verdict in verdicts if not is_fine(verdict)]
    assert not missed, "\n".join(missed)


@pytest.mark.parametrize(("part", "is_needed"), [(64, False), (192, True)])
@pytest.mark.parametrize("size", [9216, 17280], ids=["slot", "row"])
def test_slots_that_parts_fill(part: int, size: int, *, is_needed: bool) -> None:
    """Of parts of one step the second slot stays empty: without it, nothing is found amiss."""
    attention = replace(DECODE, groups=1, rows=3, keys=640, mask="none")
    schedule, count = re.subn(
        r'"split" = \[(.+), 64\]',
        rf'"split" = [\1, {part}]',
        pipeline.choose_schedule(attention.text, chip="sm_80"),
    )
    assert count == 1
    arguments = attention.make_arguments(np.random.default_rng(4))
    gpu = pipeline.compile(attention.text, chip="sm_80", schedule=schedule, until="gpu")
    text = gpu.texts["gpu"]
    mutant = text.replace("memref<18432xi8", f"memref<{size}xi8")
    assert mutant != text
    run(pipeline.compile(text, sync="keep"), attention, arguments)
    module = pipeline.compile(mutant, sync="keep", verify=False)
    if is_needed:
        with pytest.raises(pipeline.Error):
            run(module, attention, arguments)
    else:
        run(module, attention, arguments)


def test_results_of_16_bits() -> None:
    """What rounds the results does so where parts are put together."""
    text = DECODE.text.replace("return %result : !o", _ROUNDED).replace("-> !o {", "-> !h {", 1)
    text = text.replace("func.func", "!h = tensor<1x4x1x64xf16>\nfunc.func", 1)
    module = pipeline.compile(text, chip="sm_80")
    assert is_split(module)
    arguments = DECODE.make_arguments(np.random.default_rng(2))
    result = module.run(*arguments, check="races", workers=1)
    np.testing.assert_allclose(result, DECODE.compute(*arguments), 3e-3, 3e-3)


_ROUNDED = """
  %eh = tensor.empty() : !h
  %rounded = linalg.generic {indexing_maps = [#id, #id], iterator_types = #four}
      ins(%result : !o) outs(%eh : !h) {
  ^bb0(%a: f32, %o: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> !h
  return %rounded : !h"""
