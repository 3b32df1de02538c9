"""GPUVerify's own tests of CUDA kernels, whose first lines say what it is to answer, and sizes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

from .cases import Case, Expected

HEADER = Path(__file__).with_name("gpuverify.h")
THREADS, DIMENSION = 1024, 4
"""Launches are made no larger: threads of a block, blocks along a dimension."""

_MOST = (1024, 1024, 64)
"""Threads along a dimension that GPUs take."""

_SIZE = re.compile(r"--(blockDim|gridDim)=(\d+|\[[\d,]+\])")
_MACRO = re.compile(r"-D\S+")
_KERNEL = re.compile(r"__global__[^;{}()]*?\b(\w+)\s*\(")
_LOCKSTEP = "--warp-sync"

_OPEN = {
    "annotation_tests/test_axiom": "an axiom has all blocks be one",
    "globalarray/fail": "GPUVerify takes constants to have any value, as the host may change them",
    "pointertests/test12": "GPUVerify drops a read beside writes, as nothing comes of it",
    "misc/fail/miscfail6": "GPUVerify refuses arrays of no elements",
    "misc/fail/miscfail7": "GPUVerify takes pointers made of numbers to be null",
    "misc/fail/miscfail2": "GPUVerify's proof lacks an invariant; nothing is wrong with the kernel",
}
"""What rests on something that no launch shows."""


def find_cases(folder: Path) -> Iterator[Case]:
    """Yield the kernels of a folder that has ``CUDA``, or ``testsuite/CUDA``, in it."""
    roots = [root for root in (folder / "testsuite" / "CUDA", folder / "CUDA") if root.is_dir()]
    if not roots:
        raise FileNotFoundError(f"{folder} has no testsuite/CUDA, as GPUVerify has")
    for source in sorted(roots[0].rglob("*.cu")):
        yield from _read(source, roots[0])


def _read(source: Path, root: Path) -> Iterator[Case]:
    text = source.read_text(errors="replace")
    label, options, third = (*text.splitlines(), "", "", "")[:3]
    sizes = {name: _read_size(value) for name, value in _SIZE.findall(options)}
    block, grid = sizes.get("blockDim", (1,)), sizes.get("gridDim", (1,))
    expected, note = _read_label(label, third, options, source.relative_to(root))
    kernels = list(dict.fromkeys(_KERNEL.findall(text)))
    for kernel in kernels:
        name = str(source.parent.relative_to(root))
        yield Case(
            suite="GPUVerify",
            category=name.partition("/")[0],
            name=name if len(kernels) == 1 else f"{name}:{kernel}",
            source=str(source),
            expected=expected,
            kernel=kernel,
            block=_fit(block),
            grid=tuple(min(count, DIMENSION) for count in grid),
            clang_options=(f"-I{HEADER.parent}", "-include", str(HEADER), *_MACRO.findall(options)),
            # GPUVerify tolerates what it knows to be writes of one value.
            check="races" if expected == "clean" else "all",
            note=note,
        )


def _fit(block: tuple[int, ...]) -> tuple[int, ...]:
    """Return a block that GPUs take, which is smaller along its last dimensions."""
    fitting: list[int] = []
    for count in block:
        fitting.append(min(count, THREADS // math.prod(fitting), _MOST[len(fitting)]))
    return tuple(fitting)


def _read_size(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.strip("[]").split(","))


def _read_label(label: str, third: str, options: str, path: Path) -> tuple[Expected, str]:
    """Return what is to be found, and why it is not simply what GPUVerify answers."""
    if reason := _OPEN.get(str(path.parent)):
        return "open", reason
    word, _, answer = label.removeprefix("//").strip().partition(":")
    if _LOCKSTEP in options:
        return "open", "the label takes threads of a warp to run in lockstep"
    if word.lower() == "pass":
        return "clean", ""
    if answer != "NOT_ALL_VERIFIED":
        return "open", f"GPUVerify does not read it: {answer}"
    is_race = re.search(r"race|Write by thread|Read by thread", f"{third} {path}") is not None
    return ("racy" if is_race else "faulty"), ""
