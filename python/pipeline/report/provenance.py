"""What made a document."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from .. import __version__
from .document import Provenance


def describe_provenance(
    source: str,
    ptx: str,
    *,
    command: str,
    chip: str,
    options: Mapping[str, str],
    ptxas: str = "",
) -> Provenance:
    """Return what made a document of a program; `ptx` is empty if there is none."""
    from .. import _native

    versions = {"mlir-workgroup": __version__, "llvm": _native.llvm_version()}
    if ptxas:
        versions["ptxas"] = ptxas
    return Provenance(
        versions=versions,
        command=command,
        chip=chip or _native.default_chip(),
        options=dict(options),
        source_sha256=_digest(source),
        ptx_sha256=_digest(ptx) if ptx else "",
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
