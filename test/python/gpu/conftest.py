"""The stand-in for the driver, new for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu.stand_in_driver import StandIn, stand_in


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
