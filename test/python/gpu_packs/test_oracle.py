"""Results beside PyTorch's: formulas against NumPy, and what is told of a case that has one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from corpus.kernels import CASES
from gpu_packs.conftest import FaultyLaunches, Machine
from linalg.linalg_programs import PROGRAMS
from linalg.linalg_programs.program import DTYPES
from packing.kernels import element_of, make_arguments
from packing.programs import PackedProgram, pack_program, pack_reference
from packing.references import REFERENCES, SMALL, Reference, by_row
from pipeline import compile as compile_program
from running import pytorch, references, ways
from running.arrays import Array, Json, compare
from running.doors import DriverDoor
from running.gpu import Gpu
from running.kernels import check_kernel
from running.oracle import PyTorch
from running.programs import check_program
from running.pytorch import Argument
from running.verdicts import Verdict

PROGRAM_BY_NAME = {program.name: program for program in PROGRAMS}
CASE_BY_NAME = {case.name: case for case in CASES}
ELEMENTS = {dtype: name for name, dtype in DTYPES.items() if name != "index"}


# --- formulas -------------------------------------------------------------------------------------


def test_formulas_are_of_cases_that_there_are() -> None:
    assert set(pytorch.PROGRAMS) <= set(PROGRAM_BY_NAME)
    assert set(pytorch.KERNELS) <= set(CASE_BY_NAME)
    assert set(pytorch.REFERENCES) == set(references.REFERENCES)


@pytest.fixture(scope="module")
def library() -> PyTorch:
    reason = "PyTorch is missing: ./tools/test --torch"
    return PyTorch(pytest.importorskip("torch", reason=reason), "cpu")


def bits(value: Any) -> Array:
    array: Array = np.ascontiguousarray(value).reshape(np.shape(value))
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.itemsize}")


def pair(value: Any) -> Argument:
    if isinstance(value, np.ndarray):
        return bits(value), ELEMENTS[value.dtype]
    number: Argument = value.item() if isinstance(value, np.generic) else value
    return number


@pytest.mark.parametrize("name", pytorch.PROGRAMS)
def test_programs_are_what_numpy_makes_of_them(name: str, library: PyTorch) -> None:
    program = PROGRAM_BY_NAME[name]
    case = {"kind": "program", "name": f"linalg {name}"}
    assert library.knows(case)
    for run in range(len(program.runs)):
        wanted = [np.asarray(value) for value in program.expect(run)]
        elements = [ELEMENTS[value.dtype] for value in wanted]
        arguments = [pair(value) for value in program.arguments(run)]
        found = library.expect(case, arguments, elements.__getitem__)
        assert list(found) == list(range(len(wanted)))
        for place, value in enumerate(wanted):
            tolerance = 2 * program.tolerance if value.dtype.kind not in "biu" else 0.0
            assert found[place].shape == value.shape
            assert not compare(found[place], bits(value), tolerance, elements[place]).text


@pytest.mark.parametrize("name", pytorch.KERNELS)
def test_kernels_are_what_numpy_makes_of_them(name: str, library: PyTorch) -> None:
    case = CASE_BY_NAME[name]
    arguments = make_arguments(case)
    kernel = compile_program(case.text, chip=case.chip).kernels[case.kernel]
    arrays = [value for value in arguments if isinstance(value, np.ndarray)]
    record = {"kind": "kernel", "name": name}
    found = library.expect(
        record, [pair(value) for value in arrays], lambda at: element_of(kernel.arguments[at])
    )
    copies = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
    wanted = case.expect(copies)
    assert set(found) == set(wanted)
    for place, value in wanted.items():
        rounded = np.asarray(value, arguments[place].dtype)
        assert found[place].shape == rounded.shape
        element = element_of(kernel.arguments[place])
        assert not compare(found[place], rounded, 2 * case.tolerance, element).text


@pytest.mark.parametrize("function", pytorch.REFERENCES)
def test_references_are_what_double_precision_makes(function: str, library: PyTorch) -> None:
    for reference in REFERENCES:
        if reference.function == function and "check" in reference.stages:
            record = pack_record(reference)
            *inputs, output = ways.make_buffers(record)
            arguments = [(b.elements(b.before), b.record["element"]) for b in inputs]
            element = output.record["element"]
            found = library.expect(record, arguments, {0: element}.__getitem__)
            wanted = output.elements(output.after)
            assert not compare(found[0], wanted, reference.tolerance, element).text


def pack_record(reference: Reference) -> Json:
    return {
        "kind": "reference",
        "reference": reference.function,
        "inputs": [asdict(operand) for operand in reference.inputs],
        "output": asdict(reference.output),
        "tolerance": reference.tolerance,
        "seed": 7,
    }


# --- what is told ---------------------------------------------------------------------------------


class FakeOracle:
    """An oracle that knows all cases, or none, and whose results may be off or an error."""

    def __init__(self, results: dict[int, Array], *, knows: bool = True) -> None:
        self.results = results
        self.is_known = knows
        self.error: Exception | None = None
        self.arguments: list[Sequence[Argument]] = []

    def knows(self, case: Json) -> bool:
        return self.is_known

    def expect(
        self, case: Json, arguments: Sequence[Argument], element: Callable[[int], str]
    ) -> dict[int, Array]:
        self.arguments.append(arguments)
        if self.error:
            raise self.error
        return self.results


def read_case(machine: Machine, name: str) -> Json:
    cases: list[Json] = json.loads((machine.pack / "suite.json").read_text())["cases"]
    return next(case for case in cases if case["name"] == name)


Check = Callable[[FakeOracle | None], Verdict]


@pytest.fixture(params=["kernel", "program", "reference"])
def checked(request: pytest.FixtureRequest, machine: Machine) -> tuple[Check, dict[int, Array]]:
    """Return what checks a case on the stand-in, and its right results by place."""
    machine.gpu.reset()
    if request.param == "kernel":
        case = read_case(machine, "transpose")
        FaultyLaunches(machine.gpu, *machine.modules)
        wanted = np.load(machine.pack / case["arrays"][1]["expected"])
        return lambda oracle: check_kernel(case, machine.pack, Gpu(), oracle), {1: wanted}
    if request.param == "program":
        packed: PackedProgram = pack_program(PROGRAM_BY_NAME["add_divisible"])
        place(packed, machine)
        (expected,) = packed.record["runs"][0]["expected"]
        wanted = np.load(machine.pack / expected["file"])

        def check(oracle: FakeOracle | None) -> Verdict:
            return check_program(packed.record, machine.pack, [], lambda where: None, oracle)

        return check, {0: wanted}
    packed = pack_reference(by_row("add", 37, 133, SMALL))
    place(packed, machine)
    output = ways.make_buffers(packed.record)[-1]

    def check_in_all_ways(oracle: FakeOracle | None) -> Verdict:
        driver = [DriverDoor(Gpu().driver)]
        return ways.check_reference(packed.record, machine.pack, driver, lambda where: None, oracle)

    return check_in_all_ways, {0: output.elements(output.after)}


def place(packed: PackedProgram, machine: Machine) -> None:
    for name, data in packed.files.items():
        file = machine.pack / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
    FaultyLaunches(machine.gpu, *packed.modules)


def test_a_case_is_compared_with_both(checked: tuple[Check, dict[int, Array]]) -> None:
    check, results = checked
    oracle = FakeOracle(results)
    verdict = check(oracle)
    assert verdict.verdict == "agree", verdict.detail
    assert verdict.detail == ""
    assert verdict.figures["compared"][1:] == ["PyTorch"]
    (arguments,) = oracle.arguments
    assert all(isinstance(each, tuple) and each[1] == "f32" for each in arguments)


def test_another_result_is_told(checked: tuple[Check, dict[int, Array]]) -> None:
    check, results = checked
    place_of_it, right = next(iter(results.items()))
    wrong = right.copy()
    wrong[2, 3] += 0.5
    verdict = check(FakeOracle({place_of_it: wrong}))
    assert verdict.verdict == "differ"
    assert f"beside PyTorch's result {place_of_it}: 1 of {right.size} elements differ" in (
        verdict.detail
    )
    assert "[2, 3]" in verdict.detail
    assert verdict.figures["difference"] > 0.1


def test_a_result_of_another_shape_is_told(checked: tuple[Check, dict[int, Array]]) -> None:
    check, results = checked
    place_of_it, right = next(iter(results.items()))
    verdict = check(FakeOracle({place_of_it: right[1:]}))
    assert verdict.verdict == "differ"
    assert f"it is of {list(right.shape)}, not of {list(right[1:].shape)}" in verdict.detail


def test_an_error_of_pytorch_is_no_fault_of_ours(checked: tuple[Check, dict[int, Array]]) -> None:
    check, results = checked
    oracle = FakeOracle(results)
    oracle.error = RuntimeError('"addmm_cuda" not implemented for it')
    verdict = check(oracle)
    assert verdict.verdict == "agree"
    assert verdict.detail == (
        'without PyTorch\'s result: RuntimeError: "addmm_cuda" not implemented for it'
    )
    assert len(verdict.figures["compared"]) == 1


@pytest.mark.parametrize("is_there", [False, True])
def test_what_it_does_not_know_is_not_compared(
    is_there: bool, checked: tuple[Check, dict[int, Array]]
) -> None:
    check, results = checked
    verdict = check(FakeOracle(results, knows=False) if is_there else None)
    assert verdict.verdict == "agree"
    assert len(verdict.figures["compared"]) == 1


def test_the_table_says_which_is_which(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    class Known(FakeOracle):
        def knows(self, case: Json) -> bool:
            return bool(case["name"] == "transpose")

    expected = np.load(machine.pack / read_case(machine, "transpose")["arrays"][1]["expected"])
    oracle = Known({1: expected})
    monkeypatch.setattr("running.worker.PyTorch", lambda torch: oracle)
    monkeypatch.setattr("running.worker.find_torch", lambda: (SimpleNamespace(), ""))
    assert machine.run("--stages=check") == 0
    table = (machine.pack / "results" / "results.md").read_text()
    assert "\n| transpose | agree | 0 | the emulator, PyTorch |  |\n" in table
    assert "\n| f16 | agree | 0 | the emulator |  |\n" in table
    assert "| double precision |" in table
