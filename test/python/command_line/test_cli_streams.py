"""``python -m pipeline`` among other programs: interrupted, cut off, short of space."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support import programs
from support.command_line import COMMAND, check_manners, environment

# A shell's background jobs ignore interrupts, and so does all that they start.
HEED_INTERRUPTS = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""
INTERRUPTIBLE = (sys.executable, "-c", HEED_INTERRUPTS, *COMMAND)


def test_interrupt_while_reading(tmp_path: Path) -> None:
    """Who opens a pipe for writing waits for its reader, so that the time to interrupt is known."""
    pipe = tmp_path / "pipe.mlir"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*INTERRUPTIBLE, "compile", str(pipe), "-o", str(tmp_path / "out")],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    with pipe.open("wb"):
        process.send_signal(signal.SIGINT)
        _, words = process.communicate(timeout=60)
    assert (process.returncode, words) == (130, "")
    assert not (tmp_path / "out").exists()


def test_interrupt_of_opt(tmp_path: Path) -> None:
    """A terminal interrupts all of its processes."""
    pipe = tmp_path / "pipe.mlir"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*INTERRUPTIBLE, "opt", str(pipe)],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    )
    with pipe.open("wb"):
        os.killpg(process.pid, signal.SIGINT)
        _, words = process.communicate(timeout=60)
    check_manners(process.returncode, words)
    assert process.returncode == 130


SPEAKING = [
    ("plugin-path",),
    ("doctor",),
    ("--help",),
    ("compile", "-"),
    ("compile", "-", "--emit", "cubin"),
]


@pytest.mark.parametrize("arguments", SPEAKING, ids=" ".join)
def test_reader_that_left(arguments: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [*COMMAND, *arguments],
        input=programs.STORE.encode(),
        stdout=writer,
        stderr=subprocess.PIPE,
        env=environment(),
        check=False,
    )
    os.close(writer)
    check_manners(process.returncode, process.stderr.decode())
    assert process.stderr == b""


@pytest.mark.parametrize("arguments", SPEAKING, ids=" ".join)
def test_standard_output_on_a_full_disk(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [*COMMAND, *arguments],
            input=programs.STORE.encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
        )
    words = process.stderr.decode()
    check_manners(process.returncode, words)
    assert process.returncode == 2
    assert "No space left on device" in words


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
@pytest.mark.parametrize("arguments", ["compile -", "plugin-path", "doctor"])
def test_stream_that_is_closed(arguments: str, closed: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m pipeline {arguments} {closed}"
    process = subprocess.run(
        ["sh", "-c", command], input=b"", capture_output=True, env=environment(), check=False
    )
    check_manners(process.returncode, process.stderr.decode())
