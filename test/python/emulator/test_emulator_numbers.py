"""Numbers that kernels take: of Python and NumPy, of every type, and those that do not fit."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np
import pytest

import pipeline
from emulator.faults import kernel, numbers


@functools.cache
def compiled(arguments: str, body: str) -> pipeline.Kernel:
    return pipeline.compile(
        kernel(arguments, body), until="llvm", sync="keep", verify=False
    ).kernels["k"]


def run(kernel: pipeline.Kernel, *values: Any) -> None:
    kernel.run(*values, grid=(1, 1, 1), block=(1, 1, 1))


def store(element: str) -> pipeline.Kernel:
    """Return a kernel that stores a number into an array of one element."""
    return compiled(
        f"%a: memref<1x{element}>, %s: {element}",
        f"    memref.store %s, %a[%c0] : memref<1x{element}>",
    )


@pytest.mark.parametrize(
    ("element", "dtype", "number"),
    [
        ("i8", "i1", -128),
        ("i8", "u1", 127),
        ("i16", "i2", -(2**15)),
        ("i32", "i4", 2**31 - 1),
        ("i32", "i4", np.int8(-5)),
        ("i32", "i4", np.array(7)),
        ("i32", "i4", True),
        ("i64", "i8", -(2**63)),
        ("index", "i8", 2**63 - 1),
        ("i1", "?", True),
        ("i1", "?", np.False_),
        ("f16", "f2", 65504.0),
        ("f32", "f4", 0.1),
        ("f32", "f4", 3),
        ("f32", "f4", -np.inf),
        ("f64", "f8", 1e308),
    ],
)
def test_numbers(element: str, dtype: str, number: Any) -> None:
    array = np.array([not number], dtype)
    run(store(element), array, number)
    np.testing.assert_array_equal(array, np.array([number]).astype(dtype))


@pytest.mark.parametrize(
    ("element", "number"),
    [
        *(("i8", 200), ("i16", 2**16 - 1), ("i32", 2**31), ("i32", np.uint32(2**32 - 1))),
        *(("i64", 2**64 - 1), ("index", 2**63)),
    ],
)
def test_numbers_without_a_sign(element: str, number: Any) -> None:
    """MLIR's integers are bits; a number is taken as what has them."""
    bits = np.iinfo(np.int64).bits if element == "index" else int(element[1:])
    array = np.ones(1, f"u{bits // 8}")
    run(store(element), array, number)
    assert int(array[0]) == int(number)


DTYPES = {
    **{"i1": "?", "i8": "i1", "i32": "i4", "i64": "i8", "index": "i8", "ui32": "u4", "si32": "i4"},
    **{"f16": "f2", "f32": "f4", "f64": "f8", "complex<f32>": "c8"},
}
SIGNLESS = "whole numbers from -2147483648 to 4294967295"


@pytest.mark.parametrize(
    ("element", "number", "shown", "range_"),
    [
        ("i8", 256, "256", "whole numbers from -128 to 255"),
        ("i8", -129, "-129", "whole numbers from -128 to 255"),
        ("i8", 300.5, "300.5", "whole numbers from -128 to 255"),
        ("i32", 2**32, "4294967296", SIGNLESS),
        ("i32", -(2**31) - 1, "-2147483649", SIGNLESS),
        ("i32", np.array(2**40), "array(1099511627776)", SIGNLESS),
        ("i32", np.int64(2**40), "np.int64(1099511627776)", SIGNLESS),
        pytest.param("i32", 10**5000, "a value of type int", SIGNLESS, id="i32-large"),
        ("i32", 2.0, "2.0", SIGNLESS),
        ("i32", np.float32(2), "np.float32(2.0)", SIGNLESS),
        ("i32", np.nan, "nan", SIGNLESS),
        ("i32", np.inf, "inf", SIGNLESS),
        ("i32", np.timedelta64(4), "np.timedelta64(4)", SIGNLESS),
        ("i32", {}, "{}", SIGNLESS),
        ("ui32", -1, "-1", "whole numbers from 0 to 4294967295"),
        ("ui32", 2**32, "4294967296", "whole numbers from 0 to 4294967295"),
        ("si32", 2**31, "2147483648", "whole numbers from -2147483648 to 2147483647"),
        ("i64", 2**64, "18446744073709551616", ""),
        ("index", -(2**63) - 1, "-9223372036854775809", ""),
        ("index", 2**64, "18446744073709551616", ""),
        ("index", 8.0, "8.0", "whole numbers from -9223372036854775808 to 18446744073709551615"),
        ("i1", 2, "2", "whole numbers from -1 to 1"),
        ("i1", 1.0, "1.0", "whole numbers from -1 to 1"),
        ("f16", 65520, "65520", "numbers of at most 65504 in size"),
        ("f16", np.float64(1e6), "np.float64(1000000.0)", "numbers of at most 65504 in size"),
        ("f32", 1e39, "1e+39", "numbers of at most 3.4028235e+38 in size"),
        ("f32", 2**128, str(2**128), "numbers of at most 3.4028235e+38 in size"),
        pytest.param("f32", 10**5000, "a value of type int", "", id="f32-large"),
        ("f32", 1j, "1j", "numbers of at most 3.4028235e+38 in size"),
        ("f32", "1", "'1'", ""),
        ("f64", 10**400, "", "numbers of at most 1.7976931e+308 in size"),
        ("complex<f32>", 1e39j, "1e+39j", "numbers of at most 3.4028235e+38 in size"),
    ],
)
def test_numbers_that_do_not_fit(element: str, number: Any, shown: str, range_: str) -> None:
    """The message names the argument, the number, the type and what that holds."""
    array = np.ones(1, DTYPES[element])
    with pytest.raises(pipeline.KindError) as caught:
        run(store(element), array, number)
    message = str(caught.value)
    assert message.startswith(f"error: argument 1 is {shown}")
    assert message.endswith(")")
    assert f", which does not fit {element} ({range_}" in message
    assert len(message) < 250
    assert caught.value.index == 1
    assert array[0] == 1


class Unprintable:
    """A number of some library, whose representation fails."""

    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ([1, [2]], "[1, [2]]"),
        (list(range(1000)), "[0, 1, 2, 3, 4, 5, ...]"),
        (np.ones((2, 2)), "an array"),
    ],
)
def test_several_numbers(value: Any, shown: str) -> None:
    with pytest.raises(pipeline.KindError) as caught:
        run(store("i32"), numbers(1), value)
    assert str(caught.value) == f"error: argument 1 must be a number (i32), not {shown}"


def test_values_that_cannot_be_shown() -> None:
    with pytest.raises(pipeline.KindError, match=r"is <Unprintable instance at .*, which does not"):
        run(store("i32"), numbers(1), Unprintable())


@pytest.mark.parametrize(
    ("element", "dtype", "number", "expected"),
    [
        ("f32", "f4", 2**70, 2.0**70),
        ("f32", "f4", np.array(0.5), 0.5),
        ("f32", "f4", np.float64(0.1), np.float32(0.1)),
        ("f32", "f4", np.True_, 1.0),
        ("f16", "f2", np.nan, np.nan),
        ("f64", "f8", -np.inf, -np.inf),
        ("i1", "?", -1, True),
        ("i1", "?", np.array(False), False),
        ("i32", "i4", np.True_, 1),
        ("i32", "i4", np.array(-7), -7),
        ("ui32", "u4", 2**32 - 1, 2**32 - 1),
        ("si32", "i4", -(2**31), -(2**31)),
        ("ui8", "u1", np.int64(200), 200),
        ("index", "i8", -5, -5),
        ("complex<f32>", "c8", 1 + 2j, 1 + 2j),
        ("complex<f64>", "c16", 3, 3),
    ],
)
def test_numbers_of_other_kinds(element: str, dtype: str, number: Any, expected: Any) -> None:
    array = np.full(1, 77, dtype)
    run(store(element), array, number)
    np.testing.assert_array_equal(array, np.array([expected], dtype))


@pytest.mark.parametrize(("number", "expected"), [(-8, -8), (7, 7), (15, -1), (16, None)])
def test_numbers_of_four_bits(number: int, expected: int | None) -> None:
    """They take no type of NumPy's."""
    extend = compiled(
        "%a: memref<1xi32>, %s: i4",
        """
    %x = arith.extsi %s : i4 to i32
    memref.store %x, %a[%c0] : memref<1xi32>
""",
    )
    array = np.zeros(1, np.int32)
    if expected is None:
        with pytest.raises(pipeline.KindError, match=r"fit i4 \(whole numbers from -8 to 15\)"):
            run(extend, array, number)
    else:
        run(extend, array, number)
        assert array[0] == expected


@pytest.mark.parametrize(
    ("element", "greatest"),
    [
        *[("bf16", 3.3895314e38), ("f8E4M3FN", 448), ("f8E5M2", 57344), ("f8E3M4", 15.5)],
        *[("f8E4M3", 240), ("f8E4M3FNUZ", 240), ("f8E4M3B11FNUZ", 30), ("f8E5M2FNUZ", 57344)],
    ],
)
def test_numbers_of_narrow_floats(element: str, greatest: float) -> None:
    """Where a type has no infinity, what is too large must not become NaN."""
    array = np.zeros(1, "u2" if element == "bf16" else "u1")
    run(store(element), array, 1.5)
    assert array[0] != 0
    before = array.copy()
    for number in (2 * greatest, -np.inf)[: 2 if "FN" in element else 1]:
        with pytest.raises(pipeline.KindError, match=re.escape(f"at most {greatest:.8g} in size")):
            run(store(element), array, number)
    np.testing.assert_array_equal(array, before)


def test_numbers_that_need_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.records.scalars.numpy_dtype", lambda _: None)
    with pytest.raises(pipeline.KindError, match="bf16, whose numbers need the package ml_dtypes"):
        run(store("bf16"), np.zeros(1, "u2"), 1.5)
