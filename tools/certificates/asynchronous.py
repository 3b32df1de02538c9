"""Instructions of kernels that hand memory over by mbarriers, and of units that work by themselves.

TMA fills memory and counts bytes on an mbarrier, or stores what is there; warp groups multiply what
lies in memory; fences let such units see what threads have written. Barriers of part of the block
are here too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from certificates.ir import Instruction, NotUnderstood, Operand

Kind = Literal[
    "init", "arrive", "expect", "try", "transfer", "proxy", "init fence", "product",
    "commit products", "wait products", "store", "commit stores", "wait stores", "meet", "signal",
    "elect", "nothing",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Async:
    """What such an instruction does.

    ``operands``: of `init`, the mbarrier and the count; `arrive`, the mbarrier; `expect`, it and
    the bytes; `try`, which waits for a phase, it and the parity; `transfer`, the destination, the
    mbarrier and the tensor map; `product`, the descriptors of matrices that lie in memory; `store`,
    the source and the tensor map; `meet`, at a barrier of part of the block, and `signal`, which
    does not wait there, its number and the threads that it counts.
    ``tiles``: of `product`, rows and columns of these in elements, and whether the rows are those
    that are summed; ``pending``: groups that may go on.
    """

    kind: Kind
    operands: tuple[Operand, ...] = ()
    tiles: tuple[tuple[int, int, bool], ...] = ()
    pending: int = 0


_CALLS: dict[str, Kind] = {
    "mbarrier.init.shared": "init",
    "mbarrier.arrive.shared": "arrive",
    "mbarrier.arrive.expect.tx.scope.cta.space.cta": "expect",
    "fence.mbarrier_init.release.cluster": "init fence",
    "fence.proxy.async.shared_cta": "proxy",
    "wgmma.fence.sync.aligned": "nothing",
    "wgmma.commit_group.sync.aligned": "commit products",
    "wgmma.wait_group.sync.aligned": "wait products",
    "cp.async.bulk.commit.group": "commit stores",
    "cp.async.bulk.wait.group": "wait stores",
    "cp.async.bulk.wait.group.read": "wait stores",
    "barrier.cta.sync.aligned.count": "meet",
    "barrier.cta.sync.count": "meet",
    "barrier.cta.arrive.aligned.count": "signal",
    "barrier.cta.arrive.count": "signal",
    "elect.sync": "elect",
    "setmaxnreg.inc.sync.aligned.u32": "nothing",
    "setmaxnreg.dec.sync.aligned.u32": "nothing",
}
_TRY = re.compile(
    r'asm sideeffect "\{\\0A\\09\.reg \.pred +P1; \\0A\\09LAB_WAIT: \\0A\\09'
    r"mbarrier\.try_wait\.parity\.shared\.b64 P1, \[\$0\], \$1, \$2; \\0A\\09"
    r"@P1 bra\.uni DONE; \\0A\\09bra\.uni +LAB_WAIT; \\0A\\09DONE: \\0A\\09\}\","
    + r' "r,[rn],[rn]"\('
)
_PRODUCT = re.compile(
    r'asm sideeffect "\{\\0A\.reg \.pred p;\\0Asetp\.ne\.b32 p, \$(\d+), 0;\\0A'
    r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k(\d+)\.\w+\.(f16|bf16)\.(f16|bf16) "
    r"\{([$\d, ]+)\}, \$(\d+), \$(\d+), p, \$(\d+),  \$(\d+), \$(\d+),  \$(\d+);\\0A\}\\0A\", "
)
_STORE = re.compile(r"cp\.async\.bulk\.tensor\.(s2g|reduce\.\w+)\.tile\.")
_MOVE = re.compile(r'asm sideeffect "", "')
"""Ties registers to their place: it does nothing."""


def find_async(line: Instruction) -> Async | None:
    """What an instruction does of this kind; None if it is of another one."""
    if line.op != "call":
        return None
    if line.callee == "asm":
        return _find_assembly(line)
    name = line.callee.removeprefix("@llvm.nvvm.")
    if name.startswith("cp.async.bulk.tensor.g2s.tile."):
        return _find_transfer(line)
    if _STORE.match(name):
        return Async("store", line.operands[:2])
    kind = _CALLS.get(name)
    if kind is None:
        return None
    if kind in ("wait products", "wait stores"):
        if line.operands[0].kind != "int" or line.operands[0].number < 0:
            raise NotUnderstood(f"line {line.line}: a wait for no number of groups")
        return Async(kind, pending=line.operands[0].number)
    return Async(kind, line.operands)


def _find_transfer(line: Instruction) -> Async:
    target, barrier, tensor_map = line.operands[:3]
    last = line.operands[-1]
    flags = [operand for operand in line.operands if operand.type.bits == 1]
    if len(flags) != 2 or any(flag.kind != "int" or flag.number for flag in flags):
        raise NotUnderstood(f"line {line.line}: a transfer to several blocks")
    if last.kind != "int" or last.number:
        raise NotUnderstood(f"line {line.line}: a transfer by several blocks")
    return Async("transfer", (target, barrier, tensor_map))


def _find_assembly(line: Instruction) -> Async | None:
    if _TRY.search(line.text):
        return Async("try", line.operands[:2])
    if _MOVE.search(line.text):
        return Async("nothing")
    match = _PRODUCT.search(line.text)
    if match is None:
        return None
    results = len(match[6].split(","))
    numbers = [int(match[group]) - 2 * results for group in (7, 8, 1, 9, 10, 11, 12)]
    columns, depth = int(match[2]), int(match[3])
    rest = line.operands[results:]
    if numbers != list(range(7)) or len(rest) != 7 or results != columns // 2 or depth != 16:
        raise NotUnderstood(f"line {line.line}: a product of another form")
    turned = [operand.number != 0 for operand in rest[5:]]
    if any(operand.kind != "int" for operand in rest[2:]):
        raise NotUnderstood(f"line {line.line}: a product of another form")
    tiles = ((64, depth, turned[0]), (columns, depth, turned[1]))
    return Async("product", rest[:2], tiles)


ATOMS = {1: 128, 2: 64, 3: 32}
"""Bytes of a row of an atom by the way that it is swizzled; an atom has eight rows."""


def find_atoms(descriptor: int, extent: int, depth: int, turned: bool) -> tuple[list[int], int]:
    """Where the atoms of a matrix are that a descriptor is of, and the bytes of one.

    ``extent``: its rows, of ``depth`` elements of 16 bits; if `turned`, those lie the other way.
    What is swizzled stays in its atom, so that all of an atom counts as read.
    """
    width = ATOMS.get(descriptor >> 62)
    start = (descriptor & 0x3FFF) << 4
    leading, stride = ((descriptor >> at & 0x3FFF) << 4 for at in (16, 32))
    if width is None or descriptor >> 49 & 7:
        raise NotUnderstood("a matrix that is not swizzled, or that begins within an atom")
    size = 8 * width
    if not turned:
        if start % width + 2 * depth > width:
            raise NotUnderstood("a matrix over several atoms of its rows")
        first = start - start % size
        if first + width <= start:
            raise NotUnderstood("a matrix that begins within an atom")
        return [first + number * stride for number in range(extent // 8)], size
    if start % size or 2 * extent % width:
        raise NotUnderstood("a matrix that begins within an atom")
    across, along = 2 * extent // width, depth // 8
    return [start + i * leading + j * stride for i in range(across) for j in range(along)], size
