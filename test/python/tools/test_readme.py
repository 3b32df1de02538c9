"""The README's examples, as they stand there, in the environment that its first command makes.

Those of PyTorch run where the tests do, which may have it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support import typed_commands
from support.typed_commands import ROOT, Example

README = ROOT / "README.md"
PAGES = (
    README,
    *(ROOT / "docs" / f"{name}.md" for name in ("command-line", "pass-table", "bundle", "torch")),
)
SET_UP = ("./tools/demo", "./tools/test")
"""What CI runs before and around these tests."""
LONGEST_LINE = 120


def is_set_up(example: Example) -> bool:
    lines = [line.partition("#")[0].strip() for line in example.text.splitlines()]
    return example.language == "sh" and tuple(lines) == SET_UP


EXAMPLES = [
    example
    for page in PAGES
    for example in typed_commands.read_examples(page)
    if not is_set_up(example)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for what the examples write, from which they find the files that they name."""
    return typed_commands.prepare(tmp_path)


def test_set_up_comes_first() -> None:
    first, *others = typed_commands.read_examples(README)
    assert is_set_up(first)
    assert len(others) >= 5
    assert not any(is_set_up(example) for example in others)


def test_lines_are_short() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > LONGEST_LINE] == []


def test_environment_holds_nothing_else(folder: Path) -> None:
    """Every package is there because the package declares that it needs it."""
    code = """
import importlib.metadata, json, re
def name(text): return re.sub("[-_.]+", "-", re.match("[A-Za-z0-9._-]+", text)[0]).lower()
print(json.dumps({name(each.metadata["Name"]): [name(need) for need in each.requires or ()]
                  for each in importlib.metadata.distributions()}))
"""
    result = typed_commands.run(folder, "python", "-c", code)
    assert result.returncode == 0, result.stderr
    needs = json.loads(result.stdout)
    reached, frontier = set(), ["mlir-workgroup"]
    while frontier:
        name = frontier.pop()
        if name not in reached:
            reached.add(name)
            frontier += needs.get(name, [])
    assert {"mlir-workgroup", "numpy"} <= set(needs)
    assert set(needs) - reached <= {"pip", "setuptools"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.place)
def test_example(folder: Path, example: Example) -> None:
    typed_commands.check(folder, example)
