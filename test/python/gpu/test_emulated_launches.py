"""The corpus by way of the driver: code loaded, parameters laid out, numbers right."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np
import pytest

import pipeline
from corpus.emulating import check_results, make_arguments
from corpus.kernels import CASES, Case
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import DeviceArray, StandIn
from pipeline.runtime.arguments import Value, convert, evaluate, tensor_layout
from pipeline.runtime.cuda.code import Code
from pipeline.runtime.cuda.driver import Driver
from pipeline.runtime.tensor_maps import make_request
from pipeline.system.toolchain import find_ptxas

by_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


class Block:
    """The parameters of a launch, as a caller of the driver has them."""

    def __init__(self, driver: Driver, kernel: pipeline.Kernel, values: list[Value]) -> None:
        pieces = []
        for part, result in evaluate(kernel, values):
            view = values[part.argument].view
            if part.kind == "tensormap":
                tensor_map = kernel.arguments[part.argument].tensor_map
                assert view is not None
                assert tensor_map is not None
                request = make_request(tensor_layout(view), tensor_map, "a")
                pieces.append(driver.encode_tensor_map(request, view.address))
            elif part.kind == "pointer":
                assert view is not None
                assert isinstance(result, int)
                pieces.append((view.address + result).to_bytes(8, "little"))
            else:
                number = result if isinstance(result, bytes) else result.to_bytes(8, "little")
                pieces.append(number)
        self.values = [ctypes.create_string_buffer(piece, len(piece)) for piece in pieces]
        addresses = map(ctypes.addressof, self.values)
        self.pointers = (ctypes.c_void_p * max(len(pieces), 1))(*addresses)
        self.address = ctypes.addressof(self.pointers)


def launch(
    driver: Driver,
    module: pipeline.Module,
    cubins: dict[str, bytes],
    case: Case,
    arguments: list[Any],
) -> None:
    kernel = module.kernels[case.kernel]
    loaded = Code(module.ptx.encode(), cubins, list(module.kernels.values())).on(driver, 0)
    driver.enter(0)
    number = list(module.kernels).index(case.kernel)
    block = Block(driver, kernel, convert(kernel.name, kernel.arguments, arguments))
    cluster = kernel.cluster if kernel.cluster != (1, 1, 1) else None
    function = loaded.prepare(number, case.dynamic_bytes, cluster)
    sizes = (case.grid, case.block, cluster, case.dynamic_bytes)
    driver.prepare(function, *sizes, block.address).call(0)
    driver.synchronize(0)


def check(gpu: StandIn, case: Case, *, is_assembled: bool) -> None:
    match = re.fullmatch(r"sm_(\d+)[af]?", case.chip)
    assert match is not None
    gpu.reset(f"chips={match[1]}")
    module = pipeline.compile(case.text, chip=case.chip, sync="keep")
    launches = EmulatedLaunches(gpu, module)
    given = make_arguments(case)
    arrays = {n: gpu.put(value) for n, value in enumerate(given) if isinstance(value, np.ndarray)}
    arguments = [arrays[n].host if n in arrays else value for n, value in enumerate(given)]
    cubins = {case.chip: module.cubin} if is_assembled else {}
    launch(Driver.get(), module, cubins, case, arguments)
    (made,) = launches.launches
    assert made.name == case.kernel
    assert bool(made.image) == (not is_assembled)
    assert not gpu.errors, gpu.errors
    check_results(case, arguments)


@by_case
def test_corpus(gpu: StandIn, case: Case) -> None:
    check(gpu, case, is_assembled=False)


@pytest.mark.parametrize("case", CASES[::8], ids=[case.name for case in CASES[::8]])
def test_machine_code(gpu: StandIn, case: Case) -> None:
    """What ptxas made has the parameters that the signature says."""
    try:
        find_ptxas()
    except pipeline.ToolError:
        pytest.skip("there is no ptxas")
    check(gpu, case, is_assembled=True)


PAIR = """
gpu.module @kernels {
  gpu.func @twice(%a: memref<?xf32>, %b: memref<?xf32>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<?xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %b[%i] : memref<?xf32>
    gpu.return
  }
}
"""


@pytest.mark.parametrize("fault", ["freed", "host", "other GPU", "too short"])
def test_wrong_pointers_are_found(gpu: StandIn, fault: str) -> None:
    """What the stand-in lets pass proves nothing: it refuses what a GPU would fault on."""
    gpu.reset("chips=80,80")
    module = pipeline.compile(PAIR)
    EmulatedLaunches(gpu, module)
    a = gpu.put(np.ones(32, np.float32))
    b = gpu.put(np.ones(31 if fault == "too short" else 32, np.float32), fault == "other GPU")
    address = b.address
    host = np.ones(32, np.float32)
    if fault == "freed":
        b.release()
    if fault == "host":
        address = host.ctypes.data
    driver = Driver.get()
    driver.enter(0)
    function = (
        Code(module.ptx.encode(), {}, list(module.kernels.values())).on(driver, 0).functions[0]
    )
    values = (ctypes.c_uint64 * 2)(a.address, address)
    pointers = (ctypes.c_void_p * 2)(*(ctypes.addressof(values) + 8 * n for n in range(2)))
    sizes = ((1, 1, 1), (32, 1, 1), None, 0)
    driver.prepare(function, *sizes, ctypes.addressof(pointers)).call(0)
    (error,) = gpu.errors
    gpu.errors.clear()
    words = {"freed": "not allocated", "host": "not allocated", "other GPU": "memory of GPU 1"}
    assert words.get(fault, "out-of-bounds") in str(error) or "out of bounds" in str(error)


def test_arrays_of_the_stand_in(gpu: StandIn) -> None:
    array = DeviceArray(gpu, np.arange(6, dtype=np.int16).reshape(2, 3), 0)
    interface = array.__cuda_array_interface__
    assert interface["shape"] == (2, 3)
    assert interface["typestr"] == "<i2"
    assert interface["data"] == (array.address, False)
    assert gpu.live_bytes == 12
    array.release()
    assert gpu.live_bytes == 0
