"""What a site has beside the files of docs/: the README, and the sources that pages speak of.

A hook of mkdocs (mkdocs.yml). The README is the first page. A link to a file outside of docs/ leads
to a page that shows it, so that a site has everything that it speaks of, wherever it is put. The
reference of passes includes the tests that it names as examples.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
DOCS = "docs"
HOME = "index.md"
PASSES = "passes.md"
FENCES = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LINKS = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")
EXAMPLE = re.compile(r"^Example: `(test/[^`]+)`.*?\n\n", re.MULTILINE | re.DOTALL)
LANGUAGES = {".py": "python", ".h": "cpp", ".cpp": "cpp", ".cu": "cpp", ".td": "text"}


def on_files(files: Files, config: Any) -> Files:
    """Add the first page, and a page for each source that a page links to."""
    home = (ROOT / "README.md").read_text(encoding="utf-8")
    sources = set(list_sources(home, ""))
    for file in files.documentation_pages():
        text = Path(str(file.abs_src_path)).read_text(encoding="utf-8")
        sources.update(list_sources(text, posixpath.join(DOCS, posixpath.dirname(file.src_uri))))
    files.append(File.generated(config, HOME, content=relink(home, "", "")))
    for path in sorted(sources):
        files.append(File.generated(config, name_page(path), content=show(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to sources lead to the pages that show them."""
    name = page.file.src_uri
    if name == HOME or name.startswith("sources/"):
        return markdown
    if name == PASSES:
        markdown = EXAMPLE.sub(include, markdown)
    folder = posixpath.dirname(name)
    return relink(markdown, posixpath.join(DOCS, folder), folder)


def include(match: re.Match[str]) -> str:
    """Return a paragraph that names a test as an example, and the test, folded."""
    lines = (ROOT / match[1]).read_text(encoding="utf-8").splitlines()
    text = "\n".join(f"    {line}" for line in lines)
    return f'{match[0]}??? example "{match[1]}"\n\n    ````text\n{text}\n    ````\n\n'


def relink(text: str, folder: str, page_folder: str) -> str:
    """Return a text with its links from a folder of the repository as links from one of docs/."""

    def replace(match: re.Match[str]) -> str:
        path = resolve(match[1], folder)
        if path is None:
            return match[1]
        target = path.removeprefix(f"{DOCS}/") if is_page(path) else name_page(path)
        return posixpath.relpath(target, page_folder or ".")

    parts = FENCES.split(text)
    return "".join(
        part if number % 2 else LINKS.sub(replace, part) for number, part in enumerate(parts)
    )


def list_sources(text: str, folder: str) -> Iterator[str]:
    """Yield the paths outside of docs/ that a text in a folder links to."""
    for part in FENCES.split(text)[::2]:
        for link in LINKS.findall(part):
            path = resolve(link, folder)
            if path is not None and not is_page(path):
                yield path


def resolve(link: str, folder: str) -> str | None:
    """Return the path in the repository of what a link leads to; None if it leads elsewhere."""
    if re.match(r"[a-z]+:", link):
        return None
    path = posixpath.normpath(posixpath.join(folder, link))
    return path if (ROOT / path).exists() else None


def is_page(path: str) -> bool:
    """Tell whether the site has a file as it is."""
    return path.startswith(f"{DOCS}/")


def name_page(path: str) -> str:
    """Return the name of the page that shows a source."""
    return f"sources/{path}.md"


def show(path: Path) -> str:
    """Return a page with what a file holds, or the names in a folder."""
    title = f"---\nsearch:\n  exclude: true\n---\n\n# {path.relative_to(ROOT).as_posix()}\n\n"
    if path.is_dir():
        names = sorted(f"{one.name}{'/' * one.is_dir()}" for one in path.iterdir())
        return title + "".join(f"- `{name}`\n" for name in names if name != "__pycache__/")
    text = path.read_text(encoding="utf-8")
    return f"{title}````{LANGUAGES.get(path.suffix, 'text')}\n{text.rstrip()}\n````\n"
