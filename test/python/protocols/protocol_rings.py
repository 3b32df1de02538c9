"""Rings between a warp that fills slots and warps that read them, right and wrong.

Tiles of eight rows of 32 numbers go through a ring of slots. Each consumer, a warp, sums up the
columns of its share of the rows. Each way to fill, to read, to count and to let go has its text;
`mutants` changes one thing of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from corpus.kernels_bulk import barriers, tensor_map
from corpus.kernels_case import Array, Case, eighths, function, module

_TILE = "memref<8x32xf32, #wg>"
_MAP = tensor_map(_TILE)
_FENCE = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"


@dataclass(frozen=True)
class Ring:
    """A kernel of one producer warp behind its consumer warps."""

    slots: int = 3
    consumers: int = 2
    fills: Literal["tma", "store", "copy"] = "tma"
    """By TMA of one thread; by stores of all lanes; by cp.async of all lanes."""
    counts: Literal["iteration", "carried"] = "iteration"
    """Slot and parity follow from the number of the iteration, or are handed on."""
    lets_go: Literal["lane", "threads"] = "lane"
    """One lane of a warp arrives for it, or all of its threads do."""
    tiles: int = 0
    """0: as many as the kernel is given."""
    rounds: int = 0
    """So often all tiles go through the ring; 0 for once, without a loop around."""
    elects: bool = False
    """The hardware chooses the lane that has TMA copy."""

    @property
    def name(self) -> str:
        parts = [self.fills, f"{self.slots} slots", f"{self.consumers} consumers", self.counts]
        parts += [self.lets_go, f"{self.tiles} tiles" if self.tiles else "any number of tiles"]
        parts += [f"{self.rounds} rounds"] if self.rounds else []
        return ", ".join(parts + ["elected"] * self.elects)

    @property
    def block(self) -> int:
        return 32 * (self.consumers + 1)


def _advance(ring: Ring, kind: Literal["p", "c"]) -> tuple[str, str, str]:
    """Return the head of a loop over tiles, slot and parity in it, and its end."""
    first = "%odd" if kind == "p" else "%even"
    number, s, ph = f"%k{kind}", f"%slot{kind}", f"%phase{kind}"
    loop = f"scf.for {number} = %c0 to %n step %c1"
    carried = ring.counts == "carried"
    sums = kind == "c"
    args, types = [], []
    if carried:
        args += [f"{s} = %c0", f"{ph} = {first}"]
        types += ["index", "i1"]
    if sums:
        args, types = [*args, "%sum = %before"], [*types, "f32"]
    count = len(types)
    begin = f"%r{kind}:{count} = {loop} iter_args({', '.join(args)}) -> ({', '.join(types)}) {{\n"
    if not types:
        begin = f"{loop} {{\n"
    end = [f"{s}n, {ph}n"] * carried + ["%new"] * sums
    middle = ""
    if not carried:
        middle = f"""\
        {s} = arith.remui {number}, %c{ring.slots} : index
        %round{kind} = arith.divui {number}, %c{ring.slots} : index
        %bit{kind} = arith.remui %round{kind}, %c2 : index
        %par{kind} = arith.index_cast %bit{kind} : index to i1
        {ph} = arith.xori %par{kind}, {first} : i1
"""
    after = ""
    if carried:
        after = f"""\
        {s}1 = arith.addi {s}, %c1 : index
        {s}last = arith.cmpi eq, {s}1, %c{ring.slots} : index
        {s}n = arith.select {s}last, %c0, {s}1 : index
        {ph}n = arith.xori {ph}, {s}last : i1
"""
    if types:
        after += f"        scf.yield {', '.join(end)} : {', '.join(types)}\n"
    return begin + middle, after + "      }\n", f"%r{kind}"


def _fill(ring: Ring) -> str:
    group, slots = barriers(ring.slots), f"memref<{ring.slots}x8x32xf32, #wg>"
    slot = "memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>"
    row = """\
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
"""
    if ring.fills == "tma":
        return f"""\
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : {group}
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : {slots} to {slot}
{row}        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : {_MAP}, {group} -> {slot}
"""
    if ring.fills == "store":
        copies = f"""\
        scf.for %j = %c0 to %c8 step %c1 {{
          %at = arith.addi %row, %j : index
          %x = memref.load %in[%at, %lane] : memref<?x32xf32>
          memref.store %x, %w[%slotp, %j, %lane] : {slots}
        }}
"""
    else:
        copies = f"""\
        scf.for %j = %c0 to %c8 step %c1 {{
          %at = arith.addi %row, %j : index
          %t = nvgpu.device_async_copy %in[%at, %lane], %w[%slotp, %j, %lane], 1 :
              memref<?x32xf32> to {slots}
        }}
        nvvm.cp.async.commit.group
        nvvm.cp.async.wait.group 0
"""
    return f"{row}{copies}{_arrive(ring, 'full', 'p')}"


def _arrive(ring: Ring, name: str, kind: str) -> str:
    group = barriers(ring.slots)
    arrival = (
        f"%token{kind} = nvgpu.mbarrier.arrive %{name}[%slot{kind}] : "
        f"{group} -> !nvgpu.mbarrier.token\n"
    )
    if ring.lets_go == "threads":
        return f"        {arrival}"
    return f"""\
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {{
          {arrival}        }}
"""


def _roles(ring: Ring) -> tuple[str, str, str]:
    """Return what consumers do, what the producer does, and the sum of a consumer's column."""
    group, slots = barriers(ring.slots), f"memref<{ring.slots}x8x32xf32, #wg>"
    is_tma = ring.fills == "tma"
    begin_c, end_c, result = _advance(ring, "c")
    begin_p, end_p, _ = _advance(ring, "p")
    total = f"{result}#{2 if ring.counts == 'carried' else 0}"
    consume = f"""\
      {begin_c}        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : {group}
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {{
          %x = memref.load %w[%slotc, %i, %lane] : {slots}
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }}
{f"        {_FENCE}" if is_tma else ""}
{_arrive(ring, "empty", "c")}{end_c}"""
    produce = f"""\
      {begin_p}        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : {group}
{_fill(ring)}{end_p}"""
    if ring.rounds:
        return _repeat(ring, consume, produce)
    return consume, produce, total


def ring_text(ring: Ring) -> str:
    """Return the kernel."""
    group, slots = barriers(ring.slots), f"memref<{ring.slots}x8x32xf32, #wg>"
    rows = 8 // ring.consumers
    sums = f"memref<2x{32 * ring.consumers}xf32>"
    is_tma = ring.fills == "tma"
    per_warp = 1 if ring.lets_go == "lane" else 32
    full = 1 if is_tma else per_warp
    empty = ring.consumers * per_warp
    consume, produce, total = _roles(ring)
    chooses = "arith.andi %is_producer, %leads : i1"
    if ring.elects:
        chooses = "nvvm.elect.sync -> i1"
    if is_tma:
        produce = f"%chosen = {chooses}\n      scf.if %chosen {{\n{produce}      }}\n"
    count = f"    %n = arith.constant {ring.tiles} : index\n" if ring.tiles else ""
    body = f"""\
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant {full} : index
    %empty_count = arith.constant {empty} : index
{count}    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> {group}
    %empty = nvgpu.mbarrier.create -> {group}
    scf.if %first {{
      scf.for %j = %c0 to %c{ring.slots} step %c1 {{
        nvgpu.mbarrier.init %full[%j], %full_count : {group}
        nvgpu.mbarrier.init %empty[%j], %empty_count : {group}
      }}
      nvvm.fence.mbarrier.init
    }}
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c{ring.consumers} : index
    scf.if %is_producer {{
      {produce}    }} else {{
      %from = arith.muli %warp, %c{rows} : index
      %to = arith.addi %from, %c{rows} : index
      %before = arith.addf %zero, %zero : f32
{consume}      memref.store {total}, %sums[%bx, %tx] : {sums}
    }}
"""
    source = f"%map: {_MAP}" if is_tma else "%in: memref<?x32xf32> {llvm.noalias}"
    arguments = f"{source}, %sums: {sums} {{llvm.noalias}}"
    if not ring.tiles:
        arguments += ", %n: index"
    if ring.rounds:
        arguments += ", %rounds: index"
    return module(
        function("ring", arguments, body, block=(ring.block, 1, 1), buffers=f"%w: {slots}")
    )


def _repeat(ring: Ring, consume: str, produce: str) -> tuple[str, str, str]:
    """Put a loop around both, that hands slots and parities on."""
    assert ring.counts == "carried"

    def around(kind: str, first: str, body: str, sums: bool) -> str:
        inner = body.replace(f"%slot{kind} = %c0", f"%slot{kind} = %s{kind}")
        inner = inner.replace(f"%phase{kind} = {first}", f"%phase{kind} = %ph{kind}")
        inner = inner.replace("%sum = %before", "%sum = %so")
        more = ", %so = %before" if sums else ""
        types = "index, i1, f32" if sums else "index, i1"
        results = ", ".join(f"%r{kind}#{i}" for i in range(3 if sums else 2))
        return f"""\
      %o{kind}:{3 if sums else 2} = scf.for %round = %c0 to %rounds step %c1
          iter_args(%s{kind} = %c0, %ph{kind} = {first}{more}) -> ({types}) {{
{inner}        scf.yield {results} : {types}
      }}
"""

    return around("c", "%even", consume, True), around("p", "%odd", produce, False), "%oc#2"


def ring_case(ring: Ring, tiles: int = 7) -> Case:
    """Return the kernel with arguments, for tiles more than there are slots."""
    count = ring.tiles or tiles

    def make(rng: np.random.Generator) -> list[Any]:
        arguments: list[Any] = [
            eighths(rng, (2 * count * 8, 32)),
            eighths(rng, (2, 32 * ring.consumers)),
        ]
        arguments += [] if ring.tiles else [count]
        return arguments + ([ring.rounds] if ring.rounds else [])

    def expect(arguments: Sequence[Any]) -> dict[int, Array]:
        rows = 8 // ring.consumers
        parts = arguments[0].reshape(2, count, ring.consumers, rows, 32)
        sums = parts.sum(axis=(1, 3)).reshape(2, 32 * ring.consumers)
        return {1: sums * (ring.rounds or 1)}

    return Case(
        ring.name,
        ring_text(ring),
        "ring",
        grid=(2, 1, 1),
        block=(ring.block, 1, 1),
        make=make,
        expect=expect,
        tolerance=1e-5,
        chip="sm_90a",
    )


_LINES = re.compile(
    r"^ *(?:(?:%\w+ = )?nvgpu\.mbarrier\.(?:try_wait|arrive|init)|nvvm\.fence|nvvm\.bar\.warp|"
    r"gpu\.barrier|nvvm\.cp\.async\.(?:wait|commit)).*\n",
    re.M,
)
_CONSTANTS = re.compile(r"(%(?:bytes|full_count|empty_count) = arith\.constant )(\d+)")


def mutants(ring: Ring) -> Iterator[tuple[str, str]]:
    """Return what is changed, and the kernel, for each change."""
    text = ring_text(ring)
    for match in _LINES.finditer(text):
        name = " ".join(match.group().split(" : ")[0].split())
        yield f"without {name}", text[: match.start()] + text[match.end() :]
    for match in _CONSTANTS.finditer(text):
        for change in (1, -1):
            step = 16 if "bytes" in match[1] else 1
            value = int(match[2]) + change * step
            changed = f"{match[1]}{value}"
            yield f"{changed}", text[: match.start()] + changed + text[match.end() :]
    edits = [
        ("%odd = arith.constant true", "%odd = arith.constant false"),
        ("%even = arith.constant false", "%even = arith.constant true"),
        ("%w[%slotc,", "%w[%slotp_,"),
        ("%empty[%slotc]", "%empty[%c0]"),
        ("%full[%slotc]", "%full[%c0]"),
    ]
    for old, new in edits:
        if old in text and "%slotp_" not in new:
            yield f"{new} for {old}", text.replace(old, new, 1)
    yield from _other_sizes(ring, text)


def _other_sizes(ring: Ring, text: str) -> Iterator[tuple[str, str]]:
    """Let slots and parities be counted as if there were one slot less, or one more."""
    starts = ("%slot{} = arith.remui", "%round{} = arith.divui", "%slot{}last = arith.cmpi eq,")
    for start in (start.format(kind) for kind in "pc" for start in starts):
        pattern = re.compile(re.escape(start) + rf".*%c{ring.slots} : index")
        found = pattern.search(text)
        for size in (ring.slots - 1, ring.slots + 1) if found else ():
            if found is None or size < 1:
                continue
            line = found.group().replace(f"%c{ring.slots} ", "%other ")
            define = f"%other = arith.constant {size} : index\n        "
            yield f"{start} {size}", text[: found.start()] + define + line + text[found.end() :]


RINGS = (
    Ring(),
    Ring(counts="carried"),
    Ring(slots=2, lets_go="threads"),
    Ring(slots=4, consumers=4, counts="carried"),
    Ring(slots=1, consumers=1),
    Ring(tiles=5),
    Ring(tiles=200, counts="carried"),
    Ring(fills="store"),
    Ring(fills="store", counts="carried", lets_go="threads"),
    Ring(fills="copy", slots=2),
    Ring(fills="copy", slots=4, consumers=1, counts="carried"),
    Ring(counts="carried", rounds=3),
    Ring(elects=True),
)
