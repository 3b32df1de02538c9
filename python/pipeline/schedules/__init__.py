"""Schedules for programs that bring none: tiles and block sizes by class of kernel.

Each module has the schedules of one class, as frozen dataclasses of their parameters; the first of
:data:`SCHEDULES` that matches a kernel chooses. The result is text of the transform dialect, which
applies passes of this project to one function per kernel.

Modules are loaded when a name of theirs is first asked for: two threads may load them at once, and
whoever imports a module holds its lock while the package is imported, which must not wait for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .candidate import Candidate
    from .chain import Chained
    from .choosing import SCHEDULES, Choice, choose, choose_tile
    from .contraction import Staged
    from .convolution import Convolution, Depthwise
    from .elementwise import Elementwise, Transpose
    from .fallback import Fallback
    from .kernel import Chain, Contraction, Kernel, Op, Operand
    from .loops import Points, Tiles
    from .narrow import Narrow
    from .reduction import Columns, Rows, Whole
    from .target import Target
    from .text import write_schedule
    from .tile import Schedule, Tile
    from .window import Window

_MODULES = {
    "SCHEDULES": "choosing",
    "Choice": "choosing",
    "choose": "choosing",
    "choose_tile": "choosing",
    "Chain": "kernel",
    "Contraction": "kernel",
    "Kernel": "kernel",
    "Op": "kernel",
    "Operand": "kernel",
    "Target": "target",
    "write_schedule": "text",
    "Schedule": "tile",
    "Tile": "tile",
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
"""Where a name is."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return getattr(import_module(f".{_MODULES[name]}", __name__), name)
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
