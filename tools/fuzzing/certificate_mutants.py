"""Changes of LLVM IR and of certificates that tell something else than before.

Of LLVM IR: barriers and waits that are left out or moved, offsets, bounds, steps, sizes. Each line
keeps its number, so that nothing but the change itself can be what gives it away.
"""

from __future__ import annotations

import copy
import hashlib
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from certificates.effects import Effects
from certificates.graph import Graph
from certificates.reading import read
from certificates.slices import Slice

Document = dict[str, Any]
_ORDERS = re.compile(
    r"call (void|i64) @llvm\.nvvm\.(barrier|bar\.warp|cp\.async\.(commit|wait)"
    r"|mbarrier\.(init|arrive)|fence\.|wgmma\.(fence|commit|wait)|cp\.async\.bulk)|mbarrier\.try_wait"
)
_OFFSETS = re.compile(r"= (getelementptr|add|or|shl|lshr|and|xor|mul|sub|udiv|urem)\b")
_NUMBER = re.compile(r"(?<=[ ,])-?\d+(?=[,)]| *$)")
_COPY = re.compile(r"call void @llvm\.nvvm\.cp\.async\.c")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed certificate, or changed LLVM IR with its checksum mended."""

    kind: str
    what: str
    document: Document
    text: str

    @property
    def is_of_code(self) -> bool:
        """Whether the code was changed, not what is said of it."""
        return self.kind.startswith("code")


def _lines_of_kernels(lines: list[str]) -> list[int]:
    """The lines, counted from 0, that decide where and when workgroup memory is touched."""
    program = read("\n".join(lines))
    found: list[int] = []
    for kernel in program.kernels.values():
        graph, effects = Graph(kernel), Effects(program, kernel)
        if not any(effects.lines.values()):
            continue
        slice = Slice(graph, effects, {}, forgets=False)
        found += [line.line - 1 for steps in slice.steps.values() for line in steps]
        found += [kernel.blocks[label][-1].line - 1 for label in slice.branches]
    return sorted(found)


def _change_number(line: str, rng: random.Random) -> str | None:
    numbers = list(_NUMBER.finditer(line))
    if not numbers:
        return None
    match = rng.choice(numbers)
    number = int(match[0])
    steps = [1, -1, 4, -4, 16, number, 128]
    changed = number + rng.choice([step for step in steps if step != 0])
    return line[: match.start()] + str(changed) + line[match.end() :]


def _delete_order(lines: list[str], rng: random.Random) -> str | None:
    found = [n for n in _lines_of_kernels(lines) if _ORDERS.search(lines[n])]
    if not found:
        return None
    number = rng.choice(found)
    what = lines[number].strip()
    result = re.match(r"%\S+ = ", what)
    lines[number] = f"  {result[0]}add i64 0, 0" if result else "  ;"
    return f"line {number + 1} left out: {what:.80}"


def _move_order(lines: list[str], rng: random.Random) -> str | None:
    found = [n for n in _lines_of_kernels(lines) if _ORDERS.search(lines[n])]
    if not found:
        return None
    number = rng.choice(found)
    step = rng.choice((-1, 1))
    other = number + step
    for _ in range(rng.randrange(1, 40)):
        line = lines[other + step].strip()
        if not line or re.match(r"(br|ret|switch)\b|.*= phi\b|\d+:|[\w.$-]+:|[{}]|;", line):
            break
        other += step
    if re.match(r"(br|ret|switch)\b|.*= phi\b|$|[\w.$-]+:", lines[other].strip()):
        return None
    moved = lines.pop(number)
    lines.insert(other, moved)
    return f"line {number + 1} moved to {other + 1}: {moved.strip()}"


def _change_line(pattern: str) -> Callable[[list[str], random.Random], str | None]:
    matches = re.compile(pattern)

    def change(lines: list[str], rng: random.Random) -> str | None:
        found = [n for n in _lines_of_kernels(lines) if matches.search(lines[n])]
        if not found:
            return None
        number = rng.choice(found)
        changed = _change_number(lines[number].split(", !")[0], rng)
        if changed is None:
            return None
        what, lines[number] = lines[number].strip(), changed
        return f"line {number + 1}: {what} -> {changed.strip()}"

    return change


def _find_definition(lines: list[str], name: str, operation: str) -> int | None:
    """Return the line in which an operation makes a value."""
    start = f"{name} = {operation}"
    return next((n for n, line in enumerate(lines) if line.strip().startswith(start)), None)


def _change_parity(lines: list[str], rng: random.Random) -> str | None:
    """Wait for the other phase."""
    parity = re.compile(r"(?<=, i32 )(%\S+|[01])(?=, i32 \d+\) #\d+$)")
    found = [n for n in _lines_of_kernels(lines)
             if "mbarrier.try_wait.parity" in lines[n] and parity.search(lines[n])]  # fmt: skip
    if not found:
        return None
    number = rng.choice(found)
    match = parity.search(lines[number])
    assert match is not None
    if match[0] in "01":
        lines[number] = parity.sub(str(1 - int(match[0])), lines[number])
        return f"line {number + 1}: the other parity"
    made = _find_definition(lines, match[0], "zext")
    flag = "" if made is None else lines[made].split(" to ")[0].split()[-1]
    definition = _find_definition(lines, flag, "phi")
    if definition is None:
        constant = rng.choice("01")
        lines[number] = parity.sub(constant, lines[number])
        return f"line {number + 1}: always parity {constant}"
    values = {"true": "false", "false": "true"}
    changed = re.sub(r"\[ (true|false),", lambda m: f"[ {values[m[1]]},", lines[definition])
    if changed == lines[definition]:
        return None
    lines[definition] = changed
    return f"line {definition + 1}: the other parity"


def _change_size(lines: list[str], rng: random.Random) -> str | None:
    found = [n for n, line in enumerate(lines) if re.match(r"@.*addrspace\(3\) global \[", line)]
    if not found:
        return None
    number = rng.choice(found)
    what = lines[number]
    size = int(re.search(r"global \[(\d+)", what)[1])  # type: ignore[index]
    smaller = rng.choice((size - 1, size // 2, size + 4))
    lines[number] = what.replace(f"global [{size} ", f"global [{smaller} ")
    return f"line {number + 1}: {size} -> {smaller} elements"


def _change_way(lines: list[str], rng: random.Random) -> str | None:
    """Turn a comparison, or the ways of a branch."""
    found = [n for n in _lines_of_kernels(lines) if re.search(r"= icmp|br i1", lines[n])]
    if not found:
        return None
    number = rng.choice(found)
    what = lines[number]
    if "icmp" in what:
        words = {"ult": "ule", "ugt": "uge", "eq": "ne", "ne": "eq", "slt": "sle", "sgt": "sge"}
        changed = re.sub(r"\b(ult|ugt|eq|ne|slt|sgt)\b", lambda m: words[m[1]], what, count=1)
    else:
        changed = re.sub(r"label (%\S+), label (%[^\s,]+)", r"label \2, label \1", what)
    lines[number] = changed
    return f"line {number + 1}: {what.strip()} -> {changed.strip()}" if changed != what else None


CODE: dict[str, Callable[[list[str], random.Random], str | None]] = {
    "code: barrier or wait left out": _delete_order,
    "code: barrier or wait moved": _move_order,
    "code: offset": _change_line(_OFFSETS.pattern),
    "code: address": _change_line(r"= getelementptr .*addrspace\(3\)"),
    "code: bound": _change_line(r"= icmp "),
    "code: step": _change_line(r"= add .*%"),
    "code: groups on their way": _change_line(r"cp\.async\.wait\.group"),
    "code: size": _change_size,
    "code: parity": _change_parity,
    "code: bytes or arrivals expected": _change_line(
        r"mbarrier\.(init|arrive\.expect)(?=.*i32 \d+\)$)"
    ),
    "code: products on their way": _change_line(r"wgmma\.wait_group"),
    "code: slot": _change_line(r"= (phi i(32|64) |select i1 .*, i(32|64) )"),
    "code: way": _change_way,
}


# --- certificates ---------------------------------------------------------------------------------


def _drop(field: str) -> Callable[[Document, random.Random], str | None]:
    def change(kernel: Document, rng: random.Random) -> str | None:
        if not kernel[field]:
            return None
        gone = kernel[field].pop(rng.randrange(len(kernel[field])))
        return f"without {field} {gone!r:.60}"

    return change


def _swap_reason(kernel: Document, rng: random.Random) -> str | None:
    if not kernel["pairs"]:
        return None
    pair = rng.choice(kernel["pairs"])
    reasons = {"reads", "memory", "barriers", "addresses"} - {pair["reason"]}
    pair["reason"] = rng.choice(sorted(reasons))
    return f"pair {pair!r:.60}"


def _change_field(field: str, part: str) -> Callable[[Document, random.Random], str | None]:
    """Change a number or a list of numbers, or the numbers in a text."""

    def change(kernel: Document, rng: random.Random) -> str | None:
        having = [each for each in kernel[field] if part in each]
        if not having:
            return None
        each = rng.choice(having)
        old = each[part]
        if isinstance(old, int):
            each[part] = old + rng.choice((-1, 1, 4))
        elif isinstance(old, list):
            each[part] = old[1:] if old and rng.random() < 0.5 else [*old, 1_000_000]
        else:
            numbers = list(re.finditer(r"(?<![\w@%.])\d+\b", old))
            if numbers and rng.random() < 0.8:
                match = rng.choice(numbers)
                changed = str(int(match[0]) + rng.choice((-1, 1, 4, 16)))
                each[part] = old[: match.start()] + changed + old[match.end() :]
            else:
                each[part] = old + " + 4"
        return f"{field}.{part}: {old!r:.60} -> {each[part]!r:.60}" if each[part] != old else None

    return change


def _change_block(kernel: Document, rng: random.Random) -> str | None:
    if not kernel["block"]:
        return None
    at = rng.randrange(len(kernel["block"]))
    kernel["block"][at] += rng.choice((1, 31, 32))
    return f"block {kernel['block']}"


CERTIFICATE: dict[str, Callable[[Document, random.Random], str | None]] = {
    "certificate: pair left out": _drop("pairs"),
    "certificate: reason": _swap_reason,
    "certificate: barriers of a pair": _change_field("pairs", "barriers"),
    "certificate: access left out": _drop("accesses"),
    "certificate: address": _change_field("accesses", "address"),
    "certificate: bytes": _change_field("accesses", "bytes"),
    "certificate: line": _change_field("accesses", "line"),
    "certificate: group left out": _drop("groups"),
    "certificate: interval": _change_field("groups", "behind"),
    "certificate: barrier left out": _drop("orders"),
    "certificate: barrier's line": _change_field("orders", "line"),
    "certificate: groups on their way": _change_field("orders", "pending"),
    "certificate: bound left out": _drop("control"),
    "certificate: bound or step": _change_field("control", "text"),
    "certificate: block": _change_block,
    "certificate: box left out": _drop("boxes"),
    "certificate: bytes of a box": _change_field("boxes", "bytes"),
}


def mend(document: Document, text: str) -> Document:
    """A certificate with the checksum of a text."""
    return {**document, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def mutate(document: Document, text: str, rng: random.Random) -> Iterator[Mutant]:
    """Yield mutants of a certificate and of its code, each kind as often, for ever."""
    while True:
        for kind, change_code in CODE.items():
            lines = text.split("\n")
            if what := change_code(lines, rng):
                changed = "\n".join(lines)
                if changed != text:
                    yield Mutant(kind, what, mend(document, changed), changed)
        for kind, change in CERTIFICATE.items():
            other = copy.deepcopy(document)
            if other["kernels"] and (what := change(rng.choice(other["kernels"]), rng)):
                yield Mutant(kind, what, other, text)
