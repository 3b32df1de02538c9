"""What ``pipeline.compile`` raises, and what the errors hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pipeline
from support import programs
from support.command_line import environment, run

FAILING = """
import sys, pipeline
from pipeline.schedules import choosing

def choose(*_):
    raise {error}("no schedule for " + sys.argv[2])

choosing.choose = choose
try:
    pipeline.compile(sys.argv[1], chip=sys.argv[2])
except BaseException as error:
    print(type(error).__name__, *error.args)
"""


def failure(source: str | Path, **options: Any) -> pipeline.CompileError:
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(source, **options)
    return caught.value


def test_compile_error_prints_like_mlir_opt(tmp_path: Path) -> None:
    file = tmp_path / "malformed.mlir"
    file.write_text(programs.MALFORMED)
    error = failure(file)
    command = [sys.executable, "-m", "pipeline", "opt", str(file)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert str(error) == result.stderr.rstrip("\n")
    assert str(error).splitlines()[1:] == ["  %0 = arith.addi %a, %b : i32", " " * 22 + "^"]
    assert error.stage == "parse"
    assert error.reproducer == ""


def test_compile_error_has_located_diagnostics(tmp_path: Path) -> None:
    file = tmp_path / "divergent.mlir"
    file.write_text(programs.DIVERGENT)
    error = failure(file)
    (diagnostic,) = error.diagnostics
    assert error.stage == "gpu"
    assert diagnostic.severity == "error"
    assert diagnostic.location == pipeline.Location(str(file), 8, 7)
    assert str(error).startswith(f"{file}:8:7: error: {diagnostic.message}\n      gpu.barrier\n")
    assert [note.location.line for note in diagnostic.notes] == [8]
    assert all(note.severity == "note" and note.message in str(error) for note in diagnostic.notes)


# The data of a resource stand after the program, where those of a reproducer do.
WITH_RESOURCE = programs.DIVERGENT + (
    'memref.global "private" constant @g : memref<1xf32> = dense_resource<blob>\n'
    '{-# dialect_resources: { builtin: { blob: "0x040000000000803F" } } #-}\n'
)


@pytest.mark.parametrize("text", [programs.DIVERGENT, programs.TOO_LARGE, WITH_RESOURCE])
def test_reproducer_replays_the_error(text: str, tmp_path: Path) -> None:
    error = failure(text)
    file = tmp_path / "reproducer.mlir"
    file.write_text(error.reproducer)
    command = [sys.executable, "-m", "pipeline", "opt", "--run-reproducer", str(file)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert f"{file}:" in result.stderr
    assert f"error: {error.diagnostics[0].message}\n" in result.stderr


def test_resource_error() -> None:
    with pytest.raises(pipeline.ResourceError) as caught:
        pipeline.compile(programs.TOO_LARGE)
    error = caught.value
    assert isinstance(error, pipeline.CompileError)
    assert error.name == "workgroup memory"
    assert (error.required, error.limit) == (400000, 166912)
    assert error.diagnostics[0].location.line == 2
    assert error.diagnostics[0].notes[0].location.line == 4


def test_error_about_a_name_that_is_no_utf8() -> None:
    """MLIR's names and strings are bytes; what is said about them is text all the same."""
    error = failure('func.func private @"\\FF"()\nfunc.func private @"\\FF"()\n')
    assert "redefinition of symbol" in str(error)


def test_error_in_color() -> None:
    assert "\x1b[" in str(failure(programs.MALFORMED, color=True))
    assert "\x1b[" not in str(failure(programs.MALFORMED))
    assert "\x1b[" not in failure(programs.MALFORMED, color=True).diagnostics[0].message


def test_classes_of_errors() -> None:
    codes = {
        pipeline.CompileError: 1,
        pipeline.ResourceError: 1,
        pipeline.UsageError: 2,
        pipeline.ToolError: 69,
        pipeline.InternalError: 70,
        pipeline.AccessError: 2,
        pipeline.DeviceError: 2,
        pipeline.PlanError: 2,
        pipeline.BundleError: 2,
        pipeline.DriverError: 1,
        pipeline.DeviceUnavailable: 69,
    }
    for error, code in codes.items():
        assert issubclass(error, pipeline.Error)
        assert error.exit_code == code
    assert issubclass(pipeline.UsageError, ValueError)
    for error in (pipeline.DriverError, pipeline.DeviceUnavailable):
        assert issubclass(error, RuntimeError)
    for error in (pipeline.AccessError, pipeline.DeviceError):
        assert issubclass(error, pipeline.ArgumentError)


SURVIVING = """
import pipeline
from support import programs
try:
    pipeline.compile(programs.CRASHING)
except pipeline.InternalError as error:
    print(error)
    head = "// python -m pipeline compile <string> --emit ptx\\n"
    print(error.reproducer == head + programs.CRASHING)
print(len(pipeline.compile(programs.STORE).kernels), "kernel")
"""


def test_crash_of_the_compiler_leaves_the_process_alive() -> None:
    """A stack that is used up is a signal, which ends programs."""
    folder = str(Path(__file__).parents[1])
    result = subprocess.run(
        [sys.executable, "-c", SURVIVING],
        capture_output=True,
        text=True,
        check=False,
        env=environment(PYTHONPATH=folder),
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "error: internal error in stage parse: a pass received a fatal signal",
        "True",
        "1 kernel",
    ]


def test_what_the_back_end_does_not_know_is_refused() -> None:
    """LLVM ends programs by its fatal error handler here; the program is at fault, not we."""
    with pytest.raises(
        pipeline.CompileError, match=r"no code .* on sm_75.*Cannot select"
    ) as caught:
        pipeline.compile(programs.NOT_SELECTABLE, chip="sm_75")
    assert caught.value.stage == "ptx"
    assert "Cannot select" in caught.value.diagnostics[-1].message


@pytest.mark.parametrize("error", ["ValueError", "ImportError", "KeyboardInterrupt"])
def test_error_of_a_schedule(error: str) -> None:
    """It passes through C++, which calls what chooses schedules."""
    code = FAILING.format(error=error)
    outcome = run("-c", code, programs.SCHEDULABLE, "sm_80", command=(sys.executable,))
    assert (outcome.code, outcome.words) == (0, "")
    assert outcome.text == f"{error} no schedule for sm_80\n"
