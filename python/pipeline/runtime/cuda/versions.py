"""What autograd has to be told when tensors are written behind its back."""

from __future__ import annotations

import sys
from typing import Any


def bump_version(library: str, array: Any) -> None:
    """Tell of a write: what is saved for a gradient is known to be stale then."""
    torch = sys.modules.get("torch")
    if library == "torch" and torch is not None:
        torch.autograd.graph.increment_version(array)
