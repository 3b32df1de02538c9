"""Write the documents that are made from the sources, or check that they are up to date.

docs/passes.md: the reference of all passes, and of their remarks, by mlir-tblgen and llvm-tblgen
from Passes.td and what it includes.
docs/folders.md: the table of folders, from layers.toml.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ROOT / "tools" / "setup" / "layers.toml"
PASSES = ROOT / "docs" / "passes.md"
FOLDERS = ROOT / "docs" / "folders.md"
TABLE = re.compile(r"(<!-- folders: .* -->\n).*?(<!-- /folders -->\n)", re.S)
TITLE = """# Passes

This page is made from `include/workgroup/Passes.td` by `tools/setup/documents.py`. Every pass works
before outlining (`gpu.launch`) and after (`gpu.func`), runs on any operation that holds kernels
unless its anchor is named, touches nothing outside of it, and changes nothing when it runs again.

"""


def run(*command: str) -> str:
    """Return what a command prints."""
    return subprocess.check_output(command, text=True)


def make_passes() -> str:
    """Return the pass reference."""
    names = ("mlir-tblgen-22", "llvm-tblgen-22", "llvm-config-22")
    if not all(map(shutil.which, names)):
        sys.exit(f"error: {', '.join(names)} are needed")
    folder = run(names[2], "--includedir").strip()
    source = ROOT / "include" / "workgroup" / "Passes.td"
    options = (str(source), "-I", folder, "-I", str(ROOT / "include"))
    text = run(names[0], "-gen-pass-doc", *options)
    text = re.sub(r"<!--.*?-->\n", "", text, flags=re.S)
    records = json.loads(run(names[1], "-dump-json", *options))
    sections = re.split(r"^(?=### )", text, flags=re.M)
    text = "".join(section.rstrip() + "\n" + list_remarks(section, records) for section in sections)
    return TITLE + re.sub(r"[ \t]+$", "", text, flags=re.M).strip() + "\n"


def list_remarks(section: str, records: dict[str, Any]) -> str:
    """Return the remarks of the pass that a section is about."""
    remarks = [records[name] for name in sorted(records["!instanceof"]["Remark"])]
    lines = [
        f"- `{remark['name']}` ({remark['kind'].rpartition('::')[2].lower()}): {remark['summary']}"
        for remark in remarks
        if section.startswith(f"### `-{remark['category']}`")
    ]
    return "\n".join(["", "#### Remarks", "", *lines, "", ""] if lines else ["", ""])


def make_folders() -> str:
    """Return the page with the table of folders between its marks."""
    rows = tomllib.loads(LAYERS.read_text(encoding="utf-8"))
    rows.pop("exceptions", None)
    lines = ["| folder | what is in it | which it may use |", "|---|---|---|"]
    for name, row in rows.items():
        lines.append(f"| `{name}` | {row['rule']} | {name_folders(name, row['uses'])} |")
    text = FOLDERS.read_text(encoding="utf-8")
    return TABLE.sub(lambda marks: marks[1] + "\n".join(lines) + "\n" + marks[2], text)


def name_folders(user: str, names: Iterable[str]) -> str:
    """Return names, without what they share with the folder that uses them: `lib`."""
    start = f"{user.partition('/')[0]}/"
    return ", ".join(name.removeprefix(start).replace("*", "\\*") for name in names)


def check(page: Path, text: str) -> bool:
    """Print how a page differs from what it should be; tell whether it does."""
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    name = page.relative_to(ROOT).as_posix()
    lines = difflib.unified_diff(
        old.splitlines(), text.splitlines(), name, f"{name}, new", lineterm=""
    )
    difference = "\n".join(lines)
    if difference:
        print(f"{difference}\n{name} is out of date: run tools/setup/documents.py")
    return bool(difference)


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell what has changed")
    pages = {PASSES: make_passes(), FOLDERS: make_folders()}
    if parser.parse_args().check:
        return 1 if any([check(page, text) for page, text in pages.items()]) else 0
    for page, text in pages.items():
        page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
