"""Where the parts of pictures are: workgroup memory over time, and rings over iterations.

Sizes are in units of the drawing, in which a page is 1000 wide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .mbarriers import Tile, find_tiles

JSON = Mapping[str, Any]

WIDTH = 1000
_MARGIN = 90
_HEIGHT = 260


class Box(NamedTuple):
    """A rectangle with a label, for the thing of this number, in one of eight colours."""

    x: float
    y: float
    width: float
    height: float
    label: str
    title: str
    number: int
    kind: str


class Tick(NamedTuple):
    """A mark on an axis."""

    at: float
    label: str


class Drawing(NamedTuple):
    """Boxes, and ticks along the left edge and the bottom."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    rows: tuple[Tick, ...]
    columns: tuple[Tick, ...]


def draw_memory(memory: JSON) -> Drawing | None:
    """Return the map of a kernel's buffers: time goes to the right, addresses go down.

    Buffers of their own lie below those that are packed, one after the other; there is nothing to
    draw if no buffer has a known size.
    """
    buffers = [one for one in memory["buffers"] if one["bytes"]]
    if not buffers:
        return None
    packed = max(
        (one["offset"] + one["bytes"] for one in buffers if one["offset"] is not None), default=0
    )
    offsets, end = [], packed
    for one in buffers:
        if one["offset"] is not None:
            offsets.append(one["offset"])
        else:
            offsets.append(end)
            end += one["bytes"]
    times = [one["life"] for one in buffers if one["life"]]
    first = min((life["first"] for life in times), default=0)
    last = max((life["last"] for life in times), default=1)
    across = (WIDTH - _MARGIN) / max(last - first, 1)
    down = _HEIGHT / end
    boxes: list[Box] = []
    for number, (one, offset) in enumerate(zip(buffers, offsets, strict=True)):
        life = one["life"] or {"first": first, "last": last}
        x = _MARGIN + (life["first"] - first) * across
        width = max((life["last"] - life["first"]) * across, 4)
        boxes += _draw_buffer(one, number, x, width, offset * down, one["bytes"] * down)
    rows = [Tick(offset * down, str(offset)) for offset in sorted({*offsets, end})]
    return Drawing(WIDTH, _HEIGHT + 30, tuple(boxes), tuple(_thin(rows)), ())


def _draw_buffer(
    buffer: JSON, number: int, x: float, width: float, y: float, height: float
) -> list[Box]:
    title = f"{buffer['name']}: {buffer['bytes']} bytes {buffer['type']}".rstrip()
    slots = buffer["slots"]
    if not slots:
        return [Box(x, y, width, height, buffer["name"], title, number % 8, "buffer")]
    step = height / slots
    return [
        Box(
            x,
            y + slot * step,
            width,
            step,
            f"{buffer['name']} slot {slot}",
            f"{title}, slot {slot}",
            number % 8,
            "slot",
        )
        for slot in range(slots)
    ]


def _thin(ticks: list[Tick]) -> list[Tick]:
    """Leave out ticks whose labels would cover each other."""
    kept: list[Tick] = []
    for tick in ticks:
        if not kept or tick.at - kept[-1].at >= 12:
            kept.append(tick)
    return kept


def draw_ring(ring: JSON, mbarriers: Sequence[JSON]) -> Drawing:
    """Return the first rounds of a ring: a row for each slot, a column for each iteration.

    A tile is in its slot from the iteration in which its copy begins until that which reads it;
    copies of the first tiles begin before the loop.
    """
    slots = ring["slots"]
    tiles = find_tiles(mbarriers) or _plan_tiles(ring)
    before = sum(tile.begin is None for tile in tiles)
    columns = tiles[-1].read + 1 + before
    width, height = (WIDTH - _MARGIN) / columns, 34
    boxes = []
    for number, tile in enumerate(tiles):
        column = number if tile.begin is None else tile.begin + before
        x, end = _MARGIN + column * width, _MARGIN + (tile.read + before) * width
        begins = "before the loop" if tile.begin is None else f"in iteration {tile.begin}"
        title = (
            f"tile {tile.read} in slot {tile.slot}: copy begins {begins}, "
            f"read in iteration {tile.read}"
        )
        y, color = tile.slot * height, tile.slot % 8
        if end > x:
            boxes.append(Box(x, y, end - x, height - 4, "", title, color, "copy"))
        boxes.append(Box(end, y, width, height - 4, str(tile.read), title, color, "read"))
    rows = tuple(Tick(slot * height + height / 2, f"slot {slot}") for slot in range(slots))
    ticks = [Tick(_MARGIN + before * width / 2, "before the loop")] if before else []
    ticks += [
        Tick(_MARGIN + (iteration + before + 0.5) * width, str(iteration))
        for iteration in range(tiles[-1].read + 1)
    ]
    return Drawing(WIDTH, slots * height + 30, tuple(boxes), rows, tuple(ticks))


def _plan_tiles(ring: JSON) -> list[Tile]:
    """Return the first tiles of a ring whose copies run a constant number of iterations ahead."""
    slots, ahead = ring["slots"], ring["ahead"]
    shown = 2 * slots + 2
    if ring["iterations"] is not None:
        shown = min(shown, ring["iterations"])
    return [
        Tile(tile % slots, tile - ahead if tile >= ahead else None, tile)
        for tile in range(max(shown, 1))
    ]
