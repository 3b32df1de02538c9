"""Launch after launch of a kernel, each in another order, until they bring nothing new."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..errors import UsageError
from ..records.findings import to_json
from .emulator import Options

if TYPE_CHECKING:
    from ..diagnostics import Location
    from ..records.findings import Finding, Report

Orders = Literal["both", "until-quiet"]
Ending = Literal["all", "quiet", "seconds", "launches"]

BUDGET_SECONDS = 60.0
MOST_LAUNCHES = 1000
QUIET_LAUNCHES = 16
_SEEDS = 1 << 32

Run = Callable[[Options], Sequence["Report"]]
"""Runs what is looked at on fresh arguments, and returns what was found of each launch."""


@dataclass(frozen=True, slots=True)
class Search:
    """Which orders are tried, and until when.

    ``orders``: ``both`` is forward and reverse; ``until-quiet`` goes on with seeds, from ``seed``
    on, of the order of threads and blocks and of when asynchronous copies arrive, every other one
    with ``Options.delays``. That ends after ``quiet`` times that have brought nothing new, after
    ``budget`` seconds, or after ``launches`` times, whichever comes first.
    """

    orders: Orders = "both"
    budget: float = BUDGET_SECONDS
    launches: int = MOST_LAUNCHES
    quiet: int = QUIET_LAUNCHES
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise UsageError for a value that makes no sense."""
        if self.orders not in ("both", "until-quiet"):
            raise UsageError.of_option(
                "orders", f"is {self.orders!r}, but must be both or until-quiet"
            )
        if not self.budget > 0:
            raise UsageError.of_option("budget", f"is {self.budget}, but must be above 0 seconds")
        for name in ("launches", "quiet"):
            number = getattr(self, name)
            if not isinstance(number, int) or number < 1:
                raise UsageError.of_option(name, f"is {number}, but must be a number from 1 on")
        if not isinstance(self.seed, int) or not 0 <= self.seed < _SEEDS:
            raise UsageError.of_option(
                "seed", f"is {self.seed}, but must be a number from 0 to {_SEEDS - 1}"
            )


@dataclass(frozen=True, slots=True)
class Trial:
    """What was found with some options.

    ``is_new``: something was found, or executed, that was not in any trial before.
    """

    options: Options
    reports: tuple[Report, ...]
    is_new: bool

    @property
    def order(self) -> str:
        """What was tried, in words."""
        if isinstance(self.options.order, str):
            return self.options.order
        return f"by seed {self.options.order}{' with delays' if self.options.delays else ''}"


@dataclass(frozen=True, slots=True)
class Exploration:
    """What was tried, and why that ended.

    ``ending``: ``all`` of the orders were tried, the last ones were ``quiet``, or the ``seconds``
    or the ``launches`` were used up.
    """

    search: Search
    trials: tuple[Trial, ...]
    ending: Ending
    seconds: float

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The errors that were found, each once."""
        found: dict[Any, Finding] = {}
        for trial in self.trials:
            for report in trial.reports:
                for finding in report.errors:
                    found.setdefault(_identify(report, finding), finding)
        return tuple(found.values())

    def describe(self) -> str:
        """Return what was tried, in one line."""
        count = len(self.trials)
        seeds = [trial for trial in self.trials if not isinstance(trial.options.order, str)]
        text = f"tried {count} orders in {self.seconds:.1f} s: forward"
        if count > 1:
            text += ", reverse"
        if seeds:
            delayed = sum(trial.options.delays for trial in seeds)
            text += f", seeds {seeds[0].options.order} to {seeds[-1].options.order}"
            text += f" ({delayed} of them with delays)"
        return text + _ENDINGS[self.ending].format(search=self.search)

    def to_json(self) -> dict[str, Any]:
        """Return the same as data, with the reports of all that brought something new."""
        return {
            "orders": self.search.orders,
            "seed": self.search.seed,
            "quiet": self.search.quiet,
            "ending": self.ending,
            "seconds": self.seconds,
            "tried": [
                {
                    "order": str(trial.options.order),
                    "async_mode": str(trial.options.async_mode),
                    "delays": trial.options.delays,
                    "is_new": trial.is_new,
                }
                for trial in self.trials
            ],
            "launches": [
                {"order": trial.order, **to_json(report)}
                for trial in self.trials
                if trial.is_new or self.search.orders == "both"
                for report in trial.reports
            ],
        }


_ENDINGS: dict[Ending, str] = {
    "all": "",
    "quiet": "; the last {search.quiet} brought nothing new",
    "seconds": "; the budget of {search.budget:g} s ended that",
    "launches": "; the budget of {search.launches} launches ended that",
}


def _options(search: Search) -> Iterator[Options]:
    """Yield how to run, one time after the other."""
    if search.orders == "both":
        yield Options(check="races", order="forward")
        yield Options(check="races", order="reverse")
        return
    # One host thread: what a seed brings is what it brings again.
    yield Options(check="races", order="forward", workers=1)
    yield Options(check="races", order="reverse", async_mode="eager", workers=1)
    for number in itertools.count():
        seed = (search.seed + number) % _SEEDS
        delays = number % 2 == 1
        yield Options(
            check="races", order=seed, async_mode=seed, delays=delays, workers=1, fixes=False
        )


def explore(run: Run, search: Search) -> Exploration:
    """Run in one order after the other, until that is quiet or the budget is used up."""
    start = time.perf_counter()
    known: set[Any] = set()
    unreached: dict[tuple[int, str], set[Location]] = {}
    trials: list[Trial] = []
    silent = 0
    ending: Ending = "all"
    for options in _options(search):
        reports = tuple(run(options))
        found = {_identify(report, finding) for report in reports for finding in report.findings}
        is_new = bool(found - known) | _reaches_more(reports, unreached)
        known |= found
        trials.append(Trial(options, reports, is_new))
        silent = 0 if is_new else silent + 1
        if search.orders == "both":
            continue
        if silent >= search.quiet:
            ending = "quiet"
        elif time.perf_counter() - start >= search.budget:
            ending = "seconds"
        elif len(trials) >= search.launches:
            ending = "launches"
        if ending != "all":
            break
    return Exploration(search, tuple(trials), ending, time.perf_counter() - start)


def _identify(report: Report, finding: Finding) -> Any:
    """Return what makes a finding another one: the kind and the places, not threads and counts."""
    places = frozenset((access.verb, access.location) for access in finding.accesses)
    return report.kernel, finding.kind, finding.buffer, places


def _reaches_more(
    reports: Sequence[Report], unreached: dict[tuple[int, str], set[Location]]
) -> bool:
    """Tell whether accesses were executed that were not before, and remember those."""
    is_new = False
    for number, report in enumerate(reports):
        key = number, report.kernel
        before = unreached.get(key)
        now = set(report.unreached)
        is_new |= before is None or bool(before - now)
        unreached[key] = now if before is None else before & now
    return is_new
