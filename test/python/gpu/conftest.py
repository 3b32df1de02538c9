"""The stand-in for the driver, new for each test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gpu.stand_in_driver import StandIn, stand_in
from gpu.tensors import Torch
from pipeline.program import module as modules


@pytest.fixture
def driver_options() -> str:
    """Return the options of the stand-in; tests parametrize it."""
    return ""


@pytest.fixture
def gpu(driver_options: str) -> Iterator[StandIn]:
    """Return the stand-in, as it is when a process begins."""
    single = stand_in()
    single.reset(driver_options)
    yield single
    errors = list(single.errors)
    single.reset()
    assert not errors, errors[0]


@pytest.fixture
def torch(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> Torch:
    """Return what stands for PyTorch, with tensors of the stand-in."""
    imitation = Torch(gpu)
    monkeypatch.setitem(sys.modules, "torch", imitation)
    return imitation


class Checks:
    """Counts how often the arguments of a call are checked, as nobody does for calls alike."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        check: Callable[..., Any] = vars(modules)["check_call"]

        def counted(*args: Any) -> Any:
            self.count += 1
            return check(*args)

        monkeypatch.setattr(modules, "check_call", counted)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Checks:
    return Checks(monkeypatch)
