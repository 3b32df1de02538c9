"""Differences of texts, of a length that a reader goes through."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .document import PassChange

if TYPE_CHECKING:
    from ..diagnostics import Snapshot

MOST_LINES = 400
"""Of a difference that is kept."""

_MOST_COMPARED = 3000
"""Lines of either side, between what both begin and end with, that are compared one by one."""

_CONTEXT = 3


class Difference(NamedTuple):
    """What became of lines; ``text`` is in the unified format, of at most MOST_LINES lines."""

    removed: int
    added: int
    text: str
    is_cut: bool


def list_changes(snapshots: Sequence[Snapshot]) -> tuple[PassChange, ...]:
    """Return what each pass changed."""
    changes = []
    for one in snapshots:
        made = compare_texts(one.before, one.after)
        changes.append(
            PassChange(one.pass_, one.op, made.removed, made.added, made.text, made.is_cut)
        )
    return tuple(changes)


def compare_texts(before: str, after: str) -> Difference:
    """Return the difference of two texts, in which names of values (``%12``) do not count.

    What they begin and end with alike is left out first: that of long texts takes seconds.
    """
    first, second = before.splitlines(), after.splitlines()
    ours, theirs = [*map(_forget_names, first)], [*map(_forget_names, second)]
    head = _count_equal(ours, theirs)
    tail = _count_equal(ours[head:][::-1], theirs[head:][::-1])
    start, stop = max(head - _CONTEXT, 0), tail - min(tail, _CONTEXT)
    ours, theirs = ours[start : len(ours) - stop], theirs[start : len(theirs) - stop]
    if max(len(ours), len(theirs)) > _MOST_COMPARED:
        return Difference(len(first) - head - tail, len(second) - head - tail, "", is_cut=True)
    matcher = difflib.SequenceMatcher(None, ours, theirs)
    removed = added = 0
    lines: list[str] = []
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        lines.append(_write_header(group, start))
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [f" {line}" for line in second[start + c : start + d]]
                continue
            removed, added = removed + b - a, added + d - c
            lines += [f"-{line}" for line in first[start + a : start + b]]
            lines += [f"+{line}" for line in second[start + c : start + d]]
    return Difference(removed, added, "\n".join(lines[:MOST_LINES]), len(lines) > MOST_LINES)


_NAME = re.compile(r"%[\w$.#-]+")


def _forget_names(line: str) -> str:
    return _NAME.sub("%", line)


def _write_header(group: Sequence[tuple[str, int, int, int, int]], start: int) -> str:
    a, b, c, d = group[0][1], group[-1][2], group[0][3], group[-1][4]
    return f"@@ -{start + a + 1},{b - a} +{start + c + 1},{d - c} @@"


def _count_equal(first: Sequence[str], second: Sequence[str]) -> int:
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count
