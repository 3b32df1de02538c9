"""Wrong variants of the kernels of the corpus, each by one edit, and what is found in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from corpus.kernels_case import Case
from corpus.kernels_mbarrier import TWO

Kind = Literal["race", "not-waited", "out-of-bounds", "divergence", "phase", "deadlock", "proxy"]


@dataclass(frozen=True)
class Mutant:
    """A wrong kernel; to be compiled without the check of barriers."""

    name: str
    text: str
    kind: Kind
    """What has to be among the findings; there may be others."""


# Edits that are no mistake, or one that the compiler refuses, by case and name, and why.
_REFUSED = "the compiler refuses it: ldmatrix would leave the buffer"
_HANGS = "some wait for a flag, others at the barrier, until the limit of steps"
EXCEPTIONS = {
    ("ring of three slots with a single iteration", "shorter memref<3x96xf32, #wg>"): (
        "a single iteration uses the first slot only"
    ),
    ("volatile flag", "barrier 0 in a branch"): _HANGS,
    ("relaxed flag", "barrier 0 in a branch"): _HANGS,
    ("released flag", "barrier 0 in a branch"): _HANGS,
    ("producer and consumer", "barrier 0 left out"): (
        "whether it hangs or races depends on which warp is first"
    ),
    ("compaction", "shorter memref<70xi32, #wg>"): "as many of it are used as numbers are odd",
    ("mma f16 to f32", "shorter memref<16x24xf16, #wg>"): _REFUSED,
    ("mma f16 to f32", "shorter memref<16x8xf16, #wg>"): _REFUSED,
    ("mma f16 to f16", "shorter memref<16x24xf16, #wg>"): _REFUSED,
    ("mma f16 to f16", "shorter memref<16x8xf16, #wg>"): _REFUSED,
    ("mma tf32", "shorter memref<16x12xf32, #wg>"): _REFUSED,
    ("mma s8", "shorter memref<16x64xi8, #wg>"): _REFUSED,
}

_BARRIER = re.compile(r"^ *(?:gpu\.barrier|nvvm\.bar\.warp\.sync .*|nvvm\.barrier id .*)\n", re.M)
_WAIT = re.compile(
    r"(?P<op>nvgpu\.device_async_wait %\w+|nvvm\.cp\.async\.wait\.group)"
    r"(?: \{numGroups = (?P<groups>\d+) : i32\}| (?P<count>\d+))?$",
    re.M,
)
_COMMIT = re.compile(r"^ *nvvm\.cp\.async\.(?:bulk\.)?commit\.group\n", re.M)
_BULK_WAIT = re.compile(r"^ *nvvm\.cp\.async\.bulk\.wait_group \d+(?: \{read\})?\n", re.M)
_PHASE = re.compile(r"^ *nv(?:gpu|vm)\.mbarrier\.try_wait\.parity (?P<b>[^,]+), (?P<p>%\w+)", re.M)
_ARRIVE = re.compile(
    r"^ *(?:%\w+ = )?nv(?:gpu|vm)\.(?:mbarrier\.arrive|cp\.async\.mbarrier\.arrive)\b.*\n", re.M
)
_INIT = re.compile(r"(?P<op>nvgpu\.mbarrier\.init %\w+\[%\w+\], %c)(?P<count>\d+)")
_PROXY = re.compile(r"^ *nvvm\.fence\.proxy .*\n", re.M)
_INIT_FENCE = re.compile(r"^ *nvvm\.fence\.mbarrier\.init\n", re.M)
_BYTES = re.compile(r"(?P<name>%(?:bytes|count)) = arith\.constant (?P<value>\d+)(?P<type> : \w+)")
_FENCE = re.compile(r"^ *nvvm\.memory\.barrier <\w+>\n", re.M)
_ORDER = re.compile(r"\b(?:acquire|release)\b")
_BUFFER = re.compile(r"memref<(?P<rows>\d+)(?P<rest>x[\w<>]+), #wg>")

# Threads of even x go there, the others do not.
_BRANCH = """\
    %even_x = gpu.thread_id x
    %even_0 = arith.constant 0 : index
    %even_2 = arith.constant 2 : index
    %even_rest = arith.remui %even_x, %even_2 : index
    %even = arith.cmpi eq, %even_rest, %even_0 : index
    scf.if %even {{
{line}    }}
"""


def _barriers(case: Case) -> Iterator[Mutant]:
    """Leave each barrier out, and put each behind a branch on the thread."""
    for n, match in enumerate(_BARRIER.finditer(case.text)):
        before, after = case.text[: match.start()], case.text[match.end() :]
        yield Mutant(f"barrier {n} left out", before + after, "race")
        if case.block[0] > 1:
            branch = _BRANCH.format(line=match.group())
            yield Mutant(f"barrier {n} in a branch", before + branch + after, "divergence")


def _waits(case: Case) -> Iterator[Mutant]:
    """Let each wait leave one more group under way, leave it out, and leave commits out."""
    for n, match in enumerate(_WAIT.finditer(case.text)):
        before, after = case.text[: match.start()], case.text[match.end() :]
        more = int(match["groups"] or match["count"] or 0) + 1
        is_raw = match["op"].startswith("nvvm")
        wait = f"{match['op']} {more}" if is_raw else f"{match['op']} {{numGroups = {more} : i32}}"
        yield Mutant(f"wait {n} for one group less", before + wait + after, "not-waited")
        yield Mutant(f"wait {n} left out", before + after, "not-waited")
    for n, match in enumerate(_COMMIT.finditer(case.text)):
        text = case.text[: match.start()] + case.text[match.end() :]
        yield Mutant(f"commit {n} left out", text, "not-waited")


def _fences(case: Case) -> Iterator[Mutant]:
    """Leave each fence out, and let each atomic operation order nothing but itself."""
    for n, match in enumerate(_FENCE.finditer(case.text)):
        text = case.text[: match.start()] + case.text[match.end() :]
        yield Mutant(f"fence {n} left out", text, "race")
    for n, match in enumerate(_ORDER.finditer(case.text)):
        text = case.text[: match.start()] + "monotonic" + case.text[match.end() :]
        yield Mutant(f"order {n} loosened", text, "race")


def _phases(case: Case) -> Iterator[Mutant]:
    """Leave waits and arrivals at mbarriers out, and let waits name the other phase."""
    text = case.text
    for n, match in enumerate(_BULK_WAIT.finditer(text)):
        without = text[: match.start()] + text[match.end() :]
        yield Mutant(f"bulk wait {n} left out", without, "not-waited")
    for n, match in enumerate(_PHASE.finditer(text)):
        before, after = text[: match.start()], text[match.end() :]
        rest = after.partition("\n")[2]
        yield Mutant(f"phase {n} not waited for", before + rest, "phase")
        width = "i32" if "i32" in after.partition("\n")[0] else "i1"
        value = "1" if width == "i32" else "true"
        flip = (
            f"    %one_{n} = arith.constant {value}{' : i32' if width == 'i32' else ''}\n"
            f"    %flip_{n} = arith.xori {match['p']}, %one_{n} : {width}\n"
        )
        wait = match.group()[: -len(match["p"])] + f"%flip_{n}"
        yield Mutant(f"phase {n} of the other parity", before + flip + wait + after, "phase")
    for n, match in enumerate(_ARRIVE.finditer(text)):
        result = re.match(r" *(%\w+) =", match.group())
        if result and text.count(f"{result[1]} ") + text.count(f"{result[1]},") > 1:
            continue  # something waits for the state that it gives
        without = text[: match.start()] + text[match.end() :]
        yield Mutant(f"arrival {n} left out", without, "phase")


def _counts(case: Case) -> Iterator[Mutant]:
    """Let mbarriers count wrongly, and leave fences of the proxy out."""
    text = case.text
    for n, match in enumerate(_INIT.finditer(text)):
        before, after = text[: match.start()], text[match.end() :]
        for change in (1, -1):
            count = int(match["count"]) + change
            define = f"    %count_{n} = arith.constant {count} : index\n"
            start = before.rfind("\n") + 1
            init = match["op"].removesuffix("c") + f"count_{n}"
            changed = before[:start] + define + before[start:] + init + after
            yield Mutant(f"count {n} changed by {change}", changed, "phase")
    for n, match in enumerate(_BYTES.finditer(text)):
        for change in (16, -16):
            value = int(match["value"]) + change
            changed = f"{match['name']} = arith.constant {value}{match['type']}"
            yield Mutant(
                f"bytes {n} changed by {change}",
                text[: match.start()] + changed + text[match.end() :],
                "deadlock",
            )
    for n, match in enumerate(_PROXY.finditer(text)):
        without = text[: match.start()] + text[match.end() :]
        yield Mutant(f"proxy fence {n} left out", without, "proxy")
    # Threads alone know of an mbarrier without it.
    is_bulk = "nvgpu.tma.async.load" in text or "nvvm.cp.async.bulk.shared" in text
    for n, match in enumerate(_INIT_FENCE.finditer(text) if is_bulk else ()):
        without = text[: match.start()] + text[match.end() :]
        yield Mutant(f"init fence {n} left out", without, "proxy")


def _buffers(case: Case) -> Iterator[Mutant]:
    """Make each buffer one row shorter, except where copies need its shape."""
    if "linalg." in case.text or "memref.copy" in case.text:
        return
    kinds = {match.group(): match for match in _BUFFER.finditer(case.text)}
    for kind, match in kinds.items():
        rows = int(match["rows"])
        is_box = f"tensor = {kind}" in case.text or f"into {kind}" in case.text
        if rows > 1 and not is_box:
            shorter = f"memref<{rows - 1}{match['rest']}, #wg>"
            text = case.text.replace(kind, shorter)
            yield Mutant(f"shorter {kind}", text, "out-of-bounds")


Edit = tuple[str, str, str, Kind]
_HISTOGRAM = "memref.atomic_rmw addi %one, %w[%bin] : (i32, memref<40xi32, #wg>) -> i32"
_HISTOGRAM_RACY = """memref.load %w[%bin] : memref<40xi32, #wg>
      %new = arith.addi %old, %one : i32
      memref.store %new, %w[%bin] : memref<40xi32, #wg>"""
_ATOMIC = "memref.atomic_rmw addi %v, %i32[%c0] : (i32, memref<4xi32>) -> i32"
_ATOMIC_RACY = """memref.load %i32[%c0] : memref<4xi32>
      %new = arith.addi %r0, %v : i32
      memref.store %new, %i32[%c0] : memref<4xi32>"""


_ONE_ARRIVES = f"""\
      scf.if %first {{
        %all = arith.constant 64 : i32
        %p = nvgpu.mbarrier.get %b[%c0] : {TWO} -> i32
        %q = llvm.inttoptr %p : i32 to !llvm.ptr<3>
        %s = nvvm.mbarrier.arrive %q, %all : !llvm.ptr<3> -> i64
      }}
"""
_SLOT_WAIT = "      nvgpu.mbarrier.try_wait.parity %full[%slot]"
_OTHER_SLOT_WAIT = """\
      %after = arith.addi %k, %c1 : index
      %wrong = arith.remui %after, %c3 : index
      nvgpu.mbarrier.try_wait.parity %full[%wrong]"""


def _off_by_one(index: str, bound: str) -> tuple[str, str]:
    old = f"arith.cmpi ult, %{index}, %{bound} : index"
    return old, old.replace("ult", "ule")


# By the name of the case: name, text, its replacement, kind.
EDITS: dict[str, tuple[Edit, ...]] = {
    "matmul of dynamic extents": (("a row too many", *_off_by_one("i", "m"), "out-of-bounds"),),
    "transpose": (("a row too many", *_off_by_one("i", "c70"), "out-of-bounds"),),
    "stencil": (
        ("a load too many", *_off_by_one("at", "n"), "out-of-bounds"),
        ("a store too many", *_off_by_one("i", "n"), "out-of-bounds"),
    ),
    "steps in two buffers": (
        ("one buffer", "arith.remui %i, %c2", "arith.remui %i, %c1", "race"),
        ("no neighbour", "((t + 1) mod 96)", "(t + 97)", "out-of-bounds"),
    ),
    "copy and reverse": (
        (
            "a column too far",
            "%c27 = arith.constant 27",
            "%c27 = arith.constant 28",
            "out-of-bounds",
        ),
    ),
    "ragged copies": (
        ("a row too many", "(16, m - b * 16)", "(16, m - b * 16 + 1)", "out-of-bounds"),
    ),
    "tree reduction": (
        ("a load too many", "(b * 256 + 256, n)", "(b * 256 + 256, n + 1)", "out-of-bounds"),
        ("all blocks in one place", "%sums[%bx]", "%sums[%c0]", "race"),
    ),
    "scan": (("one buffer", "arith.subi %c1, %slot", "arith.addi %slot, %c0", "race"),),
    "histogram": (
        ("no atomics", _HISTOGRAM, _HISTOGRAM_RACY, "race"),
        ("too many bins", "%number, %c40", "%number, %c96", "out-of-bounds"),
    ),
    "atomics": (("one that is none", _ATOMIC, _ATOMIC_RACY, "race"),),
    "compaction": (("wrong places", "index_cast %old", "index_cast %v", "out-of-bounds"),),
    "while loops": (("a thread too many", *_off_by_one("i", "n"), "out-of-bounds"),),
    "early exits": (
        ("a thread too many", "cmpi uge, %i, %n", "cmpi ugt, %i, %n", "out-of-bounds"),
    ),
    "sort in private memory": (("a thread too many", *_off_by_one("i", "n"), "out-of-bounds"),),
    "digits in private memory": (("a thread too many", *_off_by_one("i", "n"), "out-of-bounds"),),
    "dynamic workgroup memory": (
        ("sum too far", "ceildiv 16 * 16", "ceildiv 16 * 16 + 16", "out-of-bounds"),
    ),
    "vectors": (("a vector too far", "36 - t * 4", "40 - t * 4", "out-of-bounds"),),
    "flags": (("a thread too many", *_off_by_one("i", "n"), "out-of-bounds"),),
    "shuffles on both sides of a branch": (
        ("lanes that never come", "constant 0x0000FFFF", "constant 0xFFFFFFFF", "divergence"),
    ),
    "exchange within half warps": (
        ("lanes that never come", "constant 0xFFFF0000", "constant 0xFFFFFFFF", "divergence"),
    ),
    "partial warp": (
        ("lanes that do not exist", "constant 0xFF :", "constant 0x1FF :", "divergence"),
    ),
    "named barriers": (
        ("threads that never come", "constant 64 : i32", "constant 96 : i32", "divergence"),
    ),
    "counting barriers": (
        (
            "no barrier",
            "nvvm.barrier #nvvm.reduction<and> %p -> i32",
            "arith.ori %p, %p : i32",
            "race",
        ),
    ),
    "double buffer": (("a row too many", *_off_by_one("next", "n"), "out-of-bounds"),),
    "ring of three slots": (("a row too many", *_off_by_one("ahead", "n"), "out-of-bounds"),),
    "ragged asynchronous copies": (
        ("an element too many", "(l, 4)", "(l + 1, 4)", "out-of-bounds"),
        ("a column too many", *_off_by_one("j", "c77"), "out-of-bounds"),
    ),
    "mbarriers that are asked": (
        (
            "an arrival that releases nothing",
            "arrive %b :",
            "arrive %b {relaxed = true} :",
            "phase",
        ),
        ("a wait that acquires nothing", "%b, %state :", "%b, %state {relaxed = true} :", "phase"),
    ),
    "barrier in two parts": (
        (
            "one arrives for all",
            f"      %written = nvgpu.mbarrier.arrive %b[%c0] : {TWO} -> !nvgpu.mbarrier.token\n",
            _ONE_ARRIVES,
            "phase",
        ),
    ),
    "ring of tiles": (
        ("a wait for another slot", _SLOT_WAIT, _OTHER_SLOT_WAIT, "phase"),
        ("a slot refilled too early", "arith.addi %k, %c2", "arith.addi %k, %c3", "phase"),
    ),
    "ring of tiles by a warp of its own": (
        ("all lanes let go", "%lane, %c0 : index", "%lane, %lane : index", "phase"),
    ),
    "staged matmul on tensor cores": (
        ("an iteration too many", *_off_by_one("iteration", "c4"), "out-of-bounds"),
    ),
}


def _edits(case: Case) -> Iterator[Mutant]:
    for name, old, new, kind in EDITS.get(case.name, ()):
        assert case.text.count(old) == 1, (case.name, name)
        yield Mutant(name, case.text.replace(old, new), kind)


def mutants(case: Case) -> list[Mutant]:
    """Return the mutants of a case."""
    makers = (_barriers, _waits, _phases, _counts, _fences, _buffers, _edits)
    every = [mutant for make in makers for mutant in make(case)]
    return [mutant for mutant in every if (case.name, mutant.name) not in EXCEPTIONS]
