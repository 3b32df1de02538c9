"""Files in one file, a ZIP archive, or in a folder: written alike for alike contents, read warily.

Reading runs nothing and unpacks nothing to disk. Sizes are believed when they have been counted.
"""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..documents.reading import Offence, show
from ..errors import BundleError

MOST_FILES = 4096
MOST_BYTES = 1 << 30
_SUFFICES_FOR_NAMES = 1 << 24
"""Bytes of an archive beside the contents of its files."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}(?:/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}){0,3}")
_OLDEST = (1980, 1, 1, 0, 0, 0)
_MODE = stat.S_IFREG | 0o644
_UNIX = 3
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HARMLESS_FLAGS = 0x80E
"""How well it is packed, that its sizes follow, and that its name is UTF-8."""
_DAMAGES = (
    EOFError,
    IndexError,
    MemoryError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What the modules of Python raise for an archive that is damaged."""


def is_name(name: str) -> bool:
    """Tell whether a file of a bundle can be called so: it is in the bundle, whatever reads it."""
    return _NAME.fullmatch(name) is not None and ".." not in name


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of files: the same bytes for the same files, in whatever order."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _OLDEST)
            entry.create_system = _UNIX
            entry.external_attr = _MODE << 16
            # Weights are as good as random, and would take seconds.
            method = zipfile.ZIP_STORED if name.startswith("data/") else zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name], method, compresslevel=6)
    return stream.getvalue()


def unpack(path: str | Path) -> dict[str, bytes]:
    """Return the files of an archive, or of a folder with the same files.

    Raises BundleError for a file that cannot be read, is no archive, is damaged, or holds anything
    but plain files with plain names, in sizes that are sensible.
    """
    name = os.fspath(path)
    try:
        mode = Path(name).stat().st_mode
        if stat.S_ISDIR(mode):
            return dict(_check(_read_folder(name)))
        if not stat.S_ISREG(mode):
            raise Offence("it is neither a file nor a folder")
        return dict(_check(_read_archive(_read_file(name))))
    except Offence as offence:
        raise BundleError(f"{name}: error: {offence}") from None
    except OSError as error:
        raise BundleError(f"{name}: error: cannot be read: {error.strerror}") from error
    except _DAMAGES as error:
        words = str(error) or type(error).__name__
        raise BundleError(f"{name}: error: it is no archive, or damaged: {words}") from error


def _check(files: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Hand files on, as long as they are few and small."""
    names: set[str] = set()
    total = 0
    for name, content in files:
        # Where cases are alike, one of two files would be the other.
        if name.lower() in names:
            raise Offence(f"it holds {show(name)} twice")
        names.add(name.lower())
        total += len(content)
        if len(names) > MOST_FILES or total > MOST_BYTES:
            raise Offence(f"it holds more than {MOST_FILES} files, or {MOST_BYTES >> 20} MiB")
        yield name, content


def _read_file(name: str) -> bytes:
    most = MOST_BYTES + _SUFFICES_FOR_NAMES
    with open(name, "rb") as stream:  # noqa: PTH123
        data = stream.read(most + 1)
    if len(data) > most:
        raise Offence(f"it is larger than {most >> 20} MiB")
    return data


def _read_archive(data: bytes) -> Iterator[tuple[str, bytes]]:
    if not data.startswith(b"PK\3\4"):
        raise Offence("it is no bundle: those are ZIP archives, or folders")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if len(entries) > MOST_FILES or sum(entry.file_size for entry in entries) > MOST_BYTES:
            raise Offence(f"it holds more than {MOST_FILES} files, or {MOST_BYTES >> 20} MiB")
        for entry in entries:
            _check_entry(entry)
            with archive.open(entry) as stream:
                content = stream.read(entry.file_size + 1)
            if len(content) != entry.file_size:
                raise Offence(f"{show(entry.filename)} is not as long as it says")
            yield entry.filename, content


def _check_entry(entry: zipfile.ZipInfo) -> None:
    name = entry.filename
    # What was there before zipfile made it a name of this system.
    if not is_name(name) or entry.orig_filename != name:
        raise Offence(f"it holds a file with the name {show(entry.orig_filename)}")
    if entry.flag_bits & ~_HARMLESS_FLAGS or entry.compress_type not in _METHODS:
        raise Offence(f"{show(name)} is encrypted, or packed in a way that bundles are not")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG) or entry.is_dir():
        raise Offence(f"{show(name)} is a link, or no plain file")


def _read_folder(name: str) -> Iterator[tuple[str, bytes]]:
    total = 0
    for place, folders, files in os.walk(name, onerror=_refuse):
        for part in (*folders, *files):
            path = os.path.join(place, part)  # noqa: PTH118
            known = os.path.relpath(path, name).replace(os.sep, "/")
            mode = os.lstat(path).st_mode
            if not is_name(known):
                raise Offence(f"it holds a file with the name {show(known)}")
            if stat.S_ISDIR(mode):
                continue
            if not stat.S_ISREG(mode):
                raise Offence(f"{show(known)} is a link, or no plain file")
            with open(path, "rb", opener=_open_itself) as stream:
                content = stream.read(MOST_BYTES - total + 1)
            total += len(content)
            yield known, content


def _refuse(error: OSError) -> None:
    raise error


def _open_itself(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))
