"""Programs without a schedule: one is chosen, printed, edited and passed back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pipeline
from support import programs
from support.command_line import call

MATMUL = """\
!t = tensor<128x128xf32>
func.func @main(%a: !t, %b: !t, %bias: tensor<128xf32>) -> !t {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %r = linalg.matmul ins(%a, %b : !t, !t) outs(%z : !t) -> !t
  %w = linalg.broadcast ins(%bias : tensor<128xf32>) outs(%e : !t) dimensions = [0]
  %s = linalg.add ins(%r, %w : !t, !t) outs(%e : !t) -> !t
  return %s : !t
}
"""

ADD = """\
!t = tensor<64x128xf32>
func.func @main(%a: !t, %b: !t) -> !t {
  %e = tensor.empty() : !t
  %r = linalg.add ins(%a, %b : !t, !t) outs(%e : !t) -> !t
  return %r : !t
}
"""

FIRST = """\
func.func @main(%x: tensor<9x70xf32>) -> (tensor<9xf32>, tensor<9xi64>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<9xf32>
  %f = tensor.empty() : tensor<9xi64>
  %m = linalg.fill ins(%low : f32) outs(%e : tensor<9xf32>) -> tensor<9xf32>
  %n = linalg.fill ins(%zero : i64) outs(%f : tensor<9xi64>) -> tensor<9xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                          affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x70xf32>) outs(%m, %n : tensor<9xf32>, tensor<9xi64>) {
  ^bb0(%in: f32, %most: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %is = arith.cmpf ogt, %in, %most : f32
    %v = arith.select %is, %in, %most : f32
    %w = arith.select %is, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<9xf32>, tensor<9xi64>)
  return %r#0, %r#1 : tensor<9xf32>, tensor<9xi64>
}
"""

# The sum of a row, and of its squares.
MOMENTS = """\
#row = affine_map<(i, j) -> (i)>
!r = tensor<6xf32>
func.func @main(%x: tensor<6x900xf32>) -> (!r, !r) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !r
  %z = linalg.fill ins(%zero : f32) outs(%e : !r) -> !r
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, #row, #row],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<6x900xf32>) outs(%z, %z : !r, !r) {
  ^bb0(%a: f32, %s: f32, %t: f32):
    %0 = arith.addf %s, %a : f32
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %t, %1 : f32
    linalg.yield %0, %2 : f32, f32
  } -> (!r, !r)
  return %r#0, %r#1 : !r, !r
}
"""


EMPTY = """\
func.func @main(%x: tensor<0x8xf32>) -> tensor<0x8xf32> {
  %e = tensor.empty() : tensor<0x8xf32>
  %r = linalg.exp ins(%x : tensor<0x8xf32>) outs(%e : tensor<0x8xf32>) -> tensor<0x8xf32>
  return %r : tensor<0x8xf32>
}
"""


# The body of the operation calls what nobody knows.
# Refused when the kernel is there, which has a schedule: nothing is rounded to a power of two.
REFUSED = """\
func.func @main(%x: tensor<8xf8E8M0FNU>) -> tensor<8xf8E8M0FNU> {
  %e = tensor.empty() : tensor<8xf8E8M0FNU>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<8xf8E8M0FNU>) outs(%e : tensor<8xf8E8M0FNU>) {
  ^bb0(%in: f8E8M0FNU, %out: f8E8M0FNU):
    %v = arith.mulf %in, %in : f8E8M0FNU
    linalg.yield %v : f8E8M0FNU
  } -> tensor<8xf8E8M0FNU>
  return %r : tensor<8xf8E8M0FNU>
}
"""


def only_kernel(module: pipeline.Module) -> pipeline.Kernel:
    (kernel,) = module.kernels.values()
    return kernel


def failure(source: str, schedule: str) -> pipeline.CompileError:
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(source, schedule=schedule)
    return caught.value


# --- what is scheduled ----------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", [None, "auto"])
def test_program_without_a_schedule_gets_one(schedule: str | None) -> None:
    module = pipeline.compile(ADD, schedule=schedule)
    assert only_kernel(module).block == (256, 1, 1)
    assert only_kernel(module).grid == (1, 8, 1)
    assert module.schedule == pipeline.choose_schedule(ADD)


def test_epilogue_is_in_the_kernel() -> None:
    module = pipeline.compile(MATMUL)
    assert only_kernel(module).block == (128, 1, 1)
    assert module.ptx.count("fma.rn.f32") >= 32 * 16
    (remark,) = (item for item in module.remarks if item.category == "workgroup-schedules")
    assert remark.kind == "passed"
    assert remark.arguments["Block"] == "[64, 64]"
    assert remark.arguments["Slots"] == "4"
    assert remark.location.line == 6


def test_general_kernel_is_told() -> None:
    remarks = pipeline.compile(FIRST).remarks
    (remark,) = (item for item in remarks if item.category == "workgroup-schedules")
    assert (remark.kind, remark.name) == ("missed", "GeneralKernel")
    assert "a reduction with 2 results" in remark.arguments["Reason"]


def test_several_results_are_shared_out() -> None:
    """Unless one depends on another one, as in the kernel of the test before."""
    module = pipeline.compile(MOMENTS)
    assert only_kernel(module).grid == (6, 1, 1)
    (remark,) = (item for item in module.remarks if item.category == "workgroup-schedules")
    assert (remark.kind, remark.arguments["Block"]) == ("passed", "[1, 0]")


def test_program_with_nothing_to_compute() -> None:
    module = pipeline.compile(EMPTY)
    assert not module.kernels
    assert ".entry" not in module.ptx


@pytest.mark.parametrize(
    "program", [programs.SCHEDULED, programs.STORE, programs.WARNED, programs.REVERSED]
)
def test_program_with_a_schedule_or_kernels_is_left_alone(program: str) -> None:
    module = pipeline.compile(program)
    assert module.schedule is None
    assert not any(item.category == "workgroup-schedules" for item in module.remarks)
    with pytest.raises(pipeline.CompileError, match="no schedule to choose: the program has one"):
        pipeline.choose_schedule(program)


def test_program_of_a_nested_module_is_scheduled() -> None:
    nested = f"module {{\n{ADD.split(chr(10), 1)[1]}}}\n".replace("!t", "tensor<64x128xf32>")
    text = pipeline.choose_schedule(nested)
    assert pipeline.compile(nested).ptx == pipeline.compile(nested, schedule=text).ptx


def test_no_schedule_is_chosen_if_none_is_wanted() -> None:
    error = failure(ADD, "none")
    assert "--schedule auto" in str(error)


def test_schedule_depends_on_the_chip() -> None:
    wide = MATMUL.replace("128", "2048")
    texts = {pipeline.choose_schedule(wide, chip=chip) for chip in ("sm_75", "sm_80", "sm_90a")}
    assert len(texts) == 3
    with pytest.raises(pipeline.UsageError, match="unknown chip 'sm_1'"):
        pipeline.choose_schedule(wide, chip="sm_1")


def test_names_of_any_bytes() -> None:
    text = ADD.replace("@main", '@"a \\"b\\" \\0A"')
    schedule = pipeline.choose_schedule(text)
    assert pipeline.compile(text).ptx == pipeline.compile(text, schedule=schedule).ptx


def test_schedule_is_kept_with_errors() -> None:
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(REFUSED)
    assert caught.value.schedule == pipeline.choose_schedule(REFUSED)
    assert any(item.category == "workgroup-schedules" for item in caught.value.remarks)


# --- passed back ----------------------------------------------------------------------------------


@pytest.mark.parametrize("program", [ADD, MATMUL, FIRST, EMPTY])
def test_what_is_printed_is_what_is_applied(program: str) -> None:
    text = pipeline.choose_schedule(program)
    given = pipeline.compile(program, schedule=text)
    assert given.schedule is None
    assert given.ptx == pipeline.compile(program).ptx


SPELLED_OUT = """\
    %normal = transform.apply_registered_pass "workgroup-normalize-linalg"
        with options = {"assume-distinct-arguments" = true} to %program : (!any) -> !any
    %simple = transform.apply_registered_pass "canonicalize" to %normal : (!any) -> !any
    %common = transform.apply_registered_pass "cse" to %simple : (!any) -> !any
    %0 = transform.apply_registered_pass "workgroup-form-kernels" to %common : (!any) -> !any
"""


def test_passes_of_the_pipeline_can_be_spelled_out() -> None:
    """As schedules were that an earlier version chose: what they leave over is refused, too."""
    text = pipeline.choose_schedule(MATMUL)
    (formed,) = (line for line in text.splitlines() if "workgroup-linalg-to-kernels" in line)
    schedule = text.replace(f"{formed}\n", SPELLED_OUT)
    assert pipeline.compile(MATMUL, schedule=schedule).ptx == pipeline.compile(MATMUL).ptx
    (line,) = (line for line in schedule.splitlines() if "workgroup-tile-kernel" in line)
    assert "is in no kernel" in str(failure(MATMUL, schedule.replace(line, "")))


def test_kernels_are_formed_once() -> None:
    """A schedule that was chosen goes on from the program that it was chosen for."""
    remarks = pipeline.compile(MATMUL).remarks
    assert [remark.name for remark in remarks].count("FormedKernel") == 1


def test_numbers_can_be_edited() -> None:
    text = pipeline.choose_schedule(ADD)
    assert '"block" = [8, 128]' in text
    edited = text.replace('"block" = [8, 128]', '"block" = [16, 64]').replace("256", "64")
    kernel = only_kernel(pipeline.compile(ADD, schedule=edited))
    assert (kernel.grid, kernel.block) == ((2, 4, 1), (64, 1, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"block" =', '"blocks" =', "no such option blocks"),
        ('"workgroup-tile-kernel"', '"workgroup-tile"', "unknown pass or pass pipeline"),
        ('"main_0_elementwise"}', '"main_0"}', "there is no function '@main_0' to match"),
        ("[8, 128]", "[8, -1]", "cannot be in tiles of -1"),
        ("[8, 128]", "[8, 128, 1]", "has 2 loops, but 'block' gives 3 sizes"),
    ],
)
def test_errors_name_the_line_of_the_schedule(old: str, new: str, message: str) -> None:
    text = pipeline.choose_schedule(ADD)
    assert old in text
    error = failure(ADD, text.replace(old, new))
    assert error.stage == "schedule"
    assert message in str(error)
    lines = [line for line, content in enumerate(text.splitlines(), 1) if old in content]
    places = [item.location for item in error.diagnostics]
    assert any(place.file == "<schedule>" and place.line in lines for place in places)


def test_kernel_that_the_schedule_forgets() -> None:
    lines = pipeline.choose_schedule(ADD).splitlines()
    edited = "\n".join(line for line in lines if "workgroup-tile-kernel" not in line)
    assert "'linalg.generic' op is in no kernel" in str(failure(ADD, edited + "\n"))


# --- the command line -----------------------------------------------------------------------------


def test_schedule_is_printed_edited_and_passed_back(tmp_path: Path) -> None:
    program, schedule = tmp_path / "add.mlir", tmp_path / "schedule.mlir"
    program.write_text(ADD)
    printed = call("compile", program, "--emit", "schedule")
    assert (printed.code, printed.words) == (0, "")
    assert printed.text == pipeline.choose_schedule(ADD)
    assert call("compile", program, "--emit", "schedule", "-o", schedule).code == 0
    assert schedule.read_text() == printed.text
    given = call("compile", program, "--schedule", schedule)
    assert (given.code, given.data) == (0, call("compile", program).data)


def test_chosen_schedule_is_saved(tmp_path: Path) -> None:
    program = tmp_path / "add.mlir"
    program.write_text(ADD)
    temps = tmp_path / "temps"
    assert call("compile", program, "--save-temps", temps, "--emit", "gpu").code == 0
    assert (temps / "add.transform.mlir").read_text() == pipeline.choose_schedule(ADD)


def test_schedule_of_a_given_schedule_is_not_printed(tmp_path: Path) -> None:
    program = tmp_path / "add.mlir"
    program.write_text(ADD)
    outcome = call("compile", program, "--emit", "schedule", "--schedule", program)
    assert outcome.code == 2
    assert "--emit schedule prints what --schedule auto chooses" in outcome.words


def test_schedule_of_a_program_that_has_one_is_not_printed(tmp_path: Path) -> None:
    program = tmp_path / "scheduled.mlir"
    program.write_text(programs.SCHEDULED)
    outcome = call("compile", program, "--emit", "schedule")
    assert (outcome.code, outcome.data) == (1, b"")
    assert re.search(r"scheduled\.mlir: error: there is no schedule to choose", outcome.words)


def test_host_work_beside_kernels() -> None:
    """For a module that has kernels none is chosen, which is not to be overlooked."""
    text = ADD + programs.STORE
    outcome = call("compile", "-", stdin=text.encode())
    assert outcome.code == 0
    assert "<stdin>:4:8: warning: 'linalg.add' op stays on the host: " in outcome.words
    (diagnostic,) = pipeline.compile(text).diagnostics
    assert diagnostic.severity == "warning"
    assert not pipeline.compile(text, schedule="none").diagnostics


def test_softmax_of_one_row_is_one_kernel() -> None:
    text = """\
!t = tensor<1x1000xf32>
func.func @main(%x: !t) -> !t {
  %e = tensor.empty() : !t
  %r = linalg.softmax dimension(1) ins(%x : !t) outs(%e : !t) -> !t
  return %r : !t
}
"""
    assert len(pipeline.compile(text).kernels) == 1
