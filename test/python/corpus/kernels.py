"""Kernels with what they compute: the corpus that runs of compiled programs are tested with.

All of them are free of data races, and every barrier and every wait in them is needed for that.
"""

from __future__ import annotations

from corpus import (
    kernels_arithmetic,
    kernels_async,
    kernels_barriers,
    kernels_bulk,
    kernels_control,
    kernels_copies,
    kernels_fences,
    kernels_matrix,
    kernels_mbarrier,
    kernels_memory,
    kernels_reductions,
    kernels_tiles,
    kernels_warp,
    kernels_wmma,
)
from corpus.kernels_case import Case

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
