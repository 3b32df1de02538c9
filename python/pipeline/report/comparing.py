"""Two explanations beside each other: what differs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .differences import compare_texts
from .document import FORMAT, VERSION

JSON = Mapping[str, Any]

COMPARISON_FORMAT = "pipeline-comparison"


def read_document(path: Path) -> dict[str, Any]:
    """Return an explanation that was written as JSON. Raises UsageError for anything else."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: error: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: error: this is no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise UsageError(f"{path}: error: this is no explanation: its format is not '{FORMAT}'")
    if document.get("version") != VERSION:
        made = document.get("version")
        raise UsageError(
            f"{path}: error: this explanation is of version {made!r}, and {VERSION} is read here"
        )
    return document


def compare(first: JSON, second: JSON) -> dict[str, Any]:
    """Return what differs between two explanations, as ``json`` can write it.

    Raises UsageError if a document lacks what its version has.
    """
    try:
        return {
            "format": COMPARISON_FORMAT,
            "version": VERSION,
            "first": {"program": first["program"], "provenance": first["provenance"]},
            "second": {"program": second["program"], "provenance": second["provenance"]},
            "kernels": list(_compare_kernels(first["kernels"], second["kernels"])),
            "decisions": _compare_decisions(first["decisions"], second["decisions"]),
            "stages": list(_compare_stages(first["stages"], second["stages"])),
        }
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"error: an explanation is incomplete: {error!r}") from error


def _compare_kernels(first: Sequence[JSON], second: Sequence[JSON]) -> Iterator[dict[str, Any]]:
    """Give for each kernel, by name, the facts of either side; none where it is not there."""
    ours = {kernel["name"]: kernel for kernel in first}
    theirs = {kernel["name"]: kernel for kernel in second}
    for name in dict.fromkeys([*ours, *theirs]):
        left, right = (_list_facts(side[name]) if name in side else {} for side in (ours, theirs))
        facts = [
            {
                "name": fact,
                "first": left.get(fact),
                "second": right.get(fact),
                "is_equal": left.get(fact) == right.get(fact),
            }
            for fact in dict.fromkeys([*left, *right])
        ]
        yield {"name": name, "in_first": name in ours, "in_second": name in theirs, "facts": facts}


_SPILLS = ("spill_store_bytes", "spill_load_bytes")


def _list_facts(kernel: JSON) -> dict[str, int | float | str | None]:
    resources, residence = kernel["resources"] or {}, kernel["residence"] or {}
    memory, verdict = kernel["memory"] or {}, kernel["verdict"] or {}
    accesses = kernel["accesses"]

    def total(name: str) -> int | None:
        return sum(one[name] for one in accesses) if accesses else None

    return {
        "threads of a block": _join(kernel["block"]),
        "blocks": _join(kernel["grid"]),
        "registers": resources.get("registers"),
        "spilled bytes": sum(map(resources.get, _SPILLS)) if resources else None,
        "instructions": resources.get("instructions"),
        "shared bytes, static": memory.get("static_bytes"),
        "shared bytes, dynamic": memory.get("dynamic_bytes"),
        "blocks per multiprocessor": residence.get("blocks"),
        "limited by": _join(residence.get("limiters")),
        "barriers": len(kernel["barriers"]),
        "rings": _join([f"{one['slots']} slots by {one['engine']}" for one in kernel["rings"]])
        or "none",
        "wavefronts": total("wavefronts"),
        "wavefronts, ideal": total("ideal_wavefronts"),
        "sectors": total("sectors"),
        "sectors, ideal": total("ideal_sectors"),
        "verdict": verdict.get("verdict"),
    }


def _join(parts: Sequence[Any] | None) -> str | None:
    return ", ".join(map(str, parts)) if parts is not None else None


def _compare_decisions(first: Sequence[JSON], second: Sequence[JSON]) -> dict[str, list[str]]:
    """Return the decisions of one side that the other does not have, in words."""
    ours, theirs = [*map(_describe, first)], [*map(_describe, second)]
    return {
        "only_first": [one for one in ours if one not in theirs],
        "only_second": [one for one in theirs if one not in ours],
    }


def _describe(decision: JSON) -> str:
    return f"[{decision['kind']}] {decision['pass_name']}: {decision['message']}"


def _compare_stages(first: Sequence[JSON], second: Sequence[JSON]) -> Iterator[dict[str, Any]]:
    theirs = {stage["name"]: stage for stage in second}
    for stage in first:
        if stage["name"] not in theirs:
            continue
        made = compare_texts(stage["text"], theirs[stage["name"]]["text"])
        yield {
            "name": stage["name"],
            "title": stage["title"],
            "removed": made.removed,
            "added": made.added,
            "diff": made.text,
            "is_cut": made.is_cut,
        }
