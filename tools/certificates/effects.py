"""What an instruction does to workgroup memory, and to other threads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from certificates.asynchronous import Async, find_async
from certificates.ir import Function, Instruction, NotUnderstood, Operand, Program, words

WORKGROUP = 3

Kind = Literal["read", "write", "atomic", "copy"]


@dataclass(frozen=True, slots=True)
class Access:
    """An access to workgroup memory.

    ``kind`` is copy for a write that goes on until its thread has waited for it; ``warp``: a warp
    does it as one; ``same``: all threads write the same value. ``variables``: where it may be.
    ``wanted``: a condition that is so, or not so, for all threads that do something with what they
    read; others read because that takes LLVM less than not to.
    """

    kind: Kind
    pointer: Operand
    size: int
    variables: frozenset[str]
    warp: bool = False
    same: bool = False
    wanted: tuple[Operand, bool] | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """What orders threads: a `barrier` of the block, or of the `warp`; `commit` closes a group of
    copies, `wait` waits until at most `pending` groups are on their way."""

    kind: Literal["barrier", "warp", "commit", "wait"]
    pending: int = 0


Effect = Access | Order | Async | None

_HARMLESS = re.compile(
    r"@llvm\.(nvvm\.(shfl|vote|match|redux|activemask|read\.ptx\.sreg)|assume|lifetime"
    r"|experimental\.noalias)|@__assertfail$"
)
_COPY = re.compile(r"@llvm\.nvvm\.cp\.async\.c[ag]\.shared\.global\.(\d+)(\.s)?$")
_MATRIX = re.compile(r"@llvm\.nvvm\.(ldmatrix|stmatrix)\.sync\.aligned\.m8n8\.x([124])\.")
_COMPUTATIONS = words(
    "fadd fsub fmul fdiv fneg fpext fptrunc add sub mul and or xor zext sext trunc bitcast"
)
_BARRIERS = ("@llvm.nvvm.barrier.cta.sync.aligned.all", "@llvm.nvvm.barrier0")


class Effects:
    """The effects of a kernel's instructions; raises NotUnderstood where one is not known."""

    def __init__(self, program: Program, kernel: Function) -> None:
        self.program = program
        self.definitions = {
            line.name: line for block in kernel.blocks.values() for line in block if line.name
        }
        self.parameters = kernel.parameters
        self.users: dict[str, list[Instruction]] = {}
        self.places: dict[int, str] = {}
        for label, block in kernel.blocks.items():
            for line in block:
                self.places[line.line] = label
                for operand in line.operands:
                    self.users.setdefault(operand.name, []).append(line)
        self.lines: dict[int, Effect] = {}
        for block in kernel.blocks.values():
            for line in block:
                self.lines[line.line] = self._find(line)

    def of(self, line: Instruction) -> Effect:
        """What the instruction does."""
        return self.lines[line.line]

    def has_own_order(self) -> bool:
        """Whether threads wait for each other, or for others, not at barriers alone."""
        return any(isinstance(effect, Async) for effect in self.lines.values())

    def is_barrier(self, line: Instruction) -> bool:
        """Whether all threads of the block wait for each other there."""
        effect = self.of(line)
        return isinstance(effect, Order) and effect.kind == "barrier"

    def after(self, line: Instruction, commits: int | None) -> int | None:
        """What becomes of a copy: groups closed since it began, None once it is done."""
        effect = self.of(line)
        if commits is None or not isinstance(effect, Order):
            return commits
        if effect.kind == "commit":
            return min(commits + 1, 64)
        if effect.kind == "wait" and commits > effect.pending:
            return None
        return commits

    def _fail(self, line: Instruction, what: str) -> NotUnderstood:
        return NotUnderstood(f"line {line.line}: {what}: {line.text[:100]}")

    def _find(self, line: Instruction) -> Effect:
        if line.op in ("load", "store"):
            assert line.base is not None
            kind: Kind = "read" if line.op == "load" else "write"
            kind = "atomic" if line.flag == "atomic" else kind
            same = line.op == "store" and line.operands[0].kind in ("int", "other")
            return self._access(line, kind, line.operands[-1], line.base.size, same=same)
        if line.op == "call":
            return self._find_call(line)
        if line.op in ("atomicrmw", "cmpxchg", "fence", "invoke", "va_arg", "indirectbr"):
            raise self._fail(line, "an operation that is not followed")
        return None

    def _find_call(self, line: Instruction) -> Effect:
        name = line.callee
        if (effect := find_async(line)) is not None:
            return effect
        if name == "asm":
            return self._find_assembly(line)
        if name in _BARRIERS:
            if line.operands and (line.operands[0].kind != "int" or line.operands[0].number):
                raise self._fail(line, "a barrier of all threads of another number")
            return Order("barrier")
        if name == "@llvm.nvvm.bar.warp.sync":
            whole = line.operands[0].kind == "int" and line.operands[0].number % 2**32 == 2**32 - 1
            return Order("warp") if whole else None
        if name == "@llvm.nvvm.cp.async.commit.group":
            return Order("commit")
        if name == "@llvm.nvvm.cp.async.wait.group":
            return Order("wait", line.operands[0].number)
        if match := _COPY.match(name):
            return self._access(line, "copy", line.operands[0], int(match[1]))
        if match := _MATRIX.match(name):
            kind: Kind = "read" if match[1] == "ldmatrix" else "write"
            pointer = next(o for o in line.operands if o.type.kind == "ptr")
            return self._access(line, kind, pointer, 16, warp=True)
        return self._find_other_call(line)

    def _find_other_call(self, line: Instruction) -> Effect:
        name = line.callee
        if _HARMLESS.match(name) or "memory(none)" in self._attributes_of(name):
            return None
        if name.startswith(("@llvm.masked.load.", "@llvm.masked.store.", "@llvm.mem")):
            for operand in line.operands:
                if operand.type.kind == "ptr" and self.variables_of(operand):
                    raise self._fail(line, "an access of workgroup memory that is not followed")
            return None
        raise self._fail(line, "a call that is not followed")

    def _find_assembly(self, line: Instruction) -> Effect:
        if re.search(r"\basm (sideeffect|volatile)", line.text) or "~{memory}" in line.text:
            raise self._fail(line, "assembly with effects")
        if re.search(r"\b(ld|st|atom|red|bar|cp|mbarrier|fence|membar)\b", line.text):
            raise self._fail(line, "assembly that may touch memory")
        return None

    def _access(
        self, line: Instruction, kind: Kind, pointer: Operand, size: int, *, warp: bool = False,
        same: bool = False,
    ) -> Effect:  # fmt: skip
        variables = self.variables_of(pointer)
        if not variables:
            return None
        if kind == "atomic":
            raise self._fail(line, "an atomic operation on workgroup memory")
        wanted = self._find_wanted(line) if line.op == "load" else None
        return Access(kind, pointer, size, frozenset(variables), warp, same, wanted)

    def _find_choice(
        self, load: Instruction, value: Instruction, select: Instruction
    ) -> tuple[Operand, bool] | None:
        """The condition of a selection, if it is known where the value is loaded."""
        condition, chosen, other = select.operands
        made = self.definitions.get(condition.name)
        here = self.places[load.line]
        if condition.kind != "register" or chosen.name == other.name or made is None:
            return None
        is_known = self.places[made.line] != here or made.line < load.line
        if self.places[select.line] != here or not is_known:
            return None
        return (condition, chosen.name == value.name)

    def _is_computation(self, line: Instruction) -> bool:
        """Whether a call makes something of its operands, and of nothing that other lanes have."""
        name = line.callee
        if (
            line.op != "call"
            or name == "asm"
            or re.match(r"@llvm\.nvvm\.(shfl|vote|match|redux)", name)
        ):
            return False
        return "memory(none)" in self._attributes_of(name)

    def _attributes_of(self, name: str) -> str:
        declared = self.program.attributes.get(name, "")
        groups = re.findall(r"#\d+", declared)
        return " ".join(self.program.attributes.get(group, "") for group in groups)

    def _find_wanted(self, line: Instruction) -> tuple[Operand, bool] | None:
        """The condition of a selection that drops all that a load makes, where there is one."""
        value = line
        while len(users := {user.line: user for user in self.users.get(value.name, [])}) == 1:
            user = next(iter(users.values()))
            if user.op == "select":
                return self._find_choice(line, value, user)
            if user.op not in _COMPUTATIONS and not self._is_computation(user):
                return None
            value = user
        return None

    def variables_of(self, pointer: Operand) -> set[str]:
        """The variables of workgroup memory that a pointer may point into."""
        found: set[str] = set()
        seen: set[str] = set()
        rest = [pointer]
        while rest:
            value = rest.pop()
            if value.kind == "global":
                if value.type.space == WORKGROUP:
                    found.add(value.name)
            elif value.kind == "expression":
                rest += value.parts[:1]
            elif value.kind == "register":
                if value.name in seen:
                    continue
                seen.add(value.name)
                rest += self._sources(value)
        return found

    def _sources(self, value: Operand) -> list[Operand]:
        """The pointers that one is made of; a parameter points to no workgroup memory."""
        if value.name in self.parameters:
            return []
        line = self.definitions[value.name]
        if line.op in ("getelementptr", "addrspacecast", "bitcast", "freeze"):
            return list(line.operands[:1])
        if line.op == "select":
            return list(line.operands[1:])
        if line.op == "phi":
            return list(line.operands)
        if line.op in ("alloca",) or value.type.space in (1, 4, 5, 101):
            return []
        raise self._fail(line, "a pointer from somewhere")
