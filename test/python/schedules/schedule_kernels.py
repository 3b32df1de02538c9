"""Kernels and chips that schedules are chosen for in tests."""

from __future__ import annotations

from pipeline.schedules import Chain, Contraction, Kernel, Op, Operand, Target

A100 = Target("sm_80", 108, 163 << 10)
SMALL = Target("sm_75", 40, 64 << 10, system_bytes=0, threads=1024)
H100 = Target("sm_90a", 132, 227 << 10)
RTX = Target("sm_86", 84, 99 << 10, threads=1536)

Extents = tuple[int | None, ...]


def operand(loops: tuple[int | None, ...], extents: Extents, kind: str = "f32") -> Operand:
    shape = tuple(None if loop is None else extents[loop] for loop in loops)
    return Operand(kind, int(kind.strip("fibE")), shape, loops)


def pointwise(extents: Extents, *inputs: tuple[int, ...], kind: str = "f32") -> Kernel:
    """Return a kernel of element-wise work, with the loops along the dimensions of each input."""
    loops = tuple(range(len(extents)))
    op = Op(
        "elementwise",
        (True,) * len(extents),
        extents,
        loops,
        tuple(operand(places, extents, kind) for places in inputs or (loops,)),
        (operand(loops, extents, kind),),
    )
    return Kernel("main_0", '"main_0"', "elementwise", (op,), (True,) * len(extents))


def reduction(extents: Extents, sums: tuple[int, ...], *, combinable: bool = True) -> Kernel:
    """Return a kernel that reads all extents, contiguous along the last, and sums along `sums`."""
    loops = tuple(range(len(extents)))
    parallel = tuple(loop not in sums for loop in loops)
    kept = tuple(loop for loop in loops if parallel[loop])
    op = Op(
        "reduction",
        parallel,
        extents,
        tuple(loop if parallel[loop] else None for loop in loops),
        (operand(loops, extents),),
        (operand(kept, extents),),
        is_combinable=combinable,
        is_splittable=combinable,
    )
    return Kernel("main_0", '"main_0"', "reduction", (op,), parallel)


def softmax(rows: int | None, columns: int | None) -> Kernel:
    """Return a kernel of two sums along rows, and of what is element by element between them."""
    extents = (rows, columns)

    def op(kind: str, result: tuple[int, ...]) -> Op:
        is_sum = kind == "reduction"
        return Op(
            kind,  # type: ignore[arg-type]
            (True, not is_sum),
            extents,
            (0, None),
            (operand((0, 1), extents),),
            (operand(result, extents),),
            is_combinable=is_sum,
        )

    ops = (
        op("reduction", (0,)),
        op("elementwise", (0, 1)),
        op("reduction", (0,)),
        op("elementwise", (0, 1)),
    )
    return Kernel("main_0", '"main_0"', "reduction", ops, (True, False))


def matmul(
    m: int | None, n: int | None, k: int | None, *, batch: int | None = 1, kind: str = "f32"
) -> Kernel:
    """Return a kernel of a matmul; in a batch, if that is not 1."""
    extents: Extents = (batch, m, n, k)
    op = Op(
        "contraction",
        (True, True, True, False),
        extents,
        (0, 1, 2, None),
        (operand((0, 1, 3), extents, kind), operand((0, 3, 2), extents, kind)),
        (operand((0, 1, 2), extents, kind),),
        is_combinable=True,
        is_splittable=True,
        contraction=Contraction((0,), (1,), (2,), (3,)),
    )
    return Kernel("main_0", '"main_0"', "contraction", (op,), (True, True, True, False))


def chain(heads: int, rows: int | None, keys: int, width: int) -> Kernel:
    """Return a kernel of two contractions, with the row of one kept for the other."""
    first: Extents = (heads, rows, keys, width)
    second: Extents = (heads, rows, width, keys)
    ops = [
        Op(
            "contraction",
            (True, True, True, False),
            extents,
            (0, 1, None, None),
            (operand((0, 1, 3), extents), operand((0, 3, 2), extents)),
            (operand((0, 1, 2), extents),),
            is_combinable=True,
            contraction=Contraction((0,), (1,), (2,), (3,)),
        )
        for extents in (first, second)
    ]
    bytes_of = Chain(0, 1, 1, 4 * keys + 128, 64 * (min(keys, 128) + width))
    shared = (True, True, False, False)
    return Kernel("main_0", '"main_0"', "contraction", tuple(ops), shared, bytes_of)
