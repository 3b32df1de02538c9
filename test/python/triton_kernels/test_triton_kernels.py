"""Kernels of Triton, from the LLVM IR that it makes: numbers, verdicts, twins without barriers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import pipeline
from pipeline.runtime.emulator import Options
from support.command_line import call

HERE = Path(__file__).parent
NAMES = [
    *("add", "softmax", "matmul", "histogram", "transpose", "halves"),
    *("layer_norm", "total", "product", "turn"),
]
BARRIER = re.compile(r"^.*@llvm\.nvvm\.barrier\.cta\.sync\.aligned\.all\(i32 0\).*\n", re.M)
SCRATCH = (np.zeros(0, np.uint8), np.zeros(0, np.uint8))  # of which kernels use none


def read(name: str) -> str:
    return (HERE / f"{name}.ll").read_text()


def dynamic_bytes(text: str) -> int:
    return int(text.partition("workgroup bytes: ")[2].split()[0])


def run(text: str, grid: int | tuple[int, ...], *values: object) -> pipeline.Report:
    """Run a kernel, which knows how many threads it has."""
    module = pipeline.compile(text, grid=grid, verify=False, until="llvm")
    (kernel,) = module.kernels.values()
    return kernel.emulate(
        *values,
        *SCRATCH,
        grid=grid,
        dynamic_shared_bytes=dynamic_bytes(text),
        options=Options(check="races"),
    )


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def launch(name: str, text: str) -> tuple[pipeline.Report, np.ndarray, np.ndarray]:
    """Run a kernel; return what was found, what it computed, and what it should have."""
    if name == "add":
        x, y, out = floats(1000), floats(1000), np.zeros(1000, np.float32)
        return run(text, 4, x, y, out, 1000), out, x + y
    if name == "softmax":
        x, out = floats(3, 192), np.zeros((3, 192), np.float32)
        powers = np.exp(x - x.max(1, keepdims=True))
        return run(text, 3, x, out, 192), out, powers / powers.sum(1, keepdims=True)
    if name == "matmul":
        a, b = floats(64, 128).astype(np.float16), floats(128, 64).astype(np.float16)
        out = np.zeros((64, 64), np.float32)
        return run(text, (2, 2), a, b, out, 64, 64, 128), out, a.astype(np.float32) @ b
    if name == "histogram":
        x, out = np.random.default_rng(3).integers(0, 16, 512, np.int32), np.zeros(16, np.int32)
        return run(text, 2, x, out), out, np.bincount(x, minlength=16)
    if name == "transpose":
        x, out = floats(64, 64), np.zeros((64, 64), np.float32)
        return run(text, (2, 2), x, out, 64), out, x.T
    if name == "layer_norm":
        x, out = floats(3, 1000), np.zeros((3, 1000), np.float32)
        middle = x - x.mean(1, keepdims=True)
        return run(text, 3, x, out), out, middle / np.sqrt(x.var(1, keepdims=True) + 1e-3)
    if name == "total":
        x, out = floats(1000), np.zeros(1, np.float32)
        return run(text, 4, x, out, 1000), out, x.sum(keepdims=True)
    if name == "product":
        a, b = floats(64, 64).astype(np.float16), floats(64, 64).astype(np.float16)
        out = np.zeros((64, 64), np.float32)
        return run(text, (2, 2), a, b, out), out, a.astype(np.float32) @ b
    if name == "turn":
        x, out = floats(64, 64), np.zeros((64, 64), np.float32)
        return run(text, (2, 2), x, out), out, x.T
    out = np.zeros(256, np.int32)
    return run(text, 1, out), out, out


@pytest.mark.parametrize("name", NAMES)
def test_numbers(name: str) -> None:
    report, out, wanted = launch(name, read(name))
    assert [finding.kind for finding in report.errors] == (
        ["race.global"] if name == "halves" else []
    )
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-4)


# Of the others, rows are as long as an argument says, by products that may wrap around; tiles are
# mixed by `xor`; or places come from memory.
VERDICTS = {
    "halves": "UNFIXABLE",
    **dict.fromkeys(("add", "layer_norm", "total", "product"), "SAFE"),
}
GRIDS: dict[str, int | tuple[int, int]] = {
    "add": 4,
    "softmax": 3,
    "matmul": (2, 2),
    "histogram": 2,
    "transpose": (2, 2),
    "halves": 1,
    "layer_norm": 3,
    "total": 4,
    "product": (2, 2),
    "turn": (2, 2),
}


@pytest.mark.parametrize("name", NAMES)
def test_verdicts(name: str) -> None:
    report = pipeline.check(read(name), grid=GRIDS[name])
    verdict = report.kernels[0].verdict
    assert verdict in ((VERDICTS[name],) if name in VERDICTS else ("SAFE", "MAYBE")), (
        report.rendered
    )


def without(text: str, number: int) -> str:
    """Return a kernel without one of its barriers."""
    match = list(BARRIER.finditer(text))[number]
    return text[: match.start()] + text[match.end() :]


BARRIERS = [(name, i) for name in NAMES for i in range(len(BARRIER.findall(read(name))))]


@pytest.mark.parametrize(("name", "number"), BARRIERS)
def test_a_barrier_less_is_found_by_both_or_neither(name: str, number: int) -> None:
    text = without(read(name), number)
    report, _, _ = launch(name, text)
    verdict = pipeline.check(text, grid=GRIDS[name]).kernels[0].verdict
    if report.errors:
        assert verdict != "SAFE"
    if verdict == "RACE":
        assert report.errors


def test_most_barriers_are_needed() -> None:
    found = [bool(launch(name, without(read(name), i))[0].errors) for name, i in BARRIERS]
    assert len(found) > 8
    assert sum(found) >= len(found) // 2


def test_findings_are_at_lines_of_the_python_file() -> None:
    report, _, _ = launch("halves", read("halves"))
    (finding,) = report.errors
    places = {access.location for access in finding.accesses}
    assert {place.file for place in places} == {"kernels.py"}
    lines = (HERE / "kernels.py").read_text().splitlines()
    assert all("tl.store(x + i // 2, i)" in lines[place.line - 1] for place in places)


@pytest.mark.parametrize("name", NAMES)
def test_what_comes_out_is_assembled(name: str) -> None:
    module = pipeline.compile(read(name), grid=GRIDS[name], verify=False)
    assert len(module.cubin) > 0


def test_the_command_line() -> None:
    words = (
        "--kernel",
        "add",
        "--grid",
        "4",
        "--dynamic",
        "--arg",
        "1000xf32",
        "--arg",
        "1000xf32",
    )
    outcome = call(
        *("check", "add.ll", *words, "--arg", "1000xf32=0", "--arg", "1000"),
        *("--arg", "0xi8", "--arg", "0xi8"),
        cwd=HERE,
    )
    assert outcome.code == 0, outcome.words
    assert "add: SAFE" in outcome.text
