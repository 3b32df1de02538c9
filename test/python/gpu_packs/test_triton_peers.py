"""The peers in Triton, without a GPU: what its interpreter makes of them, and that they compile."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from running.peers import TMA_NAMES, TORCH
from running.references import REFERENCES

REASON = "Triton or PyTorch is missing: ./tools/test --torch"
ROOT = Path(__file__).resolve().parents[3]
SHARED_LIMIT = 227 << 10
"""The bytes of workgroup memory that a block may have on sm_90."""


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    pytest.importorskip("torch", reason=REASON)
    pytest.importorskip("triton", reason=REASON)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")  # 3.9 warns where nothing is said
    return importlib.import_module("running.triton_peers")


def test_there_is_a_kernel_for_all(peers: Any) -> None:
    without = {"copy", "batch_matmul", "attention"}
    assert set(peers.TRITON) | without == set(TORCH) == set(REFERENCES)
    assert set(peers.TRITON_TMA) == set(TMA_NAMES)


@pytest.mark.usefixtures("peers")
def test_the_interpreter_finds_them_right() -> None:
    program = Path(__file__).with_name("triton_interpreted.py")
    path = os.pathsep.join(str(ROOT / name) for name in ("tools/gpu", "python"))
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def compile_kernel(kernel: Any, types: dict[str, str], chip: int, **constants: Any) -> Any:
    """Compile for sm_`chip`; what is no constant and has no type is an i32.

    A tuned kernel gets its first configuration, unless the constants have another.
    """
    triton = importlib.import_module("triton")
    compiler = importlib.import_module("triton.compiler")
    target = importlib.import_module("triton.backends.compiler").GPUTarget("cuda", chip, 32)
    options: dict[str, Any] = {}
    if configuration := constants.pop("configuration", None):
        constants |= configuration.kwargs
        options = {
            "num_warps": configuration.num_warps,
            "num_stages": configuration.num_stages,
        }
    signature = {
        name: "constexpr" if name in constants else types.get(name, "i32")
        for name in kernel.arg_names
    }
    source = compiler.ASTSource(kernel, signature, constants)
    return triton.compile(source, target=target, options=options)


@pytest.mark.parametrize("chip", [80, 90])
def test_those_by_pointers_compile(peers: Any, chip: int) -> None:
    products = importlib.import_module("running.triton_products")
    f32 = dict.fromkeys(("x", "windows", "out"), "*fp32")
    compiled = compile_kernel(peers._sum_columns, f32, chip, WIDTH=128, STEP=16)
    assert compiled.asm["cubin"]
    small = next(each for each in products._conv_2d.configs if each.kwargs["N"] == 32)
    sizes = {"HIGH": 3, "WIDE": 3, "PRECISION": "ieee"}
    compiled = compile_kernel(products._conv_2d.fn, f32, chip, configuration=small, **sizes)
    assert compiled.asm["cubin"]
    types = {"x": "*bf16", "y": "*bf16", "out": "*fp32"}
    compiled = compile_kernel(
        products._matmul.fn, types, chip, configuration=small, PRECISION="tf32"
    )
    assert "mma" in compiled.asm["ptx"]


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("made", ["fp32", "bf16"])
def test_products_by_the_tma_compile(peers: Any, made: str, is_transposed: bool) -> None:
    """They use what they are named for, and some configuration fits a GPU."""
    kernel = importlib.import_module("running.triton_products")._tma_matmul
    sizes = []
    for configuration in kernel.configs:
        m, n, k = (configuration.kwargs[name] for name in "MNK")
        types = {
            "x": f"tensordesc<bf16[{m},{k}]>",
            "y": f"tensordesc<bf16[{f'{n},{k}' if is_transposed else f'{k},{n}'}]>",
            "out": f"tensordesc<{made}[{m},{n // 2}]>",
        }
        options = {"PROGRAMS": 132, "IS_TRANSPOSED": is_transposed, "PRECISION": "tf32"}
        compiled = compile_kernel(kernel.fn, types, 90, configuration=configuration, **options)
        assert "cp.async.bulk.tensor.2d.shared" in compiled.asm["ptx"]
        assert "cp.async.bulk.tensor.2d.global" in compiled.asm["ptx"]
        assert "wgmma.mma_async" in compiled.asm["ptx"]
        sizes.append(compiled.metadata.shared)
    assert sum(size <= SHARED_LIMIT for size in sizes) >= 6, sizes
