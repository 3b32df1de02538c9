"""What a search has found so far: lines of JSON, of which none is ever changed or lost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import UsageError

VERSION = 1

Record = dict[str, Any]


class Journal:
    """A file of trials. Each is written in one piece, and is on the disk before the next.

    What a process that was killed has left half written is passed over.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._records: dict[str, Record] = {}
        for record in _read(path):
            self._records[record["key"]] = record

    def find(self, key: str) -> Record | None:
        """Return what was found out about something, if it was."""
        return self._records.get(key)

    def add(self, key: str, record: Record) -> Record:
        """Keep what was found out. Raises UsageError if it cannot be written."""
        record = {"version": VERSION, "key": key, **record}
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        try:
            self._append(line)
        except OSError as error:
            reason = f"cannot be written: {error.strerror}"
            raise UsageError(f"{self.path}: error: {reason}") from error
        self._records[key] = record
        return record

    def _append(self, line: bytes) -> None:
        handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":
                line = b"\n" + line
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)


def _read(path: Path) -> Iterator[Record]:
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{path}: error: cannot be read: {error.strerror}") from error
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and record.get("version") == VERSION and "key" in record:
            yield record
