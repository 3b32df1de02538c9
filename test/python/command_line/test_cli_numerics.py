"""``--numerics`` of ``compile`` and ``run``: exact products, or factors rounded to tf32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.command_line import call

SHAPE = (64, 64)
MATMUL = """\
!m = tensor<64x64xf32>
func.func @main(%a: !m, %b: !m, %c: !m) -> !m {
  %r = linalg.matmul ins(%a, %b : !m, !m) outs(%c : !m) -> !m
  return %r : !m
}
"""
TENSOR_CORES = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a file with a product of matrices of f32."""
    file = tmp_path / "matmul.mlir"
    file.write_text(MATMUL)
    return file


@pytest.mark.parametrize(
    ("options", "has_tensor_cores"),
    [((), False), (("--numerics", "exact"), False), (("--numerics", "tf32"), True)],
)
def test_compile(program: Path, options: tuple[str, ...], has_tensor_cores: bool) -> None:
    """Tensor cores multiply f32 only where that is asked for, and fused multiply-adds else."""
    outcome = call("compile", program, *options)
    assert outcome.code == 0, outcome.words
    assert (TENSOR_CORES in outcome.text) == has_tensor_cores
    assert ("fma.rn.f32" in outcome.text) == (not has_tensor_cores)


def test_chips_without_the_type(program: Path) -> None:
    """Tensor cores of sm_75 have no tf32: what is allowed is not done there."""
    outcome = call("compile", program, "--chip", "sm_75", "--numerics", "tf32")
    assert outcome.code == 0, outcome.words
    assert "mma.sync" not in outcome.text
    assert "fma.rn.f32" in outcome.text


def test_schedule_says_it(program: Path, tmp_path: Path) -> None:
    """The schedule that is printed asks for the tiles of tensor cores, and is the one applied."""
    printed = call("compile", program, "--emit", "schedule", "--numerics", "tf32")
    exact = call("compile", program, "--emit", "schedule")
    assert printed.code == exact.code == 0
    assert printed.text != exact.text
    schedule = tmp_path / "schedule.mlir"
    schedule.write_text(printed.text)
    given = call("compile", program, "--schedule", schedule, "--numerics", "tf32")
    chosen = call("compile", program, "--numerics", "tf32")
    assert given.text == chosen.text


def rounded(x: np.ndarray) -> np.ndarray:
    """Return f32 rounded to 10 bits of fraction, halves away from zero."""
    bits = x.view(np.uint32)
    nearest: np.ndarray = ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
    return nearest


@pytest.mark.parametrize("numerics", ["exact", "tf32"])
def test_run(program: Path, tmp_path: Path, numerics: str) -> None:
    """`run` computes what the option says: the one is far from the other."""
    numbers = np.random.default_rng(7)
    arrays = [numbers.standard_normal(SHAPE).astype(np.float32) for _ in range(3)]
    given: list[str | Path] = []
    for number, array in enumerate(arrays):
        np.save(tmp_path / f"{number}.npy", array)
        given += ["--arg", tmp_path / f"{number}.npy"]
    options = ("--numerics", numerics, "--backend", "emulator", "--check-races")
    outcome = call("run", program, *given, *options, "--out", tmp_path)
    assert outcome.code == 0, outcome.words
    a, b, c = arrays
    exact = c + a.astype(np.float64) @ b.astype(np.float64)
    of_tf32 = c + rounded(a).astype(np.float64) @ rounded(b).astype(np.float64)
    assert np.abs(exact - of_tf32).max() > 1e-3
    result = np.load(tmp_path / "result0.npy")
    np.testing.assert_allclose(result, exact if numerics == "exact" else of_tf32, atol=2e-5)


@pytest.mark.parametrize("command", ["compile", "run"])
def test_wrong_usage(program: Path, command: str) -> None:
    """Other words are refused, with those that there are."""
    outcome = call(command, program, "--numerics", "bf16")
    assert outcome.code == 2
    assert outcome.data == b""
    assert (
        outcome.words
        == "error: unknown numerics 'bf16'; there are exact; tf32; narrow; finite; tf32,narrow; "
        "tf32,finite; narrow,finite; tf32,narrow,finite\n"
    )
