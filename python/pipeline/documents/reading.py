"""JSON from anywhere: text in, values out, or where the text is wrong."""

from __future__ import annotations

import json
from typing import Any, NoReturn

_LONGEST_NUMBER = 20
"""Characters of the longest integer of 64 bits."""


class Offence(Exception):
    """What is wrong with a document, and where in it: ``functions[0].body.steps[3]``."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason, path)
        self.reason = reason
        self.path = path

    def within(self, place: str) -> Offence:
        """Return the same, seen from the value that has this one as ``.field`` or ``[number]``."""
        self.path = place + self.path
        return self

    def __str__(self) -> str:
        path = self.path.removeprefix(".")
        return f"{path}: {self.reason}" if path else self.reason


def read_json(data: str | bytes) -> Any:
    """Return the value of a document. Raises Offence for all that is no plain JSON of integers.

    Objects that have a field twice, numbers that are no integers of 64 bits, other encodings than
    UTF-8, and values that are nested deeper than Python goes are refused.
    """
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
        return json.loads(
            text,
            object_pairs_hook=_make_object,
            parse_int=_read_integer,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
        )
    except RecursionError:
        raise Offence("it is nested too deeply") from None
    except ValueError as error:  # UnicodeDecodeError and JSONDecodeError are kinds of it
        raise Offence(f"it is no JSON: {error}") from None


def write_json(value: Any) -> bytes:
    """Return the document of a value: the same bytes for equal values."""
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=True) + "\n").encode("ascii")


def _make_object(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(fields)
    if len(made) != len(fields):
        names = [name for name, _ in fields]
        twice = next(name for name in names if names.count(name) > 1)
        raise Offence(f"an object has the field {show(twice)} twice")
    return made


def _read_integer(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        _refuse_number(digits)
    return int(digits)


def _refuse_number(digits: str) -> NoReturn:
    raise Offence(f"it holds {digits[:24]}, but numbers must be integers of 64 bits")


def show(value: Any) -> str:
    """Return a short text of a value of a document, for a message."""
    if isinstance(value, dict):
        return f"an object of {len(value)} fields"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:56]}..."
