"""What the compiler says, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from .conversion import counterpart

Severity = Literal["error", "warning", "remark", "note"]


@counterpart("SourceLocation")
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


@counterpart("Diagnostic")
class Diagnostic(NamedTuple):
    """An error, warning, remark or note of the compiler."""

    severity: Severity
    message: str
    location: Location
    notes: tuple[Diagnostic, ...] = ()

    def __str__(self) -> str:
        return f"{self.location}: {self.severity}: {self.message}"


@counterpart("Remark")
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


@counterpart("Snapshot")
class Snapshot(NamedTuple):
    """What pass ``pass_`` changed in operation ``op``, as MLIR text."""

    pass_: str
    op: str
    before: str
    after: str
