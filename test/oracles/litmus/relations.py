"""Relations between the events of an execution, as rows of bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator


class Relation:
    """A relation: bit ``b`` of row ``a`` says that ``a`` is related to ``b``."""

    __slots__ = ("rows",)

    def __init__(self, rows: list[int]) -> None:
        self.rows = rows

    @classmethod
    def of_pairs(cls, size: int, pairs: Iterable[tuple[int, int]]) -> Relation:
        """Return the relation of some pairs."""
        rows = [0] * size
        for a, b in pairs:
            rows[a] |= 1 << b
        return cls(rows)

    @classmethod
    def where(cls, size: int, holds: Callable[[int, int], bool]) -> Relation:
        """Return the relation of all pairs for which something holds."""
        pairs = ((a, b) for a in range(size) for b in range(size) if holds(a, b))
        return cls.of_pairs(size, pairs)

    @classmethod
    def identity(cls, size: int, members: Iterable[int]) -> Relation:
        """Return the relation of members with themselves."""
        return cls.of_pairs(size, ((a, a) for a in members))

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs."""
        for a, row in enumerate(self.rows):
            while row:
                low = row & -row
                yield a, low.bit_length() - 1
                row ^= low

    def __or__(self, other: Relation) -> Relation:
        return Relation([a | b for a, b in zip(self.rows, other.rows, strict=True)])

    def __and__(self, other: Relation) -> Relation:
        return Relation([a & b for a, b in zip(self.rows, other.rows, strict=True)])

    def __sub__(self, other: Relation) -> Relation:
        return Relation([a & ~b for a, b in zip(self.rows, other.rows, strict=True)])

    def __matmul__(self, other: Relation) -> Relation:
        """Return the composition: ``a`` by this to something, and that by the other to ``b``."""
        rows = []
        for row in self.rows:
            reached = 0
            while row:
                low = row & -row
                reached |= other.rows[low.bit_length() - 1]
                row ^= low
            rows.append(reached)
        return Relation(rows)

    def inverse(self) -> Relation:
        """Return the relation the other way round."""
        return Relation.of_pairs(len(self.rows), ((b, a) for a, b in self.pairs()))

    def optional(self) -> Relation:
        """Return the relation with all events related to themselves."""
        return Relation([row | 1 << a for a, row in enumerate(self.rows)])

    def closure(self) -> Relation:
        """Return what is related by any number of steps."""
        rows = list(self.rows)
        for middle in range(len(rows)):
            bit = 1 << middle
            reached = rows[middle]
            for a, row in enumerate(rows):
                if row & bit:
                    rows[a] = row | reached
            # A row that reaches itself reaches what it has reached since, too.
        return Relation(rows)

    @property
    def is_irreflexive(self) -> bool:
        """Whether nothing is related to itself."""
        return not any(row >> a & 1 for a, row in enumerate(self.rows))

    @property
    def is_acyclic(self) -> bool:
        """Whether no steps lead back."""
        return self.closure().is_irreflexive

    @property
    def is_empty(self) -> bool:
        """Whether nothing is related."""
        return not any(self.rows)
