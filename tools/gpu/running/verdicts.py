"""What a pack has to do, and verdicts of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .arrays import Json

STAGES = ("check", "time", "sanitize")
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")

GOOD = frozenset(("agree", "skipped", "timed", "caught", "clean"))
"""The words for what is as it should be; ``skipped`` is a kernel for another chip."""


@dataclass(frozen=True)
class Item:
    """Something to do: a case in a stage, by a tool if it is `sanitize`."""

    stage: str
    case: str
    tool: str = ""

    @property
    def name(self) -> str:
        """How the results call it."""
        return f"{self.tool or self.stage}: {self.case}"


@dataclass(frozen=True)
class Verdict:
    """What became of something, in a word, words for it, and numbers.

    Of stage `check` the words are agree, differ; of `time` timed, differ; of `sanitize` clean,
    found, void (the tool does not see its planted bug), and for planted bugs caught, missed; of
    all failed, skipped, not run, and running until then.
    """

    verdict: str
    detail: str = ""
    figures: Json = field(default_factory=dict)


def list_items(cases: Sequence[Json], stages: Sequence[str]) -> list[Item]:
    """Return all there is to do, in order: of each tool the planted bugs first."""
    items = [
        Item(stage, case["name"])
        for stage in STAGES[:2]
        if stage in stages
        for case in cases
        if stage in case["stages"]
    ]
    if "sanitize" not in stages:
        return items
    plants = [Item("sanitize", case["name"], case["plant"]) for case in cases if "plant" in case]
    return items + [
        item
        for tool in TOOLS
        for item in (
            *(plant for plant in plants if plant.tool == tool),
            *(
                Item("sanitize", case["name"], tool)
                for case in cases
                if "sanitize" in case["stages"] and "plant" not in case
            ),
        )
    ]
