"""LLVM IR as data, as far as it takes to follow addresses, control flow and barriers."""

from __future__ import annotations

from dataclasses import dataclass, field


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


class NotUnderstood(Exception):
    """The text has something that is not read, so that nothing is proved of it."""


@dataclass(frozen=True, slots=True)
class Type:
    """A type: `kind` is int, float, ptr, vector, array, struct or other.

    ``bits`` of a number; ``count`` of elements; ``space`` that a pointer points to.
    """

    kind: str
    bits: int = 0
    count: int = 0
    space: int = 0
    parts: tuple[Type, ...] = ()

    @property
    def size(self) -> int:
        """The bytes that a store of it writes."""
        if self.kind == "vector" and self.parts[0].kind != "ptr":
            return (self.count * self.parts[0].bits + 7) // 8
        if self.kind in ("vector", "array"):
            return self.count * self.parts[0].stride
        if self.kind in ("int", "float"):
            return (self.bits + 7) // 8
        if self.kind == "ptr":
            return 4 if self.space == 6 else 8
        if self.kind == "struct":
            return self.offset(len(self.parts))
        raise NotUnderstood("a type without a size")

    @property
    def alignment(self) -> int:
        """The alignment of it in a structure, as NVPTX's data layout says."""
        if self.kind == "array":
            return self.parts[0].alignment
        if self.kind == "struct":
            return max((part.alignment for part in self.parts), default=1)
        return 1 << (min(max(self.size, 1), 16) - 1).bit_length()

    @property
    def stride(self) -> int:
        """The bytes from one element of an array to the next."""
        return -(-self.size // self.alignment) * self.alignment

    def offset(self, number: int) -> int:
        """Where a part of a structure begins; its end, of the number of all parts."""
        at = 0
        for part in self.parts[:number]:
            at = -(-at // part.alignment) * part.alignment + part.size
        align = self.alignment if number == len(self.parts) else self.parts[number].alignment
        return -(-at // align) * align


@dataclass(frozen=True, slots=True)
class Operand:
    """A value that is used: `kind` is register, global, int, expression or other."""

    type: Type
    kind: str
    name: str = ""
    number: int = 0
    parts: tuple[Operand, ...] = ()
    base: Type | None = None


@dataclass(slots=True)
class Instruction:
    """A line of a function.

    ``words``: what it says of overflow, as `nuw`. ``operands`` of a `phi` stand for the
    predecessors in ``labels``; of a `switch`, the value and the cases. ``callee`` is a function's
    name, or `asm`. ``base`` is the type that a `getelementptr` counts in.
    """

    line: int
    text: str
    op: str
    name: str = ""
    type: Type = field(default_factory=lambda: Type("other"))
    operands: tuple[Operand, ...] = ()
    labels: tuple[str, ...] = ()
    flag: str = ""
    words: frozenset[str] = frozenset()
    callee: str = ""
    base: Type | None = None


@dataclass(slots=True)
class Function:
    """A function: blocks by label, in their order, the entry first."""

    name: str
    line: int
    parameters: dict[str, Type]
    attributes: str
    blocks: dict[str, list[Instruction]] = field(default_factory=dict)


@dataclass(slots=True)
class Program:
    """A module: kernels, variables by name, and the attributes of functions that are declared."""

    kernels: dict[str, Function] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    variables: dict[str, tuple[Type, int]] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
