"""Remarks in the YAML that LLVM's tools read: opt-viewer, llvm-remarkutil, Compiler Explorer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .document import Decision

_TAGS = {"passed": "Passed", "missed": "Missed", "failed": "Failure", "analysis": "Analysis"}


def write_remarks(decisions: Iterable[Decision]) -> str:
    """Return a YAML document for each decision."""
    return "".join("\n".join(_write(one)) + "\n" for one in decisions)


def _write(decision: Decision) -> Iterator[str]:
    yield f"--- !{_TAGS.get(decision.kind, 'Analysis')}"
    yield f"Pass:            {_quote(decision.pass_name)}"
    yield f"Name:            {_quote(decision.name)}"
    if place := decision.place:
        where = f"File: {_quote(place.file)}, Line: {place.line}, Column: {place.column}"
        yield f"DebugLoc:        {{ {where} }}"
    yield f"Function:        {_quote(decision.function or '<unknown>')}"
    yield "Args:"
    yield f"  - String:          {_quote(decision.message)}"
    for name, value in decision.arguments.items():
        # The message has them, too; LLVM's readers take those of other keys as facts.
        yield f"  - {name + ':':<16} {_quote(value)}"
    yield "..."


def _quote(text: str) -> str:
    """Return a scalar in single quotes: LLVM's reader knows no escapes of double ones."""
    line = "".join(one if one.isprintable() else " " for one in text)
    return "'" + line.replace("'", "''") + "'"
