"""The control flow of a kernel: where branches meet again, and what lies between barriers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from certificates.ir import Function, Instruction

EXIT = ""
"""Where all paths end."""


class Graph:
    """The blocks of a kernel.

    ``meets`` has for each block the nearest one that all paths from it go through; ``order`` has
    the blocks that are reached, each before those that it alone leads to.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.entry = next(iter(function.blocks))
        self.successors = {
            label: list(dict.fromkeys(block[-1].labels)) or [EXIT]
            for label, block in function.blocks.items()
        }
        self.order = _order(self.entry, lambda label: self.successors.get(label, []))
        self.predecessors: dict[str, list[str]] = {label: [] for label in self.order}
        for label in self.order:
            for target in self.successors.get(label, []):
                self.predecessors[target].append(label)
        self.meets = self._find_meets()

    def _find_meets(self) -> dict[str, str]:
        """Find immediate postdominators, as Cooper, Harvey and Kennedy do."""
        order = _order(EXIT, lambda label: self.predecessors.get(label, []))
        rank = {label: number for number, label in enumerate(order)}
        meets = {EXIT: EXIT}
        changed = True
        while changed:
            changed = False
            for label in order[1:]:
                found = None
                for target in self.successors[label]:
                    if target in meets:
                        found = target if found is None else _join(target, found, meets, rank)
                if found is not None and meets.get(label) != found:
                    meets[label] = found
                    changed = True
        return meets

    def region(self, label: str) -> set[str]:
        """The blocks on paths from a branch to where they meet; the branch too, if it repeats."""
        found: set[str] = set()
        stop = self.meets.get(label, EXIT)
        rest = [target for target in self.successors[label] if target != stop]
        while rest:
            block = rest.pop()
            if block in found or block == EXIT:
                continue
            found.add(block)
            rest += [target for target in self.successors[block] if target != stop]
        return found


def _order(start: str, following: Callable[[str], Iterable[str]]) -> list[str]:
    done: list[str] = []
    seen = {start}
    stack = [(start, iter(following(start)))]
    while stack:
        label, rest = stack[-1]
        for target in rest:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(following(target))))
                break
        else:
            done.append(label)
            stack.pop()
    return done[::-1]


def _join(first: str, second: str, meets: dict[str, str], rank: dict[str, int]) -> str:
    while first != second:
        while rank[first] > rank[second]:
            first = meets[first]
        while rank[second] > rank[first]:
            second = meets[second]
    return first


START = 0
"""The line that stands for the beginning of a kernel among barriers."""


def find_intervals(
    graph: Graph,
    is_barrier: Callable[[Instruction], bool],
    state_of: Callable[[Instruction, int | None], int | None],
    source: Instruction | None = None,
) -> dict[int, set[int]]:
    """Find for each line the barriers that a path leads from to it past no other barrier.

    With a `source`, a line that starts a copy: the barriers behind which it may be on its way.
    `state_of` says what an instruction makes of the state of a copy, None once it is done.
    """
    if source is None:
        return _walk_barriers(graph, is_barrier)
    found: set[int] = set()
    label = next(
        label for label, block in graph.function.blocks.items() if source in block
    )  # a line is in one block
    block = graph.function.blocks[label]
    rest: list[tuple[str, int, int]] = [(label, block.index(source) + 1, 0)]
    seen = set(rest)
    while rest:
        label, at, state = rest.pop()
        block = graph.function.blocks[label]
        now: int | None = state
        for line in block[at:]:
            if is_barrier(line):
                found.add(line.line)
            now = state_of(line, now)
            if now is None:
                break
        if now is None:
            continue
        for target in graph.successors[label]:
            if target != EXIT and (target, 0, now) not in seen:
                seen.add((target, 0, now))
                rest.append((target, 0, now))
    return {source.line: found}


def _walk_barriers(graph: Graph, is_barrier: Callable[[Instruction], bool]) -> dict[int, set[int]]:
    entering: dict[str, set[int]] = {label: set() for label in graph.order}
    entering[graph.entry] = {START}
    lines: dict[int, set[int]] = {}
    changed = True
    while changed:
        changed = False
        for label in graph.order:
            if label == EXIT:
                continue
            now = entering[label]
            for line in graph.function.blocks[label]:
                lines[line.line] = set(now)
                if is_barrier(line):
                    now = {line.line}
            for target in graph.successors[label]:
                if not now <= entering[target]:
                    entering[target] = entering[target] | now
                    changed = True
    return lines
