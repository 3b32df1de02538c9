"""The rows of the suite as a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from benchmarks.static.bars import BARS, missed
from benchmarks.static.rows import OURS, Row, Value

HEAD = """\
# What the machine code of kernels shows

Written by `./tools/bench static --by ours,Triton,IREE --write`; the figures are in `static.json`
beside this, and `./tools/bench static --check` fails if some of ours have become worse. No GPU is
needed: programs are compiled by default schedules, assembled by ptxas {ptxas}, and read with
nvdisasm. Triton and IREE compile what computes the same; their PTX is assembled by the same ptxas.

- **missed**: bars that the row does not meet, of those it is held against (the last table).
- **loop**: instructions of a turn of the main loop, the innermost loop that does most of the work;
  **work**: the instruction that does it, and how many a turn; **share**: of all instructions;
  **always**: of those that every turn passes, without what branches can skip, as the scaling of
  sums where no row of a warp has a larger score than before;
  **work/cycle**: of the cycles in which a warp alone would issue, by the stalls that ptxas put in
  (on sm_80 at most every second one for FFMA, every eighth for HMMA.16816); **each**: instructions
  for each that does work; **per x4**: work for each ldmatrix of four matrices; **LDS**: other loads
  from workgroup memory for 64 that do work; **copies**: asynchronous ones of a thread; **BAR**:
  barriers; **under way**: products of warp groups that a turn does not wait for; **unfused**:
  multiplications and additions by themselves.
- **waves**: of blocks on the usual product with the chip, and the share of their places that have a
  block.
- **read**, **write**: wavefronts of workgroup memory over the fewest that would do; **sectors**:
  the same of loads and stores of global memory, from one block on the emulator. LLVM merges narrow
  accesses behind what the emulator counts: where it may have, nothing is told.
- **traffic**: bytes of all sectors over those of arguments and results; **in flight**: KiB of loads
  that resident blocks may have under way, each load of the code done once; **wide**: the share of
  loads and stores in the code that are of 16 bytes a thread; **kernels**: of the program, of which
  the row is the one that executes most.
"""
TITLES = {
    "matmul": "Matmul",
    "narrow": "Matrix and vector, narrow matrices",
    "conv": "Convolution",
    "attention": "Attention",
    "memory": "Bound by global memory",
}
Column = tuple[str, Callable[[Row], str]]


def _value(name: str, form: str = "") -> Callable[[Row], str]:
    def show(row: Row) -> str:
        return _format(row.figures.get(name), form)

    return show


def _format(value: Value, form: str) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else format(value, form)


def _kibibytes(name: str) -> Callable[[Row], str]:
    def show(row: Row) -> str:
        value = row.figures.get(name)
        return f"{value / 1024:.3g}" if isinstance(value, int | float) else ""

    return show


def _missed(row: Row) -> str:
    if row.note and not row.figures:
        return row.note
    if row.compiler != OURS:
        return ""
    return ", ".join(f"{bar}" for bar in missed(row)) or "none"


def _work(row: Row) -> str:
    work, math = row.figures.get("work"), row.figures.get("math")
    return f"{math} {work}" if work else ""


def _waves(row: Row) -> str:
    waves, share = row.figures.get("waves"), row.figures.get("quantisation")
    return f"{waves}, {share:.2f}" if isinstance(share, int | float) else ""


def _pair(first: str, second: str) -> Callable[[Row], str]:
    def show(row: Row) -> str:
        values = [_format(row.figures.get(name), ".3g") or "-" for name in (first, second)]
        return "" if values == ["-", "-"] else ", ".join(values)

    return show


_COMMON: tuple[Column, ...] = (
    ("registers", _value("registers")),
    ("spills", _value("spills")),
    ("shared KiB", _kibibytes("shared")),
)
_LOOP: tuple[Column, ...] = (
    *_COMMON,
    ("loop", _value("loop")),
    ("work", _work),
    ("share", _value("share", ".1%")),
    ("always", _value("always", ".1%")),
    ("work/cycle", _value("issue", ".3f")),
    ("each", _value("per_math", ".2f")),
    ("per x4", _value("per_ldsm", ".1f")),
    ("LDS", _value("lds", ".3g")),
    ("copies", _value("async_copies")),
    ("BAR", _value("barriers")),
    ("under way", _value("pending")),
    ("unfused", _value("unfused")),
    ("waves", _waves),
    ("read, write", _pair("read_wavefronts", "write_wavefronts")),
    ("sectors", _pair("load_sectors", "store_sectors")),
    ("kernels", _value("kernels")),
)
_MEMORY: tuple[Column, ...] = (
    *_COMMON,
    ("work", _work),
    ("wide", _pair("wide_loads", "wide_stores")),
    ("in flight", _kibibytes("in_flight")),
    ("barriers", _value("block_barriers")),
    ("waves", _waves),
    ("read, write", _pair("read_wavefronts", "write_wavefronts")),
    ("sectors", _pair("load_sectors", "store_sectors")),
    ("traffic", _value("traffic", ".2f")),
    ("kernels", _value("kernels")),
)


def write_document(rows: Sequence[Row], ptxas: str) -> str:
    """Return the document."""
    parts = [HEAD.format(ptxas=ptxas)]
    for group, title in TITLES.items():
        of_group = [row for row in rows if row.case.group == group]
        if of_group:
            columns = _MEMORY if group in ("memory", "narrow") else _LOOP
            parts.append(f"## {title}\n\n" + "\n".join(_table(of_group, columns)) + "\n")
    parts.append("## Bars\n\n" + "\n".join(_list_bars(rows)) + "\n")
    return "\n".join(parts)


def _table(rows: Iterable[Row], columns: Sequence[Column]) -> Iterator[str]:
    titles = ["kernel", "chip", "by", *(title for title, _ in columns), "missed"]
    yield _line(titles)
    yield _line(["---"] * len(titles))
    name = ""
    for row in rows:
        # A name stands once for all the rows of a case.
        shown, name = ("" if row.case.name == name else row.case.name), row.case.name
        cells = [show(row) for _, show in columns]
        yield _line([shown, row.chip, row.compiler, *cells, _missed(row)])


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _list_bars(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a table of the bars, and of how many of our rows meet them."""
    ours = [row for row in rows if row.compiler == OURS]
    yield _line(["group", "kind", "chip", "bar", "where", "held", "missed"])
    yield _line(["---"] * 7)
    for bar in BARS:
        held = [row for row in ours if bar.applies(row)]
        failing = sum(not bar.is_met(row) for row in held)
        where = ", ".join(
            f"{name} {relation} {bound:g}" for name, relation, bound in bar.conditions
        )
        patterns = [
            word.replace("*", "all") if word == "*" else f"`{word}`" for word in bar.rows.split()
        ]
        yield _line([*patterns, str(bar), where, str(len(held)), str(failing)])
