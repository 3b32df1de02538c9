"""Tiles that were found by tuning, for the schedules of programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..documents.reading import Offence
from ..errors import UsageError
from ..schedules.choosing import choose
from ..schedules.tuned import TunedTiles, read_tuned
from ..system.files import read_file

if TYPE_CHECKING:
    from pathlib import Path

    from ..schedules.choosing import Choice
    from ..schedules.kernel import Kernel
    from ..schedules.target import Target
    from ..schedules.tuned import TileSource


class Tuning(NamedTuple):
    """Who has tiles, and what messages call it."""

    tiles: TileSource
    name: str

    def choose(self, kernels: Sequence[Kernel], target: Target, version: str) -> Choice:
        """Return the schedule of a program. Raises UsageError if a tile cannot be."""
        try:
            return choose(kernels, target, version, self.tiles)
        except Offence as offence:
            raise UsageError(f"{self.name}: error: {offence}") from None


def find_tiles(given: str | Path | TileSource) -> Tuning:
    """Return the tiles of a file, or those that are given. Raises UsageError."""
    if not isinstance(given, (str, os.PathLike)):
        return Tuning(given, "<tuned>")
    return Tuning(load_tuned(given), os.fspath(given))


def load_tuned(path: str | Path) -> TunedTiles:
    """Return the tiles of a file. Raises UsageError if it cannot be read, or is none of tiles."""
    try:
        return read_tuned(read_file(path))
    except Offence as offence:
        raise UsageError(f"{os.fspath(path)}: error: {offence}") from None
