"""Results as Markdown: a table for each stage, and what could not be done."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from .arrays import Json
from .verdicts import Item, Verdict


class Results(Protocol):
    """What is known."""

    @property
    def header(self) -> Json:
        """What the results are of."""

    @property
    def cases(self) -> Mapping[str, Json]:
        """The cases by name."""

    @property
    def verdicts(self) -> Mapping[Item, Verdict]:
        """What became of things to do."""

    @property
    def notes(self) -> Mapping[str, str]:
        """What is said of all, by what it is about."""

    def summarize(self) -> str:
        """Return how many have which verdict."""

    def of_stage(self, stage: str) -> Sequence[tuple[Item, Verdict]]:
        """Return what is known of a stage."""


_BAD = ("differ", "failed", "found", "missed", "void")


def write(results: Results) -> str:
    """Return the results for a reader."""
    return "\n".join(_lines(results)).rstrip() + "\n"


def _lines(results: Results) -> Iterator[str]:
    head = results.header
    yield f"# Kernels on {head['gpu']}"
    yield ""
    yield (
        f"{head['date']}; {head['gpu']} ({head['chip']}), driver {head['driver']}; code for "
        f"{', '.join(head['chips'])}; pack of commit {head['commit']}"
    )
    yield ""
    yield f"{results.summarize()}."
    yield from _check_lines(results)
    yield from _group_lines(results)
    yield from _time_lines(results)
    yield from _sanitize_lines(results)
    yield from _details(results)


def _check_lines(results: Results) -> Iterator[str]:
    rows = results.of_stage("check")
    if not rows:
        return
    yield from ("", "## Results", "")
    yield (
        "Differences are relative to numbers above 1. `compared with PyTorch`: with what its own "
        "operators make of the same inputs on this GPU; other cases only with what was computed "
        "when they were packed, or with double precision."
    )
    yield from (
        "",
        "| case | verdict | largest difference | compared with | passed in which ways |",
    )
    yield "|---|---|---|---|---|"
    for item, verdict in rows:
        figures = verdict.figures
        yield _row(
            item.case,
            _word(verdict),
            _number(figures.get("difference"), ".2g"),
            ", ".join(figures.get("compared", ())),
            ", ".join(figures.get("ways", ())),
        )


def _time_lines(results: Results) -> Iterator[str]:
    rows = results.of_stage("time")
    if not rows:
        return
    yield from ("", "## Times", "")
    yield (
        "Microseconds on the GPU, median (p10-p90), a launch of each per round; `of torch` is the "
        "time of torch over ours in the same rounds, above 1 where ours is faster; `host` is what "
        "the call takes the caller."
    )
    yield from ("", "| case | verdict | who | GPU | of torch | rate | host | in a graph |")
    yield "|---|---|---|---|---|---|---|---|"
    for item, verdict in rows:
        peers = verdict.figures.get("peers", {})
        for name, times in peers.items():
            middle, low, high = (_number(times[key], ".1f") for key in ("median", "p10", "p90"))
            yield _row(
                item.case,
                _word(verdict),
                name,
                f"{middle} ({low}-{high})",
                _number(times.get("of_torch"), ".3f"),
                f"{_number(times.get('rate'), '.1f')} {verdict.figures.get('unit', '')}".strip(),
                _number(times.get("host"), ".1f"),
                _number(times.get("graph"), ".1f"),
            )
        if not peers:
            yield _row(item.case, _word(verdict), *[""] * 6)


def _group_lines(results: Results) -> Iterator[str]:
    """Tell geometric means of groups of shapes, and where these are from."""
    ratios: dict[str, list[tuple[float, str]]] = {}
    sources: dict[str, dict[str, None]] = {}
    for item, verdict in results.of_stage("time"):
        case = results.cases[item.case]
        if group := case.get("group"):
            sources.setdefault(group, {})[case["source"]] = None
            found = verdict.figures.get("peers", {}).get("ours", {}).get("of_torch")
            ratios.setdefault(group, [])
            if found:
                ratios[group].append((float(found), item.case))
    if not sources:
        return
    yield from ("", "## Groups", "")
    yield _row("group", "programs", "of torch, geometric mean", "least", "shapes")
    yield "|---|---|---|---|---|"
    for group, found_ones in ratios.items():
        means = [ratio for ratio, _ in found_ones]
        least = min(found_ones, default=None)
        yield _row(
            group,
            str(len(found_ones)),
            _number(statistics.geometric_mean(means) if means else None, ".3f"),
            f"{least[0]:.3f} ({least[1]})" if least else "",
            "; ".join(sources[group]),
        )


def _sanitize_lines(results: Results) -> Iterator[str]:
    rows = results.of_stage("sanitize")
    if not rows:
        return
    by_case: dict[str, dict[str, str]] = {}
    for item, verdict in rows:
        by_case.setdefault(item.case, {})[item.tool] = _word(verdict)
    tools = list(dict.fromkeys(item.tool for item, _ in rows))
    yield from ("", "## compute-sanitizer", "")
    yield "`caught` is a planted bug that the tool found, `void` a clean run of one that missed it."
    yield from ("", _row("case", *tools), "|" + "---|" * (len(tools) + 1))
    for case, words in by_case.items():
        yield _row(case, *(words.get(tool, "") for tool in tools))


def _details(results: Results) -> Iterator[str]:
    lines = [f"- {subject}: {_line(words)}" for subject, words in results.notes.items()]
    left_out = results.header["left_out"]
    lines += [f"- {name}: not packed: {_line(text)}" for name, text in left_out.items()]
    lines += [
        f"- {name}: {_line(case['note'])}"
        for name, case in results.cases.items()
        if case.get("note")
    ]
    lines += list(_group(results))
    if lines:
        yield from ("", "## Notes", "", *lines)


def _group(results: Results) -> Iterator[str]:
    """Tell details, those that are alike in one line."""
    groups: dict[tuple[str, str], list[Item]] = {}
    for item, verdict in results.verdicts.items():
        if verdict.detail:
            groups.setdefault((verdict.verdict, verdict.detail), []).append(item)
    for (word, detail), items in groups.items():
        names = items[0].name if len(items) == 1 else f"{items[0].name} and {len(items) - 1} more"
        yield f"- {names}: {word}: {_line(detail)}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _word(verdict: Verdict) -> str:
    return f"**{verdict.verdict}**" if verdict.verdict in _BAD else verdict.verdict


def _line(text: str) -> str:
    return " ".join(text.split())


def _number(value: Any, form: str) -> str:
    """Return a number in short; nothing for None. JSON has infinities and NaN as text."""
    return "" if value is None else format(float(value), form)
