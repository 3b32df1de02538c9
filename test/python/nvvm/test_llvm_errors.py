"""What LLVM refuses becomes an error at its place; the process goes on, and nothing is printed."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pipeline
from support.chips import CHIPS

ONE = "known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 1, 1, 1>"


def kernel(body: str, arguments: str = "%a: memref<8xi32>", others: str = "") -> str:
    return f"""\
gpu.module @m {{
{others}  gpu.func @k({arguments}) kernel attributes {{{ONE}}} {{
    %c0 = arith.constant 0 : index
{body.strip(chr(10))}
    gpu.return
  }}
}}
"""


def assembly(constraints: str, text: str = "mov.b32 $0, $1;", name: str = "a") -> str:
    return f"""
    %v{name} = memref.load %{name}[%c0] : memref<8xi32>
    %r{name} = llvm.inline_asm has_side_effects "{text}", "{constraints}" %v{name} : (i32) -> i32
    memref.store %r{name}, %{name}[%c0] : memref<8xi32>
"""


def refuse(text: str, chip: str, mark: str, capfd: pytest.CaptureFixture[str]) -> str:
    """Return the message of the error at the line that has `mark` in it, the only one."""
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(text, chip=chip)
    (error,) = (d for d in caught.value.diagnostics if d.severity == "error")
    lines = text.splitlines()
    assert mark in lines[error.location.line - 1]
    place = f"<string>:{error.location.line}:{error.location.column}: error: "
    assert place + error.message in str(caught.value)
    assert error.location.column > 0
    assert "internal error" not in str(caught.value)
    assert capfd.readouterr() == ("", "")
    return error.message


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("constraints", ["=z,r", "=r,z", "=x,i"])
def test_assembly_with_a_constraint_that_there_is_not(
    constraints: str, chip: str, capfd: pytest.CaptureFixture[str]
) -> None:
    message = refuse(kernel(assembly(constraints)), chip, "llvm.inline_asm", capfd)
    assert message.startswith(f"LLVM has no code for this on {chip}: ")
    assert "constraint" in message or "operand" in message


def test_the_place_is_in_the_kernel_that_is_at_fault(capfd: pytest.CaptureFixture[str]) -> None:
    """Of several kernels, and of a function that they call, inlined or not."""
    right = kernel(assembly("=r,r"))
    right = right[right.index("  gpu.func") : right.rindex("}")].replace("@k(", "@right(")
    refuse(kernel(assembly("=z,r"), others=right), "sm_80", '"=z,r"', capfd)
    called = f"""\
  llvm.func internal @f(%v: i32) -> i32 attributes {{no_inline}} {{
    %r = llvm.inline_asm has_side_effects "mov.b32 $0, $1;", "=z,r" %v : (i32) -> i32
    llvm.return %r : i32
  }}
{right}"""
    body = """
    %v = memref.load %a[%c0] : memref<8xi32>
    %r = llvm.call @f(%v) : (i32) -> i32
    memref.store %r, %a[%c0] : memref<8xi32>
"""
    for others in (called, called.replace(" attributes {no_inline}", "")):
        refuse(kernel(body, others=others), "sm_80", '"=z,r"', capfd)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("kind", ["f128", "f80"])
def test_atomic_updates_of_floats_that_no_gpu_has(
    kind: str, chip: str, capfd: pytest.CaptureFixture[str]
) -> None:
    body = f"""
    %v = llvm.mlir.constant(1.0 : {kind}) : {kind}
    %r = llvm.atomicrmw fadd %p, %v monotonic : !llvm.ptr, {kind}
"""
    message = refuse(kernel(body, "%p: !llvm.ptr"), chip, "llvm.atomicrmw", capfd)
    assert "floats of more than 64 bits" in message


@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_89", "sm_90"])
def test_atomic_exchange_of_what_is_too_wide(chip: str, capfd: pytest.CaptureFixture[str]) -> None:
    body = """
    %v = llvm.load %p : !llvm.ptr -> i128
    %r = llvm.atomicrmw xchg %p, %v monotonic : !llvm.ptr, i128
"""
    message = refuse(kernel(body, "%p: !llvm.ptr"), chip, "llvm.atomicrmw", capfd)
    assert f"no code for this on {chip}: unsupported" in message


@pytest.mark.parametrize("kind", ["f128", "f80"])
@pytest.mark.parametrize(
    "op",
    ["llvm.fadd %v, %v", "llvm.fdiv %v, %v", "llvm.fneg %v", "llvm.intr.maxnum(%v, %v)"],
)
def test_arithmetic_of_floats_that_no_gpu_has(
    op: str, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    types = f"({kind}, {kind}) -> {kind}" if "(" in op else kind
    body = f"""
    %v = llvm.load %p : !llvm.ptr -> {kind}
    %r = {op} : {types}
    llvm.store %r, %p : {kind}, !llvm.ptr
"""
    message = refuse(kernel(body, "%p: !llvm.ptr"), "sm_80", op, capfd)
    assert "floats of more than 64 bits, of which GPUs have no numbers" in message


@pytest.mark.parametrize("chip", CHIPS)
def test_intrinsics_of_other_machines(chip: str, capfd: pytest.CaptureFixture[str]) -> None:
    body = """
    %v = llvm.call_intrinsic "llvm.x86.rdtsc"() : () -> i64
    %w = arith.trunci %v : i64 to i32
    memref.store %w, %a[%c0] : memref<8xi32>
"""
    message = refuse(kernel(body), chip, "llvm.call_intrinsic", capfd)
    assert "Cannot select: intrinsic %llvm.x86.rdtsc" in message


def test_what_the_verifier_of_llvm_refuses(capfd: pytest.CaptureFixture[str]) -> None:
    """It is told with the operation; MLIR's own verifier does not know these rules."""
    body = """
    %n = llvm.mlir.constant(4 : i64) : i64
    %is = llvm.icmp "ult" %q, %n : i64
    %address = memref.extract_aligned_pointer_as_index %a : memref<8xi32> -> index
    %bits = arith.index_cast %address : index to i64
    %p = llvm.inttoptr %bits : i64 to !llvm.ptr
    llvm.call_intrinsic "llvm.memcpy.p0.p0.i64"(%p, %p, %n, %is)
        : (!llvm.ptr, !llvm.ptr, i64, i1) -> ()
"""
    text = kernel(body, "%a: memref<8xi32>, %q: i64")
    message = refuse(text, "sm_80", "llvm.call_intrinsic", capfd)
    assert message == (
        "LLVM does not accept what this becomes: immarg operand has non-immediate parameter"
    )


# --- memory of a thread, of a size that it computes ---------------------------------------------

DYNAMIC = """
    %n = memref.load %a[%c0] : memref<8xi32>
    %size = arith.index_cast %n : i32 to index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
"""
FILL = """
    scf.for %i = %c0 to %size step %c1 {
      %x = memref.load %a[%i] : memref<8xi32>
      memref.store %x, %p[%i] : memref<?xi32>
    }
    scf.for %i = %c0 to %size step %c1 {
      %j = arith.subi %size, %i : index
      %k = arith.subi %j, %c1 : index
      %x = memref.load %p[%k] : memref<?xi32>
      memref.store %x, %a[%i] : memref<8xi32>
    }
"""
STACKS = {
    "size of an argument": DYNAMIC + "    %p = memref.alloca(%size) : memref<?xi32>\n" + FILL,
    "in a scope": DYNAMIC
    + "    memref.alloca_scope {\n    %p = memref.alloca(%size) : memref<?xi32>\n"
    + FILL
    + "    }\n",
    "in a loop": DYNAMIC
    + "    scf.for %t = %c0 to %size step %c1 {\n"
    + "    %p = memref.alloca(%size) : memref<?xi32>\n"
    + FILL
    + "    }\n",
}


def version(ptx: str) -> tuple[int, int]:
    match = re.search(r"^\.version (\d+)\.(\d+)$", ptx, re.MULTILINE)
    assert match
    return int(match[1]), int(match[2])


OLDEST = {
    **{"sm_75": (6, 3), "sm_80": (7, 0), "sm_86": (7, 1), "sm_89": (7, 8), "sm_90": (8, 0)},
    **{"sm_90a": (8, 0), "sm_100": (8, 6), "sm_120": (8, 7)},
}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("stack", STACKS)
def test_memory_of_dynamic_size(stack: str, chip: str) -> None:
    """It takes PTX 7.3, and nothing else does."""
    module = pipeline.compile(kernel(STACKS[stack]), chip=chip)
    assert version(module.ptx) == max(OLDEST[chip], (7, 3))
    assert module.cubin


@pytest.mark.parametrize("chip", CHIPS)
def test_memory_of_constant_size_needs_no_newer_version(chip: str) -> None:
    text = STACKS["size of an argument"].replace("memref.alloca(%size)", "memref.alloca()")
    text = text.replace("memref<?xi32>", "memref<8xi32>")
    module = pipeline.compile(kernel(text), chip=chip)
    assert version(module.ptx) == OLDEST[chip]
    assert module.cubin


@pytest.mark.parametrize("features", ["+ptx70", "+ptx78", ""])
def test_a_version_that_the_program_names(features: str) -> None:
    target = f'gpu.module @m [#nvvm.target<chip = "sm_80", features = "{features}">]'
    text = kernel(STACKS["size of an argument"]).replace("gpu.module @m", target)
    assert version(pipeline.compile(text).ptx) >= ((7, 8) if "78" in features else (7, 3))


def test_the_emulator_says_where_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    module = pipeline.compile(kernel(STACKS["size of an argument"]), until="llvm")
    with pytest.raises(
        pipeline.CompileError, match=r"<string>:\d+:\d+: error: private memory of a size"
    ):
        module.kernels["k"].run(np.full(8, 3, np.int32))
    assert capfd.readouterr().err == ""
