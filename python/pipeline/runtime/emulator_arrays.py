"""Arrays for the emulator, whose kernels rely on where memory starts as those of a GPU do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import DeviceError, LayoutError
from .arguments import Value, describe_misaligned, name_device
from .arrays import HOST, ArrayView
from .host_arrays import copy_aligned, write_back


class Placement:
    """Arguments as kernels take them: ``values``, with copies of those that are not aligned.

    Raises DeviceError for arrays that are not on the host, LayoutError for copies that share
    memory with other arguments.
    """

    def __init__(self, values: Sequence[Value]) -> None:
        self._copies: list[tuple[ArrayView, ArrayView]] = []
        for index, value in enumerate(values):
            if value.view is not None and value.view.device != HOST:
                raise DeviceError(
                    f"error: argument {index} is on {name_device(value.view.device)}, but the "
                    "emulator runs on the host: pass a copy, or take backend='cuda'",
                    index,
                )
        _check_copies(values)
        self.values = [self._place(value) for value in values]

    def _place(self, value: Value) -> Value:
        array = value.view
        if array is None or value.is_aligned:
            return value
        copy = copy_aligned(array, value.argument.alignment, value.lead * array.itemsize)
        self._copies.append((copy, array))
        return replace(value, view=copy)

    def finish(self) -> None:
        """Bring what kernels wrote to where the caller looks for it."""
        for copy, original in self._copies:
            write_back(copy, original)


def _check_copies(values: Sequence[Value]) -> None:
    """Refuse copies of arrays that share memory: what is written to one, the other must see."""
    arrays = [(i, v, v.view) for i, v in enumerate(values) if v.view is not None]
    for index, value, array in arrays:
        if value.is_aligned:
            continue
        for other, _, partner in arrays:
            if other != index and array.overlaps(partner):
                message = (
                    f"{describe_misaligned(value, index)}, and overlaps argument {other}: pass "
                    "copies"
                )
                raise LayoutError(message, index)
