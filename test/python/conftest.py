"""What all tests need of the process that they run in."""

from __future__ import annotations

import signal

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Let the programs that tests start be interrupted.

    A command in the background of a shell ignores Ctrl-C, and so do all that it starts.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
