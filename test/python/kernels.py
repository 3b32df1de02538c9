"""Kernels with what they compute: the corpus that runs of compiled programs are tested with.

All of them are free of data races, and every barrier and every wait in them is needed for that.
"""

from __future__ import annotations

import kernels_arithmetic
import kernels_async
import kernels_barriers
import kernels_bulk
import kernels_control
import kernels_copies
import kernels_fences
import kernels_matrix
import kernels_mbarrier
import kernels_memory
import kernels_reductions
import kernels_tiles
import kernels_warp
import kernels_wmma
from kernels_case import Case

__all__ = ["CASES", "Case"]

CASES: tuple[Case, ...] = (
    *kernels_tiles.CASES,
    *kernels_copies.CASES,
    *kernels_reductions.CASES,
    *kernels_control.CASES,
    *kernels_memory.CASES,
    *kernels_arithmetic.CASES,
    *kernels_warp.CASES,
    *kernels_barriers.CASES,
    *kernels_fences.CASES,
    *kernels_async.CASES,
    *kernels_mbarrier.CASES,
    *kernels_bulk.CASES,
    *kernels_matrix.CASES,
    *kernels_wmma.CASES,
)
