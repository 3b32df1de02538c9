"""What came of suites, as a table in Markdown and as data."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from .cases import FAILURES, Outcome

_COLUMNS = (
    *("kernels", "racy", "found", "missed", "clean", "false", "open", "open, racy"),
    *("equal", "differs", "did not run"),
)


def count(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return the numbers of a row of the table."""
    statuses = Counter(outcome.status for outcome in outcomes)
    return {
        "kernels": len(outcomes),
        "racy": statuses["found"] + statuses["missed"],
        "found": statuses["found"],
        "missed": statuses["missed"],
        "clean": statuses["clean"] + statuses["false"],
        "false": statuses["false"],
        "open": statuses["open"],
        "open, racy": sum(it.status == "open" and it.has_race for it in outcomes),
        "equal": statuses["equal"],
        "differs": statuses["differs"],
        "did not run": sum(outcome.status in FAILURES for outcome in outcomes),
    }


def group(outcomes: Sequence[Outcome]) -> dict[str, dict[str, list[Outcome]]]:
    """Return outcomes by suite and category."""
    grouped: dict[str, dict[str, list[Outcome]]] = {}
    for outcome in sorted(outcomes, key=lambda it: (it.suite, it.category, it.name)):
        grouped.setdefault(outcome.suite, {}).setdefault(outcome.category, []).append(outcome)
    return grouped


def write_markdown(outcomes: Sequence[Outcome]) -> str:
    """Return the table: a row per category, one per suite, and the kernels to look at."""
    lines = [f"| suite | {' | '.join(_COLUMNS)} | seconds |", "|---" * (len(_COLUMNS) + 2) + "|"]
    for suite, categories in group(outcomes).items():
        everything = [outcome for category in categories.values() for outcome in category]
        lines.append(_row(f"**{suite}**", everything))
        lines += (_row(category, members) for category, members in categories.items())
    return "\n".join([*lines, "", *_list_odd(outcomes)]) + "\n"


def _row(name: str, outcomes: Sequence[Outcome]) -> str:
    numbers = count(outcomes)
    cells = [str(numbers[column] or "") for column in _COLUMNS]
    seconds = sum(outcome.seconds for outcome in outcomes)
    return f"| {name} | {' | '.join(cells)} | {seconds:.1f} |"


def _list_odd(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield lines on what is wrong, did not run, or says SAFE of a race."""
    for outcome in sorted(outcomes, key=lambda it: (it.suite, it.status, it.name)):
        told = f"`{outcome.name}` ({outcome.suite})"
        if outcome.is_wrong:
            seen = outcome.message or ", ".join(outcome.kinds) or "nothing found"
            yield f"- {outcome.status}: {told}: {seen}"
        elif outcome.status in FAILURES:
            yield f"- {outcome.status}: {told}: {outcome.message}"
        if outcome.verdict == "SAFE" and outcome.expected == "racy":
            yield f"- wrong SAFE: {told}"


def to_data(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what ``--json`` writes."""
    suites = {
        suite: {
            **count([outcome for category in categories.values() for outcome in category]),
            "categories": {name: count(members) for name, members in categories.items()},
        }
        for suite, categories in group(outcomes).items()
    }
    kernels = [dataclasses.asdict(outcome) for outcome in outcomes]
    return {"version": 1, "suites": suites, "kernels": kernels}
