"""The rows of the suite as data that is committed, and what has become worse since."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.static.cases import Case
from benchmarks.static.rows import Row, Value
from setup.environment import ROOT

FOLDER = ROOT / "docs" / "measurements"
JSON, MARKDOWN = FOLDER / "static.json", FOLDER / "static.md"
DIGITS = 4
SLACK = 0.02

HIGHER = frozenset(
    {"tensor", "hopper", "share", "always", "issue", "per_ldsm", "wide_loads", "wide_stores"}
    | {"quantisation", "in_flight"}
)
LOWER = frozenset(
    {"spills", "stack", "warnings", "kernels", "per_math", "lds", "narrow_lds", "barriers"}
    | {"unfused", "block_barriers", "read_wavefronts", "write_wavefronts", "load_sectors"}
    | {"store_sectors", "traffic"}
)
OF_LOOP = frozenset(
    {"share", "always", "issue", "per_ldsm", "per_math", "lds", "narrow_lds", "unfused"}
)
"""What only compares for loops that do their work by the same instruction."""


def dump(rows: Iterable[Row], ptxas: str) -> str:
    """Return rows as JSON, one a line. ptxas: the version that made the machine code."""
    lines = [json.dumps(_to_json(row), sort_keys=False) for row in rows]
    return f'{{"ptxas": {json.dumps(ptxas)}, "rows": [\n' + ",\n".join(lines) + "\n]}\n"


def _to_json(row: Row) -> dict[str, Any]:
    figures = {name: _round(value) for name, value in row.figures.items()}
    record = {"case": row.case.name, "chip": row.chip, "compiler": row.compiler}
    if row.kernel:
        record["kernel"] = row.kernel
    if row.note:
        record["note"] = row.note
    return {**record, **figures}


def _round(value: Value) -> Value:
    return round(value, DIGITS) if isinstance(value, float) else value


def load(path: Path, cases: Iterable[Case]) -> list[Row]:
    """Return the rows of a file that are of these cases; none if there is no file."""
    if not path.exists():
        return []
    known = {case.name: case for case in cases}
    records = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return [_from_json(one, known[one["case"]]) for one in records if one["case"] in known]


def read_version(path: Path) -> str:
    """Return the version of ptxas by which the rows of a file were measured."""
    return str(json.loads(path.read_text(encoding="utf-8"))["ptxas"])


def _from_json(record: Mapping[str, Any], case: Case) -> Row:
    names = ("case", "chip", "compiler", "kernel", "note")
    figures = {name: value for name, value in record.items() if name not in names}
    return Row(
        case,
        record["chip"],
        record["compiler"],
        record.get("kernel", ""),
        figures,
        record.get("note", ""),
    )


def merge(old: Iterable[Row], new: Sequence[Row], cases: Sequence[Case]) -> list[Row]:
    """Return old rows with new ones in their places, in the order of the cases."""
    rows = {row.key: row for row in (*old, *new)}
    order = {case.name: number for number, case in enumerate(cases)}
    compilers = ("ours", "Triton", "IREE")
    return sorted(
        rows.values(),
        key=lambda row: (order[row.case.name], row.chip, compilers.index(row.compiler)),
    )


def find_regressions(before: Iterable[Row], after: Iterable[Row]) -> Iterator[str]:
    """Yield what is worse than it was, in words."""
    recorded = {row.key: row for row in before}
    for row in after:
        old = recorded.get(row.key)
        if not old:
            yield f"{row.key}: is not recorded"
        elif row.note and not old.note:
            yield f"{row.key}: {row.note}"
        else:
            yield from _compare(old, row)


def _compare(old: Row, new: Row) -> Iterator[str]:
    does_same = old.figures.get("work") == new.figures.get("work")
    for name in sorted(HIGHER | LOWER):
        was, now = old.figures.get(name), new.figures.get(name)
        if not isinstance(was, int | float) or not isinstance(now, int | float):
            continue
        if name in OF_LOOP and not does_same:
            continue
        slack = SLACK * abs(was)
        if now < was - slack if name in HIGHER else now > was + slack:
            yield f"{new.key}: {name} was {_round(was)}, is {_round(now)}"
