"""Code with debug information, as ``mlir-translate --import-llvm`` leaves of clang's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pipeline
from support.chips import CHIPS

# What is imported along with a function, of which the kernel's own loop says to be a part.
DEBUG = """\
#file = #llvm.di_file<"loop.c" in "/src">
#unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C11, file = #file,
    producer = "clang", isOptimized = true, emissionKind = Full>
#type = #llvm.di_subroutine_type<>
#function = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #unit, scope = #file,
    name = "f", file = #file, line = 1, scopeLine = 1,
    subprogramFlags = "Definition|Optimized", type = #type>
#other = #llvm.di_subprogram<id = distinct[2]<>, compileUnit = #unit, scope = #file,
    name = "g", file = #file, line = 20, scopeLine = 20,
    subprogramFlags = "Definition|Optimized", type = #type>
#block = #llvm.di_lexical_block<scope = #function, file = #file, line = 3, column = 3>
#inner = #llvm.di_lexical_block_file<scope = #block, file = #file, discriminator = 2>
#float = #llvm.di_basic_type<tag = DW_TAG_base_type, name = "float", sizeInBits = 32,
    encoding = DW_ATE_float>
#sum = #llvm.di_local_variable<scope = SCOPE, name = "sum", file = #file, line = 2,
    type = #float>
#label = #llvm.di_label<scope = SCOPE, name = "again", file = #file, line = 3>
#from = loc("loop.c":3:3)
#to = loc("loop.c":5:3)
#start = loc(fused<SCOPE>[#from])
#end = loc(fused<SCOPE>[#to])
#followup = #llvm.loop_annotation<mustProgress = true, startLoc = #start, endLoc = #end>
#unroll = #llvm.loop_unroll<disable = true, followupAll = #followup>
#loop = #llvm.loop_annotation<unroll = #unroll, mustProgress = true, startLoc = #start,
    endLoc = #end>
#at = loc(fused<SCOPE>["loop.c":4:5])
"""
BODY = """\
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %first = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %n = llvm.mlir.constant(8 : i64) : i64
    llvm.br ^iteration(%first, %zero : i64, f32)
  ^iteration(%i: i64, %sum: f32):
    DEBUGGING
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32 loc(LOC)
    %x = llvm.load %p : !llvm.ptr -> f32 loc(LOC)
    %next = llvm.fadd %sum, %x : f32 loc(LOC)
    %j = llvm.add %i, %one : i64 loc(LOC)
    %again = llvm.icmp "ult" %j, %n : i64 loc(LOC)
    llvm.cond_br %again, ^iteration(%j, %next : i64, f32), ^exit {loop_annotation = #loop} loc(LOC)
  ^exit:
"""
DEBUGGING = """llvm.intr.dbg.value #sum = %sum : f32 loc(LOC)
    llvm.intr.dbg.label #label loc(LOC)"""

KERNEL = """\
  gpu.func @k(%m: memref<8xf32>) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>,
                  known_grid_size = array<i32: 1, 1, 1>} {
    %address = memref.extract_aligned_pointer_as_index %m : memref<8xf32> -> index
    %bits = arith.index_cast %address : index to i64
    %a = llvm.inttoptr %bits : i64 to !llvm.ptr"""
IN_KERNEL = f"""
gpu.module @m {{
{KERNEL}
{BODY}
    llvm.store %next, %a : f32, !llvm.ptr
    gpu.return
  }}
}}
"""
IN_FUNCTION = f"""
gpu.module @m {{
  llvm.func internal @f(%a: !llvm.ptr) -> f32 {{
{BODY}
    llvm.return %next : f32
  }} loc(fused<#function>["loop.c":1:1])
{KERNEL}
    %sum = llvm.call @f(%a) : (!llvm.ptr) -> f32
    llvm.store %sum, %a : f32, !llvm.ptr
    gpu.return
  }}
}}
"""
PLACES = {"kernel": IN_KERNEL, "function": IN_FUNCTION}
SCOPES = ("#function", "#block", "#inner")
LOCATIONS = {
    "scoped": "#at",
    "named": 'loc("x"(#at))',
    "inlined": 'loc(callsite(#at at fused<#function>["loop.c":9:1]))',
    "inlined elsewhere": 'loc(callsite(#at at fused<#other>["loop.c":21:1]))',
    "inlined twice": 'loc(callsite(#at at callsite(fused<#other>["loop.c":21:1]'
    ' at fused<#function>["loop.c":9:1])))',
    "inlined here": 'loc(callsite(#at at "loop.c":9:1))',
    "plain": 'loc("loop.c":4:5)',
    "unknown": "loc(unknown)",
}


def program(place: str, scope: str, location: str, *, variables: bool) -> str:
    text = DEBUG.replace("SCOPE", scope) + PLACES[place].replace(
        "DEBUGGING", DEBUGGING if variables else ""
    )
    where = LOCATIONS[location]
    return text.replace("loc(LOC)", where if where.startswith("loc") else f"loc({where})")


@pytest.mark.parametrize("variables", [False, True], ids=["lines", "variables"])
@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("place", PLACES)
def test_loops_with_debug_locations(
    place: str, scope: str, location: str, variables: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    module = pipeline.compile(program(place, scope, location, variables=variables), until="llvm")
    array = np.arange(8, dtype=np.float32)
    module.kernels["k"].run(array, grid=1, block=1)
    assert array[0] == 28
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("place", PLACES)
def test_loops_with_debug_locations_assemble(place: str, chip: str) -> None:
    module = pipeline.compile(program(place, "#block", "scoped", variables=True), chip=chip)
    assert module.cubin
    assert ".loc" not in module.ptx


@pytest.mark.parametrize(
    "location", ["scoped", "named", "plain", "inlined", "inlined elsewhere", "inlined twice"]
)
def test_lines_of_imported_code_stay(location: str) -> None:
    text = program("kernel", "#block", location, variables=False)
    text = text.replace("constant(8 : i64)", "constant(16 : i64)")
    module = pipeline.compile(text, until="llvm")
    report = module.kernels["k"].emulate(np.zeros(8, np.float32), grid=1, block=1)
    (finding, *_) = report.findings
    place = finding.accesses[0].location
    assert (place.line, place.column) == (4, 5)
    assert re.search(r"\bloop\.c$", place.file)
