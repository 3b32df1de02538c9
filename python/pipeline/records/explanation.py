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
    of a wait, how many groups of copies may still be under way behind it. ``mbarriers``: of what is
    done about mbarriers, the number of their record.
    """

    kernel: int | None
    role: str
    at: SyncPlace
    loops: tuple[Loop, ...]
    is_conditional: bool
    num_pending: int | None
    mbarriers: int | None


@counterpart("ThreadRange")
class ThreadRange(NamedTuple):
    """Threads by linear ids: ``first``, ``first + step``, ..., ``last``."""

    first: int
    last: int
    step: int


@counterpart("MBarrierStep")
class MBarrierStep(NamedTuple):
    """One execution of an operation on an mbarrier.

    ``iterations``: of the loops around it, outermost first. ``slot``: the index of the mbarrier in
    its group. ``phase``: the one that is waited for, arrived in or copied in, counted from 0; -1
    for a wait that passes because no phase has ended; None if the order of threads decides.
    ``parity``: of a wait. ``bytes``: that an arrival announces, or a copy brings.
    """

    iterations: tuple[int, ...]
    slot: int
    phase: int | None
    parity: bool
    bytes: int


@counterpart("MBarrierUse")
class MBarrierUse(NamedTuple):
    """What the same threads do by an operation on mbarriers: its first executions.

    ``operation``: the number of the SyncOperation.
    """

    operation: int
    threads: tuple[ThreadRange, ...]
    steps: tuple[MBarrierStep, ...]


@counterpart("MBarriers")
class MBarriers(NamedTuple):
    """The mbarriers that one operation of a kernel makes.

    ``kernel``, ``at``: as of a SyncOperation. ``slots``: how many there are. ``arrivals``: how
    many end a phase; None if that differs, or is not known. ``purpose``: ``full`` if copies by TMA
    tell them of their bytes, ``empty`` if threads that arrive at full ones wait for them, else
    ``other``. ``missing``: why the uses are not known; empty if they are.
    """

    kernel: int | None
    at: SyncPlace
    slots: int
    arrivals: int | None
    purpose: str
    uses: tuple[MBarrierUse, ...]
    missing: str


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
