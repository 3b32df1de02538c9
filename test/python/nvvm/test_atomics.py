"""Atomic updates of memory: each kind of each type, or a refusal at the operation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array, function, module
from support.chips import CHIPS

THREADS = 40
FLOATS = ("f16", "bf16", "f32", "f64")
NARROW = ("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E8M0FNU", "f6E3M2FN", "f4E2M1FN")
INTEGERS = ("i1", "i4", "i8", "i16", "i32", "i64")
TOO_WIDE = ("i24", "i48", "i128", "f80", "f128")

FLOAT_KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "addf": np.add,
    "mulf": np.multiply,
    "maximumf": np.maximum,
    "maxnumf": np.fmax,
    "minimumf": np.minimum,
    "minnumf": np.fmin,
}
INTEGER_KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "addi": np.add,
    "muli": np.multiply,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "maxs": np.maximum,
    "mins": np.minimum,
    "maxu": np.maximum,
    "minu": np.minimum,
}
SPACES = {"global": "", "workgroup": ", #wg", "workgroup by number": ", 3"}


def bits_of(kind: str) -> int:
    return int("".join(c for c in kind.split("E")[0] if c.isdigit()))


def holder(kind: str) -> str:
    """Return the integer as which memory has an element."""
    return f"i{max(8, bits_of(kind))}"


def update(kind: str, op: str, value: str, place: str, memory: str) -> str:
    return f"%o = memref.atomic_rmw {op} {value}, {place} : ({kind}, {memory}) -> {kind}"


def generic(kind: str, op: str, value: str, place: str, memory: str) -> str:
    compute = {
        "maxs": "maxsi",
        "mins": "minsi",
        "maxu": "maxui",
        "minu": "minui",
    }.get(op, op)
    lines = f"%n = arith.{compute} %was, {value} : {kind}" if op != "assign" else ""
    result = "%n" if op != "assign" else value
    return f"""%o = memref.generic_atomic_rmw {place} : {memory} {{
    ^bb0(%was: {kind}):
      {lines}
      memref.atomic_yield {result} : {kind}
    }}"""


WAYS = {"atomic_rmw": update, "generic_atomic_rmw": generic}


def program(kind: str, op: str, way: str, space: str = "global") -> str:
    """Return a kernel that updates elements 0 and 1 of memory with a number of each thread.

    The memory has elements of the type; %a is passed as it is, or copied into workgroup memory.
    """
    memory = f"memref<4x{kind}{SPACES[space]}>"
    place = "%a[%which]" if space == "global" else "%w[%which]"
    line = WAYS[way](kind, op, "%v", place, memory)
    load = f"""
    %which = arith.remui %tx, %c2 : index
    %v = memref.load %x[%tx] : memref<{THREADS}x{kind}>"""
    if space == "global":
        body = f"{load}\n    {line}"
        buffers = ""
    else:
        body = f"""{load}
    %is = arith.cmpi ult, %tx, %c4 : index
    scf.if %is {{
      %e = memref.load %a[%tx] : memref<4x{kind}>
      memref.store %e, %w[%tx] : {memory}
    }}
    gpu.barrier
    {line}
    gpu.barrier
    scf.if %is {{
      %e = memref.load %w[%tx] : {memory}
      memref.store %e, %a[%tx] : memref<4x{kind}>
    }}"""
        buffers = f"%w: {memory}"
    arguments = f"%a: memref<4x{kind}>, %x: memref<{THREADS}x{kind}>"
    return module(function("k", arguments, body, block=(THREADS, 1, 1), buffers=buffers))


DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i4": ml_dtypes.uint4,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}


def numbers(kind: str, count: int) -> Array:
    """Return numbers of which neither sums nor products of a few depend on their order."""
    rng = np.random.default_rng(count)
    if kind.startswith("i"):
        bits = min(bits_of(kind), 62)
        return rng.integers(0, 1 << bits, count).astype(f"u{max(bits, 8) // 8 if bits < 62 else 8}")
    choices = rng.choice([1.0, -1.0, 2.0, 0.5], count)
    return choices.astype(DTYPES[kind])


def reduce(kind: str, op: str, start: Array, values: Array) -> Array:
    """Return what the updates leave in the elements."""
    result = start.copy()
    for lane in (0, 1):
        for value in values[lane::2]:
            result[lane] = combine(kind, op, result[lane], value)
    return result


def combine(kind: str, op: str, left: Any, right: Any) -> Any:
    if op in FLOAT_KINDS:
        return FLOAT_KINDS[op](left, right)
    bits = bits_of(kind)

    def signed(value: int) -> int:
        return value - (1 << bits) if value >> (bits - 1) else value

    a, b = int(left), int(right)
    if op in ("maxs", "mins"):
        a, b = signed(a), signed(b)
    return int(INTEGER_KINDS[op](np.array(a, object), np.array(b, object))) % (1 << bits)


def run(text: str, start: Array, values: Array, chip: str = "sm_80") -> Array:
    result = start.copy()
    kernel = compiled(text, chip).kernels["k"]
    report = kernel.run(result, values, grid=(1, 1, 1), block=(THREADS, 1, 1), check="races")
    assert report.findings == ()
    return result


@functools.cache
def compiled(text: str, chip: str) -> pipeline.Module:
    return pipeline.compile(text, chip=chip)


def as_argument(kind: str, values: Array) -> Array:
    if kind == "i1":
        return values.astype(np.bool_)
    if kind == "i4":
        return values.astype(ml_dtypes.uint4)
    return values


INTEGER_CASES = [(kind, op) for kind in INTEGERS for op in INTEGER_KINDS]
FLOAT_CASES = [(kind, op) for kind in FLOATS for op in FLOAT_KINDS]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "op"), [*INTEGER_CASES, *FLOAT_CASES])
def test_updates(kind: str, op: str, way: str) -> None:
    start, values = numbers(kind, 4), numbers(kind, THREADS)
    found = run(program(kind, op, way), as_argument(kind, start), as_argument(kind, values))
    expected = reduce(kind, op, start, values)
    np.testing.assert_array_equal(found.astype(expected.dtype), expected)


@pytest.mark.parametrize("space", ["workgroup", "workgroup by number"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("kind", "op"), [("i1", "xori"), ("i8", "addi"), ("f16", "mulf"), ("f32", "maximumf")]
)
def test_updates_of_workgroup_memory(kind: str, op: str, way: str, space: str) -> None:
    start, values = numbers(kind, 4), numbers(kind, THREADS)
    text = program(kind, op, way, space)
    found = run(text, as_argument(kind, start), as_argument(kind, values))
    expected = reduce(kind, op, start, values)
    np.testing.assert_array_equal(found.astype(expected.dtype), expected)


@pytest.mark.parametrize("chip", CHIPS)
def test_updates_assemble_for_each_chip(chip: str) -> None:
    """All in one module: what differs is the type."""
    functions = []
    for way in WAYS:
        for kind, op in [*INTEGER_CASES, *FLOAT_CASES, *((k, "assign") for k in NARROW)]:
            name = f"{way}_{kind}_{op}"
            text = program(kind, op, way)
            functions.append(
                text[text.index("  gpu.func") : text.rindex("}")].replace("@k(", f"@{name}(")
            )
    assert pipeline.compile(module(*functions), chip=chip).cubin


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", NARROW)
def test_narrow_floats_are_exchanged_by_their_bits(kind: str, way: str) -> None:
    bits = bits_of(kind)
    place, memory = "%a[%tx]", f"memref<{THREADS}x{kind}>"
    body = f"""
    %b = memref.load %x[%tx] : memref<{THREADS}xi8>
    %n = arith.trunci %b : i8 to i{bits}
    %v = arith.bitcast %n : i{bits} to {kind}
    {WAYS[way](kind, "assign", "%v", place, memory)}
    %ob = arith.bitcast %o : {kind} to i{bits}
    %old = arith.extui %ob : i{bits} to i8
    memref.store %old, %x[%tx] : memref<{THREADS}xi8>
"""
    if bits == 8:
        body = body.replace("    %n = arith.trunci %b : i8 to i8\n", "").replace("%n : ", "%b : ")
        body = body.replace("    %old = arith.extui %ob : i8 to i8\n", "").replace("%old,", "%ob,")
    arguments = f"%m: memref<{THREADS}xi8>, %x: memref<{THREADS}xi8>"
    view = f"    %a = builtin.unrealized_conversion_cast %m : memref<{THREADS}xi8> to {memory}"
    text = module(function("k", arguments, f"{view}\n{body}", block=(THREADS, 1, 1)))
    old = (np.arange(THREADS) % (1 << bits)).astype(np.uint8)
    new = ((old.astype(int) * 7 + 3) % (1 << bits)).astype(np.uint8)
    memory_, values = old.copy(), new.copy()
    kernel = compiled(text, "sm_80").kernels["k"]
    kernel.run(memory_, values, grid=(1, 1, 1), block=(THREADS, 1, 1))
    np.testing.assert_array_equal(memory_, new)
    np.testing.assert_array_equal(values, old)


def refusal(text: str, chip: str) -> pipeline.Diagnostic:
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(text, chip=chip)
    error = next(d for d in caught.value.diagnostics if d.severity == "error")
    (line,) = (n for n, at in enumerate(text.splitlines(), 1) if "_rmw" in at)
    assert error.location.line == line
    return error


@pytest.mark.parametrize("chip", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", TOO_WIDE)
def test_sizes_that_gpus_do_not_exchange(kind: str, way: str, chip: str) -> None:
    error = refusal(program(kind, "assign", way), chip)
    assert f"updates an element of type '{kind}' at once, which GPUs do with those" in error.message


@pytest.mark.parametrize("kind", [*NARROW, "f80", "f128"])
@pytest.mark.parametrize("op", FLOAT_KINDS)
def test_arithmetic_that_gpus_do_not_have(kind: str, op: str) -> None:
    error = refusal(program(kind, op, "atomic_rmw"), "sm_80")
    assert f"computes in '{kind}'" in error.message


def test_a_body_with_a_branch() -> None:
    body = f"""
    %v = memref.load %x[%tx] : memref<{THREADS}xf32>
    %o = memref.generic_atomic_rmw %a[%c0] : memref<4xf32> {{
    ^bb0(%was: f32):
      %is = arith.cmpf ogt, %v, %was : f32
      %n = scf.if %is -> (f32) {{
        scf.yield %v : f32
      }} else {{
        scf.yield %was : f32
      }}
      memref.atomic_yield %n : f32
    }}
"""
    arguments = f"%a: memref<4xf32>, %x: memref<{THREADS}xf32>"
    text = module(function("k", arguments, body, block=(THREADS, 1, 1)))
    values = np.random.default_rng(1).normal(size=THREADS).astype(np.float32)
    found = run(text, np.full(4, -10, np.float32), values)
    np.testing.assert_array_equal(found, [values.max(), -10, -10, -10])


@pytest.mark.parametrize("way", WAYS)
def test_updates_through_views(way: str) -> None:
    """The view says where the element is, whatever it is viewed as."""
    line = WAYS[way]("f32", "mulf", "%v", "%s[%c0, %c1]", "memref<2x2xf32, #view>")
    body = f"""
    %v = arith.constant 2.0 : f32
    %s = memref.subview %a[%c1, %c1] [2, 2] [1, 2]
        : memref<4x4xf32> to memref<2x2xf32, #view>
    {line}
"""
    text = "#view = strided<[4, 2], offset: ?>\n" + module(
        function("k", "%a: memref<4x4xf32>", body, block=(3, 1, 1))
    )
    array = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
    expected = array.copy()
    expected[1, 3] *= 8
    compiled(text, "sm_80").kernels["k"].run(array, grid=(1, 1, 1), block=(3, 1, 1))
    np.testing.assert_array_equal(array, expected)


# What a body yields that computes nothing, and the old element that each thread is given.
YIELDS = ("constant", "argument", "load", "old")


@pytest.mark.parametrize("chip", ["sm_75", "sm_90"])
@pytest.mark.parametrize("what", YIELDS)
@pytest.mark.parametrize(
    "kind", ["f32", "f64", "f16", "bf16", "i64", "i32", "i16", "i8", "i4", "i1"]
)
def test_bodies_that_yield_what_is_outside(kind: str, what: str, chip: str) -> None:
    one = "1" if kind.startswith("i") and kind != "i1" else "true" if kind == "i1" else "1.0"
    value = {"constant": "%one", "argument": "%v", "load": "%l", "old": "%was"}[what]
    memory = f"memref<{THREADS}x{kind}>"
    body = f"""
    %one = arith.constant {one}{"" if kind == "i1" else f" : {kind}"}
    %v = memref.load %x[%c0] : {memory}
    %l = memref.load %x[%tx] : {memory}
    %o = memref.generic_atomic_rmw %a[%tx] : {memory} {{
    ^bb0(%was: {kind}):
      memref.atomic_yield {value} : {kind}
    }}
    memref.store %o, %b[%tx] : {memory}
"""
    arguments = f"%a: {memory}, %b: {memory}, %x: {memory}"
    text = module(function("k", arguments, body, block=(THREADS, 1, 1)))
    start, values = numbers(kind, THREADS), numbers(kind, THREADS + 1)[:THREADS]
    a, b, x = (as_argument(kind, array.copy()) for array in (start, 0 * start, values))
    compiled(text, chip).kernels["k"].run(a, b, x, grid=(1, 1, 1), block=(THREADS, 1, 1))
    expected = {
        "constant": np.ones_like(start),
        "argument": np.full_like(start, values[0]),
        "load": values,
        "old": start,
    }[what]
    np.testing.assert_array_equal(a.astype(expected.dtype), expected)
    np.testing.assert_array_equal(b.astype(start.dtype), start)
    assert compiled(text, chip).cubin


@pytest.mark.parametrize("kind", ["f32", "f16", "i32", "i8", "i1"])
def test_bodies_that_yield_an_argument_of_the_kernel(kind: str) -> None:
    body = f"""
    %o = memref.generic_atomic_rmw %a[%tx] : memref<{THREADS}x{kind}> {{
    ^bb0(%was: {kind}):
      memref.atomic_yield %v : {kind}
    }}
"""
    arguments = f"%a: memref<{THREADS}x{kind}>, %v: {kind}"
    text = module(function("k", arguments, body, block=(THREADS, 1, 1)))
    for chip in ("sm_75", "sm_120"):
        assert compiled(text, chip).cubin


@pytest.mark.parametrize(
    ("kind", "op", "value", "left"),
    [("i1", "ori", "true", 1), ("i8", "andi", "0 : i8", 0), ("i32", "muli", "0 : i32", 0)],
)
@pytest.mark.parametrize("way", WAYS)
def test_updates_that_fold(kind: str, op: str, value: str, left: int, way: str) -> None:
    """Folders leave a constant of the update, which the body then yields."""
    memory = f"memref<{THREADS}x{kind}>"
    body = f"""
    %v = arith.constant {value}
    {WAYS[way](kind, op, "%v", "%a[%tx]", memory)}
"""
    text = module(function("k", f"%a: {memory}", body, block=(THREADS, 1, 1)))
    found = as_argument(kind, numbers(kind, THREADS))
    compiled(text, "sm_80").kernels["k"].run(found, grid=(1, 1, 1), block=(THREADS, 1, 1))
    np.testing.assert_array_equal(found.astype(int), np.full(THREADS, left))


PRIVATE = {
    "generic": "memref<2xKIND>",
    "private": "memref<2xKIND, #private>",
    "private by number": "memref<2xKIND, 5>",
}


@pytest.mark.parametrize("memory", PRIVATE)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("kind", "op"), [("f32", "addf"), ("f32", "mulf"), ("f16", "maximumf"), ("i32", "addi")]
)
def test_updates_of_memory_of_a_thread(kind: str, op: str, way: str, memory: str) -> None:
    """PTX has no atomic operation of it, and it takes none."""
    buffer = PRIVATE[memory].replace("KIND", kind)
    zero = "0" if kind.startswith("i") else "0.0"
    body = f"""
    %which = arith.remui %tx, %c2 : index
    %v = memref.load %x[%tx] : memref<{THREADS}x{kind}>
    %start = arith.constant {zero} : {kind}
    %p = memref.alloca() : {buffer}
    memref.store %start, %p[%c0] : {buffer}
    memref.store %v, %p[%c1] : {buffer}
    {WAYS[way](kind, op, "%v", "%p[%which]", buffer)}
    %r = memref.load %p[%which] : {buffer}
    memref.store %r, %x[%tx] : memref<{THREADS}x{kind}>
"""
    text = module(function("k", f"%x: memref<{THREADS}x{kind}>", body, block=(THREADS, 1, 1)))
    values = numbers(kind, THREADS)
    found = values.copy()
    compiled(text, "sm_80").kernels["k"].run(found, grid=(1, 1, 1), block=(THREADS, 1, 1))
    starts = np.where(np.arange(THREADS) % 2, values, 0)
    expected = [combine(kind, op, a, b) for a, b in zip(starts, values, strict=True)]
    np.testing.assert_array_equal(found.astype(np.float64), np.array(expected, np.float64))
    for chip in ("sm_75", "sm_120"):
        assert compiled(text, chip).cubin
