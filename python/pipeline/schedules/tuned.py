"""Tiles that were found by searching: the file that they are in, and which kernels they are for.

docs/tuning.md describes the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from ..documents.reading import Offence, read_json, show, write_json
from ..documents.schema import Choice, Fields, Integer, Items, Row, Table, Text, Truth
from .kernel import Kernel
from .structure import spell
from .target import Target
from .tile import MAX_PERSISTENT, MAX_PRODUCERS, MAX_SLOTS, Tile

FORMAT = "pipeline-tuned"
VERSION = (1, 0)


class TileSource(Protocol):
    """Who has tiles for kernels, before a schedule chooses."""

    def find(self, kernel: Kernel, target: Target) -> Tile | None:
        """Return the tile of a kernel; None if there is none. Raises Offence if it cannot be."""

    def explain_lack(self, kernel: Kernel, target: Target) -> str:
        """Return why there is no tile for a kernel."""


class OneTile(NamedTuple):
    """The tile of the kernel of one name, whatever its structure is: what a search tries."""

    name: str
    tile: Tile

    def find(self, kernel: Kernel, target: Target) -> Tile | None:
        """Return it for its kernel."""
        if kernel.name != self.name:
            return None
        check_tile(kernel, self.tile)
        return self.tile

    def explain_lack(self, kernel: Kernel, target: Target) -> str:
        """Return why others have none."""
        return "another kernel is searched for"


class Score(NamedTuple):
    """How good a tile is beside the one that is chosen by default.

    ``unit``: ``cycles``, estimated for the busiest multiprocessor, or ``nanoseconds``, measured on
    ``gpu``.
    """

    unit: str
    cost: int
    default_cost: int
    gpu: str = ""


class TunedTile(NamedTuple):
    """A tile for all kernels of one structure, on a chip."""

    kernel: str
    chip: str
    numerics: str
    tile: Tile
    score: Score

    @property
    def key(self) -> tuple[str, str, str]:
        """What there is one tile for."""
        return self.kernel, self.chip, self.numerics


@dataclass(frozen=True)
class TunedTiles:
    """The tiles of a file. ``producer``: versions of what found them, by name."""

    entries: tuple[TunedTile, ...] = ()
    producer: Mapping[str, str] | None = None

    def find(self, kernel: Kernel, target: Target) -> Tile | None:
        """Return the tile of a kernel. Raises Offence if it cannot be one of it."""
        key = make_key(kernel, target)
        for number, entry in enumerate(self.entries):
            if entry.key == key:
                try:
                    check_tile(kernel, entry.tile)
                except Offence as offence:
                    raise offence.within(f".entries[{number}].tile") from None
                return entry.tile
        return None

    def explain_lack(self, kernel: Kernel, target: Target) -> str:
        """Return why there is no tile for a kernel."""
        structure, chip, numerics = make_key(kernel, target)
        others = [entry for entry in self.entries if entry.kernel == structure]
        if not others:
            return "no entry is of its operations, shapes and types"
        if chips := sorted({entry.chip for entry in others if entry.numerics == numerics}):
            return f"its entries are for {', '.join(chips)}"
        return f"its entries for {chip} are for other numerics"

    def updated(self, entries: Iterable[TunedTile]) -> TunedTiles:
        """Return these tiles with others in the places of those for the same kernels."""
        by_key = {entry.key: entry for entry in (*self.entries, *entries)}
        return replace(self, entries=tuple(by_key.values()))

    def write(self, producer: Mapping[str, str]) -> bytes:
        """Return the document."""
        ordered = sorted(self.entries, key=lambda entry: entry.key)
        return write_json(
            {
                "format": FORMAT,
                "version": list(VERSION),
                "producer": dict(producer),
                "entries": [_describe(entry) for entry in ordered],
            }
        )


def make_key(kernel: Kernel, target: Target) -> tuple[str, str, str]:
    """Return what the tile of a kernel is found by."""
    return spell(kernel), target.chip, "tf32" if target.rounds_to_tf32 else "exact"


def check_tile(kernel: Kernel, tile: Tile) -> None:
    """Raise Offence if the numbers of a tile are not of the loops of a kernel."""
    shared = len(kernel.shared)
    if len(tile.block) != shared:
        raise Offence(f"has {len(tile.block)} sizes, but there are {shared} loops", ".block")
    for loop, (size, is_shared) in enumerate(zip(tile.block, kernel.shared, strict=True)):
        if size and not is_shared:
            raise Offence("blocks cannot share this loop", f".block[{loop}]")
    sums = {len(op.sums) for op in kernel.ops} | {0, 1}
    if len(tile.reduction) not in sums:
        raise Offence(f"has {len(tile.reduction)} sizes, which no sum has", ".reduction")
    loops = len(kernel.sum.extents) if kernel.sum is not None else 0
    if tile.split and len(tile.split) != loops:
        raise Offence(f"has {len(tile.split)} sizes, but the sum has {loops} loops", ".split")


# --- the document ---------------------------------------------------------------------------------


def write_tile(tile: Tile) -> dict[str, Any]:
    """Return the fields of a tile that are not as by default."""
    fields = {
        "block": list(tile.block),
        "threads": tile.threads,
        "reduction": list(tile.reduction),
        "split": list(tile.split),
        **{name: getattr(tile, name) for name in ("columns", "stream", "slots", "producers")},
        **{name: getattr(tile, name) for name in ("blocks", "recompute", "direct")},
    }
    return {name: value for name, value in fields.items() if value or name in ("block", "threads")}


def read_tile(value: Any) -> Tile:
    """Return the tile that fields are. Raises Offence."""
    tile: Tile = TILE.check(value)
    return tile


def _make_tile(**fields: Any) -> Tile:
    try:
        return Tile(**fields)
    except ValueError as error:
        raise Offence(str(error)) from None


def _describe(entry: TunedTile) -> dict[str, Any]:
    score = entry.score
    told: dict[str, Any] = {"unit": score.unit, "cost": score.cost}
    told |= {"default_cost": score.default_cost} | ({"gpu": score.gpu} if score.gpu else {})
    return {
        "kernel": entry.kernel,
        "chip": entry.chip,
        "numerics": entry.numerics,
        "tile": write_tile(entry.tile),
        "score": told,
    }


_SIZES = Items(Integer(0, 1 << 31), most=64)
TILE = Fields(
    {"block": _SIZES, "threads": Integer(1, 1024)},
    {
        "reduction": _SIZES,
        "split": _SIZES,
        "columns": Integer(0, 1 << 20),
        "stream": Integer(0, 1 << 20),
        "slots": Integer(0, MAX_SLOTS),
        "producers": Integer(0, MAX_PRODUCERS),
        "blocks": Integer(0, MAX_PERSISTENT),
        "recompute": Truth(),
        "direct": Truth(),
    },
    make=_make_tile,
)
_SCORE = Fields(
    {"unit": Choice.of("cycles", "nanoseconds"), "cost": Integer(), "default_cost": Integer()},
    {"gpu": Text(256)},
    make=Score,
)
_ENTRY = Fields(
    {
        "kernel": Text(1 << 16),
        "chip": Text(16, re.compile(r"sm_[1-9]\d{1,3}[a-z]?"), "a chip, as sm_90a"),
        "numerics": Choice.of("exact", "tf32"),
        "tile": TILE,
        "score": _SCORE,
    },
    make=TunedTile,
)


def _make(**fields: Any) -> TunedTiles:
    entries: Sequence[TunedTile] = fields["entries"]
    known: dict[tuple[str, str, str], int] = {}
    for number, entry in enumerate(entries):
        if (first := known.setdefault(entry.key, number)) != number:
            raise Offence(f"is for the same kernel and chip as entries[{first}]", f"[{number}]")
    return TunedTiles(tuple(entries), fields["producer"])


_DOCUMENT = Fields(
    {
        "format": Text(),
        "version": Row((Integer(), Integer())),
        "producer": Table(Text(64), Text(256), 16),
        "entries": Items(_ENTRY),
    },
    make=_make,
)


def read_tuned(data: bytes) -> TunedTiles:
    """Return the tiles that a document has. Raises Offence."""
    document = read_json(data)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Offence(f"it is no document of format {FORMAT}")
    version = document.get("version")
    if not isinstance(version, list) or version[:1] != [VERSION[0]]:
        raise Offence(f"it has version {show(version)}, but {VERSION[0]}.{VERSION[1]} is known")
    tiles: TunedTiles = _DOCUMENT.check(document)
    return tiles
