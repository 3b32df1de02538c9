"""What `tools/bench static` asks of Triton and IREE."""

from __future__ import annotations

import re

import pytest

from benchmarks.static import peers
from benchmarks.static.cases import Case, cases, matmul
from benchmarks.static.rows import Row
from packing.references import by_row


def find(start: str) -> Case:
    return next(case for case in cases() if case.name.startswith(start))


def test_programs_on_tensors() -> None:
    """Programs that write to memory are rewritten, all others left as they are."""
    text = by_row("layer_norm", 64, 256, ()).text
    rewritten = peers.on_tensors(text)
    assert "bufferization" not in rewritten
    assert "memref" not in rewritten
    assert (
        "func.func @main(%x0: tensor<64x256xf32>, %x1: tensor<256xf32>, %x2: tensor<256xf32>)"
        " -> tensor<64x256xf32> {" in rewritten
    )
    assert rewritten.rstrip().endswith("return %r : tensor<64x256xf32>\n}")
    for case in cases():
        if case.group != "memory":
            assert peers.on_tensors(case.text) == case.text
        else:
            assert "memref" not in peers.on_tensors(case.text)


def test_requests() -> None:
    """Strides are those of the layouts; blocks cover the result; nobody is asked what he cannot."""
    request = peers.ask_triton(matmul(4096, 2048, 1024, "f16", "TN"))
    assert request
    integers = request["integers"]
    assert (integers["x_row"], integers["x_column"]) == (1, 4096)
    assert (integers["y_row"], integers["y_column"]) == (2048, 1)
    assert request["blocks"] * request["constants"]["M"] * request["constants"]["N"] == 4096 * 2048
    assert request["pointers"] == ["fp16", "fp16", "fp32"]
    softmax = peers.ask_triton(find("softmax 8191x4097 f32"))
    assert softmax
    assert softmax["constants"]["BLOCK"] == 8192
    assert peers.ask_triton(find("conv_2d_nchw")) is None
    assert peers.ask_triton(find("attention f16 64 heads, 1 rows")) is None
    asked = [case for case in cases() if peers.ask_triton(case)]
    assert {case.group for case in asked} == {"matmul", "narrow", "conv", "attention", "memory"}


def test_missing_peers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One that cannot be installed is told and left out."""
    for peer in (peers.TRITON, peers.IREE):
        monkeypatch.setattr(peer, "failure", "not installed: there is no network")
        monkeypatch.setattr(type(peer), "install", lambda self: None)
    assert (
        list(peers.measure_peers([matmul(64, 64, 64, "f32")], ["sm_80"], ["Triton", "IREE"])) == []
    )
    output = capsys.readouterr().out
    assert re.findall(r"^(\w+) not installed: there is no network$", output, re.M) == [
        "Triton",
        "IREE",
    ]


def test_failing_peers() -> None:
    """What a peer refuses has a row that says why."""
    case = matmul(64, 64, 64, "f32")
    row = peers.make_row(case, "sm_80", "IREE", [{"error": "no PTX"}], 0)
    assert row == Row(case, "sm_80", "IREE", note="no PTX")
