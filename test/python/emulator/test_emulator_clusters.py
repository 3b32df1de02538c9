"""Clusters of blocks on the emulator: their ids, and launches that cannot be."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array, Dim3
from emulator.faults import kernel, numbers

# Grids and clusters of one to three dimensions.
SHAPES = (
    ((4, 4, 1), (2, 2, 1)),
    ((8, 1, 1), (4, 1, 1)),
    ((8, 1, 1), (8, 1, 1)),
    ((1, 6, 1), (1, 3, 1)),
    ((1, 1, 4), (1, 1, 2)),
    ((2, 4, 6), (1, 2, 3)),
    ((4, 2, 2), (2, 2, 2)),
    ((3, 2, 1), (1, 1, 1)),
)
REGISTERS = (
    *(f"cluster_id {axis}" for axis in "xyz"),
    *(f"cluster_dim {axis}" for axis in "xyz"),
    *(f"cluster_block_id {axis}" for axis in "xyz"),
    *(f"cluster_dim_blocks {axis}" for axis in "xyz"),
)
NUMBERS = len(REGISTERS) + 3


def body(grid: Dim3) -> str:
    """Return operations that write all that there is to know of clusters to `%o`."""
    lines = [f"%i{n} = arith.constant {n} : index" for n in range(NUMBERS)]
    lines += [f"%b{axis} = gpu.block_id {axis}" for axis in "xyz"]
    for number, register in enumerate(REGISTERS):
        lines += [f"%g{number} = gpu.{register}"]
        lines += [f"%v{number} = arith.index_cast %g{number} : index to i32"]
    rank, count, flag = range(len(REGISTERS), NUMBERS)
    lines += [
        f"%v{rank} = nvvm.read.ptx.sreg.cluster.ctarank : i32",
        f"%v{count} = nvvm.read.ptx.sreg.cluster.nctarank : i32",
        '%flag = llvm.call_intrinsic "llvm.nvvm.is_explicit_cluster"() : () -> i1',
        f"%v{flag} = arith.extui %flag : i1 to i32",
    ]
    lines += [
        f"memref.store %v{n}, %o[%bz, %by, %bx, %i{n}] : {memory(grid)}" for n in range(NUMBERS)
    ]
    return "\n".join(f"      {line}" for line in lines)


def memory(grid: Dim3) -> str:
    x, y, z = grid
    return f"memref<{z}x{y}x{x}x{NUMBERS}xi32>"


def expect(grid: Dim3, cluster: Dim3, *, explicit: bool) -> Array:
    """Return what `body` writes, from the definition."""
    x, y, z = grid
    expected = np.zeros((z, y, x, NUMBERS), np.int32)
    for bz, by, bx in np.ndindex(z, y, x):
        block = (bx, by, bz)
        inside = [b % c for b, c in zip(block, cluster, strict=True)]
        rank = inside[0] + cluster[0] * (inside[1] + cluster[1] * inside[2])
        expected[bz, by, bx] = [
            *(b // c for b, c in zip(block, cluster, strict=True)),
            *(g // c for g, c in zip(grid, cluster, strict=True)),
            *inside,
            *cluster,
            rank,
            int(np.prod(cluster)),
            explicit,
        ]
    return expected


def constants(grid: Dim3, cluster: Dim3) -> str:
    return "\n".join(
        f"    %{name}{axis} = arith.constant {size} : index"
        for name, sizes in (("g", grid), ("c", cluster), ("t", (1, 1, 1)))
        for axis, size in zip("xyz", sizes, strict=True)
    )


def launch_func(grid: Dim3, cluster: Dim3, *, clusters: bool = True, known: str = "") -> str:
    """Return a program with an outlined kernel."""
    where = " clusters in (%cx, %cy, %cz)" if clusters else ""
    return f"""\
module attributes {{gpu.container_module}} {{
  func.func @main(%o: {memory(grid)}) {{
{constants(grid, cluster)}
    gpu.launch_func @m::@k{where} blocks in (%gx, %gy, %gz) threads in (%tx, %ty, %tz)
        args(%o : {memory(grid)})
    return
  }}
  gpu.module @m {{
    gpu.func @k(%o: {memory(grid)}) kernel {known} {{
{body(grid)}
      gpu.return
    }}
  }}
}}
"""


def launch(grid: Dim3, cluster: Dim3) -> str:
    """Return the same as a program whose kernel is still inside of its launch."""
    return f"""\
func.func @main(%o: {memory(grid)}) {{
{constants(grid, cluster)}
  gpu.launch clusters(%k0, %k1, %k2) in (%s0 = %cx, %s1 = %cy, %s2 = %cz)
             blocks(%j0, %j1, %j2) in (%s3 = %gx, %s4 = %gy, %s5 = %gz)
             threads(%x0, %x1, %x2) in (%s6 = %tx, %s7 = %ty, %s8 = %tz) {{
{body(grid)}
      gpu.terminator
  }}
  return
}}
"""


def known(cluster: Dim3) -> str:
    return f"attributes {{known_cluster_size = array<i32: {', '.join(map(str, cluster))}>}}"


def compiled(text: str, chip: str = "sm_90a") -> pipeline.Module:
    return pipeline.compile(text, chip=chip, until="llvm", sync="keep", verify=False)


def outcome(text: str, grid: Dim3, **options: Any) -> Array:
    x, y, z = grid
    result = np.full((z, y, x, NUMBERS), -1, np.int32)
    compiled(text).run(result, check="all", **options)
    return result


# --- ids ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["launch_func", "launch", "known", "both"])
@pytest.mark.parametrize(("grid", "cluster"), SHAPES)
def test_ids(grid: Dim3, cluster: Dim3, spelling: str) -> None:
    text = {
        "launch_func": launch_func(grid, cluster),
        "launch": launch(grid, cluster),
        "known": launch_func(grid, cluster, clusters=False, known=known(cluster)),
        "both": launch_func(grid, cluster, known=known(cluster)),
    }[spelling]
    expected = expect(grid, cluster, explicit=True)
    np.testing.assert_array_equal(outcome(text, grid, order="seeded", seed=3), expected)


@pytest.mark.parametrize(("grid", "cluster"), SHAPES)
def test_ids_of_a_kernel_by_itself(grid: Dim3, cluster: Dim3) -> None:
    """The cluster is that of the launches, unless another one is given."""
    module = compiled(launch_func(grid, cluster))
    assert module.kernels["k"].cluster == cluster
    choices: list[tuple[dict[str, Any], Dim3]] = [
        ({}, cluster),
        ({"cluster": grid[:1]}, (grid[0], 1, 1)),
    ]
    for options, blocks in choices:
        result = np.zeros((*grid[::-1], NUMBERS), np.int32)
        module.kernels["k"].run(result, **options)
        explicit = bool(options) or cluster != (1, 1, 1)
        np.testing.assert_array_equal(result, expect(grid, blocks, explicit=explicit))


def test_without_clusters_every_block_is_one() -> None:
    grid = (3, 2, 1)
    text = launch_func(grid, (1, 1, 1), clusters=False)
    np.testing.assert_array_equal(outcome(text, grid), expect(grid, (1, 1, 1), explicit=False))


def test_sizes_that_only_the_launch_knows() -> None:
    grid: Dim3 = (8, 1, 1)
    text = launch_func(grid, grid).replace("%cx = arith.constant 8 : index", "")
    module = compiled(
        text.replace(f"%o: {memory(grid)}) {{", f"%o: {memory(grid)}, %cx: index) {{", 1)
    )
    assert module.kernels["k"].cluster is None
    for size in (1, 2, 4, 8):
        result = np.zeros((1, 1, 8, NUMBERS), np.int32)
        module.run(result, size)
        np.testing.assert_array_equal(result, expect(grid, (size, 1, 1), explicit=True))
    with pytest.raises(pipeline.UsageError, match="cluster must be given"):
        module.kernels["k"].run(result)


# --- launches that cannot be ----------------------------------------------------------------------


def with_arguments(text: str, grid: Dim3) -> str:
    """Return the program with the grid and the cluster as arguments, unknown to the compiler."""
    text = re.sub(r" *%[gc][xyz] = arith.constant \d+ : index\n", "", text)
    sizes = "".join(f", %{name}{axis}: index" for name in "gc" for axis in "xyz")
    return text.replace(f"%o: {memory(grid)}) {{", f"%o: {memory(grid)}{sizes}) {{", 1)


@pytest.mark.parametrize(
    ("grid", "cluster", "known_cluster", "chip", "fault"),
    [
        ((3, 1, 1), (2, 1, 1), None, "sm_90a", "clusters of (2, 1, 1) blocks, of which its grid"),
        ((4, 3, 1), (1, 2, 1), None, "sm_90a", "clusters of (1, 2, 1) blocks, of which its grid"),
        ((4, 4, 5), (1, 1, 3), None, "sm_90a", "clusters of (1, 1, 3) blocks, of which its grid"),
        ((1, 1, 1), (1, 2, 1), None, "sm_90a", "clusters of (1, 2, 1) blocks in a grid of (1, 1"),
        ((4, 1, 1), (0, 1, 1), None, "sm_90a", "clusters of (0, 1, 1) blocks in a grid of (4, 1"),
        ((32, 1, 1), (32, 1, 1), None, "sm_90a", "blocks, but a cluster has at most 16"),
        ((9, 2, 4), (3, 2, 4), None, "sm_90a", "blocks, but a cluster has at most 16"),
        ((4, 1, 1), (4, 1, 1), (2, 1, 1), "sm_90a", "but the kernel was compiled for (2, 1, 1)"),
    ],
)
def test_refused_at_the_launch(
    grid: Dim3, cluster: Dim3, known_cluster: Dim3 | None, chip: str, fault: str
) -> None:
    text = launch_func(grid, cluster, known=known(known_cluster) if known_cluster else "")
    text = with_arguments(text, grid)
    line = 1 + text[: text.index("gpu.launch_func")].count("\n")
    module = compiled(text, chip)
    result = np.full((*grid[::-1], NUMBERS), -1, np.int32)
    with pytest.raises(pipeline.UsageError) as caught:
        module.run(result, *grid, *cluster, check="all")
    assert str(caught.value).startswith(f"<string>:{line}:5: error: kernel 'k' is launched with ")
    assert fault in str(caught.value)


def test_refused_on_chips_without_clusters() -> None:
    text = """\
module attributes {gpu.container_module} {
  func.func @main(%o: memref<4xi32>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    gpu.launch_func @m::@k clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%o : memref<4xi32>)
    return
  }
  gpu.module @m {
    gpu.func @k(%o: memref<4xi32>) kernel {
      %b = gpu.block_id x
      %0 = arith.index_cast %b : index to i32
      memref.store %0, %o[%b] : memref<4xi32>
      gpu.return
    }
  }
}
"""
    compiled(text).run(np.zeros(4, np.int32))
    for chip in ("sm_80", "sm_89"):
        with pytest.raises((pipeline.UsageError, pipeline.CompileError)) as caught:
            compiled(text, chip).run(np.zeros(4, np.int32))
        assert str(caught.value).startswith("<string>:5:5: error: ")
        assert "cluster" in str(caught.value)


# --- what blocks of a cluster do together ---------------------------------------------------------

OWN = "%s = llvm.mlir.zero : !llvm.ptr<3>\n    "
TOGETHER = {
    "copy to another block": (
        OWN + "%q = llvm.addrspacecast %s : !llvm.ptr<3> to !llvm.ptr<7>\n"
        "    nvvm.cp.async.bulk.shared.cluster.shared.cta %q, %s, %s, %one\n"
        "        : !llvm.ptr<7>, !llvm.ptr<3>",
        "'llvm.nvvm.cp.async.bulk.shared.cta.to.cluster'",
    ),
}


@pytest.mark.parametrize("check", ["none", "all"])
@pytest.mark.parametrize("name", TOGETHER)
def test_refused_by_name(name: str, check: Literal["none", "all"]) -> None:
    operations, message = TOGETHER[name]
    text = kernel(
        "%a: memref<8xi32>",
        f"""
    %one = arith.constant 1 : i32
    {operations}
""",
    )
    with pytest.raises(pipeline.CompileError) as caught:
        compiled(text).kernels["k"].run(numbers(8), grid=2, block=2, cluster=2, check=check)
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    line = text.splitlines()[diagnostic.location.line - 1]
    word = re.search(r"[a-z]+", operations.split("nvvm." if "nvvm." in operations else "llvm.")[-1])
    assert word is not None
    assert word[0] in line


@pytest.mark.parametrize(
    "operation",
    [
        'llvm.call_intrinsic "llvm.nvvm.fence.sc.cluster"() : () -> ()',
        'llvm.fence syncscope("cluster") acq_rel',
        'llvm.store %one, %p atomic syncscope("cluster") release {alignment = 4 : i64}\n'
        "        : i32, !llvm.ptr<3>",
    ],
)
def test_order_within_a_cluster(operation: str) -> None:
    text = kernel(
        "%a: memref<8xi32>",
        f"""
    %one = arith.constant 1 : i32
    %w0 = memref.extract_aligned_pointer_as_index %w : memref<1xi32, #wg> -> index
    %w1 = arith.index_cast %w0 : index to i64
    %p = llvm.inttoptr %w1 : i64 to !llvm.ptr<3>
    {operation}
    memref.store %one, %a[%bx] : memref<8xi32>
""",
        buffers="%w: memref<1xi32, #wg>",
    )
    module = compiled(text)
    for cluster in (None, 1, 2):
        values = numbers(8)
        module.kernels["k"].run(values, grid=2, block=1, cluster=cluster, check="races")
        assert list(values[:3]) == [1, 1, 3]
