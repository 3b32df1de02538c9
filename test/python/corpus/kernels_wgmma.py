"""Kernels of one warpgroup that multiplies: all types, layouts and sources of operands.

They are not among the cases of the corpus: what proves synchronisation does not follow `wgmma`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import ml_dtypes
import numpy as np

from corpus.kernels_bulk import barriers, tensor_map
from corpus.kernels_case import Array, Case, function, module

Swizzle = Literal[0, 32, 64, 128]

# The type of NumPy and the bits in PTX.
_KINDS: dict[str, tuple[Any, int]] = {
    "f16": (np.float16, 16),
    "bf16": (ml_dtypes.bfloat16, 16),
    "tf32": (np.float32, 32),
    "e4m3": (ml_dtypes.float8_e4m3fn, 8),
    "e5m2": (ml_dtypes.float8_e5m2, 8),
    "s8": (np.int8, 8),
    "u8": (np.uint8, 8),
    "f32": (np.float32, 32),
    "s32": (np.int32, 32),
}
_CHUNK, _INNER_BYTES = 16, 32
_MODES = {0: 0, 128: 1, 64: 2, 32: 3}


@dataclass(frozen=True)
class Operand:
    """A or B in workgroup memory: its type, its layout, and the sign that it is multiplied with."""

    kind: str
    swizzle: Swizzle = 128
    transposed: bool = False
    """The outer dimension, of rows of A or columns of B, is the contiguous one."""
    negated: bool = False
    in_registers: bool = False

    @property
    def itemsize(self) -> int:
        return _KINDS[self.kind][1] // 8

    def strides(self, outer: int, inner: int) -> tuple[int, int]:
        """Return the leading and the stride byte offset of a tile without gaps."""
        chunks = outer * self.itemsize // _CHUNK, inner * self.itemsize // _CHUNK
        if not self.transposed:
            row = self.swizzle or _CHUNK
            return (outer * _CHUNK if not self.swizzle else _CHUNK), 8 * row
        if not self.swizzle:
            return chunks[0] * 8 * _CHUNK, 8 * _CHUNK
        return inner * self.swizzle, 8 * self.swizzle

    def bytes_of(self, outer: int, inner: int) -> int:
        """Return the bytes of a tile, whose rows may be shorter than the swizzle is."""
        if self.swizzle and not self.transposed:
            return outer * self.swizzle
        return outer * inner * self.itemsize

    def lay_out(self, tile: Array) -> Array:
        """Return the bytes of a tile of outer times inner elements as the descriptor has them."""
        outer, inner = tile.shape
        leading, stride = self.strides(outer, inner)
        by_lines = np.ascontiguousarray(tile.T if self.transposed else tile)
        lines, chunks = by_lines.shape[0], by_lines.shape[1] * self.itemsize // _CHUNK
        pieces = by_lines.view(np.uint8).reshape(lines, chunks, _CHUNK)
        line, chunk = np.meshgrid(np.arange(lines), np.arange(chunks), indexing="ij")
        pitch = self.swizzle or _CHUNK
        if not self.transposed:
            at = line // 8 * stride + line % 8 * pitch
            at += chunk * (_CHUNK if self.swizzle else leading)
        elif not self.swizzle:
            at = chunk * stride + line // 8 * leading + line % 8 * _CHUNK
        else:
            per_row = self.swizzle // _CHUNK
            at = chunk // per_row * leading + chunk % per_row * _CHUNK
            at += line // 8 * stride + line % 8 * pitch
        mask = max(self.swizzle // _CHUNK - 1, 0)
        at ^= (at // 128 & mask) * _CHUNK
        laid = np.zeros(self.bytes_of(outer, inner), np.uint8)
        laid[(at[..., None] + np.arange(_CHUNK)).reshape(-1)] = pieces.reshape(-1)
        return laid

    def step(self, outer: int, inner: int) -> int:
        """Return how far the operand of the next product is, which goes on along K."""
        leading, stride = self.strides(outer, inner)
        if self.transposed:
            groups = _INNER_BYTES // self.itemsize // 8
            return groups * (stride if self.swizzle else leading)
        return _INNER_BYTES if self.swizzle else 2 * leading

    def head(self, outer: int, inner: int) -> int:
        """Return the descriptor of the tile but for where it begins."""
        leading, stride = self.strides(outer, inner)
        return _MODES[self.swizzle] << 62 | stride // 16 << 32 | leading // 16 << 16


@dataclass(frozen=True)
class Product:
    """D = A * B + C of one warpgroup, by `steps` operations one after the other."""

    a: Operand
    b: Operand
    d: str
    n: int
    steps: int = 2
    reads_d: bool = True
    saturates: bool = False

    @property
    def name(self) -> str:
        def words(operand: Operand) -> str:
            where = "registers" if operand.in_registers else f"swizzle {operand.swizzle}"
            order = " transposed" if operand.transposed else ""
            return f"{'-' if operand.negated else ''}{operand.kind} {where}{order}"

        rest = ("" if self.reads_d else ", D anew") + (", satfinite" if self.saturates else "")
        return f"{self.d} n{self.n}: {words(self.a)} x {words(self.b)}{rest}"

    @property
    def k(self) -> int:
        return _INNER_BYTES // self.a.itemsize

    @property
    def inner(self) -> int:
        return self.k * self.steps

    @property
    def registers(self) -> int:
        return self.n * _KINDS[self.d][1] // 64


def accumulator_of(product: Product, d: Array) -> Array:
    """Return the registers of all threads for a matrix D."""
    thread, element = np.meshgrid(np.arange(128), np.arange(product.n // 2), indexing="ij")
    lane, group = thread % 32, element // 2
    row = thread // 32 * 16 + lane // 4 + group % 2 * 8
    column = group // 2 * 8 + lane % 4 * 2 + element % 2
    return np.ascontiguousarray(d[row, column]).view(np.int32)


def fragments_of(product: Product, a: Array) -> Array:
    """Return the registers of all threads for A, of all steps."""
    per = 4 // product.a.itemsize
    shape = (128, product.steps, 4, per)
    thread, step, register, part = np.meshgrid(*map(np.arange, shape), indexing="ij")
    lane = thread % 32
    row = thread // 32 * 16 + lane // 4 + register % 2 * 8
    column = step * product.k + register // 2 * 4 * per + lane % 4 * per + part
    flat = np.ascontiguousarray(a[row, column]).view(np.int32)
    return flat.reshape(128, product.steps * 4)


def _assembly(product: Product, registers: int) -> tuple[str, str, str]:
    """Return an operation with A in registers, which NVVM has none for."""
    kind = "f" if product.d == "f32" else "r"
    element = "f32" if kind == "f" else "i32"
    results = ", ".join(f"${i}" for i in range(registers))
    base = 2 * registers
    a = ", ".join(f"${base + i}" for i in range(4))
    is_float = product.d != "s32"
    signs = f", {-1 if product.a.negated else 1}, {-1 if product.b.negated else 1}"
    layout = f", {int(product.b.transposed)}" if product.a.itemsize == 2 else ""
    finite = ".satfinite" if product.saturates else ""
    text = (
        "{ .reg .pred p; setp.ne.b32 p, $"
        f"{base + 5}, 0; wgmma.mma_async.sync.aligned.m64n{product.n}k{product.k}{finite}"
        f".{product.d}.{product.a.kind}.{product.b.kind} {{{results}}}, {{{a}}}, ${base + 4}, p"
        f"{signs + layout if is_float else ''}; }}"
    )
    constraints = ",".join(
        [f"={kind}"] * registers + [str(i) for i in range(registers)] + ["r"] * 4 + ["l", "r"]
    )
    return text, constraints, element


def _struct(element: str, count: int) -> str:
    return f"!llvm.struct<({', '.join([element] * count)})>"


def _multiply(product: Product, step: int, before: str) -> str:
    """Return the operation of a step, of which `before` is what D holds before."""
    registers = product.registers
    element = "f32" if product.d == "f32" else "i32"
    struct = _struct(element, registers)
    reads = product.reads_d or step > 0
    if product.a.in_registers:
        text, constraints, element = _assembly(product, registers)
        lines = [
            f"    %in{step}_{i} = llvm.extractvalue {before}[{i}] : {struct}"
            for i in range(registers)
        ]
        values = [f"%in{step}_{i}" for i in range(registers)]
        values += [f"%f{step * 4 + i}" for i in range(4)] + [f"%db{step}", f"%reads{int(reads)}"]
        types = [element] * registers + ["i32"] * 4 + ["i64", "i32"]
        lines += [
            f'    %d{step} = llvm.inline_asm has_side_effects "{text}", "{constraints}" '
            f"{', '.join(values)} : ({', '.join(types)}) -> {struct}"
        ]
        return "\n".join(lines) + "\n"

    def side(operand: Operand, name: str, plain: str, other: str) -> str:
        sign = "neg" if operand.negated else "one"
        layout = other if operand.transposed else plain
        return f"{name} [<{operand.kind}>, <{sign}>, <{layout}>]"

    d = f"D [<{product.d}>, <{'one' if reads else 'zero'}>"
    d += ", <satfinite>]" if product.saturates else "]"
    return (
        f"    %d{step} = nvvm.wgmma.mma_async %da{step}, %db{step}, {before}, "
        f"<m = 64, n = {product.n}, k = {product.k}>, {d}, "
        f"{side(product.a, 'A', 'row', 'col')}, {side(product.b, 'B', 'col', 'row')} "
        f": {struct} -> {struct}\n"
    )


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _descriptors(product: Product, name: str, operand: Operand, outer: int, offset: int) -> str:
    """Return the descriptors of all steps, of a tile at `offset` of the buffer."""
    lines = []
    for step in range(product.steps):
        start = offset + step * operand.step(outer, product.inner)
        head = _signed(operand.head(outer, product.inner))
        lines += [
            f"    %s{name}{step} = arith.constant {start} : i64",
            f"    %p{name}{step} = arith.addi %base, %s{name}{step} : i64",
            f"    %q{name}{step} = arith.shrui %p{name}{step}, %four : i64",
            f"    %h{name}{step} = arith.constant {head} : i64",
            f"    %d{name}{step} = arith.ori %q{name}{step}, %h{name}{step} : i64",
        ]
    return "\n".join(lines) + "\n"


def product_text(product: Product) -> str:
    """Return a kernel that copies the tiles as they lie, multiplies, and stores its registers."""
    registers, steps = product.registers, product.steps
    element = "f32" if product.d == "f32" else "i32"
    struct = _struct(element, registers)
    bytes_a = 0 if product.a.in_registers else product.a.bytes_of(64, product.inner)
    bytes_b = product.b.bytes_of(product.n, product.inner)
    offset_b = -(-bytes_a // 1024) * 1024
    words = (offset_b + bytes_b) // 4
    fragments = f"memref<128x{4 * steps}xi32>"
    out = f"memref<128x{registers}x{element}>"
    body = [
        f"    %w = memref.alloc() {{alignment = 1024 : i64}} : memref<{words}xi32, #wg>",
        "    %address = memref.extract_aligned_pointer_as_index %w"
        f" : memref<{words}xi32, #wg> -> index",
        "    %base = arith.index_cast %address : index to i64",
        "    %four = arith.constant 4 : i64",
        "    %reads0 = arith.constant 0 : i32",
        "    %reads1 = arith.constant 1 : i32",
        f"    scf.for %i = %tx to %c{words} step %c128 {{",
        f"      %x = memref.load %tiles[%i] : memref<{words}xi32>",
        f"      memref.store %x, %w[%i] : memref<{words}xi32, #wg>",
        "    }",
    ]
    body += [f"    %c_{i} = memref.load %out[%tx, %c{i}] : {out}" for i in range(registers)]
    if product.a.in_registers:
        body += [
            f"    %f{i} = memref.load %fragments[%tx, %c{i}] : {fragments}"
            for i in range(4 * steps)
        ]
    body += [f"    %u0 = llvm.mlir.poison : {struct}"]
    body += [
        f"    %u{i + 1} = llvm.insertvalue %c_{i}, %u{i}[{i}] : {struct}" for i in range(registers)
    ]
    text = "\n".join(body) + "\n"
    if not product.a.in_registers:
        text += _descriptors(product, "a", product.a, 64, 0)
    text += _descriptors(product, "b", product.b, product.n, offset_b)
    text += """\
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    nvvm.wgmma.fence.aligned
"""
    before = f"%u{registers}"
    for step in range(steps):
        text += _multiply(product, step, before)
        before = f"%d{step}"
    text += """\
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
"""
    for i in range(registers):
        text += (
            f"    %r{i} = llvm.extractvalue {before}[{i}] : {struct}\n"
            f"    memref.store %r{i}, %out[%tx, %c{i}] : {out}\n"
        )
    arguments = f"%tiles: memref<{words}xi32>, %fragments: {fragments}, %out: {out}"
    return module(function("multiply", arguments, text, block=(128, 1, 1)))


def _random(rng: np.random.Generator, kind: str, shape: tuple[int, int]) -> Array:
    """Return numbers of which products and sums round little or not at all."""
    dtype = _KINDS[kind][0]
    if kind == "u8":
        return rng.integers(0, 256, shape).astype(dtype)
    if kind in ("s8", "s32"):
        return rng.integers(-128, 128, shape).astype(dtype)
    return (rng.integers(-8, 9, shape) / 4).astype(dtype)


def product_case(product: Product) -> Case:
    def make(rng: np.random.Generator) -> list[Any]:
        a = _random(rng, product.a.kind, (64, product.inner))
        b = _random(rng, product.b.kind, (product.n, product.inner))
        c = _random(rng, product.d, (64, product.n))
        if product.saturates:
            c += np.int32(2**31 - 2**17) * rng.choice([-1, 1], c.shape).astype(np.int32)
        tiles = b"" if product.a.in_registers else product.a.lay_out(a).tobytes()
        tiles += bytes(-len(tiles) % 1024)
        tiles += product.b.lay_out(b).tobytes()
        element = np.float32 if product.d == "f32" else np.int32
        return [
            np.frombuffer(tiles, np.int32).copy(),
            fragments_of(product, a)
            if product.a.in_registers
            else np.zeros((128, 4 * product.steps), np.int32),
            accumulator_of(product, c).view(element),
        ]

    def expect(arguments: Sequence[Any]) -> dict[int, Array]:
        rng = np.random.default_rng(1)
        wide = np.int64 if product.d == "s32" else np.float64
        a = _random(rng, product.a.kind, (64, product.inner)).astype(wide)
        b = _random(rng, product.b.kind, (product.n, product.inner)).astype(wide)
        c = _random(rng, product.d, (64, product.n)).astype(wide)
        if product.saturates:
            c += (2**31 - 2**17) * rng.choice([-1, 1], c.shape)
        sign = -1 if product.a.negated != product.b.negated else 1
        result: Array = c if product.reads_d else np.zeros_like(c)
        for step in range(product.steps):
            part = slice(step * product.k, (step + 1) * product.k)
            result = result + sign * (a[:, part] @ b[:, part].T)
            if product.saturates:
                result = np.clip(result, -(2**31), 2**31 - 1)
        element = np.float32 if product.d == "f32" else np.int32
        d = result.astype(_KINDS[product.d][0])
        return {2: accumulator_of(product, d).view(element)}

    return Case(
        product.name,
        product_text(product),
        "multiply",
        grid=(1, 1, 1),
        block=(128, 1, 1),
        make=make,
        expect=expect,
        chip="sm_90a",
    )


def _products() -> list[Product]:
    swizzles: tuple[Swizzle, ...] = (0, 32, 64, 128)
    # One step fits into 32 bytes of a row.
    steps = {0: 2, 32: 1, 64: 2, 128: 4}
    found = []
    for swizzle in swizzles:
        for left in (False, True):
            for right in (False, True):
                found.append(
                    Product(
                        Operand("f16", swizzle, left),
                        Operand("f16", swizzle, right),
                        "f32",
                        64,
                        1 if swizzle == 32 and not (left and right) else 2,
                    )
                )
        for kind, d in (("tf32", "f32"), ("e4m3", "f32"), ("s8", "s32")):
            found.append(
                Product(Operand(kind, swizzle), Operand(kind, swizzle), d, 32, steps[swizzle])
            )
    found += [
        Product(Operand("bf16"), Operand("bf16", transposed=True), "f32", 256, 4),
        Product(Operand("f16"), Operand("f16", 64, transposed=True), "f16", 96),
        Product(Operand("f16", 128), Operand("f16", 64), "f32", 8, reads_d=False),
        Product(Operand("f16", negated=True), Operand("f16"), "f32", 24),
        Product(Operand("bf16", negated=True), Operand("bf16", negated=True), "f32", 16),
        Product(Operand("tf32"), Operand("tf32", negated=True), "f32", 248),
        Product(Operand("e5m2"), Operand("e4m3"), "f16", 40),
        Product(Operand("e4m3"), Operand("e5m2"), "f32", 128),
        Product(Operand("u8"), Operand("s8"), "s32", 64),
        Product(Operand("s8"), Operand("u8"), "s32", 128, saturates=True),
        Product(Operand("f16", in_registers=True), Operand("f16", transposed=True), "f32", 64),
        Product(Operand("bf16", in_registers=True), Operand("bf16"), "f32", 128),
        Product(Operand("tf32", in_registers=True), Operand("tf32"), "f32", 64),
        Product(Operand("e4m3", in_registers=True), Operand("e4m3"), "f32", 32),
        Product(Operand("s8", in_registers=True), Operand("u8"), "s32", 32, saturates=True),
        Product(Operand("f16", in_registers=True), Operand("f16"), "f16", 64, reads_d=False),
    ]
    return found


CASES = tuple(product_case(product) for product in _products())


# --- as upstream's operations have it -------------------------------------------------------------


def upstream_text(wait: int = 0) -> str:
    """Return a product of two tiles by `nvgpu.warpgroup`, whose descriptors upstream makes."""
    tile, sums = "memref<64x64xf16, #wg>", "vector<64x64xf32>"
    tensor, group = tensor_map(tile, "swizzle_128b"), barriers(1)
    descriptor = f"!nvgpu.warpgroup.descriptor<tensor = {tile}>"
    accumulator = f"!nvgpu.warpgroup.accumulator<fragmented = {sums}>"
    body = f"""
    %first = arith.cmpi eq, %tx, %c0 : index
    %bytes = arith.constant 16384 : index
    %ticks = arith.constant 10000000 : index
    %zeroth = arith.constant false
    %wa = memref.alloc() {{alignment = 1024 : i64}} : {tile}
    %wb = memref.alloc() {{alignment = 1024 : i64}} : {tile}
    %full = nvgpu.mbarrier.create -> {group}
    nvgpu.mbarrier.init %full[%c0], %c1, predicate = %first : {group}
    nvvm.fence.mbarrier.init
    gpu.barrier
    scf.if %first {{
      nvgpu.mbarrier.arrive.expect_tx %full[%c0], %bytes : {group}
      nvgpu.tma.async.load %ma[%c0, %c0], %full[%c0] to %wa : {tensor}, {group} -> {tile}
      nvgpu.tma.async.load %mb[%c0, %c0], %full[%c0] to %wb : {tensor}, {group} -> {tile}
    }}
    nvgpu.mbarrier.try_wait.parity %full[%c0], %zeroth, %ticks : {group}
    %da = nvgpu.warpgroup.generate.descriptor %wa, %ma : {tile}, {tensor} -> {descriptor}
    %db = nvgpu.warpgroup.generate.descriptor %wb, %mb : {tile}, {tensor} -> {descriptor}
    %zero = nvgpu.warpgroup.mma.init.accumulator -> {accumulator}
    %d = nvgpu.warpgroup.mma %da, %db, %zero {{waitGroup = {wait} : i64, transposeB}}
        : {descriptor}, {descriptor}, {accumulator} -> {accumulator}
    nvgpu.warpgroup.mma.store %d, %out : {accumulator} to memref<64x64xf32>
"""
    arguments = f"%ma: {tensor}, %mb: {tensor}, %out: memref<64x64xf32>"
    return module(function("multiply", arguments, body, block=(128, 1, 1)))


UPSTREAM = Case(
    "nvgpu.warpgroup",
    upstream_text(),
    "multiply",
    grid=(1, 1, 1),
    block=(128, 1, 1),
    make=lambda rng: [
        _random(rng, "f16", (64, 64)),
        _random(rng, "f16", (64, 64)),
        np.zeros((64, 64), np.float32),
    ],
    expect=lambda arguments: {2: arguments[0].astype(np.float32) @ arguments[1].astype(np.float32)},
    chip="sm_90a",
)
