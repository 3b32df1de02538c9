"""Values of arguments, as command lines give them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..records.scalars import describe_numbers, describe_value, numpy_dtype, pack_number
from ..runtime.random_values import make_elements, make_random

if TYPE_CHECKING:
    import numpy as np

    from ..records.signature import Argument

_SHAPED = re.compile(r"(?P<shape>(?:\d+x)+)(?P<type>[a-zA-Z]\w*)(?:=(?P<value>[^=]+))?")


def read_values(arguments: Sequence[Argument], texts: Sequence[str], seed: int | None) -> list[Any]:
    """Return the values of `arguments`: of the first ones what `texts` say, then random ones.

    A text is a number, the name of a ``.npy`` file, or the shape and type of an array, as
    ``16x64xf32``, of random values, or ``16x64xf32=0`` of that number. Raises UsageError if there
    are too many, or too few and no `seed`.
    """
    import numpy as np

    given, wanted = len(texts), len(arguments)
    if given > wanted:
        raise UsageError(f"error: there are {wanted} arguments, but {given} --arg")
    if seed is not None and seed < 0:
        raise UsageError("error: --random takes a number from 0 on")
    random = np.random.default_rng(seed or 0)
    values = [
        _name_elements(_read(text, random), argument)
        for text, argument in zip(texts, arguments, strict=False)
    ]
    if len(values) < len(arguments) and seed is None:
        missing = ", ".join(argument.type for argument in arguments[len(values) :])
        raise UsageError(f"error: no --arg for {missing}; give files, or --random SEED")
    for argument in arguments[len(values) :]:
        values.append(make_random(argument, random, remedy="give an --arg"))
    return values


def _read(text: str, random: np.random.Generator) -> Any:
    import numpy as np

    if shaped := _SHAPED.fullmatch(text):
        return _make_shaped(shaped, random)
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        if math.isinf(number) and "inf" not in text.lower():
            raise UsageError(f"error: --arg {describe_value(text)} is too large for any type")
        return number
    try:
        array = np.load(text, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise ValueError("several arrays")
        return array
    except (OSError, ValueError, EOFError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no .npy file"
        raise UsageError(f"{text}: error: cannot be read: {reason}") from error


def _name_elements(value: Any, argument: Argument) -> Any:
    """Return an array with the elements that it was saved with: files do not know narrow floats."""
    dtype = numpy_dtype(argument.element_type)
    if (
        dtype is None
        or dtype.isbuiltin == 1
        or getattr(value, "dtype", None) != f"V{dtype.itemsize}"
    ):
        return value
    return value.view(dtype)


def _make_shaped(shaped: re.Match[str], random: np.random.Generator) -> Any:
    """Return an array of the shape and type that a text says, of one number or of random ones."""
    import numpy as np

    dtype = numpy_dtype(shaped["type"])
    if dtype is None:
        raise UsageError(f"error: --arg {shaped[0]}: there are no arrays of {shaped['type']}")
    shape = tuple(int(extent) for extent in shaped["shape"].split("x")[:-1])
    try:
        if shaped["value"] is None:
            return make_elements(shape, dtype, random)
        number = _read_number(shaped["value"])
        data = pack_number(shaped["type"], number)
        if data is None:
            holds = describe_numbers(shaped["type"])
            raise ValueError(f"{number} does not fit {shaped['type']} ({holds})")
        return np.full(shape, np.frombuffer(data, dtype)[0])
    except (ValueError, MemoryError, OverflowError) as error:
        raise UsageError(f"error: --arg {shaped[0]}: {error}") from error


def _read_number(text: str) -> int | float:
    """Return a number: a whole one exactly, which no float would be beyond 53 bits."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
        return int(number) if number.is_integer() else number
