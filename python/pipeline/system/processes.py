"""Programs beside this one that may hang, whatever they do."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_left: list[subprocess.Popen[bytes]] = []
"""Processes that do not even end when they are killed."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program ended; ``code`` is None if it had not when its time was over."""

    code: int | None
    output: str
    words: str

    @property
    def last_words(self) -> str:
        """What it said last, or how it ended if it said nothing."""
        lines = self.words.strip().splitlines()
        if lines:
            return lines[-1]
        if self.code is None:
            return "does not answer"
        return f"ended by signal {-self.code}" if self.code < 0 else f"exit code {self.code}"


def run(
    command: Sequence[str],
    seconds: float,
    text: str = "",
    variables: Mapping[str, str] | None = None,
) -> Ending:
    """Run a program for some seconds at most. Raises OSError if it cannot be started.

    One that does not even end when it is killed, as in a call of a driver that hangs, is left.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=variables,
    )
    try:
        output, words = process.communicate(text.encode(), seconds)
    except subprocess.TimeoutExpired as expired:
        process.kill()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            _left.append(process)
        return Ending(None, _decode(expired.stdout), _decode(expired.stderr))
    return Ending(process.returncode, _decode(output), _decode(words))


def _decode(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")
