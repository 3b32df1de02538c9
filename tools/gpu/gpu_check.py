"""Pack the kernels and programs of the test suite for a GPU, and run them if there is one.

The folder runs by itself: `python OUT/run.py` needs Python 3.11, NumPy, a GPU with its driver, and
`pip install cuda-bindings`. Where these are here, it is run at once.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packing.pack import Pack, describe, find_commit, pack_all
from packing.plants import PLANTS
from packing.references import REFERENCES
from running.arrays import PackError
from running.supervision import MISSING
from setup import environment

ROOT = environment.ROOT
FOLDER = ROOT / "build" / "gpu-check"


def load_cases() -> dict[str, Any]:
    """Return everything that is packed, as ``pack_all`` takes it."""
    from corpus.kernels import CASES
    from linalg.linalg_programs import PROGRAMS

    return {"kernels": CASES, "references": REFERENCES, "programs": PROGRAMS, "plants": PLANTS}


def run(folder: Path) -> int:
    """Run a pack if this machine can, else say why not."""
    command = [sys.executable, str(folder / "run.py")]
    probe = subprocess.run([*command, "--probe"], capture_output=True, text=True, check=False)
    if probe.returncode == MISSING:
        reason = probe.stderr.strip().removeprefix("error: ")
        print(f"not run: {reason}")
        return 0
    print(f"running on {probe.stdout.strip()}", flush=True)
    return subprocess.call(command)


def make(folder: Path) -> Pack:
    """Compile everything and write the pack. Raises PackError, OSError."""
    cases = load_cases()
    count = sum(len(group) for group in cases.values())
    with environment.step(f"compiling and emulating {count} kernels and programs"):
        pack = pack_all(find_commit(ROOT), **cases)
    pack.write(folder)
    return pack


def main(arguments: Sequence[str]) -> int:
    """Pack, write, and run if possible."""
    parser = argparse.ArgumentParser(prog="./tools/gpu-check", description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, default=FOLDER, help="folder for the pack")
    folder = parser.parse_args(arguments).out
    try:
        pack = make(folder)
    except (PackError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for line in describe(pack):
        print(line)
    print(f"packed in {folder}", flush=True)
    code = run(folder)
    return 1 if pack.left_out else code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
