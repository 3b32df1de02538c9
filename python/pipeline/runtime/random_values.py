"""Values for arguments that nobody has given."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..records.scalars import numpy_dtype

if TYPE_CHECKING:
    import numpy as np

    from ..records.signature import Argument


def make_random(
    argument: Argument, random: np.random.Generator, *, remedy: str, most: int | None = None
) -> Any:
    """Return random values for an argument of static shape, none of them zero.

    most: floating-point numbers behind the first `most` are zero, and take no time to make.

    Raises UsageError, with what to do instead, if the shape is dynamic, or NumPy has no such
    elements.
    """
    dtype = numpy_dtype(argument.element_type)
    if dtype is None or None in argument.shape:
        raise UsageError(f"error: there are no random values for {argument.type}; {remedy}")
    shape = tuple(extent for extent in argument.shape if extent is not None)
    values = make_elements(shape, dtype, random, most)
    return values if argument.is_memref else values.item()


def make_elements(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    random: np.random.Generator,
    most: int | None = None,
) -> np.ndarray[Any, Any]:
    """Return an array of random numbers, none of which is zero but for truth values.

    most: as for `make_random`.
    """
    import numpy as np

    if most is not None and dtype.kind not in "iub" and math.prod(shape) > most:
        array = np.zeros(shape, dtype)
        array.reshape(-1)[:most] = make_elements((most,), dtype, random)
        return array
    if dtype.kind in "iu":
        values: Any = random.integers(1, 8, shape)
    elif dtype.kind == "b":
        values = random.integers(0, 2, shape)
    else:
        values = random.uniform(0.125, 1.0, shape) * random.choice([-1.0, 1.0], shape)
    return np.asarray(values).astype(dtype)
