"""Convolutions as contractions of gathered tiles: their numbers, and what is in their PTX."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import numpy as np
import pytest

import pipeline
from oracles.contractions.convolutions import HALF, RESNET, Convolution, make_random

SMALL = Convolution(2, (9, 11), 16, 20, (3, 3), (1, 1), (1, 1))


def check(convolution: Convolution, module: pipeline.Module, seed: int = 0) -> None:
    """Ask that the module computes the convolution, without races."""
    arguments = convolution.arguments(seed)
    want = convolution.compute(*arguments)
    got = np.asarray(module.run(*arguments, check="races")).astype(want.dtype)
    if convolution.sum.startswith("i"):
        np.testing.assert_array_equal(got, want)
    else:
        scale = max(1.0, float(np.abs(want).max(initial=0)))
        exact = 1e-12 if convolution.sum == "f64" else 2e-5
        np.testing.assert_allclose(got, want, rtol=0, atol=exact * scale)


def names(module: pipeline.Module) -> set[str]:
    return {remark.name for remark in module.remarks}


@pytest.mark.parametrize("channels_last", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"strides": (2, 2), "batch": 3},
        {"strides": (2, 1), "dilations": (1, 3)},
        {"channels": 3},  # several taps in a step
        {"channels": 64, "kind": "f16"},
        {"groups": 3},
        {"is_dynamic": True},
        {"kind": "i8", "sum": "i32"},
        {"kind": "f64", "sum": "f64"},
        {"adds": True},
        {"pixels": (13,), "windows": (5,), "strides": (2,), "dilations": (1,)},
        {"pixels": (4, 3, 5), "windows": (2, 3, 2), "strides": (1, 2, 1), "dilations": (1,) * 3},
    ],
    ids=str,
)
def test_forms(change: dict[str, object], *, channels_last: bool) -> None:
    convolution = replace(SMALL, channels_last=channels_last, **change)  # type: ignore[arg-type]
    module = pipeline.compile(convolution.text(), chip="sm_80")
    assert {"Decomposed", "StagedOperands", "LoweredContraction"} <= names(module)
    check(convolution, module)


@pytest.mark.parametrize("seed", range(24))
def test_random(seed: int) -> None:
    convolution = make_random(seed)
    check(convolution, pipeline.compile(convolution.text(), chip="sm_80"), seed)


@pytest.mark.parametrize("seed", range(12))
def test_any_tile(seed: int) -> None:
    """Whatever the sizes of tiles, slices of the image are the right ones."""
    choice = random.Random(seed)
    convolution = replace(
        SMALL,
        pixels=(choice.randint(3, 9), choice.randint(3, 9)),
        strides=(choice.choice((1, 2)), choice.choice((1, 2))),
        channels=choice.choice((3, 5, 16)),
        channels_last=choice.random() < 0.5,
    )
    schedule = pipeline.choose_schedule(convolution.text(), chip="sm_80")

    def pick(found: re.Match[str]) -> str:
        sizes = [int(size) for size in found[2].split(", ")]
        changed = [size and choice.randint(1, max(2, size)) for size in sizes]
        return f'"{found[1]}" = {changed}'

    changed = re.sub(r'"(block|reduction)" = \[([0-9, ]+)\]', pick, schedule)
    assert changed != schedule
    module = pipeline.compile(convolution.text(), chip="sm_80", schedule=changed)
    check(convolution, module, seed)


def test_chips() -> None:
    for chip in ("sm_75", "sm_90"):
        module = pipeline.compile(SMALL.text(), chip=chip)
        check(SMALL, module)


# All products in a step, filled up to 96, are more than the memory of sm_75.
FAR = Convolution(
    *(1, (9, 2), 8, 33, (3, 2), (2, 2), (1, 1)), groups=3, channels_last=False, is_dynamic=True
)
# Windows of one tap in strides: of what is left, no index has a tap.
STRIDED = replace(SMALL, windows=(3, 1), strides=(1, 2), is_dynamic=True)
DEEP = Convolution(1, (5, 2), 1, 1, (3, 1), (1, 2), (2, 2), groups=3, is_dynamic=True, adds=True)


@pytest.mark.parametrize("chip", ["sm_75", "sm_90a"])
@pytest.mark.parametrize("convolution", [FAR, STRIDED, DEEP], ids=["far", "strided", "deep"])
def test_tiles_fit(convolution: Convolution, chip: str) -> None:
    """Tiles that are chosen have constant bounds, and fit into the memory of the chip."""
    check(convolution, pipeline.compile(convolution.text(), chip=chip))


@pytest.mark.parametrize("convolution", [RESNET, HALF], ids=["f32", "f16"])
def test_quality(convolution: Convolution) -> None:
    """No matrix of windows, no accumulator in memory, copies of 16 bytes, no spilled register."""
    module = pipeline.compile(convolution.text(), chip="sm_80", until="ptx")
    ptx = module.ptx or ""
    assert ptx.count(".entry") == 1
    assert "cp.async.cg.shared.global" in ptx
    assert "cp.async.ca" not in ptx
    assert ".local" not in ptx
    inner = ptx[ptx.index("cp.async") :]
    assert not re.search(r"ld\.global\.(nc\.)?[bfu]16", inner)
    assert "0 bytes spill stores, 0 bytes spill loads" in (module.ptxas_log or "")


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"kind": "i8", "sum": "i32"},
        {"strides": (2, 1), "dilations": (1, 2)},
        {"channels": 48, "features": 33},
        {"channels": 24, "windows": (1, 1)},
        {"channels": 80, "batch": 3, "pixels": (4, 5)},
        {"channels": 16, "windows": (5, 5)},
        {"groups": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_pixels_that_are_neighbours(change: dict[str, object], chip: str) -> None:
    """Tensor cores take whole matrices of channels for one place of the window."""
    layout = Convolution(2, (10, 11), 32, 64, (3, 3), (1, 1), (1, 1), channels_last=False)
    convolution = replace(layout, **{"kind": "f16"} | change)  # type: ignore[arg-type]
    module = pipeline.compile(convolution.text(), chip=chip)
    ptx = module.ptx or ""
    assert "mma.sync" in ptx
    assert "ldmatrix" in ptx
    assert "trans" in ptx or convolution.kind == "i8"
    assert "NotResolved" not in names(module)
    assert "0 bytes spill stores, 0 bytes spill loads" in (module.ptxas_log or "")
    check(convolution, module)


STEM = Convolution(2, (12, 11), 3, 64, (7, 7), (2, 2), (1, 1), kind="f16")


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"pixels": (9, 13), "strides": (1, 3), "dilations": (2, 1)},
        {"windows": (3, 3), "strides": (1, 1)},
        {"windows": (5, 5), "channels": 4, "adds": True},
        {"channels": 5, "features": 40, "windows": (3, 3)},
        {"is_dynamic": True},
    ],
    ids=str,
)
def test_few_channels(change: dict[str, object]) -> None:
    """Sums that are no whole matrices are filled up with zeros, for tensor cores."""
    convolution = replace(STEM, **change)  # type: ignore[arg-type]
    module = pipeline.compile(convolution.text(), chip="sm_80")
    ptx = module.ptx or ""
    assert "mma.sync" in ptx
    assert "fma.rn.f32" not in ptx
    assert not module.diagnostics
    check(convolution, module)


def test_what_is_beside_windows() -> None:
    """Places that only fill up a window are not read: what is no number there goes nowhere."""
    convolution = replace(STEM, pixels=(9, 9), strides=(1, 1), windows=(3, 3))
    image, taps, *rest = convolution.arguments(1)
    image[:, 4, 5, :] = np.inf
    module = pipeline.compile(convolution.text(), chip="sm_80")
    with np.errstate(invalid="ignore"):
        want = convolution.compute(image, taps, *rest)
    result = np.asarray(module.run(image, taps, *rest, check="races", workers=1))
    np.testing.assert_array_equal(np.isfinite(result), np.isfinite(want))
    finite = np.isfinite(want)
    assert finite.any()
    assert not finite.all()
    np.testing.assert_allclose(result[finite], want[finite], 2e-3, 2e-3)


DEPTHWISE = """
!y = tensor<{y}xf32>
func.func @main(%x: tensor<{x}xf32>, %w: tensor<{w}xf32>, %start: !y) -> !y {{
  %r = linalg.{op} {{
      strides = dense<{stride}> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}}
      ins(%x, %w : tensor<{x}xf32>, tensor<{w}xf32>) outs(%start : !y) -> !y
  return %r : !y
}}
"""


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("channels_last", [True, False])
@pytest.mark.parametrize("size", [(2, 10, 18, 32), (2, 13, 21, 40)], ids=["whole", "ragged"])
def test_depthwise(size: tuple[int, int, int, int], stride: int, *, channels_last: bool) -> None:
    """The image of a block, if its tiles are whole, is copied to workgroup memory once."""
    batch, height, width, channels = size
    rows, columns = (height - 3) // stride + 1, (width - 3) // stride + 1
    near = ((batch, height, width, channels), (3, 3, channels), (batch, rows, columns, channels))
    far = ((batch, channels, height, width), (channels, 3, 3), (batch, channels, rows, columns))
    shapes = near if channels_last else far
    x, w, y = ("x".join(map(str, shape)) for shape in shapes)
    op = "depthwise_conv_2d_nhwc_hwc" if channels_last else "depthwise_conv_2d_nchw_chw"
    text = DEPTHWISE.format(x=x, w=w, y=y, op=op, stride=stride)
    generator = np.random.default_rng(stride)
    arrays = [generator.standard_normal(shape).astype(np.float32) for shape in shapes]
    image, taps, want = (array.astype(np.float64) for array in arrays)
    if not channels_last:
        image, taps, want = (np.moveaxis(a, i, -1) for a, i in ((image, 1), (taps, 0), (want, 1)))
    for dy in range(3):
        for dx in range(3):
            window = image[:, dy : dy + height - 2 : stride, dx : dx + width - 2 : stride]
            want = want + window * taps[dy, dx]
    module = pipeline.compile(text, chip="sm_80")
    assert "Decomposed" not in names(module)
    if stride == 1 and size == (2, 10, 18, 32):
        assert "StagedTile" in names(module)
    got = np.asarray(module.run(*arrays, check="races"))
    got = got if channels_last else np.moveaxis(got, 1, -1)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-4)
