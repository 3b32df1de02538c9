"""Programs of the suite behind `workgroup-allocate-device-memory`, and random ones.

The host's part of a program is compiled, goes through the pass, and is compiled again as it then
is: plans know one memory, so that this shows what is computed; that each side stays with its own
is for the oracle, which has two.
"""

from __future__ import annotations

import subprocess
from collections import Counter

import pytest

import pipeline
from fuzzing import device as fuzz_device
from linalg.linalg_programs import PROGRAMS, Program
from oracles.device import memories
from oracles.device.programs import generate
from pipeline.system.toolchain import find_mlir_opt
from support.mlir_opt import run_opt

# `tools/fuzz device` goes on from here.
SEEDS = 150
# Every so many programs of the suite.
STRIDE = 4
PASS = "workgroup-allocate-device-memory{assume-distinct-arguments strict}"


@pytest.mark.parametrize("program", PROGRAMS[::STRIDE], ids=lambda program: program.name)
def test_suite(program: Program) -> None:
    module = pipeline.compile(program.text, chip="sm_80", until="gpu")
    text = run_opt(module.texts["gpu"], "inline")
    changed = run_opt(text, PASS)
    assert run_opt(changed, PASS) == changed
    if "gpu.launch_func" not in text:
        assert "gpu.alloc" not in changed
        return
    assert "gpu.alloc" in changed
    compiled = pipeline.compile(changed, chip="sm_80", schedule="none")
    program.check_module(compiled, 0)


@pytest.mark.parametrize("joins", [False, True])
def test_random_programs(joins: bool) -> None:
    """Both sides stay with their memory, and there are no fewer copies that would do."""
    counts: Counter[str] = Counter()
    programs = [generate(seed, joins, 6) for seed in range(SEEDS)]
    problems = fuzz_device.check(programs, joins, pipeline.plugin_path(), counts)
    assert not problems, "\n".join(f"seed {seed}: {text}" for seed, text in problems.items())
    if not joins:
        assert counts["counted"] > SEEDS // 2
        assert counts["copies"] > SEEDS


STALE = """
module attributes {gpu.container_module} {
  func.func @main(%a: memref<4xi32>) {
    %c1 = arith.constant 1 : index
    %x = arith.constant 7 : i32
    %d = gpu.alloc () : memref<4xi32>
    WRONG
    gpu.dealloc %d : memref<4xi32>
    return
  }
}
"""


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (
            "gpu.launch_func @kernels::@poke blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)"
            " args(%a : memref<4xi32>, %x : i32)",
            "a kernel uses memory of the host",
        ),
        ("memref.store %x, %d[%c1] : memref<4xi32>", "the host uses memory of the device"),
        ("gpu.dealloc %d : memref<4xi32>", "memory is used that is freed"),
        ("%e = gpu.alloc () : memref<4xi32>", "memory of the device is not freed"),
    ],
)
def test_oracle(operation: str, reason: str) -> None:
    """The oracle finds what a program does wrong."""
    command = [str(find_mlir_opt()), "--mlir-print-op-generic", "--verify-each=false"]
    kernels = (
        "gpu.module @kernels { gpu.func @poke(%a: memref<4xi32>, %x: i32) kernel { gpu.return } }"
    )
    text = STALE.replace("WRONG", operation).replace("  func.func", f"  {kernels}\n  func.func", 1)
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    machine = memories.Machine(memories.read(result.stdout), has_two=True)
    with pytest.raises(memories.WrongMemory, match=reason):
        machine.run([memories.whole(memories.Memory([1, 2, 3, 4]))])
