"""Many calls at a time, failures of the driver, captures, streams of the caller."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pipeline
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import StandIn
from gpu.tensors import Torch
from pipeline.runtime.cuda.driver import Driver

# Takes temporary memory, and several launches.
CHAIN = """
!t = tensor<?xf32>
func.func @main(%a: !t, %k: f32) -> !t {
  %0 = linalg.exp ins(%a : !t) outs(%a : !t) -> !t
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : !t
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce ins(%0 : !t) outs(%z : tensor<f32>) dimensions = [0]
    (%x: f32, %y: f32) {
      %r = arith.addf %x, %y : f32
      linalg.yield %r : f32
    }
  %2 = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%s : tensor<f32>) outs(%0 : !t) {
  ^bb0(%x: f32, %y: f32):
    %d = arith.divf %y, %x : f32
    %m = arith.mulf %d, %k : f32
    linalg.yield %m : f32
  } -> !t
  return %2 : !t
}
"""


READ = """
!m = memref<8xi32>
func.func @main(%a: !m) -> i32 {
  %t = memref.alloc() : !m
  memref.copy %a, %t : !m to !m
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %i3 = arith.constant 3 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c8, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %i3, %a[%bx] : !m
    gpu.terminator
  }
  %x = memref.load %a[%c0] : !m
  return %x : i32
}
"""


def expected(a: Any, k: float) -> Any:
    wide = np.exp(a.astype("f8"))
    return wide / wide.sum() * k


@pytest.fixture(scope="module")
def chain() -> pipeline.Module:
    return pipeline.compile(CHAIN)


@pytest.fixture
def run(gpu: StandIn, chain: pipeline.Module) -> Iterator[pipeline.Module]:
    """Return the module, with nothing loaded."""
    EmulatedLaunches(gpu, chain)
    chain._gpu._reset()
    yield chain
    chain._gpu._reset()


def values(size: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(-1, 1, size).astype("f4")


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run in threads; raise what one of them raised."""
    errors: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("where", ["host", "tensors"])
def test_threads(gpu: StandIn, torch: Torch, run: pipeline.Module, where: str) -> None:
    """Six threads, three shapes, one module."""

    def work(number: int) -> None:
        for turn in range(6):
            size = (7, 100, 300)[(number + turn) % 3]
            given = values(size, seed=10 * number + turn)
            put = torch.put if where == "tensors" else np.copy
            if where == "tensors":
                result = run(put(given), 1.0 + number).host
            else:
                result = run.run(put(given), 1.0 + number, backend="cuda")
            np.testing.assert_allclose(result, expected(given, 1.0 + number), rtol=1e-5)

    in_threads(6, work)


def test_two_modules_on_a_stream(gpu: StandIn, torch: Torch, run: pipeline.Module) -> None:
    """They share an arena, in turns."""
    other = pipeline.compile(CHAIN.replace("linalg.exp", "linalg.abs"))
    EmulatedLaunches(gpu, run, other)

    def work(number: int) -> None:
        for turn in range(6):
            given = values(64, seed=10 * number + turn)
            result = (run, other)[number % 2](torch.put(given), 2.0).host
            wide = np.abs(given.astype("f8"))
            wanted = wide / wide.sum() * 2 if number % 2 else expected(given, 2.0)
            np.testing.assert_allclose(result, wanted, rtol=1e-5)

    in_threads(4, work)


# --- failures -------------------------------------------------------------------------------------


def attempt(work: Callable[[], object]) -> BaseException | None:
    try:
        work()
    except BaseException as error:
        return error
    return None


OF_LIBRARIES = ("cuMemAlloc", "cuMemFree")
"""What the stand-in records for arrays that are none of ours."""


def fail_each(
    gpu: StandIn, prepare: Callable[[], None], call: Callable[[], None], *, leaks: bool
) -> int:
    """Have each call of the driver fail that a call of a program makes; return how many.

    The error is typed, the next call works, and no memory is lost, if that can be told.
    """
    prepare()
    gpu.calls()
    call()
    call()
    kept = gpu.live_bytes
    prepare()
    gpu.calls()
    call()
    names = [text.split(" ")[0] for text in gpu.calls(but=())]
    names = [name for name in names if not leaks or name not in OF_LIBRARIES]
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        prepare()
        gpu.fail(name, seen[name], 999)
        error = attempt(call)
        assert isinstance(error, (pipeline.DriverError, pipeline.DeviceUnavailable)), repr(error)
        assert name in str(error)
        gpu.fail("*", 0, 0)
        call()
        call()
        assert leaks or gpu.live_bytes == kept, name
    return len(names)


@pytest.mark.parametrize("where", ["host", "tensors"])
@pytest.mark.parametrize("warmth", ["cold", "warm", "larger"])
def test_each_call_of_the_driver_may_fail(
    gpu: StandIn, torch: Torch, run: pipeline.Module, where: str, warmth: str
) -> None:
    put = torch.put if where == "tensors" else np.copy

    def call(size: int) -> None:
        given = values(size)
        result = run.run(put(given), 2.0, backend="cuda")
        np.testing.assert_allclose(getattr(result, "host", result), expected(given, 2.0), rtol=1e-5)

    def prepare() -> None:
        gpu.reset()
        EmulatedLaunches(gpu, run)
        run._gpu._reset()
        if warmth != "cold":
            call(100)

    size = 300 if warmth == "larger" else 100
    count = fail_each(gpu, prepare, lambda: call(size), leaks=where == "tensors")
    assert count > (25 if warmth == "cold" else 4)


def test_each_call_may_fail_that_reads_for_the_host(gpu: StandIn) -> None:
    module = pipeline.compile(READ, sync="keep", verify=False)

    def call() -> None:
        a = np.arange(8, dtype=np.int32)
        assert module.run(a, backend="cuda") == 3
        np.testing.assert_array_equal(a, 3)

    def prepare() -> None:
        gpu.reset()
        EmulatedLaunches(gpu, module)
        module._gpu._reset()

    assert fail_each(gpu, prepare, call, leaks=False) > 20


def test_launches_that_fault(gpu: StandIn, torch: Torch, run: pipeline.Module) -> None:
    """What a kernel does is told when the driver tells of it."""
    gpu.break_launch(700)
    with pytest.raises(pipeline.DriverError, match=r"CUDA_ERROR_ILLEGAL_ADDRESS \(700\)"):
        run.run(values(50), 1.0, backend="cuda")


# --- captures -------------------------------------------------------------------------------------


def capture(driver: Driver, stream: int, work: Callable[[], None]) -> None:
    """Have a stream captured while something is queued on it."""
    api = driver._api
    driver.enter(0)
    assert int(api.cuStreamBeginCapture(stream, api.CUstreamCaptureMode(0))[0]) == 0
    try:
        work()
    finally:
        code, _ = api.cuStreamEndCapture(stream)
        assert int(code) == 0


def test_captures(gpu: StandIn, torch: Torch, run: pipeline.Module) -> None:
    """A call becomes part of the graph, with memory that no later call frees."""
    driver = Driver.get()
    torch.stream = stream = driver.create_stream(0)
    run.load(0)
    given = torch.put(values(100))
    results = []
    capture(driver, stream, lambda: results.append(run(given, 2.0)))
    calls = [call for call in gpu.calls() if call.startswith(("cuMemAlloc", "cuMemFree"))]
    assert calls == [call for call in calls if call.startswith("cuMemAlloc ")]
    for size in (100, 3000):
        warm = torch.put(values(size))
        np.testing.assert_allclose(run(warm, 2.0).host, expected(warm.host, 2.0), rtol=1e-5)


def test_reads_of_the_host_are_not_captured(gpu: StandIn, torch: Torch) -> None:
    module = pipeline.compile(READ, sync="keep", verify=False)
    EmulatedLaunches(gpu, module)
    driver = Driver.get()
    torch.stream = stream = driver.create_stream(0)
    a = torch.put(np.arange(8, dtype=np.int32))
    module.load(0)
    with pytest.raises(pipeline.AccessError, match="a CUDA graph is being captured, and the host"):
        capture(driver, stream, lambda: module(a))
    np.testing.assert_array_equal(a.host, np.arange(8))
    assert module(a) == 3


# --- streams --------------------------------------------------------------------------------------


class OfProtocol:
    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


def test_streams_of_the_caller(gpu: StandIn, torch: Torch, run: pipeline.Module) -> None:
    """Tensors are kept for them, unless they are the current one."""
    driver = Driver.get()
    stream = driver.create_stream(0)
    given = torch.put(values(100))
    for chosen in (stream, OfProtocol(stream)):
        given.streams.clear()
        gpu.calls()
        result = run(given, 2.0, stream=chosen)
        launches = [call for call in gpu.calls() if call.startswith("cuLaunch")]
        assert all(call.endswith(" on s1") for call in launches)
        assert given.streams == result.streams == [(stream, 0)]
        np.testing.assert_allclose(result.host, expected(given.host, 2.0), rtol=1e-5)
    torch.stream = stream
    given.streams.clear()
    run(given, 2.0, stream=stream)
    assert given.streams == []


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda driver: "s", pipeline.KindError, "must be a raw handle or a stream"),
        (lambda driver: driver.create_stream(1), pipeline.DeviceError, "of another GPU or context"),
        (lambda driver: 3.5, pipeline.KindError, "must be a raw handle"),
    ],
)
def test_wrong_streams(
    gpu: StandIn,
    torch: Torch,
    run: pipeline.Module,
    make: Callable[[Driver], Any],
    error: type[pipeline.Error],
    words: str,
) -> None:
    gpu.reset("chips=80,80")
    EmulatedLaunches(gpu, run)
    given = torch.put(values(100))
    stream = make(Driver.get())
    gpu.calls()
    with pytest.raises(error, match=words):
        run(given, 2.0, stream=stream)
    assert not [call for call in gpu.calls() if not call.startswith(("cuDevice", "cuCtx"))]


def test_streams_for_arrays_of_the_host(run: pipeline.Module) -> None:
    with pytest.raises(pipeline.KindError, match="the arrays are on the host"):
        run.run(values(10), 1.0, stream=0)
