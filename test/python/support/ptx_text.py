"""Read a PTX text: its kernels, their instructions and their shared variables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np


class PTXError(Exception):
    """The kernel did something that a GPU would not forgive."""


@dataclass
class Instruction:
    """One instruction: `@[!]guard opcode operands`."""

    opcode: str
    operands: list[str]
    guard: str | None = None
    guard_negated: bool = False
    text: str = ""


@dataclass
class Kernel:
    """An entry function with its parameters and the shared variables of its module."""

    name: str
    parameters: list[str]
    block_limit: int
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    shared: dict[str, int] = field(default_factory=dict)
    shared_bytes: int = 0
    local_bytes: int = 0


_SHARED = re.compile(r"(?<!extern )\.shared \.align (\d+) \.(\w+) ([\w$]+)(?:\[(\d+)\])?;")
_EXTERN = re.compile(r"\.extern \.shared \.align (\d+) \.b8 ([\w$]+)\[\]")
_ENTRY = re.compile(r"\.visible \.entry ([\w$]+)\((.*?)\)(.*?)\n\{(.*?)\n\}", re.S)
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+")


def parse(text: str) -> dict[str, Kernel]:
    """Return the kernels of a PTX text."""
    text = re.sub(r"//.*", "", text)
    kernels = {}
    for name, parameters, directives, body in _ENTRY.findall(text):
        limit = re.search(r"\.(?:max|req)ntid (\d+)(?:, (\d+))?(?:, (\d+))?", directives)
        sizes = [int(size or 1) for size in limit.groups()] if limit else [1024]
        kernel = Kernel(name, re.findall(r"\b(\w+_param_\d+)\b", parameters), int(np.prod(sizes)))
        _place_shared(kernel, text[: text.index(".entry")] + body)
        _parse_body(kernel, body)
        kernels[name] = kernel
    return kernels


def _place_shared(kernel: Kernel, text: str) -> None:
    for align, kind, variable, count in _SHARED.findall(text):
        offset = -(-kernel.shared_bytes // int(align)) * int(align)
        kernel.shared[variable] = offset
        kernel.shared_bytes = offset + int(count or 1) * bits_of(kind) // 8
    for align, variable in _EXTERN.findall(text):
        # All of them name the start of what the launch adds to the static variables.
        kernel.shared_bytes = -(-kernel.shared_bytes // int(align)) * int(align)
        kernel.shared[variable] = kernel.shared_bytes


def _parse_body(kernel: Kernel, body: str) -> None:
    for statement in re.split(r"(?<=[;:])", body):
        # Braces inside a body only scope a temporary register.
        words = " ".join(statement.split()).rstrip(";").lstrip("{} ")
        if words.endswith(":"):
            kernel.labels[words[:-1].split()[-1]] = len(kernel.instructions)
            continue
        if not words or words[0] == ".":
            continue
        full, guard, negated = words, None, False
        if match := re.match(r"@(!?)(%p\d+) (.*)", words):
            negated, guard, words = bool(match[1]), match[2], match[3]
        opcode, _, rest = words.partition(" ")
        kernel.instructions.append(
            Instruction(opcode, _OPERAND.findall(rest), guard, negated, full)
        )


def bits_of(kind: str) -> int:
    """Return the width of a PTX type."""
    if not re.fullmatch(r"pred|[bsuf]\d+", kind):
        raise PTXError(f"unknown type {kind}")
    return int(kind[1:]) if kind != "pred" else 1
