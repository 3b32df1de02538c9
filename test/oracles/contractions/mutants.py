"""Wrong variants of kernels that a program of contractions was compiled to, each by one edit.

The text is that of the stage `gpu`: kernels outlined, barriers and waits in place. All edits leave
it valid; what they leave out or change is meant to be needed. Elements are mistaken for others only
in kernels of whole tiles, since nothing depends on what is beyond the ends of ragged ones, and in
none where threads add up what they read, in any order.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

KINDS = ("barrier", "wait", "commit", "slots", "lane", "fragment", "buffer")
# Those that only change who waits for whom: what is proved of them holds for any numbers.
ORDERING = ("barrier", "wait", "commit", "slots")


@dataclass(frozen=True)
class Mutant:
    """A wrong program; `line` is that of the edit, and `edit` says what was done there."""

    kind: str
    line: int
    edit: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind} in line {self.line}: {self.edit}"


# What is put in place of a line, and what is said of it.
_Edit = tuple[int, Sequence[str], str]

_BARRIER = re.compile(r" *(gpu\.barrier|nvvm\.bar\.warp\.sync|nvvm\.barrier)\b")
_WAIT = re.compile(r"( *nvvm\.cp\.async\.wait\.group )(\d+)$")
_ANY_WAIT = re.compile(r"( *nvgpu\.device_async_wait %\w+)(?: \{numGroups = (\d+) : i32\})?$")
_COMMIT = re.compile(r" *nvvm\.cp\.async\.commit\.group$")
_WRAP = re.compile(r" *(%\w+) = arith\.select (%\w+), (%\w+), (%\w+) : index$")
_COMPARE = re.compile(r" *%\w+ = arith\.cmpi ult, (%\w+), (%\w+) : index$")
_STEP = re.compile(r" *%\w+ = arith\.addi (%\w+), (%[\w-]+)[ :]")
_CONSTANT = re.compile(r" *%[\w-]+ = arith\.constant (-?\d+) : index$")
_DEFINITION = re.compile(r" *(%[\w-]+)(?::\d+)? = (\S+)")
_VALUE = re.compile(r"%[\w-]+(?:#\d+)?")
_ACCESS = re.compile(
    r" *(?:%\w+ = )?(?:memref\.(?:load|store)|vector\.(?:load|store|maskedload|maskedstore)"
    r"|nvgpu\.(?:ldmatrix|device_async_copy)) "
)
_PLACE = re.compile(r"(%\w+)\[([^\]]+)\]")
_FACTORS = re.compile(r"( *%\w+ = (?:nvgpu\.mma\.sync\(|vector\.fma ))(%[\w#]+), (%[\w#]+)(,.*)$")
_LISTS = re.compile(r"( *%\w+ = nvvm\.mma\.sync A\[)(.*?)(\]  B\[)(.*?)(\]  C\[.*)$")
_RAGGED = re.compile(r"affine\.min|create_mask|\.maxsi|\.minsi|gpu\.(subgroup_reduce|shuffle) ")
_BOUND = re.compile(r"cmpi (ult|slt), (?!%thread_id|%arg)")
_BUFFER = re.compile(r"(?<=: )memref<(\d+)(x[\w<>]+, #gpu\.address_space<workgroup>)>")
_BLOCK = re.compile(r"known_block_size = array<i32: (\d+), ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


class _Kernel:
    """The lines of a kernel within a program, and what is defined where."""

    def __init__(self, lines: Sequence[str], first: int, last: int) -> None:
        self.lines, self.first, self.last = lines, first, last

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter([(n, self.lines[n]) for n in range(self.first, self.last)])

    def above(self, place: int) -> Iterator[tuple[int, str]]:
        """Go through the lines that dominate a line, up from it; regions beside it are none."""
        limit = _indent(self.lines[place])
        for n in range(place - 1, self.first, -1):
            indent = _indent(self.lines[n])
            if indent <= limit and self.lines[n].strip():
                limit = indent
                yield n, self.lines[n]

    def definition(self, place: int, name: str) -> int:
        """Return the line that defines a value which a line uses; -1 for those of blocks."""
        for n, line in self.above(place):
            found = _DEFINITION.match(line)
            if found and found[1] == name:
                return n
        return -1

    def constant(self, place: int, name: str) -> int | None:
        """Return the number that a value of a line is."""
        found = _CONSTANT.match(self.lines[self.definition(place, name)])
        return int(found[1]) if found else None


def _without(pattern: re.Pattern[str]) -> Callable[[_Kernel], Iterator[_Edit]]:
    def edits(kernel: _Kernel) -> Iterator[_Edit]:
        for n, line in kernel:
            if pattern.match(line):
                yield n, [], f"{line.strip()} is left out"

    return edits


def _waits(kernel: _Kernel) -> Iterator[_Edit]:
    """Let each wait leave one more group under way."""
    for n, line in kernel:
        if found := _WAIT.match(line):
            more = f"{found[1]}{int(found[2]) + 1}"
        elif found := _ANY_WAIT.match(line):
            more = f"{found[1]} {{numGroups = {int(found[2] or 0) + 1} : i32}}"
        else:
            continue
        yield n, [more], f"{line.strip()} becomes {more.strip()}"


def _wraps(kernel: _Kernel) -> Iterator[tuple[int, str, str, int]]:
    """Find the counters of slots: select(i + 1 < slots, i + 1, i - slots + 1)."""
    for n, line in kernel:
        if not (found := _WRAP.match(line)):
            continue
        result, test, next_slot, first_slot = found.groups()
        compare = _COMPARE.match(kernel.lines[kernel.definition(n, test)])
        up = _STEP.match(kernel.lines[kernel.definition(n, next_slot)])
        down = _STEP.match(kernel.lines[kernel.definition(n, first_slot)])
        if not (compare and up and down and compare[1] == next_slot and up[1] == down[1]):
            continue
        slots = kernel.constant(n, compare[2])
        if slots and kernel.constant(n, down[2]) == 1 - slots:
            yield n, result, up[1], slots


def _slots(kernel: _Kernel) -> Iterator[_Edit]:
    """Let each counter of slots go round one slot too early."""
    for n, result, counter, slots in _wraps(kernel):
        space, tag = " " * _indent(kernel.lines[n]), f"mut{n}"
        yield (
            n,
            [
                f"{space}%{tag}_1 = arith.constant 1 : index",
                f"{space}%{tag}_n = arith.constant {slots - 1} : index",
                f"{space}%{tag}_up = arith.addi {counter}, %{tag}_1 : index",
                f"{space}{result} = arith.remui %{tag}_up, %{tag}_n : index",
            ],
            f"{result} is one of {slots - 1} slots, not {slots}",
        )


class _Permuted:
    """Copies of what indices are computed by, for the thread of another number."""

    def __init__(self, kernel: _Kernel, place: int, mask: int) -> None:
        self.kernel, self.place, self.mask = kernel, place, mask
        self.space, self.lines = " " * _indent(kernel.lines[place]), list[str]()
        self.copies = dict[tuple[int, str], str]()

    def copy(self, name: str, user: int) -> str:
        """Return the name of the copy of a value; of one that is the same for all, its own."""
        at = self.kernel.definition(user, name.partition("#")[0])
        if (at, name) in self.copies:
            return self.copies[at, name]
        self.copies[at, name] = name
        operation = at >= 0 and _DEFINITION.match(self.kernel.lines[at])
        if operation and "#" not in name:
            self.copies[at, name] = self._copy(name, at, operation[2])
        return self.copies[at, name]

    def _copy(self, name: str, at: int, operation: str) -> str:
        line = self.kernel.lines[at].strip()
        new = f"%mut{self.place}_{len(self.copies)}"
        if line.endswith("gpu.thread_id  x"):
            self.lines.append(f"{new}m = arith.constant {self.mask} : index")
            self.lines.append(f"{new} = arith.xori {name}, {new}m : index")
            return new
        if not operation.startswith(("arith.", "affine.")) or line.endswith("{"):
            return name
        _, _, rest = line.partition(" = ")
        changed = _VALUE.sub(lambda found: self.copy(found[0], at), rest)
        if changed == rest:
            return name
        self.lines.append(f"{new} = {changed}")
        return new


def _is_whole(kernel: _Kernel) -> bool:
    """Tell whether all that threads read is part of one element of the result each."""
    compared = set[int]()
    for n, _, _, _ in _wraps(kernel):
        found = _WRAP.match(kernel.lines[n])
        compared.add(kernel.definition(n, found[2]) if found else n)
    return not any(
        _RAGGED.search(line) or (n not in compared and _BOUND.search(line)) for n, line in kernel
    )


def _mask(kernel: _Kernel) -> int:
    """Return by what numbers of threads are changed: those of all of a block, or of warps."""
    text = kernel.lines[kernel.first]
    found = _BLOCK.search(text)
    threads = int(found[1]) if found else 1
    return threads - 1 if threads & (threads - 1) == 0 else 31 if threads % 32 == 0 else 0


def _lanes(kernel: _Kernel) -> Iterator[_Edit]:
    """Let each access go where another thread of the block, or of the warp, should."""
    if not ((mask := _mask(kernel)) and _is_whole(kernel)):
        return
    for n, line in kernel:
        if not _ACCESS.match(line):
            continue
        for place in _PLACE.finditer(line):
            permuted = _Permuted(kernel, n, mask)
            names = [permuted.copy(name, n) for name in place[2].split(", ")]
            if permuted.lines:
                new = line[: place.start(2)] + ", ".join(names) + line[place.end(2) :]
                lines = [*(permuted.space + added for added in permuted.lines), new]
                yield n, lines, f"{place[0]} is that of thread x ^ {mask}"


def _fragments(kernel: _Kernel) -> Iterator[_Edit]:
    """Let each product take a factor of the one before it, or two words of one change places."""
    before = -1
    for n, line in kernel if _is_whole(kernel) else ():
        if lists := _LISTS.match(line):
            for group in (2, 4):
                words = lists[group].split(", ")
                if len(set(words[:2])) > 1:
                    swapped = ", ".join([words[1], words[0], *words[2:]])
                    new = line[: lists.start(group)] + swapped + line[lists.end(group) :]
                    yield n, [new], f"{lists[group]} becomes {swapped}"
        if found := _FACTORS.match(line):
            if last := _beside(kernel, before, n):
                for group in (2, 3):
                    if last[group] != found[group]:
                        new = line[: found.start(group)] + last[group] + line[found.end(group) :]
                        yield n, [new], f"{found[group]} becomes {last[group]}"
            before = n


def _beside(kernel: _Kernel, before: int, after: int) -> re.Match[str] | None:
    """Return the factors of a product that stands before another of the same types."""
    between = kernel.lines[max(before, 0) : after + 1]
    types = {kernel.lines[n].partition(" : ")[2] for n in (before, after)}
    if before < 0 or len(types) > 1 or len({_indent(line) for line in between}) > 1:
        return None
    return _FACTORS.match(kernel.lines[before])


def _buffers(kernel: _Kernel) -> Iterator[_Edit]:
    """Make each buffer in workgroup memory one row shorter, or a sixteenth if it is of bytes.

    So are all others of its type. What pads the last row is no part of it.
    """
    text = kernel.lines[kernel.first]
    for found in {found[0]: found for found in _BUFFER.finditer(text)}.values():
        rows, rest = int(found[1]), found[2]
        is_packed = rest.startswith("xi8")
        less = rows - (max(32, rows // 256 * 16) if is_packed else 1)
        old, new = f"memref<{rows}{rest}>", f"memref<{max(less, 0)}{rest}>"
        if less > 0:
            lines = [line.replace(old, new) for _, line in kernel]
            yield kernel.first, lines, f"{old} becomes {new}"


_EDITS: dict[str, Callable[[_Kernel], Iterator[_Edit]]] = {
    "barrier": _without(_BARRIER),
    "wait": _waits,
    "commit": _without(_COMMIT),
    "slots": _slots,
    "lane": _lanes,
    "fragment": _fragments,
    "buffer": _buffers,
}


def _kernels(lines: Sequence[str]) -> Iterator[_Kernel]:
    first = None
    for n, line in enumerate(lines):
        if line.startswith("    gpu.func "):
            first = n
        elif line == "    }" and first is not None:
            yield _Kernel(lines, first, n)
            first = None


def mutants(text: str, kinds: Sequence[str] = KINDS) -> Iterator[Mutant]:
    """Return all mutants of a program."""
    lines = text.split("\n")
    for kernel in _kernels(lines):
        for kind in kinds:
            for place, changed, edit in _EDITS[kind](kernel):
                rest = kernel.last if kind == "buffer" else place + 1
                new = [*lines[:place], *changed, *lines[rest:]]
                yield Mutant(kind, place + 1, edit, "\n".join(new))


def sample(text: str, seed: int, of_each: int, kinds: Sequence[str] = KINDS) -> list[Mutant]:
    """Return some mutants of each kind."""
    choice, picked = random.Random(seed), list[Mutant]()
    for kind in kinds:
        found = list(mutants(text, [kind]))
        picked += choice.sample(found, min(of_each, len(found)))
    return picked
