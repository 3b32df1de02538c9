"""Kernels of LLVM IR: their verdicts, numbers, lines and errors."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import pipeline
from pipeline.errors import CompileError, LayoutError, RaceError, UsageError
from pipeline.runtime.emulator import Options
from support.command_line import call

BARRIER = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
TID = "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
# Each block reverses 64 floats by way of its memory.
REVERSE = f"""\
; ModuleID = 'reverse'
target triple = "nvptx64-nvidia-cuda"
{TID}declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
@tile = internal addrspace(3) global [64 x float] undef, align 4
define ptx_kernel void @_Z7reversePf(ptr %data) {{
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %start = mul i32 %b, 64
  %i = add i32 %start, %t
  %from = getelementptr float, ptr %data, i32 %i
  %x = load float, ptr %from
  %in = getelementptr [64 x float], ptr addrspace(3) @tile, i32 0, i32 %t
  store float %x, ptr addrspace(3) %in
{BARRIER}  %o = sub nsw i32 63, %t
  %out = getelementptr [64 x float], ptr addrspace(3) @tile, i32 0, i32 %o
  %y = load float, ptr addrspace(3) %out
  store float %y, ptr %from
  ret void
}}
"""
RACY = REVERSE.replace(BARRIER, "")


def emulate(text: str, *values: object, block: int = 64, grid: int = 2, check: bool = True) -> None:
    """Run the only kernel of a program."""
    module = pipeline.compile(text, block=block, grid=grid, verify=False, until="llvm")
    (kernel,) = module.kernels.values()
    options = Options(check="races" if check else "none")
    report = kernel.emulate(*values, grid=grid, block=block, options=options)
    for finding in report.errors:
        raise AssertionError(finding)


# --- verdicts -------------------------------------------------------------------------------------


def test_the_verdict_of_a_safe_kernel() -> None:
    report = pipeline.check(REVERSE, block=64, grid=2)
    assert [kernel.verdict for kernel in report.kernels] == ["SAFE"]


def test_the_verdict_of_a_racy_kernel_names_lines_of_the_text() -> None:
    report = pipeline.check(RACY, block=64, grid=2)
    (kernel,) = report.kernels
    (finding,) = kernel.findings
    assert kernel.verdict == "RACE"
    lines = RACY.splitlines()
    assert lines[finding.at.location.line - 1].strip().startswith("%y = load")
    assert finding.other is not None
    assert lines[finding.other.location.line - 1].strip().startswith("store float %x")


def test_unknown_sizes_leave_the_verdict_open() -> None:
    assert pipeline.check(REVERSE).kernels[0].verdict == "MAYBE"
    assert pipeline.check(RACY).kernels[0].verdict == "MAYBE"


def test_the_same_kernel_of_mlir_has_the_same_verdicts() -> None:
    for text, verdict in ((REVERSE, "SAFE"), (RACY, "RACE")):
        module = pipeline.compile(
            text, block=64, grid=2, verify=False, until="gpu", keep_texts=True
        )
        assert pipeline.check(module.texts["gpu"]).kernels[0].verdict == verdict


def test_pointers_are_taken_not_to_overlap() -> None:
    text = f"""\
target triple = "nvptx64-nvidia-cuda"
{TID}define ptx_kernel void @shift(ptr %a, ptr %b) {{
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %n = add nuw nsw i32 %t, 1
  %from = getelementptr i32, ptr %a, i32 %n
  %x = load i32, ptr %from
  %to = getelementptr i32, ptr %b, i32 %t
  store i32 %x, ptr %to
  ret void
}}
"""
    assert pipeline.check(text, block=64, grid=1).is_safe
    same = text.replace("ptr %b, i32 %t", "ptr %a, i32 %t")
    assert not pipeline.check(same, block=64, grid=1).is_safe


# --- running --------------------------------------------------------------------------------------


def test_numbers() -> None:
    data = np.random.default_rng(1).standard_normal(128).astype(np.float32)
    wanted = data.reshape(2, 64)[:, ::-1].copy()
    emulate(REVERSE, data)
    np.testing.assert_array_equal(data.reshape(2, 64), wanted)


def test_the_emulator_finds_the_race() -> None:
    module = pipeline.compile(RACY, block=64, grid=2, verify=False, until="llvm")
    (kernel,) = module.kernels.values()
    data = np.ones(128, np.float32)
    report = kernel.emulate(data, grid=2, block=64, options=Options(check="races"))
    (finding,) = report.errors
    assert finding.kind == "race.shared"
    assert "@tile" in report.rendered
    with pytest.raises(RaceError):
        kernel.run(data, grid=2, block=64, backend="emulator", check="races")


def test_barriers_are_kept_as_they_are_unless_asked() -> None:
    for sync, count in (("auto", 1), ("keep", 1), ("insert", 1), ("minimize", 1)):
        module = pipeline.compile(REVERSE, block=64, grid=2, sync=sync)  # type: ignore[arg-type]
        assert module.ptx.count("bar.sync") == count
    assert "bar.sync" not in pipeline.compile(RACY, block=64, grid=2, verify=False).ptx
    inserted = pipeline.compile(RACY, block=64, grid=2, sync="insert")
    assert inserted.ptx.count("bar.sync") == 1


def test_pointers_take_arrays_of_any_type_and_shape() -> None:
    data = np.arange(128, dtype=np.float32).reshape(2, 8, 8)
    emulate(REVERSE, data)
    assert data[0, 0, 0] == 63
    bits = np.arange(128, dtype=np.int32)
    emulate(REVERSE, bits)
    assert bits[0] == 63


def test_pointers_take_no_array_with_gaps() -> None:
    with pytest.raises(LayoutError, match="not contiguous"):
        emulate(REVERSE, np.ones((128, 2), np.float32)[:, 0])


def test_an_access_behind_the_array_is_found() -> None:
    with pytest.raises(AssertionError, match=r"bounds"):
        emulate(REVERSE, np.ones(100, np.float32))


def test_variables_of_the_module() -> None:
    text = """\
target triple = "nvptx64-nvidia-cuda"
@counter = addrspace(1) global i32 7
@table = internal addrspace(4) constant [2 x i32] [i32 5, i32 6]
define ptx_kernel void @k(ptr %p) {
  %x = load i32, ptr addrspace(1) @counter
  %y = load i32, ptr addrspace(4) getelementptr ([2 x i32], ptr addrspace(4) @table, i64 0, i64 1)
  %z = add i32 %x, %y
  store i32 %z, ptr %p
  ret void
}
"""
    result = np.zeros(1, np.int32)
    emulate(text, result, block=1, grid=1)
    assert result[0] == 13


def test_calls_of_functions_that_are_not_inlined() -> None:
    text = f"""\
target triple = "nvptx64-nvidia-cuda"
{TID}define internal i32 @twice(i32 %x) noinline {{
  %y = add i32 %x, %x
  ret i32 %y
}}
define ptx_kernel void @k(ptr %p) {{
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %d = call i32 @twice(i32 %t)
  %q = getelementptr i32, ptr %p, i32 %t
  store i32 %d, ptr %q
  ret void
}}
"""
    result = np.zeros(32, np.int32)
    emulate(text, result, block=32, grid=1)
    np.testing.assert_array_equal(result, 2 * np.arange(32))
    assert pipeline.check(text, block=32, grid=1).is_safe


def test_what_comes_out_is_assembled() -> None:
    assert len(pipeline.compile(REVERSE, block=64, grid=2).cubin) > 0


# --- other forms ----------------------------------------------------------------------------------


def test_bitcode(tmp_path: Path) -> None:
    if shutil.which("llvm-as-22") is None:
        pytest.skip("there is no llvm-as-22")
    (tmp_path / "k.ll").write_text(REVERSE)
    subprocess.run(["llvm-as-22", "k.ll", "-o", "k.bc"], cwd=tmp_path, check=True)
    assert pipeline.check(tmp_path / "k.bc", block=64, grid=2).is_safe
    whole = (tmp_path / "k.bc").read_bytes()
    for size in (5, 100, len(whole) // 2, len(whole) - 8):
        (tmp_path / "k.bc").write_bytes(whole[:size])
        with pytest.raises(CompileError, match=r"k\.bc:1:1: error: "):
            pipeline.check(tmp_path / "k.bc")


def test_modules_as_upstream_imports_them(tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(RACY)
    translate = shutil.which("mlir-translate-22")
    if translate is None:
        pytest.skip("there is no mlir-translate-22")
    done = subprocess.run(
        [translate, "--import-llvm", "k.ll"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert "gpu." not in done.stdout
    assert pipeline.check(done.stdout, block=64, grid=2).kernels[0].verdict == "RACE"


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["_Z7reversePf", "reverse", "reverse(float*)"])
def test_kernels_are_called_by_any_of_their_names(name: str, tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(RACY)
    outcome = call(
        *("check", "k.ll", "--dynamic", "--kernel", name, "--block", "64", "--grid", "2"),
        *("--arg", "128xf32"),
        cwd=tmp_path,
    )
    assert outcome.code == 1
    assert "reverse(float*): RACE" in outcome.text
    assert "[race.shared]" in outcome.words


def test_others_are_left_out_if_one_is_named() -> None:
    second = RACY[RACY.index("define") :].replace("_Z7reversePf", "other")
    both = REVERSE + second
    assert [kernel.verdict for kernel in pipeline.check(both, block=64, grid=2).kernels] == [
        "SAFE",
        "RACE",
    ]
    assert pipeline.check(both, kernel="reverse", block=64, grid=2).is_safe


def test_a_name_that_no_kernel_has_is_refused(tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(RACY)
    outcome = call("check", "k.ll", "--kernel", "revers", cwd=tmp_path)
    assert outcome.code == 1
    assert "there is no kernel 'revers'; there are reverse(float*)" in outcome.words


def test_functions_of_the_program_are_not_taken_for_libdevice() -> None:
    text = f"""\
target triple = "nvptx64-nvidia-cuda"
{TID}define internal i32 @__nv_min(i32 %x, i32 %y) noinline {{
  %z = add i32 %x, %y
  ret i32 %z
}}
define ptx_kernel void @k(ptr %p) {{
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %d = call i32 @__nv_min(i32 %t, i32 1)
  %q = getelementptr i32, ptr %p, i32 %t
  store i32 %d, ptr %q
  ret void
}}
"""
    result = np.zeros(32, np.int32)
    emulate(text, result, block=32, grid=1)
    np.testing.assert_array_equal(result, np.arange(32) + 1)


def test_a_racy_function_with_a_name_of_libdevice_is_not_safe() -> None:
    text = f"""\
target triple = "nvptx64-nvidia-cuda"
{TID}@sum = addrspace(1) global i32 0
define internal i32 @__nv_count(i32 %x) noinline {{
  store i32 %x, ptr addrspace(1) @sum
  ret i32 %x
}}
define ptx_kernel void @k(ptr %p) {{
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %d = call i32 @__nv_count(i32 %t)
  ret void
}}
"""
    assert not pipeline.check(text, block=64, grid=1).is_safe


# --- errors ---------------------------------------------------------------------------------------

HEAD = 'target triple = "nvptx64-nvidia-cuda"\n'
BAD = {
    "define ptx_kernel void @k(ptr %p) {\n  %x = add i32 1, %q\n  ret void\n}\n": (
        "<string>:3:19: error: use of undefined value '%q'"
    ),
    "define void @k(ptr %p) {\n  ret void\n}\n": "there is no kernel in this LLVM IR",
    "declare void @f()\ndefine ptx_kernel void @k() {\n  call void @f()\n  ret void\n}\n": (
        "<string>:4:3: error: function 'f' has no body that runs on the device"
    ),
    "define ptx_kernel i32 @k() {\n  ret i32 1\n}\n": "op is a kernel that returns 'i32'",
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_wrong_is_told_with_its_place(text: str) -> None:
    with pytest.raises(CompileError) as caught:
        pipeline.compile(HEAD + text, verify=False)
    assert BAD[text] in str(caught.value)


def test_kernels_for_other_machines_are_refused() -> None:
    text = REVERSE.replace("nvptx64-nvidia-cuda", "x86_64-pc-linux-gnu")
    with pytest.raises(CompileError, match="this is LLVM IR for x86_64-pc-linux-gnu"):
        pipeline.check(text)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%x = call i32 @llvm.nvvm.read.ptx.sreg.envreg3()", "special register '%envreg3'"),
        ('%x = call i32 asm "popc.b32 $0, 7;", "=r"()', "inline assembly"),
        ("%f = inttoptr i64 %n to ptr\n  call void %f()\n  %x = add i32 0, 0", "by its address"),
    ],
)
def test_what_the_emulator_lacks_is_named(line: str, message: str) -> None:
    text = f"""\
{HEAD}declare i32 @llvm.nvvm.read.ptx.sreg.envreg3()
define ptx_kernel void @k(ptr %p, i64 %n) {{
  {line}
  store i32 %x, ptr %p
  ret void
}}
"""
    with pytest.raises(CompileError, match=message) as caught:
        emulate(text, np.zeros(1, np.int32), 0, block=1, grid=1)
    assert caught.value.diagnostics[0].location.line in (4, 5)


def test_sizes_that_no_launch_has() -> None:
    for given in (0, -1, (1, 2, 3, 4), 1 << 40, "64"):
        with pytest.raises(UsageError, match="block"):
            pipeline.check(REVERSE, block=given)  # type: ignore[arg-type]


def test_sizes_that_the_kernel_is_not_for() -> None:
    text = REVERSE.replace("ptr %data) {", 'ptr %data) "nvvm.reqntid"="32,1,1" {')
    assert pipeline.check(text, block=32, grid=1).kernels[0].verdict == "SAFE"
    with pytest.raises(CompileError, match="is to be launched with"):
        pipeline.check(text, block=64)
