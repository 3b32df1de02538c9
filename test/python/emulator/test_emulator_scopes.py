"""Which atomic operations are at odds: PTX's scopes, and widths, against the definition."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Dim3, function, module

# How far operations of a scope reach: 0 is the own thread, then block, cluster and all.
REACH = {"singlethread": 0, "block": 1, "cluster": 2, "device": 3, "": 3}
PLAIN = -1


@dataclass(frozen=True)
class Access:
    """An access of a thread to `%p`, of 4 bytes unless it is `wide`."""

    form: str
    scope: str = ""
    wide: bool = False

    @property
    def reach(self) -> int:
        """How far it is atomic; a plain access is to nobody."""
        if self.form in ("read", "write"):
            return PLAIN
        return 3 if self.form == "volatile" else REACH[self.scope]

    @property
    def writes(self) -> bool:
        return self.form not in ("read", "load", "volatile")

    def print(self, space: str) -> str:
        scope = f'syncscope("{self.scope}") ' if self.scope else ""
        value, kind, size = ("%two", "i64", 8) if self.wide else ("%one", "i32", 4)
        pointer, align = f"!llvm.ptr{space}", f"{{alignment = {size} : i64}}"
        return {
            "read": f"%r = llvm.load %p : {pointer} -> {kind}",
            "write": f"llvm.store %mine, %p : i32, {pointer}",
            "load": f"%r = llvm.load %p atomic {scope}monotonic {align} : {pointer} -> {kind}",
            "store": f"llvm.store {value}, %p atomic {scope}monotonic {align} : {kind}, {pointer}",
            "volatile": f"%r = llvm.load volatile %p {align} : {pointer} -> {kind}",
            "add": f"%r = llvm.atomicrmw add %p, {value} {scope}monotonic : {pointer}, {kind}",
            "swap": f"%r = llvm.cmpxchg %p, {value}, {value} {scope}monotonic monotonic"
            f" : {pointer}, {kind}",
        }[self.form]


def are_at_odds(first: Access, second: Access, distance: int) -> bool:
    """Return whether two accesses that nothing orders race, `distance` being the smallest scope
    that has both threads: 1 a block, 2 a cluster, 3 the launch."""
    if not (first.writes or second.writes):
        return False
    are_same = first.wide == second.wide
    return not are_same or min(first.reach, second.reach) < distance


def make(accesses: list[Access], space: str) -> str:
    """Return a kernel in which thread n of all threads of the launch makes access n."""
    lines = ["%one = arith.constant 1 : i32", "%two = arith.constant 2 : i64"]
    lines += [
        "%first = arith.muli %bx, %nx : index",
        "%id = arith.addi %first, %tx : index",
        "%mine = arith.index_cast %id : index to i32",
    ]
    source = "%w : memref<1xi64, #wg>" if space else "%a : memref<1xi64>"
    lines += [
        f"%p0 = memref.extract_aligned_pointer_as_index {source} -> index",
        "%p1 = arith.index_cast %p0 : index to i64",
        f"%p = llvm.inttoptr %p1 : i64 to !llvm.ptr{space}",
    ]
    if space:
        lines += [
            "%is_first = arith.cmpi eq, %tx, %c0 : index",
            "scf.if %is_first {",
            "  memref.store %two, %w[%c0] : memref<1xi64, #wg>",
            "}",
            "gpu.barrier",
        ]
    for number, access in enumerate(accesses):
        lines += [
            f"%n{number} = arith.constant {number} : index",
            f"%is{number} = arith.cmpi eq, %id, %n{number} : index",
            f"scf.if %is{number} {{",
            f"  {access.print(space)}",
            # Nobody reads what an unused read has read.
            f"  memref.store %r, %b[%n{number}] : memref<8xi32>" if access.form == "read" else "",
            "}",
        ]
    body = "\n".join(f"    {line}" for line in lines)
    buffers = "%w: memref<1xi64, #wg>" if space else ""
    return module(function("k", "%a: memref<1xi64>, %b: memref<8xi32>", body, buffers=buffers))


def arguments() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(1, np.int64), np.zeros(8, np.int32)


def launch(
    kernel: pipeline.Kernel, grid: int, block: int, cluster: int, **options: object
) -> set[str]:
    report = kernel.emulate(
        *arguments(),
        grid=grid,
        block=block,
        cluster=cluster,
        options=pipeline.Options(check="races", **options),  # type: ignore[arg-type]
    )
    return {finding.kind for finding in report.findings}


def compiled(accesses: list[Access], space: str = "") -> pipeline.Kernel:
    text = make(accesses, space)
    return pipeline.compile(text, chip="sm_90", until="llvm", sync="keep", verify=False).kernels[
        "k"
    ]


FORMS = ("add", "load", "store", "swap")
# A scope of each form is enough where the rule looks at no more than the scope.
KINDS = (
    Access("read"),
    Access("write"),
    Access("volatile"),
    *(Access("add", scope) for scope in REACH),
    *(Access(form, scope) for form in FORMS[1:] for scope in ("block", "device")),
    Access("add", "device", wide=True),
)
# How far two threads are from each other, and their launch: distance, grid, block, cluster.
PLACES = ((1, 1, 2, 1), (2, 2, 1, 2), (3, 2, 1, 1))
ORDERS = ("forward", "reverse")


@pytest.mark.parametrize("number", range(len(KINDS)), ids=[str(kind) for kind in KINDS])
def test_pairs_in_global_memory(number: int) -> None:
    for second in KINDS[number:]:
        kernel = compiled([KINDS[number], second])
        for (distance, *sizes), order in itertools.product(PLACES, ORDERS):
            odds = are_at_odds(KINDS[number], second, distance)
            kind = "race.global" if distance == 1 else "race.blocks"
            kinds = launch(kernel, *sizes, order=order)
            assert kinds == ({kind} if odds else set()), (second, sizes, order)


@pytest.mark.parametrize("number", range(len(KINDS)), ids=[str(kind) for kind in KINDS])
def test_pairs_in_workgroup_memory(number: int) -> None:
    for second in KINDS[number:]:
        kernel = compiled([KINDS[number], second], "<3>")
        odds = are_at_odds(KINDS[number], second, 1)
        for order in ORDERS:
            kinds = launch(kernel, 1, 2, 1, order=order)
            assert kinds == ({"race.shared"} if odds else set()), (second, order)


@pytest.mark.parametrize("seed", range(40))
def test_one_of_many(seed: int) -> None:
    """What an access is at odds with is not forgotten for others that it is not at odds with."""
    rng = random.Random(seed)
    forms = ("add", "add", "add", "load", "store")
    scopes = rng.choice([("device", "device", "block"), ("device", "cluster"), tuple(REACH)])
    grid, block, cluster = rng.choice([(1, 8, 1), (2, 4, 1), (4, 2, 2), (8, 1, 2), (8, 1, 4)])
    accesses = [Access(rng.choice(forms), rng.choice(scopes)) for _ in range(8)]
    odds = any(
        are_at_odds(accesses[i], accesses[j], distance(i, j, block, cluster))
        for i, j in itertools.combinations(range(8), 2)
    )
    kernel = compiled(accesses)
    for order in ("forward", "reverse", "seeded"):
        for workers in (1, 2):
            kinds = launch(kernel, grid, block, cluster, order=order, seed=seed, workers=workers)
            assert bool(kinds) == odds, (accesses, grid, block, cluster)


def distance(first: int, second: int, block: int, cluster: int) -> int:
    if first // block == second // block:
        return 1
    return 2 if first // (block * cluster) == second // (block * cluster) else 3


def test_a_wider_access_of_the_same_thread_hides_no_narrow_one() -> None:
    """Thread 0 adds for its block, and then for all: the other block is at odds with the first."""
    narrow, wide = Access("add", "block"), Access("add", "device")
    text = make([wide, wide], "").replace(
        f"  {wide.print('')}",
        f"  {narrow.print('').replace('%r', '%q')}\n      {wide.print('')}",
        1,
    )
    kernel = pipeline.compile(text, chip="sm_90", until="llvm", sync="keep", verify=False).kernels[
        "k"
    ]
    assert launch(kernel, 2, 1, 1) == {"race.blocks"}
    assert launch(kernel, 1, 2, 1) == set()


def test_a_barrier_hides_no_narrow_access_from_other_blocks() -> None:
    """A later wide access of the block, behind a barrier, does not stand for a narrow one."""
    narrow, wide = Access("add", "block"), Access("add", "device")
    text = make([narrow, wide, wide], "").replace(
        "    %n1 = arith.constant", "    gpu.barrier\n    %n1 = arith.constant", 1
    )
    kernel = pipeline.compile(text, chip="sm_90", until="llvm", sync="keep", verify=False).kernels[
        "k"
    ]
    assert launch(kernel, 2, 2, 1) == {"race.blocks"}


def test_what_is_said() -> None:
    accesses = [Access("add", "block"), Access("add", "device")]
    report = compiled(accesses).emulate(
        *arguments(), grid=2, block=1, options=pipeline.Options(check="races")
    )
    (finding,) = report.findings
    assert "two atomic updates of different blocks" in finding.message
    assert "the narrower scope of these is 'block'" in report.rendered
    accesses = [Access("add", "device", wide=True), Access("add", "device")]
    report = compiled(accesses).emulate(
        *arguments(), grid=2, block=1, options=pipeline.Options(check="races")
    )
    assert "these are of 4 and 8" in report.rendered or "these are of 8 and 4" in report.rendered


@pytest.mark.parametrize("grid", [(4, 1, 1), (1, 4, 1), (1, 2, 2)])
def test_clusters_of_any_shape(grid: Dim3) -> None:
    """Blocks are of one cluster along each of the axes."""
    text = make([Access("add", "cluster")] * 4, "").replace(
        "%first = arith.muli %bx, %nx : index",
        "%g0 = arith.muli %bz, %gy : index\n    %g1 = arith.addi %g0, %by : index\n"
        "    %g2 = arith.muli %g1, %gx : index\n    %first = arith.addi %g2, %bx : index",
    )
    text = text.replace(
        "    %one =",
        "    %bz = gpu.block_id z\n    %by = gpu.block_id y\n"
        "    %gx = gpu.grid_dim x\n    %gy = gpu.grid_dim y\n    %one =",
        1,
    )
    kernel = pipeline.compile(text, chip="sm_90", until="llvm", sync="keep", verify=False).kernels[
        "k"
    ]
    for cluster, expected in ((grid, set()), ((1, 1, 1), {"race.blocks"})):
        report = kernel.emulate(
            *arguments(),
            grid=grid,
            block=1,
            cluster=cluster,
            options=pipeline.Options(check="races"),
        )
        assert {finding.kind for finding in report.findings} == expected
