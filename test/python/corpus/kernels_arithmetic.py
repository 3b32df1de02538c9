"""Kernels that compute by themselves: one operation for each row of the result."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from corpus.kernels_case import (
    Array,
    Case,
    from_bfloat,
    function,
    module,
    normal,
    positive,
    to_bfloat,
)

COUNT = 150
Operation = tuple[str, Callable[..., Any]]


def rows(kind: str, operations: Sequence[Operation], result: str | None = None) -> str:
    """Return a kernel that stores `%r` of each operation on `%x` and `%y` to a row of `%out`."""
    result = result or kind
    lines = [
        "    %i = affine.apply affine_map<(b, t) -> (b * 64 + t)>(%bx, %tx)",
        f"    %in = arith.cmpi ult, %i, %c{COUNT} : index",
        "    scf.if %in {",
        f"      %x = memref.load %a[%i] : memref<{COUNT}x{kind}>",
        f"      %y = memref.load %b[%i] : memref<{COUNT}x{kind}>",
    ]
    shape = f"memref<{len(operations)}x{COUNT}x{result}>"
    for number, (text, _) in enumerate(operations):
        operation = re.sub(r"%([q-w])\b", rf"%\g<1>{number}", text).replace("TYPE", kind)
        lines += [f"      {line}" for line in operation.split("; ")]
        lines.append(f"      memref.store %r{number}, %out[%c{number}, %i] : {shape}")
    arguments = f"%a: memref<{COUNT}x{kind}>, %b: memref<{COUNT}x{kind}>, %out: {shape}"
    return module(function("rows", arguments, "\n".join([*lines, "    }"]), block=(64, 1, 1)))


def elementwise(
    name: str,
    kind: str,
    operations: Sequence[Operation],
    make: Callable[[np.random.Generator, int | tuple[int, ...]], Array],
    *,
    load: Callable[[Array], Array] = np.asarray,
    store: Callable[[Array], Array] = np.asarray,
    second: Callable[[np.random.Generator, int | tuple[int, ...]], Array] | None = None,
    tolerance: float = 0.0,
) -> Case:
    """Return a case of `operations`; `load` and `store` convert for NumPy and back."""

    def expect(arguments: Sequence[Any]) -> dict[int, Array]:
        x, y = load(arguments[0]), load(arguments[1])
        with np.errstate(over="ignore"):
            return {2: store(np.stack([reference(x, y) for _, reference in operations]))}

    return Case(
        name,
        rows(kind, operations),
        "rows",
        grid=(3, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [
            make(rng, COUNT),
            (second or make)(rng, COUNT),
            make(rng, (len(operations), COUNT)),
        ],
        expect=expect,
        tolerance=tolerance,
    )


# --- integers -------------------------------------------------------------------------------------


def _truncated(x: Array, y: Array) -> Array:
    return np.asarray(np.sign(x) * np.sign(y) * (abs(x) // abs(y)), dtype=x.dtype)


def _unsigned(reference: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Return `reference` on the same bits as numbers without a sign."""

    def apply(x: Array, y: Array) -> Array:
        kind = f"u{x.dtype.itemsize}"
        result = reference(x.view(kind), y.view(kind))
        return result.astype(kind).view(x.dtype)

    return apply


def _bits(x: Array) -> int:
    return x.dtype.itemsize * 8


def _shifted(x: Array, y: Array) -> Array:
    return np.asarray(y & (_bits(x) - 1), dtype=x.dtype)


SHIFT = "%q = arith.constant MASK : TYPE; %s = arith.andi %y, %q : TYPE; "
INTEGERS: tuple[Operation, ...] = (
    ("%r = arith.addi %x, %y : TYPE", np.add),
    ("%r = arith.subi %x, %y : TYPE", np.subtract),
    ("%r = arith.muli %x, %y : TYPE", np.multiply),
    ("%r = arith.divsi %x, %y : TYPE", _truncated),
    ("%r = arith.remsi %x, %y : TYPE", lambda x, y: x - y * _truncated(x, y)),
    ("%r = arith.floordivsi %x, %y : TYPE", np.floor_divide),
    ("%r = arith.ceildivsi %x, %y : TYPE", lambda x, y: -(-x // y)),
    ("%r = arith.divui %x, %y : TYPE", _unsigned(np.floor_divide)),
    ("%r = arith.remui %x, %y : TYPE", _unsigned(np.remainder)),
    ("%r = arith.ceildivui %x, %y : TYPE", _unsigned(lambda x, y: x // y + (x % y != 0))),
    ("%r = arith.maxsi %x, %y : TYPE", np.maximum),
    ("%r = arith.minui %x, %y : TYPE", _unsigned(np.minimum)),
    ("%r = arith.xori %x, %y : TYPE", np.bitwise_xor),
    (SHIFT + "%r = arith.shli %x, %s : TYPE", lambda x, y: x << _shifted(x, y)),
    (SHIFT + "%r = arith.shrsi %x, %s : TYPE", lambda x, y: x >> _shifted(x, y)),
    (
        SHIFT + "%r = arith.shrui %x, %s : TYPE",
        _unsigned(lambda x, y: x >> _shifted(x, y)),
    ),
    (
        "%q = arith.cmpi slt, %x, %y : TYPE; %r = arith.select %q, %x, %y : TYPE",
        np.minimum,
    ),
)
COUNTS: tuple[Operation, ...] = (
    ("%r = math.absi %x : TYPE", lambda x, y: abs(x)),
    ("%r = math.ctpop %x : TYPE", lambda x, y: np.bitwise_count(x.view(f"u{x.dtype.itemsize}"))),
    (
        "%r = math.ctlz %x : TYPE",
        lambda x, y: [_bits(x) - (int(v) % 2 ** _bits(x)).bit_length() for v in x],
    ),
    (
        "%r = math.cttz %x : TYPE",
        lambda x, y: [(int(v) & -int(v)).bit_length() - 1 for v in x],
    ),
)
WIDE: tuple[Operation, ...] = (
    ("%s, %r = arith.mulsi_extended %x, %y : TYPE", lambda x, y: x.astype("i8") * y >> 32),
    (
        "%s, %r = arith.mului_extended %x, %y : TYPE",
        lambda x, y: x.view("u4").astype("u8") * y.view("u4") >> 32,
    ),
    (
        "%s, %q = arith.addui_extended %x, %y : TYPE, i1; %r = arith.extui %q : i1 to TYPE",
        lambda x, y: x.view("u4").astype("u8") + y.view("u4") >> 32,
    ),
    (
        "%s = arith.trunci %x : TYPE to i8; %q = arith.extsi %s : i8 to i16;"
        " %r = arith.extui %q : i16 to TYPE",
        lambda x, y: x.astype("i1").astype("i2").view("u2"),
    ),
    (
        "%q = arith.sitofp %x : i32 to f32; %r = arith.bitcast %q : f32 to i32",
        lambda x, y: x.astype("f4").view("i4"),
    ),
    (
        "%q = arith.index_cast %y : i32 to index; %s = arith.muli %q, %c7 : index;"
        " %t = arith.floordivsi %s, %c4 : index; %r = arith.index_cast %t : index to i32",
        lambda x, y: y.astype("i8") * 7 // 4,
    ),
)


def integers(kind: str, dtype: str, operations: Sequence[Operation], name: str) -> Case:
    """Return a case of operations on integers of either sign, none of them the smallest."""
    bits = np.dtype(dtype).itemsize * 8

    def make(rng: np.random.Generator, shape: int | tuple[int, ...]) -> Array:
        # As many small numbers as large ones.
        sizes = 2 ** rng.uniform(0, bits - 1.01, shape)
        return np.asarray(sizes.astype(dtype) * rng.choice([-1, 1], shape).astype(dtype))

    def narrow(reference: Callable[..., Any]) -> Callable[..., Array]:
        return lambda x, y: np.asarray(reference(x, y)).astype(dtype)

    operations = [(text.replace("MASK", str(bits - 1)), narrow(call)) for text, call in operations]
    return elementwise(name, kind, operations, make)


# --- floating point -------------------------------------------------------------------------------


def _each(call: Callable[[float], float]) -> Callable[[Array, Array], Array]:
    return lambda x, y: np.array([call(float(v)) for v in x])


# %y is positive.
FLOATS: tuple[Operation, ...] = (
    ("%r = arith.addf %x, %y : TYPE", np.add),
    ("%r = arith.mulf %x, %y : TYPE", np.multiply),
    ("%r = arith.divf %x, %y : TYPE", np.divide),
    ("%r = arith.remf %x, %y : TYPE", np.fmod),
    ("%r = math.fma %x, %y, %x : TYPE", lambda x, y: x * y + x),
    ("%r = arith.maximumf %x, %y : TYPE", np.maximum),
    ("%r = arith.minnumf %x, %y : TYPE", np.minimum),
    ("%r = math.copysign %y, %x : TYPE", lambda x, y: np.copysign(y, x)),
    ("%r = math.floor %x : TYPE", lambda x, y: np.floor(x)),
    ("%r = math.ceil %x : TYPE", lambda x, y: np.ceil(x)),
    ("%r = math.round %x : TYPE", lambda x, y: np.copysign(np.floor(abs(x) + 0.5), x)),
    ("%r = math.roundeven %x : TYPE", lambda x, y: np.rint(x)),
    ("%r = math.trunc %x : TYPE", lambda x, y: np.trunc(x)),
    ("%r = math.sqrt %y : TYPE", lambda x, y: np.sqrt(y)),
    ("%q = arith.negf %x : TYPE; %r = math.absf %q : TYPE", lambda x, y: abs(x)),
    (
        "%q = arith.cmpf ogt, %x, %y : TYPE; %r = arith.select %q, %x, %y : TYPE",
        np.maximum,
    ),
)
FUNCTIONS: tuple[Operation, ...] = (
    ("%r = math.exp %x : TYPE", lambda x, y: np.exp(x)),
    ("%r = math.exp2 %x : TYPE", lambda x, y: np.exp2(x)),
    ("%r = math.expm1 %x : TYPE", lambda x, y: np.expm1(x)),
    ("%r = math.log %y : TYPE", lambda x, y: np.log(y)),
    ("%r = math.log2 %y : TYPE", lambda x, y: np.log2(y)),
    ("%r = math.log10 %y : TYPE", lambda x, y: np.log10(y)),
    ("%r = math.log1p %y : TYPE", lambda x, y: np.log1p(y)),
    ("%r = math.rsqrt %y : TYPE", lambda x, y: 1 / np.sqrt(y)),
    ("%r = math.cbrt %x : TYPE", lambda x, y: np.cbrt(x)),
    ("%r = math.sin %x : TYPE", lambda x, y: np.sin(x)),
    ("%r = math.cos %x : TYPE", lambda x, y: np.cos(x)),
    ("%r = math.tanh %x : TYPE", lambda x, y: np.tanh(x)),
    ("%r = math.sinh %x : TYPE", lambda x, y: np.sinh(x)),
    ("%r = math.cosh %x : TYPE", lambda x, y: np.cosh(x)),
    ("%r = math.atan %x : TYPE", lambda x, y: np.arctan(x)),
    ("%r = math.asinh %x : TYPE", lambda x, y: np.arcsinh(x)),
    ("%r = math.erf %x : TYPE", _each(math.erf)),
    ("%r = math.erfc %x : TYPE", _each(math.erfc)),
    ("%r = math.powf %y, %x : TYPE", lambda x, y: np.power(y, x)),
    ("%r = math.atan2 %x, %y : TYPE", np.arctan2),
    (
        "%q = arith.constant 0.4 : TYPE; %s = arith.mulf %x, %q : TYPE; %r = math.asin %s : TYPE",
        lambda x, y: np.arcsin(0.4 * x),
    ),
    (
        "%q = arith.constant 0.4 : TYPE; %s = arith.mulf %x, %q : TYPE; %r = math.tan %s : TYPE",
        lambda x, y: np.tan(0.4 * x),
    ),
    ("%q = arith.constant 5 : i32; %r = math.fpowi %x, %q : TYPE, i32", lambda x, y: x**5),
)


def floats(
    kind: str, dtype: str, operations: Sequence[Operation], name: str, tolerance: float
) -> Case:
    """Return a case of operations on a number of either sign and a positive one."""
    return elementwise(
        name,
        kind,
        operations,
        lambda rng, shape: normal(rng, shape, dtype),
        load=lambda x: x.astype("f8"),
        second=lambda rng, shape: positive(rng, shape, dtype),
        tolerance=tolerance,
    )


CASES = (
    integers("i8", "i1", INTEGERS, "i8"),
    integers("i16", "i2", INTEGERS, "i16"),
    integers("i32", "i4", INTEGERS, "i32"),
    integers("i64", "i8", INTEGERS, "i64"),
    integers("index", "i8", INTEGERS, "index"),
    integers("i32", "i4", COUNTS, "bit counts of i32"),
    integers("i64", "i8", COUNTS, "bit counts of i64"),
    integers("i32", "i4", WIDE, "integer conversions"),
    floats("f16", "f2", FLOATS, "f16", 2e-3),
    elementwise(
        "bf16",
        "bf16",
        FLOATS[:3] + FLOATS[4:],
        lambda rng, shape: to_bfloat(normal(rng, shape)),
        load=lambda x: from_bfloat(x).astype("f8"),
        store=to_bfloat,
        second=lambda rng, shape: to_bfloat(positive(rng, shape)),
    ),
    floats("f32", "f4", FLOATS, "f32", 1e-6),
    floats("f64", "f8", FLOATS, "f64", 1e-15),
    floats("f32", "f4", FUNCTIONS, "functions of f32", 4e-6),
    floats("f64", "f8", FUNCTIONS, "functions of f64", 1e-13),
)
