"""Reading sources and writing results, whole or not at all.

Without pathlib, which takes milliseconds to load.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from ..errors import CompileError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

STDIN_NAME = "<stdin>"
_CHUNK = 1 << 20
_BYTECODE_MAGIC = b"ML\xefR"
_BITCODE_MAGICS = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


def is_text(source: str | Path) -> bool:
    """Tell whether `source` is a program rather than the name of a file."""
    return isinstance(source, str) and "\n" in source


def _refuse(name: str, data: bytes, position: int, message: str) -> CompileError:
    from ..diagnostics import Diagnostic, Location

    line = data.count(b"\n", 0, position) + 1
    column = position - (data.rfind(b"\n", 0, position) + 1) + 1
    diagnostic = Diagnostic("error", message, Location(name, line, column))
    return CompileError(str(diagnostic), [diagnostic], stage="read")


def decode(data: bytes, name: str) -> str:
    """Return the text of a file of MLIR or LLVM IR.

    Raises CompileError at the first byte that MLIR text cannot have; ``mlir-opt`` takes a file of
    zeros for an empty module.
    """
    if data.startswith(_BYTECODE_MAGIC):
        hint = "this is MLIR bytecode; turn it into text by mlir-opt-22"
        raise _refuse(name, data, 0, hint)
    if data.startswith(_BITCODE_MAGICS):
        return _disassemble(data, name)
    if not data.strip():
        raise _refuse(name, data, 0, "there is no program: this is empty")
    nul = data.find(b"\0")
    if nul >= 0:
        raise _refuse(name, data, nul, "this byte is NUL, which MLIR text cannot hold")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refuse(name, data, error.start, "this byte is not valid UTF-8") from None


def _disassemble(data: bytes, name: str) -> str:
    """Return the text that bitcode of LLVM stands for. Raises CompileError if there is none."""
    from .toolchain import load_native

    load_native()
    from .. import _native

    text, error = _native.disassemble(data, name)
    if text is None:
        raise _refuse(name, data, 0, error)
    return text


def _read(stream: BinaryIO) -> bytes:
    """Read up to the end, or up to the first chunk that cannot be text."""
    data = bytearray()
    while chunk := stream.read(_CHUNK):
        data += chunk
        if b"\0" in chunk and not data.startswith(_BITCODE_MAGICS):
            break
    return bytes(data)


def read_source(source: str | Path) -> tuple[str, str]:
    """Return the text of `source` and the name that locations in it get.

    `source` is a program if it is a string with a newline, else the name of a file, ``-`` for the
    standard input. Raises UsageError if the file cannot be read.
    """
    if is_text(source):
        return decode(str(source).encode("utf-8", "surrogatepass"), "<string>"), "<string>"
    name = os.fspath(source)
    if not isinstance(name, str):
        raise TypeError(f"a program, or the name of its file, is no {type(name).__name__}")
    if not name:
        raise UsageError("error: no program: the name of its file is empty")
    if source == "-":
        return _read_stdin()
    try:
        with open(name, "rb") as stream:
            data = _read(stream)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{name}: error: cannot be read: {reason}") from error
    # Names are bytes; locations are text.
    return decode(data, name), os.fsencode(name).decode(errors="backslashreplace")


def _read_stdin() -> tuple[str, str]:
    if sys.stdin is None:
        raise UsageError(f"{STDIN_NAME}: error: cannot be read: it is closed")
    try:
        return decode(_read(sys.stdin.buffer), STDIN_NAME), STDIN_NAME
    except OSError as error:
        raise UsageError(f"{STDIN_NAME}: error: cannot be read: {error.strerror}") from error


def is_bundle(name: str) -> bool:
    """Tell whether a file is a bundle rather than a program: an archive, or a folder."""
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):
            return os.path.isdir(name)
        with open(name, "rb") as stream:
            return stream.read(4) == b"PK\3\4"
    except (OSError, ValueError):
        return False


def read_file(path: str | Path) -> bytes:
    """Return the bytes of a file. Raises UsageError if it cannot be read."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as stream:
            return stream.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{name}: error: cannot be read: {reason}") from error


def _write_in_place(name: str, data: bytes) -> None:
    """Write to something that is no regular file: a device, a pipe."""
    with open(name, "wb") as stream:
        stream.write(data)


def write_file(path: str | Path, data: bytes) -> None:
    """Write `data` to the file `path`, which appears whole or not at all.

    Raises UsageError if it cannot be written.
    """
    name = os.fspath(path)
    if not name:
        raise UsageError("error: cannot be written: the name of the file is empty")
    try:
        mode = _mode(name)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(21, "Is a directory")
        if mode is not None and not stat.S_ISREG(mode):
            return _write_in_place(name, data)
        _replace_file(os.path.realpath(name), data, mode)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{name}: error: cannot be written: {reason}") from error


def _mode(name: str) -> int | None:
    """Return the mode of what `name` leads to, through all links; None if nothing is there."""
    try:
        return os.stat(name).st_mode
    except FileNotFoundError:
        return None


def _replace_file(name: str, data: bytes, mode: int | None) -> None:
    if mode is not None and not os.access(name, os.W_OK):
        raise PermissionError(13, "Permission denied")
    permissions = 0o666 & ~_umask() if mode is None else stat.S_IMODE(mode)
    folder = os.path.dirname(name)
    temporary = os.path.join(folder, f".pipeline-{os.urandom(8).hex()}")
    handle = _open_nameless(folder)
    is_nameless = handle is not None
    # What tempfile does, without the milliseconds that it takes to load.
    if handle is None:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            os.fchmod(stream.fileno(), permissions)
            if is_nameless and mode is None and _give_name(stream.fileno(), name):
                return
            if is_nameless:
                _give_name(stream.fileno(), temporary)
        os.replace(temporary, name)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _open_nameless(folder: str) -> int | None:
    """Open a file that is gone when the process is, whatever ends it; None where there are none."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder or ".", os.O_WRONLY | flag, 0o600)
    except OSError:
        return None  # said again, and why, where a file with a name is opened


def _give_name(handle: int, name: str) -> bool:
    """Tell whether an open file has got a name, which no other file has."""
    # With a folder that it is in, the link is to the file, and not to what leads to it.
    folder = os.open("/proc/self/fd", os.O_RDONLY)
    try:
        os.link(str(handle), name, src_dir_fd=folder)
    except FileExistsError:
        return False
    finally:
        os.close(folder)
    return True


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
