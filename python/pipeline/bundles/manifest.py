"""The manifest of a bundle: each file with its role, size and checksum, and who made them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..documents.reading import Offence, read_json, show, write_json
from ..documents.schema import Choice, Fields, Integer, Items, OrNull, Row, Table, Text
from .archive import MOST_BYTES, MOST_FILES, is_name

MANIFEST = "manifest.json"
_FORMAT = "pipeline-bundle"
VERSION = (1, 1)
"""The newest version that is read; 1.0 has no certificates, and is written where there are none."""
_CHIP = re.compile(r"sm_[1-9]\d{1,3}[a-z]?")


class _FileName:
    def check(self, value: Any) -> str:
        """Return the name. Raises Offence."""
        if type(value) is not str or not is_name(value) or value == MANIFEST:
            raise Offence(f"is {show(value)}, which is no name for a file of a bundle")
        return value


class File(NamedTuple):
    """What a file of a bundle is, and the bytes that it must have.

    ``chip`` is what it was compiled for; ``ptxas`` the version of the assembler of a cubin;
    ``name`` what locations call a source.
    """

    role: str
    bytes: int
    sha256: str
    chip: str = ""
    ptxas: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a bundle says of itself.

    ``producer`` has versions by name, ``license`` the SPDX expression of the program if its author
    gave one, ``third_party`` what else is in the code, ``chips`` the variants, the oldest chip
    first.
    """

    producer: Mapping[str, str]
    license: str | None
    third_party: tuple[str, ...]
    chips: tuple[str, ...]
    files: Mapping[str, File]

    def write(self) -> bytes:
        """Return the document."""
        return write_json(
            {
                "format": _FORMAT,
                "version": list(VERSION) if self._has_certificate else [1, 0],
                "features": [],
                "producer": dict(self.producer),
                "license": self.license,
                "third_party": list(self.third_party),
                "chips": list(self.chips),
                "files": {name: _describe(file) for name, file in self.files.items()},
            }
        )

    @property
    def _has_certificate(self) -> bool:
        return any(file.role in ("certificate", "ir") for file in self.files.values())

    def find(self, role: str, chip: str = "") -> list[str]:
        """Return the names of the files of a role, and of a chip, in order."""
        return sorted(
            name for name, file in self.files.items() if (file.role, file.chip) == (role, chip)
        )


def _describe(file: File) -> dict[str, Any]:
    defaults = {"chip": "", "ptxas": "", "name": ""}
    return {
        field: value
        for field, value in file._asdict().items()
        if field not in defaults or value != defaults[field]
    }


def hash_bytes(data: bytes) -> str:
    """Return the checksum of a file."""
    return hashlib.sha256(data).hexdigest()


# --- the document ---------------------------------------------------------------------------------

OF_A_CHIP = {
    "plan": (1, 1),
    "kernels": (1, 1),
    "ptx": (1, 1),
    "cubin": (0, 1),
    "llvm": (0, 1),
    "certificate": (0, 1),
    "ir": (0, 1),
}
"""The roles of files that each chip has: how many of them at least, and at most."""
OF_ALL = ("data", "source", "licence", "report")
"""The roles of other files."""

CHIP = Text(16, _CHIP, "a chip, as sm_90a")
_WORDS = Text(256)
_FILE = Fields(
    {
        "role": Choice.of(*OF_A_CHIP, *OF_ALL),
        "bytes": Integer(0, MOST_BYTES),
        "sha256": Text(64, re.compile("[0-9a-f]{64}"), "64 hexadecimal digits"),
    },
    {"chip": CHIP, "ptxas": _WORDS, "name": Text()},
    make=File,
)


def _make(**fields: Any) -> Manifest:
    del fields["format"], fields["version"], fields["features"]  # checked before
    return Manifest(**fields)


_MANIFEST = Fields(
    {
        "format": Text(),
        "version": Row((Integer(), Integer())),
        "features": Items(Text(64), most=0),
        "producer": Table(Text(64), _WORDS, 16),
        "license": OrNull(_WORDS),
        "third_party": Items(_WORDS, most=64),
        "chips": Items(CHIP, 1, 64),
        "files": Table(_FileName(), _FILE, MOST_FILES),
    },
    make=_make,
)


def read_manifest(data: bytes) -> Manifest:
    """Return the manifest that a document is. Raises Offence."""
    document = read_json(data)
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise Offence(f"it is no document of format {_FORMAT}")
    _check_version(document)
    manifest: Manifest = _MANIFEST.check(document)
    _check_roles(manifest)
    return manifest


def _check_version(document: Mapping[str, Any]) -> None:
    known = f"{VERSION[0]}.{VERSION[1]}"
    version = document.get("version")
    try:
        major, minor = Row((Integer(), Integer())).check(version)
    except Offence as offence:
        raise offence.within(".version") from None
    if major != VERSION[0]:
        raise Offence(
            f"is {major}.{minor}, but this reads {VERSION[0]}.x: use the version of mlir-workgroup "
            "that wrote it, or compile again",
            ".version",
        )
    if minor > VERSION[1]:
        raise Offence(
            f"is {major}.{minor}, but this reads up to {known}: install a newer mlir-workgroup",
            ".version",
        )
    features = document.get("features")
    if features:
        raise Offence(f"are {features!r:.80}, none of which this reads", ".features")


def _check_roles(manifest: Manifest) -> None:
    """Check that each chip has what it takes, and nothing belongs to none."""
    if len({*manifest.chips}) != len(manifest.chips):
        raise Offence("has a chip twice", ".chips")
    for name, file in manifest.files.items():
        is_of_chip = file.role in OF_A_CHIP
        if is_of_chip != bool(file.chip) or (is_of_chip and file.chip not in manifest.chips):
            words = f"is of chip {show(file.chip)}" if file.chip else "is of no chip"
            raise Offence(f"{words}, but its role is {file.role}", f".files[{show(name)}]")
    for chip in manifest.chips:
        for role, (least, most) in OF_A_CHIP.items():
            count = len(manifest.find(role, chip))
            if not least <= count <= most:
                raise Offence(f"has {count} files of role {role} for {chip}", ".files")
