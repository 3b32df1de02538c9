"""The loops of a kernel, found in its machine code, and the one in which it does its work.

A loop is what lies on the ways from its head back to its head (a natural loop), so that code which
the assembler has moved behind the end of the kernel, as the repetition of a failed wait, is part of
the loop that it jumps back into, and makes no loop around all between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..system.disassembler import Function, Instruction

Block = range
"""Places of instructions in a function that only run together."""


class Loop(NamedTuple):
    """A loop: its places in the function, and of them those that a turn passes as a rule.

    These are without the loops inside that can be passed by, as the repetition of a failed wait.
    ``always``: those that every turn passes, without what branches can pass by.
    """

    places: tuple[int, ...]
    turn: tuple[int, ...]
    always: tuple[int, ...]


def find_loops(function: Function) -> list[Loop]:
    """Return all loops, one for each head."""
    blocks = _split(function)
    followers = [_follow(function, blocks, block) for block in blocks]
    order = _visit(followers)
    dominators = _find_dominators(followers, order)
    before = _reverse(followers)
    bodies: dict[int, set[int]] = {}
    ends: dict[int, set[int]] = {}
    for block in order:
        for head in followers[block]:
            if head in dominators[block]:
                bodies.setdefault(head, {head}).update(_reach(before, block, head))
                ends.setdefault(head, set()).add(block)
    found = []
    for head, body in bodies.items():
        inner = [one for one in bodies if one != head and bodies[one] < body]
        passed = [one for one in inner if any(one not in dominators[end] for end in ends[head])]
        rare = set().union(*(bodies[one] for one in passed))
        always = body.intersection(*(dominators[end] for end in ends[head]))
        places = (_list(blocks, some) for some in (body, body - rare, always - rare))
        found.append(Loop(*places))
    return found


def find_main_loop(
    function: Function, works: Callable[[Instruction], bool]
) -> tuple[list[Instruction], list[Instruction]] | None:
    """Return a turn of the innermost loop with most instructions that do the work, if any does.

    The second list is what every turn has of it. Innermost: it has no loop inside that does some
    too, but may have others, as those of waits.
    """
    code = function.instructions
    counts = {loop: sum(works(code[place]) for place in loop.turn) for loop in find_loops(function)}
    working = {loop: count for loop, count in counts.items() if count}
    inner = {
        loop: count
        for loop, count in working.items()
        if not any(set(other.places) < set(loop.places) for other in working)
    }
    if not inner:
        return None
    loop = max(inner, key=inner.__getitem__)
    return [code[place] for place in loop.turn], [code[place] for place in loop.always]


def _split(function: Function) -> list[Block]:
    """Return the basic blocks, in the order of the code."""
    starts = {0, *function.labels.values()}
    for place, instruction in enumerate(function.instructions):
        if instruction.targets or not instruction.falls_through:
            starts.add(place + 1)
    limits = sorted(start for start in starts if start < len(function.instructions))
    return [
        range(start, end)
        for start, end in zip(limits, [*limits[1:], len(function.instructions)], strict=True)
    ]


def _follow(function: Function, blocks: Sequence[Block], block: Block) -> list[int]:
    """Return the numbers of the blocks that may come next."""
    numbers = {one.start: number for number, one in enumerate(blocks)}
    last = function.instructions[block[-1]]
    places = [function.labels[name] for name in last.targets if name in function.labels]
    if last.falls_through:
        places.append(block.stop)
    return [numbers[place] for place in places if place in numbers]


def _visit(followers: Sequence[Sequence[int]]) -> list[int]:
    """Return what can be reached from the first block, each block before those it leads to."""
    order: list[int] = []
    seen = {0} if followers else set()
    stack = [(0, iter(followers[0]))] if followers else []
    while stack:
        block, rest = stack[-1]
        for follower in rest:
            if follower not in seen:
                seen.add(follower)
                stack.append((follower, iter(followers[follower])))
                break
        else:
            order.append(block)
            stack.pop()
    return order[::-1]


def _find_dominators(followers: Sequence[Sequence[int]], order: Sequence[int]) -> list[set[int]]:
    """Return for each block those that all ways to it pass, itself included."""
    before = _reverse(followers)
    everything = set(order)
    dominators = [everything for _ in followers]
    if order:
        dominators[order[0]] = {order[0]}
    is_changed = True
    while is_changed:
        is_changed = False
        for block in order[1:]:
            ways = [dominators[one] for one in before[block] if one in everything]
            common = set.intersection(*ways) | {block}
            if common != dominators[block]:
                dominators[block] = common
                is_changed = True
    return dominators


def _reverse(followers: Sequence[Sequence[int]]) -> list[list[int]]:
    before: list[list[int]] = [[] for _ in followers]
    for block, after in enumerate(followers):
        for follower in after:
            before[follower].append(block)
    return before


def _reach(before: Sequence[Sequence[int]], start: int, head: int) -> set[int]:
    """Return all blocks from which a block can be reached without passing the head."""
    found, todo = {head, start}, [start]
    while todo:
        block = todo.pop()
        fresh = [one for one in before[block] if one not in found] if block != head else []
        found.update(fresh)
        todo += fresh
    return found


def _list(blocks: Sequence[Block], numbers: Iterable[int]) -> tuple[int, ...]:
    """Return the places in blocks, in the order of the code."""
    return tuple(place for number in sorted(numbers) for place in blocks[number])
