"""Random kernels that need barriers: mostly ones that can be put right."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from oracles.sync.expressions import (
    THREAD,
    Binary,
    Condition,
    Expression,
    Name,
    Number,
    Operator,
    Relation,
)
from oracles.sync.minimum import insert
from oracles.sync.programs import (
    WARP,
    Access,
    Barrier,
    Branch,
    Buffer,
    Element,
    Loop,
    Program,
    Step,
    numbered,
    walk,
)
from oracles.sync.races import Analysis, analyze
from oracles.sync.text import FORMS, Form

# More values of arguments than these take too long to look at.
MOST_LAUNCHES = 40
MOST_STEPS = 14
TILE = 16
T = Name(THREAD)


def op(kind: Operator, left: Expression, right: Expression | int) -> Expression:
    """Return an operation."""
    return Binary(kind, left, Number(right) if isinstance(right, int) else right)


@dataclass
class Scope:
    """Where steps are made."""

    depth: int = 0
    iterations: list[str] = field(default_factory=list)
    is_divergent: bool = False


class Generator:
    """Makes one program."""

    def __init__(self, chance: random.Random, name: str) -> None:
        self.chance = chance
        self.name = name
        self.threads = chance.choices([32, 48, 64, 96, 128], [2, 1, 6, 2, 3])[0]
        self.arguments: dict[str, tuple[int, ...]] = {}
        self.loops = 0
        self.accesses = 0
        self.has_barriers = chance.random() < 0.2
        self.shares_arguments = chance.random() < 0.1
        self.buffers: list[Buffer] = []
        # The slots of the buffers that are rings.
        self.rings: set[str] = set()
        self.make_buffers()

    def flip(self, probability: float = 0.5) -> bool:
        """Return true with a probability."""
        return self.chance.random() < probability

    def program(self) -> Program:
        """Return the program."""
        steps = self.steps(Scope(), self.chance.randint(2, 4))
        return numbered(
            Program(self.threads, tuple(self.buffers), steps, self.arguments, self.name)
        )

    # Buffers.

    def make_buffers(self) -> None:
        """Make buffers, maybe ones that overlap."""
        count = self.chance.choice([1, 1, 2, 2, 3])
        is_packed = count > 1 and self.flip(0.3)
        elements: list[Element] = ["i32", "i32", "i32", "i8", "i16", "i64"]
        for number in range(count):
            shape: tuple[int, ...] = (self.threads,)
            if self.flip(0.25) and self.threads % TILE == 0:
                shape = (self.threads // TILE, TILE + self.chance.randint(0, 1))
            name = f"b{number}"
            if self.flip(0.3):
                shape = (self.chance.randint(2, 4), *shape)
                self.rings.add(name)
            buffer = Buffer(name, shape, self.chance.choice(elements))
            if is_packed:
                end = sum(b.bytes for b in self.buffers)
                most = end if self.flip(0.5) else end + 8
                buffer = replace(buffer, offset=self.chance.randint(0, most) // 8 * 8)
            self.buffers.append(buffer)

    # Indices.

    def own(self) -> Expression:
        """Return an element that no other thread has in the same place."""
        choices: list[Callable[[], Expression]] = [lambda: T] * 6
        choices += [self.mirror, self.rotated, self.swizzled]
        return self.chance.choice(choices)()

    def any(self, scope: Scope) -> Expression:
        """Return an element, often of another thread."""
        choices: list[Callable[[], Expression]] = [
            self.mirror,
            self.rotated,
            self.rotated,
            self.flipped,
            self.swizzled,
            lambda: op("//", T, self.chance.choice([2, 4, WARP])),
            lambda: op("%", T, self.chance.choice([2, 16, WARP])),
            lambda: Number(self.chance.choice([0, 0, 1, self.threads - 1])),
            lambda: op("%", op("*", T, self.chance.choice([2, 3])), self.threads),
            lambda: op("+", op("*", op("//", T, WARP), WARP), 0),
        ]
        if scope.iterations:
            choices += [lambda: self.moved(Name(self.chance.choice(scope.iterations)))] * 2
        if self.flip(0.1) and len(self.arguments) < 3:
            choices += [lambda: self.moved(Name(self.argument("s", (0, 1, 2, 33))))] * 4
        return self.chance.choice(choices)()

    def mirror(self) -> Expression:
        """Return the opposite thread's number."""
        return op("-", Number(self.threads - 1), T)

    def rotated(self) -> Expression:
        """Return the number of a thread some places on."""
        return op("%", op("+", T, self.chance.choice([1, 1, 2, 16, WARP])), self.threads)

    def moved(self, by: Expression) -> Expression:
        """Return the number of a thread as many places on."""
        return op("%", op("+", T, by), self.threads)

    def flipped(self) -> Expression:
        """Return the number of a thread with a bit flipped."""
        bits = [bit for bit in (1, 2, 8, 16, 32, 64) if self.threads % (2 * bit) == 0]
        return op("^", T, self.chance.choice(bits))

    def swizzled(self) -> Expression:
        """Return the thread's number with its low bits mixed."""
        row = op("%", op("//", T, 8), 8)
        return op("+", op("*", op("//", T, 8), 8), op("^", op("%", T, 8), row))

    def place(self, buffer: Buffer, element: Expression, scope: Scope) -> tuple[Expression, ...]:
        """Return indices of an element of one slot."""
        index: list[Expression] = []
        if buffer.name in self.rings:
            index.append(self.slot(buffer.shape[0], scope))
        if len(buffer.shape) - len(index) == 2:
            return (*index, op("//", element, TILE), op("%", element, TILE))
        return (*index, element)

    def slot(self, slots: int, scope: Scope) -> Expression:
        """Return the slot of a ring."""
        if not scope.iterations or self.flip(0.05):
            return Number(self.chance.randrange(slots))
        iteration: Expression = Name(
            scope.iterations[-1] if self.flip(0.85) else scope.iterations[0]
        )
        if ahead := self.chance.choice([0, 0, 1, slots - 1]):
            iteration = op("+", iteration, ahead)
        return op("%", iteration, slots)

    # Steps.

    def argument(self, prefix: str, values: tuple[int, ...]) -> str:
        """Return an argument, mostly a new one."""
        known = [name for name in self.arguments if name.startswith(prefix)]
        if known and self.shares_arguments:
            return self.chance.choice(known)
        name = f"{prefix}{len(self.arguments)}"
        self.arguments[name] = values
        return name

    def steps(self, scope: Scope, count: int) -> tuple[Step, ...]:
        """Return steps."""
        steps: list[Step] = []
        for _ in range(count):
            steps += self.step(scope)
            if self.has_barriers and self.flip(0.02 if scope.is_divergent else 0.25):
                steps.append(Barrier(is_warp=self.flip(0.2)))
        return tuple(steps)

    def step(self, scope: Scope) -> list[Step]:
        """Return one step or two."""
        may_nest = scope.depth < 2 and self.accesses < MOST_STEPS
        kinds: list[Callable[[Scope], list[Step]]] = [self.access, self.exchange]
        kinds += [self.loop, self.branch, self.divergent]
        weights = [5, 2, 2.2 * may_nest, 1.0 * may_nest, 1.3 * may_nest]
        return self.chance.choices(kinds, weights)[0](scope)

    def access(self, scope: Scope) -> list[Step]:
        """Return an access."""
        self.accesses += 1
        buffer = self.chance.choice(self.buffers)
        weights = [5.0, 4.0, 0.7 * (buffer.width >= 4)]
        operation = self.chance.choices(["W", "R", "U"], weights)[0]
        is_own = self.flip(0.97 if operation == "W" else 0.3 + 0.6 * scope.is_divergent)
        element = self.own() if is_own else self.any(scope)
        index = self.place(buffer, element, scope)
        return [Access(operation, buffer.name, index)]  # type: ignore[arg-type]

    def exchange(self, scope: Scope) -> list[Step]:
        """Write and read one buffer."""
        self.accesses += 2
        buffer = self.chance.choice(self.buffers)
        element = self.own()
        other = element if scope.is_divergent else self.any(scope)
        return [
            Access("W", buffer.name, self.place(buffer, element, scope)),
            Access("R", buffer.name, self.place(buffer, other, scope)),
        ]

    def loop(self, scope: Scope) -> list[Step]:
        """Return a loop."""
        iteration = f"i{self.loops}"
        self.loops += 1
        trips: Expression = Number(self.chance.randint(1, 5 - scope.depth))
        if self.flip(0.35) and self.is_room(6 - 2 * scope.depth):
            # The last value goes through all slots of a ring.
            few = range(5 - 2 * scope.depth)
            trips = Name(self.argument("n", (*few, 5)))
        inside = Scope(scope.depth + 1, [*scope.iterations, iteration], scope.is_divergent)
        if not scope.is_divergent and self.flip(0.08):
            # Threads or warps that make other numbers of iterations.
            trips = op("%", op("//", T, self.chance.choice([1, WARP])), 3)
            inside.is_divergent = True
        head = self.steps(inside, self.chance.randint(1, 2)) if self.flip(0.12) else ()
        return [Loop(iteration, trips, self.steps(inside, self.chance.randint(1, 3)), head)]

    def is_room(self, values: int) -> bool:
        """Tell whether there may be an argument with so many values."""
        known = prod(len(values) for values in self.arguments.values())
        return len(self.arguments) < 3 and known * values <= MOST_LAUNCHES

    def branch(self, scope: Scope) -> list[Step]:
        """Return a branch that all threads take together."""
        if scope.iterations and self.flip(0.25):
            left: Expression = Name(scope.iterations[-1])
            left = op("%", left, 2) if self.flip() else left
        elif self.is_room(2):
            left = Name(self.argument("f", (0, 1)))
        else:
            return self.access(scope)
        condition = Condition(self.chance.choice(["==", "!="]), left, Number(0))
        inside = replace(scope, depth=scope.depth + 1)
        then = self.steps(inside, self.chance.randint(1, 2))
        return [Branch(condition, then, self.steps(inside, 1) if self.flip(0.3) else ())]

    def divergent(self, scope: Scope) -> list[Step]:
        """Return a branch that only some threads take."""
        choices: list[tuple[Relation, Expression, int]] = [
            ("<", T, self.threads // 2),
            ("<", T, WARP),
            (">=", T, WARP),
            ("<", T, self.chance.choice([1, 16, 40])),
            ("==", T, 0),
            ("==", op("//", T, WARP), 0),
            ("==", op("%", op("//", T, WARP), 2), 0),
        ]
        relation, left, right = self.chance.choice(choices)
        inside = replace(scope, depth=scope.depth + 1, is_divergent=True)
        then = self.steps(inside, self.chance.randint(1, 2))
        other = self.steps(inside, 1) if self.flip(0.15) else ()
        return [Branch(Condition(relation, left, Number(right)), then, other)]


def generate(seed: int, make: type[Generator] = Generator) -> tuple[Program, Analysis]:
    """Return a random program, and what there is to know of it.

    Of those that no barriers can put right, and of those that need none, most are thrown away."""
    chance = random.Random(seed)
    while True:
        program = make(chance, f"seed{seed}").program()
        accesses = [step for step, _ in walk(program.steps) if isinstance(step, Access)]
        if not 2 <= len(accesses) <= MOST_STEPS:
            continue
        analysis = analyze(program)
        is_dull = not analysis.open_demands()
        chances = 0.25 if analysis.unfixable else 0.4 if is_dull else 1.0
        if chance.random() < chances:
            return program, analysis


def form_of(seed: int) -> Form:
    """Return how a program is written."""
    return FORMS[seed % len(FORMS)]


def with_barriers(program: Program, analysis: Analysis, seed: int) -> Program:
    """Return a program with more barriers than it needs, if enough of them are possible."""
    chance = random.Random(seed)
    share = chance.choice([0.5, 0.8, 1.0])
    free: Sequence[int] = range(len(analysis.places))
    chosen = [
        analysis.places[bit]
        for bit in free
        if not analysis.places[bit].barrier
        and not analysis.places[bit].is_warp
        and chance.random() < share
    ]
    return insert(program, chosen)
