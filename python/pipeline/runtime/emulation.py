"""What a module keeps for the emulator, and nothing of the emulator itself."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing import Protocol

    from .. import _native
    from ..records.signature import Signature


class Translated(NamedTuple):
    """A kernel as code of this process; ``lock`` is held while it runs."""

    kernel: _native.EmulatedKernel
    lock: threading.Lock


@dataclass(slots=True)
class Emulation:
    """The kernels of a module for the emulator, which translates them when they are first run.

    ``translated`` has those that have been, by name, check, whether statistics are made, whether
    threads stop for random times, and whether values are computed.
    ``made_by_llvm`` is the version of LLVM that wrote the bitcode of a bundle; empty if that was
    done here. There may be no bitcode then.
    """

    bitcode: bytes
    chip: str
    sources: tuple[tuple[str, str], ...]
    shared_buffers: tuple[Any, ...]
    """Records of the native extension or, from a bundle, those with the same fields."""
    needs_distinct_arguments: bool
    made_by_llvm: str = ""
    translated: dict[tuple[str, str, bool, bool, bool], Translated] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle what kernels are translated from."""
        fields = (self.bitcode, self.chip, self.sources, self.shared_buffers)
        return Emulation, (*fields, self.needs_distinct_arguments, self.made_by_llvm)


if TYPE_CHECKING:

    class Launchable(Signature, Protocol):
        """A kernel that can be launched."""

        @property
        def _emulation(self) -> Emulation: ...
