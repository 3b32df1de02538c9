"""Each operation of gpu, nvgpu and nvvm on each chip: machine code, or an error at its line."""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Collection
from pathlib import Path

import pytest

import pipeline
from operations.operation_snippets import CHIPS, Program, write_program
from operations.operations_sweep import OUTSIDE, find_headers, make_snippets
from pipeline.system.toolchain import find_ptxas

SNIPPETS = make_snippets()

pytestmark = pytest.mark.filterwarnings("ignore::pipeline.UnverifiedWarning")


@functools.cache
def list_operations() -> set[str]:
    """All that the three dialects of the installed LLVM have."""
    headers = find_headers()
    assert headers is not None, "the headers of LLVM, which the package is built from, are missing"
    names = set()
    for file in ["LLVMIR/NVVMOps", "GPU/IR/GPUOps", "NVGPU/IR/NVGPUOps"]:
        text = (headers / f"mlir/Dialect/{file}.h.inc").read_text()
        names |= set(re.findall(r'StringLiteral\("((?:gpu|nvgpu|nvvm)\.[^"]+)"\)', text))
    return names


def test_sweep_has_every_operation() -> None:
    swept = set().union(*(snippet.list_operations() for snippet in SNIPPETS))
    known = list_operations()
    assert len(known) > 250
    assert known - swept - set(OUTSIDE) == set()
    assert (swept | set(OUTSIDE)) - known == set()


def find_refused(program: Program, chip: str) -> dict[int, str]:
    """What is refused at the lines of which snippets; nothing if PTX comes out."""
    try:
        pipeline.compile(program.text, chip=chip, verify=False)
    except pipeline.CompileError as caught:
        error = caught
    else:
        return {}
    errors = [entry for entry in error.diagnostics if entry.severity == "error"]
    assert errors
    assert all(entry.location.line > 0 for entry in errors), str(error)
    messages = {program.owners[entry.location.line - 1]: entry.message for entry in errors}
    assert -1 not in messages, str(error)
    return messages


def refuse_all(numbers: Collection[int], chip: str) -> dict[int, str]:
    """Compile what is left of the snippets until each of them was refused, or none is."""
    refused: dict[int, str] = {}
    while left := [(number, SNIPPETS[number]) for number in numbers if number not in refused]:
        messages = find_refused(write_program(left), chip)
        if not messages:
            break
        refused |= messages
    return refused


def print_snippets(numbers: Collection[int]) -> str:
    return "\n\n".join(SNIPPETS[number].text for number in sorted(numbers))


def split(chip: str) -> tuple[list[int], list[int]]:
    """Those that `chip` has, and the others."""
    numbers = range(len(SNIPPETS))
    present = [number for number in numbers if chip in SNIPPETS[number].list_chips()]
    return present, [number for number in numbers if number not in set(present)]


@pytest.mark.parametrize("chip", CHIPS)
def test_operations_that_a_chip_lacks_are_refused(chip: str) -> None:
    _, absent = split(chip)
    refused = refuse_all(absent, chip)
    assert not set(absent) - set(refused), print_snippets(set(absent) - set(refused))
    for number, message in refused.items():
        assert "Cannot select" not in message
        others = SNIPPETS[number].list_chips()
        assert not others or f"is not in {chip}, but in {', '.join(others)}" in message


@pytest.mark.parametrize("chip", CHIPS)
def test_operations_that_a_chip_has_are_assembled(chip: str, tmp_path: Path) -> None:
    present, _ = split(chip)
    # Each alone, so that none relies on the version of PTX that another asks for.
    refused: dict[int, str] = {}
    for number in present:
        refused |= find_refused(write_program([(number, SNIPPETS[number])]), chip)
    assert not refused, print_snippets(refused)
    program = write_program([(number, SNIPPETS[number]) for number in present])
    module = pipeline.compile(program.text, chip=chip, verify=False)
    text = tmp_path / "kernels.ptx"
    text.write_text(module.ptx)
    command = [str(find_ptxas()), f"-arch={chip}", "-O0", str(text), "-o", str(tmp_path / "cubin")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
