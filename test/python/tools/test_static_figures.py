"""What `tools/bench static` reads in machine code: stalls, loops, and kinds of instructions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.static.main import measure_ptx
from benchmarks.static.sass import Function, Instruction, find_nvdisasm, parse
from pipeline.errors import ToolError
from pipeline.figures.figures import Figures, matrices, measure
from pipeline.figures.loops import find_loops, find_main_loop
from pipeline.system.toolchain import find_ptxas

LISTING = Path(__file__).parent / "listings" / "waiting-loop.sass"
"""A loop that waits at an mbarrier, and tries again behind the end of the kernel."""
PTX = """\
.version 7.0
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 out, .param .u32 n, .param .f32 x)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %rd;
  .reg .f32 %f<4>;
  ld.param.u64 %rd, [out];
  ld.param.u32 %r1, [n];
  ld.param.f32 %f1, [x];
  mov.u32 %r2, 0;
  mov.f32 %f2, 0f00000000;
LOOP:
  bar.sync 0;
  fma.rn.f32 %f2, %f2, %f1, %f1;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p, %r2, %r1;
  @%p bra LOOP;
  st.global.f32 [%rd], %f2;
  ret;
}
"""


def instruction(text: str, stall: int = 1) -> Instruction:
    guard, _, rest = text.partition(" ") if text[0] == "@" else ("", "", text)
    opcode, _, operands = rest.partition(" ")
    return Instruction(0, guard.removeprefix("@"), opcode, operands, stall)


def function(*lines: str) -> Function:
    """Return a function of instructions, and of labels, which end in a colon."""
    made = Function("kernel")
    for line in lines:
        if line.endswith(":"):
            made.labels[line[:-1]] = len(made.instructions)
        else:
            made.instructions.append(instruction(line))
    return made


def measure_listing() -> Figures:
    [listed] = parse(LISTING.read_text(encoding="utf-8")).values()
    return measure(listed, None)


def test_listing() -> None:
    """Instructions have their guard, operands and stall; labels lie before theirs."""
    functions = parse(LISTING.read_text(encoding="utf-8"))
    assert list(functions) == ["dot"]
    code = functions["dot"].instructions
    assert [one.address for one in code] == [16 * number for number in range(len(code))]
    jump = code[functions["dot"].labels[".L_x_2"] - 1]
    assert (jump.guard, jump.opcode, jump.targets) == ("!P0", "BRA", (".L_x_0",))
    assert jump.falls_through
    assert jump.stall == 5  # 0x001fea00: bits 41 to 44 hold 0101
    assert [one.stall for one in code if one.name == "FFMA"] == [4, 4, 4, 1]
    assert code[0].stall == 8


def test_main_loop_of_listing() -> None:
    """The second try of a wait is in the loop that it jumps back into, but in no usual turn."""
    found = measure_listing()
    assert found.name == "dot"
    assert found.instructions == 28  # without what fills the last line of the cache
    assert found.loop
    assert found.loop.mix == {
        "SHF": 1,
        "SYNCS": 1,
        "BRA": 3,
        "LDS.128": 1,
        "IADD3": 1,
        "BAR": 1,
        "ISETP": 1,
        "FFMA": 4,
    }
    assert (found.loop.work, found.loop.math, found.loop.instructions) == ("FFMA", 4, 13)
    assert found.loop.share == pytest.approx(4 / 13)
    assert found.loop.per_work == pytest.approx(13 / 4)
    assert found.loop.math_per_ldsm_x4 is None


def test_innermost_loop() -> None:
    """The main loop is the innermost one that works, not one that does less."""
    nest = function(
        ".L_outer:",
        "FFMA R0, R0, R1, R2",
        ".L_inner:",
        "FFMA R0, R0, R1, R2",
        "FFMA R0, R0, R1, R2",
        "@P0 BRA `(.L_inner)",
        "@P1 BRA `(.L_outer)",
        ".L_rest:",
        "FFMA R0, R0, R1, R2",
        "@P2 BRA `(.L_rest)",
        "EXIT",
    )
    assert sorted(len(loop.places) for loop in find_loops(nest)) == [2, 3, 5]
    found = find_main_loop(nest, lambda one: one.name == "FFMA")
    assert found
    assert [[one.opcode for one in part] for part in found] == [["FFMA", "FFMA", "BRA"]] * 2
    assert find_main_loop(nest, lambda one: one.name == "HMMA") is None


def test_what_branches_pass_by() -> None:
    """What a turn may skip is in the loop, but not in what every turn has."""
    loop = function(
        ".L_loop:",
        "FFMA R0, R0, R1, R2",
        "@P0 BRA `(.L_past)",
        "FMUL R0, R0, R1",
        ".L_past:",
        "@P1 BRA `(.L_loop)",
        "EXIT",
    )
    found = measure(loop, None).loop
    assert found
    assert (found.instructions, found.always) == (4, (3, 1))
    assert found.always_share == pytest.approx(1 / 3)


def test_jumps() -> None:
    """A jump without condition ends a block, so that a way back from behind the end is no loop."""
    cold = function(
        "@P0 BRA `(.L_cold)",
        ".L_back:",
        "FFMA R0, R0, R1, R2",
        "EXIT",
        ".L_cold:",
        "MOV R0, R1",
        "BRA `(.L_back)",
    )
    assert find_loops(cold) == []
    # ptxas leaves loops by calls, too.
    left = function(
        ".L_head:", "FFMA R0, R0, R1, R2", "@P2 CALL.REL.NOINC `(.L_out)", "BRA `(.L_head)",
        ".L_out:", ".L_again:", "FADD R0, R0, R1", "@P0 BRA `(.L_again)", "EXIT",
    )  # fmt: skip
    assert sorted(len(loop.places) for loop in find_loops(left)) == [2, 3]
    assert not instruction("BRA `(.L_x_1)").falls_through
    assert instruction("BRA P1, `(.L_x_1)").falls_through
    assert instruction("BRA.U UP0, `(.L_x_1)").falls_through
    assert instruction("BRA.DIV UR4, `(.L_x_1)").falls_through
    assert instruction("@!P0 EXIT").falls_through
    assert not instruction("EXIT").falls_through


def test_kinds() -> None:
    """Work comes before addresses, and tensor cores before all else."""
    loop = measure(
        function(
            ".L_head:",
            "LDSM.16.M88.4 R0, [R1]",
            "LDSM.16.MT88.2 R0, [R1]",
            "HMMA.16816.F32 R0, R1, R2, R0",
            "HMMA.16816.F32 R0, R1, R2, R0",
            "HMMA.16816.F32 R0, R1, R2, R0",
            "FFMA R0, R0, R1, R2",
            "IMAD.WIDE R0, R1, R2, R0",
            "LDS.U16 R0, [R1]",
            "LDS R0, [R1]",
            "LDGSTS.E.BYPASS.128 [R0], [R2.64]",
            "@P0 BRA `(.L_head)",
        ),
        None,
    ).loop
    assert loop
    assert (loop.work, loop.math) == ("HMMA.16816", 3)
    assert loop.math_per_ldsm_x4 == pytest.approx(3 / 1.5)
    assert loop.mix["IMAD.address"] == 1
    assert (loop.mix["LDS.U16"], loop.mix["LDS.32"], loop.mix["LDGSTS.128"]) == (1, 1, 1)
    assert loop.count("LDS", "LDSM") == 4
    assert matrices(Counter({"LDSM.16.M88": 3, "STSM.16.M88.4": 9}), "LDSM") == 3


def test_machine_code() -> None:
    """What ptxas makes today is read as what was recorded."""
    try:
        find_ptxas()
    except ToolError as error:
        pytest.skip(str(error))
    if not find_nvdisasm():
        pytest.skip("nvdisasm was not found")
    [found] = measure_ptx(PTX, "sm_80")
    assert found.name == "sum"
    assert found.resources
    assert 0 < found.resources.registers < 32
    assert found.spills == 0
    assert found.loop
    assert found.loop.work == "FFMA"
    assert found.loop.math == found.loop.count("BAR") >= 1
    assert 0 < found.loop.issue_ratio < found.loop.share < 1
