"""The tutorial and guides like it: what they say to type, in order, and what that prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import typed_commands

DOCS = typed_commands.ROOT / "docs"
TUTORIAL = sorted((DOCS / "tutorial").glob("[0-9]*.md"))
PAGES = [*TUTORIAL, DOCS / "writing-a-schedule.md"]


def test_pages() -> None:
    assert len(TUTORIAL) == 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(tmp_path: Path, page: Path) -> None:
    """Later commands of a page find what earlier ones have written."""
    folder = typed_commands.prepare(tmp_path)
    examples = list(typed_commands.read_examples(page))
    assert len(examples) >= 2
    for example in examples:
        typed_commands.check(folder, example)
