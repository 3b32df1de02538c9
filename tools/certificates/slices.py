"""Which instructions of a kernel decide where it touches workgroup memory, and when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from certificates.asynchronous import Async
from certificates.effects import Access, Effects, Order
from certificates.graph import EXIT, Graph
from certificates.ir import Instruction, Operand, words

_COUNTING = words("phi add sub mul shl lshr and or zext sext trunc icmp freeze")


def registers(operands: Iterable[Operand]) -> set[str]:
    """The names of the values that are used, in constant expressions too."""
    found: set[str] = set()
    for operand in operands:
        if operand.kind == "register":
            found.add(operand.name)
        found |= registers(operand.parts)
    return found


def operands_of(access: Access | Async) -> list[Operand]:
    """What decides where an access is, and whose."""
    if isinstance(access, Async):
        return [*access.operands]
    return [access.pointer, *(access.wanted[:1] if access.wanted else ())]


class Slice:
    """The part of a kernel that has to be followed.

    ``names``: values; ``branches``: blocks at whose end it matters which way is taken;
    ``crossed``: those of them between which and where the ways meet there is a barrier, or a wait
    for copies; ``steps``: of each block the instructions that are followed; ``live``: of each block
    the values that are used in it or behind it. ``forgotten``: branches around barriers that count
    rounds which nothing else counts; if `forgets`, how many these are is not followed. ``named``:
    values that the formula of a line names.
    """

    def __init__(
        self, graph: Graph, effects: Effects, named: Mapping[int, set[str]], *, forgets: bool
    ) -> None:
        self.graph, self.effects, self.named, self.forgets = graph, effects, named, forgets
        self.forgotten: set[str] = set()
        self.rank = {label: number for number, label in enumerate(graph.order)}
        self.places = {
            line.name: label
            for label, block in graph.function.blocks.items()
            for line in block
            if line.op == "phi"
        }
        self.names: set[str] = set()
        self.branches: set[str] = set()
        self.crossed: set[str] = set()
        self.regions = {
            label: graph.region(label)
            for label in graph.order
            if label != EXIT and len(graph.successors[label]) > 1
        }
        self._find_names()
        blocks = graph.function.blocks
        self.steps = {
            label: [line for line in blocks[label] if self._is_followed(line)]
            for label in graph.order
            if label != EXIT
        }
        self.live = self._find_live()

    def _is_followed(self, line: Instruction) -> bool:
        return line.name in self.names or self.effects.of(line) is not None

    def _find_names(self) -> None:
        blocks = self.graph.function.blocks
        for label in self.graph.order:
            for line in blocks.get(label, ()):
                effect = self.effects.of(line)
                if isinstance(effect, Access | Async):
                    self._add(registers(operands_of(effect)) | self.named.get(line.line, set()))
        changed = True
        while changed:
            changed = False
            for label, region in self.regions.items():
                if label not in self.branches and self._matters(label, region):
                    self.branches.add(label)
                    if self.forgets and label in self.crossed and self._only_counts(label):
                        self.forgotten.add(label)
                    else:
                        self._add(registers(blocks[label][-1].operands))
                    changed = True

    def _matters(self, label: str, region: set[str]) -> bool:
        blocks = self.graph.function.blocks
        meets = self.graph.meets.get(label, EXIT)
        phis = [line for line in blocks.get(meets, ()) if line.op == "phi"]
        lines = [line for block in region for line in blocks[block]]
        if any(self._orders_block(line) for line in lines):
            self.crossed.add(label)
        return any(map(self._is_followed, lines)) or any(line.name in self.names for line in phis)

    def _orders_block(self, line: Instruction) -> bool:
        effect = self.effects.of(line)
        return isinstance(effect, Order) and effect.kind != "warp"

    def _only_counts(self, label: str) -> bool:
        """Whether a branch goes by counters of rounds that all threads make together."""
        rest = list(registers(self.graph.function.blocks[label][-1].operands))
        seen, counters = set(rest), 0
        while rest:
            name = rest.pop()
            line = self.effects.definitions.get(name)
            if line is None:
                continue  # a parameter
            if name in self.names or line.op not in _COUNTING:
                return False
            if line.op == "phi":
                here = self.rank.get(self.places[name], -1)
                if all(self.rank.get(source, -1) < here for source in line.labels):
                    return False
                counters += 1
            rest += registers(line.operands) - seen
            seen |= registers(line.operands)
        return counters > 0

    def _add(self, names: set[str]) -> None:
        rest = [name for name in names if name not in self.names]
        while rest:
            name = rest.pop()
            if name in self.names:
                continue
            self.names.add(name)
            if line := self.effects.definitions.get(name):
                rest += registers(line.operands)

    def sources(self, name: str) -> set[str]:
        """All values that one is made of."""
        found: set[str] = set()
        rest = [name]
        while rest:
            line = self.effects.definitions.get(rest.pop())
            new = registers(line.operands) - found if line else set()
            found |= new
            rest += new
        return found

    def used(self, label: str) -> list[set[str]]:
        """What each step of a block uses, and what the branch at its end does."""
        uses = []
        for line in self.steps[label]:
            effect = self.effects.of(line)
            operands = operands_of(effect) if isinstance(effect, Access | Async) else line.operands
            used = registers(operands) | self.named.get(line.line, set())
            uses.append(set() if line.op == "phi" else used & self.names)
        last = self.graph.function.blocks[label][-1]
        return [*uses, registers(last.operands) & self.names if label in self.branches else set()]

    def behind(self, label: str) -> set[str]:
        """What is used behind a block."""
        found: set[str] = set()
        for target in self.graph.successors[label]:
            if target == EXIT:
                continue
            found |= self.live[target]
            for line in self.steps[target]:
                if line.op == "phi":
                    found |= {
                        operand.name
                        for operand, source in zip(line.operands, line.labels, strict=True)
                        if source == label and operand.kind == "register"
                    }
        return found

    def live_at(self, label: str, step: int) -> set[str]:
        """What is used from a step of a block on."""
        uses, steps = self.used(label), self.steps[label]
        live = self.behind(label) | uses[-1]
        for number in range(len(steps) - 1, step - 1, -1):
            live = (live - {steps[number].name}) | uses[number]
        return live

    def _find_live(self) -> dict[str, set[str]]:
        self.live = {label: set() for label in self.graph.order if label != EXIT}
        changed = True
        while changed:
            changed = False
            for label in reversed(self.live):
                live = self.live_at(label, 0)
                if live != self.live[label]:
                    self.live[label] = live
                    changed = True
        return self.live
