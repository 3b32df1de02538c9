"""Schemas of documents, as data: what a value has to be, and what is made of it.

``schema.check(value)`` returns what a value stands for, or raises Offence with the place of the
first that does not fit. Objects may have further fields whose names start with ``x-``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from .reading import Offence, show

INT64 = 1 << 63


class Schema(Protocol):
    """What a value has to be."""

    def check(self, value: Any) -> Any:
        """Return what a value stands for. Raises Offence."""


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number from `least` to `most`; truth values are none."""

    least: int = 0
    most: int = INT64 - 1

    def check(self, value: Any) -> int:
        """Return the number."""
        if type(value) is not int or not self.least <= value <= self.most:
            raise Offence(
                f"is {show(value)}, but must be a whole number from {self.least} to {self.most}"
            )
        return value


@dataclass(frozen=True, slots=True)
class Truth:
    """true or false."""

    def check(self, value: Any) -> bool:
        """Return the truth value."""
        if type(value) is not bool:
            raise Offence(f"is {show(value)}, but must be true or false")
        return value


@dataclass(frozen=True, slots=True)
class Text:
    """A text of at most `most` characters, all of which `pattern` matches; called `name`."""

    most: int = 4096
    pattern: re.Pattern[str] | None = None
    name: str = "a text"

    def check(self, value: Any) -> str:
        """Return the text."""
        if type(value) is not str or len(value) > self.most or not _is_unicode(value):
            raise Offence(
                f"is {show(value)}, but must be {self.name} of at most {self.most} characters"
            )
        if self.pattern is not None and not self.pattern.fullmatch(value):
            raise Offence(f"is {show(value)}, but must be {self.name}")
        return value


def _is_unicode(text: str) -> bool:
    """Tell whether it can be written: half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Hexadecimal:
    """Bytes as digits, two for each, or put into the document after it was read."""

    def check(self, value: Any) -> bytes:
        """Return the bytes."""
        if type(value) is bytes:
            return value
        digits = Text(1 << 31, name="a text").check(value)
        if len(digits) % 2 or not re.fullmatch("[0-9a-fA-F]*", digits):
            raise Offence(f"is {show(value)}, but must be hexadecimal digits, two for each byte")
        return bytes.fromhex(digits)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words."""

    words: frozenset[str]

    @classmethod
    def of(cls, *words: str) -> Choice:
        """Return the choice between words."""
        return cls(frozenset(words))

    def check(self, value: Any) -> str:
        """Return the word."""
        if type(value) is not str or value not in self.words:
            words = ", ".join(sorted(self.words))
            raise Offence(f"is {show(value)}, but must be one of {words}")
        return value


@dataclass(frozen=True, slots=True)
class Items:
    """A list of `least` to `most` values, which becomes a tuple."""

    item: Schema
    least: int = 0
    most: int = 1 << 20

    def check(self, value: Any) -> tuple[Any, ...]:
        """Return what the values stand for."""
        if type(value) is not list or not self.least <= len(value) <= self.most:
            raise Offence(
                f"is {show(value)}, but must be a list of {self.least} to {self.most}"
                if self.least != self.most
                else f"is {show(value)}, but must be a list of {self.least}"
            )
        made = []
        for number, item in enumerate(value):
            try:
                made.append(self.item.check(item))
            except Offence as offence:
                raise offence.within(f"[{number}]") from None
        return tuple(made)


@dataclass(frozen=True, slots=True)
class Row:
    """A list of as many values as it has schemas, which becomes what `make` makes of them."""

    items: tuple[Schema, ...]
    make: Callable[..., Any] = lambda *values: values

    def check(self, value: Any) -> Any:
        """Return what is made of the values."""
        if type(value) is not list or len(value) != len(self.items):
            raise Offence(f"is {show(value)}, but must be a list of {len(self.items)}")
        made = []
        for number, (schema, item) in enumerate(zip(self.items, value, strict=True)):
            try:
                made.append(schema.check(item))
            except Offence as offence:
                raise offence.within(f"[{number}]") from None
        return self.make(*made)


@dataclass(frozen=True, slots=True)
class OrNull:
    """A value, or null."""

    schema: Schema

    def check(self, value: Any) -> Any:
        """Return what the value stands for, or None."""
        return None if value is None else self.schema.check(value)


@dataclass(frozen=True, slots=True)
class Table:
    """An object whose fields have names of the caller's choice, at most `most` of them."""

    name: Schema
    item: Schema
    most: int = 4096

    def check(self, value: Any) -> dict[str, Any]:
        """Return what the values stand for, by name."""
        if type(value) is not dict or len(value) > self.most:
            raise Offence(f"is {show(value)}, but must be an object of up to {self.most} fields")
        made = {}
        for name, item in value.items():
            try:
                self.name.check(name)
                made[name] = self.item.check(item)
            except Offence as offence:
                raise offence.within(f"[{show(name)}]") from None
        return made


@dataclass(frozen=True, slots=True)
class Fields:
    """An object with these fields, and `optional` ones, which becomes what `make` makes of them.

    Those that are not there are not handed to `make`.
    """

    required: Mapping[str, Schema]
    optional: Mapping[str, Schema] = field(default_factory=dict)
    make: Callable[..., Any] = dict

    def check(self, value: Any) -> Any:
        """Return what is made of the fields."""
        if type(value) is not dict:
            raise Offence(f"is {show(value)}, but must be an object")
        for name in self.required:
            if name not in value:
                raise Offence(f"has no field {show(name)}")
        made = {}
        for name, item in value.items():
            schema = self.required.get(name) or self.optional.get(name)
            if schema is None:
                if name.startswith("x-"):
                    continue
                raise Offence(f"has the field {show(name)}, which nobody knows")
            try:
                made[name] = schema.check(item)
            except Offence as offence:
                raise offence.within(f".{name}") from None
        return self.make(**made)
