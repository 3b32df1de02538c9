"""The README's examples, as they stand there, in the environment that its first command makes.

Those of PyTorch run where the tests do, which may have it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[3]
VENV = ROOT / ".venv"
SET_UP = ("./tools/demo", "./tools/test")
"""What CI runs before and around these tests."""
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """A block of code of the README."""

    line: int
    language: str
    text: str


def read_examples() -> list[Example]:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = [
        Example(readme.count("\n", 0, match.start()) + 2, match[1], match[2])
        for match in FENCE.finditer(readme)
    ]
    return [block for block in blocks if block.language in ("sh", "python")]


def is_set_up(example: Example) -> bool:
    lines = [line.partition("#")[0].strip() for line in example.text.splitlines()]
    return example.language == "sh" and tuple(lines) == SET_UP


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for what the examples write, from which they find the files that they name."""
    (tmp_path / "test").symlink_to(ROOT / "test")
    return tmp_path


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command as after `source .venv/bin/activate` in a new shell."""
    assert VENV.exists(), "./tools/demo makes the environment that the README speaks of"
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    path = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command,
        cwd=folder,
        env=kept | {"PATH": path, "VIRTUAL_ENV": str(VENV)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_set_up_comes_first() -> None:
    first, *others = read_examples()
    assert is_set_up(first)
    assert len(others) >= 6
    assert not any(is_set_up(example) for example in others)


def test_environment_holds_nothing_else(folder: Path) -> None:
    """Every package is there because the package declares that it needs it."""
    code = """
import importlib.metadata, json, re
def name(text): return re.sub("[-_.]+", "-", re.match("[A-Za-z0-9._-]+", text)[0]).lower()
print(json.dumps({name(each.metadata["Name"]): [name(need) for need in each.requires or ()]
                  for each in importlib.metadata.distributions()}))
"""
    result = run(folder, "python", "-c", code)
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


@pytest.mark.parametrize(
    "example",
    [example for example in read_examples() if not is_set_up(example)],
    ids=lambda example: f"line-{example.line}",
)
def test_example(folder: Path, example: Example) -> None:
    shell = ("bash", "-euo", "pipefail", "-c")
    interpreter = shell if example.language == "sh" else ("python", "-W", "error", "-c")
    if "import torch" in example.text:
        for name in ("torch", "torch_mlir"):
            pytest.importorskip(name, reason=f"{name} is not installed: ./tools/test --torch")
        interpreter = (sys.executable, "-W", "ignore", "-c")
    result = run(folder, *interpreter, example.text)
    assert result.returncode == 0, f"README.md:{example.line}\n{result.stdout}\n{result.stderr}"
