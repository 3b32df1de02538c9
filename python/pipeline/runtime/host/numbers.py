"""Arithmetic of the host, as MLIR defines it for its types."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ToolError
from .plan import dtype_of

if TYPE_CHECKING:
    import numpy as np

Number = Any
"""An integer of Python, which a type with a sign holds, or a float of NumPy."""


def width_of(element_type: str) -> int | None:
    """Return the bits of an integer type, None of other types."""
    if element_type == "index":
        return 64
    bits = element_type[1:]
    return int(bits) if element_type.startswith("i") and bits.isdigit() else None


def wrap(value: int, width: int) -> int:
    """Return what `width` bits hold of an integer: a truth value, or a number with a sign."""
    value &= (1 << width) - 1
    return value if width == 1 or value < 1 << (width - 1) else value - (1 << width)


def unsigned(value: int, width: int) -> int:
    """Return the bits of an integer as one without a sign."""
    return value & ((1 << width) - 1)


def _signed(value: int, width: int) -> int:
    """Return an integer with a sign: what an i1 holds is 0 or -1 then."""
    return -value if width == 1 else value


def iterations(lower: int, upper: int, step: int, width: int | None) -> Iterable[int]:
    """Return the indices of a loop: of unsigned numbers of `width` bits, if that is given."""
    if width is None:
        return range(lower, upper, step)
    indices = range(unsigned(lower, width), unsigned(upper, width), unsigned(step, width))
    return (wrap(index, width) for index in indices)


def require_floats() -> None:
    """Raise ToolError if there is no NumPy, which arithmetic of floats takes."""
    try:
        import numpy as np  # noqa: F401
    except ImportError as error:
        raise ToolError(
            "error: the program computes with floats on the host, which needs NumPy: install it "
            "with: pip install numpy"
        ) from error


def from_bits(element_type: str, bits: int) -> Number:
    """Return the number of a type that has these bits. Raises ToolError without NumPy."""
    width = width_of(element_type)
    if width is not None:
        return wrap(bits, width)
    require_floats()
    import numpy as np

    dtype = dtype_of(element_type)
    size = dtype.itemsize
    return np.frombuffer((bits % (1 << (8 * size))).to_bytes(size, "little"), dtype)[0]


def to_bytes(element_type: str, number: Number) -> bytes:
    """Return the bytes of a number, the lowest first. Raises ToolError without NumPy."""
    width = width_of(element_type)
    if width is not None:
        return unsigned(int(number), width).to_bytes((width + 7) // 8, "little")
    require_floats()
    import numpy as np

    return np.asarray(number, dtype_of(element_type)).tobytes()


def _divide(lhs: int, rhs: int) -> int:
    quotient = abs(lhs) // abs(rhs)
    return quotient if (lhs < 0) == (rhs < 0) else -quotient


_SIGNED: dict[str, Callable[[int, int], int]] = {
    "addi": operator.add,
    "subi": operator.sub,
    "muli": operator.mul,
    "divsi": _divide,
    "remsi": lambda lhs, rhs: lhs - _divide(lhs, rhs) * rhs,
    "ceildivsi": lambda lhs, rhs: -(-lhs // rhs),
    "floordivsi": operator.floordiv,
    "minsi": min,
    "maxsi": max,
    "andi": operator.and_,
    "ori": operator.or_,
    "xori": operator.xor,
    "shli": lambda lhs, rhs: lhs << min(rhs, 64) if rhs >= 0 else 0,
    "shrsi": lambda lhs, rhs: lhs >> min(rhs, 64) if rhs >= 0 else 0,
}

_UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "divui": operator.floordiv,
    "remui": operator.mod,
    "ceildivui": lambda lhs, rhs: -(-lhs // rhs),
    "minui": min,
    "maxui": max,
    "shrui": lambda lhs, rhs: lhs >> min(rhs, 64),
}

_FLOAT: dict[str, Callable[[Any, Any], Any]] = {
    "addf": operator.add,
    "subf": operator.sub,
    "mulf": operator.mul,
    "divf": operator.truediv,
}

_FLOAT_UFUNCS = {
    "maximumf": "maximum",
    "minimumf": "minimum",
    "maxnumf": "fmax",
    "minnumf": "fmin",
}

_OTHER_UFUNCS = {"absf": "fabs", "powf": "power"}

FUNCTIONS = frozenset(
    {
        "absf",
        "ceil",
        "cos",
        "erf",
        "exp",
        "exp2",
        "expm1",
        "floor",
        "log",
        "log10",
        "log1p",
        "log2",
        "powf",
        "rsqrt",
        "sin",
        "sqrt",
        "tan",
        "tanh",
    }
)
"""The operations of ``math`` that :func:`compute_function` knows."""

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def compute(
    name: str, element_type: str, source: str, predicate: str, args: Sequence[Number]
) -> Number:
    """Return what operation ``arith.<name>`` with a result of `element_type` makes of `args`.

    `source` is the type of the last argument. Raises ZeroDivisionError, OverflowError for a float
    that the integer type does not hold, and ToolError for floats without NumPy.
    """
    width = width_of(element_type)
    if name in _SIGNED:
        assert width is not None
        lhs, rhs = (_signed(arg, width) for arg in args)
        return wrap(_SIGNED[name](lhs, rhs), width)
    if name in _UNSIGNED:
        assert width is not None
        lhs, rhs = (unsigned(arg, width) for arg in args)
        return wrap(_UNSIGNED[name](lhs, rhs), width)
    if name == "cmpi":
        return _compare_integers(predicate, args, source)
    if width is not None and width_of(source) is not None and name not in _FLOAT:
        return _convert(name, element_type, source, args[0])
    require_floats()
    import numpy as np

    with np.errstate(all="ignore"):
        if name in _FLOAT:
            return dtype_of(element_type).type(_FLOAT[name](args[0], args[1]))
        if name in _FLOAT_UFUNCS:
            return dtype_of(element_type).type(_choose(name, args[0], args[1]))
        if name == "negf":
            return -args[0]
        if name == "cmpf":
            return _compare_floats(predicate, args[0], args[1])
        return _convert(name, element_type, source, args[0])


def compute_function(name: str, element_type: str, args: Sequence[Any]) -> Any:
    """Return what operation ``math.<name>`` on floats of `element_type` makes of `args`.

    It is one of ``FUNCTIONS``, computed in 64 bits and rounded. Raises ToolError without NumPy.
    """
    require_floats()
    import numpy as np

    wide = [np.float64(arg) for arg in args]
    with np.errstate(all="ignore"):
        if name == "erf":
            result = np.float64(math.erf(wide[0]))
        elif name == "rsqrt":
            result = np.float64(1) / np.sqrt(wide[0])
        else:
            result = getattr(np, _OTHER_UFUNCS.get(name, name))(*wide)
        return _round(result, dtype_of(element_type))


def _compare_integers(predicate: str, args: Sequence[int], source: str) -> int:
    width = width_of(source)
    assert width is not None
    is_unsigned = predicate.startswith("u")
    args = [unsigned(arg, width) if is_unsigned else _signed(arg, width) for arg in args]
    name = predicate if predicate in _COMPARISONS else predicate[1:]
    return int(_COMPARISONS[name](args[0], args[1]))


def _compare_floats(predicate: str, lhs: Any, rhs: Any) -> int:
    is_unordered = bool(lhs != lhs or rhs != rhs)
    if predicate in ("false", "true"):
        return int(predicate == "true")
    if predicate in ("ord", "uno"):
        return int(is_unordered == (predicate == "uno"))
    if is_unordered:
        return int(predicate.startswith("u"))
    return int(_COMPARISONS[predicate[1:]](lhs, rhs))


def _convert(name: str, element_type: str, source: str, value: Number) -> Number:
    width, from_width = width_of(element_type), width_of(source)
    if name == "bitcast":
        return from_bits(element_type, int.from_bytes(to_bytes(source, value), "little"))
    if name in ("extui", "index_castui", "uitofp"):
        assert from_width is not None
        value = unsigned(value, from_width)
    elif name in ("extsi", "index_cast", "sitofp") and from_width == 1:
        value = -value
    if width is None:
        return _round(value, dtype_of(element_type))
    if name in ("fptosi", "fptoui"):
        return _truncate(float(value), width, element_type, has_sign=name == "fptosi")
    return wrap(int(value), width)


def _choose(name: str, lhs: Any, rhs: Any) -> Any:
    """Return the larger or smaller number; of two zeros, 0 is larger than -0."""
    import numpy as np

    if lhs == 0 and rhs == 0:
        return lhs + rhs if name.startswith("max") else -(-lhs - rhs)
    return getattr(np, _FLOAT_UFUNCS[name])(lhs, rhs)


def _round(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the nearest number of a type, rounded once.

    What is in between is rounded to odd: a last bit that is set tells of what was cut off.
    """
    import numpy as np

    if isinstance(value, int) and dtype.itemsize == 8:
        return dtype.type(float(value))
    if isinstance(value, int):
        excess = max(abs(value).bit_length() - 53, 0)
        kept = abs(value) >> excess
        kept |= int(kept << excess != abs(value))
        value = np.float64(math.copysign(math.ldexp(kept, excess), value))
    if dtype.itemsize < 4 and value.dtype.itemsize > 4 and np.isfinite(value):
        single = np.float32(value)
        if single != value and single.view(np.uint32) % 2 == 0:
            single = np.nextafter(single, np.float32(np.inf if value > single else -np.inf))
        value = single
    return dtype.type(value)


def _truncate(value: float, width: int, element_type: str, *, has_sign: bool) -> int:
    low, high = (-(1 << (width - 1)), 1 << (width - 1)) if has_sign else (0, 1 << width)
    if not math.isfinite(value) or not low <= int(value) < high:
        raise OverflowError(f"is of {value}, which {element_type} does not hold")
    return wrap(int(value), width)


def evaluate(expression: Any, dims: Sequence[int], symbols: Sequence[int]) -> int:
    """Return the value of an affine expression. Raises ZeroDivisionError."""
    if isinstance(expression, int):
        return expression
    name, *parts = expression
    if name in ("d", "s"):
        number: int = (dims if name == "d" else symbols)[parts[0]]
        return number
    lhs, rhs = (evaluate(part, dims, symbols) for part in parts)
    if name == "+":
        return lhs + rhs
    if name == "*":
        return lhs * rhs
    if name == "floordiv":
        return lhs // rhs
    return -(-lhs // rhs) if name == "ceildiv" else lhs % rhs


def describe(expression: Any, symbols: Sequence[str]) -> str:
    """Return the text of an affine expression of symbols that have these names."""
    if isinstance(expression, int):
        return str(expression)
    name, *parts = expression
    if name == "s":
        symbol: str = symbols[parts[0]]
        return symbol
    lhs, rhs = (describe(part, symbols) for part in parts)
    if name == "+":
        return f"{lhs} - {rhs[1:]}" if rhs.startswith("-") else f"{lhs} + {rhs}"
    lhs, rhs = (f"({text})" if " + " in text or " - " in text else text for text in (lhs, rhs))
    return f"{lhs} {name} {rhs}"
