"""Linalg programs of all kinds that front ends emit, each with what NumPy makes of it."""

from __future__ import annotations

import importlib

from .program import Program

_MODULES = (
    "elementwise",
    "bits",
    "reductions",
    "several_results",
    "splits",
    "long_rows",
    "generators",
    "borders",
    "contractions",
    "contraction_types",
    "narrow",
    "ragged",
    "windows",
    "movement",
    "networks",
    "chains",
    "host",
    "carried",
    "memrefs",
    "buffers",
    "lookups",
    "updates",
)

PROGRAMS: tuple[Program, ...] = tuple(
    program
    for name in _MODULES
    for program in importlib.import_module(f"{__name__}.{name}").PROGRAMS
)

__all__ = ["PROGRAMS", "Program"]
