"""``gpu.printf``: what a format takes, and how arguments get there, as C's printf does."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pipeline
from support.chips import CHIPS

# A value of each type that an argument can have, and the number that it is if it is signed.
INTEGERS: dict[str, int] = {
    "i1": -1,
    "i4": -3,
    "i8": -2,
    "i16": -300,
    "i32": -70000,
    "i64": -(2**40),
    "index": -5,
}
UNPRINTED_INTEGERS: dict[str, int] = {"i48": -7, "i128": -7}
FLOATS: dict[str, float] = {
    "f4E2M1FN": -1.5,
    "f6E3M2FN": 2.5,
    "f8E5M2": -1.75,
    "f8E4M3FN": 1.125,
    "f16": 0.5,
    "bf16": -3.0,
    "f32": 1.25,
    "f64": -2.625,
}
UNPRINTED_FLOATS: dict[str, float] = {"tf32": 1.0, "f80": 1.0, "f128": 1.0}
TYPES: dict[str, float] = INTEGERS | UNPRINTED_INTEGERS | FLOATS | UNPRINTED_FLOATS

SIGNED = ("d", "i", "5d", "-5d|", "+d", "05i", "hd")
UNSIGNED = ("u", "o", "x", "X", "#x", "hu", "hx", "c")
LONG = ("ld", "lld", "li", "20lld")
UNSIGNED_LONG = ("lu", "llu", "llx", "lo", "p")
REAL = ("f", "8.3f", "e", "g", "E", "G", ".0f", "lf")
CONVERSIONS = (*SIGNED, *UNSIGNED, *LONG, *UNSIGNED_LONG, *REAL)


def bits_of(kind: str) -> int:
    return 64 if kind == "index" else int(kind[1:])


def is_taken(conversion: str, kind: str) -> bool:
    if kind in UNPRINTED_INTEGERS or kind in UNPRINTED_FLOATS:
        return False
    if conversion in REAL:
        return kind in FLOATS
    is_long = conversion in LONG or conversion in UNSIGNED_LONG
    return kind in INTEGERS and (bits_of(kind) == 64) == is_long


def expect(conversion: str, kind: str) -> str:
    """Return what C prints of the value of a type."""
    value = TYPES[kind]
    if conversion in REAL:
        return f"%{conversion}" % value
    number = int(value)
    bits = bits_of(kind)
    is_signed = conversion in SIGNED or conversion in LONG
    if not is_signed or bits == 1:
        number %= 1 << bits
    if "h" in conversion:
        number = int(np.array(number).astype("i2" if is_signed else "u2"))
    if conversion == "c":
        return bytes([number % 256]).decode(errors="replace")
    if conversion == "p":
        return f"{number:#x}"
    return f"%{conversion.replace('l', '')}" % number


def constant(kind: str) -> str:
    value = TYPES[kind]
    text = f"{value:e}" if kind in FLOATS or kind in UNPRINTED_FLOATS else f"{int(value)}"
    return f"    %{kind} = arith.constant {text} : {kind}"


def kernel(prints: str, *kinds: str, arguments: str = "") -> str:
    lines = [constant(kind) for kind in dict.fromkeys(kinds)]
    head = ["gpu.module @m {", f"  gpu.func @k({arguments}) kernel {{"]
    return "\n".join([*head, *lines, prints, "    gpu.return", "  }", "}", ""])


def printed(text: str, *arguments: Any, chip: str = "sm_80") -> str:
    module = pipeline.compile(text, chip=chip, until="llvm")
    output: str = module.kernels["k"].run(*arguments, grid=(1, 1, 1), block=(1, 1, 1)).output
    return output


def one_print(conversion: str, kind: str) -> str:
    return f'    gpu.printf "<%{conversion}>\\0A", %{kind} : {kind}'


TAKEN = [(c, kind) for c in CONVERSIONS for kind in TYPES if is_taken(c, kind)]
NOT_TAKEN = [(c, kind) for c in CONVERSIONS for kind in TYPES if not is_taken(c, kind)]


def test_each_conversion_prints_each_type_that_it_takes() -> None:
    text = kernel("\n".join(one_print(*pair) for pair in TAKEN), *(kind for _, kind in TAKEN))
    lines = printed(text).split("\n")
    assert lines[:-1] == [f"<{expect(*pair)}>" for pair in TAKEN]
    assert len(TAKEN) > 130


def test_each_conversion_refuses_each_type_that_it_does_not_take() -> None:
    prints = [one_print(*pair) for pair in NOT_TAKEN]
    text = kernel("\n".join(prints), *(kind for _, kind in NOT_TAKEN))
    first = text.splitlines().index(prints[0]) + 1
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(text)
    errors = caught.value.diagnostics
    assert [error.location.line for error in errors] == list(range(first, first + len(prints)))
    for (conversion, kind), error in zip(NOT_TAKEN, errors, strict=True):
        start = f"'gpu.printf' op has argument 0 of type '{kind}' for '%{conversion.rstrip('|')}', "
        assert error.message.startswith(start), error.message
        assert re.search("; (write|extend|truncate|convert) ", error.message), error.message


@pytest.mark.parametrize(
    ("conversion", "kind", "remedy"),
    [
        ("d", "index", "write %lld"),
        ("x", "i64", "write %llx"),
        ("lld", "i32", "write %d"),
        ("lu", "i8", "write %u"),
        ("d", "f32", "write %f"),
        ("f", "i16", "write %d"),
        ("d", "i48", "extend it to i64, and write %lld"),
        ("u", "i128", "truncate it to i64, and write %llu"),
        ("f", "f128", "convert it to f64, and write %f"),
        ("p", "i32", "extend it to i64"),
    ],
)
def test_remedies(conversion: str, kind: str, remedy: str) -> None:
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(kernel(one_print(conversion, kind), kind))
    assert caught.value.diagnostics[0].message.endswith(f"; {remedy}")


@pytest.mark.parametrize(
    ("format", "kinds", "message"),
    [
        ("%d", [], "has a format that asks for 1 arguments, but has 0"),
        ("none", ["i32"], "has a format that asks for 0 arguments, but has 1"),
        ("%d %d %d", ["i32", "i32"], "asks for 3 arguments, but has 2"),
        ("100%", [], "has the format '%', which is no conversion that GPUs know"),
        ("%y", ["i32"], "has the format '%y', which is no conversion that GPUs know"),
        ("%n", ["i64"], "has the format '%n', which is no conversion"),
        ("%s", ["i64"], "prints a string, which no value is; write the text into the format"),
        ("%hhd", ["i8"], "has a size that GPUs do not know; use h for integers of 16 bits"),
        ("%zu", ["index"], "has the format '%zu', which has a size that GPUs do not know"),
        ("%Lf", ["f64"], "has a size that GPUs do not know"),
        ("%lc", ["i32"], "has a size, which its type takes none of"),
        ("%.*f", ["i32", "f64"], "has the format '%.*', which is no conversion"),
        ("%*d", ["i64", "i32"], "whose width is an integer of 32 bits or less; truncate it to i32"),
        ("%*d", ["f32", "i32"], "whose width is an integer of 32 bits or less; pass an i32 first"),
        (" ".join(["%d"] * 33), ["i32"] * 33, "has more than 32 arguments"),
    ],
)
def test_formats_that_are_refused(format: str, kinds: list[str], message: str) -> None:
    arguments = ", ".join(f"%{kind}" for kind in kinds)
    types = f" {arguments} : {', '.join(kinds)}" if kinds else ""
    print_ = f'    gpu.printf "{format}"{"," if kinds else ""}{types}'
    text = kernel(print_, *kinds)
    with pytest.raises(pipeline.CompileError, match=re.escape(message)) as caught:
        pipeline.compile(text)
    assert caught.value.diagnostics[0].location.line == text.splitlines().index(print_) + 1


def test_several_arguments_of_different_sizes() -> None:
    """Each is aligned in memory as it is in a struct of C."""
    kinds = ["i8", "f16", "i1", "index", "i16", "i4", "f64", "i32"]
    text = kernel(
        '    gpu.printf "%d %g %d %lld %hd %u %g %d %% %*d|\\0A", '
        + ", ".join(f"%{kind}" for kind in [*kinds, "i8", "i16"])
        + " : "
        + ", ".join([*kinds, "i8", "i16"]),
        *kinds,
    )
    assert printed(text) == "-2 0.5 1 -5 -300 13 -2.625 -70000 % -300|\n"


def test_signs_of_types_with_a_sign() -> None:
    prints = '    gpu.printf "%d %u %d %u\\0A", %s, %s, %u, %u : si8, si8, ui8, ui8'
    arguments = "%s: si8, %u: ui8"
    assert printed(kernel(prints, arguments=arguments), -2, 200) == "-2 4294967294 200 200\n"


CALLED = """\
gpu.module @m {
  func.func @say(%x: i8) {
    gpu.printf "%d\\0A", %x : i8
    return
  }
  gpu.func @k() kernel {
    %x = arith.constant -4 : i8
    func.call @say(%x) : (i8) -> ()
    gpu.return
  }
}
"""
LAUNCHED = """\
func.func @main() {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = arith.constant -4 : i8
    gpu.printf "%d\\0A", %x : i8
    gpu.terminator
  }
  return
}
"""


@pytest.mark.parametrize("text", [CALLED, LAUNCHED], ids=["called", "launched"])
def test_prints_outside_of_kernel_functions(text: str) -> None:
    (kernel,) = pipeline.compile(text, until="llvm").kernels.values()
    assert kernel.run(grid=(1, 1, 1), block=(1, 1, 1)).output == "-4\n"


@pytest.mark.parametrize("chip", CHIPS)
def test_what_is_printed_assembles(chip: str) -> None:
    text = kernel("\n".join(one_print(*pair) for pair in TAKEN), *(kind for _, kind in TAKEN))
    assert pipeline.compile(text, chip=chip).cubin
