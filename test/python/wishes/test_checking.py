"""Wishes of users, 9 to 11, 17 and 20: barriers, races, memory, and reasons to look at.

The numbers are those of docs/wishes.md.
"""

from __future__ import annotations

import re
import subprocess
from typing import Literal

import numpy as np
import pytest

import pipeline
from pipeline.system.toolchain import find_mlir_opt
from support.examples import EXAMPLES, POSTED
from support.ring_loops import make_loop

K_TILED = EXAMPLES / "k-tiled-matmul.mlir"

REVERSE = """
!s = memref<64xf32, #gpu.address_space<workgroup>>
gpu.module @m {{
  gpu.func @k(%x: memref<64xf32>) workgroup(%s: !s) kernel
      attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %t = gpu.thread_id x
    %u = affine.apply affine_map<(t) -> (63 - t)>(%t)
    %v = memref.load %x[%t] : memref<64xf32>
    memref.store %v, %s[%t] : !s
    {0}
    %w = memref.load %s[%u] : !s
    memref.store %w, %x[%t] : memref<64xf32>
    gpu.return
  }}
}}
"""
BARRIER = "gpu.barrier\n"


def count_barriers(text: str, sync: Literal["insert", "minimize"]) -> int:
    module = pipeline.compile(text, sync=sync, until="gpu")
    return module.texts["gpu"].count(BARRIER)


def test_wish_09_fewest_barriers_and_none_too_few() -> None:
    """Of three barriers one stays, of none one is put; without it the emulator sees the race."""
    assert count_barriers(REVERSE.format(BARRIER * 3), "minimize") == 1
    assert count_barriers(REVERSE.format(""), "insert") == 1
    with pytest.raises(pipeline.CompileError, match="data race on workgroup memory"):
        pipeline.compile(REVERSE.format(""), sync="keep")
    with pytest.warns(pipeline.UnverifiedWarning):
        module = pipeline.compile(REVERSE.format(""), sync="keep", verify=False)
    with pytest.raises(pipeline.RaceError, match=r"gpu\.barrier"):
        module.kernels["k"].run(np.zeros(64, np.float32), grid=1, check="races")


def test_wish_10_scopes_and_named_barriers() -> None:
    """Atomic operations of a scope that is too narrow race; a barrier of some threads counts."""
    text = """
gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %old = llvm.atomicrmw add %p, %one syncscope("SCOPE") monotonic : !llvm.ptr<1>, i32
    llvm.return
  }
}"""
    narrow = pipeline.check(text.replace("SCOPE", "block"), kernel="k", block=32, grid=2)
    wide = pipeline.check(text.replace("SCOPE", "device"), kernel="k", block=32, grid=2)
    assert [verdict.verdict for verdict in narrow.kernels] == ["UNFIXABLE"]
    assert [verdict.verdict for verdict in wide.kernels] == ["SAFE"]
    named = """
    %id = arith.constant 1 : i32
    nvvm.barrier id = %id"""
    assert pipeline.check(REVERSE.format(named)).is_safe


def test_wish_11_races_with_copies_by_tma() -> None:
    """A ring by TMA is clean; without its waits the emulator finds what the proof finds."""
    module = pipeline.compile(
        make_loop(4, 2, epilogue=False),
        chip="sm_90",
        memory_options="slots=3 engine=tma",
        until="gpu",
    )
    text = module.texts["gpu"]
    assert "nvgpu.tma.async.load" in text
    assert pipeline.check(text).is_safe
    waits = re.compile(r"^ *nvgpu\.mbarrier\.try_wait\.parity .*\n", re.MULTILINE)
    assert len(waits.findall(text)) >= 1
    broken = waits.sub("", text)
    assert not pipeline.check(broken).is_safe
    with pytest.warns(pipeline.UnverifiedWarning):
        racy = pipeline.compile(broken, chip="sm_90", sync="keep", verify=False)
    array = np.random.default_rng(5).random((8, 128), np.float32)
    with pytest.raises(pipeline.CheckError):
        racy.run(array, 4, np.zeros(32, np.float32), check="races")


def test_wish_17_too_much_workgroup_memory_is_told_when_compiling() -> None:
    """With the bytes that it takes, the limit, and each buffer."""
    buffer = "memref<300000xi8, #gpu.address_space<workgroup>>"
    text = f"""
gpu.module @m {{
  gpu.func @k(%x: memref<1xi8>) workgroup(%s: {buffer}) kernel {{
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0] : memref<1xi8>
    memref.store %v, %s[%c0] : {buffer}
    gpu.return
  }}
}}"""
    with pytest.raises(pipeline.ResourceError) as caught:
        pipeline.compile(text, chip="sm_80")
    assert caught.value.required >= 300000
    assert caught.value.limit < caught.value.required
    assert "300000" in str(caught.value)


def test_wish_20_see_what_the_compiler_did() -> None:
    """Decisions are remarks with places and numbers, in Python and as YAML of mlir-opt."""
    module = pipeline.compile(K_TILED)
    assert {"LoweredCopy", "Hoisted"} <= {remark.name for remark in module.remarks}
    assert all(remark.location.line > 0 for remark in module.remarks)
    (barrier,) = pipeline.compile(REVERSE.format("")).barriers
    (pair,) = barrier["pairs"]
    assert [pair[one]["op"] for one in ("first", "second")] == ["memref.store", "memref.load"]
    assert pair["threads"] != [[0, 0, 0], [0, 0, 0]]
    command = [
        str(find_mlir_opt()),
        f"--load-pass-plugin={pipeline.plugin_path()}",
        "--pass-pipeline=builtin.module(transform-interpreter,workgroup-memory)",
        "--remarks-filter=workgroup.*",
        "--remark-format=yaml",
        "--remarks-output-file=/dev/stderr",
    ]
    outcome = subprocess.run(command, input=POSTED, capture_output=True, text=True, check=True)
    assert "Pass:            workgroup-lower-copies" in outcome.stderr
