"""The PTX of a module, and what ptxas makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from ..system.assembler import Resources


class Assembly:
    """The PTX of a module and, from the first use on, what ptxas makes of it."""

    def __init__(self, ptx: str, chip: str, cubin: bytes | None = None, ptxas: str = "") -> None:
        self._ptx = ptx
        self._chip = chip
        self._cubin = cubin
        self._log: str | None = None
        self.ptxas = ptxas
        """The version of ptxas that made the machine code, if a bundle tells."""

    @property
    def cubin(self) -> bytes:
        """The machine code; see ``Module.cubin``."""
        return self._cubin if self._cubin is not None else self._assemble()[0]

    @property
    def log(self) -> str:
        """What ``ptxas -v`` printed."""
        return self._log if self._log is not None else self._assemble()[1]

    def _assemble(self) -> tuple[bytes, str]:
        from ..system.assembler import assemble

        if not self._ptx:
            raise UsageError("error: the module has no PTX: an earlier stage was asked for")
        cubin, self._log = assemble(self._ptx, self._chip)
        if self._cubin is None:
            self._cubin = cubin
        return self._cubin, self._log

    @property
    def images(self) -> Mapping[str, bytes]:
        """The machine code that is there, by chip."""
        return {} if self._cubin is None else {self._chip: self._cubin}

    @property
    def resources(self) -> Mapping[str, Resources]:
        """What each kernel takes."""
        from ..system.assembler import parse_resources

        return parse_resources(self.log)
