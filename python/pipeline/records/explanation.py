"""What explains compiled kernels to a reader, as the compiler tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..conversion import counterpart
from .barriers import SyncPlace

if TYPE_CHECKING:
    from ..diagnostics import Location


@counterpart("TextLines")
class TextLines(NamedTuple):
    """What the lines of a text are made of: for each, in order, numbers of ``places``."""

    places: tuple[Location, ...]
    lines: tuple[tuple[int, ...], ...]


@counterpart("BufferLife")
class BufferLife(NamedTuple):
    """From when to when a buffer is in use: positions in the order of its kernel.

    ``begin_op``: the operation before which it begins, empty for the beginning of the kernel;
    ``end_op``: that after which it ends, empty for the end of the kernel.
    """

    first: int
    last: int
    begin_op: str
    begin: Location
    end_op: str
    end: Location


@counterpart("Loop")
class Loop(NamedTuple):
    """A loop, by its line in the text of stage ``gpu``.

    ``iterations`` is None if only the launch knows.
    """

    line: int
    iterations: int | None


@counterpart("SyncOperation")
class SyncOperation(NamedTuple):
    """An operation of a kernel that orders threads, or copies for them.

    ``kernel``: its number among those of the program; None for what stands in a function. ``role``:
    as ``barrier`` or ``mbarrier_wait``. ``at``: in the text of stage ``gpu``. ``loops``: those
    around it, outermost first. ``is_conditional``: it stands behind a condition. ``num_pending``:
    of a wait, how many groups of copies may still be under way behind it.
    """

    kernel: int | None
    role: str
    at: SyncPlace
    loops: tuple[Loop, ...]
    is_conditional: bool
    num_pending: int | None


@counterpart("BarrierNeed")
class BarrierNeed(NamedTuple):
    """A barrier, and what would be wrong without it.

    ``kernel``, ``at``: as of a SyncOperation. ``inserted``: the number of the record that tells
    why it was inserted; None for a barrier of the program, or of what was lowered to it.
    ``verdict``: that on the kernel without it; empty if nobody has tried. ``findings``: what is
    wrong without it, and is not with it: ``pipeline.SyncFinding``.
    """

    kernel: int | None
    at: SyncPlace
    inserted: int | None
    verdict: str
    findings: tuple[Any, ...]
