"""ScoR's microbenchmarks: two threads, locks and flags, and scopes; names begin with the label.

Their data is `volatile`. PTX takes such accesses for relaxed atomics of the system, which do not
race with each other; labels of races were meant for plain ones. So what is called racy is judged
with the word taken away, and what is called free of races as it is. The other reading of each is
run, too, and told, but not judged: it is another program to PTX than its label is for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .cases import Case, Expected

_SIZES = re.compile(r"#define\s+(NBLOCKS|TPERBLK)\s+(\d+)")
_WORDS = 16
_PLAIN = ("-include", str(Path(__file__).with_name("plain.h")))

_OF_OTHER_MODELS = {
    "norace_interwarp-block_fence-atom_hrd-indirect": (
        "free of races where a thread that sees a flag has acquired; PTX wants a fence behind it"
    )
}
"""Labels that are not PTX's, whatever is volatile."""


def find_cases(folder: Path) -> Iterator[Case]:
    """Yield the kernels of a folder that has ``microbenchmarks`` in it, plain and volatile."""
    sources = sorted((folder / "microbenchmarks" / "src").glob("*race_*.cu"))
    if not sources:
        raise FileNotFoundError(f"{folder} has no microbenchmarks/src, as ScoR has")
    for source in sources:
        yield from _read(source)


def _read(source: Path) -> Iterator[Case]:
    text = source.read_text()
    sizes = {name: int(number) for name, number in _SIZES.findall(text)}
    label, _, kind = source.stem.partition("_")
    is_volatile = re.search(r"\bvolatile\b", text) is not None
    is_racy = label == "race"
    for plain in (True, False) if is_volatile else (is_racy,):
        is_meant = plain == is_racy
        note = _OF_OTHER_MODELS.get(source.stem, "")
        yield Case(
            suite="ScoR" if is_meant else "ScoR, " + ("plain" if plain else "volatile"),
            category=kind.partition("_")[0],
            name=source.stem,
            source=str(source),
            expected=_expect(is_racy) if is_meant and not note else "open",
            kernel="kmain",
            block=(sizes["TPERBLK"],),
            grid=(sizes["NBLOCKS"],),
            arguments=((0,) * _WORDS,),
            clang_options=_PLAIN if plain else (),
            note=note,
        )


def _expect(is_racy: bool) -> Expected:
    return "racy" if is_racy else "clean"
