"""The native extension, the plugin and MLIR are one compiler, not three that look alike.

Traits and types are compared by addresses, of which a library has its own where its symbols are
hidden. Every question is then answered with no, without a message, so each answer is asked for.
"""

from __future__ import annotations

import _native_test
import pytest

import pipeline
from pipeline import _native
from support.command_line import run

# A terminator that hands a buffer to the next iteration of the loop: only its trait tells.
CARRIED = """\
gpu.module @kernels {
  gpu.func @carried(%a: memref<4xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %init = memref.alloc() : memref<4xf32, #gpu.address_space<workgroup>>
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%previous = %init)
        -> (memref<4xf32, #gpu.address_space<workgroup>>) {
      %next = memref.alloc() : memref<4xf32, #gpu.address_space<workgroup>>
      %v = memref.load %previous[%c0] : memref<4xf32, #gpu.address_space<workgroup>>
      memref.store %v, %next[%c0] : memref<4xf32, #gpu.address_space<workgroup>>
      scf.yield %next : memref<4xf32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}
"""

# The extent is a product of constants, which only folding tells.
CONSTANT = """\
gpu.module @kernels {
  gpu.func @constant(%a: memref<64xf32>, %i: index) kernel {
    %c8 = arith.constant 8 : index
    %c64 = arith.muli %c8, %c8 : index
    %t = gpu.thread_id x
    %b = memref.alloc(%c64) : memref<?xf32, #gpu.address_space<workgroup>>
    %v = memref.load %a[%t] : memref<64xf32>
    memref.store %v, %b[%t] : memref<?xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %w = memref.load %b[%i] : memref<?xf32, #gpu.address_space<workgroup>>
    memref.store %w, %a[%t] : memref<64xf32>
    gpu.return
  }
}
"""


def test_traits() -> None:
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(CARRIED)
    (diagnostic,) = caught.value.diagnostics
    assert "is live across iterations of an enclosing loop" in diagnostic.message
    assert diagnostic.location.line == 8
    assert diagnostic.notes[0].location.line == 11


def test_constants() -> None:
    kernel = pipeline.compile(CONSTANT).kernels["constant"]
    assert kernel.static_shared_bytes == 64 * 4


def test_both_doors_lead_to_one_compiler() -> None:
    """``mlir-opt`` loads the plugin, the extension links it: one result."""
    inside = pipeline.compile(CONSTANT, until="gpu").texts["gpu"]
    outside = run(
        "opt", "--pass-pipeline=builtin.module(workgroup-memory)", stdin=CONSTANT.encode()
    )
    assert outside.code == 0
    assert outside.text.strip() == inside.strip()


def test_what_is_for_tests_alone() -> None:
    """Bindings of analyses are in an extension that is not installed."""
    names = {name for name in dir(_native_test) if not name.startswith("_")}
    assert {"SyncProgram", "place_barriers", "solve_integers"} <= names
    assert not names & set(dir(_native))
