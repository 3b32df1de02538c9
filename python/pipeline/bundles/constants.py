"""Constants of programs as files of their own: bytes, where a launch plan has digits."""

from __future__ import annotations

import json

from ..documents.reading import write_json
from ..runtime.host.plan import Plan
from .manifest import hash_bytes

_LEAST_BYTES = 4096
"""Smaller constants stay in the plan."""
_DIGITS = 32


def split(plan: Plan) -> tuple[bytes, dict[str, bytes]]:
    """Return the document of a plan without its large constants, and those by names of files.

    Alike constants are one file, also those of several plans.
    """
    large = {
        number: data.elements
        for number, data in enumerate(plan.data)
        if data.elements is not None and len(data.elements) >= _LEAST_BYTES
    }
    if not large:
        return plan.text.encode(), {}
    document = json.loads(plan.text)
    files = {}
    for number, elements in large.items():
        name = f"data/{hash_bytes(elements)[:_DIGITS]}.bin"
        files[name] = elements
        document["data"][number].pop("hex", None)
        document["data"][number]["file"] = name
    return write_json(document), files
