"""Calls on tensors of PyTorch itself, which are on the host here and are said to be on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pipeline
from gpu.stand_in_driver import StandIn
from pipeline.runtime import arrays

torch: Any = pytest.importorskip("torch", reason="PyTorch is missing: ./tools/test --torch")

ADD = """
!m = memref<?xf32>
func.func @main(%a: !m, %b: !m, %c: !m) {
  linalg.add ins(%a, %b : !m, !m) outs(%c : !m)
  return
}
"""


@pytest.fixture
def add(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> pipeline.Module:
    """Return a module that has been called, and whose launches do nothing."""
    find = arrays._view_torch
    monkeypatch.setattr(arrays, "_view_torch", lambda *args: find(*args)._replace(device=0))
    monkeypatch.setattr(arrays, "is_on_gpu", lambda value: isinstance(value, torch.Tensor))
    monkeypatch.setattr(torch._C, "_cuda_getCurrentRawStream", abs, raising=False)
    module = pipeline.compile(ADD)
    module(*(torch.ones(64) for _ in range(3)))
    assert module._gpu.guards
    return module


def freed() -> Any:
    tensor = torch.ones(64)
    tensor.untyped_storage().resize_(0)
    return tensor


TENSORS: dict[str, tuple[Callable[[], Any], type[pipeline.Error] | None]] = {
    "plain": (lambda: torch.ones(64), None),
    "parameter": (lambda: torch.nn.Parameter(torch.ones(64), requires_grad=False), None),
    "gradient": (lambda: torch.ones(64, requires_grad=True), pipeline.AccessError),
    "sparse": (lambda: torch.ones(64).to_sparse(), pipeline.LayoutError),
    "meta": (lambda: torch.ones(64, device="meta"), pipeline.AccessError),
    "negated": (
        lambda: torch.complex(torch.ones(64), torch.ones(64)).conj().imag,
        pipeline.LayoutError,
    ),
    "strided": (lambda: torch.ones(128)[::2], pipeline.LayoutError),
    "shifted": (lambda: torch.ones(65)[1:], pipeline.LayoutError),
    "double": (lambda: torch.ones(64).double(), pipeline.DTypeError),
    "matrix": (lambda: torch.ones(8, 8), pipeline.ShapeError),
    "freed": (freed, pipeline.AccessError),
    "inference": (torch.inference_mode()(lambda: torch.ones(64)), None),
}


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("place", [0, 2])
def test_tensors(gpu: StandIn, add: pipeline.Module, name: str, place: int) -> None:
    make, error = TENSORS[name]
    values = [torch.ones(64) for _ in range(3)]
    values[place] = make()
    gpu.calls()
    if error is None:
        add(*values)
    else:
        with pytest.raises(error, match=f"argument {place} "):
            add(*values)
    launched = [call for call in gpu.calls() if call.startswith("cuLaunch")]
    assert len(launched) == (error is None)


def test_tensors_of_vmap(gpu: StandIn, add: pipeline.Module) -> None:
    b, c = torch.ones(64), torch.ones(64)
    gpu.calls()
    with pytest.raises(pipeline.AccessError, match="argument 0 has no storage"):
        torch.vmap(lambda row: (add(row, b, c), row)[1])(torch.ones(2, 64))
    assert not gpu.calls()


def test_gradients_of_what_was_written_to(add: pipeline.Module) -> None:
    """What was saved for a gradient, and has been written to since, is not used."""
    x = torch.ones(64, requires_grad=True)
    y = x.exp()
    for call in (add, add.run):
        y = x.exp()
        call(torch.ones(64), torch.ones(64), y.detach())
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_no_grad(gpu: StandIn, add: pipeline.Module) -> None:
    x = torch.ones(64, requires_grad=True)
    gpu.calls()
    with torch.no_grad():
        add(x, torch.ones(64), torch.ones(64))
    assert [call for call in gpu.calls() if call.startswith("cuLaunch")]
