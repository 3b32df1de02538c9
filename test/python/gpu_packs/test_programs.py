"""Programs of the suite in packs: what is written of them, and what is told of wrong results."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from gpu.stand_in_driver import Launch
from gpu_packs.conftest import FaultyLaunches, Machine
from linalg.linalg_programs import PROGRAMS
from packing.programs import PackedProgram, pack_program
from running.arrays import Json
from running.programs import check_program, elements_of
from running.verdicts import Verdict

BY_NAME = {program.name: program for program in PROGRAMS}
NAMES = (
    "softmax_dynamic",
    "add_bf16",
    "narrow_f8E4M3FN",
    "masks",
    "argmax",
    "two_results_rows",
    "memref_softmax_in_place",
    "gather",
    "branch",
    "sum_all",
    "another_entry",
)
"""Of several runs, types, results, written arguments, scalars, entries."""


def check(packed: PackedProgram, machine: Machine) -> Verdict:
    """Check a program on the stand-in, with the faults of the machine."""
    for name, data in packed.files.items():
        file = machine.pack / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
    machine.gpu.reset()
    made = FaultyLaunches(machine.gpu, *packed.modules)
    made.faults, made.before = machine.faults, machine.before
    return check_program(packed.record, machine.pack, [], lambda where: None)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_agrees(name: str, machine: Machine) -> None:
    packed = pack_program(BY_NAME[name])
    verdict = check(packed, machine)
    assert verdict.verdict == "agree", verdict.detail
    assert verdict.figures["ways"] == ["host"]
    assert 0 <= verdict.figures["difference"] <= max(packed.record["tolerance"], 1e-30)


def bit(pointer: int, offset: int) -> Callable[[Launch], None]:
    def fault(launch: Launch) -> None:
        place = ctypes.c_uint8.from_address(launch.integer(pointer) + offset)
        place.value ^= 0x40

    return fault


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("softmax_dynamic", "host, run 0, result 0: 1 of "),
        ("add_bf16", "host, run 0, result 0: 1 of "),
        ("masks", "host, run 0, result 1: 1 of "),
    ],
)
def test_a_wrong_result_is_seen(name: str, words: str, machine: Machine) -> None:
    packed = pack_program(BY_NAME[name])
    kernels = list(packed.modules[0].kernels.values())
    pointers = [part for part in kernels[-1].parameters if part.parts[0].kind == "pointer"]
    last = list(kernels[-1].parameters).index(pointers[-1])
    machine.faults = {kernels[-1].name: bit(last, 3 if name == "softmax_dynamic" else 1)}
    verdict = check(packed, machine)
    assert verdict.verdict == "differ"
    assert verdict.detail.startswith(words)


def test_integers_have_no_tolerance(machine: Machine) -> None:
    packed = pack_program(BY_NAME["sum_i64"])
    packed.record["tolerance"] = 1e9
    assert check(packed, machine).verdict == "agree"
    (kernel,) = packed.modules[0].kernels.values()
    machine.faults = {kernel.name: bit(len(kernel.parameters) - 1, 0)}
    assert check(packed, machine).verdict == "differ"


def test_expectations_of_another_shape_differ(machine: Machine) -> None:
    packed = pack_program(BY_NAME["softmax_dynamic"])
    runs: list[Json] = packed.record["runs"]
    runs[0]["expected"] = runs[1]["expected"]
    verdict = check(packed, machine)
    assert verdict.verdict == "differ"
    assert "run 0, result 0: float32[" in verdict.detail


def test_all_programs_pack() -> None:
    total = 0
    for program in PROGRAMS[::10]:
        packed = pack_program(program)
        assert len(packed.record["runs"]) == len(program.runs)
        assert elements_of(packed.record)
        total += sum(map(len, packed.files.values()))
    assert total < 16 << 20
