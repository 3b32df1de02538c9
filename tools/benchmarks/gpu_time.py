"""Time ours beside cuBLAS, by PyTorch, and Triton, over published shapes, on a GPU.

Programs are compiled, and packed with what runs them, into a folder. That is run at once; or, with
`--prepare`, elsewhere: `python OUT/run.py --stages time` needs Python 3.11, NumPy, cuda-bindings,
PyTorch and a GPU, and no compiler. Results are in OUT/results: results.json, results.md.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from packing.pack import Pack, describe, find_commit
from packing.programs import pack_reference
from packing.published import Published, published
from running.arrays import PackError
from setup import environment

FOLDER = environment.ROOT / "build" / "gpu-bench"


def make(chosen: Iterable[Published], folder: Path) -> Pack:
    """Compile programs, and write the pack. Raises PackError, OSError."""
    pack = Pack(find_commit(environment.ROOT))
    for one in chosen:
        make_one = partial(pack_reference, one.reference, group=one.group, source=one.source)
        pack.add_case(one.reference.name, make_one)
        print(f"packed {one.reference.name}", file=sys.stderr, flush=True)
    pack.finish()
    pack.write(folder)
    return pack


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="./tools/bench gpu", description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, default=FOLDER, help="folder for the pack")
    parser.add_argument("--prepare", action="store_true", help="run nothing")
    parser.add_argument("--only", default="", metavar="REGEX", help="programs with such names")
    parser.add_argument("--rounds", type=int, default=25, metavar="N", help="of timing")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Pack, and run; return the exit code."""
    options = parse(arguments)
    chosen = [one for one in published() if re.search(options.only, one.reference.name)]
    if not chosen:
        print(f"error: --only: no program is called like '{options.only}'", file=sys.stderr)
        return 2
    try:
        pack = make(chosen, options.out)
    except (PackError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for line in describe(pack):
        print(line)
    words = ["--stages", "time", "--rounds", str(options.rounds)]
    print(f"packed in {options.out}: python {options.out / 'run.py'} --stages time", flush=True)
    if options.prepare:
        return 1 if pack.left_out else 0
    return subprocess.call([sys.executable, str(options.out / "run.py"), *words])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
