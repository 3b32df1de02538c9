"""Calls like ones before: what they are taken for, and what they are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pipeline
from gpu.conftest import Checks
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import StandIn
from gpu.tensors import Tensor, Torch
from pipeline.runtime.cuda.driver import Driver

ADD = """
!m = memref<?xf32>
func.func @main(%a: !m, %b: !m, %c: !m) {
  linalg.add ins(%a, %b : !m, !m) outs(%c : !m)
  return
}
"""
SCALE = """
!t = tensor<?xf32>
func.func @main(%a: !t, %k: f32, %n: index) -> (!t, f32, index) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%a : !t) {
  ^bb0(%x: f32):
    %i = arith.index_cast %n : index to i32
    %f = arith.sitofp %i : i32 to f32
    %y = arith.mulf %x, %k : f32
    %z = arith.addf %y, %f : f32
    linalg.yield %z : f32
  } -> !t
  return %0, %k, %n : !t, f32, index
}
"""


@pytest.fixture
def add(gpu: StandIn, torch: Torch) -> pipeline.Module:
    gpu.reset("chips=80,80")
    module = pipeline.compile(ADD)
    EmulatedLaunches(gpu, module)
    return module


def three(torch: Torch, size: int = 64, device: int = 0) -> list[Tensor]:
    random = np.random.default_rng(size)
    return [torch.put(random.random(size, "f4"), device) for _ in range(3)]


def test_shapes_that_take_turns(torch: Torch, add: pipeline.Module, checks: Checks) -> None:
    """Eight kinds of calls are known, the last first."""
    for turn in range(4):
        for size in range(1, 9):
            a, b, c = three(torch, size)
            add(a, b, c)
            np.testing.assert_array_equal(c.host, a.host + b.host)
        assert checks.count == 8, turn
    for size in range(1, 12):
        add(*three(torch, size))
    assert checks.count == 11
    add(*three(torch, 1))
    assert checks.count == 12


def test_numbers_are_those_of_each_call(gpu: StandIn, torch: Torch, checks: Checks) -> None:
    module = pipeline.compile(SCALE)
    EmulatedLaunches(gpu, module)
    numbers = [(2.0, 3), (2.5, 3), (-1e-3, 40), (0.0, -7), (-0.0, 2)]
    for count, (k, n) in enumerate(numbers):
        a = torch.put(np.linspace(1, 2, 33, dtype="f4"))
        before = a.host.copy()
        result, factor, number = module(a, k, n)
        np.testing.assert_allclose(result.host, before * np.float32(k) + n, rtol=1e-6)
        np.testing.assert_array_equal(a.host, before)
        assert (factor, number) == (np.float32(k), n)
        assert checks.count == 1, count
    wrong: list[tuple[Any, Any, str]] = [
        (1e300, 3, "does not fit f32"),
        (1.0, 2.5, "does not fit index"),
    ]
    for factor, number, error in wrong:
        with pytest.raises(pipeline.KindError, match=error):
            module(torch.put(np.ones(33, "f4")), factor, number)


CHOOSE = """
!m = memref<4xf32>
func.func @main(%a: !m, %p: i1, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %f = arith.uitofp %p : i1 to f32
    memref.store %f, %a[%c0] : !m
    memref.store %x, %a[%c1] : !m
    gpu.terminator
  }
  return
}
"""


def test_truth_values_and_whole_numbers(gpu: StandIn, torch: Torch, checks: Checks) -> None:
    """A call may have any number of Python; those of NumPy are checked and drive none out."""
    module = pipeline.compile(CHOOSE, sync="keep")
    EmulatedLaunches(gpu, module)
    a = torch.put(np.full(4, 9, "f4"))
    for p, x in ((True, 2), (False, 2.5), (1, True), (0, -7), (True, 1 << 20)):
        module(a, p, x)
        np.testing.assert_array_equal(a.host, np.array([p, x, 9, 9], "f4"))
    assert checks.count == 1
    for number in range(1, 10):
        module(a, np.bool_(True), number)
        module(a, True, np.float32(number))
        np.testing.assert_array_equal(a.host, np.array([1, number, 9, 9], "f4"))
    assert checks.count == 19
    module(a, False, 0.5)
    assert checks.count == 19
    with pytest.raises(pipeline.KindError, match=r"argument 2 is .* does not fit f32"):
        module(a, True, 1 << 200)


def other_type(torch: Torch, c: Tensor) -> Tensor:
    c.dtype = torch.int32
    return c


def subclass(torch: Torch, c: Tensor) -> Tensor:
    class Parameter(Tensor):
        pass

    c.__class__ = Parameter
    return c


def misaligned(torch: Torch, c: Tensor) -> Tensor:
    whole = torch.put(np.ones(c.numel() + 1, "f4"))
    return whole.as_strided(c.shape, (1,), 1)


def strided(torch: Torch, c: Tensor) -> Tensor:
    whole = torch.put(np.ones(2 * c.numel(), "f4"))
    return whole.as_strided(c.shape, (2,), 0)


def set_field(name: str, value: Any) -> Callable[[Torch, Tensor], Tensor]:
    def change(torch: Torch, c: Tensor) -> Tensor:
        setattr(c, name, value)
        return c

    return change


CHANGES: dict[
    str, tuple[Callable[[Torch, Tensor], Any], type[pipeline.ArgumentError] | None, str]
] = {
    "type": (other_type, pipeline.DTypeError, "argument 2 has elements of type int32"),
    "subclass": (subclass, None, ""),
    "alignment": (misaligned, pipeline.LayoutError, "no multiple of 16 bytes: pass a copy"),
    "strides": (strided, pipeline.LayoutError, "argument 2 has strides (2,) in elements"),
    "shape": (
        lambda torch, c: torch.put(np.ones(65, "f4")),
        pipeline.ShapeError,
        "must be 64",
    ),
    "rank": (
        lambda torch, c: torch.put(np.ones((8, 8), "f4")),
        pipeline.ShapeError,
        "has 1 dimensions",
    ),
    "device": (
        lambda torch, c: torch.put(np.ones(64, "f4"), 1),
        pipeline.DeviceError,
        "argument 2 is on GPU 1, but argument 0 is on GPU 0",
    ),
    "host": (
        lambda torch, c: np.ones(64, "f4"),
        pipeline.DeviceError,
        "argument 2 is on the host, but argument 0 is on GPU 0",
    ),
    "negated": (set_field("negated", True), pipeline.LayoutError, "conjugates or negates"),
    "grad": (set_field("requires_grad", True), pipeline.AccessError, "requires grad"),
    "freed": (set_field("address", 0), pipeline.AccessError, "has no storage"),
    "sparse": (set_field("layout", "sparse_coo"), pipeline.LayoutError, "layout sparse_coo"),
    "list": (lambda torch, c: [1.0], pipeline.KindError, "not list"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_calls_that_differ(
    gpu: StandIn, torch: Torch, add: pipeline.Module, checks: Checks, name: str
) -> None:
    """All of them are checked; those that are wrong have done nothing."""
    change, error, words = CHANGES[name]
    add(*three(torch))
    add(*three(torch))
    assert checks.count == 1
    a, b, c = three(torch)
    if name == "sparse":
        c.stride = lambda: 1 / 0  # type: ignore[method-assign, assignment, return-value]
    before = a.host.copy(), b.host.copy()
    changed = change(torch, c)
    gpu.calls()
    if error is None:
        add(a, b, changed)
        np.testing.assert_array_equal(changed.host, a.host + b.host)
    else:
        with pytest.raises(error) as caught:
            add(a, b, changed)
        assert words in str(caught.value)
        assert isinstance(caught.value, pipeline.ArgumentError)
        assert caught.value.index == 2
        assert type(caught.value) is error
        assert not gpu.calls()
    assert checks.count == 2
    np.testing.assert_array_equal((a.host, b.host), before)


def test_overlap(torch: Torch, add: pipeline.Module, checks: Checks) -> None:
    whole = torch.put(np.ones(256, "f4"))
    a, b, c = (whole.as_strided((64,), (1,), 64 * at) for at in range(3))
    add(a, b, c)
    add(a, a, c)
    add(b, a, c)
    assert checks.count == 1
    for at in (0, 60, 68, 124):
        overlapping = whole.as_strided((64,), (1,), at)
        with pytest.raises(pipeline.LayoutError, match="argument 2 overlaps argument"):
            add(a, b, overlapping)
    assert checks.count == 5
    np.testing.assert_array_equal(whole.host[:128], 1)


def test_views_that_conjugate(gpu: StandIn, torch: Torch) -> None:
    """They have type, address, shape and strides of what they conjugate."""
    module = pipeline.compile("""
!m = memref<?xcomplex<f32>>
func.func @main(%a: !m, %b: !m) {
  memref.copy %a, %b : !m to !m
  return
}
""")
    EmulatedLaunches(gpu, module)
    a, b = (torch.put(np.array([1 + 2j, 3 - 1j], "c8") * factor) for factor in (1, 2))
    module(a, b)
    np.testing.assert_array_equal(b.host, a.host)
    a.conjugated = True
    with pytest.raises(pipeline.LayoutError, match="argument 0 is a view that conjugates"):
        module(a, b)


def test_wrong_numbers_of_arguments(torch: Torch, add: pipeline.Module) -> None:
    tensors = three(torch)
    add(*tensors)
    for given in (tensors[:2], [*tensors, tensors[0]], []):
        with pytest.raises(pipeline.CountError, match="takes 3 arguments"):
            add(*given)


def test_no_grad(torch: Torch, add: pipeline.Module, checks: Checks) -> None:
    a, b, c = three(torch)
    add(a, b, c)
    a.requires_grad = True
    torch.grad = False
    add(a, b, c)
    assert checks.count == 1
    torch.grad = True
    with pytest.raises(pipeline.AccessError, match="argument 0 requires grad"):
        add(a, b, c)


def test_devices_and_contexts(
    gpu: StandIn, torch: Torch, add: pipeline.Module, checks: Checks
) -> None:
    """Each launch is on its device, and the caller's context is current afterwards."""
    driver = Driver.get()
    for device in (0, 1, 1, 0, 1):
        driver.enter(1 - device)
        before = driver._current()[1]
        a, b, c = three(torch, device=device)
        add(a, b, c)
        np.testing.assert_array_equal(c.host, a.host + b.host)
        assert int(driver._current()[1]) == int(before)
    assert checks.count == 2
    assert torch.asked[-5:] == [0, 1, 1, 0, 1]


def test_streams(gpu: StandIn, torch: Torch, add: pipeline.Module) -> None:
    """The current stream is asked for at each call."""
    driver = Driver.get()
    streams = [driver.create_stream(0) for _ in range(2)]
    add(*three(torch))
    for number, stream in enumerate(streams, 1):
        torch.stream = stream
        gpu.calls()
        add(*three(torch))
        (call,) = (call for call in gpu.calls() if call.startswith("cuLaunch"))
        assert call.endswith(f" on s{number}")
