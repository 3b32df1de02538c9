"""From CUDA C++ to LLVM IR by clang, which needs no CUDA: what kernels use is in ``cuda`` here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..diagnostics import Diagnostic, Location, Severity
from ..errors import CompileError, ToolError
from .processes import Ending, run
from .toolchain import which

OLDEST, NEWEST = 18, 22
"""The versions of clang whose LLVM IR is read."""

INSTALL_CLANG = (
    f"install clang {NEWEST} (Debian: apt-get install clang-{NEWEST}), "
    "or name a clang by the variable CLANG"
)

_SECONDS, _VERSION_SECONDS = 300.0, 30.0
"""After that, clang is taken to hang."""
_VERSION = re.compile(r"\bclang version (\d+)\.")
_HEADERS = Path(__file__).parent / "cuda"
# What newer chips have takes a newer PTX than clang assumes where it finds no CUDA.
_PTX = "+ptx83"
_OPTIONS = (
    *("-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version"),
    *("-isystem", str(_HEADERS / "include"), "-include", str(_HEADERS / "kernels.h")),
    f"--cuda-feature={_PTX}",
    # Not optimised: that may take a race away, or read what the program does not.
    *("-O1", "-Xclang", "-disable-llvm-passes"),
    *("-S", "-emit-llvm", "-gline-tables-only", "-o", "-"),
    # What clang warns of is told where the program is built.
    *("-w", "-fno-color-diagnostics"),
)


def find_clang() -> tuple[Path, int]:
    """Return a clang that makes LLVM IR which is read here, and its version.

    The variable ``CLANG`` names one; else it is the newest on the path. Raises ToolError if there
    is none, or it is too old or too new.
    """
    given = os.environ.get("CLANG")
    names = [given] if given else [f"clang-{it}" for it in range(NEWEST, OLDEST - 1, -1)]
    for name in [*names, *([] if given else ["clang"])]:
        if program := which(name):
            return Path(program), _check_version(program)
    called = f" by the name of '{given}', which CLANG says" if given else ""
    raise ToolError(f"error: clang was not found{called}; {INSTALL_CLANG}")


def _check_version(program: str) -> int:
    try:
        ending = run([program, "--version"], _VERSION_SECONDS)
    except OSError as error:
        raise ToolError(f"error: {program} does not run: {error.strerror}") from error
    match = _VERSION.search(ending.output)
    if ending.code != 0 or not match:
        raise ToolError(f"error: {program} is no clang: {ending.last_words}; {INSTALL_CLANG}")
    version = int(match[1])
    if not OLDEST <= version <= NEWEST:
        words = f"is clang {version}; {OLDEST} to {NEWEST} make what is understood here"
        raise ToolError(f"error: {program} {words}; {INSTALL_CLANG}")
    return version


def translate(name: str, chip: str, options: Sequence[str] = ()) -> str:
    """Return the LLVM IR of the kernels in a file of CUDA C++, with its lines, not optimised.

    name: the file, which locations have as it is written here.
    chip: as ``sm_90a``.
    options: further options of clang: folders of headers, macros, the language's version.

    Raises CompileError with what clang says of the program, ToolError without clang.
    """
    program, _ = find_clang()
    # A name that begins with a dash is no option.
    file = name if not name.startswith("-") else f"./{name}"
    command = [str(program), *_OPTIONS, f"--cuda-gpu-arch={chip}", *options, file]
    try:
        ending = run(command, _SECONDS)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ToolError(f"error: {program} does not run: {reason}") from error
    if ending.code == 0:
        return ending.output
    raise _make_error(ending, name, program)


def _make_error(ending: Ending, name: str, program: Path) -> Exception:
    if ending.code is None:
        return ToolError(f"error: {program} does not end within {_SECONDS:.0f} s")
    text = _SUMMARY.sub("", ending.words).rstrip("\n")
    diagnostics = list(_read_diagnostics(text, name))
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        return CompileError(text, diagnostics, stage="clang")
    return ToolError(f"error: {program} failed: {ending.last_words}")


_SUMMARY = re.compile(r"^\d+ errors? generated when compiling for \w+\.\n?", re.M)
_MESSAGE = re.compile(
    r"^(?:(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+)|[^\s:]+): "
    r"(?P<severity>fatal error|error|warning|note): (?P<message>[^\n]*)$",
    re.M,
)


def _read_diagnostics(text: str, name: str) -> Iterator[Diagnostic]:
    """Yield what clang printed; what has no place, such as of options, is at the file."""
    last: Diagnostic | None = None
    for match in _MESSAGE.finditer(text):
        location = Location(name)
        if match["file"]:
            location = Location(match["file"], int(match["line"]), int(match["column"]))
        item = Diagnostic(_severity(match["severity"]), match["message"], location)
        if item.severity == "note" and last:
            last = last._replace(notes=(*last.notes, item))
            continue
        if last:
            yield last
        last = item
    if last:
        yield last


def _severity(word: str) -> Severity:
    return "error" if "error" in word else "warning" if word == "warning" else "note"
