"""The workgroup memory of a kernel over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..records.barriers import SyncPlace
from .document import Buffer, Life, Memory, Ring
from .lines import LineTable

if TYPE_CHECKING:
    from ..diagnostics import Location, Remark
    from ..records.explanation import BufferLife
    from ..records.memory import BufferPlacement, WorkgroupMemory


def map_memory(
    memory: WorkgroupMemory,
    lives: Sequence[BufferLife | None],
    remarks: Sequence[Remark],
    rings: Sequence[Ring],
    table: LineTable,
) -> Memory:
    """Return where the buffers of a kernel are, and when; `remarks` are those on the kernel."""
    packed = next((one for one in remarks if one.name == "PackedKernel"), None)
    bound = packed.arguments.get("LowerBound") if packed else None
    buffers = tuple(
        _describe(number, placement, life, remarks, rings, table)
        for number, (placement, life) in enumerate(zip(memory.buffers, lives, strict=True))
    )
    return Memory(
        memory.static_bytes,
        memory.dynamic_bytes,
        memory.max_bytes,
        memory.is_packed_dynamic,
        None if bound is None else int(bound),
        buffers,
    )


def _describe(
    number: int,
    placement: BufferPlacement,
    life: BufferLife | None,
    remarks: Iterable[Remark],
    rings: Iterable[Ring],
    table: LineTable,
) -> Buffer:
    place = table.place(placement.location)
    # Of one place and size, which the pass that decides of layouts tells.
    layout = next(
        (
            one
            for one in remarks
            if one.name in ("Swizzled", "Padded")
            and table.place(one.location) == place
            and one.arguments.get("Bytes") == str(placement.bytes)
        ),
        None,
    )
    ring = next((one for one in rings if one.place == place), None)
    is_ring = ring is not None and placement.bytes is not None and not placement.bytes % ring.slots
    slots = ring.slots if ring and is_ring else 0
    return Buffer(
        name=chr(ord("A") + number) if number < 26 else f"#{number + 1}",
        type=placement.type,
        bytes=placement.bytes,
        alignment=placement.alignment,
        offset=placement.offset,
        is_shared=placement.is_shared,
        place=place,
        life=_describe_life(life, table) if life else None,
        slots=slots,
        slot_bytes=(placement.bytes or 0) // slots if slots else 0,
        layout=layout.message.partition(", Wavefronts")[0] if layout else "",
        wavefronts_before=int(layout.arguments["WavefrontsBefore"]) if layout else None,
        wavefronts_after=int(layout.arguments["WavefrontsAfter"]) if layout else None,
    )


def _describe_life(life: BufferLife, table: LineTable) -> Life:
    def site(op: str, location: Location) -> SyncPlace | None:
        return SyncPlace(op, location) if op else None

    begin, end = site(life.begin_op, life.begin), site(life.end_op, life.end)
    return Life(
        life.first,
        life.last,
        table.site(begin) if begin else None,
        table.site(end) if end else None,
    )
