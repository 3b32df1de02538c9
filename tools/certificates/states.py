"""Where the threads of a block are, and what they know there."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from certificates.cells import Event
from certificates.effects import Access
from certificates.values import UNIFORM, Array, Environment, Unknown, Value

Pending = tuple[Event, Array]
"""A copy on its way, and for each of its threads how many groups were closed since it began."""


@dataclass(slots=True, eq=False)
class Frame:
    """Threads (None: all) that are at a step of a block, on their way to ``stop``.

    One that waits is at a place where threads of frames above it meet: ``merged`` are the values
    that they bring, ``doubt`` is set if it is not known which way they went, ``blurred`` are values
    that they left at different times, ``seen``, ``turns`` and ``before`` are of loops on their way.
    ``refined``: what is known of values on this way only; ``saved``: what is known of them else.
    """

    label: str
    step: int
    threads: Array | None
    stop: str
    waits: bool = False
    merged: dict[str, tuple[Value, Array | None]] = field(default_factory=dict)
    doubt: Unknown | None = None
    blurred: set[str] = field(default_factory=set)
    seen: set[bytes] = field(default_factory=set)
    turns: int = 0
    before: Environment = field(default_factory=dict)
    refined: Environment = field(default_factory=dict)
    saved: Environment = field(default_factory=dict)


@dataclass(slots=True)
class State:
    """A block that begins anew behind a barrier."""

    line: int
    label: str
    step: int
    environment: Environment
    copies: tuple[Pending, ...] = ()


@dataclass(slots=True)
class Path:
    """One way of the block from a barrier on, with what happened on it."""

    environment: Environment
    frames: list[Frame]
    copies: tuple[Pending, ...]
    events: list[Event | tuple[Event, ...] | Array] = field(default_factory=list)
    vague: list[tuple[int, Access]] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)


def freeze(values: Environment, names: set[str]) -> bytes:
    """Values as something that can be compared."""
    parts = []
    for name in sorted(names):
        value = values.get(name, UNIFORM)
        frozen = value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
        parts.append(name.encode() + b"=" + frozen)
    return b";".join(parts)


def freeze_copies(copies: tuple[Pending, ...]) -> bytes:
    """Copies that are on their way as something that can be compared."""
    return b"/".join(copy.key + ages.tobytes() for copy, ages in copies)
