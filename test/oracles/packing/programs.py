"""Random kernels with many buffers in workgroup memory whose lives begin and end everywhere."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Literal

from oracles.packing.steps import (
    ASYNC_ELEMENTS,
    ELEMENT_BYTES,
    Alloc,
    Bound,
    Branch,
    Buffer,
    Call,
    Choose,
    Condition,
    Dealloc,
    Loop,
    Program,
    Start,
    Step,
    Swap,
    Touch,
    Wait,
    place,
)


@dataclass
class Scope:
    """Where steps are made: which buffers hold something, and what may stand there."""

    depth: int = 0
    is_flat: bool = True
    in_loop: bool = False
    ready: list[str] = field(default_factory=list)
    # Copies of this list of steps that nobody waited for yet, and of those around it.
    pending: list[str] = field(default_factory=list)
    outer_pending: list[str] = field(default_factory=list)

    def inside(self, *, is_flat: bool = False, in_loop: bool = False) -> Scope:
        """Return the scope of the steps inside of a step."""
        return Scope(
            depth=self.depth + 1,
            is_flat=is_flat,
            in_loop=self.in_loop or in_loop,
            ready=list(self.ready),
            outer_pending=self.outer_pending + self.pending,
        )

    def has_contents(self, name: str) -> bool:
        """Tell whether a buffer holds something, or will."""
        return name in self.ready or name in self.pending or name in self.outer_pending


class Generator:
    """Makes one program."""

    def __init__(self, seed: int, dynamic_share: float) -> None:
        self.chance = random.Random(seed)
        self.seed = seed
        self.dynamic_share = dynamic_share
        self.is_launch = self.chance.random() < 0.3
        self.threads = self.chance.choice([32, 32, 33, 48, 64])
        self.extent = self.chance.randint(5, 150)
        self.most_buffers = 2 + int(19 * self.chance.random() ** 4)
        self.most_ready = self.chance.randint(1, 4)
        self.buffers: dict[str, Buffer] = {}

    def program(self) -> Program:
        """Return the program."""
        chance = self.chance
        scope = Scope()
        steps: list[Step] = []
        while len(self.buffers) < self.most_buffers:
            steps += self.steps(scope, 2)
        while scope.pending:
            steps += self.wait(scope)
        placed, _ = place(steps, frozenset())
        return Program(
            seed=self.seed,
            form="launch" if self.is_launch else "function",
            threads=self.threads,
            blocks=chance.choice([1, 2]),
            space=chance.choice(["#gpu.address_space<workgroup>", "3"]),
            is_size_known=chance.random() < 0.5,
            has_launch=self.is_launch or chance.random() < 0.8,
            flag=chance.randint(0, 2),
            trips=chance.randint(0, 3),
            extent=self.extent,
            buffers=self.buffers,
            steps=placed,
        )

    def flip(self, probability: float = 0.5) -> bool:
        """Return true with a probability."""
        return self.chance.random() < probability

    def salt(self) -> int:
        """Return a number that makes what is written differ."""
        return self.chance.randint(1, 99)

    # Buffers.

    def buffer(self, *, is_plain: bool = False, is_async: bool = False) -> Buffer:
        """Return a new buffer; a plain one has a static type without a layout."""
        chance = self.chance
        places: list[Literal["attribution", "alloc", "global"]] = ["attribution", "alloc", "alloc"]
        if not self.is_launch and not is_plain:
            places.append("global")
        place = chance.choice(places)
        elements = ASYNC_ELEMENTS if is_async else tuple(ELEMENT_BYTES)
        buffer = Buffer(
            name=f"b{len(self.buffers)}",
            place=place,
            element=chance.choice(elements),
            shape=(chance.choice([chance.randint(1, 40), chance.randint(20, 200)]),),
            alignment=0
            if self.is_launch and place == "attribution"
            else chance.choice([0, 16, 128]),
        )
        if not is_plain and self.flip(0.3):
            buffer = self._with_rank_2(buffer, is_async=is_async)
        elif not is_plain and place == "alloc" and self.flip(self.dynamic_share):
            bounds: tuple[Bound, ...] = ("affine", "minsi", "minui", "slice")
            # By chance, and not at the cost of other choices.
            bound = random.Random(f"{self.seed} {buffer.name}").choice(bounds)
            buffer = replace(buffer, extent=self.extent, bound=bound)
        self.buffers[buffer.name] = buffer
        return buffer

    def _with_rank_2(self, buffer: Buffer, *, is_async: bool) -> Buffer:
        rows, columns = self.chance.randint(1, 12), self.chance.randint(1, 16)
        strides = None
        if buffer.place != "global" and not is_async and self.flip(0.3):
            strides = (1, rows)
        elif buffer.place == "alloc" and self.flip(0.4):
            strides = (columns + self.chance.randint(1, 5), 1)
        return replace(buffer, shape=(rows, columns), strides=strides)

    def introduce(self, scope: Scope) -> list[Step]:
        """Write to a buffer that holds nothing yet."""
        unused = [
            name
            for name, buffer in self.buffers.items()
            if buffer.place not in ("alloc", "function") and not scope.has_contents(name)
        ]
        is_async = self.flip(0.2)
        if unused and not is_async and self.flip(0.25):
            name = self.chance.choice(unused)
        else:
            name = self.buffer(is_async=is_async).name
        steps: list[Step] = [Alloc(name)] if self.buffers[name].place == "alloc" else []
        if is_async:
            scope.pending.append(name)
            return [*steps, Start(name, self.salt())]
        scope.ready.append(name)
        what = self.chance.choice(["write", "write", "exchange"])
        return [*steps, self.touch(what, name)]

    def touch(self, what: str, name: str) -> Touch:
        """Return an access in one of the ways that there are."""
        via = self.chance.choices(["inline", "view", "call"], [6, 2, 0 if self.is_launch else 2])[0]
        salt = 7 if via == "call" else self.salt()
        return Touch(what, name, salt, via)  # type: ignore[arg-type]

    # Steps.

    def steps(self, scope: Scope, count: int) -> list[Step]:
        """Return steps that the whole block executes."""
        steps: list[Step] = []
        for _ in range(count):
            steps += self.step(scope)
            while len(scope.ready) > self.most_ready:
                gone = scope.ready.pop(0)
                if Alloc(gone) in steps and self.flip(0.5):
                    steps.append(Dealloc(gone))
        while scope.pending and (scope.depth > 0 or self.flip()):
            steps += self.wait(scope)
        return steps

    def step(self, scope: Scope) -> list[Step]:
        """Return one step, with what it needs."""
        kinds = [self.introduce, self.access, self.wait, self.loop, self.branch]
        kinds += [self.divergent, self.swap, self.choose, self.call]
        is_deep = scope.depth >= 3 or len(self.buffers) >= self.most_buffers
        weights = [5, 6, 2, 0 if is_deep else 2, 0 if is_deep else 2, 1.5, 0.5, 0.7]
        weights.append(0 if self.is_launch else 0.7)
        return self.chance.choices(kinds, weights)[0](scope)

    def access(self, scope: Scope) -> list[Step]:
        """Touch a buffer that holds something."""
        if not scope.ready:
            return self.introduce(scope)
        what = self.chance.choice(["read", "read", "read", "write", "own", "exchange"])
        return [self.touch(what, self.chance.choice(scope.ready))]

    def wait(self, scope: Scope) -> list[Step]:
        """Wait for the oldest copy, and maybe for no other, and read it."""
        if not scope.pending:
            return []
        name = scope.pending.pop(0)
        scope.ready.append(name)
        return [Wait(len(scope.pending), name), self.touch("read", name)]

    def call(self, scope: Scope) -> list[Step]:
        """Call a function that has a buffer: one of those that there are, or a new one."""
        workers = [name for name, buffer in self.buffers.items() if buffer.place == "function"]
        if workers and self.flip():
            return [Call(self.chance.choice(workers), 7)]
        buffer = replace(self.buffer(), place="function", extent=None)
        self.buffers[buffer.name] = buffer
        return [Call(buffer.name, 7)]

    def loop(self, scope: Scope) -> list[Step]:
        """Return a loop, whose iterations may hand a buffer on."""
        forms = ["for", "for", "while"] + (["cf", "cf-do"] if scope.is_flat else [])
        form = self.chance.choice(forms)
        iterations = None if form != "cf-do" and self.flip(0.3) else self.chance.randint(1, 3)
        inside = scope.inside(is_flat=form in ("cf", "cf-do"), in_loop=True)
        before: list[Step] = []
        if form == "while" and inside.ready:
            before = self.access(inside)
        outer: list[Step] = []
        body: list[Step] = []
        if carried := self.carried(outer):
            reading = (self.touch("read", carried),)
            body.append(Branch("scf", Condition("later"), reading, ()))
        body += self.steps(inside, self.chance.randint(1, 3))
        if carried:
            body.append(self.touch("write", carried))
        if iterations:
            for name in inside.ready:
                if self.buffers[name].place != "alloc" and not scope.has_contents(name):
                    scope.ready.append(name)
        return [*outer, Loop(form, iterations, tuple(body), tuple(before))]  # type: ignore[arg-type]

    def carried(self, outer: list[Step]) -> str:
        """Return a buffer that a loop hands from iteration to iteration; mostly none."""
        if self.flip(0.7):
            return ""
        buffer = self.buffer()
        if buffer.place == "alloc":
            outer.append(Alloc(buffer.name))
        return buffer.name

    def condition(self, scope: Scope) -> Condition:
        """Return a condition that is the same in all of a block."""
        kinds: list[Literal["block", "flag", "iteration"]] = ["block", "flag"]
        if scope.in_loop:
            kinds.append("iteration")
        return Condition(self.chance.choice(kinds), self.chance.randint(0, 1))

    def branch(self, scope: Scope) -> list[Step]:
        """Return a branch of the block."""
        form: Literal["scf", "cf"] = "cf" if scope.is_flat and self.flip() else "scf"
        regions = []
        for is_there in (True, self.flip(0.7)):
            inside = scope.inside(is_flat=form == "cf")
            count = self.chance.randint(1, 2) if is_there else 0
            regions.append(tuple(self.steps(inside, count)))
        return [Branch(form, self.condition(scope), regions[0], regions[1])]

    def divergent(self, scope: Scope) -> list[Step]:
        """Return a branch or a loop in which threads go their own ways, without barriers."""
        ready = list(scope.ready)
        self.chance.shuffle(ready)
        own, read = ready[::2], ready[1::2]
        if self.flip(0.3):
            return [Loop("divergent", 2, self.private_steps(own, read))]
        then, other = self.private_steps(own, read), self.private_steps(own, read)
        return [Branch("scf", Condition("thread", self.chance.randint(0, 1)), then, other)]

    def private_steps(self, own: list[str], read: list[str]) -> tuple[Step, ...]:
        """Return steps of single threads: with buffers of their own, or two sorts of others."""
        steps: list[Step] = []
        if self.flip(0.6):
            buffer = self.buffer()
            steps += [Alloc(buffer.name)] if buffer.place == "alloc" else []
            steps += [Touch(what, buffer.name, self.salt()) for what in ("write", "own", "own")]
        if own and self.flip():
            steps.append(Touch("own", self.chance.choice(own), self.salt()))
        if read and self.flip():
            steps.append(self.touch("read", self.chance.choice(read)))
        return tuple(steps)

    def pair(self) -> tuple[Buffer, Buffer, list[Step]]:
        """Return two buffers of one type."""
        first = self.buffer(is_plain=True)
        second = replace(first, name=f"b{len(self.buffers)}")
        self.buffers[second.name] = second
        is_alloc = first.place == "alloc"
        return first, second, [Alloc(first.name), Alloc(second.name)] if is_alloc else []

    def swap(self, scope: Scope) -> list[Step]:
        """Return a loop that carries two buffers and swaps them."""
        first, second, steps = self.pair()
        form: Literal["for", "cf"] = "cf" if scope.is_flat and self.flip() else "for"
        iterations = self.chance.randint(2, 4)
        return [*steps, Swap(first.name, second.name, iterations, self.salt(), form)]

    def choose(self, scope: Scope) -> list[Step]:
        """Return a choice of two buffers."""
        first, second, steps = self.pair()
        writes = [self.touch("write", buffer.name) for buffer in (first, second)]
        chosen = Choose(first.name, second.name, self.condition(scope), self.salt())
        return [*steps, *writes, *self.access(scope), chosen]


def generate(seed: int, dynamic_share: float = 0.2) -> Program:
    """Return a random program without races whose reads are of what was written.

    So many of the allocations of one dimension have a dynamic size."""
    return Generator(seed, dynamic_share).program()
