"""What is run of a suite: a kernel, its launch, what is to be found; and what came of it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal, get_args

Expected = Literal["racy", "faulty", "clean", "open"]
"""``faulty``: something is wrong, maybe no race. ``open``: the suite's label is not PTX's."""

Ran = Literal["found", "missed", "clean", "false", "open", "equal", "differs"]
Failed = Literal["not compiled", "refused", "timed out", "crashed"]
Status = Ran | Failed
FAILURES: tuple[Status, ...] = get_args(Failed)

Kind = Literal["cuda", "model", "progress", "litmus"]
"""A kernel in CUDA C++; a question to the model of memory, or whether all threads end; a litmus
test on the emulator."""

Value = int | float | tuple[int, ...]
"""An argument: a number, or the elements of an array of 32-bit integers."""


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel of a suite, and its launch.

    ``arguments``: None if they are to be chosen by the kernel's types. ``check``: `all` if writes
    of one value by several threads are races. ``note``: why the suite's label is not taken.
    ``kernel``: its name; of a question to the model, the answer that the suite has.
    """

    suite: str
    category: str
    name: str
    source: str
    expected: Expected
    kernel: str = ""
    block: tuple[int, ...] = (1,)
    grid: tuple[int, ...] = (1,)
    arguments: tuple[Value, ...] | None = None
    clang_options: tuple[str, ...] = ()
    check: Literal["races", "all"] = "races"
    note: str = ""
    kind: Kind = "cuda"

    @property
    def key(self) -> str:
        """What a result is found again by: all of the case, and the text of its source."""
        digest = hashlib.sha256(repr(self).encode())
        with open(self.source, "rb") as source:  # noqa: PTH123
            digest.update(source.read())
        return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case. ``kinds``: what was found, and in how many pairs of places."""

    suite: str
    category: str
    name: str
    expected: Expected
    status: Status
    kinds: dict[str, int] = dataclasses.field(default_factory=dict)
    verdict: str = ""
    message: str = ""
    seconds: float = 0.0
    note: str = ""
    key: str = ""

    def to_json(self) -> str:
        """Return a line of JSON."""
        return json.dumps(dataclasses.asdict(self))

    @property
    def has_race(self) -> bool:
        """Whether a race was found."""
        return any(is_race(kind) for kind in self.kinds)

    @property
    def is_wrong(self) -> bool:
        """Whether a race was missed, or reported where there is none, or an answer differs."""
        return self.status in ("missed", "false", "differs")


def outcome_of(case: Case, status: Status, **further: Any) -> Outcome:
    """Return an outcome of a case."""
    expected = further.pop("expected", case.expected)
    fields = (case.suite, case.category, case.name, expected, status)
    return Outcome(*fields, note=case.note, key=case.key, **further)


def judge(expected: Expected, kinds: dict[str, int]) -> Status:
    """Say what findings of some kinds mean of a kernel."""
    races = any(is_race(kind) for kind in kinds)
    if expected == "open":
        return "open"
    if expected == "clean":
        return "false" if races else "clean"
    return "found" if races or (expected == "faulty" and kinds) else "missed"


def is_race(kind: str) -> bool:
    """Say whether a kind of finding is a race."""
    return kind.startswith(("race.", "async."))
