"""What compute-sanitizer says: its report in XML, and what else it and the program print."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = "ComputeSanitizerOutput"
NO_CALL = "before first instrumented API call"
"""What it says of a process that has not used CUDA, an error or not."""
_SUMMARY = re.compile(r"(?:ERROR SUMMARY: |RACECHECK SUMMARY: .*\()0 errors", re.IGNORECASE)


class ReportError(Exception):
    """A report that cannot be read."""


def read_report(file: Path) -> list[str]:
    """Return each finding of a report in a line. Raises ReportError, OSError if there is none."""
    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise ReportError(f"the report cannot be read ({error}): {shorten(text)}") from error
    if root.tag != ROOT:
        raise ReportError(f"the report is a document '{root.tag}', not '{ROOT}'")
    # Whatever the versions call it, each child is something that was reported.
    found = list(root.iter("record")) or list(root)
    return [shorten(" ".join(record.itertext())) for record in found]


def tells_no_errors(text: str) -> bool:
    """Return whether it printed that it watched the program, and found nothing."""
    return _SUMMARY.search(text) is not None


def shorten(text: str, most: int = 400) -> str:
    """Return text in a line, of so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 4] + " ..."
