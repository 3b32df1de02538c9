"""Calls like ones before on streams of the caller, and on arrays of CuPy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pipeline
from gpu.conftest import Checks
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import StandIn
from gpu.tensors import Torch
from gpu.test_guards import ADD, SCALE, three
from gpu.test_libraries import FakeCupy
from pipeline.runtime.cuda.driver import Driver


@pytest.fixture
def add(gpu: StandIn, torch: Torch) -> pipeline.Module:
    gpu.reset("chips=80,80")
    module = pipeline.compile(ADD)
    EmulatedLaunches(gpu, module)
    return module


# --- streams of the caller ------------------------------------------------------------------------


def test_the_callers_streams(
    gpu: StandIn, torch: Torch, add: pipeline.Module, checks: Checks
) -> None:
    """Tensors are kept for a stream that PyTorch does not work on, and for no other."""
    driver = Driver.get()
    one, two = (driver.create_stream(0) for _ in range(2))
    add(*three(torch))
    for given, number, is_kept in ((one, 1, True), (two, 2, True), (0, 0, False), (one, 1, True)):
        tensors = three(torch)
        gpu.calls()
        add(*tensors, stream=given)
        (call,) = (call for call in gpu.calls() if call.startswith("cuLaunch"))
        assert call.endswith(f" on s{number}" if number else "on 0"), call
        assert [tensor.streams for tensor in tensors] == [[(given, 0)] if is_kept else []] * 3
        driver.synchronize(given)
        a, b, c = tensors
        np.testing.assert_array_equal(c.host, a.host + b.host)
    torch.stream = two
    tensors = three(torch)
    add(*tensors, stream=two)
    assert not any(tensor.streams for tensor in tensors)
    add(*three(torch))
    assert checks.count == 1


def test_streams_that_do_not_fit(torch: Torch, add: pipeline.Module, gpu: StandIn) -> None:
    driver = Driver.get()
    driver.enter(1)
    other = driver.create_stream(1)
    closed = driver.create_stream(1)
    driver.destroy_stream(closed)
    tensors = three(torch)
    add(*tensors)
    wrong: list[tuple[Any, type[pipeline.ArgumentError], str]] = [
        (other, pipeline.DeviceError, "is of another GPU or context"),
        (closed, pipeline.DeviceError, "is closed, or is none"),
        ("s", pipeline.KindError, "must be a raw handle"),
        (-1, pipeline.KindError, "must be a raw handle"),
    ]
    before = tensors[2].host.copy()
    for stream, error, words in wrong:
        for values in (three(torch), three(torch, 33)):  # by a guard, and by the checks
            gpu.calls()
            with pytest.raises(error, match=words):
                add(*values, stream=stream)
            assert not any(call.startswith(("cuLaunch", "cuMem")) for call in gpu.calls())
    np.testing.assert_array_equal(tensors[2].host, before)


def test_results_on_a_stream_of_the_caller(gpu: StandIn, torch: Torch, checks: Checks) -> None:
    """They may be of memory that PyTorch has used, for which the stream waits; they are kept."""
    module = pipeline.compile(SCALE)
    EmulatedLaunches(gpu, module)
    stream = Driver.get().create_stream(0)
    for turn in range(3):
        a = torch.put(np.linspace(1, 2, 33, dtype="f4"))
        gpu.calls()
        result, _, _ = module(a, 2.0, 3, stream=stream)
        calls = gpu.calls()
        waits = [n for n, call in enumerate(calls) if call.startswith("cuStreamWaitEvent")]
        launch = next(n for n, call in enumerate(calls) if call.startswith("cuLaunch"))
        assert len(waits) == 1, turn
        assert waits[0] < launch, turn
        assert a.streams == result.streams == [(stream, 0)]
        Driver.get().synchronize(stream)
        np.testing.assert_allclose(result.host, a.host * 2 + 3, rtol=1e-6)
    assert checks.count == 1


# --- CuPy -----------------------------------------------------------------------------------------


@pytest.fixture
def cupy(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> FakeCupy:
    gpu.reset("chips=80,80")
    made = FakeCupy(gpu)
    monkeypatch.setitem(sys.modules, "cupy", made)
    return made


def three_of_cupy(cupy: FakeCupy, size: int = 64, device: int = 0) -> list[Any]:
    random = np.random.default_rng(size)
    return [cupy.put(random.random(size, "f4"), device) for _ in range(3)]


@pytest.fixture
def add_cupy(cupy: FakeCupy, gpu: StandIn) -> pipeline.Module:
    module = pipeline.compile(ADD)
    EmulatedLaunches(gpu, module)
    return module


def test_arrays_of_cupy(cupy: FakeCupy, add_cupy: pipeline.Module, checks: Checks) -> None:
    for size in (64, 65, 64, 64, 65):
        for device in (0, 1):
            a, b, c = three_of_cupy(cupy, size, device)
            add_cupy(a, b, c)
            np.testing.assert_array_equal(c.host, a.host + b.host)
    assert checks.count == 4


def test_the_current_stream_of_cupy(
    gpu: StandIn, cupy: FakeCupy, add_cupy: pipeline.Module, checks: Checks
) -> None:
    """It is asked for at each call; a stream of the caller is waited for by CuPy's own."""
    driver = Driver.get()
    one, two = (driver.create_stream(0) for _ in range(2))
    add_cupy(*three_of_cupy(cupy))
    for number, stream in enumerate((one, two), 1):
        cupy.stream = stream
        gpu.calls()
        add_cupy(*three_of_cupy(cupy))
        calls = gpu.calls()
        (call,) = (call for call in calls if call.startswith("cuLaunch"))
        assert call.endswith(f" on s{number}")
        assert not any(call.startswith("cuStreamWaitEvent") for call in calls)
    gpu.calls()
    add_cupy(*three_of_cupy(cupy), stream=one)
    calls = gpu.calls()
    launch = next(n for n, call in enumerate(calls) if call.startswith("cuLaunch"))
    assert calls[launch].endswith(" on s1")
    wait = next(n for n, call in enumerate(calls) if call.startswith("cuStreamWaitEvent"))
    assert launch < wait
    assert "s2" in calls[wait]
    assert checks.count == 1


CUPY_CHANGES: dict[
    str, tuple[Callable[[FakeCupy, Any], Any], type[pipeline.ArgumentError], str]
] = {
    "type": (
        lambda cupy, c: cupy.put(np.ones(64, "i4")),
        pipeline.DTypeError,
        "argument 2 has elements of type int32",
    ),
    "shape": (lambda cupy, c: cupy.put(np.ones(65, "f4")), pipeline.ShapeError, "must be 64"),
    "strides": (
        lambda cupy, c: cupy.ndarray((64,), "f4", cupy.put(np.ones(128, "f4")).data, (8,)),
        pipeline.LayoutError,
        "argument 2 has strides (2,) in elements",
    ),
    "alignment": (
        lambda cupy, c: cupy.ndarray((64,), "f4", cupy.put(np.ones(65, "f4")).data + 4),
        pipeline.LayoutError,
        "no multiple of 16 bytes: pass a copy",
    ),
    "device": (
        lambda cupy, c: cupy.put(np.ones(64, "f4"), 1),
        pipeline.DeviceError,
        "argument 2 is on GPU 1, but argument 0 is on GPU 0",
    ),
    "host": (
        lambda cupy, c: np.ones(64, "f4"),
        pipeline.DeviceError,
        "argument 2 is on the host, but argument 0 is on GPU 0",
    ),
}


@pytest.mark.parametrize("name", CUPY_CHANGES)
def test_arrays_of_cupy_that_differ(
    gpu: StandIn, cupy: FakeCupy, add_cupy: pipeline.Module, checks: Checks, name: str
) -> None:
    change, error, words = CUPY_CHANGES[name]
    add_cupy(*three_of_cupy(cupy))
    add_cupy(*three_of_cupy(cupy))
    assert checks.count == 1
    a, b, c = three_of_cupy(cupy)
    changed = change(cupy, c)
    gpu.calls()
    with pytest.raises(error) as caught:
        add_cupy(a, b, changed)
    assert words in str(caught.value)
    assert not any(call.startswith("cuLaunch") for call in gpu.calls())
    assert checks.count == 2


def test_arrays_of_cupy_that_overlap(
    cupy: FakeCupy, add_cupy: pipeline.Module, checks: Checks
) -> None:
    whole = cupy.put(np.ones(256, "f4"))
    part = [cupy.ndarray((64,), "f4", whole.data + 256 * at) for at in range(3)]
    add_cupy(*part)
    add_cupy(part[1], part[0], part[2])
    assert checks.count == 1
    with pytest.raises(pipeline.LayoutError, match="argument 2 overlaps argument"):
        add_cupy(part[0], part[1], cupy.ndarray((64,), "f4", whole.data + 240))


def test_results_of_cupy(gpu: StandIn, cupy: FakeCupy, checks: Checks) -> None:
    module = pipeline.compile(SCALE)
    EmulatedLaunches(gpu, module)
    for k in (2.0, 3.0):
        a = cupy.put(np.linspace(1, 2, 33, dtype="f4"), 1)
        result, _, _ = module(a, k, 1)
        assert type(result) is type(a)
        assert result.device.id == 1
        np.testing.assert_allclose(result.host, a.host * np.float32(k) + 1, rtol=1e-6)
    assert checks.count == 1
