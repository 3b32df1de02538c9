"""Reads the generic form of MLIR, as far as host programs of the oracle have it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<value>%\w+(?:\#\d+)?(?::\d+)?)|(?P<block>\^\w+)
    |(?P<arrow>->)|(?P<open><\{)|(?P<close>\}>)|(?P<word>[@\#!]?[\w.$-]+(?:::@\w+)*)|(?P<sign>.))""",
    re.X | re.S,
)


@dataclass
class Operation:
    """An operation: names of what it makes and takes, its regions, its attributes as texts."""

    name: str
    results: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    regions: list[Block] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    kinds: str = ""


@dataclass
class Block:
    """The only block of a region."""

    arguments: list[str] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


class Reader:
    """Reads one operation."""

    def __init__(self, text: str) -> None:
        self.tokens = [match[0].strip() for match in _TOKEN.finditer(text) if match[0].strip()]
        self.at = 0

    def peek(self) -> str:
        """Return the next token."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        """Return the next token and go on; it has to be one of some, if any are given."""
        token = self.peek()
        if expected and token not in expected:
            context = " ".join(self.tokens[max(self.at - 10, 0) : self.at + 3])
            raise ValueError(f"{expected} wanted, not {token!r}: {context}")
        self.at += 1
        return token

    def until(self, *ends: str) -> str:
        """Return the text up to a token outside of all brackets, and go on behind it."""
        depth, taken = 0, []
        while depth or self.peek() not in ends:
            token = self.take()
            depth += token in ("(", "[", "{", "<", "<{")
            depth -= token in (")", "]", "}", ">", "}>")
            taken.append(token)
        return " ".join(taken)

    def operation(self) -> Operation:
        """Read an operation."""
        results: list[str] = []
        while self.peek().startswith("%"):
            name, _, count = self.take().partition(":")
            results += [f"{name}#{number}" for number in range(int(count))] if count else [name]
            self.take(",", "=")
        operation = Operation(self.take().strip('"'), results)
        self.take("(")
        while self.peek() != ")":
            operation.operands.append(self.take())
            if self.peek() == ",":
                self.take()
        self.take(")")
        if self.peek() == "<{":
            self.attributes(operation, "}>")
        if self.peek() == "(":
            self.take()
            while self.peek() != ")":
                operation.regions.append(self.region())
                if self.peek() == ",":
                    self.take()
            self.take(")")
        if self.peek() == "{":
            self.attributes(operation, "}")
        self.take(":")
        self.take("(")
        operation.kinds = self.until(")")
        self.take(")")
        self.take("->")
        if self.peek() == "(":
            self.take()
            self.until(")")
            self.take(")")
        else:
            self.kind()
        return operation

    def kind(self) -> None:
        """Go on behind a type."""
        self.take()
        if self.peek() == "<":
            self.take()
            self.until(">")
            self.take(">")

    def attributes(self, operation: Operation, end: str) -> None:
        """Read attributes."""
        self.take()
        while self.peek() != end:
            name = self.take()
            if self.peek() == "=":
                self.take()
                operation.attributes[name] = self.until(",", end)
            if self.peek() == ",":
                self.take()
        self.take(end)

    def region(self) -> Block:
        """Read a region."""
        self.take("{")
        block = Block()
        if self.peek().startswith("^"):
            self.take()
            if self.peek() == "(":
                self.take()
                while self.peek() != ")":
                    block.arguments.append(self.take())
                    self.take(":")
                    self.until(",", ")")
                    if self.peek() == ",":
                        self.take()
                self.take(")")
            self.take(":")
        while self.peek() != "}":
            block.operations.append(self.operation())
        self.take("}")
        return block


def read(text: str) -> Operation:
    """Return the module that a text in generic form is."""
    return Reader(text).operation()
