"""Launches that no GPU takes are refused where they stand; the largest that one takes are not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pipeline

Sizes = tuple[int, int, int]

LAUNCHED = """func.func @main(%x: memref<f32>) {{
  {constants}
  %f = arith.constant 1.0 : f32
  gpu.launch {clusters} blocks(%bx, %by, %bz) in (%gx = %g0, %gy = %g1, %gz = %g2) // here
             threads(%t, %ty, %tz) in (%sx = %b0, %sy = %b1, %sz = %b2) {{
    memref.store %f, %x[] : memref<f32>
    gpu.terminator
  }}
  return
}}
"""
OUTLINED = """module attributes {{gpu.container_module}} {{
  func.func @main(%x: memref<f32>) {{
    {constants}
    gpu.launch_func @m::@k {clusters} blocks in (%g0, %g1, %g2) threads in (%b0, %b1, %b2) // here
      args(%x : memref<f32>)
    return
  }}
  gpu.module @m {{
    gpu.func @k(%x: memref<f32>) kernel {{
      %f = arith.constant 1.0 : f32
      memref.store %f, %x[] : memref<f32>
      gpu.return
    }}
  }}
}}
"""
KERNEL = """gpu.module @m {{
  gpu.func @k(%x: memref<f32>) kernel attributes {{{attribute}}} {{ // here
    %f = arith.constant 1.0 : f32
    memref.store %f, %x[] : memref<f32>
    gpu.return
  }}
}}
"""
TAKEN: list[tuple[Sizes, Sizes]] = [
    ((1, 1, 1), (1024, 1, 1)),
    ((1, 1, 1), (1, 1024, 1)),
    ((1, 1, 1), (1, 16, 64)),
    ((1, 1, 1), (32, 32, 1)),
    ((2**31 - 1, 1, 1), (1, 1, 1)),
    ((1, 65535, 1), (1, 1, 1)),
    ((1, 1, 65535), (1, 1, 1)),
]
REFUSED: list[tuple[Sizes, Sizes, str]] = [
    ((1, 1, 1), (1025, 1, 1), "1025 threads along x"),
    ((1, 1, 1), (2048, 1, 1), "2048 threads along x"),
    ((1, 1, 1), (1, 1025, 1), "1025 threads along y"),
    ((1, 1, 1), (1, 1, 65), "65 threads along z"),
    ((1, 1, 1), (33, 32, 1), "blocks of 33x32x1 = 1056 threads"),
    ((1, 1, 1), (16, 2, 64), "blocks of 16x2x64 = 2048 threads"),
    ((2**31, 1, 1), (1, 1, 1), "2147483648 blocks along x"),
    ((1, 65536, 1), (1, 1, 1), "65536 blocks along y"),
    ((1, 70000, 1), (1, 1, 1), "70000 blocks along y"),
    ((1, 1, 65536), (1, 1, 1), "65536 blocks along z"),
    ((0, 1, 1), (1, 1, 1), "0 blocks along x"),
    ((1, -3, 1), (1, 1, 1), "-3 blocks along y"),
    ((1, 1, 1), (1, 0, 1), "0 threads along y"),
    ((1, 1, 1), (1, 1, -1), "-1 threads along z"),
]


def make(form: str, grid: Sizes, block: Sizes, cluster: Sizes | None = None) -> str:
    """Return a program with a launch of these sizes."""
    sizes = [*grid, *block, *(cluster or ())]
    names = [f"{kind}{n}" for kind, n in itertools.product("gbc", range(3))]
    constants = "\n".join(
        f"%{name} = arith.constant {size} : index" for name, size in zip(names, sizes, strict=False)
    )
    if form == "launched":
        clusters = "clusters(%cx, %cy, %cz) in (%nx = %c0, %ny = %c1, %nz = %c2)"
    else:
        clusters = "clusters in (%c0, %c1, %c2)"
    template = LAUNCHED if form == "launched" else OUTLINED
    return template.format(constants=constants, clusters=clusters if cluster else "")


def check_refused(source: str, message: str, chip: str = "sm_80") -> None:
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(source, schedule="none", chip=chip)
    first = str(caught.value).splitlines()[0]
    line = next(n for n, text in enumerate(source.splitlines(), 1) if text.endswith("// here"))
    assert first.startswith(f"<string>:{line}:")
    assert message in first


@pytest.mark.parametrize("form", ["launched", "outlined"])
@pytest.mark.parametrize(("grid", "block"), TAKEN)
def test_largest_launches_compile(form: str, grid: Sizes, block: Sizes) -> None:
    module = pipeline.compile(make(form, grid, block), schedule="none", verify=False)
    (kernel,) = module.kernels.values()
    assert f".maxntid {', '.join(map(str, block))}" in module.ptx
    assert kernel.name in module.ptx


@pytest.mark.parametrize("form", ["launched", "outlined"])
@pytest.mark.parametrize(("grid", "block", "message"), REFUSED)
def test_larger_launches_are_refused(form: str, grid: Sizes, block: Sizes, message: str) -> None:
    check_refused(make(form, grid, block), message)
    with pytest.raises(pipeline.CompileError, match="of which GPUs take"):
        pipeline.check(make(form, grid, block))


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("known_block_size = array<i32: 1024, 1, 1>", ""),
        ("known_block_size = array<i32: 1025, 1, 1>", "1025 threads along x"),
        ("known_block_size = array<i32: 1, 1, 65>", "65 threads along z"),
        ("known_block_size = array<i32: 0, 1, 1>", "0 threads along x"),
        ("known_grid_size = array<i32: 1, 65535, 1>", ""),
        ("known_grid_size = array<i32: 1, 65536, 1>", "65536 blocks along y"),
        ("nvvm.maxntid = array<i32: 1024>", ""),
        ("nvvm.maxntid = array<i32: 2048>", "2048 threads along x"),
        ("nvvm.reqntid = array<i32: 32, 64>", "blocks of 32x64x1 = 2048 threads"),
        ("nvvm.cluster_dim = array<i32: 32, 1, 1>", "32 blocks of a cluster along x"),
        ("nvvm.cluster_dim = array<i32: 2, 1, 1>", "which sm_80 does not have"),
        ("nvvm.cluster_max_blocks = 32 : i32", "32 blocks of a cluster"),
    ],
)
def test_what_a_kernel_says_of_its_launches(attribute: str, message: str) -> None:
    source = KERNEL.format(attribute=attribute)
    if message:
        check_refused(source, message)
    else:
        assert pipeline.compile(source, schedule="none", verify=False).ptx


@pytest.mark.parametrize("form", ["launched", "outlined"])
@pytest.mark.parametrize(
    ("grid", "cluster", "message"),
    [
        ((4, 4, 1), (2, 2, 1), ""),
        ((16, 1, 1), (16, 1, 1), ""),
        ((17, 1, 1), (17, 1, 1), "17 blocks of a cluster along x"),
        ((4, 8, 1), (4, 8, 1), "clusters of 4x8x1 = 32 blocks"),
        ((3, 1, 1), (2, 1, 1), "no whole number of clusters of 2"),
        ((1, 1, 1), (0, 1, 1), "0 blocks of a cluster along x"),
    ],
)
def test_clusters(form: str, grid: Sizes, cluster: Sizes, message: str) -> None:
    source = make(form, grid, (32, 1, 1), cluster)
    if message:
        check_refused(source, message, chip="sm_90")
    else:
        assert pipeline.compile(source, schedule="none", chip="sm_90", verify=False).ptx


@pytest.mark.parametrize("form", ["launched", "outlined"])
@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_86", "sm_89"])
def test_clusters_on_chips_without(form: str, chip: str) -> None:
    source = make(form, (4, 1, 1), (32, 1, 1), (2, 1, 1))
    check_refused(source, f"clusters of 2x1x1 blocks, which {chip} does not have", chip)


def test_launch_of_other_blocks_than_the_kernel_is_compiled_for() -> None:
    source = make("outlined", (1, 1, 1), (64, 1, 1)).replace(
        ") kernel {", ") kernel attributes {known_block_size = array<i32: 32, 1, 1>} {"
    )
    check_refused(source, "asks for blocks of 64x1x1, where the kernel is compiled for 32x1x1")


def promise(attribute: str, grid: Sizes, block: Sizes, cluster: Sizes | None = None) -> str:
    """Return a program whose kernel has the attribute."""
    return make("outlined", grid, block, cluster).replace(
        ") kernel {", f") kernel attributes {{{attribute}}} {{"
    )


@pytest.mark.parametrize(
    ("attribute", "block", "message"),
    [
        ("known_block_size = array<i32: 32, 2, 1>", (32, 2, 1), ""),
        ("known_block_size = array<i32: 32, 2, 1>", (32, 1, 1), "for 32x2x1 by gpu.known_block"),
        ("known_block_size = array<i32: 32, 2, 1>", (64, 1, 1), "for 32x2x1 by gpu.known_block"),
        ("nvvm.reqntid = array<i32: 32>", (32, 1, 1), ""),
        ("nvvm.reqntid = array<i32: 32>", (31, 1, 1), "blocks of 31x1x1, where the kernel"),
        ("nvvm.reqntid = array<i32: 32>", (64, 1, 1), "compiled for 32x1x1 by nvvm.reqntid"),
        ("nvvm.reqntid = array<i32: 32>", (32, 2, 1), "compiled for 32x1x1 by nvvm.reqntid"),
        ("nvvm.reqntid = array<i32: 32, 2, 1>", (64, 1, 1), "for 32x2x1 by nvvm.reqntid"),
        ("nvvm.maxntid = array<i32: 32>", (32, 1, 1), ""),
        ("nvvm.maxntid = array<i32: 32>", (8, 1, 1), ""),
        ("nvvm.maxntid = array<i32: 8, 4>", (1, 1, 32), ""),
        ("nvvm.maxntid = array<i32: 8, 4>", (1, 3, 11), "products of 32 at most by nvvm.maxntid"),
        ("nvvm.maxntid = array<i32: 32>", (64, 1, 1), "products of 32 at most by nvvm.maxntid"),
    ],
)
def test_blocks_that_a_kernel_is_compiled_for(attribute: str, block: Sizes, message: str) -> None:
    check_promise(promise(attribute, (1, 1, 1), block), message)


@pytest.mark.parametrize(
    ("attribute", "grid", "cluster", "message"),
    [
        ("known_grid_size = array<i32: 4, 1, 1>", (4, 1, 1), None, ""),
        ("known_grid_size = array<i32: 4, 1, 1>", (2, 1, 1), None, "a grid of 2x1x1, where"),
        ("known_grid_size = array<i32: 4, 1, 1>", (8, 1, 1), None, "a grid of 8x1x1, where"),
        ("known_cluster_size = array<i32: 2, 1, 1>", (4, 1, 1), (2, 1, 1), ""),
        ("known_cluster_size = array<i32: 2, 1, 1>", (4, 1, 1), None, ""),
        ("known_cluster_size = array<i32: 2, 1, 1>", (3, 1, 1), None, "clusters of 2; launch"),
        ("known_cluster_size = array<i32: 2, 1, 1>", (1, 1, 1), None, "clusters of 2; launch"),
        ("known_cluster_size = array<i32: 2, 1, 1>", (4, 1, 1), (4, 1, 1), "clusters of 4x1x1"),
        ("known_cluster_size = array<i32: 2, 1, 1>", (4, 1, 1), (1, 1, 1), "clusters of 1x1x1"),
        ("nvvm.cluster_dim = array<i32: 1, 2, 1>", (4, 4, 1), (1, 2, 1), ""),
        ("nvvm.cluster_dim = array<i32: 1, 2, 1>", (4, 4, 1), None, ""),
        ("nvvm.cluster_dim = array<i32: 1, 2, 1>", (4, 3, 1), None, "clusters of 2; launch"),
        ("nvvm.cluster_dim = array<i32: 1, 2, 1>", (4, 4, 1), (2, 1, 1), "by nvvm.cluster_dim"),
        ("nvvm.cluster_dim = array<i32: 1, 2, 1>", (4, 4, 1), (1, 4, 1), "by nvvm.cluster_dim"),
        ("nvvm.cluster_max_blocks = 2 : i32", (4, 1, 1), (2, 1, 1), ""),
        ("nvvm.cluster_max_blocks = 2 : i32", (4, 1, 1), (1, 1, 1), ""),
        ("nvvm.cluster_max_blocks = 2 : i32", (3, 1, 1), None, ""),
        ("nvvm.cluster_max_blocks = 2 : i32", (4, 1, 1), (4, 1, 1), "products of 2 at most"),
        ("nvvm.cluster_max_blocks = 2 : i32", (2, 2, 1), (2, 2, 1), "products of 2 at most"),
    ],
)
def test_grids_and_clusters_that_a_kernel_is_compiled_for(
    attribute: str, grid: Sizes, cluster: Sizes | None, message: str
) -> None:
    check_promise(promise(attribute, grid, (32, 1, 1), cluster), message)


def check_promise(source: str, message: str) -> None:
    if message:
        check_refused(source, message, chip="sm_90")
    else:
        module = pipeline.compile(source, schedule="none", chip="sm_90", until="llvm", verify=False)
        assert list(module.kernels) == ["k"]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (("known_block_size = array<i32: 32, 1, 1>", "nvvm.maxntid = array<i32: 64>"), ""),
        (
            ("known_block_size = array<i32: 64, 1, 1>", "nvvm.maxntid = array<i32: 32>"),
            "is for blocks of 64x1x1, where the kernel is compiled for products of 32",
        ),
        (
            ("known_block_size = array<i32: 64, 1, 1>", "nvvm.reqntid = array<i32: 32>"),
            "is for blocks of 64x1x1, where the kernel is compiled for 32x1x1",
        ),
        (
            ("known_cluster_size = array<i32: 2, 1, 1>", "nvvm.cluster_dim = array<i32: 4>"),
            "is for clusters of 2x1x1, where the kernel is compiled for 4x1x1",
        ),
        (
            ("known_grid_size = array<i32: 3, 1, 1>", "nvvm.cluster_dim = array<i32: 2>"),
            "is for 3 blocks along x, which are no whole number of clusters of 2",
        ),
    ],
)
def test_attributes_that_say_different_things(attributes: tuple[str, str], message: str) -> None:
    check_promise(KERNEL.format(attribute=", ".join(attributes)), message)


@pytest.mark.parametrize("known", ["", "known_block_size = array<i32: 32, 1, 1>, "])
@pytest.mark.parametrize("name", ["maxntid", "reqntid"])
def test_the_emulator_keeps_to_what_a_kernel_is_compiled_for(name: str, known: str) -> None:
    source = KERNEL.format(attribute=f"{known}nvvm.{name} = array<i32: 32>")
    module = pipeline.compile(source, schedule="none", until="llvm", verify=False)
    module.kernels["k"].run(np.zeros((), np.float32), grid=1, block=32)
    for block in (64, (32, 2)):
        with pytest.raises(pipeline.UsageError, match="compiled for"):
            module.kernels["k"].run(np.zeros((), np.float32), grid=1, block=block)


SHARED = "memref<64xf32, #gpu.address_space<workgroup>>"
DYNAMIC = """func.func @main(%x: memref<64xf32>) {{
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant {bytes} : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) // here
             threads(%t, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
             {asked} {{
    %shift = arith.constant {shift} : index
    %d = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %w = memref.view %d[%shift][] : memref<?xi8, #gpu.address_space<workgroup>> to {shared}
    %v = memref.load %x[%t] : memref<64xf32>
    memref.store %v, %w[%t] : {shared}
    %u = memref.load %w[%t] : {shared}
    memref.store %u, %x[%t] : memref<64xf32>
    gpu.terminator
  }}
  return
}}
"""
ASKED = "dynamic_shared_memory_size %bytes"


@pytest.mark.parametrize(
    ("bytes", "shift", "asked", "message"),
    [
        (256, 0, ASKED, ""),
        (255, 0, ASKED, "asks for 255 bytes of dynamic workgroup memory"),
        (384, 128, ASKED, ""),
        (383, 128, ASKED, "need 384"),
        (256, 0, "", "asks for 0 bytes"),
        (-1, 0, ASKED, "a negative number of bytes"),
        (256, 2**63 - 128, ASKED, "need more than any GPU has"),
        (163 * 1024, 0, ASKED, ""),
        (163 * 1024 + 1, 0, ASKED, "exceeding the limit of 166912 bytes"),
    ],
)
def test_dynamic_memory(bytes: int, shift: int, asked: str, message: str) -> None:
    source = DYNAMIC.format(bytes=bytes, shift=shift, asked=asked, shared=SHARED)
    if message:
        check_refused(source, message)
    else:
        assert pipeline.compile(source, schedule="none").ptx


BRANCH = """module attributes {{gpu.container_module}} {{
  func.func @main(%x: memref<64xf32>) {{
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %no = arith.constant false
    %yes = arith.constant true
    %bytes = arith.constant 256 : i32
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) // here
      args(%x : memref<64xf32>, %no : i1)
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
      dynamic_shared_memory_size %bytes args(%x : memref<64xf32>, %yes : i1)
    return
  }}
  gpu.module @m {{
    gpu.func @k(%x: memref<64xf32>, %with: i1) kernel {{
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      {around} {{
        %d = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
        %w = memref.view %d[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to {shared}
        %v = memref.load %x[%t] : memref<64xf32>
        %u = arith.addf %v, %v : f32
        memref.store %u, %w[%t] : {shared}
        %y = memref.load %w[%t] : {shared}
        memref.store %y, %x[%t] : memref<64xf32>
        {end}
      }}
      gpu.return
    }}
  }}
}}
"""


def test_dynamic_memory_of_a_branch_that_a_launch_does_not_take() -> None:
    """Such a launch needs none of it, when it is compiled and when it runs."""
    source = BRANCH.format(around="scf.if %with", end="", shared=SHARED)
    numbers = np.arange(64, dtype=np.float32)
    module = pipeline.compile(source, schedule="none", until="llvm")
    assert module.kernels["k"].least_dynamic_shared_bytes == 0
    module.run(numbers)
    np.testing.assert_array_equal(numbers, 2 * np.arange(64, dtype=np.float32))


def test_dynamic_memory_of_a_region_that_is_always_executed() -> None:
    source = BRANCH.format(around="scf.execute_region", end="scf.yield", shared=SHARED)
    check_refused(source, "asks for 0 bytes of dynamic workgroup memory")
