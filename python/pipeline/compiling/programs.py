"""Programs of other languages than the compiler reads: CUDA C++, by clang."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..errors import UsageError
from ..system.files import is_text, read_source
from ..system.toolchain import load_native

if TYPE_CHECKING:
    from pathlib import Path


class Program(NamedTuple):
    """A program as people know it and, if that is in another language, as the compiler reads it."""

    text: str
    name: str
    translated: str = ""


def is_cuda(source: str | Path) -> bool:
    """Tell whether a program is a file of CUDA C++."""
    return not is_text(source) and os.fspath(source).endswith(".cu")


def read_program(
    source: str | Path, chip: str | None = None, clang_options: Sequence[str] = ()
) -> Program:
    """Return a program that is MLIR or LLVM IR, or a file of CUDA C++, whose name ends in ``.cu``.

    Raises UsageError if it cannot be read, or is not for clang and `clang_options` are given;
    of CUDA C++, CompileError if clang refuses it, and ToolError without clang.
    """
    if not is_cuda(source):
        if clang_options:
            given = "the program" if is_text(source) else f"'{os.fspath(source)}'"
            reason = f"are for CUDA C++, and the name of {given} does not end in .cu"
            raise UsageError.of_option("clang_options", reason)
        return Program(*read_source(source))
    if isinstance(clang_options, str):
        raise UsageError.of_option("clang_options", "are several texts, not one")
    text, name = read_source(source)
    from ..system import clang

    return Program(text, name, clang.translate(name, _check_chip(chip), clang_options))


def _check_chip(chip: str | None) -> str:
    load_native()
    from .. import _native

    check_chip(chip)
    return chip or _native.default_chip()


def check_chip(chip: str | None) -> None:
    """Raise UsageError if nothing is known of a chip."""
    from .. import _native

    chips = _native.chip_names()
    if chip is not None and chip not in chips:
        raise UsageError(f"error: unknown chip '{chip}'; there are {', '.join(chips)}")
