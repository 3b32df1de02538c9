"""All that is known so far, in two files that are written after each verdict."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import tables
from .arrays import Json, PackError
from .verdicts import GOOD, Item, Verdict


class Results:
    """What is known so far, in two files: `results.json`, and `results.md` for a reader."""

    def __init__(
        self, folder: Path, header: Json, cases: Sequence[Json], items: Sequence[Item]
    ) -> None:
        self.folder = folder
        self.header = header
        self.cases: dict[str, Json] = {case["name"]: case for case in cases}
        self.items = items
        self.verdicts: dict[Item, Verdict] = {}
        self.notes: dict[str, str] = {}
        """What is said of all, by what it is about."""

    def resume(self) -> None:
        """Take over what an earlier run left; where it ended has failed. Raises PackError."""
        try:
            old = json.loads((self.folder / "results.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        except ValueError:
            old = {}
        if old.get("header", {}).get("pack") != self.header["pack"]:
            raise PackError(f"{self.folder} has results of another pack: leave --resume out")
        self.notes = old["notes"]
        for record in old["results"]:
            item = Item(record["stage"], record["case"], record["tool"])
            verdict = Verdict(record["verdict"], record["detail"], record["figures"])
            if verdict.verdict == "running":
                verdict = Verdict("failed", "the process ended while it ran")
            if item.case in self.cases and verdict.verdict != "not run":
                self.verdicts[item] = verdict

    def missing(self) -> list[Item]:
        """Return what has no verdict yet."""
        return [item for item in self.items if item not in self.verdicts]

    def put(self, *items: Item, verdict: Verdict) -> None:
        """Note a verdict and write the files."""
        self.verdicts.update(dict.fromkeys(items, verdict))
        self.save()

    def note(self, subject: str, words: str) -> None:
        """Note what is to be said of all, in place of what was said of that subject."""
        self.notes[subject] = words

    def save(self) -> None:
        """Write the files, each whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in (("results.md", tables.write(self)), ("results.json", self.to_json())):
            part = self.folder / f"{name}.part"
            part.write_text(text, encoding="utf-8")
            part.replace(self.folder / name)

    def to_json(self) -> str:
        """Return the results as data."""
        records = [
            asdict(item) | asdict(verdict) | {"note": self.cases[item.case].get("note", "")}
            for item, verdict in self.verdicts.items()
        ]
        document = {
            "header": self.header,
            "summary": {"text": self.summarize(), "exit_code": self.exit_code()},
            "notes": self.notes,
            "results": _to_json(records),
        }
        return json.dumps(document, indent=1, allow_nan=False) + "\n"

    def summarize(self) -> str:
        """Return how many have which verdict."""
        words = [verdict.verdict for verdict in self.verdicts.values()]
        words += ["to come"] * len(self.missing())
        return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))

    def exit_code(self) -> int:
        """Return 0 if all that this GPU can run was run and is as it should be."""
        words = {verdict.verdict for verdict in self.verdicts.values()}
        is_complete = not self.missing()
        return 0 if is_complete and words <= GOOD and words - {"skipped"} else 1

    def of_stage(self, stage: str) -> Sequence[tuple[Item, Verdict]]:
        """Return what is known of a stage."""
        return [(item, found) for item, found in self.verdicts.items() if item.stage == stage]


def _to_json(value: Any) -> Any:
    """Return a value that JSON has: it knows no NaN."""
    if isinstance(value, dict):
        return {key: _to_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(part) for part in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
