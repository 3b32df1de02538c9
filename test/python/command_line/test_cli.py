"""The commands and options of ``python -m pipeline``, their words and exit codes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pipeline
from pipeline.system.toolchain import find_mlir_opt
from support import programs
from support.command_line import COMMAND, Outcome, call, copy_package, environment, run

BARE = (sys.executable, "-S", "-m", "pipeline")
"""Without site-packages, as where nothing beside this package is installed."""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a file with a program that compiles."""
    file = tmp_path / "program.mlir"
    file.write_text(programs.SCHEDULED)
    return file


def compile_text(text: str, *options: str | Path, color: str = "never") -> Outcome:
    return call("compile", "-", "--color", color, *options, stdin=text.encode())


def refused(outcome: Outcome, code: int) -> str:
    """Return the line that says why a command did nothing, with its source behind it or not."""
    assert outcome.code == code, outcome
    assert outcome.data == b""
    (line, *source) = outcome.words.splitlines()
    assert "error: " in line
    assert len(source) in (0, 2)
    return line


# --- commands -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "sign"),
    [
        ((), "compile"),
        (("compile",), "--save-temps"),
        (("opt",), "workgroup-hoist-allocs"),
        (("plugin-path",), "usage:"),
        (("doctor",), "usage:"),
    ],
)
def test_help(command: tuple[str, ...], sign: str) -> None:
    outcome = run(*command, "--help")
    assert (outcome.code, outcome.words) == (0, "")
    assert sign in outcome.text


def test_help_names_every_command_and_exit_code() -> None:
    text = call("-h").text
    for word in ("compile", "opt", "plugin-path", "doctor", "run", "check", "explain"):
        assert f"\n    {word}" in text
    for code in ("0", "1", "2", "69", "70", "130"):
        assert re.search(rf"\b{code}\b", text[text.index("Exit codes") :])


def test_version() -> None:
    outcome = call("--version")
    assert (outcome.code, outcome.text) == (0, f"mlir-workgroup {pipeline.__version__}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("assemble",),
        ("compile",),
        ("plugin-path", "more"),
        ("--version2",),
        ("compile", "a", "b"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    outcome = call(*arguments)
    assert (outcome.code, outcome.data) == (2, b"")
    assert outcome.words.startswith("usage: python -m pipeline")
    assert "error: " in outcome.words.splitlines()[-1]


def test_plugin_path() -> None:
    outcome = call("plugin-path")
    assert (outcome.code, outcome.words) == (0, "")
    assert outcome.text == f"{pipeline.plugin_path()}\n"
    assert Path(outcome.text.strip()).is_absolute()


def test_doctor() -> None:
    outcome = call("doctor")
    assert (outcome.code, outcome.words) == (0, "")
    states = {line[8:26].strip(): line[:8].strip() for line in outcome.text.splitlines()}
    assert list(states)[:4] == ["python", "compiler", "plugin", "mlir-opt"]
    assert states["compiler"] == states["plugin"] == "ok"


def test_opt_has_the_plugin() -> None:
    passes = "--pass-pipeline=builtin.module(workgroup-sink-allocs)"
    outcome = run("opt", passes, stdin=programs.STORE.encode())
    assert (outcome.code, outcome.words) == (0, "")
    assert "gpu.func @store" in outcome.text


def test_opt_hands_over_everything() -> None:
    direct = subprocess.run([find_mlir_opt(), "--version"], capture_output=True, check=False)
    assert run("opt", "--version").data == direct.stdout
    assert run("opt", "-h").text.startswith("OVERVIEW: MLIR modular optimizer driver")
    assert "'--emit'" in run("opt", "--emit", "ptx").words


@pytest.mark.parametrize(("text", "code"), [(programs.STORE, 0), (programs.MALFORMED, 1)])
def test_opt_returns_the_exit_code(text: str, code: int) -> None:
    assert run("opt", stdin=text.encode()).code == code


# --- options of compile ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("emit", "sign"),
    [
        ("gpu", "gpu.func @main_kernel"),
        ("nvvm", "llvm.func @main_kernel"),
        ("llvm", "define ptx_kernel void @main_kernel"),
        ("ptx", ".visible .entry main_kernel("),
    ],
)
def test_emit(program: Path, emit: str, sign: str) -> None:
    outcome = call("compile", program, "--emit", emit)
    assert (outcome.code, outcome.words) == (0, "")
    assert sign in outcome.text


def test_emit_cubin(program: Path) -> None:
    outcome = call("compile", program, "--emit", "cubin")
    assert (outcome.code, outcome.words) == (0, "")
    assert outcome.data.startswith(b"\x7fELF")


@pytest.mark.parametrize("emit", ["gpu", "nvvm"])
def test_what_is_emitted_is_read_again(program: Path, emit: str) -> None:
    emitted = call("compile", program, "--emit", emit)
    assert run("opt", stdin=emitted.data).code == 0


def test_emitted_kernels_compile_to_the_same_ptx(program: Path) -> None:
    emitted = call("compile", program, "--emit", "gpu")
    again = call("compile", "-", stdin=emitted.data)
    assert (again.code, again.words) == (0, "")
    assert again.data == call("compile", program).data


def test_emit_bundle_to_the_standard_output() -> None:
    outcome = compile_text(programs.STORE, "--emit", "bundle")
    assert refused(outcome, 2) == "error: --emit bundle writes a file: name it by -o"


def test_emit_of_something_else() -> None:
    outcome = compile_text(programs.STORE, "--emit", "spirv")
    assert outcome.code == 2
    assert "'spirv'" in outcome.words


def test_chip(program: Path) -> None:
    assert ".target sm_80\n" in call("compile", program).text
    assert ".target sm_90a\n" in call("compile", program, "--chip", "sm_90a").text


def test_unknown_chip() -> None:
    line = refused(compile_text(programs.STORE, "--chip", "sm_1"), 2)
    assert line.startswith("error: unknown chip 'sm_1'; there are sm_75, sm_80, ")


def test_schedule(tmp_path: Path) -> None:
    file = tmp_path / "schedule with 32.mlir"
    file.write_text(programs.schedule(32))
    for text in (programs.SCHEDULABLE, programs.SCHEDULED):
        outcome = compile_text(text, "--schedule", file, "--emit", "gpu")
        assert outcome.code == 0
        assert "memref<64x32xf32, #gpu.address_space<workgroup>>" in outcome.text
    own = compile_text(programs.SCHEDULED, "--schedule", "auto", "--emit", "gpu")
    assert "memref<64x16xf32, #gpu.address_space<workgroup>>" in own.text


def test_no_schedule() -> None:
    outcome = compile_text(programs.SCHEDULED, "--schedule", "none")
    assert "no kernel" in refused(outcome, 1)
    assert "--schedule FILE" in outcome.words


@pytest.mark.parametrize("schedule", ["missing.mlir", "."])
def test_schedule_that_cannot_be_read(schedule: str) -> None:
    line = refused(compile_text(programs.SCHEDULED, "--schedule", schedule), 2)
    assert line.startswith(f"{schedule}: error: cannot be read: ")


def test_sync() -> None:
    for sync in ("insert", "keep", "minimize"):
        outcome = compile_text(programs.REVERSED, "--sync", sync)
        assert (outcome.code, outcome.words) == (0, "")
        assert "bar.sync" in outcome.text
    assert "unknown sync 'all'" in refused(compile_text(programs.REVERSED, "--sync", "all"), 2)


def test_no_verify() -> None:
    assert compile_text(programs.DIVERGENT).code == 1
    outcome = compile_text(programs.DIVERGENT, "--no-verify")
    assert outcome.code == 0
    assert "bar.sync" in outcome.text
    first, second = outcome.words.splitlines()[:2]
    assert (
        first
        == "warning: --no-verify: kernels are not checked for data races and divergent barriers"
    )
    assert ": warning: barrier in divergent control flow: " in second


def test_save_temps(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "temps"
    outcome = call("compile", program, "--save-temps", folder, "--emit", "cubin")
    assert (outcome.code, outcome.words) == (0, "")
    suffixes = ("schedule.mlir", "gpu.mlir", "nvvm.mlir", "ll", "ptx", "cubin")
    assert {file.name for file in folder.iterdir()} == {f"program.{end}" for end in suffixes}
    assert (folder / "program.cubin").read_bytes() == outcome.data
    assert ".entry main_kernel" in (folder / "program.ptx").read_text()


def test_save_temps_of_an_early_stage(tmp_path: Path) -> None:
    outcome = compile_text(programs.STORE, "--save-temps", tmp_path, "--emit", "nvvm")
    assert outcome.code == 0
    names = {"stdin.schedule.mlir", "stdin.gpu.mlir", "stdin.nvvm.mlir"}
    assert {file.name for file in tmp_path.iterdir()} == names


@pytest.mark.parametrize("folder", ["/dev/null", "/dev/null/temps", "/proc/temps"])
def test_save_temps_where_nothing_can_be_saved(folder: str) -> None:
    line = refused(compile_text(programs.STORE, "--save-temps", folder), 2)
    assert line.startswith(f"{folder}: error: cannot be made: ")


def test_save_temps_over_a_folder(program: Path, tmp_path: Path) -> None:
    (tmp_path / "temps" / "program.ptx").mkdir(parents=True)
    line = refused(call("compile", program, "--save-temps", tmp_path / "temps"), 2)
    assert line.endswith("program.ptx: error: cannot be written: Is a directory")


def test_timing(program: Path) -> None:
    outcome = call("compile", program, "--timing")
    assert outcome.code == 0
    lines = [re.fullmatch(r" *(\d+\.\d\d) ms  (\w+)", line) for line in outcome.words.splitlines()]
    stages = ["parse", "schedule", "gpu", "nvvm", "llvm", "ptx", "total"]
    assert [line and line[2] for line in lines] == stages
    times = [float(line[1]) for line in lines if line]
    assert abs(sum(times[:-1]) - times[-1]) < 0.1


ALL_CATEGORIES = {
    "workgroup-sink-allocs",
    "workgroup-lower-copies",
    "workgroup-hoist-allocs",
    "workgroup-merge-kernels",
}


@pytest.mark.parametrize(
    ("pattern", "categories"),
    [
        (".", ALL_CATEGORIES),
        ("copies$", {"workgroup-lower-copies"}),
        ("^Hoisted$", {"workgroup-hoist-allocs"}),
        ("nothing", set()),
    ],
)
def test_remarks(pattern: str, categories: set[str]) -> None:
    outcome = compile_text(programs.WARNED, "--remarks", pattern)
    assert outcome.code == 0
    remarks = re.findall(r"^<stdin>:\d+:\d+: remark: \[\w+\] (\S+): ", outcome.words, re.MULTILINE)
    assert set(remarks) == categories


@pytest.mark.parametrize("pattern", ["(", "*", "[", "a{99999999999}"])
def test_remarks_that_no_expression_names(pattern: str) -> None:
    line = refused(compile_text(programs.STORE, "--remarks", pattern), 2)
    assert line.startswith("error: --remarks: not a regular expression: ")


def test_warning_of_a_program_that_compiles() -> None:
    outcome = compile_text(programs.WARNED)
    assert outcome.code == 0
    first, line, caret = outcome.words.splitlines()
    assert first.startswith("<stdin>:5:8: warning: buffer used by 2 launches")
    assert line == "  %b = memref.alloc() : memref<32xf32, #workgroup>"
    assert caret.strip() == "^"


@pytest.mark.parametrize(
    ("color", "no_color", "is_terminal", "is_colored"),
    [
        ("always", "", False, True),
        ("always", "1", False, True),
        ("never", "", True, False),
        ("auto", "", False, False),
        ("auto", "", True, True),
        ("auto", "1", True, False),
    ],
)
def test_color(color: str, no_color: str, is_terminal: bool, is_colored: bool) -> None:
    try:
        reader, writer = os.openpty() if is_terminal else os.pipe()
    except OSError:
        pytest.skip("there are no terminals here")
    process = subprocess.Popen(
        [*COMMAND, "compile", "-", "--color", color],
        stdin=subprocess.PIPE,
        stderr=writer,
        env=environment(NO_COLOR=no_color),
    )
    process.communicate(programs.MALFORMED.encode())
    os.close(writer)
    words = os.read(reader, 10000).decode()
    os.close(reader)
    assert process.returncode == 1
    assert "use of undeclared SSA value name" in words
    assert ("\x1b[" in words) == is_colored


@pytest.mark.parametrize("option", ["--em", "--chi", "--no-ver", "--out"])
def test_options_are_not_abbreviated(option: str) -> None:
    outcome = compile_text(programs.STORE, option)
    assert outcome.code == 2
    assert "unrecognized arguments" in outcome.words


# --- exit codes -----------------------------------------------------------------------------------


def test_refused_program() -> None:
    outcome = compile_text(programs.DIVERGENT)
    assert (outcome.code, outcome.data) == (1, b"")
    lines = outcome.words.splitlines()
    assert lines[0].startswith("<stdin>:8:7: error: barrier in divergent control flow")
    assert lines[1:3] == ["      gpu.barrier", "      ^"]
    kinds = [line.split(" ")[1] for line in lines if line.startswith("<stdin>")]
    assert kinds == ["error:", "note:"]


@pytest.mark.parametrize(
    "options",
    [
        "reuse=sometimes",
        "reuse",
        "nonsense=1",
        "{",
        "chip=sm_90",
        "verify-barriers=false",
        "sync=keep",
        "slots=0",
        "slots=9",
    ],
)
def test_memory_options_that_there_are_not(options: str) -> None:
    outcome = run(
        *("compile", "-", "--memory-options", options, "-o", "out.ptx"),
        stdin=programs.STORE.encode(),
    )
    assert outcome.code == 2
    assert "error: --memory-options cannot be used: " in outcome.words


def test_memory_options() -> None:
    outcome = run(
        *("compile", "-", "--memory-options", "dynamic=always reuse=never", "--remarks", "pack"),
        stdin=programs.buffers("64xi32").encode(),
    )
    assert outcome.code == 0
    assert ".extern .shared" in outcome.text
    assert "workgroup memory of kernel 'buffers': 0 bytes static, 256 dynamic" in outcome.words


def test_kernel_that_is_too_large() -> None:
    outcome = compile_text(programs.TOO_LARGE)
    assert outcome.code == 1
    assert "is 400000 bytes, exceeding the limit of 166912 bytes" in outcome.words


def test_missing_ptxas(tmp_path: Path) -> None:
    copy_package(tmp_path, native=True)
    outcome = run(
        *("compile", "-", "--emit", "cubin"),
        stdin=programs.STORE.encode(),
        command=BARE,
        cwd=tmp_path,
        variables={"PATH": "/nonexistent", "CUDA_HOME": "", "CUDA_PATH": "", "CUDA_ROOT": ""},
    )
    assert "pip install nvidia-cuda-nvcc" in refused(outcome, 69)


def test_missing_libdevice(tmp_path: Path) -> None:
    copy_package(tmp_path, native=True)
    outcome = run(
        *("compile", "-", "-o", "sine.ptx"),
        stdin=programs.SINE.encode(),
        command=BARE,
        cwd=tmp_path,
        variables={"PATH": "/nonexistent", "CUDA_HOME": "", "CUDA_PATH": "", "CUDA_ROOT": ""},
    )
    assert outcome.code == 69
    assert "<stdin>:5:10: error: '__nv_sinf' is a function of NVIDIA's libdevice" in outcome.words
    assert "nvidia-cuda-nvcc" in outcome.words
    assert not (tmp_path / "sine.ptx").exists()


def test_missing_mlir_opt() -> None:
    outcome = run("opt", "--help", variables={"PATH": "/nonexistent"})
    assert "apt-get install" in refused(outcome, 69)
    outcome = run("doctor", variables={"PATH": "/nonexistent"})
    assert outcome.code == 0
    assert re.search(r"^-- +mlir-opt .*apt-get install", outcome.text, re.MULTILINE)


@pytest.mark.parametrize("content", ["", "#!/nonexistent\n"])
def test_ptxas_that_does_not_run(tmp_path: Path, content: str) -> None:
    """As one for another machine: a tool is missing, which no traceback explains."""
    ptxas = tmp_path / "bin" / "ptxas"
    ptxas.parent.mkdir()
    ptxas.write_text(content)
    ptxas.chmod(0o755)
    cuda = {"CUDA_HOME": str(tmp_path)}
    outcome = run("compile", "-", "--emit", "cubin", stdin=programs.STORE.encode(), variables=cuda)
    assert str(ptxas) in refused(outcome, 69)
    assert run("doctor", variables=cuda).code == 0


def test_ptxas_that_refuses(tmp_path: Path) -> None:
    ptxas = tmp_path / "bin" / "ptxas"
    ptxas.parent.mkdir()
    ptxas.write_text("#!/bin/sh\necho no such instruction >&2\nexit 255\n")
    ptxas.chmod(0o755)
    outcome = run(
        *("compile", "-", "--emit", "cubin", "-o", tmp_path / "out"),
        stdin=programs.STORE.encode(),
        variables={"CUDA_HOME": str(tmp_path)},
    )
    assert outcome.code == 1
    assert "ptxas: no such instruction" in outcome.words
    assert not (tmp_path / "out").exists()


def test_internal_error(tmp_path: Path) -> None:
    outcome = run(
        *("compile", "-", "--chip", "sm_90", "--no-verify"),
        stdin=programs.CRASHING.encode(),
        variables={"TMPDIR": str(tmp_path)},
    )
    assert (outcome.code, outcome.data) == (70, b"")
    assert "error: internal error in stage parse: a pass received a fatal signal" in outcome.words
    (file,) = tmp_path.glob("*.mlir")
    assert outcome.words.splitlines()[-1] == f"error: reproducer: {file}"
    header, program = file.read_text().split("\n", 1)
    assert "--chip sm_90 --emit ptx --no-verify" in header
    assert program.rstrip() == programs.CRASHING.rstrip()


def test_opt_that_dies_is_reported_as_by_a_shell(tmp_path: Path) -> None:
    """128 and the number of the signal, not what is left of a negative number."""
    fake = tmp_path / "mlir-opt-22"
    fake.write_text("#!/bin/sh\nkill -SEGV $$\n")
    fake.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    assert run("opt", variables={"PATH": path}).code == 128 + signal.SIGSEGV
