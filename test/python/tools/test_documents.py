"""The documentation: what its pages link to is there, and so are the pages that sources name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = ("include", "lib", "python", "test", "tools")
SUFFIXES = (".h", ".cpp", ".td", ".py", ".mlir")


def read_anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-") for text in headings}


def list_links(page: Path) -> Iterator[tuple[str, str]]:
    """Yield path and anchor of what a page links to in the repository."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if not link.startswith(("http://", "https://")):
            path, _, anchor = link.partition("#")
            yield path, anchor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links(page: Path) -> None:
    for path, anchor in list_links(page):
        target = page.parent / path if path else page
        assert target.exists(), path
        if anchor and target.suffix == ".md":
            assert anchor.strip("-") in {one.strip("-") for one in read_anchors(target)}, anchor


def test_pages_that_sources_name() -> None:
    files = (file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*")))
    for file in files:
        if file.suffix in SUFFIXES and file != Path(__file__):
            named = re.findall(r"\bdocs/[\w/-]+\.md\b", file.read_text(encoding="utf-8"))
            assert not [name for name in named if not (ROOT / name).exists()], file
