"""Random kernels with loops from the thread's number on, and trees whose stride is a power of two.

Loops take a thread from its number to a bound, in steps of the block, of a warp, or of the warps of
the block. Threads make as many iterations as others, or not, by the bound: a number, an argument,
or a multiple of one. Trees go by a stride of `1 << k`, or of `half >> k`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from oracles.sync.expressions import Condition, Expression, Name, Number
from oracles.sync.programs import WARP, Access, Branch, Buffer, Loop, Step
from oracles.sync.random import Generator, Scope, T, op


class StridedGenerator(Generator):
    """Makes one program."""

    def make_buffers(self) -> None:
        """Make buffers of a few elements for each thread."""
        self.threads = self.chance.choice([32, 64, 64, 64, 96, 128])
        self.size = self.threads * self.chance.choice([1, 2, 2, 3])
        # The names of counters that are below the size.
        self.counters: set[str] = set()
        for number in range(self.chance.choice([1, 1, 2, 2, 3])):
            shape: tuple[int, ...] = (self.size,)
            name = f"b{number}"
            if self.flip(0.15):
                shape = (self.chance.randint(2, 3), *shape)
                self.rings.add(name)
            element = self.chance.choice(["i32", "i32", "i32", "i8", "i64"])
            self.buffers.append(Buffer(name, shape, element))  # type: ignore[arg-type]

    # Indices.

    def element_of_counter(self, scope: Scope) -> Expression | None:
        """Return what the innermost counter, if there is one, has got to."""
        known = [name for name in scope.iterations if name in self.counters]
        return Name(known[-1]) if known else None

    def place(self, buffer: Buffer, element: Expression, scope: Scope) -> tuple[Expression, ...]:
        """Return indices: mostly of the counter instead of the thread."""
        counter = self.element_of_counter(scope)
        if counter and self.flip(0.75):
            element = counter if element == T else self.near(counter)
        return super().place(buffer, element, scope)

    def near(self, counter: Expression) -> Expression:
        """Return an element that has to do with the one that a counter has got to."""
        choices: list[Callable[[], Expression]] = [
            lambda: self.shifted(counter, self.chance.choice([1, 1, 2, WARP])),
            lambda: self.shifted(counter, self.threads),
            lambda: op("^", counter, self.chance.choice([1, 2, 16])),
            lambda: op("%", counter, self.threads),
            lambda: op("//", counter, self.chance.choice([2, 4])),
        ]
        return self.chance.choice(choices)()

    def shifted(self, counter: Expression, by: int) -> Expression:
        """Return the element some places on."""
        return op("%", op("+", counter, by), self.size)

    # Steps.

    def loop(self, scope: Scope) -> list[Step]:
        """Return a loop."""
        kinds = [self.from_thread, self.from_lane, self.by_warps, self.tree, super().loop]
        is_power = self.threads & (self.threads - 1) == 0
        weights = [6, 1, 1, 1.5 * (is_power and not scope.is_divergent), 1.5]
        return self.chance.choices(kinds, weights)[0](scope)

    def counted(
        self,
        scope: Scope,
        start: Expression,
        step: int,
        end: tuple[Expression, bool],
        *,
        is_below: bool = True,
    ) -> list[Step]:
        """Return a loop to an end, with whether it is the same number of iterations for all."""
        name = f"i{self.loops}"
        self.loops += 1
        if is_below:
            self.counters.add(name)
        inside = Scope(scope.depth + 1, [*scope.iterations, name], scope.is_divergent or not end[1])
        body = self.steps(inside, self.chance.randint(1, 3))
        return [Loop(name, end[0], body, start=start, step=step)]

    def from_thread(self, scope: Scope) -> list[Step]:
        """Return a loop from the thread on, in steps of the block."""
        threads, most = self.threads, self.size // self.threads
        few = self.chance.randint(1, most)
        kinds: list[Callable[[], tuple[Expression, bool]]] = [
            lambda: (Number(few * threads), True),
            lambda: (Number(few * threads), True),
            lambda: (Number(max(1, few * threads - self.chance.choice([1, 16, 33]))), False),
        ]
        if self.is_room(most + 1):
            counts = tuple(range(most + 1))
            kinds += [lambda: (op("*", Name(self.argument("k", counts)), threads), True)] * 2
        if self.is_room(9):
            kinds.append(lambda: (Name(self.argument("m", self.bounds())), False))
        return self.counted(scope, T, threads, self.chance.choice(kinds)())

    def bounds(self) -> tuple[int, ...]:
        """Return values of a bound: about none, some, and all threads, and all elements."""
        threads, size = self.threads, self.size
        around = {
            0,
            1,
            threads // 2,
            threads - 1,
            threads,
            threads + 1,
            size - WARP,
            size - 1,
            size,
        }
        return tuple(sorted(number for number in around if number <= size))

    def from_lane(self, scope: Scope) -> list[Step]:
        """Return a loop from the lane on, in steps of the warp."""
        end = self.chance.choice([WARP, 2 * WARP, 2 * WARP - 5])
        end = min(end, self.size)
        return self.counted(scope, op("%", T, WARP), WARP, (Number(end), end % WARP == 0))

    def by_warps(self, scope: Scope) -> list[Step]:
        """Return a loop over rows, one for each warp."""
        warps = self.threads // WARP
        rows = self.chance.randint(1, self.size // WARP)
        end = Number(rows), rows % warps == 0
        return self.counted(scope, op("//", T, WARP), warps, end, is_below=False)

    def tree(self, scope: Scope) -> list[Step]:
        """Return a tree of sums."""
        k = f"i{self.loops}"
        self.loops += 1
        self.accesses += 2
        levels = self.threads.bit_length() - 1
        buffer = self.chance.choice(self.buffers)
        inside = Scope(scope.depth + 1, [*scope.iterations, k], is_divergent=True)
        if self.flip():
            stride = op(">>", Number(self.threads // 2), Name(k))
            condition = Condition("<", T, stride)
            other = op("+", T, stride)
        else:
            stride = op("<<", Number(1), Name(k))
            condition = Condition("==", op("%", T, op("<<", Number(2), Name(k))), Number(0))
            other = op("+", T, stride) if self.flip(0.7) else op("^", T, stride)
        sum_ = (
            Access("R", buffer.name, super().place(buffer, other, scope)),
            Access("W", buffer.name, super().place(buffer, T, scope)),
        )
        extra = self.steps(replace(inside, is_divergent=False), 1) if self.flip(0.3) else ()
        return [Loop(k, Number(levels), (Branch(condition, sum_), *extra))]
