"""Which lines of a program's stages belong together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..records.explanation import TextLines
from .document import Lines, Place, Site, Stage

if TYPE_CHECKING:
    from ..diagnostics import Location
    from ..records.barriers import SyncPlace

STAGE_FILE = "<gpu>"
"""The file that locations in the text of stage ``gpu`` have: ``_native.STAGE_FILE``."""

_TITLES = {
    "source": ("program", "mlir"),
    "transform": ("schedule", "mlir"),
    "schedule": ("after the schedule", "mlir"),
    "gpu": ("kernels, synchronised", "mlir"),
    "nvvm": ("NVVM dialect", "mlir"),
    "llvm": ("LLVM IR, optimised", "llvm"),
    "ptx": ("PTX", "ptx"),
    "sass": ("machine code (SASS)", "sass"),
}


class LineTable:
    """Where lines of stage ``gpu`` are in the program, whose name and other stages it knows."""

    def __init__(self, program: str, lines: Mapping[str, TextLines]) -> None:
        self._program = program
        self._lines = lines
        self._gpu = lines.get("gpu", TextLines((), ()))

    def place(self, location: Location) -> Place | None:
        """Return where something is in the program; None if that is not known."""
        if location.file == STAGE_FILE:
            return next(iter(self.places(location.line)), None)
        if not location.line:
            return None
        return Place(location.file, location.line, location.column)

    def places(self, line: int) -> tuple[Place, ...]:
        """Return the places in the program that a line of stage ``gpu`` is made of."""
        if not 0 < line <= len(self._gpu.lines):
            return ()
        found = (self._gpu.places[number] for number in self._gpu.lines[line - 1])
        return tuple(Place(one.file, one.line, one.column) for one in found)

    def site(self, at: SyncPlace) -> Site:
        """Return an operation with all that is known of its place."""
        return Site(at.op, self.place(at.location), gpu_line(at.location))

    def stage(self, name: str, text: str) -> Stage:
        """Return a stage that the compiler tells the lines of."""
        count = text.count("\n") + 1
        lines = self._lines.get(name)
        if name == "source":
            numbers = tuple((number,) for number in range(1, count + 1))
            return _make_stage(name, text, numbers, ())
        if lines is None:
            return _make_stage(name, text, (), ())
        source = self._pick(lines, self._program)
        if name == "gpu":
            return _make_stage(name, text, source, tuple((n,) for n in range(1, count + 1)))
        gpu = self._pick(lines, STAGE_FILE)
        return _make_stage(name, text, self._through_gpu(source, gpu), gpu)

    def listed_stage(self, name: str, text: str, gpu_lines: Sequence[int]) -> Stage:
        """Return a stage of which each line is made of one of stage ``gpu``, or none (0)."""
        gpu = tuple((line,) if line else () for line in gpu_lines)
        return _make_stage(name, text, self._through_gpu(((),) * len(gpu), gpu), gpu)

    def _pick(self, lines: TextLines, file: str) -> Lines:
        """Return the lines of one file for each line of a text."""
        wanted = {n: place.line for n, place in enumerate(lines.places) if place.file == file}
        return tuple(tuple(wanted[n] for n in of if n in wanted) for of in lines.lines)

    def _through_gpu(self, source: Lines, gpu: Lines) -> Lines:
        """Return the lines of the program, those by way of stage ``gpu`` included."""
        via = self._pick(self._gpu, self._program)
        return tuple(
            _unite([own, *(via[line - 1] for line in lines if line <= len(via))])
            for own, lines in zip(source, gpu, strict=True)
        )


def gpu_line(location: Location) -> int:
    """Return the line of stage ``gpu`` that a location is on; 0 if it is elsewhere."""
    return location.line if location.file == STAGE_FILE else 0


def _unite(groups: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted({line for group in groups for line in group}))


def _make_stage(name: str, text: str, source: Lines, gpu: Lines) -> Stage:
    title, language = _TITLES[name]
    return Stage(name, title, language, text, source, gpu)
