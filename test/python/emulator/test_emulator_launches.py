"""Launches that no GPU takes: refused before anything runs, with the place of the launch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pipeline
from emulator.faults import kernel, numbers

NAMES = ("bx", "by", "bz", "tx", "ty", "tz")
VALUES = {
    "blocks along y": ((1, 70_000, 1, 1, 1, 1), "a grid of (1, 70000, 1), but it may be"),
    "blocks along z": ((1, 1, 65_536, 1, 1, 1), "a grid of (1, 1, 65536), but it may be"),
    "blocks along x": ((2**31, 1, 1, 1, 1, 1), "a grid of (2147483648, 1, 1), but it may be"),
    "blocks below none": ((-1, 1, 1, 1, 1, 1), "a grid of (-1, 1, 1), but it may be"),
    "threads along x": ((1, 1, 1, 2048, 1, 1), "a block of (2048, 1, 1), but it may be"),
    "threads along y": ((1, 1, 1, 1, 1025, 1), "a block of (1, 1025, 1), but it may be"),
    "threads along z": ((1, 1, 1, 1, 1, 65), "a block of (1, 1, 65), but it may be"),
    "threads of a block": ((1, 1, 1, 32, 33, 1), "a block of 1056 threads, but a GPU takes at"),
    "no threads": ((1, 1, 1, 0, 1, 1), "a block of (0, 1, 1), but it may be"),
}


def inline(shared: str = "") -> str:
    """Return a program that launches with what it is given."""
    given = ", ".join(f"%{name}: index" for name in NAMES)
    return f"""\
func.func @main(%a: memref<8xi32>, {given}, %bytes: i32) {{
  %c0 = arith.constant 0 : index
  %seven = arith.constant 7 : i32
  gpu.launch blocks(%i, %j, %k) in (%gx = %bx, %gy = %by, %gz = %bz)
             threads(%x, %y, %z) in (%sx = %tx, %sy = %ty, %sz = %tz){shared} {{
    memref.store %seven, %a[%c0] : memref<8xi32>
    gpu.terminator
  }}
  return
}}
"""


def outlined(shared: str = "", body: str = "") -> str:
    given = ", ".join(f"%{name}: index" for name in NAMES)
    return f"""\
module attributes {{gpu.container_module}} {{
  func.func @main(%a: memref<8xi32>, {given}, %bytes: i32) {{
    gpu.launch_func @m::@k blocks in (%bx, %by, %bz) threads in (%tx, %ty, %tz)
        {shared} args(%a : memref<8xi32>)
    return
  }}
  gpu.module @m {{
    gpu.func @k(%a: memref<8xi32>) kernel {{
      %c0 = arith.constant 0 : index
      %seven = arith.constant 7 : i32
      {body}
      memref.store %seven, %a[%c0] : memref<8xi32>
      gpu.return
    }}
  }}
}}
"""


def compiled(text: str | Path, chip: str = "sm_80") -> pipeline.Module:
    return pipeline.compile(
        text, chip=chip, until="llvm", sync="keep", verify=False, schedule="none"
    )


def place(text: str) -> str:
    """Return line and column of the launch."""
    at = text.index("gpu.launch")
    return f"{1 + text[:at].count(chr(10))}:{at - text.rfind(chr(10), 0, at)}"


@pytest.mark.parametrize("make", [inline, outlined], ids=["launch", "launch_func"])
@pytest.mark.parametrize("name", VALUES)
def test_refused_where_it_is_launched(name: str, make: object) -> None:
    sizes, fault = VALUES[name]
    text = inline() if make is inline else outlined()
    values = numbers(8)
    before = values.copy()
    with pytest.raises(pipeline.UsageError) as caught:
        compiled(text).run(values, *sizes, 0)
    assert str(caught.value).startswith(f"<string>:{place(text)}: error: kernel '")
    assert fault in str(caught.value)
    np.testing.assert_array_equal(values, before)


def test_the_place_is_in_its_file(tmp_path: Path) -> None:
    file = tmp_path / "program.mlir"
    file.write_text(inline())
    with pytest.raises(pipeline.UsageError) as caught:
        compiled(file).run(numbers(8), *VALUES["threads along z"][0], 0)
    assert str(caught.value).startswith(f"{file}:{place(inline())}: error: kernel '")


def test_a_kernel_by_itself_has_no_place() -> None:
    """Nobody but the caller says how large the launch is."""
    module = pipeline.compile(outlined(), until="llvm", sync="keep", verify=False)
    with pytest.raises(pipeline.UsageError) as caught:
        module.kernels["k"].run(numbers(8), grid=(1, 70_000), block=1)
    assert str(caught.value).startswith("error: kernel 'k' is launched with a grid of (1, 70000")


# --- workgroup memory -----------------------------------------------------------------------------

VIEWS = """\
%m = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %offset = arith.constant 512 : index
      %v = memref.view %m[%c0][] : memref<?xi8, #gpu.address_space<workgroup>>
          to memref<128xi32, #gpu.address_space<workgroup>>
      %w = memref.view %m[%offset][] : memref<?xi8, #gpu.address_space<workgroup>>
          to memref<32xi64, #gpu.address_space<workgroup>>
      %long = arith.constant 1 : i64
      memref.store %seven, %v[%c0] : memref<128xi32, #gpu.address_space<workgroup>>
      memref.store %long, %w[%c0] : memref<32xi64, #gpu.address_space<workgroup>>"""
NEED = 512 + 32 * 8
ONE = (1, 1, 1, 1, 1, 1)
LIMITS = {"sm_80": 163, "sm_86": 99, "sm_89": 99, "sm_90": 227, "sm_90a": 227}


@pytest.mark.parametrize("bytes", [0, 1, NEED - 1])
def test_too_little_memory_for_the_views(bytes: int) -> None:
    text = outlined("dynamic_shared_memory_size %bytes", VIEWS)
    module = compiled(text)
    assert module.kernels["k"].least_dynamic_shared_bytes == NEED
    with pytest.raises(pipeline.UsageError) as caught:
        module.run(numbers(8), *ONE, bytes)
    assert str(caught.value) == (
        f"<string>:{place(text)}: error: kernel 'k' is launched with {bytes} bytes of dynamic "
        f"workgroup memory, but it uses {NEED}"
    )
    module.run(numbers(8), *ONE, NEED)
    with pytest.raises(pipeline.UsageError, match=f"but it uses {NEED}"):
        module.kernels["k"].run(numbers(8), grid=1, block=1, dynamic_shared_bytes=bytes)


@pytest.mark.parametrize("chip", LIMITS)
def test_more_memory_than_the_chip_has(chip: str) -> None:
    text = outlined("dynamic_shared_memory_size %bytes", VIEWS)
    limit = LIMITS[chip] * 1024
    module = compiled(text, chip)
    module.run(numbers(8), *ONE, limit)
    for bytes in (limit + 1, 2**31 - 1):
        with pytest.raises(pipeline.UsageError) as caught:
            module.run(numbers(8), *ONE, bytes)
        assert str(caught.value).startswith(f"<string>:{place(text)}: error: kernel 'k' is launch")
        assert f"but a block has at most {limit} on {chip}" in str(caught.value)


def test_static_memory_counts() -> None:
    text = kernel(
        "%a: memref<8xi32>",
        """
    %m = gpu.dynamic_shared_memory : memref<?xi8, #wg>
    %v = memref.view %m[%c0][] : memref<?xi8, #wg> to memref<4xi32, #wg>
    %x = memref.load %a[%tx] : memref<8xi32>
    memref.store %x, %w[%tx] : memref<1024xi32, #wg>
    memref.store %x, %v[%tx] : memref<4xi32, #wg>
""",
        buffers="%w: memref<1024xi32, #wg>",
    )
    kernel_ = compiled(text).kernels["k"]
    limit = 163 * 1024
    kernel_.run(numbers(8), grid=1, block=4, dynamic_shared_bytes=limit - 4096, check="races")
    with pytest.raises(pipeline.UsageError, match="beside 4096 static ones"):
        kernel_.run(numbers(8), grid=1, block=4, dynamic_shared_bytes=limit - 4095, check="races")
