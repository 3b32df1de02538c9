"""Arrays of the host on a GPU: copied in and out, whatever their layout, elements and library."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import pipeline
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import StandIn
from support.layouts import LAYOUTS

Array = npt.NDArray[Any]


def triple(memref: str) -> str:
    """Return a kernel of one thread that multiplies all elements by three."""
    return f"""
gpu.module @m {{
  gpu.func @k(%a: {memref}) kernel {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %three = arith.constant 3 : i32
    %m = memref.dim %a, %c0 : {memref}
    %n = memref.dim %a, %c1 : {memref}
    scf.for %i = %c0 to %m step %c1 {{
      scf.for %j = %c0 to %n step %c1 {{
        %x = memref.load %a[%i, %j] : {memref}
        %y = arith.muli %x, %three : i32
        memref.store %y, %a[%i, %j] : {memref}
      }}
    }}
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize("lead", [0, 1, 3])
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(gpu: StandIn, name: str, lead: int) -> None:
    """What lies between the elements, and around them, stays as it was."""
    view, memref = LAYOUTS[name]
    module = pipeline.compile(triple(memref), verify=False, sync="keep")
    EmulatedLaunches(gpu, module)
    memory = np.random.default_rng(1).integers(1, 100, 9 * 11 + 8, dtype=np.int32)
    expected = memory.copy()
    view(expected[lead : lead + 99].reshape(9, 11))[...] *= 3
    given = view(memory[lead : lead + 99].reshape(9, 11))
    module.kernels["k"].run(given, grid=1, block=1, backend="cuda")
    np.testing.assert_array_equal(memory, expected)


COPY = """
!t = tensor<?x?x{0}>
func.func @main(%a: !t) -> !t {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : !t
  %n = tensor.dim %a, %c1 : !t
  %e = tensor.empty(%n, %m) : !t
  %0 = linalg.transpose ins(%a : !t) outs(%e : !t) permutation = [1, 0]
  return %0 : !t
}}
"""
NARROW = {"bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2"}


def bits(element_type: str) -> Array:
    """Return all bits that a type has, the NaNs included."""
    size = 2 if element_type == "bf16" else 1
    every = np.arange(1 << (8 * size), dtype=f"u{size}")[:: 257 if size == 2 else 1]
    return every[:240].reshape(15, 16).copy()


@pytest.mark.parametrize("element_type", NARROW)
def test_narrow_floats(gpu: StandIn, element_type: str) -> None:
    """No bit of them changes on the way, also of NaNs."""
    module = pipeline.compile(COPY.format(element_type))
    EmulatedLaunches(gpu, module)
    own = bits(element_type).view(getattr(ml_dtypes, NARROW[element_type]))
    result = module.run(own, backend="cuda")
    assert result.dtype == own.dtype
    np.testing.assert_array_equal(result.view(f"u{own.itemsize}"), bits(element_type).T)


@pytest.mark.parametrize("element_type", NARROW)
def test_tensors_of_pytorch(gpu: StandIn, element_type: str) -> None:
    """Those on the host, where PyTorch is installed; results are tensors."""
    torch = pytest.importorskip("torch")
    module = pipeline.compile(COPY.format(element_type))
    EmulatedLaunches(gpu, module)
    plain = torch.from_numpy(bits(element_type).copy())
    given = plain.view(getattr(torch, NARROW[element_type]))
    for backend in ("cuda", "emulator"):
        result = module.run(given, backend=backend)
        assert isinstance(result, torch.Tensor)
        assert result.dtype == given.dtype
        found = result.view(plain.dtype).numpy()
        np.testing.assert_array_equal(found, bits(element_type).T)


def test_tensors_without_elements(gpu: StandIn) -> None:
    module = pipeline.compile(COPY.format("f32"))
    launches = EmulatedLaunches(gpu, module)
    for shape in ((0, 5), (5, 0), (0, 0)):
        result = module.run(np.empty(shape, "f4"), backend="cuda")
        assert result.shape == shape[::-1]
    assert not launches.launches


@pytest.fixture
def write(gpu: StandIn) -> pipeline.Module:
    text = """
!m = memref<?xf32>
func.func @main(%a: !m, %b: !m, %k: f32) {
  linalg.map { arith.mulf } ins(%a, %a : !m, !m) outs(%b : !m)
  return
}
"""
    module = pipeline.compile(text)
    EmulatedLaunches(gpu, module)
    return module


def read_only(size: int) -> Array:
    array = np.ones(size, "f4")
    array.flags.writeable = False
    return array


A, B = np.ones(8, "f4"), np.full(8, 7, "f4")
WRONG: dict[str, tuple[tuple[Any, ...], type[pipeline.Error], int | None]] = {
    "count": ((A, B), pipeline.CountError, None),
    "list": (([1.0] * 8, B, 1.0), pipeline.KindError, 0),
    "number": ((A, 1.0, 1.0), pipeline.KindError, 1),
    "array": ((A, B, B), pipeline.KindError, 2),
    "too large": ((A, B, 1e39), pipeline.KindError, 2),
    "type": ((A.astype("f8"), B, 1.0), pipeline.DTypeError, 0),
    "byte order": ((A.astype(">f4"), B, 1.0), pipeline.DTypeError, 0),
    "rank": ((A.reshape(2, 4), B, 1.0), pipeline.ShapeError, 0),
    "shape": ((A, B[:7], 1.0), pipeline.ShapeError, 1),
    "strides": ((A[::2], B[::2], 1.0), pipeline.LayoutError, 0),
    "overlap": ((B[:4], B[2:6], 1.0), pipeline.LayoutError, 1),
    "read-only": ((A, read_only(8), 1.0), pipeline.AccessError, 1),
}


@pytest.mark.parametrize("backend", ["cuda", "emulator"])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(gpu: StandIn, write: pipeline.Module, name: str, backend: str) -> None:
    """They are refused alike wherever they would run, and nothing has run."""
    values, error, index = WRONG[name]
    before = [value.copy() if isinstance(value, np.ndarray) else value for value in values]
    with pytest.raises(error) as caught:
        write.run(*values, backend=backend)  # type: ignore[arg-type]
    assert type(caught.value) is error
    assert isinstance(caught.value, pipeline.ArgumentError)
    assert caught.value.index == index
    assert str(caught.value).startswith(("error: ", "<string>:"))
    assert not gpu.calls()
    for value, old in zip(values, before, strict=True):
        np.testing.assert_array_equal(value, old)


def test_read_only_arrays_that_are_read(write: pipeline.Module) -> None:
    b = np.zeros(8, "f4")
    write.run(read_only(8), b, 2.0, backend="cuda")
    np.testing.assert_array_equal(b, 1)
