"""The workgroup memory of kernels, as data and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..conversion import counterpart

if TYPE_CHECKING:
    from ..diagnostics import Location


@counterpart("BufferPlacement")
class BufferPlacement(NamedTuple):
    """Where a workgroup buffer has its bytes; sizes and offsets are in bytes.

    ``type`` is as in ``64x64xf32``, and empty for what the lowering of an operation takes.
    ``bytes`` is None if only the launch knows. ``offset`` counts from the start of the memory that
    buffers are packed into, and is None for a variable of its own. ``is_shared``: other buffers
    have some of the bytes before or after it.
    """

    type: str
    bytes: int | None
    alignment: int
    offset: int | None
    is_shared: bool
    location: Location


@counterpart("Memory")
class WorkgroupMemory(NamedTuple):
    """The workgroup memory of a kernel, as packing leaves it; sizes in bytes.

    ``dynamic_bytes`` is what launches have to ask for, besides buffers of sizes that only they
    know; ``max_bytes`` what a block of the chip can have in all. ``is_packed_dynamic``: the memory
    that buffers are packed into is dynamic. What later lowerings add or remove is not in it: the
    final number of static bytes is ``Kernel.static_shared_bytes``.
    """

    kernel: str
    static_bytes: int
    dynamic_bytes: int
    max_bytes: int
    is_packed_dynamic: bool
    buffers: tuple[BufferPlacement, ...]

    def __str__(self) -> str:
        """Return a table of the buffers, with a line of totals before it."""
        rows = [("offset", "bytes", "align", "buffer", "")]
        rows += (self._row(buffer) for buffer in self.buffers)
        return "\n".join([self._total(), *_align(rows)])

    def _total(self) -> str:
        return (
            f"workgroup memory of kernel '{self.kernel}': {self.static_bytes} bytes static, "
            f"{self.dynamic_bytes} dynamic, of {self.max_bytes}"
        )

    def _row(self, buffer: BufferPlacement) -> tuple[str, str, str, str, str]:
        offset = "own" if buffer.offset is None else str(buffer.offset)
        marks = ["shared in iterations"] if buffer.is_shared else []
        if buffer.offset is not None and self.is_packed_dynamic:
            marks.append("dynamic")
        if buffer.bytes is None:
            offset, marks = "-", ["dynamic, sized by the launch"]
        if not buffer.type:
            marks.append("taken by a lowering")
        words = " ".join([buffer.type, str(buffer.location)]).strip()
        size = "?" if buffer.bytes is None else str(buffer.bytes)
        return offset, size, str(buffer.alignment), words, ", ".join(marks)


def _align(rows: list[tuple[str, str, str, str, str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for offset, size, alignment, words, marks in rows:
        yield (
            f"  {offset:>{widths[0]}}  {size:>{widths[1]}}  {alignment:>{widths[2]}}"
            f"  {words:<{widths[3]}}  {marks}"
        ).rstrip()
