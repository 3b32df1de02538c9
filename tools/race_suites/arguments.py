"""Arguments of kernels: those of a case, or chosen by the kernel's types."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pipeline import Argument

from .cases import Case

_BYTES = 1 << 20
"""Of an array that a pointer of unknown extent gets."""
_MOST = 24
"""Numbers to try."""

_EQUAL = re.compile(r"__requires\(\s*(\w+)\s*==\s*(\d+)\s*\)")
_LITERAL = re.compile(r"\b\d{1,6}\b")

Scalars = tuple[int, ...]
"""A number for each argument of a kernel, of which those of arrays do not count."""


def choose_scalars(case: Case, arguments: Sequence[Argument], text: str) -> Iterator[Scalars]:
    """Yield numbers to give for the arguments that are numbers, the likeliest first.

    What a kernel is written for is mostly a size of the launch, or what its preconditions say; what
    is wrong with it shows at numbers that its text has, or at their sums and differences.
    """
    if case.arguments is not None or all(it.is_pointer or it.is_memref for it in arguments):
        yield (0,) * len(arguments)
        return
    fixed = _read_fixed(case.kernel, text)
    threads, blocks = math.prod(case.block), math.prod(case.grid)
    code = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    literals = sorted({int(it) for it in _LITERAL.findall(code)})
    pairs = itertools.combinations(literals, 2)
    combined = sorted({it for a, b in pairs for it in (b - a, a + b)})
    usual = (threads * blocks, threads, blocks, 1, 0, 2, 4, 8)
    for scalar in list(dict.fromkeys((*usual, *literals, *combined)))[:_MOST]:
        yield tuple(fixed.get(index, scalar) for index in range(len(arguments)))


def _read_fixed(kernel: str, text: str) -> dict[int, int]:
    """Return what preconditions say of arguments, by number."""
    match = re.search(rf"__global__[^;{{}}()]*\b{kernel}\s*\(([^)]*)\)([^@]*)", text)
    if not match:
        return {}
    names = [re.split(r"\W+", it.strip())[-1] for it in match[1].split(",")]
    known = {name: int(number) for name, number in _EQUAL.findall(match[2])}
    return {index: known[name] for index, name in enumerate(names) if name in known}


def make_values(
    case: Case, arguments: Sequence[Argument], variables: Sequence[int], scalars: Scalars
) -> list[Any]:
    """Return the values of a launch: fresh arrays, as kernels write to them."""
    own = arguments[: len(arguments) - len(variables)]
    if case.arguments is not None:
        values: list[Any] = [
            np.array(value, np.int32) if isinstance(value, tuple) else value
            for value in case.arguments
        ]
    else:
        values = [_make_value(*it) for it in zip(own, scalars, strict=False)]
    return [*values, *(np.full(_BYTES // 4, number, np.int32) for number in variables)]


def _make_value(argument: Argument, scalar: int) -> Any:
    if argument.is_pointer or argument.is_memref:
        # Small, as some are indices; different, so that writes of them are.
        return np.arange(_BYTES // 4, dtype=np.int32) * 7 % 13
    if argument.is_structure:
        size = argument.structure_bytes or 0
        return np.full(size // 4 + 1, scalar, np.int32).tobytes()[:size]
    if argument.type.startswith(("f", "bf")):
        return float(scalar)
    width = int(argument.type[1:]) if argument.type[1:].isdigit() else 64
    return scalar % 2 ** (width - 1) if width > 1 else scalar % 2
