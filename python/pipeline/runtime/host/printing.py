"""What programs print on the host, as upstream's runner does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .memory import Memory


def describe_memory(memory: Memory, array: Any) -> str:
    """Return the text of a memref with the elements of `array`: where it is, and its shape."""
    start = memory.buffer.address + memory.buffer.lead * memory.itemsize
    return (
        f"Unranked Memref base@ = {start:#x} rank = {len(memory.shape)} "
        f"offset = {memory.offset} sizes = {list(memory.shape)} strides = {list(memory.strides)} "
        f"data = \n{_describe_rows(array, 1)}\n"
    )


def _describe_rows(array: Any, depth: int) -> str:
    if array.ndim == 0:
        return f"[{_describe_number(array.item())}]"
    if array.ndim == 1:
        return "[" + ",  ".join(_describe_number(element.item()) for element in array) + "]"
    rows = (_describe_rows(row, depth + 1) for row in array)
    return "[" + (", \n" + " " * depth).join(rows) + "]"


def _describe_number(number: Any) -> str:
    return f"{number:g}" if isinstance(number, float) else str(int(number))


def describe_value(value: Any, fields: Mapping[str, Any]) -> str:
    """Return the text of what `vector.print` prints: a number, or a vector, or words."""
    text, end = str(fields.get("text", "")), str(fields["end"])
    return text + ("" if value is None else _describe(value)) + end


def _describe(value: Any) -> str:
    if getattr(value, "ndim", 0):
        return "( " + ", ".join(_describe(part) for part in value) + " )"
    return _describe_number(value.item() if hasattr(value, "item") else value)
