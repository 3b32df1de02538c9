"""What a module keeps for the emulator, which is loaded when a kernel is first run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Protocol

    from .. import _native
    from ..diagnostics import Location
    from ..records.findings import Report
    from ..records.signature import Signature
    from .arguments import Value
    from .emulator import Options, Prepared
    from .sizes import LaunchSizes


@dataclass(slots=True)
class Emulation:
    """The kernels of a module for the emulator, translated when they are first run.

    ``lock`` is held while one is translated or runs.
    """

    bitcode: bytes
    chip: str
    sources: tuple[tuple[str, str], ...]
    shared_buffers: tuple[_native.SharedBuffer, ...]
    needs_distinct_arguments: bool
    lock: threading.Lock = field(default_factory=threading.Lock)
    _translated: dict[tuple[str, str, bool], _native.EmulatedKernel] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle what kernels are translated from."""
        fields = (self.bitcode, self.chip, self.sources, self.shared_buffers)
        return Emulation, (*fields, self.needs_distinct_arguments)

    def prepare(
        self,
        kernel: Signature,
        values: Sequence[Value],
        sizes: LaunchSizes,
        options: Options,
        location: Location | None = None,
    ) -> Prepared:
        """Check everything about a launch, at `location`, that can be checked before it.

        Raises ArgumentError, UsageError, CompileError.
        """
        from .emulator import prepare

        return prepare(self, kernel, values, sizes, options, location)

    def launch(self, prepared: Prepared) -> Report:
        """Run a kernel in place. Raises InternalError."""
        from .emulator import launch

        return launch(self, prepared)

    def _translate(self, name: str, options: Options) -> _native.EmulatedKernel:
        from .emulator import translate

        key = (name, options.check, options.statistics)
        if key not in self._translated:
            self._translated[key] = translate(self, name, options)
        return self._translated[key]


if TYPE_CHECKING:

    class Launchable(Signature, Protocol):
        """A kernel that can be launched."""

        @property
        def _emulation(self) -> Emulation: ...
