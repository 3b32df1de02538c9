"""``pipeline.check`` and ``python -m pipeline check``: what is known of a program as it stands."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

import pipeline
from support import programs
from support.command_line import Outcome, call

# Where the inputs of all tests are.
INPUTS = Path(__file__).resolve().parents[2]
BARRIER = "gpu.barrier\n    "
CHECKED = programs.REVERSED.replace("%x = memref.load", BARRIER + "%x = memref.load")


def check(text: str, *options: str) -> Outcome:
    """Check a program that comes by the standard input."""
    return call("check", "-", *options, stdin=text.encode())


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (CHECKED, "SAFE"),
        (programs.REVERSED, "RACE"),
        (programs.RACING, "UNFIXABLE"),
        (programs.DIVERGENT, "DIVERGENT"),
        (
            programs.RACING.replace(" {known_block_size = array<i32: 64, 1, 1>}", " {}"),
            "MAYBE",
        ),
    ],
)
def test_verdicts(text: str, verdict: str) -> None:
    """Each verdict is told by the package, in words, as JSON, and by the exit code."""
    report = pipeline.check(text)
    (kernel,) = report.kernels
    assert kernel.verdict == verdict
    assert report.is_safe == (verdict == "SAFE")
    assert [finding.verdict for finding in kernel.findings] == [verdict] * (verdict != "SAFE")
    outcome = check(text)
    assert outcome.code == (verdict != "SAFE")
    assert outcome.text == f"{kernel.name}: {verdict}\n"
    assert outcome.words.replace("<stdin>", "<string>").rstrip("\n") == report.rendered
    outcome = check(text, "--format", "json")
    assert outcome.code == (verdict != "SAFE")
    (found,) = json.loads(outcome.text)["kernels"]
    assert (found["name"], found["verdict"]) == (kernel.name, verdict)


SLICED = """
gpu.module @m {
  gpu.func @k(%x: memref<3x8xf32>, %n: index) kernel attributes {
      known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %row = memref.subview %x[%b, 0] [1, %n] [1, 1]
        : memref<3x8xf32> to memref<?xf32, strided<[1], offset: ?>>
    %in = arith.cmpi ult, %t, %n : index
    scf.if %in {
      %i = arith.index_cast %t : index to i32
      %v = arith.sitofp %i : i32 to f32
      memref.store %v, %row[%t] : memref<?xf32, strided<[1], offset: ?>>
    }
    gpu.return
  }
}
"""


@pytest.mark.parametrize(
    ("text", "is_assumed"),
    [
        (SLICED, True),
        # Eight threads stay in their rows whatever the length is.
        (SLICED.replace("i32: 32", "i32: 8"), False),
    ],
)
def test_what_is_safe_in_bounds(text: str, is_assumed: bool) -> None:
    """It is said that a kernel is safe only as slices are in bounds."""
    (kernel,) = pipeline.check(text).kernels
    assert (kernel.verdict, kernel.assumes_in_bounds) == ("SAFE", is_assumed)
    outcome = check(text)
    provided = ", provided accesses are in bounds" if is_assumed else ""
    assert (outcome.code, outcome.text) == (0, f"k: SAFE{provided}\n")
    (found,) = json.loads(check(text, "--format", "json").text)["kernels"]
    assert found["assumes_in_bounds"] is is_assumed


def test_finding() -> None:
    """A race has both accesses, two threads, and the byte where they meet."""
    (kernel,) = pipeline.check(programs.REVERSED).kernels
    (finding,) = kernel.findings
    lines = programs.REVERSED.splitlines()
    assert finding.other
    assert finding.at.op == "memref.load"
    assert finding.other.op == "memref.copy"
    assert "memref.load" in lines[finding.at.location.line - 1]
    assert "memref.copy" in lines[finding.other.location.line - 1]
    assert len(finding.threads) == 2
    assert finding.place == (4 * (63 - finding.threads[1][0]),)
    assert finding.message in kernel.findings[0].message
    assert kernel.location.line == 1 + next(
        number for number, line in enumerate(lines) if "gpu.launch" in line
    )


def test_json_is_the_report() -> None:
    outcome = check(programs.REVERSED, "--format", "json")
    expected = json.loads(json.dumps(pipeline.check(programs.REVERSED).to_json()))
    text = outcome.text.replace("<stdin>", "<string>")
    assert json.loads(text) == expected
    assert expected["version"] == 1
    (kernel,) = expected["kernels"]
    assert set(kernel) == {"name", "verdict", "location", "findings", "assumes_in_bounds"}
    fields = {"verdict", "message", "at", "other", "threads", "blocks", "place"}
    assert set(kernel["findings"][0]) == fields


def test_blocks() -> None:
    """Two blocks that race are told by their ids, and their threads by theirs."""
    (kernel,) = pipeline.check(
        """gpu.module @m {
  gpu.func @k(%out: memref<?xindex>) kernel attributes {
      known_block_size = array<i32: 8, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
    %tx = gpu.thread_id x
    memref.store %tx, %out[%tx] : memref<?xindex>
    gpu.return
  }
}
"""
    ).kernels
    (finding,) = kernel.findings
    assert (kernel.verdict, finding.verdict) == ("UNFIXABLE", "UNFIXABLE")
    assert sorted(finding.blocks) == [(0, 0, 0), (1, 0, 0)]
    assert finding.threads[0] == finding.threads[1]
    assert finding.place == (8 * finding.threads[0][0],)


def test_several_kernels() -> None:
    """The one verdict says nothing of the other."""
    text = programs.RACING + programs.DIVERGENT.replace("@kernels", "@others")
    verdicts = {kernel.name: kernel.verdict for kernel in pipeline.check(text).kernels}
    assert verdicts == {"racing": "UNFIXABLE", "divergent": "DIVERGENT"}


def test_called_function() -> None:
    """Barriers and accesses of functions count where they are called."""
    body = """
    %x = memref.load %b[%mirror] : memref<64xf32, #workgroup>
    memref.store %x, %out[%tx] : memref<64xf32>"""
    function = """
func.func private @read(%b: memref<64xf32, #workgroup>, %mirror: index, %out: memref<64xf32>,
    %tx: index) {
  BARRIER
  %x = memref.load %b[%mirror] : memref<64xf32, #workgroup>
  memref.store %x, %out[%tx] : memref<64xf32>
  return
}
"""
    calls = """
    func.call @read(%b, %mirror, %out, %tx)
        : (memref<64xf32, #workgroup>, index, memref<64xf32>, index) -> ()"""
    assert body in programs.REVERSED
    calling = programs.REVERSED.replace(body, calls)
    for barrier, verdict in (("gpu.barrier", "SAFE"), ("", "RACE")):
        (kernel,) = pipeline.check(calling + function.replace("BARRIER", barrier)).kernels
        assert (kernel.name, kernel.verdict) == ("main", verdict)


def test_declared_function() -> None:
    """A function without a body is no kernel; of what it may do, nothing is known."""
    call = "func.call @f(%b) : (memref<64xf32, #workgroup>) -> ()\n    %x = memref.load"
    text = CHECKED.replace("%x = memref.load", call)
    text += "func.func private @f(memref<64xf32, #workgroup>)\n"
    (kernel,) = pipeline.check(text).kernels
    assert (kernel.name, kernel.verdict) == ("main", "MAYBE")
    assert any("nothing is known of the callee" in found.message for found in kernel.findings)


def test_dynamic(tmp_path: Path) -> None:
    """The emulator agrees, and runs what is there: barriers are not inserted for it."""
    file = tmp_path / "program.mlir"
    file.write_text(CHECKED)
    outcome = call("check", file, "--dynamic")
    assert (outcome.code, outcome.words) == (0, "")
    assert outcome.text.startswith("main: SAFE\nmain_kernel: 1 of 1 blocks in ")
    assert outcome.text.count("no finding on this launch") == 2
    assert "(threads forward)\n" in outcome.text
    assert outcome.text.endswith("(threads reverse)\n")
    racing = CHECKED.replace(BARRIER, "").replace("memref.copy %a, %b", "COPY")
    racing = racing.replace(
        "COPY : memref<64xf32> to memref<64xf32, #workgroup>",
        """%v = memref.load %a[%tx] : memref<64xf32>
    memref.store %v, %b[%tx] : memref<64xf32, #workgroup>""",
    )
    file.write_text(racing)
    outcome = call("check", file, "--dynamic", "--format", "json")
    assert outcome.code == 1
    report = json.loads(outcome.text)
    assert [kernel["verdict"] for kernel in report["kernels"]] == ["RACE"]
    assert len(report["launches"]) == 2
    assert all(launch["findings"] for launch in report["launches"])
    assert [launch["order"] for launch in report["launches"]] == ["forward", "reverse"]
    outcome = call("check", file, "--dynamic")
    assert outcome.words.count("nothing orders") == 1  # what both orders find


UNDECIDED = """
func.func @main(%a: memref<64xi32>, %b: memref<64xi32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%tx] : memref<64xi32>
    %m = memref.load %b[%tx] : memref<64xi32>
    %n = memref.load %b[%tx] : memref<64xi32>
    %apart = arith.OPERATION %m, %n : i32
    %d = arith.index_cast %apart : i32 to index
    %at = arith.addi %tx, %d : index
    %i = arith.remui %at, %c64 : index
    memref.store %x, %a[%i] : memref<64xi32>
    gpu.terminator
  }
  return
}
"""


@pytest.mark.parametrize("operation", ["subi", "divui"])
def test_dynamic_of_what_is_undecided(operation: str, tmp_path: Path) -> None:
    """Each thread stores where it loaded, or beside, which only the run knows."""
    file = tmp_path / "program.mlir"
    file.write_text(UNDECIDED.replace("OPERATION", operation))
    outcome = call("check", file, "--dynamic")
    assert outcome.code == 1
    verdict, *_, conclusion = outcome.text.splitlines()
    assert verdict == "main: MAYBE"
    if operation == "subi":
        assert conclusion == "main: MAYBE, but no race was found on these launches"
        assert "race.global" not in outcome.words
    else:
        assert conclusion == "main: RACE, which the emulator found"
        assert "race.global" in outcome.words
    outcome = call("check", file, "--dynamic", "--format", "json")
    (kernel,) = json.loads(outcome.text)["kernels"]
    assert kernel["verdict"] == "MAYBE"
    assert kernel["dynamic_verdict"] == ("MAYBE" if operation == "subi" else "RACE")
    (kernel,) = json.loads(call("check", file, "--format", "json").text)["kernels"]
    assert "dynamic_verdict" not in kernel


def test_extents_that_only_the_launch_knows(tmp_path: Path) -> None:
    """The emulator needs arguments, which `check` does not take: `run` does."""
    file = tmp_path / "program.mlir"
    file.write_text(
        """func.func @main(%a: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c8, %ny = %c1, %nz = %c1) {
    %x = arith.constant 1.0 : f32
    memref.store %x, %a[%tx] : memref<?xf32>
    gpu.terminator
  }
  return
}
"""
    )
    outcome = call("check", file, "--dynamic")
    # What is known without running it is told all the same.
    assert (outcome.code, outcome.text) == (2, "main: SAFE\n")
    message = "error: there are no random values for memref<?xf32>; try the program on some by "
    assert outcome.words == message + "`python -m pipeline run` with --arg and --check races\n"
    np.save(tmp_path / "a.npy", np.zeros(8, np.float32))
    outcome = call("run", file, "--arg", tmp_path / "a.npy", "--check", "races")
    assert outcome.code == 0


LINALG = {
    "sum": """\
func.func @main(%x: tensor<100xf32>) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<100xf32>) outs(%f : tensor<f32>)
      dimensions = [0]
  return %r : tensor<f32>
}
""",
    "matmul": """\
func.func @main(%a: memref<64x32xf32>, %b: memref<32x48xf32>, %c: memref<64x48xf32>) {
  linalg.matmul ins(%a, %b : memref<64x32xf32>, memref<32x48xf32>) outs(%c : memref<64x48xf32>)
  return
}
""",
    "softmax": """\
func.func @main(%x: tensor<3x70xf32>) -> tensor<3x70xf32> {
  %e = tensor.empty() : tensor<3x70xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<3x70xf32>) outs(%e : tensor<3x70xf32>)
      -> tensor<3x70xf32>
  return %r : tensor<3x70xf32>
}
""",
}


@pytest.mark.parametrize("name", LINALG)
def test_operations_of_linalg_alone(name: str, tmp_path: Path) -> None:
    """What is compiled of them is checked, by the same schedule, barriers included."""
    text = LINALG[name]
    program, schedule = tmp_path / "program.mlir", tmp_path / "schedule.mlir"
    program.write_text(text)
    schedule.write_text(pipeline.choose_schedule(text))
    kernels = set(pipeline.compile(text).kernels)
    for options in ([], ["--schedule", "auto"], ["--schedule", str(schedule)]):
        outcome = call("check", program, *options)
        assert (outcome.code, outcome.words) == (0, "")
        assert {line.split(":")[0] for line in outcome.text.splitlines()} == kernels
        assert outcome.text.count(": SAFE") == len(kernels)
        outcome = call("check", program, *options, "--dynamic", "--format", "json")
        assert outcome.code == 0
        report = json.loads(outcome.text)
        assert {kernel["name"] for kernel in report["kernels"]} == kernels
        assert len(report["launches"]) == 2 * len(kernels)
        assert not any(launch["findings"] for launch in report["launches"])
    for chosen in (None, "auto", schedule, schedule.read_text()):
        report = pipeline.check(text, schedule=chosen)
        assert report.is_safe
        assert report.has_inserted_barriers
        assert {kernel.name for kernel in report.kernels} == kernels
    outcome = call("check", program, "--schedule", "none")
    assert (outcome.code, outcome.text) == (1, "")
    assert "or have one chosen by --schedule auto" in outcome.words
    with pytest.raises(pipeline.CompileError, match="has no kernel to compile"):
        pipeline.check(text, schedule="none")


def test_operations_of_linalg_with_their_schedule() -> None:
    """A schedule that the program carries is one like another."""
    text = LINALG["sum"]
    lines = pipeline.choose_schedule(text).splitlines()
    first = next(number for number, line in enumerate(lines) if "@__transform_main" in line)
    match = '%inner = transform.structured.match attributes {sym_name = "program"} in %program'
    lines[first] = lines[first].replace("consumed", "readonly")
    lines[first + 1 : first + 1] = [f"{match} : (!any) -> !any"]
    lines[first:first] = ["module @program {", text, "}"]
    report = pipeline.check("\n".join(lines).replace("to %program :", "to %inner :"))
    assert report.has_inserted_barriers
    assert [kernel.verdict for kernel in report.kernels] == ["SAFE"] * len(report.kernels)


def test_own_kernels_are_checked_as_they_stand() -> None:
    assert not pipeline.check(CHECKED).has_inserted_barriers
    report = pipeline.check(programs.REVERSED)
    assert not report.is_safe
    assert not report.has_inserted_barriers


def test_a_schedule_that_cannot_be_applied() -> None:
    """It is refused as `compile` refuses it."""
    schedule = pipeline.choose_schedule(LINALG["matmul"]).replace("main_0", "other_0")
    with pytest.raises(pipeline.CompileError, match="there is no function '@other_0_contraction'"):
        pipeline.check(LINALG["matmul"], schedule=schedule)


def test_dynamic_without_a_launch(tmp_path: Path) -> None:
    file = tmp_path / "program.mlir"
    file.write_text(programs.STORE)
    outcome = call("check", file, "--dynamic", "--format", "json")
    assert outcome.code == 2
    assert outcome.words.startswith("error: --grid must be given")
    assert [kernel["verdict"] for kernel in json.loads(outcome.text)["kernels"]] == ["SAFE"]


def test_dynamic_of_one_kernel(tmp_path: Path) -> None:
    file = tmp_path / "program.mlir"
    file.write_text(programs.STORE)
    sizes = ("--grid", "1", "--block", "1", "--random", "1")
    outcome = call("check", file, "--dynamic", "--kernel", "store", *sizes)
    assert (outcome.code, outcome.words) == (0, "")
    assert outcome.text.count("no finding on this launch") == 2
    many = call("check", file, "--dynamic", *sizes, "--arg", "1", "--arg", "2", "--arg", "3")
    assert many.code == 2
    other = call("check", file, "--dynamic", "--kernel", "stoer", *sizes)
    assert (other.code, other.words) == (2, "error: there is no kernel 'stoer'; there are store\n")


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("module {", 1, "<stdin>:1:7: error: "),
        ("module {\n}\n", 1, "the module has no kernel to compile"),
    ],
)
def test_refused(text: str, code: int, words: str) -> None:
    outcome = check(text)
    assert (outcome.code, outcome.text) == (code, "")
    assert words in outcome.words


def test_wrong_usage() -> None:
    outcome = check(CHECKED, "--dynamic")
    assert (outcome.code, outcome.text) == (2, "")
    assert "--dynamic reads the program twice" in outcome.words
    outcome = call("check", "-", "--schedule", "-", stdin=b"")
    assert outcome.code == 2


def test_inputs_of_all_tests() -> None:
    """Whatever is given to the passes has a verdict, or is refused: no pass crashes."""
    number = 0
    for file in sorted(INPUTS.rglob("*.mlir")):
        for part in re.split(r"^// -----.*\n", file.read_text(encoding="utf-8"), flags=re.M):
            number += 1
            try:
                with contextlib.suppress(pipeline.CompileError):
                    pipeline.check(part)
            except pipeline.InternalError as error:
                pytest.fail(f"{file}: {error}\n{error.reproducer}")
    assert number > 500
