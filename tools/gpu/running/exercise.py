"""The process below compute-sanitizer: it runs cases by our runtime alone, and tells which ran."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .arrays import Json
from .doors import DriverDoor
from .gpu import Gpu
from .kernels import exercise_kernel
from .programs import exercise_program
from .sanitizer import RAN
from .ways import exercise_reference


def exercise(folder: Path, cases: dict[str, Json], listed: Path) -> int:
    """Run the cases that a file lists; stop at the first that fails."""
    gpu = Gpu()
    for name in json.loads(listed.read_text(encoding="utf-8")):
        try:
            _run(cases[name], folder, gpu)
        except Exception as error:
            print(f"error: {name}: {type(error).__name__}: {error}", flush=True)
            return 1
        print(f"{RAN}{name}", flush=True)
    sys.stdout.flush()
    return 0


def _run(case: Json, folder: Path, gpu: Gpu) -> None:
    if case["kind"] == "kernel":
        exercise_kernel(case, folder, gpu)
    elif case["kind"] == "program":
        exercise_program(case, folder)
    else:
        exercise_reference(case, folder, DriverDoor(gpu.driver))
