"""What the emulator finds, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..conversion import counterpart, make
from ..diagnostics import Diagnostic, Location

if TYPE_CHECKING:
    from .. import _native

Dim3 = tuple[int, int, int]


@counterpart("ThreadId")
@dataclass(frozen=True, slots=True)
class Thread:
    """A GPU thread: its ids, and its place in its warp."""

    block: Dim3
    thread: Dim3
    warp: int
    lane: int


@counterpart("Access")
@dataclass(frozen=True, slots=True)
class Access:
    """One side of a finding; ``bytes`` is 0 if it is no access to memory."""

    verb: str
    thread: Thread
    location: Location
    bytes: int


@counterpart("Fix")
@dataclass(frozen=True, slots=True)
class Fix:
    """A place where a barrier would mend a race.

    ``is_verified``: the launch was run again with it, and was clean. ``is_uniform``: all threads
    are known to come by there together.
    """

    location: Location
    place: str
    is_verified: bool
    is_uniform: bool


@counterpart("Finding")
@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong, at one pair of places in the program.

    ``accesses`` are unordered: which of them came first is chance. ``indices`` count elements of
    ``buffer``; they are empty where only ``byte_offset`` is known. ``count`` tells how often it
    was seen, in ``blocks`` blocks.
    """

    kind: str
    severity: str
    message: str
    space: str
    buffer: str
    indices: tuple[int, ...]
    byte_offset: int | None
    accesses: tuple[Access, ...]
    notes: tuple[Diagnostic, ...]
    count: int
    blocks: int
    fixes: tuple[Fix, ...]


@counterpart("AccessStatistics")
@dataclass(frozen=True, slots=True)
class AccessStatistics:
    """What the accesses of one place in the program cost.

    A request is one access by a warp. ``wavefronts``: passes over the banks of workgroup memory.
    ``sectors``: pieces of 32 bytes of global memory. Both beside the fewest that would do.
    """

    location: Location
    space: str
    kind: str
    bytes: int
    requests: int
    accesses: int
    wavefronts: int
    ideal_wavefronts: int
    sectors: int
    dense_sectors: int


@counterpart("LaunchStatistics")
@dataclass(frozen=True, slots=True)
class Statistics:
    """What a launch executed: LLVM instructions and accesses by threads, barriers by blocks."""

    instructions: int
    accesses: int
    barriers: int
    warp_operations: int
    per_access: tuple[AccessStatistics, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What is known after a launch on the emulator.

    It covers this launch: these arguments, the ``blocks_run`` of ``blocks`` blocks, and all
    accesses but those at ``unreached``. ``rendered`` is the text of the findings, ``output`` what
    the kernel printed, ``hints`` what the caller may have to change.
    """

    kernel: str
    check: str
    findings: tuple[Finding, ...]
    rendered: str
    blocks_run: int
    blocks: int
    unreached: tuple[Location, ...]
    output: str
    statistics: Statistics | None
    seconds: float
    hints: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity == "error")


def to_json(value: Any) -> Any:
    """Return what ``json`` can write of a record of this module, or of several."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Location):
        return {"file": value.file, "line": value.line, "column": value.column}
    if hasattr(value, "__dataclass_fields__"):
        return {name: to_json(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, Mapping):
        return {str(name): to_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return value


_PLAIN = frozenset({bool, float, int, str, type(None)})


def report_from_native(
    native: _native.LaunchResult,
    kernel: str,
    check: str,
    seconds: float,
    hints: tuple[str, ...] = (),
) -> Report:
    """Convert a record of the native extension."""
    return make(
        Report,
        native,
        kernel=kernel,
        check=check,
        rendered=native.rendered.rstrip("\n"),
        output=native.output.decode("utf-8", "replace"),
        seconds=seconds,
        hints=hints,
    )
