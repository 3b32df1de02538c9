"""What schedules go by of a chip."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .. import _native


class Target(NamedTuple):
    """A chip. ``shared_bytes``: the workgroup memory that a block can have.

    Of a multiprocessor: each resident block takes ``system_bytes`` more of its memory, and
    ``threads`` can be resident. ``rounds_to_tf32``: factors of f32 may be rounded for tensor
    cores. ``assumes_finite``: what is multiplied is neither infinite nor NaN, so that columns of
    attention that a mask hides can be left out. ``narrows``: weights of attention may be rounded
    to 16 bits for tensor cores.
    """

    chip: str
    multiprocessors: int
    shared_bytes: int
    system_bytes: int = 1 << 10
    threads: int = 2048
    rounds_to_tf32: bool = False
    assumes_finite: bool = False
    narrows: bool = False

    @property
    def architecture(self) -> int:
        """The number in the name: 90 of ``sm_90a``."""
        return int("".join(filter(str.isdigit, self.chip)))

    @property
    def has_async_copies(self) -> bool:
        """Whether copies to workgroup memory need no registers (cp.async)."""
        return self.architecture >= 80

    def count_blocks(self, bytes_of: int, threads: int) -> int:
        """Return how many blocks share a multiprocessor, registers aside."""
        bytes_of_all = self.shared_bytes + self.system_bytes
        by_threads = self.threads // (-(-threads // 32) * 32)
        taken = bytes_of + self.system_bytes
        return min(by_threads, bytes_of_all // taken) if taken else by_threads

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
    return Target(
        chip,
        native.multiprocessors,
        native.max_workgroup_bytes,
        native.system_bytes_per_block,
        native.max_threads,
    )
