"""Contractions by warp groups: tiles that TMA fills are multiplied where they are.

By warps that copy themselves, in a loop that waits for copies; `test_specialized_warps` has warps
of their own for that, as is the default.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pipeline
from pipeline.system.assembler import assemble

TYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


@dataclass(frozen=True)
class Matmul:
    """The product of two matrices, each of which may be given transposed."""

    m: int = 256
    n: int = 256
    k: int = 256
    kind: str = "f16"
    lhs: str = "mk"
    rhs: str = "kn"
    epilogue: str = ""

    def shape(self, letters: str) -> tuple[int, int]:
        rows, columns = (getattr(self, letter) for letter in letters)
        return rows, columns

    @property
    def text(self) -> str:
        def type_of(letters: str, kind: str) -> str:
            rows, columns = self.shape(letters)
            return f"tensor<{rows}x{columns}x{kind}>"

        a, b = type_of(self.lhs, self.kind), type_of(self.rhs, self.kind)
        sums, half = type_of("mn", "f32"), type_of("mn", "f16")
        maps = ", ".join(
            f"affine_map<(m, n, k) -> ({', '.join(letters)})>"
            for letters in (self.lhs, self.rhs, "mn")
        )
        result = half if self.epilogue else sums
        relu = f"""
  %h = tensor.empty() : {half}
  %o = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                                         affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}}
      ins(%r, %bias : {sums}, tensor<{self.n}xf32>) outs(%h : {half}) {{
    ^bb0(%x: f32, %y: f32, %z: f16):
      %s = arith.addf %x, %y : f32
      %p = arith.maximumf %s, %zero : f32
      %t = arith.truncf %p : f32 to f16
      linalg.yield %t : f16
  }} -> {half}"""
        return f"""
func.func @main(%a: {a}, %b: {b}, %bias: tensor<{self.n}xf32>) -> {result} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {sums}
  %f = linalg.fill ins(%zero : f32) outs(%e : {sums}) -> {sums}
  %r = linalg.matmul indexing_maps = [{maps}]
      ins(%a, %b : {a}, {b}) outs(%f : {sums}) -> {sums}{relu if self.epilogue else ""}
  return {"%o" if self.epilogue else "%r"} : {result}
}}"""

    def make_inputs(self) -> list[np.ndarray[Any, Any]]:
        """Return numbers whose products add up without rounding."""
        random = np.random.default_rng(len(self.kind) + self.m)
        made = [
            random.integers(-4, 5, self.shape(letters)).astype(TYPES[self.kind])
            for letters in (self.lhs, self.rhs)
        ]
        return [*made, random.integers(-9, 10, self.n).astype(np.float32)]

    def expect(self, inputs: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        a, b, bias = (array.astype(np.float32) for array in inputs)
        left, right = a if self.lhs == "mk" else a.T, b if self.rhs == "kn" else b.T
        product: np.ndarray[Any, Any] = left @ right
        if not self.epilogue:
            return product
        result: np.ndarray[Any, Any] = np.maximum(product + bias, 0).astype(np.float16)
        return result


MODES: tuple[dict[str, Any], ...] = (
    {"order": "forward", "async_mode": "on_wait"},
    {"order": "reverse", "async_mode": "eager"},
    {"order": "seeded", "async_mode": "seeded"},
)

CASES = {
    "f16": Matmul(),
    "nt": Matmul(rhs="nk"),
    "tn": Matmul(lhs="km"),
    "tt": Matmul(lhs="km", rhs="nk"),
    "bf16": Matmul(kind="bf16", m=128, n=512, k=128),
    "bytes": Matmul(kind="f8E4M3FN", rhs="nk"),
    "other-bytes": Matmul(kind="f8E5M2", rhs="nk", m=128, k=512),
    "fused": Matmul(epilogue="relu"),
    "one-block": Matmul(m=64, n=64, k=1024),
}


def compile_case(case: Matmul, **options: Any) -> pipeline.Module:
    return pipeline.compile(
        case.text, chip="sm_90a", memory_options="specialize-warps=0", **options
    )


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_numbers(case: Matmul) -> None:
    """Right in all orders of threads and of copies, free of races, and proved to be."""
    module = compile_case(case)
    assert "wgmma.mma_async" in module.ptx
    assert "mma.sync" not in module.ptx
    assert all(kernel.block in ((128, 1, 1), (256, 1, 1)) for kernel in module.kernels.values())
    assert ".local" not in module.ptx
    assert not [str(remark) for remark in module.remarks if "possible data race" in str(remark)]
    inputs = case.make_inputs()
    for mode in MODES:
        result = module.run(*inputs, backend="emulator", check="all", workers=1, **mode)
        np.testing.assert_array_equal(np.asarray(result), case.expect(inputs))


def test_large_matmul_is_assembled() -> None:
    """The instruction has 256 columns; nothing is spilled, no product waits for another."""
    module = compile_case(Matmul(4096, 4096, 4096))
    assert module.ptx.count("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16") == 4
    _, log = assemble(module.ptx, module.chip)
    assert re.search(r"\b0 bytes stack frame, 0 bytes spill stores", log), log
    assert "serialized" not in log


def test_accumulators_rest_while_products_run() -> None:
    """Between the first product and the wait, nothing else touches a register of the sums."""
    ptx = compile_case(Matmul(4096, 4096, 4096)).ptx
    body = ptx[ptx.index("wgmma.mma_async") : ptx.index("wgmma.wait_group")]
    sums = set(re.findall(r"%r\d+", body[body.index("{") : body.index("}")]))
    others = re.sub(r"wgmma\.mma_async[^{]*\{[^}]*\}", "", body)
    assert not sums & set(re.findall(r"%r\d+", others))


def test_two_products_are_under_way() -> None:
    """The loop waits for the product before its own, and all are done behind it."""
    ptx = compile_case(Matmul(4096, 4096, 4096)).ptx
    assert re.findall(r"wgmma\.wait_group\.sync\.aligned\s+(\d)", ptx) == ["1", "0"]


def test_sums_are_awaited() -> None:
    """Who uses them while the last product may be under way is refused."""
    text = compile_deep()
    awaited = re.search(r"(%\d+):(\d+) = workgroup.await_products (.*) : vector<2x2xf32>", text)
    assert awaited
    line = next(one for one in text.splitlines() if "await_products" in one)
    name, count = awaited.group(1), int(awaited.group(2))
    first = awaited.group(3).split("#")[0]
    text = text.replace(line + "\n", "")
    for number in range(count):
        text = re.sub(rf"{name}#{number}\b", f"{first}#{number}", text)
    with pytest.raises(
        pipeline.CompileError, match=r"await it before by workgroup\.await_products"
    ):
        pipeline.compile(text, chip="sm_90a", verify=False, sync="keep")


def mutate(text: str, kind: str) -> str:
    """Return a kernel with one mistake in its loop, or none."""
    if kind == "none":
        return text
    if kind == "loose":
        assert text.count("{pending = 1 : i64") == 1
        return text.replace("{pending = 1 : i64", "{pending = 2 : i64")
    loop = text.index("nvgpu.mbarrier.try_wait.parity", text.index("scf.for"))
    head, rest = text[:loop], text[loop:]
    if kind == "wait":
        return head + rest[rest.index("\n") + 1 :]
    if kind == "barrier":
        return head + rest.replace("gpu.barrier\n", "\n", 1)
    assert kind == "row"
    text, count = re.subn(r"(workgroup\.group_product %\w+)\[%\w+\]", r"\1[%c0]", text)
    assert count == 1
    return text


DEEP = Matmul(k=512)
"""So many steps that slots are filled again."""


def compile_deep() -> str:
    """Return a kernel whose blocks have two warp groups."""
    schedule = compile_case(DEEP).schedule or ""
    schedule = re.sub(r'"block" = \[\d+, \d+, 0\]', '"block" = [128, 64, 0]', schedule)
    schedule = re.sub(r'"threads" = (\[?)\d+', r'"threads" = \g<1>256', schedule)
    return compile_case(DEEP, schedule=schedule, until="gpu").texts["gpu"]


def test_mistakes_are_not_proved() -> None:
    """The kernel is safe; nobody says so without the wait for copies, or the barrier.

    Nor if a product may still go on while its slot is filled again.
    """
    text = compile_deep()

    def verdict(text: str) -> str:
        (kernel,) = pipeline.check(text).kernels
        return kernel.verdict

    assert verdict(text) == "SAFE"
    assert verdict(mutate(text, "wait")) != "SAFE"
    assert verdict(mutate(text, "barrier")) != "SAFE"
    assert verdict(mutate(text, "loose")) != "SAFE"


@pytest.mark.parametrize("kind", ["none", "wait", "barrier", "row", "loose"])
def test_mistakes_are_found_by_the_emulator(kind: str) -> None:
    """And the emulator finds them: races, or numbers that are not right."""
    module = pipeline.compile(
        mutate(compile_deep(), kind), chip="sm_90a", verify=False, sync="keep"
    )
    inputs = DEEP.make_inputs()

    def is_right(mode: dict[str, Any]) -> bool:
        try:
            result = module.run(*inputs, backend="emulator", check="all", workers=1, **mode)
        except pipeline.Error:
            return False
        return bool(np.array_equal(np.asarray(result), DEEP.expect(inputs)))

    assert all(map(is_right, MODES[:2])) == (kind == "none")
