"""Types of the arguments that commands take, for argparse: what is wrong is said, and its usage."""

from __future__ import annotations

from argparse import ArgumentTypeError


def positive(text: str) -> int:
    """Return a whole number from 1 on. Raises ArgumentTypeError."""
    try:
        number = int(text)
    except ValueError:
        raise ArgumentTypeError(f"'{text}' is no whole number") from None
    if number < 1:
        raise ArgumentTypeError(f"{number} is not at least 1")
    return number


def seed_range(text: str) -> range:
    """Return the seeds of `FIRST-LAST`, or of one number. Raises ArgumentTypeError."""
    first, dash, last = text.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise ArgumentTypeError(
            f"'{text}' is no seed, and not the first and the last one, as in 0-99"
        )
    seeds = range(int(first), int(last or first) + 1)
    if not seeds:
        raise ArgumentTypeError(f"'{text}' ends before it begins")
    return seeds
