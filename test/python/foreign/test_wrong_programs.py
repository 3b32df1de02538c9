"""Programs of LLVM IR that are wrong, or that nothing can be done with: a place and a reason."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import pipeline
from foreign.llvm_text import emulate, make
from pipeline.errors import CompileError, Error, UsageError
from support.command_line import call

HEAD = 'target triple = "nvptx64-nvidia-cuda"\n'
KERNEL = "define ptx_kernel void @k(ptr %p) {\n"
END = "  ret void\n}\n"


def _fail(text: str) -> CompileError:
    with pytest.raises(CompileError) as caught:
        pipeline.check(text, block=32, grid=1)
    assert caught.value.diagnostics[0].severity == "error"
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (HEAD + "define ptx_kernel void @k(", 2, "expected type"),
        (HEAD + KERNEL + "  %x = load i32\n" + END, 4, "expected comma"),
        (HEAD + KERNEL + "  %x = load i32, ptr %q\n" + END, 3, "use of undefined value"),
        (HEAD + KERNEL + "  store i32 %p, ptr %p\n" + END, 3, "defined with type 'ptr'"),
        (HEAD + KERNEL + "  br label %nowhere\n}\n", 3, "use of undefined value '%nowhere'"),
        (HEAD + KERNEL + "  %x = add i32 0, 0\n}\n", 4, "expected instruction opcode"),
        (HEAD + "@x = addrspace(3) global", 2, "expected type"),
    ],
)
def test_malformed_text(text: str, line: int, message: str) -> None:
    (diagnostic, *_) = _fail(text).diagnostics
    assert message in diagnostic.message
    assert diagnostic.location.line == line


FLAGS = """
!llvm.module.flags = !{!0}
!0 = !{i32 %d, !"Debug Info Version", i32 3}
"""


@pytest.mark.parametrize(
    ("line", "flags", "message"),
    [
        ("%y = add i32 %x, 1\n  %x = add i32 %y, 1", FLAGS % 2, "does not dominate all uses"),
        ("%x = add i32 %x, 1", FLAGS % 2, "may reference their own value"),
        ("", FLAGS % -1, "invalid behavior operand in module flag"),
    ],
)
def test_what_is_wrong_beside_debug_information(line: str, flags: str, message: str) -> None:
    """There LLVM, which looks at it before anybody else, ends the process."""
    error = _fail(HEAD + KERNEL + f"  {line}\n" + END + flags)
    (diagnostic, *_) = error.diagnostics
    assert message in diagnostic.message
    assert diagnostic.location.line > 0


def test_text_that_ends_anywhere_never_crashes() -> None:
    whole = make("""
  %q = getelementptr i32, ptr %p, i32 %t
  %is = icmp sgt i32 %t, 3
  br i1 %is, label %some, label %end
some:
  %x = call i32 asm sideeffect "ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr %q)
  store i32 %x, ptr %q
  br label %end
end:
  ret void
""")
    for size in range(0, len(whole), 7):
        try:
            pipeline.check("; cut\n" + whole[:size], block=32, grid=1)
        except (CompileError, UsageError):
            continue


def test_text_with_changed_characters_never_crashes() -> None:
    whole = make("""
  %q = getelementptr [4 x i32], ptr %p, i32 %t, i32 1
  %x = load volatile i32, ptr %q
  %y = atomicrmw add ptr %q, i32 %x syncscope("block") monotonic
  %z = call i32 asm sideeffect "mov.u32 $0, $1;", "=r,r"(i32 %y)
  store i32 %z, ptr %q
  ret void
""")
    for seed in range(150):
        choose = random.Random(seed)
        text = list(whole)
        for _ in range(choose.randint(1, 3)):
            text[choose.randrange(len(text))] = choose.choice("0123456789%@,(){}[] xip*\n")
        try:
            pipeline.check("; changed\n" + "".join(text), block=32, grid=1)
        except (CompileError, UsageError):
            continue


# --- what is right, and not known -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "declared", "message"),
    [
        ("call void @llvm.nvvm.nonsense()", "void @llvm.nvvm.nonsense()", "nonsense"),
        ("call void @unknown(ptr %p)", "void @unknown(ptr)", "function 'unknown'"),
        ("%f = inttoptr i64 8 to ptr\n  call void %f()", "", "by its address"),
        ("call void @again(ptr %p)", "", "calls itself"),
        ("store i32 1, ptr addrspace(1) @number", "", "variable 'number' of the module"),
        (
            "call void @llvm.nvvm.tcgen05.fence.before.thread.sync()",
            "void @llvm.nvvm.tcgen05.fence.before.thread.sync()",
            "tcgen05",
        ),
        ("%x = call ptr @malloc(i64 8)", "ptr @malloc(i64)", "function 'malloc'"),
        (
            "%x = alloca i32, i32 %t\n  store volatile i32 1, ptr %x",
            "",
            "of a size that only the launch knows",
        ),
    ],
)
def test_what_is_not_emulated(line: str, declared: str, message: str) -> None:
    others = """
@number = addrspace(1) global i32 7
define internal void @again(ptr %p) noinline {
  call void @again(ptr %p)
  ret void
}
"""
    text = make(
        f"  {line}\n  ret void", globals=others + (f"declare {declared}\n" if declared else "")
    )
    with pytest.raises(CompileError) as caught:
        emulate(text, np.zeros(64, np.int32))
    (diagnostic, *_) = caught.value.diagnostics
    assert message in diagnostic.message
    assert diagnostic.location.line > 0
    # The proof says what it knows all the same.
    assert pipeline.check(text, block=64, grid=1).kernels


def test_the_address_of_a_function_is_no_value() -> None:
    text = make(
        """
  %is = icmp eq ptr %f, @twice
  br i1 %is, label %some, label %end
some:
  store i32 1, ptr %p
  br label %end
end:
  ret void
""",
        "ptr %p, i64 %n",
        "define i32 @twice(i32 %x) {\n  ret i32 %x\n}\n",
    ).replace("  %is =", "  %f = inttoptr i64 %n to ptr\n  %is =")
    with pytest.raises(CompileError, match="the address of function 'twice' is used") as caught:
        emulate(text, np.zeros(64, np.int32), 0)
    assert caught.value.diagnostics[0].location.line > 0


def test_a_call_by_an_address_is_undecided() -> None:
    text = make("  %f = load ptr, ptr %p\n  call void %f()\n  ret void")
    (kernel,) = pipeline.check(text, block=64, grid=1).kernels
    assert kernel.verdict == "MAYBE"


def test_a_module_without_kernels() -> None:
    error = _fail(HEAD + "define void @f() {\n  ret void\n}\n")
    assert "there is no kernel in this LLVM IR" in str(error)


def test_binary_garbage(tmp_path: Path) -> None:
    for seed in range(20):
        data = random.Random(seed).randbytes(200)
        (tmp_path / "k.bc").write_bytes(b"BC\xc0\xde" + data)
        with pytest.raises(Error):
            pipeline.check(tmp_path / "k.bc")


@pytest.mark.parametrize("name", ["k.ll", "k.bc", "k.cu", "k.mlir"])
def test_nothing_at_all(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    outcome = call("check", name, cwd=tmp_path)
    assert outcome.code == 1
    assert f"{name}:1:1: error: there is no program: this is empty" in outcome.words


def test_bitcode_that_is_cut_off(tmp_path: Path) -> None:
    assembler = shutil.which("llvm-as-22")
    if not assembler:
        pytest.skip("llvm-as-22 is not installed")
    (tmp_path / "k.ll").write_text(make("  store i32 1, ptr %p\n  ret void"))
    subprocess.run([assembler, "k.ll"], cwd=tmp_path, check=True)
    whole = (tmp_path / "k.bc").read_bytes()
    assert pipeline.check(tmp_path / "k.bc", block=1, grid=1).is_safe
    for size in range(4, len(whole), len(whole) // 40):
        (tmp_path / "k.bc").write_bytes(whole[:size])
        with pytest.raises(CompileError) as caught:
            pipeline.check(tmp_path / "k.bc", block=1, grid=1)
        assert caught.value.diagnostics[0].location.line == 1


def test_decimals_that_have_to_be_rounded() -> None:
    """As LLVM prints them from version 23 on."""
    text = make("""
  %q = getelementptr float, ptr %p, i32 %t
  store float 1.000000e-01, ptr %q
  %r = getelementptr float, ptr %q, i32 32
  store <2 x half> <half -1.000000e-01, half 5.000000e-01>, ptr %r
  ret void
""")
    out = np.zeros(64, np.float32)
    emulate(text, out, block=32)
    assert (out[:32] == np.float32(0.1)).all()
    assert out[32:].view(np.float16)[:2].tolist() == [np.float16(-0.1), 0.5]


# --- the command line -----------------------------------------------------------------------------


def test_kernels_of_mlir_are_called_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "k.mlir").write_text("""\
gpu.module @kernels {
  gpu.func @first(%a: memref<8xi32>) kernel {
    gpu.return
  }
  gpu.func @second(%a: memref<8xi32>) kernel {
    gpu.return
  }
}
""")
    for words in ((), ("--dynamic", "--block", "8", "--grid", "1")):
        outcome = call("check", "k.mlir", "--kernel", "thrid", *words, cwd=tmp_path)
        assert outcome.code == 2
        assert "there is no kernel 'thrid'; there are first, second" in outcome.words
    assert call("check", "k.mlir", "--kernel", "first", cwd=tmp_path).code == 0
    with pytest.raises(UsageError, match="there is no kernel 'thrid'"):
        pipeline.check(tmp_path / "k.mlir", kernel="thrid")


def test_numbers_of_arrays_are_exact(tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(
        make("""
  %q = getelementptr i64, ptr %p, i32 %t
  %x = load i64, ptr %q
  %y = add i64 %x, 1
  store i64 %y, ptr %q
  ret void
""")
    )
    words = ("run", "k.ll", "--kernel", "k", "--grid", "1", "--block", "4", "--no-verify")
    for given, wanted in (
        (2**53 + 1, 2**53 + 2),
        (-(2**62) - 3, -(2**62) - 2),
        (2**64 - 3, -2),
        ("1e3", 1001),
    ):
        outcome = call(*words, "--arg", f"4xi64={given}", "--out", "o", cwd=tmp_path)
        assert outcome.code == 0, outcome.words
        assert np.load(tmp_path / "o" / "arg0.npy").tolist() == [wanted] * 4
    for given in (str(2**64), "1.5", "nan"):
        outcome = call(*words, "--arg", f"4xi64={given}", cwd=tmp_path)
        assert outcome.code == 2
        assert f"--arg 4xi64={given}: " in outcome.words
