"""What is refused by name, and what neither kills nor blocks the process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pipeline
from emulator.faults import kernel, numbers
from pipeline import _native
from pipeline.runtime.emulator import translate
from support.command_line import environment

ONE = (1, 1, 1)
PACKAGE = str(Path(pipeline.__file__).parents[1])
TESTS = str(Path(__file__).parents[1])


def run(text: str, *values: Any, chip: str = "sm_90", **options: Any) -> pipeline.Report:
    module = pipeline.compile(text, until="llvm", sync="keep", verify=False, chip=chip)
    return module.kernels["k"].run(*values, grid=ONE, block=(4, 1, 1), **options)


# --- what is not emulated -------------------------------------------------------------------------

FACTORIAL = """\
  func.func private @factorial(%x: i32) -> i32 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %is_end = arith.cmpi sle, %x, %zero : i32
    %r = scf.if %is_end -> i32 {
      scf.yield %one : i32
    } else {
      %y = arith.subi %x, %one : i32
      %f = func.call @factorial(%y) : (i32) -> i32
      %xf = arith.muli %x, %f : i32
      scf.yield %xf : i32
    }
    return %r : i32
  }"""
REFUSED = {
    "special register": (
        '%x = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.pm0"() : () -> i32',
        "special register '%pm0' is not emulated",
    ),
    "inline assembly": (
        '%x = llvm.inline_asm has_side_effects "mov.u32 $0, 7;", "=r" : () -> i32',
        "inline assembly 'mov.u32 $0, 7;' is not emulated",
    ),
    "tensor map in memory": (
        "%x = arith.constant 7 : i32\n"
        "    %p = llvm.mlir.zero : !llvm.ptr<3>\n"
        "    %q = llvm.mlir.zero : !llvm.ptr\n"
        "    nvvm.cp.async.bulk.tensor.global.shared.cta %q, %p, box[%x] : !llvm.ptr, !llvm.ptr<3>",
        "a tensor map that is no parameter of the kernel is not emulated",
    ),
    "intrinsic of another target": (
        '%x = llvm.call_intrinsic "llvm.amdgcn.workitem.id.x"() : () -> i32',
        "intrinsic 'llvm.amdgcn.workitem.id.x' is not emulated",
    ),
    "state of the host": (
        "%x = arith.constant 0 : i32\n"
        '    llvm.call_intrinsic "llvm.set.rounding"(%x) : (i32) -> ()',
        "intrinsic 'llvm.set.rounding' is not emulated",
    ),
    "private memory of dynamic size": (
        "%n = memref.load %a[%c0] : memref<8xi32>\n"
        "    %m = arith.index_cast %n : i32 to index\n"
        "    %p = memref.alloca(%m) : memref<?xi32>\n"
        "    memref.store %n, %p[%tx] : memref<?xi32>\n"
        "    %x = memref.load %p[%c0] : memref<?xi32>",
        "private memory of a size that only the launch knows is not emulated",
    ),
    "recursion": (
        "%y = memref.load %a[%tx] : memref<8xi32>\n"
        "    %x = func.call @factorial(%y) : (i32) -> i32",
        "function 'factorial' calls itself, which the emulator cannot run",
    ),
}


@pytest.mark.parametrize("check", ["none", "races"])
@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_its_name(name: str, check: str) -> None:
    operation, message = REFUSED[name]
    text = kernel(
        "%a: memref<8xi32>",
        f"    {operation}\n    memref.store %x, %a[%tx] : memref<8xi32>",
        more=FACTORIAL if name == "recursion" else "",
    )
    array = numbers(8)
    with pytest.raises(pipeline.CompileError) as caught:
        run(text, array, check=check)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.severity == "error"
    assert diagnostic.message == message
    assert str(diagnostic) in str(caught.value)
    np.testing.assert_array_equal(array, numbers(8))
    # At an operation of the program.
    line = text.splitlines()[diagnostic.location.line - 1]
    assert diagnostic.location.line > 0
    assert line[diagnostic.location.column - 1 :].startswith(
        ("llvm.", "nvgpu.", "nvvm.", "memref.alloca", "func.")
    )


BY_VALUE = """\
gpu.module @kernels {
  gpu.func @k(%a: memref<8xi32>) kernel {
    gpu.return
  }
  llvm.func @mapped(%map: !llvm.ptr {llvm.byval = !llvm.array<16 x i64>, nvvm.grid_constant},
                    %out: !llvm.ptr)
      attributes {nvvm.kernel} {
    %x = llvm.load %map : !llvm.ptr -> i64
    llvm.store %x, %out : i64, !llvm.ptr
    llvm.return
  }
}
"""


def test_parameters_by_value() -> None:
    """What a kernel looks at is no tensor map, whatever its type."""
    kernel = pipeline.compile(
        BY_VALUE, until="llvm", sync="keep", verify=False, chip="sm_90"
    ).kernels["k"]
    translated = translate(kernel._emulation, "mapped", pipeline.Options())
    request = _native.LaunchRequest()
    request.parameters = [_native.ParameterValue(), _native.ParameterValue()]
    assert translated.kernel.refuse(request) == ""


def test_variables() -> None:
    """What a kernel writes to them the next launch would see."""
    text = kernel(
        "%a: memref<8xi32>",
        """
    %x = memref.load %a[%tx] : memref<8xi32>
    %sums = memref.get_global @sums : memref<8xi32>
    memref.store %x, %sums[%tx] : memref<8xi32>
""",
        more='  memref.global "private" @sums : memref<8xi32> = dense<7>',
    )
    with pytest.raises(pipeline.CompileError, match="variable 'sums' of the module outlives lau"):
        run(text, numbers(8), check="races")


@pytest.mark.parametrize("kind", ["i24", "vector<4xf32>"])
def test_arguments_that_nothing_can_be_given_for(kind: str) -> None:
    text = kernel(f"%a: memref<8xi32>, %x: {kind}", "")
    with pytest.raises(pipeline.KindError, match="which cannot be given: let the ") as caught:
        run(text, numbers(8), 5)
    assert caught.value.index == 1
    with pytest.raises(pipeline.KindError, match=f"is of type {re.escape(kind)}, which cannot be"):
        run(text, numbers(8), numbers(4, kind="f4"))


@pytest.mark.parametrize("check", ["none", "races"])
@pytest.mark.parametrize(
    "source", ["%a[%tx] : memref<8xi32>", "%w[%tx] : memref<8xi32, #wg>"], ids=["global", "shared"]
)
def test_private_memory_behind_an_access(source: str, check: str) -> None:
    """Wherever in the kernel an array of its own stands."""
    text = kernel(
        "%a: memref<8xi32>",
        f"""
    %seven = arith.constant 7 : i32
    memref.store %seven, %w[%tx] : memref<8xi32, #wg>
    %x = memref.load {source}
    %p = memref.alloca() : memref<4xi32>
    scf.for %i = %c0 to %c4 step %c1 {{
      %n = arith.index_cast %i : index to i32
      %y = arith.addi %x, %n : i32
      memref.store %y, %p[%i] : memref<4xi32>
    }}
    %y = memref.load %p[%tx] : memref<4xi32>
    memref.store %y, %a[%tx] : memref<8xi32>
""",
        buffers="%w: memref<8xi32, #wg>",
    )
    array = numbers(8)
    run(text, array, check=check)
    first = numbers(4) if "%a" in source else np.full(4, 7)
    np.testing.assert_array_equal(array[:4], first + np.arange(4))


# --- the process goes on --------------------------------------------------------------------------

WILD = """
import numpy as np
import pipeline
from pipeline import _native
from emulator.faults import kernel, numbers

NUMBERS = [0, 3, 8, 64, -1, 2**31, -2**31, 2**40, -2**40, 2**61 + 5, 2**62, 2**63 - 1, -2**63]
BODIES = {
    "global": '''
    %x = memref.load %a[%n] : memref<8xi64>
    memref.store %x, %a[%tx] : memref<8xi64>
    memref.store %x, %a[%n] : memref<8xi64>''',
    "workgroup": '''
    %x = memref.load %a[%tx] : memref<8xi64>
    memref.store %x, %w[%n] : memref<8xi64, #wg>
    %y = memref.load %w[%n] : memref<8xi64, #wg>
    memref.store %y, %a[%tx] : memref<8xi64>''',
    "private": '''
    %p = memref.alloca() : memref<8xi64>
    %x = memref.load %a[%tx] : memref<8xi64>
    memref.store %x, %p[%n] : memref<8xi64>
    %y = memref.load %p[%n] : memref<8xi64>
    memref.store %y, %a[%tx] : memref<8xi64>''',
    "pointer": '''
    %i = arith.index_cast %n : index to i64
    %p = llvm.inttoptr %i : i64 to !llvm.ptr
    %x = llvm.load %p : !llvm.ptr -> i64
    llvm.store %i, %p : i64, !llvm.ptr
    memref.store %x, %a[%tx] : memref<8xi64>''',
    "division": '''
    %i = arith.index_cast %n : index to i64
    %x = memref.load %a[%tx] : memref<8xi64>
    %y = arith.remsi %i, %x : i64
    %z = arith.divsi %x, %i : i64
    %yz = arith.addi %y, %z : i64
    memref.store %yz, %a[%tx] : memref<8xi64>''',
    "atomic": '''
    %x = memref.load %a[%tx] : memref<8xi64>
    %old = memref.atomic_rmw addi %x, %a[%n] : (i64, memref<8xi64>) -> i64
    memref.store %old, %a[%tx] : memref<8xi64>''',
}
found = launches = 0
for name, body in BODIES.items():
    text = kernel("%a: memref<8xi64>, %n: index", body, buffers="%w: memref<8xi64, #wg>")
    k = pipeline.compile(text, until="llvm", sync="keep", verify=False).kernels["k"]
    for check in ("none", "races", "all"):
        for number in NUMBERS:
            values = numbers(8, kind="i8")
            values[5] = -1
            report = k.emulate(values, number, grid=(1, 1, 1), block=(8, 1, 1),
                               options=pipeline.Options(check=check))
            launches += 1
            found += bool(report.findings)
print(launches, found)
"""


def call_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment(PYTHONPATH=os.pathsep.join((PACKAGE, TESTS))),
        timeout=60,
        check=False,
    )


def test_faults_do_not_kill() -> None:
    process = call_python(WILD)
    assert process.returncode == 0, process.stderr
    launches, found = map(int, process.stdout.split())
    assert launches == 6 * 3 * 13
    assert launches / 2 < found < launches


def test_many_workers() -> None:
    """However many are asked for, the host gives as many threads as it has."""
    text = kernel("%a: memref<8xi32>", "    memref.store %x, %a[%c3] : memref<8xi32>")
    text = text.replace("%c3 =", "%x = arith.constant 5 : i32\n    %c3 =")
    process = call_python(f"""
import numpy as np, pipeline
k = pipeline.compile({text!r}, until="llvm", sync="keep", verify=False).kernels["k"]
array = np.ones(8, np.int32)
print(k.run(array, grid=(30000, 1, 1), block=(1, 1, 1), workers=30000).blocks_run, array[3])
""")
    assert (process.returncode, process.stdout) == (0, "30000 5\n"), process.stderr


# --- long launches --------------------------------------------------------------------------------

SPIN = kernel(
    "%a: memref<8xi32>",
    """
    %one = arith.constant 1 : i32
    scf.while : () -> () {
      %x = memref.load %a[%tx] : memref<8xi32>
      %more = arith.cmpi sge, %x, %one : i32
      memref.store %x, %a[%tx] : memref<8xi32>
      scf.condition(%more)
    } do {
      scf.yield
    }
""",
)


class Stopped(Exception):
    """Ends a launch from where it tells how far it is."""


def test_other_threads_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter's lock is not held while a kernel runs.

    The launch tells from time to time how far it is, with the lock. Another thread that can go on
    only then takes one step each time; it has to take several between two of them. As soon as it
    has, the launch is stopped; if it never does, the launch ends by its limit.
    """
    steps = [0]
    before = [0]
    is_over = threading.Event()

    def step() -> None:
        while not is_over.wait(0.001):
            steps[0] += 1

    def tell(_: int) -> None:
        if before[0] and steps[0] - before[0] >= 5:
            raise Stopped
        before[0] = steps[0]

    monkeypatch.setattr("pipeline.runtime.emulator._make_progress_bar", lambda *_: tell)
    kernel = pipeline.compile(SPIN, until="llvm", sync="keep", verify=False).kernels["k"]
    thread = threading.Thread(target=step)
    thread.start()
    try:
        with pytest.raises(Stopped):
            kernel.run(numbers(8), grid=ONE, block=ONE, workers=1, step_limit=1 << 29)
    finally:
        is_over.set()
        thread.join()


INTERRUPTED = f"""
import time
import numpy as np, pipeline
k = pipeline.compile({SPIN!r}, until="llvm", sync="keep", verify=False).kernels["k"]
for check in ("none", "races"):
    print("begin", flush=True)
    try:
        k.run(np.ones(8, np.int32), grid=(4, 1, 1), block=(8, 1, 1), check=check, step_limit=0)
    except KeyboardInterrupt:
        print("caught", flush=True)
try:
    k.run(np.ones(8, np.int32), grid=(1, 1, 1), block=(8, 1, 1), step_limit=1 << 20)
except pipeline.KernelFaultError:
    print("alive", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
def test_interrupt() -> None:
    """Ctrl-C ends a launch, and nothing else."""
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(PYTHONPATH=PACKAGE),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            for _ in range(2):
                assert process.stdout.readline() == "begin\n"
                time.sleep(0.3)
                process.send_signal(signal.SIGINT)
                assert process.stdout.readline() == "caught\n"
            assert process.stdout.readline() == "alive\n"
            assert process.stderr.read() == ""
        except BaseException:
            process.kill()
            raise
    assert process.returncode == 0
