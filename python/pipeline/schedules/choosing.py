"""Which schedule a kernel gets: the first that matches it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from ..diagnostics import Remark
from .text import describe, write_schedule

if TYPE_CHECKING:
    from .kernel import Kernel
    from .target import Target
    from .tile import Schedule, Tile
    from .tuned import TileSource

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


class _Schedules:
    """The schedules in the order in which they are tried; the last, Fallback, matches all."""

    def __iter__(self) -> Iterator[Schedule]:
        package = import_module(__package__)  # which knows where they are
        for name in _ORDER:
            yield getattr(package, name)()


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
