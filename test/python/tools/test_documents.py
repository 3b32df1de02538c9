"""The documentation: what its pages link to is there, and so are the pages that sources name."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = ("include", "lib", "python", "test", "tools")
SUFFIXES = (".h", ".cpp", ".td", ".py", ".mlir")
INCLUDED = re.compile(r"<!-- from ([\w/.-]+) -->\n```\w+\n(.*?)```", re.DOTALL)


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


def test_code_of_sources_is_as_it_is_there() -> None:
    page = (ROOT / "docs" / "adding-a-pass.md").read_text(encoding="utf-8")
    parts = INCLUDED.findall(page)
    assert len(parts) >= 4
    for name, text in parts:
        assert text in (ROOT / name).read_text(encoding="utf-8"), name


def test_each_pass_is_in_the_table() -> None:
    reference = (ROOT / "docs" / "passes.md").read_text(encoding="utf-8")
    table = (ROOT / "docs" / "pass-table.md").read_text(encoding="utf-8")
    names = re.findall(r"^### `-([\w-]+)`", reference, re.MULTILINE)
    assert len(names) >= 44
    assert [name for name in names if f"`{name}`" not in table] == []


def test_each_page_is_in_the_site() -> None:
    """A page that the site does not name would be found by nobody."""
    settings = (ROOT / "tools" / "site" / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert f" {page.relative_to(ROOT / 'docs').as_posix()}\n" in settings, page


def test_site(tmp_path: Path) -> None:
    """Strict: links and anchors lead somewhere. The pages are there, with the sources they show."""
    pytest.importorskip("material", reason="mkdocs is not installed: ./tools/docs")
    settings = ROOT / "tools" / "site" / "mkdocs.yml"
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "-f", str(settings)]
    outcome = subprocess.run(
        [*command, "-d", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    for name in ("index", "tutorial/1-promotion", "sources/test/Examples/fill-matmul.mlir"):
        assert (tmp_path / f"{name}.html").is_file()
    home = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'href="synchronization.html' in home
    assert "https://fonts" not in home


def test_each_wish_has_its_test() -> None:
    page = (ROOT / "docs" / "wishes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \|.*\[`(\w+)`\]\(\.\./(\S+)\) \|$", page, re.MULTILINE)
    assert [int(number) for number, _, _ in rows] == list(range(1, 21))
    for number, name, path in rows:
        assert name.startswith(f"test_wish_{int(number):02}_")
        assert f"\ndef {name}(" in (ROOT / path).read_text(encoding="utf-8"), name


@pytest.mark.parametrize("command", ["compile", "run", "check", "inspect"])
def test_each_option_is_explained(command: str) -> None:
    words = [sys.executable, "-m", "pipeline", command, "--help"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"--[a-z][a-z-]+", told)) - {"--help"}
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert options
    assert [option for option in sorted(options) if option not in page] == []
