"""Which variant of a program a GPU gets, where a bundle holds several."""

from __future__ import annotations

from collections.abc import Iterable

from .code import Chip


def choose_variant(names: Iterable[str], capability: tuple[int, int]) -> str | None:
    """Return the chip whose variant runs best on a GPU, of those that are there; None if none runs.

    names: of chips, as ``sm_90a``.
    capability: of the GPU, major and minor.

    A variant is PTX and maybe machine code for its chip: it runs on that chip and newer ones or, if
    its name has a letter, on that one alone. The nearest below knows the most of the GPU.
    """
    chips = {name: chip for name in names if (chip := Chip.parse(name)) is not None}
    running = {name: chip for name, chip in chips.items() if chip.runs_as_ptx(capability)}
    return max(
        running,
        key=lambda name: (running[name].major, running[name].minor, running[name].suffix),
        default=None,
    )
