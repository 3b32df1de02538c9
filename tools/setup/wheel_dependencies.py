"""What a wheel declares to need: the build asks, as that of what runs alone needs nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field of the wheel's metadata; ``settings`` has what the whole package needs."""
    is_whole = not os.environ.get("PIPELINE_RUNTIME_ONLY")
    return {"dependencies": list(settings["needs"]) if is_whole else []}


def dynamic_wheel(settings: Mapping[str, Any]) -> dict[str, bool]:
    """Return the fields that a wheel may have otherwise than the sources."""
    return {"dependencies": True}
