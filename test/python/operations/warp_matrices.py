"""Operations on matrices in the registers of a warp: gpu.subgroup_mma_*."""

from __future__ import annotations

from collections.abc import Iterator

from operations.operation_snippets import Snippet

FLOATS = ["addf", "subf", "mulf", "divf", "maxf", "minf"]
INTEGERS = ["addi", "subi", "muli", "divs", "divu"]
MEMREFS = {"f16": "%m16", "f32": "%m32", "f64": "%m64", "i32": "%mi32"}


def write_matrix(m: int, n: int, element: str, operand: str) -> str:
    return f'!gpu.mma_matrix<{m}x{n}x{element}, "{operand}">'


def write_load(name: str, matrix: str, element: str) -> str:
    memref = MEMREFS[element]
    return (
        f"{name} = gpu.subgroup_mma_load_matrix {memref}[%x, %x] {{leadDimension = 64 : index}} : "
        f"memref<64x64x{element}> -> {matrix}"
    )


def write_store(name: str, matrix: str, element: str) -> str:
    memref = MEMREFS[element]
    return (
        f"gpu.subgroup_mma_store_matrix {name}, {memref}[%x, %x] {{leadDimension = 64 : index}} : "
        f"{matrix}, memref<64x64x{element}>"
    )


def make_product(m: int, n: int, k: int, element: str, sums: str, chips: str) -> Snippet:
    a, b = write_matrix(m, k, element, "AOp"), write_matrix(k, n, element, "BOp")
    c = write_matrix(m, n, sums, "COp")
    lines = [
        write_load("%a", a, element),
        write_load("%b", b, element),
        write_load("%c", c, sums),
        f"%e = gpu.subgroup_mma_compute %a, %b, %c : {a}, {b} -> {c}",
        write_store("%e", c, sums),
    ]
    return Snippet("\n".join(lines), chips)


def make_elementwise(kind: str, element: str, operand: str, chips: str) -> Snippet:
    """`kind` on matrices of the accumulator, or of an operand."""
    shape = {"f64": (8, 8) if operand == "COp" else (8, 4), "f32": (16, 16)}.get(element, (16, 16))
    if element == "f32" and operand == "AOp":
        shape = (16, 8)
    matrix = write_matrix(*shape, element, operand)
    count = 1 if kind.startswith("neg") or kind == "extf" else 2
    args, types = ", ".join(["%a"] * count), ", ".join([matrix] * count)
    lines = [
        write_load("%a", matrix, element),
        f"%e = gpu.subgroup_mma_elementwise {kind} {args} : ({types}) -> {matrix}",
        write_store("%e", matrix, element) if operand == "COp" else use_operand(matrix, element),
    ]
    return Snippet("\n".join(lines), chips)


def use_operand(matrix: str, element: str) -> str:
    """A product of the operand `%e`."""
    n, m = {"f16": (16, 16), "f32": (16, 16), "f64": (8, 8)}[element]
    k = {"f16": 16, "f32": 8, "f64": 4}[element]
    b, c = write_matrix(k, n, element, "BOp"), write_matrix(m, n, element, "COp")
    lines = [
        write_load("%b", b, element),
        write_load("%c", c, element),
        f"%o = gpu.subgroup_mma_compute %e, %b, %c : {matrix}, {b} -> {c}",
        write_store("%o", c, element),
    ]
    return "\n".join(lines)


def make_constant(element: str, chips: str) -> Snippet:
    shape = (8, 8) if element == "f64" else (16, 16)
    value = "0" if element == "i32" else "0.0"
    matrix = write_matrix(*shape, element, "COp")
    lines = [
        f"%v = arith.constant {value} : {element}",
        f"%e = gpu.subgroup_mma_constant_matrix %v : {matrix}",
        write_store("%e", matrix, element),
    ]
    return Snippet("\n".join(lines), chips)


def make_thread_local() -> Iterator[Snippet]:
    matrix = write_matrix(16, 16, "f32", "COp")
    load, store = write_load("%a", matrix, "f32"), write_store("%e", matrix, "f32")
    yield Snippet(
        f"{load}\n%r = gpu.subgroup_mma_extract_thread_local %a[%x0] : {matrix} -> f32\n"
        "keep %r : f32",
        "none",
    )
    yield Snippet(
        f"{load}\n%e = gpu.subgroup_mma_insert_thread_local %f32, %a[%x0] : f32, {matrix} -> "
        f"{matrix}\n{store}",
        "none",
    )


def make_snippets() -> list[Snippet]:
    snippets = [
        make_product(16, 16, 16, "f16", "f16", "all"),
        make_product(16, 16, 16, "f16", "f32", "all"),
        make_product(32, 8, 16, "f16", "f32", "all"),
        make_product(8, 32, 16, "f16", "f16", "all"),
        make_product(16, 16, 8, "f32", "f32", "sm_80+"),
        make_product(8, 8, 4, "f64", "f64", "sm_80+"),
        make_product(16, 16, 8, "f16", "f32", "none"),
    ]
    every = [*FLOATS, "negatef", "extf", *INTEGERS, "negates"]
    for element, chips in [("f16", "all"), ("f32", "all"), ("f64", "sm_80+"), ("i32", "none")]:
        for kind in every:
            is_lowered = kind in FLOATS or kind == "negatef"
            if element == "f64":  # has no constant to multiply with
                is_lowered = kind in FLOATS and kind != "subf"
            snippets.append(make_elementwise(kind, element, "COp", chips if is_lowered else "none"))
        if element == "f64":
            chips = "none"
        snippets.append(make_constant(element, "all" if element == "i32" else chips))
    for kind in ["addf", "subf", "negatef"]:
        snippets.append(make_elementwise(kind, "f16", "AOp", "all"))
        snippets.append(make_elementwise(kind, "f32", "AOp", "none"))
        snippets.append(
            make_elementwise(kind, "f64", "AOp", "sm_80+" if kind == "addf" else "none")
        )
    return [*snippets, *make_thread_local()]
