"""Conversions of floats of 8, 6 and 4 bits: each pair of types, scalars and vectors."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array, function, module
from support.chips import CHIPS

NARROW: dict[str, Any] = {
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}
SCALE = "f8E8M0FNU"
ROUNDED = tuple(kind for kind in NARROW if kind != SCALE)
FINITE = ("f6E2M3FN", "f6E3M2FN", "f4E2M1FN")
WIDE: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}
SHAPES = {"scalar": (), "vector": (4,), "matrix": (2, 2), "one": (1,)}


def width(kind: str) -> int:
    return int(kind[1])


def patterns(kind: str) -> Array:
    """Return the bits of all numbers of a narrow type, twice where there are few."""
    return np.resize(np.arange(1 << width(kind)), 256).astype(np.uint8)


def shaped(element: str, shape: tuple[int, ...]) -> str:
    dims = "".join(f"{size}x" for size in shape)
    return f"vector<{dims}{element}>" if shape else element


def load(name: str, element: str, shape: tuple[int, ...]) -> str:
    """Return lines that make %v of four, or one, elements of an argument in memory."""
    memory = f"memref<256x{element}>"
    if not shape:
        return f"%v = memref.load %{name}[%i] : {memory}\n"
    flat = f"vector<{np.prod(shape)}x{element}>"
    return (
        f"%flat = vector.load %{name}[%i] : {memory}, {flat}\n"
        f"%v = vector.shape_cast %flat : {flat} to {shaped(element, shape)}\n"
    )


def store(name: str, element: str, shape: tuple[int, ...]) -> str:
    memory = f"memref<256x{element}>"
    if not shape:
        return f"memref.store %r, %{name}[%i] : {memory}\n"
    flat = f"vector<{np.prod(shape)}x{element}>"
    return (
        f"%flatr = vector.shape_cast %r : {shaped(element, shape)} to {flat}\n"
        f"vector.store %flatr, %{name}[%i] : {memory}, {flat}\n"
    )


def to_narrow(kind: str, shape: tuple[int, ...]) -> str:
    """Return lines that make %n of a narrow type from the byte %v."""
    integer, byte = shaped(f"i{width(kind)}", shape), shaped("i8", shape)
    cut = f"%bits = arith.trunci %v : {byte} to {integer}\n" if width(kind) < 8 else ""
    source = "%bits" if cut else "%v"
    return f"{cut}%n = arith.bitcast {source} : {integer} to {shaped(kind, shape)}\n"


def from_narrow(kind: str, shape: tuple[int, ...]) -> str:
    """Return lines that make the byte %r from %n of a narrow type."""
    integer, byte = shaped(f"i{width(kind)}", shape), shaped("i8", shape)
    name = "%rbits" if width(kind) < 8 else "%r"
    wide = f"%r = arith.extui %rbits : {integer} to {byte}\n" if width(kind) < 8 else ""
    return f"{name} = arith.bitcast %n : {shaped(kind, shape)} to {integer}\n{wide}"


def kernel(name: str, arguments: str, shape: tuple[int, ...], body: str) -> str:
    """Return a kernel of as many threads as it takes for 256 elements."""
    count = int(np.prod(shape))
    index = f"%step = arith.constant {count} : index\n%i = arith.muli %tx, %step : index\n"
    return function(name, arguments, index + body, block=(256 // count, 1, 1))


def extension(kind: str, wide: str, shape: tuple[int, ...] = (), name: str = "k") -> str:
    types = f"{shaped(kind, shape)} to {shaped(wide, shape)}"
    body = load("a", "i8", shape) + to_narrow(kind, shape)
    body += f"%r = arith.extf %n : {types}\n" + store("b", wide, shape)
    return kernel(name, f"%a: memref<256xi8>, %b: memref<256x{wide}>", shape, body)


def truncation(wide: str, kind: str, shape: tuple[int, ...] = (), name: str = "k") -> str:
    types = f"{shaped(wide, shape)} to {shaped(kind, shape)}"
    body = load("a", wide, shape) + f"%n = arith.truncf %v : {types}\n"
    body += from_narrow(kind, shape) + store("b", "i8", shape)
    return kernel(name, f"%a: memref<256x{wide}>, %b: memref<256xi8>", shape, body)


def recast(source: str, target: str, op: str, shape: tuple[int, ...] = ()) -> str:
    """Return a kernel that converts one narrow type to another."""
    types = f"{shaped(source, shape)} to {shaped(target, shape)}"
    body = load("a", "i8", shape) + to_narrow(source, shape).replace("%n =", "%from =")
    body += f"%n = arith.{op} %from : {types}\n"
    body += from_narrow(target, shape) + store("b", "i8", shape)
    return kernel("k", "%a: memref<256xi8>, %b: memref<256xi8>", shape, body)


@functools.cache
def compiled(text: str) -> pipeline.Kernel:
    return pipeline.compile(module(text), until="llvm").kernels["k"]


def run(text: str, source: Array, target: Array, shape: tuple[int, ...]) -> Array:
    count = int(np.prod(shape))
    compiled(text).run(source, target, grid=(1, 1, 1), block=(256 // count, 1, 1))
    return target


def check_same(found: Array, expected: Array) -> None:
    np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))
    numbers = ~np.isnan(expected.astype(np.float64))
    found_signs = np.signbit(found.astype(np.float64))
    expected_signs = np.signbit(expected.astype(np.float64))
    np.testing.assert_array_equal(found_signs[numbers], expected_signs[numbers])


def boundaries(kind: str, wide: str) -> Array:
    """Return numbers of a wide type: those of a narrow one, and those where it rounds."""
    with np.errstate(all="ignore"):
        exact = patterns(kind).view(NARROW[kind]).astype(np.float64)
        exact = np.unique(exact[np.isfinite(exact)])
        middle = (exact[1:] + exact[:-1]) / 2
        ends = np.array([exact[-1] * 1.03, exact[-1] * 1.07, exact[-1] * 4, 1e30, 1e-30, 0.0, -0.0])
        special = np.array([np.inf, -np.inf, np.nan])
        near = [np.nextafter(middle.astype(WIDE[wide]), WIDE[wide](end)) for end in (9e4, -9e4)]
        values = [exact, middle, *near, ends, -ends, special]
        return np.concatenate([np.asarray(v).astype(WIDE[wide]) for v in values])


def expect_truncated(kind: str, values: Array) -> Array:
    """Return the nearest numbers of a type, or what PTX makes of those that it has none for.

    ml_dtypes rounds float64 twice.
    """
    with np.errstate(all="ignore"):
        positive = np.arange(1 << (width(kind) - 1), dtype=np.uint8)
        sizes = positive.view(NARROW[kind]).astype(np.float64)
        wide = values.astype(np.float64)
    too_large = np.inf if np.isinf(sizes).any() else np.nan
    sizes = sizes[np.isfinite(sizes)]
    if kind in FINITE:
        too_large = sizes[-1]
    steps = np.append(sizes, 2 * sizes[-1] - sizes[-2])
    below = np.searchsorted(steps[:-1], abs(wide), side="right") - 1
    middle = (steps[below] + steps[below + 1]) / 2
    rounds_up = (abs(wide) > middle) | ((abs(wide) == middle) & (below % 2 == 1))
    expected = np.append(sizes, too_large)[below + rounds_up]
    expected = np.copysign(expected, wide)
    expected[np.isnan(wide)] = too_large if kind in FINITE else np.nan
    return np.where((expected == 0) & kind.endswith("UZ"), 0.0, expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("kind", NARROW)
def test_extension(kind: str, wide: str, shape: str) -> None:
    bits = patterns(kind)
    found = run(
        extension(kind, wide, SHAPES[shape]), bits, np.zeros(256, WIDE[wide]), SHAPES[shape]
    )
    with np.errstate(all="ignore"):
        expected = bits.view(NARROW[kind]).astype(np.float64).astype(WIDE[wide])
    check_same(found, expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("kind", ROUNDED)
def test_truncation(kind: str, wide: str, shape: str) -> None:
    values = boundaries(kind, wide)
    for start in range(0, len(values), 256):
        some = np.resize(values[start : start + 256], 256)
        found = run(
            truncation(wide, kind, SHAPES[shape]), some, np.zeros(256, np.uint8), SHAPES[shape]
        )
        check_same(found.view(NARROW[kind]), expect_truncated(kind, some))


PAIRS = [
    (source, target) for source, target in itertools.permutations(NARROW, 2) if target != SCALE
]


@pytest.mark.parametrize(
    ("source", "target"), [pair for pair in PAIRS if width(pair[0]) != width(pair[1])]
)
def test_between_narrow_types(source: str, target: str) -> None:
    op = "extf" if width(source) < width(target) else "truncf"
    bits = patterns(source)
    found = run(recast(source, target, op), bits, np.zeros(256, np.uint8), ())
    with np.errstate(all="ignore"):
        values = bits.view(NARROW[source]).astype(np.float64)
    check_same(found.view(NARROW[target]), expect_truncated(target, values))


@pytest.mark.parametrize("op", ["sitofp", "uitofp", "fptosi", "fptoui"])
@pytest.mark.parametrize("kind", ROUNDED)
def test_integers(kind: str, op: str) -> None:
    if op.startswith("fp"):
        bits = patterns(kind)
        values = bits.view(NARROW[kind]).astype(np.float64)
        least = 0 if op == "fptoui" else -30000
        fits = np.isfinite(values) & (values > least - 1) & (values < 30000)
        bits = np.where(fits, bits, 0).astype(np.uint8)
        body = load("a", "i8", ()) + to_narrow(kind, ())
        body += f"%r = arith.{op} %n : {kind} to i32\n" + store("b", "i32", ())
        text = kernel("k", "%a: memref<256xi8>, %b: memref<256xi32>", (), body)
        found = run(text, bits, np.zeros(256, np.int32), ())
        expected = np.trunc(bits.view(NARROW[kind]).astype(np.float64))
        np.testing.assert_array_equal(found.astype(np.float64), expected)
        return
    numbers = np.resize(np.arange(-128, 128) * 3, 256).astype(np.int32)
    numbers = abs(numbers) if op == "uitofp" else numbers
    body = load("a", "i32", ()) + f"%n = arith.{op} %v : i32 to {kind}\n"
    body += from_narrow(kind, ()) + store("b", "i8", ())
    text = kernel("k", "%a: memref<256xi32>, %b: memref<256xi8>", (), body)
    found = run(text, numbers, np.zeros(256, np.uint8), ())
    check_same(found.view(NARROW[kind]), expect_truncated(kind, numbers.astype(np.float64)))


def test_scaling() -> None:
    """A block of narrow floats with a scale: what formats for machine learning are made of."""
    body = load("a", "i8", ()) + to_narrow("f4E2M1FN", ())
    body += (
        "%sbits = memref.load %s[%i] : memref<256xi8>\n"
        "%scale = arith.bitcast %sbits : i8 to f8E8M0FNU\n"
        "%r = arith.scaling_extf %n, %scale : f4E2M1FN, f8E8M0FNU to f32\n"
    ) + store("b", "f32", ())
    text = kernel("k", "%a: memref<256xi8>, %s: memref<256xi8>, %b: memref<256xf32>", (), body)
    bits, scales = patterns("f4E2M1FN"), np.roll(np.arange(100, 100 + 64), 3).repeat(4)
    found = np.zeros(256, np.float32)
    compiled(text).run(bits, scales.astype(np.uint8), found, grid=(1, 1, 1), block=(256, 1, 1))
    expected = bits.view(ml_dtypes.float4_e2m1fn).astype(np.float64) * 2.0 ** (scales - 127.0)
    check_same(found, expected)


@pytest.mark.parametrize("chip", CHIPS)
def test_conversions_assemble_for_each_chip(chip: str) -> None:
    functions = []
    for kind, wide, shape in itertools.product(NARROW, WIDE, ((), (4,))):
        functions.append(extension(kind, wide, shape, f"extend_{kind}_{wide}_{len(shape)}"))
        if kind != SCALE:
            functions.append(truncation(wide, kind, shape, f"to_{kind}_{wide}_{len(shape)}"))
    assert pipeline.compile(module(*functions), chip=chip).cubin


def refusal(text: str, op: str) -> str:
    program = module(text)
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(program)
    error = next(d for d in caught.value.diagnostics if d.severity == "error")
    lines = [n for n, line in enumerate(program.splitlines(), 1) if op in line]
    assert error.location.line in lines
    return error.message


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("source", [*WIDE, "i32"])
def test_no_conversion_rounds_to_a_scale(source: str, shape: str) -> None:
    sizes = SHAPES[shape]
    op = "sitofp" if source == "i32" else "truncf"
    body = load("a", source, sizes)
    body += f"%n = arith.{op} %v : {shaped(source, sizes)} to {shaped(SCALE, sizes)}\n"
    body += from_narrow(SCALE, sizes) + store("b", "i8", sizes)
    text = kernel("k", f"%a: memref<256x{source}>, %b: memref<256xi8>", sizes, body)
    message = refusal(text, f"arith.{op}")
    assert "makes an f8E8M0FNU, a power of two without sign and zero" in message


@pytest.mark.parametrize("kind", ROUNDED)
@pytest.mark.parametrize("mode", ["downward", "upward", "toward_zero", "to_nearest_away"])
def test_modes_of_rounding_that_are_refused(kind: str, mode: str) -> None:
    text = truncation("f32", kind).replace("arith.truncf %v", f"arith.truncf %v {mode}")
    assert "rounds to a float of 8 bits or less other than to the nearest" in refusal(
        text, "arith.truncf"
    )


@pytest.mark.parametrize(
    ("odd", "op", "other"),
    [
        *((odd, "extf", "f32") for odd in ("f80", "f128")),
        *((odd, "truncf", "f32") for odd in ("f80", "f128")),
        *((odd, "sitofp", "i32") for odd in ("f80", "f128", "tf32")),
        *((odd, "fptosi", "i32") for odd in ("f80", "f128", "tf32")),
        *((odd, "truncf", "f8E5M2") for odd in ("f80", "f128")),
    ],
)
def test_floats_that_gpus_do_not_have(odd: str, op: str, other: str) -> None:
    if op in ("extf", "sitofp"):
        body = f"%v = memref.load %a[%tx] : memref<256x{other}>\n"
        body += f"%r = arith.{op} %v : {other} to {odd}\n"
        body += f"%z = arith.constant 1.0 : {odd}\n%t = arith.select %c, %r, %z : {odd}\n"
        back = "fptosi" if odd == "tf32" else "truncf"
        target = "i32" if odd == "tf32" else "f32"
        body += f"%u = arith.{back} %t : {odd} to {target}\n"
        body += f"memref.store %u, %b[%tx] : memref<256x{target}>\n"
        arguments = f"%a: memref<256x{other}>, %b: memref<256x{target}>, %c: i1"
    else:
        body = f"%v = arith.constant 1.5 : {odd}\n%w = arith.constant 2.5 : {odd}\n"
        body += f"%t = arith.select %c, %v, %w : {odd}\n%r = arith.{op} %t : {odd} to {other}\n"
        body += f"memref.store %r, %b[%tx] : memref<256x{other}>\n"
        arguments = f"%b: memref<256x{other}>, %c: i1"
    message = refusal(function("k", arguments, body, block=(256, 1, 1)), "arith.")
    assert f"'{odd}', of which GPUs have no numbers" in message
