"""What the compiler says, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from . import _native

Severity = Literal["error", "warning", "remark", "note"]


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a source text. Line and column count from 1; 0 means unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.file or "<unknown>"
        return f"{self.file}:{self.line}:{self.column}"


class Diagnostic(NamedTuple):
    """An error, warning, remark or note of the compiler."""

    severity: Severity
    message: str
    location: Location
    notes: tuple[Diagnostic, ...] = ()

    def __str__(self) -> str:
        return f"{self.location}: {self.severity}: {self.message}"


class Remark(NamedTuple):
    """A decision of a pass.

    ``kind`` is ``passed``, ``missed``, ``failed`` or ``analysis``, ``category`` the pass, ``name``
    identifies the decision, ``arguments`` holds its metrics and reasons.
    """

    kind: str
    name: str
    category: str
    function: str
    message: str
    location: Location
    arguments: dict[str, str]

    def __str__(self) -> str:
        return (
            f"{self.location}: remark: [{self.kind}] {self.category}: {self.name}: {self.message}"
        )

    def __hash__(self) -> int:
        """Hash all but the arguments, which are a dictionary."""
        return hash(self[:-1])


class Snapshot(NamedTuple):
    """What pass ``pass_`` changed in operation ``op``, as MLIR text."""

    pass_: str
    op: str
    before: str
    after: str


def location_from_native(native: _native.SourceLocation) -> Location:
    """Convert a record of the native extension."""
    return Location(native.file, native.line, native.column)


def diagnostic_from_native(native: _native.Diagnostic) -> Diagnostic:
    """Convert a record of the native extension."""
    severity: Severity = native.severity  # type: ignore[assignment]
    return Diagnostic(
        severity,
        native.message,
        location_from_native(native.location),
        tuple(diagnostic_from_native(note) for note in native.notes),
    )


def remark_from_native(native: _native.Remark) -> Remark:
    """Convert a record of the native extension."""
    return Remark(
        native.kind,
        native.name,
        native.category,
        native.function,
        native.message,
        location_from_native(native.location),
        dict(native.arguments),
    )


def snapshot_from_native(native: _native.Snapshot) -> Snapshot:
    """Convert a record of the native extension."""
    return Snapshot(native.pass_name, native.op, native.before, native.after)
