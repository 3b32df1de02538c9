"""Kernels by themselves: launched by the driver, compared with what the emulator made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.runtime.cuda.driver import Driver
from pipeline.runtime.tensor_maps import TensorMapRequest

from .arrays import Array, Buffer, Bytes, Json, bind, inspect, read_buffer, surround
from .gpu import Gpu, Parameters, download, upload
from .oracle import Found, Oracle, compare_with
from .verdicts import Verdict

_OPT_IN_BYTES = 48 << 10
"""Workgroup memory that a launch may have without asking for it."""
_MAP_FIELDS = TensorMapRequest.__dataclass_fields__


def check_kernel(case: Json, folder: Path, gpu: Gpu, oracle: Oracle | None = None) -> Verdict:
    """Launch twice, with arrays aligned as little as may be and better, and compare.

    What the last launch makes is compared with the oracle's results too.
    """
    buffers = read_buffers(case, folder)
    differences: list[float] = []
    faults: dict[str, str] = {}
    results: dict[int, Found] = {}
    with gpu.entered() as driver:
        launch = load(case, folder, driver)
        for number, is_generous in enumerate((False, True), 1):
            leads = [buffer.lead(is_generous) for buffer in buffers]
            memories = [surround(b.before, lead) for b, lead in zip(buffers, leads, strict=True)]
            found = run(driver, launch, memories, leads)
            for memory, buffer, lead in zip(found, buffers, leads, strict=True):
                difference = inspect(memory, buffer, lead)
                differences.append(difference.largest)
                if difference.text:
                    both = difference.text in faults
                    faults[difference.text] = "" if both else f"launch {number} of 2, "
                results[buffer.record["argument"]] = _take(memory, buffer, lead)
    beside = compare_with(oracle, case, [_describe(buffer) for buffer in buffers], results)
    differences.append(beside.largest)
    texts = [launch + text for text, launch in faults.items()]
    texts += [beside.fault] if beside.fault else []
    is_number = not any(math.isnan(value) for value in differences)
    largest = max(differences, default=0.0) if is_number else math.nan
    compared = ["the emulator", "PyTorch"] if beside.is_done else ["the emulator"]
    word = "differ" if texts else "agree"
    texts += [beside.reason] if beside.reason else []
    return Verdict(word, "; ".join(texts), {"difference": largest, "compared": compared})


def _take(memory: Bytes, buffer: Buffer, lead: int) -> Found:
    """Return the elements of an array, as they may be compared with another's."""
    record = buffer.record
    elements = buffer.elements(memory[lead : lead + buffer.after.size])
    return Found(elements, record["element"], record["tolerance"])


def _describe(buffer: Buffer) -> tuple[Array, str]:
    return buffer.elements(buffer.before), buffer.record["element"]


def exercise_kernel(case: Json, folder: Path, gpu: Gpu) -> None:
    """Launch once, with arrays that fill their allocations: what is outside belongs to nobody.

    What the case lists in `unwritten` is not written before, as initcheck is to notice.
    """
    buffers = read_buffers(case, folder)
    unwritten = case.get("unwritten", ())
    with gpu.entered() as driver:
        launch = load(case, folder, driver)
        leads = [-b.record["start"] % b.record["alignment"] for b in buffers]
        memories = [
            np.concatenate([np.zeros(lead, np.uint8), buffer.before])
            for buffer, lead in zip(buffers, leads, strict=True)
        ]
        run(driver, launch, memories, leads, unwritten)


def read_buffers(case: Json, folder: Path) -> list[Buffer]:
    """Return the arrays of a case. Raises PackError."""
    return [read_buffer(folder, record) for record in case["arrays"]]


Launcher = Callable[[Sequence[int]], None]
"""Launches a kernel with arrays at addresses."""


def load(case: Json, folder: Path, driver: Driver) -> Launcher:
    """Return what launches the kernel of a case. Raises pipeline.Error."""
    image = (folder / case["ptx"]).read_bytes()
    function = driver.get_function(driver.load(image, 0), case["kernel"])
    shared_bytes = case["dynamic_shared_bytes"]
    if shared_bytes > _OPT_IN_BYTES:
        driver.set_dynamic_shared(function, shared_bytes)
    grid, block = tuple(case["grid"]), tuple(case["block"])

    def encode(parameter: Json, address: int) -> bytes:
        return driver.encode_tensor_map(_read_request(parameter), address)

    def launch(addresses: Sequence[int]) -> None:
        parameters = Parameters(bind(case["parameters"], addresses, encode))
        driver.prepare(function, grid, block, None, shared_bytes, parameters.address).call(0)
        driver.synchronize(0)

    return launch


def _read_request(parameter: Json) -> TensorMapRequest:
    fields: dict[str, Any] = {name: parameter[name] for name in _MAP_FIELDS}
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return TensorMapRequest(**fields | lists)


def run(
    driver: Driver,
    launch: Launcher,
    memories: Sequence[Bytes],
    leads: Sequence[int],
    unwritten: Sequence[int] = (),
) -> list[Bytes]:
    """Launch with copies of memories, in which arrays start at `leads`; return them afterwards."""
    places = [driver.allocate_for_graph(max(memory.size, 1)) for memory in memories]
    try:
        for number, (place, memory) in enumerate(zip(places, memories, strict=True)):
            if number not in unwritten:
                upload(driver, place, memory)
        launch([place + lead for place, lead in zip(places, leads, strict=True)])
        return [
            download(driver, place, memory.size)
            for place, memory in zip(places, memories, strict=True)
        ]
    finally:
        for place in places:
            driver.free_and_wait(place)
