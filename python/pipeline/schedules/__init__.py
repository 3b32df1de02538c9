"""Schedules for programs that bring none: tiles and block sizes by class of kernel.

Each module has the schedules of one class, as frozen dataclasses of their parameters; the first of
:data:`SCHEDULES` that matches a kernel chooses. The result is text of the transform dialect, which
applies passes of this project to one function per kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..diagnostics import Remark
from ..target import Target
from .chain import Chained
from .contraction import Candidate, Staged
from .elementwise import Elementwise, Transpose
from .fallback import Fallback
from .kernel import Chain, Contraction, Kernel, Op, Operand
from .reduction import Columns, Rows, Whole
from .text import describe, write_schedule
from .tile import Schedule, Tile
from .window import Window

SCHEDULES: tuple[Schedule, ...] = (
    Chained(),
    Staged(),
    Transpose(),
    Elementwise(),
    Window(),
    Whole(),
    Rows(),
    Columns(),
    Fallback(),
)
"""Fallback matches all."""

_CATEGORY = "workgroup-schedules"


@dataclass(frozen=True, slots=True)
class Choice:
    """The schedule of a program: its text, and remarks on each kernel."""

    text: str
    remarks: tuple[Remark, ...]


def choose_tile(kernel: Kernel, target: Target, schedules: Sequence[Schedule] = SCHEDULES) -> Tile:
    """Return the tile of a kernel."""
    schedule = next(item for item in schedules if item.matches(kernel, target))
    return schedule.choose(kernel, target)


def choose(kernels: Sequence[Kernel], target: Target, version: str) -> Choice:
    """Return the schedule of a program with these kernels."""
    tiles = [choose_tile(kernel, target) for kernel in kernels]
    return Choice(
        write_schedule(kernels, tiles, target=target, version=version),
        tuple(_remark_on(kernel, tile) for kernel, tile in zip(kernels, tiles, strict=True)),
    )


def _remark_on(kernel: Kernel, tile: Tile) -> Remark:
    arguments = {"Block": str(list(tile.block)), "Threads": str(tile.threads)}
    if tile.reduction:
        arguments["Reduction"] = str(list(tile.reduction))
    kind, name, message = "passed", "ChoseTiles", describe(kernel, tile)
    if tile.reason:
        kind, name = "missed", "GeneralKernel"
        message = f"one thread computes each result of {message}: {tile.reason}"
        arguments["Reason"] = tile.reason
    return Remark(kind, name, _CATEGORY, kernel.name, message, kernel.main.location, arguments)


__all__ = [
    "SCHEDULES",
    "Candidate",
    "Chain",
    "Chained",
    "Choice",
    "Columns",
    "Contraction",
    "Elementwise",
    "Fallback",
    "Kernel",
    "Op",
    "Operand",
    "Rows",
    "Schedule",
    "Staged",
    "Target",
    "Tile",
    "Transpose",
    "Whole",
    "Window",
    "choose",
    "choose_tile",
    "write_schedule",
]
