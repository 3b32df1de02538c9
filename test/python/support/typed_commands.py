"""The commands of a page as they stand there, and what the page says that they print.

Blocks of `sh` and `python` are run. A comment `# exit code 1` tells that the last command ends with
1. A block of `text` behind one of these is what it prints, on either stream, wherever lines break;
`...` stands for anything, and, as a line of its own, for what may also come elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[3]
VENV = ROOT / ".venv"
SHELL = ("bash", "-euo", "pipefail", "-c")
TYPED = "<!-- typed -->\n"
"""Stands before blocks that are run, in pages that have others."""
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT_CODE = re.compile(r"# exit code (\d+)")


class Example(NamedTuple):
    """A block of code of a page."""

    page: Path
    line: int
    language: str
    text: str
    printed: str
    """What the page says that it prints; empty if it does not."""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"

    @property
    def code(self) -> int:
        """The code that it exits with."""
        match = EXIT_CODE.search(self.text)
        return int(match[1]) if match else 0


def read_examples(page: Path) -> Iterator[Example]:
    """Yield the blocks of a page that are run."""
    text = page.read_text(encoding="utf-8")
    blocks = list(FENCE.finditer(text))
    for number, match in enumerate(blocks):
        is_meant = TYPED not in text or text.endswith(TYPED, 0, match.start())
        if match[1] not in ("sh", "python") or not is_meant:
            continue
        follows = blocks[number + 1] if number + 1 < len(blocks) else None
        printed = follows[2] if follows and follows[1] == "text" else ""
        yield Example(page, text.count("\n", 0, match.start()) + 2, match[1], match[2], printed)


def prepare(folder: Path) -> Path:
    """Let a folder for what examples write have the files that they name."""
    for name in ("test", "docs"):
        (folder / name).symlink_to(ROOT / name)
    return folder


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


def check(folder: Path, example: Example) -> None:
    """Run an example; it ends, and prints, as its page says."""
    interpreter = SHELL if example.language == "sh" else ("python", "-W", "error", "-c")
    if "import torch" in example.text:
        for name in ("torch", "torch_mlir"):
            pytest.importorskip(name, reason=f"{name} is not installed: ./tools/test --torch")
        interpreter = (sys.executable, "-W", "ignore", "-c")
    if re.search(r"\.cu\b", example.text) and not shutil.which("clang-22"):
        pytest.skip("clang-22 is not installed")
    result = run(folder, *interpreter, example.text)
    output = f"{result.stdout}\n{result.stderr}"
    assert result.returncode == example.code, f"{example.place}\n{output}"
    for part in re.split(r"^\.\.\.$", example.printed, flags=re.MULTILINE):
        words = [re.escape(piece) for piece in " ".join(part.split()).split("...")]
        assert re.search(".*?".join(words), " ".join(output.split())), (
            f"{example.place} does not print\n{part}\nbut\n{output}"
        )
