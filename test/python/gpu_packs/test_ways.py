"""Reference programs, called in all ways on the stand-in, and what is told of wrong ones."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pipeline
from gpu.stand_in_driver import Launch
from gpu_packs.conftest import FaultyLaunches, Machine
from packing.programs import PackedProgram, pack_reference
from packing.published import published
from packing.references import REFERENCES, SMALL, Reference, by_row, matmul, small
from pipeline.runtime.cuda.driver import Driver
from running import ways
from running.arrays import decode
from running.doors import ML_TYPES, Door, DriverDoor
from running.references import REFERENCES as FUNCTIONS
from running.verdicts import Verdict

WAYS = [f"driver {way}" for way in ways.WAYS]


def check(packed: PackedProgram, machine: Machine, doors: Sequence[Door] | None = None) -> Verdict:
    """Check a reference program on the stand-in, with the faults of the machine."""
    for name, data in packed.files.items():
        file = machine.pack / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
    machine.gpu.reset()
    made = FaultyLaunches(machine.gpu, *packed.modules)
    made.faults, made.before = machine.faults, machine.before
    doors = [DriverDoor(Driver.get())] if doors is None else doors
    return ways.check_reference(packed.record, machine.pack, doors, lambda where: None)


@pytest.mark.parametrize("reference", list(small()), ids=lambda reference: reference.name)
def test_all_ways_agree(reference: Reference, machine: Machine) -> None:
    verdict = check(pack_reference(reference), machine)
    elements = {part.element for part in (*reference.inputs, reference.output)}
    is_plain = not elements & ML_TYPES.keys()
    assert verdict.verdict == "agree", verdict.detail
    assert verdict.figures["ways"] == ["host", *(WAYS if is_plain else [])]
    assert 0 <= verdict.figures["difference"] <= reference.tolerance
    assert ("driver: it has no arrays of" in verdict.detail) == (not is_plain)


def spoil(launch: Launch) -> None:
    """Change a number of the output, which the last pointer is to."""
    memory = launch.integer(len(launch.parameters) - 1)
    number = ctypes.c_float.from_address(memory + 4 * 5)
    number.value += 1.0


@pytest.mark.parametrize("which", range(1, 13))
def test_one_wrong_launch_is_seen(which: int, machine: Machine) -> None:
    """Whichever of the launches it is: of the host, of each way, of each stream, of a graph."""
    count = 0

    def sometimes(launch: Launch) -> None:
        nonlocal count
        count += 1
        if count == which:
            spoil(launch)

    packed = pack_reference(by_row("add", 37, 133, SMALL))
    machine.faults = {name: sometimes for name in packed.modules[0].kernels}
    verdict = check(packed, machine)
    # Arrays at odd offsets are refused. Of launches on a stream, the last one counts.
    is_overwritten = 4 <= which < 8
    assert (verdict.verdict == "agree") == is_overwritten, (which, count)
    assert count == 12
    assert is_overwritten or "differ" in verdict.detail


def test_what_lies_around_arrays_must_not_change(machine: Machine) -> None:
    packed = pack_reference(by_row("add", 37, 133, SMALL))

    def stray(launch: Launch) -> None:
        ctypes.c_float.from_address(launch.integer(1) + 4 * 37 * 133).value = 1.0

    machine.faults = dict.fromkeys(packed.modules[0].kernels, stray)
    verdict = check(packed, machine)
    assert verdict.verdict == "differ"
    # Arrays of the host are copied without what is around them.
    assert verdict.figures["ways"] == ["host", "driver odd offsets"]
    assert (
        "driver aligned: argument 1: bytes overwritten: 4 behind it (first: +0)" in verdict.detail
    )


def test_a_refused_call_that_wrote_is_told(machine: Machine) -> None:
    packed = pack_reference(by_row("add", 37, 133, SMALL))
    check(packed, machine)

    class Writer(DriverDoor):
        def call(self, module: object, arrays: Sequence[object], stream: int | None = None) -> None:
            address = arrays[0].__cuda_array_interface__["data"][0]  # type: ignore[attr-defined]
            ctypes.c_uint8.from_address(address).value ^= 1
            raise pipeline.LayoutError("error: argument 0 is not aligned", 0)

    buffers = ways.make_buffers(packed.record)
    found = ways.on_odd_offsets(None, Writer(Driver.get()), buffers)
    assert "it was refused (error: argument 0 is not aligned), but wrote" in found.text


def test_a_capture_that_runs_is_told(machine: Machine) -> None:
    packed = pack_reference(by_row("add", 37, 133, SMALL))
    check(packed, machine)

    class Eager(DriverDoor):
        def capture(self, module: Any, arrays: Sequence[Any]) -> Callable[[], None]:
            self.call(module, arrays)
            return lambda: self.call(module, arrays)

    module = pipeline.load(machine.pack / packed.record["bundle"])
    buffers = ways.make_buffers(packed.record)
    found = ways.in_a_graph(module, Eager(Driver.get()), buffers)
    assert found.text == "the capture wrote to its arrays"


@pytest.mark.parametrize(("way", "rest"), [(ways.on_views, 16), (ways.on_aligned_arrays, 0)])
def test_where_arrays_start(way: Any, rest: int, machine: Machine) -> None:
    packed = pack_reference(by_row("add", 37, 133, SMALL))
    check(packed, machine)
    made = FaultyLaunches(machine.gpu, *packed.modules)
    module = pipeline.load(machine.pack / packed.record["bundle"])
    way(module, DriverDoor(Driver.get()), ways.make_buffers(packed.record))
    (launch,) = made.launches
    assert [launch.integer(number) % 256 for number in range(3)] == [rest] * 3


# --- what is expected -----------------------------------------------------------------------------


def test_inputs_are_the_same_every_time_and_random() -> None:
    record = pack_reference(matmul(8, 8, 16, SMALL, kinds="f16 f32")).record
    first, second = ways.make_buffers(record), ways.make_buffers(record)
    assert all(np.array_equal(a.before, b.before) for a, b in zip(first, second, strict=True))
    numbers = first[0].elements(first[0].before)
    assert len(np.unique(numbers)) > 100
    other = ways.make_buffers(record | {"seed": record["seed"] + 1})
    assert not np.array_equal(other[0].before, first[0].before)
    assert np.isnan(first[-1].elements(first[-1].before)).all()


@pytest.mark.parametrize("element", ["bf16", "f8E4M3FN", "f8E5M2", "f16", "f32"])
def test_encoding_rounds_to_the_nearest(element: str) -> None:
    import ml_dtypes

    values = np.random.default_rng(1).standard_normal(4000) * 3
    bits = ways.encode(values.astype(np.float32), element)
    names = {"f16": np.float16, "f32": np.float32}
    dtype = names.get(element) or getattr(ml_dtypes, ML_TYPES[element])
    wanted = values.astype(np.float32).astype(dtype).astype(np.float64)
    np.testing.assert_array_equal(decode(bits, element).astype(np.float64), wanted)


def test_each_reference_is_known() -> None:
    packed = {*REFERENCES, *(one.reference for one in published())}
    assert {reference.function for reference in packed} == set(FUNCTIONS)
    names = [reference.name for reference in REFERENCES]
    assert len(set(names)) == len(names)
    assert {stage for reference in REFERENCES for stage in reference.stages} == {*SMALL, "time"}


def test_work_counts_what_is_done() -> None:
    assert matmul(2, 3, 5, SMALL).work == (60.0, "GFLOP/s")
    assert by_row("add", 2, 3, SMALL).work == (72.0, "GB/s")
    assert by_row("sum_rows", 2, 3, SMALL).work == (32.0, "GB/s")
    half = replace(by_row("transpose", 2, 3, SMALL))
    assert half.work == (48.0, "GB/s")
