"""Arrays of the host after a call that failed: nothing of the GPU still reads or writes them."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import StandIn
from pipeline.diagnostics import Location
from pipeline.runtime.cuda.copies import copy_actions
from pipeline.runtime.host.memory import Buffer, Memory

ADD = """
!m = memref<?xf32>
func.func @main(%a: !m, %b: !m, %c: !m) {
  linalg.add ins(%a, %b : !m, !m) outs(%c : !m)
  return
}
"""


@pytest.mark.parametrize("name", ["cuLaunchKernelEx", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync"])
def test_copies_are_waited_for(gpu: StandIn, name: str) -> None:
    """Copies from memory that is pinned go on after the functions that queue them return."""
    module = pipeline.compile(ADD)
    EmulatedLaunches(gpu, module)
    arrays = [np.ones(100, np.float32) for _ in range(3)]
    module.run(*arrays, backend="cuda")
    gpu.calls()
    gpu.fail(name, 1, 2)
    with pytest.raises(pipeline.DriverError, match=name):
        module.run(*arrays, backend="cuda")
    calls = gpu.calls()
    failed = max(number for number, call in enumerate(calls) if call.startswith(name))
    assert any(call.startswith("cuStreamSynchronize") for call in calls[failed:]), calls
    module.run(*arrays, backend="cuda")
    np.testing.assert_array_equal(arrays[2], 2)


def test_a_call_that_succeeds_waits_once(gpu: StandIn) -> None:
    module = pipeline.compile(ADD)
    EmulatedLaunches(gpu, module)
    arrays = [np.ones(100, np.float32) for _ in range(3)]
    module.run(*arrays, backend="cuda")
    gpu.calls()
    module.run(*arrays, backend="cuda")
    assert sum(call.startswith("cuStreamSynchronize") for call in gpu.calls()) == 1


@pytest.mark.parametrize(("apart", "copies"), [((1 << 31) - 4, 1), (1 << 31, 3)])
def test_rows_that_are_further_apart_than_the_driver_takes(apart: int, copies: int) -> None:
    def view(number: int, row: int) -> Memory:
        return Memory(Buffer(number, 0, 1 << 40), 0, (3, 8), (row, 1), "f32", 4)

    actions = copy_actions(view(0, apart // 4), view(1, 8), Location("", 0, 0))
    assert len(actions) == copies
    assert [action.source.offset for action in actions] == [n * apart for n in range(copies)]
