"""What the doctor says of one thing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one thing that this package works with."""

    name: str
    is_found: bool
    detail: str
    needed_for: str = ""
    """What does not work without it; empty if compiling to PTX does not."""

    @property
    def is_fine(self) -> bool:
        """Whether programs compile to PTX in spite of this finding."""
        return self.is_found or bool(self.needed_for)

    def __str__(self) -> str:
        state = "ok" if self.is_found else ("--" if self.needed_for else "MISSING")
        need = f" (needed for {self.needed_for})" if self.needed_for and not self.is_found else ""
        return f"{state:8}{self.name:18}{self.detail}{need}"
