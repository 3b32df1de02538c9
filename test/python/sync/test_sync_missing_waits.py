"""Copies without groups, waits and barriers, wherever they stand: compiled, they are right."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array
from oracles.sync.compiler import INSERT, VERIFY, run_passes

ROWS, COLUMNS = 4, 64
TYPE = f"memref<{ROWS}x{COLUMNS}xf32>"


@dataclass(frozen=True)
class Control:
    """What stands around `COPY(row, slot)` and its readers, `READ(row, slot)`."""

    name: str
    body: str
    rows: int
    """So many rows are copied."""
    threads: int = COLUMNS
    others: bool = True
    """Threads may read what others have copied."""


CONTROLS = (
    Control("straight", "COPY(%c0, %c0)\nREAD(%c0, %c0)", 1),
    Control("two", "COPY(%c0, %c0)\nCOPY(%c1, %c1)\nREAD(%c0, %c0)\nREAD(%c1, %c1)", 2),
    Control(
        "each iteration",
        "scf.for %i = %c0 to %c4 step %c1 {\nCOPY(%i, %c0)\nREAD(%i, %c0)\n}",
        4,
    ),
    Control(
        "behind a loop",
        "scf.for %i = %c0 to %c4 step %c1 {\nCOPY(%i, %i)\n}\n"
        "scf.for %i = %c0 to %c4 step %c1 {\nREAD(%i, %i)\n}",
        4,
    ),
    Control(
        "nested loops",
        "scf.for %i = %c0 to %c2 step %c1 {\n%j = arith.muli %i, %c2 : index\n"
        "scf.for %k = %c0 to %c2 step %c1 {\n%l = arith.addi %j, %k : index\nCOPY(%l, %k)\n}\n"
        "scf.for %k = %c0 to %c2 step %c1 {\n%l = arith.addi %j, %k : index\nREAD(%l, %k)\n}\n}",
        4,
    ),
    Control(
        "one iteration ahead",
        "COPY(%c0, %c0)\nscf.for %i = %c0 to %c4 step %c1 {\n"
        "%next = arith.addi %i, %c1 : index\n%live = arith.cmpi ult, %next, %c4 : index\n"
        "%from = arith.remui %i, %c2 : index\n%to = arith.remui %next, %c2 : index\n"
        "scf.if %live {\nCOPY(%next, %to)\n}\nREAD(%i, %from)\n}",
        4,
    ),
    Control("in a branch region", "scf.if %is {\nCOPY(%c0, %c0)\nREAD(%c0, %c0)\n}", 1),
    Control(
        "in two regions", "scf.if %is {\nCOPY(%c0, %c0)\n}\nscf.if %is {\nREAD(%c0, %c0)\n}", 1
    ),
    Control(
        "by some threads",
        "scf.if %few {\nCOPY(%c0, %c0)\nREAD(%c0, %c0)\n}",
        1,
        threads=40,
        others=False,
    ),
    Control(
        "by some threads, read by them behind",
        "scf.if %few {\nCOPY(%c0, %c0)\n}\nscf.if %few {\nREAD(%c0, %c0)\n}",
        1,
        threads=40,
        others=False,
    ),
)


def copy(form: str, space: str, row: str, slot: str, number: int) -> str:
    """Return the copy of an element by each thread."""
    shared = f"memref<{ROWS}x{COLUMNS}xf32, {space}>"
    if form == "nvgpu":
        return (
            f"%token{number} = nvgpu.device_async_copy %in[{row}, %t], %S[{slot}, %t], 1 "
            f": {TYPE} to {shared}"
        )
    lines = []
    for name, memref, kind, address in (("in", TYPE, 1, row), ("S", shared, 3, slot)):
        to = f"{name}{number}"
        lines += [
            f"%at{to} = affine.apply affine_map<(r, t) -> (r * {COLUMNS} + t)>({address}, %t)",
            f"%index{to} = arith.index_cast %at{to} : index to i64",
            f"%base{to} = memref.extract_aligned_pointer_as_index %{name} : {memref} -> index",
            f"%bits{to} = arith.index_cast %base{to} : index to i64",
            f"%start{to} = llvm.inttoptr %bits{to} : i64 to !llvm.ptr<{kind}>",
            f"%p{to} = llvm.getelementptr %start{to}[%index{to}] "
            f": (!llvm.ptr<{kind}>, i64) -> !llvm.ptr<{kind}>, f32",
        ]
    lines += [
        f"nvvm.cp.async.shared.global %pS{number}, %pin{number}, 4, cache = ca "
        ": !llvm.ptr<3>, !llvm.ptr<1>"
    ]
    return "\n".join(lines)


def read(space: str, row: str, slot: str, number: int, *, others: bool) -> str:
    """Return a reader, that hands on what it reads."""
    shared = f"memref<{ROWS}x{COLUMNS}xf32, {space}>"
    return (
        f"%x{number} = memref.load %S[{slot}, {'%u' if others else '%t'}] : {shared}\n"
        f"memref.store %x{number}, %out[{row}, %t] : {TYPE}"
    )


def body_of(control: Control, form: str, space: str, *, others: bool) -> str:
    """Return what each thread does."""
    numbers = iter(range(100))
    text = re.sub(
        r"COPY\((%\w+), (%\w+)\)",
        lambda m: copy(form, space, m[1], m[2], next(numbers)),
        control.body,
    )
    return re.sub(
        r"READ\((%\w+), (%\w+)\)",
        lambda m: read(space, m[1], m[2], next(numbers), others=others),
        text,
    )


def program(control: Control, form: str, container: str, space: str, *, others: bool) -> str:
    """Return a program with one kernel."""
    shared = f"memref<{ROWS}x{COLUMNS}xf32, {space}>"
    constants = "\n".join(
        f"%c{value} = arith.constant {value} : index" for value in (0, 1, 2, 4, 40, 63, 64)
    )
    body = f"""
%u = arith.subi %c63, %t : index
%few = arith.cmpi ult, %t, %c40 : index
%is = arith.cmpi eq, %n, %c1 : index
{body_of(control, form, space, others=others)}
"""
    if container == "function":
        return f"""
gpu.module @m {{
  gpu.func @k(%in: {TYPE}, %out: {TYPE}, %n: index) workgroup(%S: {shared}) kernel
      attributes {{known_block_size = array<i32: {COLUMNS}, 1, 1>}} {{
    {constants}
    %t = gpu.thread_id x
    {body}
    gpu.return
  }}
}}
"""
    return f"""
func.func @main(%in: {TYPE}, %out: {TYPE}, %n: index) {{
  {constants}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1)
             workgroup(%S: {shared}) {{
    {body}
    gpu.terminator
  }}
  return
}}
"""


def expected(control: Control, source: Array, out: Array, *, others: bool) -> Array:
    """Return what the program leaves in `out`."""
    result = out.copy()
    rows = source[: control.rows, ::-1] if others else source[: control.rows]
    result[: control.rows, : control.threads] = rows[:, : control.threads]
    return result


@pytest.mark.parametrize("form", ["nvgpu", "nvvm"])
@pytest.mark.parametrize(
    ("container", "space"),
    [
        ("function", "#gpu.address_space<workgroup>"),
        ("function", "3"),
        ("launch", "#gpu.address_space<workgroup>"),
        ("launch", "3"),
    ],
)
@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_missing_waits_are_put(control: Control, container: str, space: str, form: str) -> None:
    rng = np.random.default_rng(7)
    for others in (False, True) if control.others else (False,):
        text = program(control, form, container, space, others=others)
        assert not pipeline.check(text, schedule="none").is_safe
        module = pipeline.compile(text, schedule="none", until="llvm")
        assert not module.diagnostics, module.diagnostics[0].message
        source, out = (rng.random((ROWS, COLUMNS), np.float32) for _ in range(2))
        wanted = expected(control, source, out, others=others)
        for mode in ("on_wait", "eager"):
            result = out.copy()
            options = pipeline.Options(async_mode=mode)
            if container == "launch":
                (report,) = module.emulate(source, result, 1, options=options)
            else:
                report = module.kernels["k"].emulate(
                    source, result, 1, grid=(1, 1, 1), block=(COLUMNS, 1, 1), options=options
                )
            assert not report.findings, report.findings[0].message
            np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_waits_are_the_same_between_blocks(control: Control) -> None:
    """Where loops and branches have become branches between blocks, the same are put."""
    space = "#gpu.address_space<workgroup>"
    distinct = "{assume-distinct-arguments}"
    for form, others in product(("nvgpu", "nvvm"), (False, True)):
        text = program(control, form, "function", space, others=others and control.others)
        before, after = (
            run_passes([("<stdin>", text)], f"{prefix}{INSERT}{distinct},{VERIFY}{distinct}")[0]
            for prefix in ("", "lower-affine,convert-scf-to-cf,")
        )
        assert (before.verdict, after.verdict) == ("SAFE", "SAFE"), (before, after)
        for op in ("wait", "gpu.barrier", "bar.warp.sync"):
            assert before.text.count(op) == after.text.count(op), (op, before.text, after.text)
