"""Sizes of launches, as command lines give them."""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes milliseconds to load

if TYPE_CHECKING:
    import argparse
    from typing import Any


def read_launch(options: argparse.Namespace) -> dict[str, Any]:
    """Return what compilation is told of the launch of a kernel."""
    return {
        "kernel": options.kernel or "",
        "block": read_sizes(options.block),
        "grid": read_sizes(options.grid),
    }


def read_sizes(text: str | None) -> Any:
    """Return the numbers of --grid and its like; what are none goes as it is, to be refused."""
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        return text
