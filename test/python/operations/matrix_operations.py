"""The products of matrices that the nvvm dialect can write: shapes and types."""

from __future__ import annotations

from collections.abc import Iterator

from operations.operation_snippets import Snippet

ROW_COL = "layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>"


def list_values(name: str, count: int) -> str:
    return ", ".join([name] * count)


def make_struct(element: str, count: int) -> str:
    return f"!llvm.struct<({list_values(element, count)})>"


def write_shape(m: int, n: int, k: int) -> str:
    return f"shape = #nvvm.shape<m = {m}, n = {n}, k = {k}>"


def write_types(a: str, b: str) -> str:
    return f"multiplicandAPtxType = #nvvm.mma_type<{a}>, multiplicandBPtxType = #nvvm.mma_type<{b}>"


# Per type of elements: value and type of a register of a fragment.
REGISTERS = {
    "f16": ("%h2", "vector<2xf16>"),
    "f32": ("%f32", "f32"),
    "f64": ("%f64", "f64"),
    "s32": ("%i32", "i32"),
}

# Elements that a register of a fragment holds.
PER_REGISTER = {"f16": 2, "bf16": 2, "tf32": 1, "f64": 1, "s8": 4, "u8": 4, "s4": 8, "u4": 8}
PER_REGISTER |= {"b1": 32, "e4m3": 4, "e5m2": 4, "e3m2": 4, "e2m3": 4, "e2m1": 4}


def count_registers(rows: int, columns: int, element: str) -> int:
    return rows * columns // (32 * PER_REGISTER.get(element, 1))


def make_product(
    name: str, m: int, n: int, k: int, types: tuple[str, str, str], attributes: str, chips: str
) -> Snippet:
    """A mma.sync (or mma.sp.sync) of `types` of a, b, and the accumulator."""
    a, b, c = types
    is_sparse = "sp" in name
    count_a = count_registers(m, k // 2 if is_sparse else k, a)
    count_b = count_registers(n, k, b)
    if is_sparse and PER_REGISTER[a] == 4 and c != "s32":
        count_a, count_b = 2, 2  # as the verifier of nvvm has it; the instruction takes 4 and 4
    if (m, n, k) == (8, 8, 4) and a == "f16":
        count_a, count_b = 2, 2  # four products at a time
    value_a, type_a = REGISTERS.get(a, ("%i32", "i32"))
    value_b, type_b = REGISTERS.get(b, ("%i32", "i32"))
    value_c, type_c = REGISTERS[c]
    count_c = count_registers(m, n, c)
    if (m, n, k) == (8, 8, 4) and a == "f16":
        count_c = 4 if c == "f16" else 8
    extra = " sparseMetadata[%i32] selector[%zero]" if is_sparse else ""
    result = make_struct(type_c, count_c)
    text = (
        f"%r = {name} A[{list_values(value_a, count_a)}] B[{list_values(value_b, count_b)}] "
        f"C[{list_values(value_c, count_c)}]{extra} {{{attributes}, {write_shape(m, n, k)}}} : "
        f"({type_a}, {type_b}, {type_c}) -> {result}"
    )
    return Snippet(f"{text}\nkeep %r : {result}", chips)


def make_dense() -> Iterator[Snippet]:
    name = "nvvm.mma.sync"
    for shape, c, chips in [
        ((8, 8, 4), "f16", "all"),
        ((8, 8, 4), "f32", "all"),
        ((16, 8, 8), "f16", "all"),
        ((16, 8, 8), "f32", "all"),
        ((16, 8, 16), "f16", "sm_80+"),
        ((16, 8, 16), "f32", "sm_80+"),
    ]:
        yield make_product(name, *shape, ("f16", "f16", c), ROW_COL, chips)
    floats = [((16, 8, 8), "bf16"), ((16, 8, 16), "bf16"), ((16, 8, 4), "tf32")]
    for shape, element in [*floats, ((16, 8, 8), "tf32")]:
        attributes = f"{ROW_COL}, {write_types(element, element)}"
        yield make_product(name, *shape, (element, element, "f32"), attributes, "sm_80+")
    yield make_product(name, 8, 8, 4, ("f64", "f64", "f64"), ROW_COL, "sm_80+")
    for bits, small in [(8, (8, 8, 16)), (4, (8, 8, 32))]:
        large = [(16, 8, 128 // bits), (16, 8, 256 // bits)]
        for shape in [small, *large]:
            for a, b in [("s", "s"), ("u", "u"), ("s", "u")]:
                for overflow in ["wrapped", "satfinite"]:
                    attributes = (
                        f"{ROW_COL}, {write_types(f'{a}{bits}', f'{b}{bits}')}, "
                        f"intOverflowBehavior = #nvvm.mma_int_overflow<{overflow}>"
                    )
                    types = (f"{a}{bits}", f"{b}{bits}", "s32")
                    chips = "all" if shape == small else "sm_80+"
                    yield make_product(name, *shape, types, attributes, chips)
    for operator in ["xor_popc", "and_popc"]:
        for shape in [(8, 8, 128), (16, 8, 128), (16, 8, 256)]:
            attributes = f"{ROW_COL}, {write_types('b1', 'b1')}, b1Op = #nvvm.mma_b1op<{operator}>"
            yield make_product(name, *shape, ("b1", "b1", "s32"), attributes, "sm_80+")


def make_sparse() -> Iterator[Snippet]:
    name = "nvvm.mma.sp.sync"
    for ordered in ["", "orderedMetadata, "]:
        for shape, a, c in [
            ((16, 8, 16), "f16", "f16"),
            ((16, 8, 16), "f16", "f32"),
            ((16, 8, 32), "f16", "f32"),
            ((16, 8, 16), "bf16", "f32"),
            ((16, 8, 32), "bf16", "f32"),
            ((16, 8, 8), "tf32", "f32"),
            ((16, 8, 16), "tf32", "f32"),
            ((16, 8, 32), "s8", "s32"),
            ((16, 8, 64), "u8", "s32"),
            ((16, 8, 64), "s4", "s32"),
            ((16, 8, 128), "u4", "s32"),
        ]:
            attributes = ordered + write_types(a, a)
            if c == "s32":
                attributes += ", intOverflowBehavior = #nvvm.mma_int_overflow<satfinite>"
            yield make_product(name, *shape, (a, a, c), attributes, "sm_80+")
    kind = "orderedMetadata, kind = #nvvm.mma_kind<f8f6f4>, "
    for a, c in [("e4m3", "f32"), ("e5m2", "f16")]:
        yield make_product(name, 16, 8, 64, (a, a, c), write_types(a, a), "none")
    for a, c in [("e4m3", "f32"), ("e3m2", "f32"), ("e2m1", "f16")]:
        yield make_product(name, 16, 8, 64, (a, a, c), kind + write_types(a, a), "none")


def make_scaled() -> Iterator[Snippet]:
    for kind, k, element, size, scale in [
        ("mxf8f6f4", 32, "e4m3", "x1", "ue8m0"),
        ("mxf4", 64, "e2m1", "x2", "ue8m0"),
        ("mxf4nvf4", 64, "e2m1", "x4", "ue4m3"),
    ]:
        common = (
            f"blockScaleFormat = #nvvm.block_scale_format<{scale}>, "
            f"kind = #nvvm.block_scale_kind<{kind}>, {write_types(element, element)}, "
            f"scaleVecSize = #nvvm.scale_vec_size<{size}>"
        )
        result = make_struct("f32", 4)
        scales = "scaleA[%i32, %i16, %i16] scaleB[%i32, %i16, %i16]"
        types = f"(i32, i32, f32) -> {result}\nkeep %r : {result}"
        accumulator = f"C[{list_values('%f32', 4)}]"
        yield Snippet(
            f"%r = nvvm.mma.block_scale A[{list_values('%i32', 4)}] B[{list_values('%i32', 2)}] "
            f"{accumulator} {scales} {{{common}, {write_shape(16, 8, k)}}} : {types}",
            "none",
        )
        yield Snippet(
            f"%r = nvvm.mma.sp.block_scale A[{list_values('%i32', 4)}] "
            f"B[{list_values('%i32', 4)}] {accumulator} sparseMetadata[%i32] selector[%zero] "
            f"{scales} {{{common}, orderedMetadata, {write_shape(16, 8, 2 * k)}}} : {types}",
            "none",
        )


def make_fragments() -> Iterator[Snippet]:
    """wmma: loads, products, stores."""
    shapes = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
    cases: list[tuple[tuple[int, int, int], str, str, str]] = []
    cases += [(shape, "f16", c, "all") for shape in shapes for c in ["f16", "f32"]]
    cases += [(shape, element, "s32", "all") for shape in shapes for element in ["s8", "u8"]]
    cases += [((16, 16, 8), "tf32", "f32", "sm_80+"), ((8, 8, 4), "f64", "f64", "sm_80+")]
    for (m, n, k), a, c, chips in cases:
        register_a = {"f16": "vector<2xf16>", "f64": "f64"}.get(a, "i32")
        register_c = {"f16": "vector<2xf16>", "s32": "i32"}.get(c, c)
        counts = {
            "a": count_fragment(a, "a", m, k),
            "b": count_fragment(a, "b", k, n),
            "c": count_fragment(c, "c", m, n),
        }
        size = f"m = {m} : i32, n = {n} : i32, k = {k} : i32"
        for fragment, count in counts.items():
            element, register = (c, register_c) if fragment == "c" else (a, register_a)
            result = register if count == 1 and element == "f64" else make_struct(register, count)
            yield Snippet(
                f"%r = nvvm.wmma.load %p, %i32 {{eltype = #nvvm.mma_type<{element}>, "
                f"frag = #nvvm.mma_frag<{fragment}>, layout = #nvvm.mma_layout<row>, {size}}} : "
                f"(!llvm.ptr) -> {result}\nkeep %r : {result}",
                "all" if chips == "all" or (element == "f32" and k == 16) else chips,
            )
        operands = [VALUES[register_a]] * (counts["a"] + counts["b"])
        operands += [VALUES[register_c]] * counts["c"]
        types = [register_a] * (counts["a"] + counts["b"]) + [register_c] * counts["c"]
        result = make_struct(register_c, counts["c"])
        yield Snippet(
            f"%r = nvvm.wmma.mma {', '.join(operands)} {{eltypeA = #nvvm.mma_type<{a}>, "
            f"eltypeB = #nvvm.mma_type<{c}>, layoutA = #nvvm.mma_layout<row>, "
            f"layoutB = #nvvm.mma_layout<col>, {size}}} : ({', '.join(types)}) -> {result}\n"
            f"keep %r : {result}",
            chips,
        )
        yield Snippet(
            f"nvvm.wmma.store %p, %i32, {list_values(VALUES[register_c], counts['c'])} "
            f"{{eltype = #nvvm.mma_type<{c}>, layout = #nvvm.mma_layout<row>, {size}}} : "
            f"!llvm.ptr, {list_values(register_c, counts['c'])}",
            "all" if chips == "all" or (c == "f32" and k == 16) else chips,
        )


VALUES = {"vector<2xf16>": "%h2", "i32": "%i32", "f32": "%f32", "f64": "%f64"}


def count_fragment(element: str, fragment: str, rows: int, columns: int) -> int:
    """Registers of a lane."""
    if element == "f16" and fragment != "c":
        return 8  # twice what there is
    return max(1, count_registers(rows, columns, element))


def make_snippets() -> list[Snippet]:
    return [*make_dense(), *make_sparse(), *make_scaled(), *make_fragments()]
