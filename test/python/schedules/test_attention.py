"""Attention of long rows is one kernel, which keeps no row of scores."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import pipeline
from pipeline.schedules import Target, target
from schedules.attention_programs import MASKS, SPELLINGS, Attention

LONG = Attention(1, 2, 32, 384, 32, 32, "f32", "causal", "softmax", is_dynamic=False)
KINDS = (
    *(replace(LONG, mask=mask) for mask in MASKS),
    *(replace(LONG, mask="chosen", spelling=spelling) for spelling in SPELLINGS[1:]),
    replace(LONG, kind="f16", mask="added", width=64),
    replace(LONG, kind="bf16", heads=2, groups=1, out=20),
)

# Tiles are of 16 to 64 rows, and of 64 columns.
RAGGED = (
    *(replace(LONG, rows=37, keys=300, kind="f16", mask=mask) for mask in MASKS),
    replace(LONG, rows=33, keys=321, kind="f16", mask="chosen", spelling="guarded"),
    replace(LONG, rows=77, keys=597, kind="f16", width=64, out=64),
    replace(LONG, rows=77, keys=1000, kind="bf16", heads=2, groups=1, mask="chosen"),
)


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no room for whole rows."""

    def make_target(chip: str, chips: object) -> Target:
        return Target(chip, 108, 64 << 10)

    monkeypatch.setattr(target, "make_target", make_target)


def run(attention: Attention, seed: int) -> None:
    module = compile_stream(attention)
    arguments = attention.make_arguments(np.random.default_rng(seed))
    result = module.run(*arguments, check="races", workers=1)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(
            result, attention.compute(*arguments), attention.tolerance, attention.tolerance
        )


def compile_stream(attention: Attention) -> pipeline.Module:
    module = pipeline.compile(attention.text, chip="sm_80")
    assert len(module.kernels) == 1
    assert module.schedule is not None
    assert '"stream" = ' in module.schedule
    return module


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("number", range(len(KINDS)))
def test_kinds(number: int) -> None:
    run(KINDS[number], number)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("number", range(len(RAGGED)))
def test_ragged_tiles(number: int, is_dynamic: bool) -> None:
    run(replace(RAGGED[number], is_dynamic=is_dynamic), number)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
def test_columns_behind_the_end(is_dynamic: bool) -> None:
    """Columns that are not there have no score: a zero would be larger than all that are."""
    attention = replace(LONG, rows=37, keys=300, kind="f16", mask="added", is_dynamic=is_dynamic)
    module = compile_stream(attention)
    query, key, value, mask = attention.make_arguments(np.random.default_rng(8))
    mask -= np.float32(200)
    mask[5, 1:] = -np.inf
    arguments = (query, key, value, mask)
    result = module.run(*arguments, check="races", workers=1)
    np.testing.assert_allclose(result, attention.compute(*arguments), 2e-3, 2e-3)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(("rows", "keys"), [(37, 384), (32, 300)], ids=["rows", "columns"])
@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
def test_ragged_tiles_of_f32(rows: int, keys: int, *, is_dynamic: bool) -> None:
    """They are one kernel, too, which is proved, and multiplies without tensor cores."""
    attention = replace(LONG, rows=rows, keys=keys, is_dynamic=is_dynamic)
    module = compile_stream(attention)
    assert not module.diagnostics
    assert "mma.sync" not in module.ptx
    assert "fma.rn.f32" in module.ptx
    arguments = attention.make_arguments(np.random.default_rng(rows))
    expected = attention.compute(*arguments)
    for order in ("forward", "reverse", 7):
        result = module.run(*arguments, check="races", workers=1, order=order)
        np.testing.assert_allclose(result, expected, attention.tolerance, attention.tolerance)


@pytest.mark.usefixtures("little_memory")
def test_lengths_of_the_launch() -> None:
    """One kernel does for all of them, those of a single row or column too."""
    attention = replace(LONG, kind="f16", width=64, out=64, is_dynamic=True)
    module = compile_stream(attention)
    assert "mma.sync" in module.ptx
    assert ".local" not in module.ptx
    # Of the two rows that a lane has, in registers: the largest score, and the sum of weights.
    assert module.ptx.count("shfl.sync.bfly") == 2 * 2 * 2
    for rows, keys in ((1, 1), (16, 64), (17, 65), (100, 63)):
        launched = replace(attention, rows=rows, keys=keys)
        arguments = launched.make_arguments(np.random.default_rng(rows))
        result = module.run(*arguments, check="races", workers=1)
        np.testing.assert_allclose(result, launched.compute(*arguments), 2e-3, 2e-3)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("kind", ["f32", "f16"])
def test_nan_and_infinities(kind: str) -> None:
    """What is no number in a row of scores, or in values, is so in results."""
    attention = replace(LONG, mask="added", kind=kind)
    tolerances = (2e-4, 2e-5) if kind == "f32" else (2e-3, 2e-3)
    module = compile_stream(attention)
    query, key, value, mask = attention.make_arguments(np.random.default_rng(5))
    mask[3, 100], mask[5, 7], mask[7, :] = np.nan, np.inf, -np.inf
    mask[9, :70], mask[11, :] = -np.inf, np.finfo(np.float32).min
    value[0, 80, 2] = np.inf
    arguments = (query, key, value, mask)
    result = module.run(*arguments, check="races", workers=1)
    with np.errstate(invalid="ignore"):
        expected = attention.compute(*arguments)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
    assert np.isnan(expected[0, 0, [3, 5, 7]]).all()
    mean = np.delete(value.mean(1), 2, 1)
    np.testing.assert_allclose(np.delete(result[:, 0, 11], 2, 1), mean, *tolerances)
    finite = np.isfinite(expected)
    finite[:, :, 11] = False
    np.testing.assert_allclose(result[finite], expected[finite], *tolerances)


def test_scores_are_kept_nowhere() -> None:
    """Global memory has arguments and results, which are stored once."""
    attention = replace(
        LONG, heads=8, rows=512, keys=4096, width=64, out=64, kind="f16", mask="none"
    )
    module = compile_stream(attention)
    (kernel,) = module.kernels.values()
    assert kernel.resources.stack_bytes == kernel.resources.spill_store_bytes == 0
    assert ".local" not in module.ptx
    steps = json.loads(module.plan.text)["functions"][0]["body"]["steps"]
    assert sum(step["op"] == "memref.alloc" for step in steps) == 1
    widths = re.findall(r"st\.global(?:\.v(\d))?\.b32", module.ptx)
    rows, columns, threads = 64, 64, 128
    assert sum(int(width or 1) for width in widths) == rows * columns // threads


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("keys", [384, 330])
def test_chip_without_the_type(keys: int) -> None:
    """Tensor cores of sm_75 have no bf16: tiles are not those of warps with whole rows."""
    attention = replace(LONG, kind="bf16", rows=48, keys=keys, mask="added")
    module = pipeline.compile(attention.text, chip="sm_75")
    assert len(module.kernels) == 1
    assert module.schedule is not None
    assert '"stream" = ' in module.schedule
    assert '"slots"' not in module.schedule
    assert "mma.sync" not in module.ptx
    assert not module.diagnostics
    arguments = attention.make_arguments(np.random.default_rng(9))
    for order in ("forward", "reverse", 7):
        result = module.run(*arguments, check="races", workers=1, order=order)
        np.testing.assert_allclose(result, attention.compute(*arguments), 2e-2, 2e-2)


# Of f16 and bf16 that tensor cores multiply, no score leaves the registers.
NARROW = replace(LONG, kind="f16", rows=128, keys=256, width=64, out=64)


def random_attention(seed: int) -> Attention:
    rng = np.random.default_rng(seed)
    return Attention(
        heads=int(rng.integers(1, 3)),
        groups=int(rng.integers(1, 3)),
        rows=int(rng.choice([16, 48, 64, *rng.integers(16, 130, 3)])),
        keys=int(rng.choice([320, 384, *rng.integers(280, 450, 2)])),
        width=16 * int(rng.integers(1, 4)),
        out=8 * int(rng.integers(2, 7)),
        kind=str(rng.choice(["f16", "bf16"])),
        mask=str(rng.choice(MASKS)),
        spelling=str(rng.choice(["softmax", "guarded", "exp2"])),
        is_dynamic=bool(rng.random() < 0.25),
    )


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("seed", range(12))
def test_random_rows_in_registers(seed: int) -> None:
    attention = random_attention(seed)
    module = compile_stream(attention)
    assert "shfl.sync.bfly" in module.ptx
    assert ".local" not in module.ptx
    arguments = attention.make_arguments(np.random.default_rng(seed))
    result = module.run(*arguments, check="races", workers=1)
    with np.errstate(invalid="ignore"):
        expected = attention.compute(*arguments)
    np.testing.assert_allclose(result, expected, attention.tolerance, attention.tolerance)


@pytest.mark.parametrize(
    "attention",
    [
        replace(NARROW, groups=1, rows=128, keys=320, mask="causal"),
        replace(NARROW, groups=1, rows=240, keys=330, mask="added", kind="bf16"),
        replace(NARROW, groups=1, rows=128, keys=640, width=128, out=128, mask="none"),
        replace(NARROW, groups=1, rows=240, keys=330, mask="chosen", is_dynamic=True),
    ],
    ids=["causal", "ragged", "wide", "dynamic"],
)
def test_warps_of_32_rows(monkeypatch: pytest.MonkeyPatch, attention: Attention) -> None:
    """What is loaded for a product with 16 rows does for a second one."""

    def make_target(chip: str, chips: object) -> Target:
        return Target(chip, 1, attention.width << 10)

    monkeypatch.setattr(target, "make_target", make_target)
    module = compile_stream(attention)
    (kernel,) = module.kernels.values()
    assert kernel.resources.stack_bytes == kernel.resources.spill_store_bytes == 0
    assert ".local" not in module.ptx
    assert '"block" = [128, 0, 0]' in (module.schedule or "")
    assert '"threads" = 128' in (module.schedule or "")
    arguments = attention.make_arguments(np.random.default_rng(4))
    result = module.run(*arguments, check="races", workers=1)
    expected = attention.compute(*arguments)
    np.testing.assert_allclose(result, expected, attention.tolerance, attention.tolerance)


def test_instructions_of_a_weight() -> None:
    """One multiply-add and one power of two; sums are scaled where a largest score changes."""
    attention = replace(NARROW, heads=8, rows=1024, keys=2048, mask="none")
    ptx = pipeline.compile(attention.text, chip="sm_80").ptx
    assert ptx
    weights, rows, results = 64, 4, 64
    # The loop, and its last turn, which copies nothing.
    assert ptx.count("fma.rn.f32") == 2 * weights
    assert ptx.count("vote.sync.any") == 2
    # Two offsets of each row, and what is scaled: the sum of weights, and those of products.
    assert ptx.count("mul.rn.f32") <= 2 * (3 * rows + results)
    # The largest scores in each turn, and the sums of weights behind the loop.
    assert ptx.count("shfl.sync.bfly") == (2 + 1) * 2 * rows


@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
def test_loop_of_rows_in_registers(chip: str) -> None:
    """One barrier a turn; scores and weights are nowhere but in registers."""
    attention = replace(NARROW, heads=6, rows=1024, keys=2048, mask="none")
    module = pipeline.compile(attention.text, chip=chip)
    assert not module.diagnostics
    (kernel,) = module.kernels.values()
    assert kernel.resources.stack_bytes == kernel.resources.spill_store_bytes == 0
    assert ".local" not in module.ptx
    assert not re.search(r"(st|ld)\.shared", module.ptx)
    # The loop, and its last turn, which copies nothing.
    assert module.ptx.count("bar.sync") == 2
    products = 16 * 64 * 64 // (16 * 8 * 16)
    assert module.ptx.count("mma.sync") == 2 * 2 * products
    # A lane has 32 weights, and scales two rows.
    assert module.ptx.count("ex2.approx.ftz.f32") == 2 * (32 + 2)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    ("pattern", "other"),
    [
        (r"^ *gpu\.barrier$", ""),
        (r"^ *nvvm\.cp\.async\.wait\.group 0$", ""),
    ],
    ids=["barrier", "wait"],
)
def test_mutants_of_rows_in_registers(pattern: str, other: str) -> None:
    """Without what orders the copies, there is a race, and no proof."""
    text = pipeline.compile(NARROW.text, chip="sm_80", until="gpu").texts["gpu"]
    mutant = re.sub(pattern, other, text, flags=re.MULTILINE)
    assert mutant != text
    assert pipeline.check(text).is_safe
    assert not pipeline.check(mutant).is_safe


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
def test_hidden_rows_in_registers(*, is_dynamic: bool) -> None:
    """Whether all of a row is masked is a truth value, which lanes put together behind the loop."""
    attention = replace(LONG, groups=1, keys=640, kind="f16", mask="chosen", spelling="guarded")
    attention = replace(attention, rows=64, heads=16, is_dynamic=is_dynamic, knows_rows=True)
    module = compile_stream(attention)
    assert "LoweredChain" in [remark.name for remark in module.remarks]
    assert ".local" not in module.ptx
    plain = compile_stream(replace(attention, spelling="softmax"))
    rows = 2
    assert module.ptx.count("shfl.sync") == plain.ptx.count("shfl.sync") + 2 * rows
    arguments = attention.make_arguments(np.random.default_rng(2))
    arguments[3][7], arguments[3][9, 1:] = -1.0, -1.0
    result = module.run(*arguments, check="races", workers=1)
    with np.errstate(invalid="ignore"):
        expected = attention.compute(*arguments)
    assert (expected[:, :, 7] == 0).all()
    np.testing.assert_allclose(result, expected, attention.tolerance, attention.tolerance)


# Rows that are not made of whole matrices are filled up with zeros.
ODD = (
    replace(NARROW, width=40, out=40, mask="causal"),
    replace(NARROW, width=40, out=72, rows=192, mask="added", kind="bf16"),
    replace(NARROW, width=20, out=20, keys=320, mask="chosen", spelling="exp2"),
    replace(NARROW, width=33, out=37, rows=64, mask="none"),
)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("number", range(len(ODD)))
def test_rows_of_odd_lengths(number: int) -> None:
    attention = ODD[number]
    module = compile_stream(attention)
    assert "LoweredChain" in [remark.name for remark in module.remarks]
    assert ".local" not in module.ptx
    assert not module.diagnostics
    arguments = attention.make_arguments(np.random.default_rng(number))
    for order in ("forward", "reverse", 7):
        result = module.run(*arguments, check="races", workers=1, order=order)
        with np.errstate(invalid="ignore"):
            expected = attention.compute(*arguments)
        np.testing.assert_allclose(result, expected, attention.tolerance, attention.tolerance)


@pytest.mark.usefixtures("little_memory")
def test_infinities_beside_filled_up_columns() -> None:
    """What is no number where columns fill up matrices goes nowhere."""
    attention = replace(NARROW, width=40, out=40, mask="added")
    module = compile_stream(attention)
    query, key, value, mask = attention.make_arguments(np.random.default_rng(5))
    mask[3, 100], mask[5, 7], mask[7, :] = np.nan, np.inf, -np.inf
    value[0, 80, 39] = np.inf
    arguments = (query, key, value, mask)
    result = module.run(*arguments, check="races", workers=1)
    with np.errstate(invalid="ignore"):
        expected = attention.compute(*arguments)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
    finite = np.isfinite(expected)
    np.testing.assert_allclose(result[finite], expected[finite], 2e-3, 2e-3)


@pytest.mark.usefixtures("little_memory")
def test_lanes_of_a_row() -> None:
    """All four lanes of a row have to exchange what they have."""
    text = pipeline.compile(NARROW.text, chip="sm_80", until="gpu").texts["gpu"]
    (two,) = set(re.findall(r"gpu\.shuffle +xor %\w+, (%\w+),", text)) - set(
        re.findall(r"(%\w+) = arith\.constant 1 : i32", text)
    )
    mutant = re.sub(rf"(gpu\.shuffle +xor %\w+), {two},", r"\1, %c1_i32,", text)
    assert mutant != text
    arguments = NARROW.make_arguments(np.random.default_rng(1))
    right, wrong = (pipeline.compile(each, sync="keep").run(*arguments) for each in (text, mutant))
    expected = NARROW.compute(*arguments)
    np.testing.assert_allclose(right, expected, 2e-3, 2e-3)
    assert np.abs(wrong - expected).max() > 0.1
