"""The thread's programs."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "Examples"
POSTED = (EXAMPLES / "promoted-matmul.mlir").read_text()
K_TILED = (EXAMPLES / "k-tiled-matmul.mlir").read_text()
