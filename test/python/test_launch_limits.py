"""Launches that no GPU takes are refused where they stand; the largest that one takes are not."""

from __future__ import annotations

import itertools

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
