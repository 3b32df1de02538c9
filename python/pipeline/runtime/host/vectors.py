"""Vectors of the host: copies of elements, which are printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt


def cut_vector(
    array: npt.NDArray[Any], indices: Sequence[int], shape: Sequence[int], padding: Any
) -> npt.NDArray[Any]:
    """Return a copy of elements along the last dimensions; what is outside is `padding`."""
    import numpy as np

    lead = len(indices) - len(shape)
    part = array[tuple(indices[:lead])] if lead else array
    vector = np.full(tuple(shape), np.asarray(padding).astype(array.dtype))
    taken = tuple(
        slice(min(at, extent), min(at + size, extent))
        for at, size, extent in zip(indices[lead:], shape, part.shape, strict=True)
    )
    source = part[taken]
    vector[tuple(slice(0, size) for size in source.shape)] = source
    return vector
