"""docs/troubleshooting.md has an entry, with cause and remedy, for each message there is."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

import pytest

from support import messages
from support.messages import HOLE, ROOT, Text

PAGE = ROOT / "docs" / "troubleshooting.md"
ENTRY = re.compile(
    r"^### ([^\n]+)\n\n```text\n(.*?)```\n\n(.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL
)
OPERATION = re.compile(r"^'[^']*' op\s*")
SIGNS = re.compile(r"\b(?:error|warning): |[^\w\s]")
FEWEST_WORDS = 2
"""Of a text that says enough to be looked for."""


class Entry(NamedTuple):
    """A section of the page: texts with holes, and what is said of them."""

    title: str
    texts: tuple[str, ...]
    body: str


def read_entries() -> list[Entry]:
    page = PAGE.read_text(encoding="utf-8")
    return [
        Entry(title, tuple(texts.splitlines()), body) for title, texts, body in ENTRY.findall(page)
    ]


@functools.cache
def make_pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*?".join(re.escape(part.strip()) for part in text.split(HOLE)))


ENTRIES = read_entries()
PATTERNS = {text: make_pattern(text) for entry in ENTRIES for text in entry.texts}
COLLECTED = list(messages.collect())


def is_covered(text: str) -> bool:
    """Tell whether an entry has a text, or a longer one that this is a part or the start of."""
    part = OPERATION.sub("", text).strip(f"{HOLE} ")
    return (
        count_words(part) < FEWEST_WORDS
        or any(pattern.search(text) or part in known for known, pattern in PATTERNS.items())
        or any(is_start(part, known) for known in PATTERNS)
    )


def is_start(part: str, text: str) -> bool:
    """Tell whether a text, with something in its holes, starts with a part of a message."""
    words = text.split()
    starts = (" ".join(words[:count]).rstrip(",;:") for count in range(1, len(words)))
    return any(
        make_pattern(start).fullmatch(part)
        for start in starts
        if count_words(start) >= FEWEST_WORDS
    )


def count_words(text: str) -> int:
    """Return how many words of a text are no holes."""
    return len(SIGNS.sub("", text).split())


def test_collection() -> None:
    """There are texts of each source: a collector that finds nothing would hide all of it."""
    for start, fewest in (("lib/", 200), ("python/", 250), ("test/", 400)):
        assert sum(text.place.startswith(start) for text in COLLECTED) >= fewest, start


def test_each_message_has_an_entry() -> None:
    missing = [text for text in COLLECTED if not is_covered(text.text)]
    assert missing == [], "\n".join(f"{text.place}: {text.text}" for text in missing)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.title)
def test_entry(entry: Entry) -> None:
    """It says cause and remedy, and each of its texts is one that something emits."""
    assert "**Cause:**" in entry.body
    assert "**Remedy:**" in entry.body
    for text in entry.texts:
        assert any(is_emitted(text, collected) for collected in COLLECTED), text


def is_emitted(text: str, collected: Text) -> bool:
    part = OPERATION.sub("", collected.text).strip(f"{HOLE} ")
    return bool(PATTERNS[text].search(collected.text)) or (
        count_words(part) >= FEWEST_WORDS and part in text
    )


def test_texts_say_something() -> None:
    """A text of holes alone would stand for every message."""
    bare = [text for text in PATTERNS if not text.startswith("[") and not count_words(text)]
    assert bare == []


def test_unknown_messages_are_missed() -> None:
    for text in ("the wobble of … does not hold", "error: no frobnication is set: …", "x: y z"):
        assert not is_covered(text), text


def test_headings_have_entries() -> None:
    headings = re.findall(r"^### (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == [entry.title for entry in ENTRIES]
