"""What schedules go by of a chip."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .. import _native


class Target(NamedTuple):
    """A chip. ``shared_bytes``: the workgroup memory that a block can have."""

    chip: str
    multiprocessors: int
    shared_bytes: int

    @property
    def row_bytes(self) -> int:
        """Workgroup memory of a block that leaves room for a second one."""
        return self.shared_bytes // 2

    @property
    def chain_blocks(self) -> int:
        """Blocks below which one kernel of two contractions is no gain if each has much to do."""
        return self.multiprocessors // 2


def make_target(chip: str, chips: Iterable[_native.Chip]) -> Target:
    """Return what schedules go by of a chip."""
    (native,) = (item for item in chips if item.name == chip)
    return Target(chip, native.multiprocessors, native.max_workgroup_bytes)
