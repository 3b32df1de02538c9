"""Schedules for programs that bring none: tiles and block sizes by class of kernel.

Each module has the schedules of one class, as frozen dataclasses of their parameters; the first of
:data:`SCHEDULES` that matches a kernel chooses. The result is text of the transform dialect, which
applies passes of this project to one function per kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ..diagnostics import Remark
from .kernel import Chain, Contraction, Kernel, Op, Operand
from .target import Target
from .text import describe, write_schedule
from .tile import Schedule, Tile

if TYPE_CHECKING:
    from .candidate import Candidate
    from .chain import Chained
    from .contraction import Staged
    from .convolution import Convolution, Depthwise
    from .elementwise import Elementwise, Transpose
    from .fallback import Fallback
    from .loops import Points, Tiles
    from .narrow import Narrow
    from .reduction import Columns, Rows, Whole
    from .tuned import TileSource
    from .window import Window

_MODULES = {
    "Chained": "chain",
    "Candidate": "candidate",
    "Staged": "contraction",
    "Convolution": "convolution",
    "Depthwise": "convolution",
    "Narrow": "narrow",
    "Transpose": "elementwise",
    "Elementwise": "elementwise",
    "Window": "window",
    "Whole": "reduction",
    "Rows": "reduction",
    "Columns": "reduction",
    "Points": "loops",
    "Tiles": "loops",
    "Fallback": "fallback",
}
"""Where a name is; a module is loaded when it is first asked for, or a kernel comes to it."""

_ORDER = (
    *("Chained", "Narrow", "Staged", "Transpose", "Elementwise"),
    *("Convolution", "Depthwise", "Window"),
    *("Points", "Tiles"),
    *("Whole", "Rows", "Columns", "Fallback"),
)

_CATEGORY = "workgroup-schedules"


class Choice(NamedTuple):
    """The schedule of a program: its text, and remarks on each kernel."""

    text: str
    remarks: tuple[Remark, ...]


class _Schedules(Iterable[Schedule]):
    """The schedules in the order in which they are tried; the last, Fallback, matches all."""

    def __iter__(self) -> Iterator[Schedule]:
        for name in _ORDER:
            yield _load(name)()


SCHEDULES = _Schedules()


def choose_tile(kernel: Kernel, target: Target, schedules: Iterable[Schedule] = SCHEDULES) -> Tile:
    """Return the tile of a kernel."""
    schedule = next(item for item in schedules if item.matches(kernel, target))
    return schedule.choose(kernel, target)


def choose(
    kernels: Sequence[Kernel], target: Target, version: str, tuned: TileSource | None = None
) -> Choice:
    """Return the schedule of a program with these kernels, with tiles of `tuned` where it has any.

    Raises Offence if one of those cannot be.
    """
    found = [tuned.find(kernel, target) if tuned else None for kernel in kernels]
    pairs = list(zip(kernels, found, strict=True))
    tiles = [tile or choose_tile(kernel, target) for kernel, tile in pairs]
    remarks = [_remark_on(kernel, tile) for kernel, tile in zip(kernels, tiles, strict=True)]
    if tuned:
        remarks += [_remark_on_tuning(kernel, tile, target, tuned) for kernel, tile in pairs]
    text = write_schedule(kernels, tiles, target=target, version=version)
    return Choice(text, tuple(remarks))


def _remark_on_tuning(
    kernel: Kernel, tile: Tile | None, target: Target, tuned: TileSource
) -> Remark:
    kind, name, message = "passed", "TunedTiles", f"the tile of @{kernel.name} was found by tuning"
    arguments: dict[str, str] = {}
    if tile is None:
        reason = tuned.explain_lack(kernel, target)
        kind, name, arguments = "missed", "NotTuned", {"Reason": reason}
        message = f"the tile of @{kernel.name} is chosen by rule: {reason}"
    location = kernel.main.location
    return Remark(kind, name, _CATEGORY, kernel.name, message, location, arguments)


def _remark_on(kernel: Kernel, tile: Tile) -> Remark:
    arguments = {"Block": str(list(tile.block)), "Threads": str(tile.threads)}
    if tile.reduction:
        arguments["Reduction"] = str(list(tile.reduction))
    if tile.slots:
        arguments["Slots"] = str(tile.slots)
    if tile.producers:
        arguments["Producers"] = str(tile.producers)
    if tile.blocks:
        arguments["Blocks"] = str(tile.blocks)
    kind, name, message = "passed", "ChoseTiles", describe(kernel, tile)
    if tile.reason:
        kind, name = "missed", "GeneralKernel"
        message = f"one thread computes each result of {message}: {tile.reason}"
        arguments["Reason"] = tile.reason
    return Remark(kind, name, _CATEGORY, kernel.name, message, kernel.main.location, arguments)


def _load(name: str) -> type[Any]:
    kind: type[Any] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return kind


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a class of :data:`_MODULES`."""
        if name in _MODULES:
            return _load(name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "SCHEDULES",
    "Candidate",
    "Chain",
    "Chained",
    "Choice",
    "Columns",
    "Contraction",
    "Convolution",
    "Depthwise",
    "Elementwise",
    "Fallback",
    "Kernel",
    "Narrow",
    "Op",
    "Operand",
    "Points",
    "Rows",
    "Schedule",
    "Staged",
    "Target",
    "Tile",
    "Tiles",
    "Transpose",
    "Whole",
    "Window",
    "choose",
    "choose_tile",
    "write_schedule",
]
