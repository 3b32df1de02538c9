"""Run ``python -m pipeline`` as a user does, and hold it to what every command owes."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pipeline

COMMAND = (sys.executable, "-m", "pipeline")
_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2


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


def run(
    *arguments: str | Path,
    stdin: bytes | int = b"",
    cwd: Path | None = None,
    variables: Mapping[str, str] | None = None,
    command: tuple[str, ...] = COMMAND,
    before: Callable[[], None] | None = None,
) -> Outcome:
    """Run a command; whatever happens, it may neither die nor show its Python."""
    process = subprocess.run(
        [*command, *map(str, arguments)],
        **({"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}),  # type: ignore[arg-type]
        capture_output=True,
        cwd=cwd,
        env=environment(**(variables or {})),
        preexec_fn=before,
        timeout=60,
        check=False,
    )
    words = process.stderr.decode(errors="surrogateescape")
    check_manners(process.returncode, words)
    return Outcome(process.returncode, process.stdout, words)


def check_manners(code: int, words: str) -> None:
    """Check what holds of every command: an exit code, not a signal; words, not a traceback."""
    assert code >= 0, f"ended by signal {-code}"
    for symptom in ("Traceback", "Exception ignored", "UnicodeDecodeError"):
        assert symptom not in words, words


def obey_permissions() -> None:
    """Take from the process to be the right of root to ignore the permissions of files."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
            if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
                raise OSError("root cannot give up its rights here")


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
