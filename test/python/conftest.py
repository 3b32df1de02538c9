"""What all tests need of the process that they run in."""

from __future__ import annotations

import os
import signal

import pytest

from pipeline.program import calling


def pytest_configure(config: pytest.Config) -> None:
    """Let the programs that tests start be interrupted.

    A command in the background of a shell ignores Ctrl-C, and so do all that it starts.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # The tests are of the emulator, also where there is a GPU; so are the programs that they start.
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let calls that do not say where they run find no GPU, not even the stand-in for one."""
    monkeypatch.setattr(calling, "has_gpu", lambda: False)
