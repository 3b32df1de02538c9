"""What a schedule of a contraction chooses from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tile of the result, the step along the sum, the threads that do it.

    ``registers``: of a thread. ``overhead``: other instructions of the loop for each product, as
    the machine code has them; on tensor cores, if ``is_matrix``, the time beside the products as
    a part of theirs; by warp groups, from where tiles are, if ``is_group``. For tiles that are
    whole and copies without registers. ``producers``: threads more that only fill rings.
    """

    m: int
    n: int
    k: int
    threads: int
    registers: int
    overhead: float
    is_matrix: bool = False
    is_group: bool = False
    producers: int = 0

    @property
    def resident_threads(self) -> int:
        """The threads of a block, with those that only fill rings."""
        return self.threads + self.producers
