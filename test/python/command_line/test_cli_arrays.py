"""``python -m pipeline run``: files of arrays whose elements NumPy has no name for."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from support.command_line import call

NEGATE = """
!t = tensor<4x8x{0}>
func.func @main(%a: !t) -> !t {{
  %0 = linalg.negf ins(%a : !t) outs(%a : !t) -> !t
  return %0 : !t
}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("element_type", "name"), [("bf16", "bfloat16"), ("f16", "float16"), ("f32", "float32")]
)
def test_results_are_arguments_again(folder: Path, element_type: str, name: str) -> None:
    """Also of elements that files do not name, of which they have the bytes."""
    Path("negate.mlir").write_text(NEGATE.format(element_type))
    values = np.random.default_rng(1).uniform(1, 2, (4, 8))
    given = values.astype(getattr(ml_dtypes, name, name))
    np.save("a.npy", given)
    for file, out, wanted in (("a.npy", "out", -given), ("out/result0.npy", "again", given)):
        outcome = call("run", "negate.mlir", "--arg", file, "--out", out)
        assert outcome.code == 0, outcome.words
        assert np.load(f"{out}/result0.npy").tobytes() == wanted.tobytes()


def test_bytes_of_another_size(folder: Path) -> None:
    Path("negate.mlir").write_text(NEGATE.format("bf16"))
    for dtype in ("V1", "V4", "f4", [("x", "u1"), ("y", "u1")]):
        np.save("a.npy", np.zeros((4, 8), dtype))
        outcome = call("run", "negate.mlir", "--arg", "a.npy")
        assert outcome.code == 2
        assert outcome.words.startswith("error: argument 0 has elements of type ")
