"""Memories by their names: what a kernel calls constant, private or cluster memory has to be it."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import pipeline
from emulator.faults import kernel, numbers

Check = Literal["none", "races", "all"]

ACCESSES = {
    "load": "%x = llvm.load %p : !llvm.ptr<{space}> -> i32",
    "volatile load": "%x = llvm.load volatile %p : !llvm.ptr<{space}> -> i32",
    "vector load": "%y = llvm.load %p : !llvm.ptr<{space}> -> vector<4xi32>",
    "store": "llvm.store %one, %p : i32, !llvm.ptr<{space}>",
    "atomic store": "llvm.store %one, %p atomic monotonic {{alignment = 4 : i64}}"
    " : i32, !llvm.ptr<{space}>",
    "atomic": "%x = llvm.atomicrmw add %p, %one monotonic : !llvm.ptr<{space}>, i32",
    "swap": "%z = llvm.cmpxchg %p, %one, %two monotonic monotonic : !llvm.ptr<{space}>, i32",
    "fill": '"llvm.intr.memset"(%p, %byte, %four) <{{isVolatile = false}}>'
    " : (!llvm.ptr<{space}>, i8, i64) -> ()",
    "copy to": '"llvm.intr.memcpy"(%p, %global, %four) <{{isVolatile = false}}>'
    " : (!llvm.ptr<{space}>, !llvm.ptr<1>, i64) -> ()",
    "copy from": '"llvm.intr.memcpy"(%global, %p, %four) <{{isVolatile = false}}>'
    " : (!llvm.ptr<1>, !llvm.ptr<{space}>, i64) -> ()",
}
READS = {"load", "volatile load", "vector load", "copy from"}
NAMES = {
    "load": "load",
    "volatile load": "load",
    "vector load": "load",
    "store": "store",
    "atomic store": "store",
    "atomic": "atomicrmw",
    "swap": "cmpxchg",
    "fill": "llvm.memset",
    "copy to": "llvm.memcpy",
    "copy from": "llvm.memcpy",
}


def fault_of(space: int, access: str) -> str:
    if space == 4:
        wrong = "reads constant memory at" if access in READS else "writes to constant memory"
    else:
        wrong = {
            2: "accesses memory of address space 2, which no NVIDIA GPU has",
            5: "accesses private memory at an address that is of no memory of the thread's own",
            6: "accesses tensor memory, which is not emulated",
            9: "accesses memory of address space 9, which no NVIDIA GPU has",
        }[space]
    return wrong


USES = {
    "%x": "memref.store %x, %a[%tx] : memref<8xi32>",
    "%y": "%e = vector.extract %y[0] : i32 from vector<4xi32>\n"
    "    memref.store %e, %a[%tx] : memref<8xi32>",
}


def program(access: str, space: int, make: str) -> str:
    """Return a kernel whose optimiser has nothing to take away."""
    operation = ACCESSES[access].format(space=space)
    return kernel(
        "%a: memref<8xi32>",
        f"""
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %byte = arith.constant 1 : i8
    %four = arith.constant 4 : i64
    %a0 = memref.extract_aligned_pointer_as_index %a : memref<8xi32> -> index
    %a1 = arith.index_cast %a0 : index to i64
    %global = llvm.inttoptr %a1 : i64 to !llvm.ptr<1>
    %generic = llvm.addrspacecast %global : !llvm.ptr<1> to !llvm.ptr
    {make.format(space=space)}
    {operation}
    {USES.get(operation[:2], "")}
""",
    )


def attempt(text: str, check: Check) -> None:
    module = pipeline.compile(text, chip="sm_90", until="llvm", sync="keep", verify=False)
    module.kernels["k"].run(numbers(8), grid=1, block=4, check=check)


@pytest.mark.parametrize("check", ["none", "races"])
@pytest.mark.parametrize(
    "make",
    [
        "%p = llvm.inttoptr %a1 : i64 to !llvm.ptr<{space}>",
        "%p = llvm.addrspacecast %generic : !llvm.ptr to !llvm.ptr<{space}>",
    ],
    ids=["made of a number", "cast"],
)
@pytest.mark.parametrize("access", ACCESSES)
@pytest.mark.parametrize("space", [2, 4, 5, 6, 9])
def test_refused_at_the_operation(space: int, access: str, make: str, check: Check) -> None:
    """An address of global memory is in no other memory, whatever the type of the pointer says."""
    text = program(access, space, make)
    if "cast" in make and check == "none" and NAMES[access].startswith("llvm."):
        pytest.skip("the optimiser sees through the cast, as for PTX")
    with pytest.raises(pipeline.CompileError) as caught:
        attempt(text, check)
    errors = [item for item in caught.value.diagnostics if item.severity == "error"]
    for error in errors:
        assert fault_of(space, access) in error.message or caught.value.stage != "emulate"
    # As for PTX, an update of a thread's own memory is a plain load and a plain store.
    if space == 5 and check == "none" and access in ("atomic", "swap"):
        assert len({error.location.line for error in errors}) == 1
        return
    (diagnostic,) = errors
    line = text.splitlines()[diagnostic.location.line - 1]
    if caught.value.stage == "emulate" and check == "races":
        assert f"'{NAMES[access]}" in diagnostic.message
        assert line.strip() == ACCESSES[access].format(space=space)


def test_private_memory_by_its_name() -> None:
    """What is made in private memory is there, also where one of two is chosen."""
    text = kernel(
        "%a: memref<8xi32>",
        """
    %one = llvm.mlir.constant(1 : i32) : i32
    %p = llvm.alloca %one x i32 : (i32) -> !llvm.ptr<5>
    %q = llvm.alloca %one x i32 : (i32) -> !llvm.ptr<5>
    %x = memref.load %a[%tx] : memref<8xi32>
    %two = arith.addi %x, %x : i32
    llvm.store %x, %p : i32, !llvm.ptr<5>
    llvm.store %two, %q : i32, !llvm.ptr<5>
    %zero = arith.constant 0 : i32
    %bit = arith.andi %x, %one : i32
    %is_odd = arith.cmpi ne, %bit, %zero : i32
    %r = arith.select %is_odd, %p, %q : !llvm.ptr<5>
    %y = llvm.load %r : !llvm.ptr<5> -> i32
    memref.store %y, %a[%tx] : memref<8xi32>
""",
    )
    for check in ("none", "all"):
        module = pipeline.compile(text, chip="sm_90", until="llvm", sync="keep", verify=False)
        values = np.arange(8, dtype=np.int32)
        module.kernels["k"].run(values, grid=1, block=8, check=check)
        given = np.arange(8)
        np.testing.assert_array_equal(values, np.where(given % 2, given, 2 * given))


def test_private_memory_has_bounds() -> None:
    text = kernel(
        "%a: memref<8xi32>",
        """
    %four = llvm.mlir.constant(4 : i32) : i32
    %p = llvm.alloca %four x i32 : (i32) -> !llvm.ptr<5>
    %q = llvm.alloca %four x i32 : (i32) -> !llvm.ptr<5>
    %x = memref.load %a[%tx] : memref<8xi32>
    llvm.store %x, %p : i32, !llvm.ptr<5>
    llvm.store %x, %q : i32, !llvm.ptr<5>
    %zero = arith.constant 0 : i32
    %is_odd = arith.cmpi ne, %x, %zero : i32
    %r = arith.select %is_odd, %p, %q : !llvm.ptr<5>
    %s = llvm.getelementptr %r[%x] : (!llvm.ptr<5>, i32) -> !llvm.ptr<5>, i32
    %y = llvm.load %s : !llvm.ptr<5> -> i32
    memref.store %y, %a[%tx] : memref<8xi32>
""",
    )
    kernel_ = pipeline.compile(text, chip="sm_90", until="llvm", sync="keep", verify=False).kernels[
        "k"
    ]
    with pytest.raises(pipeline.MemoryAccessError) as caught:
        kernel_.run(numbers(8) + 4, grid=1, block=1, check="races")
    (finding,) = caught.value.findings
    assert (finding.kind, finding.buffer) == ("out-of-bounds", "private memory")


# --- constant memory ------------------------------------------------------------------------------

TABLE = "memref<4xi32{space}>"


def constant_program(space: str, body: str) -> str:
    table = TABLE.format(space=space)
    return f"""\
gpu.module @kernels {{
  memref.global "private" constant @table : {table} = dense<[1, 10, 100, 1000]>
  gpu.func @k(%a: memref<8xi32>) kernel {{
    %tx = gpu.thread_id x
    %t = memref.get_global @table : {table}
{body.format(table=table)}
    gpu.return
  }}
}}
"""


READ = """\
    %x = memref.load %t[%tx] : {table}
    memref.store %x, %a[%tx] : memref<8xi32>
"""


@pytest.mark.parametrize("check", ["none", "all"])
@pytest.mark.parametrize("space", ["", ", 4", ", #nvvm.memory_space<constant>"])
def test_constant_memory_is_read(space: str, check: Check) -> None:
    module = pipeline.compile(
        constant_program(space, READ), until="llvm", sync="keep", verify=False
    )
    kernel_ = module.kernels["k"]
    values = numbers(8)
    report = kernel_.run(values, grid=1, block=4, check=check)
    np.testing.assert_array_equal(values[:4], [1, 10, 100, 1000])
    assert not report.unreached
    with pytest.raises(pipeline.MemoryAccessError) as caught:
        kernel_.run(values, grid=1, block=5, check=check)
    (finding,) = caught.value.findings
    assert finding.space == ("constant" if space else "global")
    assert finding.kind == "out-of-bounds"


@pytest.mark.parametrize("space", ["", ", 4", ", #nvvm.memory_space<constant>"])
def test_constant_memory_is_not_written(space: str) -> None:
    body = """\
    %x = memref.load %a[%tx] : memref<8xi32>
    memref.store %x, %t[%tx] : {table}
"""
    text = constant_program(space, body)
    line = 1 + text[: text.index("memref.store")].count("\n")
    with pytest.raises((pipeline.CompileError, pipeline.MemoryAccessError)) as caught:
        attempt(text, "races")
    if isinstance(caught.value, pipeline.CompileError):
        assert "constant" in str(caught.value)
        return
    assert isinstance(caught.value, pipeline.MemoryAccessError)
    (finding,) = caught.value.findings
    assert (finding.kind, finding.message) == ("read-only", "write to a constant of the module")
    assert finding.accesses[0].location.line == line


# --- which memory an address is in ----------------------------------------------------------------


@pytest.mark.parametrize("memory", ["global", "shared", "local"])
@pytest.mark.parametrize("asked", ["global", "shared", "local", "const", "shared.cluster"])
def test_isspacep(memory: str, asked: str) -> None:
    make = {
        "global": "%p = llvm.addrspacecast %g : !llvm.ptr<1> to !llvm.ptr",
        "shared": "%p = llvm.addrspacecast %s : !llvm.ptr<3> to !llvm.ptr",
        "local": "%n = llvm.mlir.constant(1 : i32) : i32\n"
        "    %p = llvm.alloca %n x i32 : (i32) -> !llvm.ptr",
    }[memory]
    text = kernel(
        "%a: memref<8xi32>",
        f"""
    %a0 = memref.extract_aligned_pointer_as_index %a : memref<8xi32> -> index
    %a1 = arith.index_cast %a0 : index to i64
    %g = llvm.inttoptr %a1 : i64 to !llvm.ptr<1>
    %w0 = memref.extract_aligned_pointer_as_index %w : memref<1xi32, #wg> -> index
    %w1 = arith.index_cast %w0 : index to i64
    %s = llvm.inttoptr %w1 : i64 to !llvm.ptr<3>
    {make}
    %is = llvm.call_intrinsic "llvm.nvvm.isspacep.{asked}"(%p) : (!llvm.ptr) -> i1
    %x = arith.extui %is : i1 to i32
    memref.store %x, %a[%c0] : memref<8xi32>
""",
        buffers="%w: memref<1xi32, #wg>",
    )
    module = pipeline.compile(text, chip="sm_90", until="llvm", sync="keep", verify=False)
    values = np.full(8, 7, np.int32)
    module.kernels["k"].run(values, grid=1, block=1, check="races")
    assert values[0] == (asked.removesuffix(".cluster") == memory)
