"""Run ``python -m pipeline``, and hold it to what every command owes."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

import pipeline
from pipeline.command_line.cli import main

COMMAND = (sys.executable, "-m", "pipeline")

# Root ignores the permissions of files by these two rights, which it can give up.
OBEY_PERMISSIONS = """
import ctypes, os
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
for right in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH) if os.geteuid() == 0 else ():
    if ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, right, 0, 0, 0):
        raise SystemExit(77)
"""


@dataclass(frozen=True)
class Outcome:
    """How a command ended: its exit code, its standard output and its standard error."""

    code: int
    data: bytes
    words: str

    @property
    def text(self) -> str:
        """The standard output as text."""
        return self.data.decode()


def environment(**variables: str) -> dict[str, str]:
    """Return this process's variables without those that change how Python or we print."""
    hidden = ("NO_COLOR", "PYTHONUNBUFFERED", "PYTHONPATH")
    return {k: v for k, v in os.environ.items() if k not in hidden} | variables


def call(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> Outcome:
    """Run a command in this process: fast, for all that needs no process of its own."""
    data, words = io.BytesIO(), io.BytesIO()
    stdout = io.TextIOWrapper(data, encoding="utf-8", write_through=True)
    stderr = io.TextIOWrapper(words, "utf-8", errors="backslashreplace", write_through=True)
    with (
        mock.patch.multiple(sys, stdin=io.TextIOWrapper(io.BytesIO(stdin))),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
        contextlib.chdir(cwd or Path.cwd()),
    ):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as error:
            code = int(error.code or 0)
    return Outcome(code, data.getvalue(), words.getvalue().decode())


def run(
    *arguments: str | Path,
    stdin: bytes = b"",
    cwd: Path | None = None,
    variables: Mapping[str, str] | None = None,
    command: tuple[str, ...] = COMMAND,
    before: str = "",
) -> Outcome:
    """Run a command as a user does; whatever happens, it may neither die nor show its Python.

    `before` is a program that the process runs before it becomes the command.
    """
    become = "\nimport os, sys; os.execv(sys.argv[1], sys.argv[1:])"
    prefix = (sys.executable, "-S", "-c", before + become) if before else ()
    process = subprocess.run(
        [*prefix, *command, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=environment(**(variables or {})),
        timeout=60,
        check=False,
    )
    words = process.stderr.decode(errors="surrogateescape")
    if before == OBEY_PERMISSIONS and process.returncode == 77:
        pytest.skip("root cannot give up its rights here")
    check_manners(process.returncode, words)
    return Outcome(process.returncode, process.stdout, words)


def check_manners(code: int, words: str) -> None:
    """Check what holds of every command: an exit code, not a signal; words, not a traceback."""
    assert code >= 0, f"ended by signal {-code}"
    for symptom in ("Traceback", "Exception ignored"):
        assert symptom not in words, words


def copy_package(folder: Path, *, native: bool) -> Path:
    """Copy the package, with or without the native extension, to where ``-m`` finds it first."""
    source = Path(pipeline.__file__).parent
    target = folder / "pipeline"
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copy(pipeline.plugin_path(), target)
    if native:
        shutil.copy(native_file(), target)
    return target


def native_file() -> Path:
    """Return the file of the native extension."""
    from pipeline import _native

    assert _native.__file__ is not None
    return Path(_native.__file__)
