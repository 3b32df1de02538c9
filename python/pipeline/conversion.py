"""Records of the native extension, as those of this package.

A record there has the fields of its counterpart here, by the same names: one visitor makes all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")

_PLAIN = {bool, bytes, dict, float, int, str, type(None)}

_COUNTERPARTS: dict[str, type[Any]] = {}


def counterpart(name: str) -> Callable[[type[_T]], type[_T]]:
    """Let a class stand for the records that the native extension calls `name`."""

    def register(kind: type[_T]) -> type[_T]:
        _COUNTERPARTS[name] = kind
        return kind

    return register


def convert(value: Any) -> Any:
    """Return the counterpart of a record of the native extension, or those of a list as a tuple."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is list:
        return tuple(map(convert, value))
    record = _COUNTERPARTS[kind.__name__]
    return record(*[convert(getattr(value, name)) for name in record.__match_args__])


def make(record: type[_T], value: Any, **given: Any) -> _T:
    """Return a `record` of what a record of the native extension holds, but for what is `given`."""
    names: tuple[str, ...] = record.__match_args__  # type: ignore[attr-defined]
    fields = {name: convert(getattr(value, name)) for name in names if name not in given}
    return record(**fields, **given)
