"""What is said where PyTorch is not installed, or too old: nothing else needs it."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import pipeline
from pytorch.blocks import BLOCKS


def test_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    module = pipeline.compile(BLOCKS[0].path(with_weights=False))
    with pytest.raises(pipeline.ToolError, match="PyTorch is not installed: pip install torch"):
        pipeline.torch.custom_op(module, "test::missing")


def test_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    old: Any = ModuleType("torch")
    old.__version__, old.library = "2.3.1", SimpleNamespace()
    monkeypatch.setitem(sys.modules, "torch", old)
    module = pipeline.compile(BLOCKS[0].path(with_weights=False))
    with pytest.raises(
        pipeline.ToolError, match=r"PyTorch 2\.3\.1 has no .*: install 2\.4 or newer"
    ):
        pipeline.torch.custom_op(module, "test::old")
