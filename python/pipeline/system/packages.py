"""Packages beside this one: their versions, without importing them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

_CUDA = re.compile(r"^cuda\b[^=]*=\s*(?:'(?P<version>[\d.]+)'|\"(?P<other>[\d.]+)\"|None)", re.M)


def find_version(distribution: str) -> str | None:
    """Return the version of a distribution that is installed; None if it is not."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True, slots=True)
class Torch:
    """PyTorch as it is installed; ``cuda`` is what it was built for, empty for the CPU alone."""

    version: str
    cuda: str


def find_torch() -> Torch | None:
    """Return which PyTorch is installed, by the file that it has its version in."""
    try:
        found = util.find_spec("torch")
    except (ImportError, ValueError):
        found = None
    if found is None or found.origin is None:
        return None
    try:
        text = (Path(found.origin).parent / "version.py").read_text()
    except OSError:
        text = ""
    match = _CUDA.search(text)
    cuda = (match["version"] or match["other"] or "") if match else ""
    return Torch(find_version("torch") or "of no known version", cuda)


def is_runtime_only() -> bool:
    """Return whether this package was installed without its compiler."""
    folder = Path(__file__).parents[1]
    has_extension = util.find_spec("pipeline._native") is not None
    return not has_extension and not any(folder.glob("*.so"))
