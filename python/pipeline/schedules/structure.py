"""The structure of a kernel in words: equal for kernels that take the same tiles."""

from __future__ import annotations

from collections.abc import Sequence

from .kernel import Chain, Contraction, Kernel, Op, Operand


def spell(kernel: Kernel) -> str:
    """Return the structure of a kernel, without the names and places of its program.

    All that tiles depend on is in it: operations with their loops, types and shapes, which of the
    loops blocks may share out, and what is chained.
    """
    shared = "".join("s" if one else "-" for one in kernel.shared)
    parts = [f"{kernel.kind} {shared}", *map(_spell_op, kernel.ops)]
    if kernel.chain is not None:
        parts.append(_spell_chain(kernel.chain))
    return "; ".join(parts)


def _spell_op(op: Op) -> str:
    loops = zip(op.extents, op.parallel, op.rows, strict=True)
    words = [op.kind, "[" + ",".join(_spell_loop(*loop) for loop in loops) + "]"]
    words += [_spell_operands(op.inputs), "->", _spell_operands(op.results), f"x{op.body_ops}"]
    flags = {"copy": op.is_copy, "combinable": op.is_combinable, "splittable": op.is_splittable}
    words += [name for name, is_set in flags.items() if is_set]
    if op.contraction is not None:
        words.append(_spell_contraction(op.contraction))
    return " ".join(words)


def _spell_loop(extent: int | None, is_parallel: bool, row: int | None) -> str:
    """Return ``1024p0``: the extent, parallel or a sum, the loop of the root that it goes with."""
    size = "?" if extent is None else str(extent)
    return f"{size}{'p' if is_parallel else 'r'}{'' if row is None else row}"


def _spell_operands(operands: Sequence[Operand]) -> str:
    return "(" + " ".join(map(_spell_operand, operands)) + ")"


def _spell_operand(operand: Operand) -> str:
    shape = "x".join("?" if extent is None else str(extent) for extent in operand.shape)
    loops = ",".join("-" if loop is None else str(loop) for loop in operand.loops)
    return f"{operand.element_type}:{shape}:{loops}"


def _spell_contraction(loops: Contraction) -> str:
    groups = zip("bmnk", (loops.batch, loops.m, loops.n, loops.k), strict=True)
    return " ".join(f"{name}{','.join(map(str, group))}" for name, group in groups)


def _spell_chain(chain: Chain) -> str:
    return "chain " + " ".join(map(str, chain))
