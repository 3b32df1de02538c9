"""Whether two threads of a grid touch the same byte of global memory, one of them writing.

That is shown by counting: what a thread touches is computed for each thread of each block, and each
round of loops around, and each byte that is written has to be one thread's alone, or one block's
where barriers order its threads. An address that is not known is not covered; where a condition is
not known, all threads may go on.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from certificates.asynchronous import Async
from certificates.effects import WORKGROUP, Effects
from certificates.graph import EXIT, Graph, find_intervals
from certificates.ir import Function, Instruction, Operand
from certificates.values import Array, Environment, Evaluator, Unknown, Value, binary

MOST_TOUCHES = 1 << 25
"""How many accesses by threads are counted, of a kernel."""
MOST_ROUNDS = 1 << 13
"""How many rounds of loops are counted, of an access."""
_AXES = ("ctaid.x", "ctaid.y", "ctaid.z")
_COPY = re.compile(r"@llvm\.nvvm\.cp\.async\.c[ag]\.shared\.global\.(\d+)(\.s)?$")
_THROUGH = ("getelementptr", "addrspacecast", "bitcast", "freeze")


class NotCovered(Exception):
    """It is not shown that threads touch different bytes; they may."""


@dataclass(frozen=True, slots=True)
class Touch:
    """An access to what a parameter points to."""

    line: Instruction
    pointer: Operand
    size: int
    writes: bool
    parameter: str


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A loop: ``steps`` of what it counts, from where on, and conditions, each with what it is when
    a round is the last one."""

    header: str
    steps: Mapping[str, tuple[Operand, int]]
    exits: tuple[tuple[Operand, int], ...]


class _Counting(Evaluator):
    """Values for many threads of many blocks: ``ids`` has arrays of all of them.

    Parameters point to 0, for addresses to be told apart by what is added to that. What else is
    made of a pointer is not known.
    """

    def instruction(self, line: Instruction, environment: Environment) -> Value:
        is_address = line.op in _THROUGH
        if not is_address and any(each.type.kind == "ptr" for each in line.operands):
            return Unknown(varied=True)
        return super().instruction(line, environment)

    def _register(self, line: Instruction) -> Value:
        return self.ids.get(line.callee.split("sreg.")[1], Unknown(varied=True))

    def _exchange(self, values: list[Value]) -> Value:
        del values  # lanes are not told apart here
        return Unknown(varied=True)


class Grid:
    """All threads of a launch of a kernel, in blocks of one shape."""

    def __init__(
        self, kernel: Function, graph: Graph, effects: Effects, block: tuple[int, int, int]
    ) -> None:
        self.kernel, self.graph, self.effects, self.block = kernel, graph, effects, block
        self.above = self._find_dominators()
        self.behind = find_intervals(graph, effects.is_barrier, effects.after)
        self.extents = self._find_extents()
        self.loops: dict[str, Loop] = {}
        self.touches = self.rounds = 0

    def check(self) -> int:
        """Return how many blocks were counted through; raises NotCovered."""
        touches = [touch for label in self.graph.order if label != EXIT
                   for line in self.kernel.blocks[label]
                   if (touch := self._find_touch(line)) is not None]  # fmt: skip
        written = {touch.parameter for touch in touches if touch.writes}
        for parameter in sorted(written):
            self._check_parameter([each for each in touches if each.parameter == parameter])
        return math.prod(self.extents)

    # What is touched.

    def _find_touch(self, line: Instruction) -> Touch | None:
        """What a line does to global memory; None for nothing."""
        effect = self.effects.of(line)
        if isinstance(effect, Async) and effect.kind in ("transfer", "store"):
            raise NotCovered(f"line {line.line}: what TMA moves is not counted")
        if line.op in ("load", "store"):
            if line.flag == "atomic":
                raise NotCovered(f"line {line.line}: an atomic operation")
            assert line.base is not None
            return self._touch(line, line.operands[-1], line.base.size, writes=line.op == "store")
        if line.op != "call":
            return None
        if match := _COPY.match(line.callee):
            return self._touch(line, line.operands[1], int(match[1]), writes=False)
        if line.callee.startswith(("@llvm.masked.", "@llvm.mem")):
            raise NotCovered(f"line {line.line}: a call that is not followed")
        return None

    def _touch(
        self, line: Instruction, pointer: Operand, size: int, *, writes: bool
    ) -> Touch | None:
        base = self._find_base(pointer)
        value = self.effects.definitions.get(base.name)
        is_private = value is not None and value.op == "alloca"
        if is_private or WORKGROUP in (pointer.type.space, base.type.space):
            return None
        if base.kind == "global" and not writes:
            return None  # a constant, or what nobody writes: who does is not covered
        if base.kind != "register" or base.name not in self.kernel.parameters:
            raise NotCovered(f"line {line.line}: it is not known what {pointer.name} points into")
        return Touch(line, pointer, size, writes, base.name)

    def _find_base(self, pointer: Operand) -> Operand:
        """What a pointer is made of by steps and casts alone."""
        while True:
            line = self.effects.definitions.get(pointer.name)
            if pointer.kind == "expression" and pointer.parts:
                pointer = pointer.parts[0]
            elif pointer.kind == "register" and line is not None and line.op in _THROUGH:
                pointer = line.operands[0]
            else:
                return pointer

    # Who touches it.

    def _check_parameter(self, touches: list[Touch]) -> None:
        """Check that each byte which is written has one thread."""
        at = [(touch, *self._count(touch)) for touch in touches]
        at = [each for each in at if len(each[1])]
        sizes = [touch.size for touch in touches]
        grain = math.gcd(*sizes, *(int(np.gcd.reduce(places)) for _, places, _ in at))
        low = min((int(places.min()) for _, places, _ in at), default=0)
        high = max((int(places.max()) for _, places, _ in at), default=0) + max(sizes)
        if (high - low) // grain > 2 * MOST_TOUCHES:
            raise NotCovered(f"{touches[0].parameter}: threads are too far apart")
        owners = np.full((high - low) // grain, -1, np.int32)
        for touch, places, agents in sorted(at, key=lambda each: not each[0].writes):
            for part in range(touch.size // grain):
                cells = (places - low) // grain + part
                if touch.writes:
                    self._compare(touch, owners[cells], agents, 1)
                    owners[cells] = agents
                self._compare(touch, owners[cells], agents, self._find_team(touch, touches))

    def _find_team(self, touch: Touch, touches: list[Touch]) -> int:
        """How many threads may touch the same byte: all of a block, of which barriers order what
        writes and what reads, or one."""
        writes = [self.behind[each.line.line] for each in touches if each.writes]
        is_ordered = all(self.behind[touch.line.line].isdisjoint(each) for each in writes)
        return math.prod(self.block) if is_ordered else 1

    def _compare(self, touch: Touch, owners: Array, agents: Array, team: int) -> None:
        bad = np.flatnonzero((owners >= 0) & (owners // team != agents // team))
        if len(bad):
            raise NotCovered(f"line {touch.line.line}: threads {int(owners[bad[0]])} and "
                             f"{int(agents[bad[0]])} of the grid may touch the same byte of "
                             f"{touch.parameter}")  # fmt: skip

    def _count(self, touch: Touch) -> tuple[Array, Array]:
        """The addresses in what a parameter points to, and the thread of each."""
        guards = self._find_guards(self.effects.places[touch.line.line])
        loops = self._find_loops(touch.pointer)
        environment, values = self._begin()
        self.rounds = 0
        everybody = np.ones(math.prod(self.extents) * math.prod(self.block), bool)
        places, agents = [], []
        for known, here in self._go_round(loops, environment, values, everybody):
            at = self._evaluate(touch.pointer, known, values)
            if isinstance(at, Unknown):
                raise NotCovered(f"line {touch.line.line}: its address is not known")
            for condition, truth in guards:
                here = here & self._may_be(self._evaluate(condition, known, values), truth)
            whole = np.broadcast_to(np.asarray(at, np.uint64), here.shape)
            places.append(whole[here].view(np.int64))
            agents.append(np.flatnonzero(here).astype(np.int32))
        return np.concatenate(places), np.concatenate(agents)

    def _may_be(self, condition: Value, truth: int) -> Array | bool:
        """For which threads a condition may be so."""
        if isinstance(condition, Unknown):
            return True
        is_so: Array = np.asarray(condition, np.uint64) == truth
        return is_so

    def _go_round(
        self, loops: Sequence[Loop], environment: Environment, values: Evaluator, here: Array
    ) -> Iterator[tuple[Environment, Array]]:
        """Yield what is known in each round of loops in each other, and which threads make it."""
        if not loops:
            self.touches += len(here)
            if self.touches > MOST_TOUCHES:
                raise NotCovered("there are more accesses by threads than are counted")
            yield environment, here
            return
        loop, *inner = loops
        starts = {name: self._evaluate(start, environment, values)
                  for name, (start, _) in loop.steps.items()}  # fmt: skip
        for turn in itertools.count():
            self.rounds += 1
            if self.rounds > MOST_ROUNDS:
                raise NotCovered("loops go round more often than is counted")
            known = dict(environment)
            for name, (start, step) in loop.steps.items():
                bits = start.type.bits
                known[name] = binary("add", starts[name], step * turn % (1 << bits), bits)
            yield from self._go_round(inner, known, values, here)
            exits = [(self._evaluate(condition, known, values), truth)
                     for condition, truth in loop.exits]  # fmt: skip
            if all(isinstance(condition, Unknown) for condition, _ in exits):
                raise NotCovered("how often a loop goes round is not known")
            for condition, truth in exits:
                here = here & self._may_be(condition, 1 - truth)
            if not here.any():
                return

    def _begin(self) -> tuple[Environment, Evaluator]:
        """What is known at first: parameters point to 0, ids are of all threads of all blocks."""
        threads, blocks = math.prod(self.block), math.prod(self.extents)
        values = _Counting(self.block, {})
        for name, value in values.ids.items():
            if isinstance(value, np.ndarray):
                values.ids[name] = np.tile(value, blocks)
        rest = np.arange(blocks * threads, dtype=np.uint64) // np.uint64(threads)
        for name, extent in zip(_AXES, self.extents, strict=True):
            values.ids[name] = rest % np.uint64(extent)
            rest = rest // np.uint64(extent)
        environment: Environment = {
            name: 0 if type.kind == "ptr" else Unknown(varied=False)
            for name, type in self.kernel.parameters.items()
        }
        return environment, values

    def _evaluate(self, operand: Operand, environment: Environment, values: Evaluator) -> Value:
        """The value of an operand, for all threads."""
        rest = [operand]
        while rest:
            top = rest[-1]
            missing = [each for each in self._sources(top) if each.name not in environment]
            rest += missing
            if missing:
                continue
            rest.pop()
            if top.kind != "register" or top.name in environment:
                continue
            line = self.effects.definitions.get(top.name)
            is_known = line is not None and line.op not in ("phi", "load")
            environment[top.name] = (values.instruction(line, environment) if line and is_known
                                     else Unknown(varied=True))  # fmt: skip
        return values.operand(operand, environment)

    def _sources(self, operand: Operand) -> list[Operand]:
        """The registers that one is made of; a phi is a counter, or not known."""
        if operand.kind == "expression":
            return [each for part in operand.parts for each in self._registers(part)]
        line = self.effects.definitions.get(operand.name)
        if line is None or line.op in ("phi", "load"):
            return []
        return [each for part in line.operands for each in self._registers(part)]

    def _registers(self, operand: Operand) -> list[Operand]:
        if operand.kind == "register":
            return [operand]
        return [each for part in operand.parts for each in self._registers(part)]

    # How the kernel gets there.

    def _find_extents(self) -> tuple[int, int, int]:
        """The most blocks along x, y and z: one where the kernel does not ask for the number."""
        extents = dict.fromkeys(_AXES, 1)
        for line in self.effects.definitions.values():
            name = line.callee.partition("sreg.")[2]
            if name in extents:
                limits = re.search(r"range\(i32 0, (\d+)\)", line.text)
                if limits is None:
                    raise NotCovered(f"line {line.line}: the launch tells the number of blocks")
                extents[name] = max(extents[name], int(limits[1]))
        x, y, z = extents.values()
        return x, y, z

    def _find_dominators(self) -> dict[str, set[str]]:
        """For each block those that all ways to it lead through, itself among them."""
        labels = [label for label in self.graph.order if label != EXIT]
        above = {label: set(labels) for label in labels}
        above[self.graph.entry] = {self.graph.entry}
        changed = True
        while changed:
            changed = False
            for label in labels:
                sources = [above[each] for each in self.graph.predecessors[label]]
                now = set.intersection(*sources) | {label} if sources else {label}
                changed |= now != above[label]
                above[label] = now
        return above

    def _find_guards(self, label: str) -> list[tuple[Operand, int]]:
        """Conditions, with what they have to be, for a thread to get to a block."""
        guards = []
        for each in self.above[label]:
            last = self.kernel.blocks[each][-1]
            if last.op != "br" or len(set(last.labels)) != 2:
                continue
            for truth, target in zip((1, 0), last.labels, strict=True):
                if target in self.above[label] and self.graph.predecessors[target] == [each]:
                    guards.append((last.operands[0], truth))
        return guards

    def _find_loops(self, operand: Operand) -> list[Loop]:
        """The loops whose counters a value is made of; what is made of others is not known."""
        found: dict[str, Loop] = {}
        rest: list[Operand] = [operand]
        seen: set[str] = set()
        while rest:
            operand = rest.pop()
            if operand.name in seen:
                continue
            seen.add(operand.name)
            line = self.effects.definitions.get(operand.name)
            if line is not None and line.op == "phi":
                header = self.effects.places[line.line]
                if (loop := self._find_loop(header)) and operand.name in loop.steps:
                    found[header] = loop
                    rest += [loop.steps[operand.name][0]]
            rest += self._sources(operand)
        # Outer ones first: inner ones may begin with what these count.
        return sorted(found.values(), key=lambda loop: len(self.above[loop.header]))

    def _find_loop(self, header: str) -> Loop | None:
        """A loop that counts its rounds, and may end by what is computed; None for another one."""
        if header in self.loops:
            return self.loops[header]
        ways = self.graph.predecessors[header]
        latches = [each for each in ways if header in self.above[each]]
        outside = [each for each in ways if header not in self.above[each]]
        if len(latches) != 1 or len(outside) != 1:
            return None
        steps: dict[str, tuple[Operand, int]] = {}
        for line in self.kernel.blocks[header]:
            if line.op != "phi" or line.type.kind != "int":
                continue
            start = line.operands[line.labels.index(outside[0])]
            following = line.operands[line.labels.index(latches[0])]
            made = self.effects.definitions.get(following.name)
            if made is None or made.op != "add" or made.operands[0].name != line.name:
                continue
            if made.operands[1].kind == "int":
                steps[line.name] = (start, made.operands[1].number)
        exits = self._find_exits(header, latches[0])
        if not steps or not exits:
            return None
        return self.loops.setdefault(header, Loop(header, steps, exits))

    def _find_exits(self, header: str, latch: str) -> tuple[tuple[Operand, int], ...]:
        """The conditions that each round comes by, with what they are when it is the last one."""
        body, rest = {header}, [latch]
        while rest:
            label = rest.pop()
            if label not in body:
                body.add(label)
                rest += self.graph.predecessors[label]
        if any(header not in self.above[label] for label in body):
            return ()  # there are other ways into it
        exits = []
        for label in sorted(body & self.above[latch]):
            last = self.kernel.blocks[label][-1]
            leaves = [each not in body for each in last.labels]
            if last.op == "br" and sorted(leaves) == [False, True]:
                exits.append((last.operands[0], int(leaves[0])))
        return tuple(exits)
