"""The packing of workgroup memory: random kernels, and what ptxas says of packed ones."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import pipeline
from fuzzing import packing as fuzz_packing
from support.chips import CHIPS

# From here on the system has a KiB of each block's static memory.
WITH_SYSTEM_MEMORY = ("sm_90", "sm_90a", "sm_100", "sm_120")
# `tools/fuzz packing` goes on from here.
SEEDS, CHUNK = 100, 50
KIB = 1024
THREADS = 64


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_random_kernels(first: int) -> None:
    counts = fuzz_packing.Counts()
    problems = fuzz_packing.fuzz(range(first, first + CHUNK), counts, mutants=0)
    report = "\n".join(f"seed {seed}: {problem}" for seed, problem in problems.items())
    assert not problems, report
    assert counts.shared > CHUNK // 2
    assert counts.rejected == 0
    assert np.median(counts.ratios) <= fuzz_packing.GOOD


def test_dynamic_sizes() -> None:
    """Buffers of bounded sizes, and slices of such sizes, take what they may take at most."""
    counts = fuzz_packing.Counts()
    problems = fuzz_packing.fuzz(range(1000, 1025), counts, mutants=0, dynamic_share=0.9)
    assert not problems, "\n".join(f"seed {seed}: {text}" for seed, text in problems.items())
    assert counts.dynamic > 12


def test_most_barriers_are_needed() -> None:
    counts = fuzz_packing.Counts()
    fuzz_packing.fuzz(range(30), counts, mutants=2)
    assert counts.needed + counts.redundant > 20
    assert counts.needed > counts.redundant


# --- situations -----------------------------------------------------------------------------------


def write(name: str, size: int) -> str:
    """Each thread writes an element."""
    return f"    memref.store %x, %{name}[%t] : memref<{size // 4}xf32, #wg>\n    gpu.barrier\n"


def read(name: str, size: int) -> str:
    """Each thread adds to its sum what its mirror image wrote."""
    return (
        f"    %{name}_x = memref.load %{name}[%r] : memref<{size // 4}xf32, #wg>\n"
        f"    %{name}_y = memref.load %out[%t] : memref<{THREADS}xf32>\n"
        f"    %{name}_z = arith.addf %{name}_x, %{name}_y : f32\n"
        f"    memref.store %{name}_z, %out[%t] : memref<{THREADS}xf32>\n"
    )


def make_kernel(sizes: dict[str, int], body: str, *, launches: tuple[str, ...] = ("",)) -> str:
    """Return a kernel with buffers of so many bytes, and its launches."""
    buffers = ", ".join(f"%{name}: memref<{size // 4}xf32, #wg>" for name, size in sizes.items())
    calls = "".join(
        f"""\
  gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
      {dynamic} args(%out : memref<{THREADS}xf32>)
"""
        for dynamic in launches
    )
    return f"""\
#wg = #gpu.address_space<workgroup>
module attributes {{gpu.container_module}} {{
gpu.module @kernels {{
  gpu.func @k(%out: memref<{THREADS}xf32>) workgroup({buffers}) kernel
      attributes {{known_block_size = array<i32: {THREADS}, 1, 1>}} {{
    %t = gpu.thread_id x
    %last = arith.constant {THREADS - 1} : index
    %r = arith.subi %last, %t : index
    %number = arith.index_cast %t : index to i32
    %x = arith.sitofp %number : i32 to f32
{body}    gpu.return
  }}
}}
func.func @main(%out: memref<{THREADS}xf32>) {{
  %c1 = arith.constant 1 : index
  %c64 = arith.constant {THREADS} : index
  %small = arith.constant 1024 : i32
  %large = arith.constant 2048 : i32
{calls}  return
}}
}}
"""


def disjoint(size: int) -> str:
    """Return a kernel that uses one buffer after the other."""
    parts = (write("a", size), read("a", size), write("b", size), read("b", size))
    return make_kernel({"a": size, "b": size}, "".join(parts))


def overlapping(size: int, count: int = 2) -> str:
    """Return a kernel that uses all its buffers at the same time."""
    names = "abcdefgh"[:count]
    body = "".join(write(name, size) for name in names)
    return make_kernel(
        dict.fromkeys(names, size), body + "".join(read(name, size) for name in names)
    )


def pack(text: str, passes: str = "workgroup-pack-memory") -> str:
    """Return what passes make of a program."""
    (packed,) = fuzz_packing.run_opt([text], passes)
    assert not packed.error
    return packed.text


def section_bytes(cubin: bytes, name: str) -> int:
    """Return the size of a section of an ELF file of 64 bits; 0 if there is none."""
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + size * i) for i in range(count)]
    start = headers[names][4]
    for header in headers:
        first = start + header[0]
        if cubin[first : cubin.index(b"\0", first)].decode() == name:
            return int(header[5])
    return 0


def check_results(module: pipeline.Module, count: int) -> None:
    """Run the program, which adds what mirror images wrote to so many buffers."""
    out = np.zeros(THREADS, np.float32)
    for report in module.emulate(out, options=pipeline.Options(check="all")):
        assert not report.findings, report.rendered
    np.testing.assert_array_equal(out, count * np.arange(THREADS, dtype=np.float32)[::-1])


def check_static(module: pipeline.Module, chip: str, size: int) -> None:
    """Check that all agree on the bytes of static memory."""
    compiled = module.kernels["k"]
    assert compiled.static_shared_bytes == size
    assert compiled.resources.static_shared_bytes == size
    system = KIB if chip in WITH_SYSTEM_MEMORY else 0
    assert section_bytes(module.cubin, ".nv.shared.k") == size + system


@pytest.mark.parametrize("chip", CHIPS)
def test_disjoint_lives(chip: str) -> None:
    module = pipeline.compile(pack(disjoint(16 * KIB)), chip=chip)
    check_static(module, chip, 16 * KIB)
    check_results(module, 2)


@pytest.mark.parametrize("chip", CHIPS)
def test_disjoint_lives_by_default(chip: str) -> None:
    """Without a word about packing: more blocks fit on a multiprocessor."""
    check_static(pipeline.compile(disjoint(16 * KIB), chip=chip), chip, 16 * KIB)


@pytest.mark.parametrize("chip", CHIPS)
def test_overlapping_lives(chip: str) -> None:
    module = pipeline.compile(pack(overlapping(16 * KIB)), chip=chip)
    check_static(module, chip, 32 * KIB)
    check_results(module, 2)


@pytest.mark.parametrize("chip", CHIPS)
def test_largest_static_memory(chip: str) -> None:
    module = pipeline.compile(overlapping(24 * KIB), chip=chip)
    check_static(module, chip, 48 * KIB)
    assert ".extern .shared" not in module.ptx


@pytest.mark.parametrize("chip", CHIPS)
def test_dynamic_memory(chip: str) -> None:
    module = pipeline.compile(overlapping(32 * KIB), chip=chip)
    assert ".extern .shared" in module.ptx
    assert module.kernels["k"].dynamic_shared_bytes == 64 * KIB
    check_static(module, chip, 0)
    check_results(module, 2)


@pytest.mark.parametrize(
    ("chip", "kibibytes", "limit"),
    [
        ("sm_75", 65, 65536),
        ("sm_80", 170, 166912),
        ("sm_86", 100, 101376),
        ("sm_89", 100, 101376),
        ("sm_90", 300, 232448),
        ("sm_90a", 228, 232448),
        ("sm_100", 228, 232448),
        ("sm_120", 100, 101376),
    ],
)
def test_too_much_memory(chip: str, kibibytes: int, limit: int) -> None:
    size = kibibytes * KIB // 2
    with pytest.raises(pipeline.ResourceError, match=f"exceeding the limit of {limit} bytes"):
        pipeline.compile(overlapping(size), chip=chip)


@pytest.mark.parametrize(
    ("chip", "kibibytes"),
    [("sm_75", 64), ("sm_80", 160), ("sm_80", 163), ("sm_86", 99), ("sm_90", 227), ("sm_120", 99)],
)
def test_much_memory(chip: str, kibibytes: int) -> None:
    module = pipeline.compile(overlapping(kibibytes * KIB // 4 // 4 * 4, 4), chip=chip)
    assert module.kernels["k"].dynamic_shared_bytes == kibibytes * KIB
    check_static(module, chip, 0)
    check_results(module, 4)


# The program's own dynamic memory.
WINDOW = f"""\
    %window = gpu.dynamic_shared_memory : memref<?xi8, #wg>
    %zero = arith.constant 0 : index
    %w = memref.view %window[%zero][] : memref<?xi8, #wg> to memref<{THREADS}xf32, #wg>
"""


def with_window(*launches: str) -> str:
    """Return a kernel with dynamic memory of its own next to a large buffer."""
    size = 60 * KIB
    body = WINDOW + write("w", THREADS * 4) + write("a", size) + read("w", THREADS * 4)
    return make_kernel({"a": size}, body + read("a", size), launches=launches)


def test_own_dynamic_memory() -> None:
    module = pipeline.compile(with_window("dynamic_shared_memory_size %small"))
    assert module.kernels["k"].dynamic_shared_bytes == 61 * KIB
    check_static(module, "sm_80", 0)
    check_results(module, 2)


def test_launches_that_differ() -> None:
    sizes = ("%small", "%large")
    module = pipeline.compile(with_window(*(f"dynamic_shared_memory_size {s}" for s in sizes)))
    body = module.plan.functions["main"].body
    assert body is not None
    launches = [step for step in body.steps if step.op == "gpu.launch_func"]
    assert [launch.fields["shared"] for launch in launches] == [61 * KIB, 62 * KIB]
    check_static(module, "sm_80", 0)
    check_results(module, 4)


# The size of an allocation around a launch, as an argument or found by the host.
GIVEN = ("%out: memref<?xf32>, %n: index", "")
FOUND = (
    "%out: memref<?xf32>",
    """\
  %c0 = arith.constant 0 : index
  %n = memref.dim %out, %c0 : memref<?xf32>
""",
)


def host_sized(arguments: str, size: str) -> str:
    """Return a program with an allocation of a size that only the host knows."""
    return f"""\
#wg = #gpu.address_space<workgroup>
func.func @main({arguments}) {{
  %c1 = arith.constant 1 : index
{size}  %b = memref.alloc(%n) : memref<?xf32, #wg>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {{
    %one = arith.constant 1 : index
    %number = arith.index_cast %tx : index to i32
    %x = arith.sitofp %number : i32 to f32
    memref.store %x, %b[%tx] : memref<?xf32, #wg>
    gpu.barrier
    %last = arith.subi %n, %one : index
    %r = arith.subi %last, %tx : index
    %y = memref.load %b[%r] : memref<?xf32, #wg>
    memref.store %y, %out[%tx] : memref<?xf32>
    gpu.terminator
  }}
  return
}}
"""


@pytest.mark.parametrize("size", [1, 37, 1024])
@pytest.mark.parametrize("known", [GIVEN, FOUND], ids=["given", "found"])
def test_size_that_the_host_knows(known: tuple[str, str], size: int) -> None:
    module = pipeline.compile(host_sized(*known))
    kernel = module.kernels["main_kernel"]
    assert kernel.resources.static_shared_bytes == 0
    out = np.zeros(size, np.float32)
    values = [out if argument.is_memref else size for argument in kernel.arguments]
    report = kernel.emulate(
        *values,
        grid=(1, 1, 1),
        block=(size, 1, 1),
        dynamic_shared_bytes=-(-4 * size // 16) * 16,
        options=pipeline.Options(check="all"),
    )
    assert not report.findings, report.rendered
    np.testing.assert_array_equal(out, np.arange(size, dtype=np.float32)[::-1])


def test_launch_asks_for_what_the_host_knows() -> None:
    """Four bytes an element, in units of the alignment."""
    text = pack(host_sized(*GIVEN), "workgroup-sink-allocs,workgroup-pack-memory")
    assert "arith.ceildivui" in text
    assert "dynamic_shared_memory_size" in text
