"""Programs called on a GPU: what they compute, on whose memory, in which order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pipeline
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import StandIn
from gpu.tensors import Tensor, Torch
from launch_plan.host_programs import V8, launch, numbers
from pipeline.program import calling
from pipeline.runtime.cuda.driver import Driver
from support import programs

HAS_GPU = calling.has_gpu
LOADING = ("cuModule", "cuDevicePrimary", "cuCtxSet")

MATMUL = """
!t = tensor<?x?xf32>
func.func @main(%a: !t, %b: !t, %c: !t) -> !t {
  %0 = linalg.matmul ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  %1 = linalg.exp ins(%0 : !t) outs(%0 : !t) -> !t
  return %1 : !t
}
"""
ADD = """
!m = memref<?xf32>
func.func @main(%a: !m, %b: !m, %c: !m) {
  linalg.add ins(%a, %b : !m, !m) outs(%c : !m)
  return
}
"""


def floats(*shape: int, seed: int = 3) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(seed).uniform(0.1, 1, shape).astype(np.float32)


def matrices(m: int = 33, n: int = 20, k: int = 17) -> list[np.ndarray[Any, Any]]:
    return [floats(m, k), floats(k, n), floats(m, n)]


@pytest.fixture
def matmul(gpu: StandIn) -> pipeline.Module:
    module = pipeline.compile(MATMUL)
    EmulatedLaunches(gpu, module)
    return module


@pytest.fixture
def add(gpu: StandIn) -> pipeline.Module:
    module = pipeline.compile(ADD)
    EmulatedLaunches(gpu, module)
    return module


def expected(a: Any, b: Any, c: Any) -> Any:
    return np.exp(c.astype("f8") + a.astype("f8") @ b.astype("f8"))


def test_arrays_of_the_host(gpu: StandIn, matmul: pipeline.Module) -> None:
    given = matrices()
    before = [array.copy() for array in given]
    result = matmul.run(*given, backend="cuda")
    assert type(result) is np.ndarray
    np.testing.assert_allclose(result, expected(*given), rtol=1e-5)
    for array, old in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_where_calls_run(
    gpu: StandIn, add: pipeline.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a GPU if there is one, unless something is asked for that only the emulator has."""
    a, b = floats(100), floats(100, seed=4)
    for found, call, is_on_gpu in (
        (True, lambda c: add(a, b, c), True),
        (True, lambda c: add.run(a, b, c), True),
        (True, lambda c: add.kernels["main_kernel"].run(a, b, c, grid=1, block=256), True),
        (True, lambda c: add.run(a, b, c, check="races"), False),
        (True, lambda c: add.run(a, b, c, backend="emulator"), False),
        (False, lambda c: add.run(a, b, c), False),
        (False, lambda c: add(a, b, c), False),
        (False, lambda c: add.run(a, b, c, backend="cuda"), True),
    ):
        monkeypatch.setattr(calling, "has_gpu", lambda found=found: found)
        c = floats(100, seed=5)
        gpu.calls()
        call(c)
        np.testing.assert_array_equal(c, a + b)
        assert any(name.startswith("cuLaunchKernelEx") for name in gpu.calls()) == is_on_gpu


def test_whether_there_is_a_gpu(gpu: StandIn) -> None:
    ask = HAS_GPU.__wrapped__
    assert ask()
    gpu.reset("chips=")
    assert not ask()
    gpu.fail("cuInit", 1, 999)
    assert not ask()


def test_tensors_that_are_aligned_to_less(gpu: StandIn, torch: Torch) -> None:
    """What fragments of matrices need is refused before anything runs, or given to host arrays."""
    module = pipeline.compile(programs.WMMA)
    EmulatedLaunches(gpu, module)
    a, b = (floats(16, 16, seed=seed).astype("f2") for seed in (1, 2))
    c = floats(256)
    wanted = c + (a.astype("f4") @ b.astype("f4")).ravel()
    module.run(a, b, c, backend="cuda")
    np.testing.assert_allclose(c, wanted, rtol=1e-3)
    at, bt = torch.put(a), torch.put(b)
    ct = torch.put(floats(260)).as_strided((256,), (1,), 4)
    gpu.calls()
    with pytest.raises(pipeline.LayoutError, match=r"argument 2 .* no multiple of 32 bytes"):
        module(at, bt, ct)
    assert not any(call.startswith("cuLaunch") for call in gpu.calls())


def test_order_of_calls(gpu: StandIn, add: pipeline.Module) -> None:
    """A first call, a second one, one that is larger."""
    a, b, c = floats(100), floats(100, seed=4), floats(100, seed=5)
    add.run(a, b, c, backend="cuda")
    np.testing.assert_array_equal(c, a + b)
    warm = [
        *(f"cuMemcpyHtoDAsync memory 1{at} 400 on s1" for at in ("", "+512", "+1024")),
        "cuLaunchKernelEx main_kernel grid 1,1,1 block 256,1,1 cluster 0,0,0 shared 0 on s1",
        "cuMemcpyDtoHAsync memory 1+1024 400 on s1",
        "cuStreamSynchronize s1",
    ]
    assert gpu.calls() == [
        "cuDriverGetVersion",
        "cuInit 0",
        "cuDevicePrimaryCtxRetain 0",
        "cuCtxSetCurrent 0",
        "cuStreamCreate 1",
        "cuModuleLoadDataEx",
        "cuModuleGetFunction main_kernel",
        "cuMemAllocAsync 1536 on s1",
        *warm,
    ]
    add.run(a, b, c, backend="cuda")
    assert gpu.calls() == warm
    large = floats(1000), floats(1000), floats(1000)
    add.run(*large, backend="cuda")
    calls = gpu.calls()
    assert calls[:2] == ["cuMemFreeAsync memory 1 on s1", "cuMemAllocAsync 12288 on s1"]
    np.testing.assert_array_equal(large[2], large[0] + large[1])


def test_tensors_in_place(gpu: StandIn, torch: Torch, add: pipeline.Module) -> None:
    """On the current stream, and nothing waits; later calls do nothing but launch."""
    for stream in (0, Driver.get().create_stream(0)):
        torch.stream = stream
        for size in (100, 100, 100, 3000):
            a, b, c = (torch.put(floats(size, seed=seed)) for seed in range(3))
            gpu.calls()
            assert add(a, b, c) is None
            np.testing.assert_array_equal(c.host, a.host + b.host)
            assert (a.version, b.version, c.version) == (0, 0, 1)
            assert a.streams == b.streams == c.streams == []
            (call,) = (call for call in gpu.calls() if not call.startswith(LOADING))
            assert call.startswith("cuLaunchKernelEx main_kernel grid ")
            assert call.endswith(" on s1" if stream else " on 0")


def test_results_are_tensors(gpu: StandIn, torch: Torch, matmul: pipeline.Module) -> None:
    for sizes in ((33, 20, 17), (33, 20, 17), (5, 70, 8)):
        given = matrices(*sizes)
        result = matmul(*map(torch.put, given))
        assert type(result) is Tensor
        assert result.shape == given[2].shape
        np.testing.assert_allclose(result.host, expected(*given), rtol=1e-5)


def test_results_on_another_stream(gpu: StandIn, torch: Torch, matmul: pipeline.Module) -> None:
    """PyTorch may make them of memory that its own stream still uses, and has to know of ours."""
    gpu.reset("lazy=1")
    EmulatedLaunches(gpu, matmul)
    driver = Driver.get()
    torch.stream = driver.create_stream(0)
    driver.enter(0)
    stream, freed = driver.create_stream(0), torch.put(matrices()[2])
    tensors = [torch.put(array) for array in matrices()]
    matmul.run(*tensors, stream=stream)
    driver.fill(freed.data_ptr(), b"\x01", 16, torch.stream)
    torch.empty = lambda *_, **__: freed  # type: ignore[method-assign]
    gpu.calls()
    result = matmul.run(*tensors, stream=stream)
    calls = [call.split(" ")[0] for call in gpu.calls()]
    assert calls[:4] == ["cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuEventDestroy"]
    driver.synchronize(stream)
    assert result is freed
    np.testing.assert_allclose(result.host, expected(*matrices()), rtol=1e-5)
    assert result.streams == [(stream, 0)]


TEXT = """memref.global constant @table : memref<2x3xi32> = dense<[[1, 2, 3], [4, 5, -6]]>
memref.global @state : memref<8xi32> = dense<[1, 2, 3, 4, 5, 6, 7, 8]>
func.func @main({arguments}){results} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %i3 = arith.constant 3 : i32
{body}}}
"""
PROGRAMS: dict[str, tuple[str, str, str, list[tuple[Any, ...]]]] = {
    "copies": (
        f"""  %n = memref.dim %a, %c0 : memref<?xi32>
  %t = memref.alloc(%n) : memref<?xi32>
  memref.copy %a, %t : memref<?xi32> to memref<?xi32>
{launch("%t", "%i3", "memref<?xi32>", "%n")}
  return %t, %n, %a : memref<?xi32>, index, memref<?xi32>
""",
        "%a: memref<?xi32>",
        "(memref<?xi32>, index, memref<?xi32>)",
        [(numbers(5),), (numbers(1),), (numbers(0),)],
    ),
    "elements": (
        f"""{launch("%a", "%i3")}
  %e = memref.load %a[%c2] : {V8}
  memref.store %e, %a[%c1] : {V8}
{launch("%a", "%e")}
  return %e : i32
""",
        f"%a: {V8}",
        "i32",
        [(numbers(8),)],
    ),
    "results of what is read": (
        f"""  %t = memref.alloc() : memref<8xi32>
  memref.copy %a, %t : {V8} to memref<8xi32>
{launch("%t", "%i3")}
  %e = memref.load %t[%c1] : {V8}
  %u = memref.alloc() : memref<8xi32>
  memref.copy %t, %u : {V8} to {V8}
{launch("%u", "%e")}
  %v = memref.subview %u[2] [4] [1] : {V8} to memref<4xi32, strided<[1], offset: 2>>
  return %t, %v, %a : {V8}, memref<4xi32, strided<[1], offset: 2>>, {V8}
""",
        f"%a: {V8}",
        f"({V8}, memref<4xi32, strided<[1], offset: 2>>, {V8})",
        [(numbers(8),)],
    ),
    "constants": (
        f"""  %t = memref.get_global @table : memref<2x3xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {{
    %x = memref.load %t[%bx, %c2] : memref<2x3xi32>
    memref.store %x, %a[%bx] : {V8}
    gpu.terminator
  }}
  return %t : memref<2x3xi32>
""",
        f"%a: {V8}",
        "memref<2x3xi32>",
        [(numbers(8),), (numbers(8),)],
    ),
    "memory of the program": (
        f"""  %s = memref.get_global @state : {V8}
{launch("%s", "%i3")}
  memref.copy %s, %a : {V8} to {V8}
  return
""",
        f"%a: {V8}",
        "",
        [(numbers(8),), (numbers(8),)],
    ),
    "loop": (
        f"""  %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %i3) -> i32 {{
{launch("%a", "%s")}
    %k = arith.index_cast %i : index to i32
    %d = arith.addi %s, %k : i32
    scf.yield %d : i32
  }}
  return %p : i32
""",
        f"%a: {V8}, %n: index",
        "i32",
        [(numbers(8), 4), (numbers(8), 0), (numbers(8), 4)],
    ),
    "scalars": (
        f"{launch('%a', '%k')}  return %k : i32\n",
        f"%a: {V8}, %k: i32",
        "i32",
        [(numbers(8), 5), (numbers(8), -7), (numbers(8), 5)],
    ),
    "constants that are results": (
        f"""  %p = arith.constant 0.3 : f32
  %q = arith.constant -2.5 : f64
  %w = arith.extf %p : f32 to f64
{launch("%a", "%i3")}  return %p, %q, %i3, %w, %k : f32, f64, i32, f64, f32
""",
        f"%a: {V8}, %k: f32",
        "(f32, f64, i32, f64, f32)",
        [(numbers(8), 0.7)],
    ),
    "constants that are results, and elements that are read": (
        f"""{launch("%a", "%i3")}  %g = memref.get_global @table : memref<2x3xi32>
  %x = memref.load %a[%c2] : {V8}
  return %g, %x, %g : memref<2x3xi32>, i32, memref<2x3xi32>
""",
        f"%a: {V8}",
        "(memref<2x3xi32>, i32, memref<2x3xi32>)",
        [(numbers(8),)],
    ),
    "views": (
        f"""  %s = memref.subview %a[%n, 1] [1, 8] [1, 2]
      : memref<4x20xi32> to memref<8xi32, strided<[2], offset: ?>>
{launch("%s", "%i3", "memref<8xi32, strided<[2], offset: ?>>")}
  %f = memref.collapse_shape %a [[0, 1]] : memref<4x20xi32> into memref<80xi32>
  %e = memref.expand_shape %f [[0, 1, 2]] output_shape [2, 5, 8]
      : memref<80xi32> into memref<2x5x8xi32>
  return %e, %s : memref<2x5x8xi32>, memref<8xi32, strided<[2], offset: ?>>
""",
        "%a: memref<4x20xi32>, %n: index",
        "(memref<2x5x8xi32>, memref<8xi32, strided<[2], offset: ?>>)",
        [(numbers(4, 20), 2), (numbers(4, 20), 0)],
    ),
    "strided copies": (
        f"""  %t = memref.alloc() : memref<6x20xi32>
  %z = arith.constant -7 : i32
  gpu.memset %t, %z : memref<6x20xi32>, i32
{launch("%b", "%z")}
  %s = memref.subview %t[1, 2] [4, 10] [1, 1]
      : memref<6x20xi32> to memref<4x10xi32, strided<[20, 1], offset: 22>>
  %u = memref.subview %a[0, 0] [4, 10] [1, 2]
      : memref<4x20xi32> to memref<4x10xi32, strided<[20, 2]>>
  memref.copy %u, %s : memref<4x10xi32, strided<[20, 2]>>
      to memref<4x10xi32, strided<[20, 1], offset: 22>>
  gpu.memset %s, %z : memref<4x10xi32, strided<[20, 1], offset: 22>>, i32
  memref.copy %u, %s : memref<4x10xi32, strided<[20, 2]>>
      to memref<4x10xi32, strided<[20, 1], offset: 22>>
  return %t : memref<6x20xi32>
""",
        f"%a: memref<4x20xi32>, %b: {V8}",
        "memref<6x20xi32>",
        [(numbers(4, 20), numbers(8))],
    ),
}


@pytest.mark.parametrize("where", ["host", "tensors"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(gpu: StandIn, torch: Torch, name: str, where: str) -> None:
    """They compute on a GPU what they do on the host, in place and as results."""
    body, arguments, results, calls = PROGRAMS[name]
    text = TEXT.format(arguments=arguments, results=f" -> {results}" if results else "", body=body)
    module = pipeline.compile(text, sync="keep", verify=False, schedule="none")
    EmulatedLaunches(gpu, module)
    for values in calls:
        own = [value.copy() if isinstance(value, np.ndarray) else value for value in values]
        wanted = module.run(*own, backend="emulator")
        put = torch.put if where == "tensors" else np.copy
        given = [put(value) if isinstance(value, np.ndarray) else value for value in values]
        found = module.run(*given, backend="cuda")
        for mine, theirs in zip(given, own, strict=True):
            np.testing.assert_array_equal(getattr(mine, "host", mine), theirs)
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        assert found is not None or wanted is None
        for mine, theirs in pairs:
            if theirs is None:
                continue
            np.testing.assert_array_equal(getattr(mine, "host", mine), theirs)
            assert (type(mine) is Tensor) == (where == "tensors" and np.ndim(theirs) > 0)


def test_strides_are_those_of_each_call(gpu: StandIn, torch: Torch) -> None:
    """What was recorded for an array holds for others of the same shape and strides only."""
    kind = "memref<?x?xi32, strided<[?, ?], offset: ?>>"
    module = pipeline.compile(
        f"""func.func @main(%a: {kind}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : {kind}
  %n = memref.dim %a, %c1 : {kind}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %m, %gy = %n, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {{
    %x = memref.load %a[%bx, %by] : {kind}
    %y = arith.addi %x, %x : i32
    memref.store %y, %a[%bx, %by] : {kind}
    gpu.terminator
  }}
  return
}}""",
        sync="keep",
        verify=False,
        schedule="none",
    )
    EmulatedLaunches(gpu, module)
    for strides in ((8, 1), (8, 2), (1, 8), (8, 1), (16, 3)):
        for call in (module, module.run):
            whole = numbers(128)
            tensor = torch.put(whole)
            call(tensor.as_strided((3, 4), strides, 0))
            view = np.lib.stride_tricks.as_strided(whole, (3, 4), [4 * n for n in strides])
            view *= 2
            np.testing.assert_array_equal(tensor.host, whole)


def test_offsets_that_the_type_fixes(gpu: StandIn, torch: Torch) -> None:
    """An array begins at element zero, wherever the type lets the memory begin."""
    kind = "memref<4xi32, strided<[2], offset: 6>>"
    module = pipeline.compile(
        f"""func.func @main(%a: {kind}) -> {kind} {{
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {{
    %x = memref.load %a[%bx] : {kind}
    %y = arith.addi %x, %x : i32
    memref.store %y, %a[%bx] : {kind}
    gpu.terminator
  }}
  %b = memref.alloc() : memref<4xi32>
  memref.copy %a, %b : {kind} to memref<4xi32>
  memref.copy %b, %a : memref<4xi32> to {kind}
  return %a : {kind}
}}""",
        sync="keep",
        verify=False,
        schedule="none",
    )
    launches = EmulatedLaunches(gpu, module)
    expected = numbers(14)
    expected[6::2] *= 2
    on_host = numbers(14)
    assert module.run(on_host[6::2], backend="cuda") is not None
    np.testing.assert_array_equal(on_host, expected)
    assert launches.launches[0].integer(0) % 16 == 0
    tensor = torch.put(numbers(14))
    for _ in range(2):
        tensor.host[...] = numbers(14)
        part = tensor.as_strided((4,), (2,), 6)
        assert module(part) is part
        np.testing.assert_array_equal(tensor.host, expected)
    with pytest.raises(pipeline.LayoutError, match="no multiple of 16 bytes"):
        module(tensor.as_strided((4,), (2,), 5))


def test_zeros_that_have_a_sign(gpu: StandIn, torch: Torch) -> None:
    """What the host computes from one is not what it computes from the other."""
    module = pipeline.compile(
        """func.func @main(%a: memref<8xf32>, %k: f32) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  %r = arith.divf %one, %k : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c8, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %r, %a[%bx] : memref<8xf32>
    gpu.terminator
  }
  return
}""",
        sync="keep",
        verify=False,
        schedule="none",
    )
    EmulatedLaunches(gpu, module)
    a = torch.put(np.ones(8, "f4"))
    for k in (0.0, -0.0, 0.0, 2.0, -0.0, 2, 4.0):
        module(a, k)
        with np.errstate(divide="ignore"):
            np.testing.assert_array_equal(a.host, np.float32(1) / np.float32(k))
