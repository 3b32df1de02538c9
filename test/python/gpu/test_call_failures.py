"""Each call of the driver fails once, in calls of programs: what callers see, and what is left."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import pipeline
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import StandIn
from gpu.tensors import Torch

# A product with a temporary before it, a constant, and a result.
PROGRAM = """
!t = tensor<?x?xf32>
func.func @main(%a: !t, %b: !t, %c: !t) -> !t {
  %0 = linalg.exp ins(%a : !t) outs(%a : !t) -> !t
  %1 = linalg.matmul ins(%0, %b : !t, !t) outs(%c : !t) -> !t
  %2 = linalg.abs ins(%1 : !t) outs(%1 : !t) -> !t
  return %2 : !t
}
"""
ERROR = 987

Array = np.ndarray[Any, Any]


def arrays() -> list[Array]:
    rng = np.random.default_rng(9)
    return [rng.uniform(0.1, 1, shape).astype("f4") for shape in ((9, 7), (7, 12), (9, 12))]


def expected() -> Array:
    a, b, c = (array.astype("f8") for array in arrays())
    result: Array = np.abs(c + np.exp(a) @ b)
    return result


@pytest.fixture(scope="module")
def module() -> pipeline.Module:
    return pipeline.compile(PROGRAM)


def begin(gpu: StandIn, module: pipeline.Module) -> pipeline.Module:
    """Return a copy of a module that has not been called, on a driver that has not either."""
    gpu.reset()
    EmulatedLaunches(gpu, module)
    copy: pipeline.Module = pickle.loads(pickle.dumps(module))
    return copy


@pytest.mark.parametrize("where", ["host", "tensors"])
@pytest.mark.parametrize("calls_before", [0, 1])
def test_each_call_fails_once(
    gpu: StandIn, torch: Torch, module: pipeline.Module, where: str, calls_before: int
) -> None:
    def run(program: pipeline.Module) -> Array:
        if where == "host":
            result: Array = program.run(*arrays(), backend="cuda")
            return result
        given = [torch.put(array) for array in arrays()]
        made = program(*given)
        copy: Array = made.host.copy()
        for tensor in (*given, made):
            tensor.owner.release()
        return copy

    program = begin(gpu, module)
    for _ in range(calls_before):
        run(program)
    gpu.calls()
    run(program)
    calls = gpu.calls(but=())
    assert ("cuModuleLoadDataEx" in calls) == (calls_before == 0)
    run(program)
    kept, loaded = gpu.live_bytes, gpu.loaded_modules
    for number, call in enumerate(calls, 1):
        program = begin(gpu, module)
        for _ in range(calls_before):
            run(program)
        gpu.fail("*", number, ERROR)
        with pytest.raises((pipeline.DriverError, pipeline.DeviceUnavailable)) as caught:
            run(program)
        assert call.split(" ")[0] in str(caught.value), call
        assert str(ERROR) in str(caught.value), call
        np.testing.assert_allclose(run(program), expected(), rtol=1e-5, err_msg=call)
        assert not gpu.errors, call
        assert gpu.loaded_modules == loaded, call
        if where == "host":
            assert gpu.live_bytes == kept, call
