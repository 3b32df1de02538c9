"""A kernel in blocks of one shape, and the states that a block was in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from certificates.effects import Effects
from certificates.graph import START, Graph
from certificates.ir import Function, Program
from certificates.slices import Slice
from certificates.states import State, freeze, freeze_copies
from certificates.values import UNIFORM, Array, Environment, Evaluator, Value, merge_unknown

STATES = 130
"""How many values something has at a barrier before it is taken as unknown."""

Check = Callable[[int, Value, Array | None, Environment], None]
"""Compares the address of a line, and the threads that go there, with what is said of it."""


class Machine:
    """A kernel in blocks of one shape, and what is known of it.

    ``intervals``: for each access the barriers behind which it was done. ``assumed``: the least
    that values are, on somebody's word. ``few``: values of few possibilities, and how many;
    ``cases``: those of them that are followed each by itself; ``wanted_cases``: those of which it
    would be good to know more; ``needed_cases``: those of which too little was known to go on.
    """

    def __init__(
        self, program: Program, kernel: Function, block: tuple[int, int, int], *,
        assumed: Mapping[str, int], cases: frozenset[str], forgets: bool,
        named: Mapping[int, set[str]] | None = None,
    ) -> None:  # fmt: skip
        self.graph = Graph(kernel)
        self.effects = Effects(program, kernel)
        self.slice = Slice(self.graph, self.effects, named or {}, forgets=forgets)
        self.check: Check = lambda *_: None
        self.assumed = assumed
        self.cases = cases
        self.wanted_cases: set[str] = set()
        self.needed_cases: set[str] = set()
        self.few: dict[str, int] = {}
        self.bases: dict[str, int] = {}
        self.sizes: dict[str, int] = {}
        self.size = 0
        for name, (type, align) in program.variables.items():
            step = max(align, 16)
            self.bases[name] = -(-self.size // step) * step
            self.sizes[name] = type.size or 227 * 1024
            self.size = self.bases[name] + self.sizes[name]
        self.values = Evaluator(block, self.bases)
        self.threads = self.values.threads
        self.everybody = np.arange(self.threads)
        self.parameters: Environment = dict.fromkeys(kernel.parameters, UNIFORM)
        self.steps = 0
        self.intervals: dict[int, set[int]] = {}
        self.visited: set[bytes] = set()
        self.variety: dict[tuple[int, str], set[bytes]] = {}

    def find_outside(self, at: Array, size: int, variables: Iterable[str]) -> Array:
        """Those of some addresses where an access is in none of some variables as a whole."""
        inside = np.zeros(len(at), bool)
        for name in variables:
            inside |= (at >= self.bases[name]) & (at + size <= self.bases[name] + self.sizes[name])
        return at[~inside]

    def begin(self) -> State:
        """The block at the beginning of the kernel."""
        return State(START, self.graph.entry, 0, self.parameters)

    def is_new(self, state: State) -> bool:
        """Whether a block has not begun so before; forgets what has had too many values."""
        for name in state.environment:
            variety = self.variety.setdefault((state.line, name), set())
            if len(variety) <= STATES:
                variety.add(freeze(state.environment, {name}))
            if len(variety) > STATES:
                state.environment[name] = merge_unknown(state.environment[name])
        key = freeze(state.environment, set(state.environment))
        whole = b"%d/" % state.line + key + freeze_copies(state.copies)
        is_new = whole not in self.visited
        self.visited.add(whole)
        return is_new
