"""A litmus program as a kernel of LLVM IR: a warp for each thread, of which one lane does it all.

The other lanes are at the barriers only, as these count whole warps. Places are arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .notation import Instruction, Litmus, Operand

_SCOPES = {"cta": 'syncscope("block") ', "gpu": 'syncscope("device") ', "sys": ""}
_ORDERS = {
    "relaxed": "monotonic",
    "acquire": "acquire",
    "release": "release",
    "acq_rel": "acq_rel",
    "sc": "seq_cst",
}
WARP = 32


class Unsupported(Exception):
    """A program that no launch of one kernel on one GPU is."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """The text, the blocks and the threads of a launch, and what its arrays hold before."""

    text: str
    grid: int
    block: int
    values: tuple[tuple[int, ...], ...]


def make_kernel(litmus: Litmus) -> Kernel:
    """Return a kernel. Raises Unsupported."""
    if len({gpu for _, gpu in litmus.places}) > 1:
        raise Unsupported("several GPUs")
    if litmus.aliases:
        raise Unsupported("several names of a place, or textures, surfaces and constants")
    return _Writer(litmus).write()


class _Writer:
    def __init__(self, litmus: Litmus) -> None:
        self._litmus = litmus
        blocks = sorted({block for block, _ in litmus.places})
        self._blocks = {block: number for number, block in enumerate(blocks)}
        self._warps: list[tuple[int, int]] = []
        for block, _ in litmus.places:
            number = self._blocks[block]
            self._warps.append((number, sum(other == number for other, _ in self._warps)))
        self._places = sorted(
            {it.place for thread in litmus.threads for it in thread if it.place and _accesses(it)}
        )
        self._barriers = self._number_barriers()
        self._next = 0
        self._lines: list[str] = []

    def _number_barriers(self) -> dict[tuple[int, tuple[int, ...]], tuple[int, int]]:
        """Return the number, and how many threads come, of each barrier of a block."""
        found: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for thread, program in enumerate(self._litmus.threads):
            for it in program:
                if it.name in ("bar", "arrive"):
                    key = (self._warps[thread][0], self._read_key(thread, it))
                    found.setdefault(key, []).append(thread)
        numbered: dict[tuple[int, tuple[int, ...]], tuple[int, int]] = {}
        for (block, barrier), threads in found.items():
            if len(set(threads)) < len(threads):
                raise Unsupported("a thread at one barrier twice")
            count = barrier[2] if len(barrier) > 2 else len(threads)
            if count != len(threads):
                raise Unsupported("a barrier that not all wait for who come")
            if count == 1:
                continue  # nobody to wait for
            number = sum(other == block for other, _ in numbered) + 1
            numbered[block, barrier] = number, count * WARP
        return numbered

    def _read_key(self, thread: int, it: Instruction) -> tuple[int, ...]:
        program = self._litmus.threads[thread]
        key = []
        for operand in it.operands:
            if isinstance(operand, str):
                if any(other.result == operand for other in program):
                    raise Unsupported("a barrier whose number is computed")
                operand = self._litmus.registers.get((thread, operand), 0)
            key.append(operand)
        return tuple(key)

    def write(self) -> Kernel:
        for number in range(len(self._litmus.threads)):
            self._thread(number)
        arguments = ", ".join(f"ptr %at.{name}" for name in (*self._places, "read"))
        text = "\n".join(
            [
                'target triple = "nvptx64-nvidia-cuda"',
                "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
                "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
                "declare void @llvm.nvvm.barrier.cta.sync.count(i32, i32)",
                "declare void @llvm.nvvm.barrier.cta.arrive.count(i32, i32)",
                f"define ptx_kernel void @litmus({arguments}) {{",
                *self._registers(),
                "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
                "  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
                f"  %w = udiv i32 %t, {WARP}",
                f"  %lane = urem i32 %t, {WARP}",
                "  %leads = icmp eq i32 %lane, 0",
                f"  %block = mul i32 %b, {WARP}",
                "  %who = add i32 %block, %w",
                "  switch i32 %who, label %end [",
                *(
                    f"    i32 {block * WARP + warp}, label %thread{number}"
                    for number, (block, warp) in enumerate(self._warps)
                ),
                "  ]",
                *self._lines,
                "end:",
                "  ret void",
                "}",
                "",
            ]
        )
        block = WARP * (1 + max(warp for _, warp in self._warps))
        values = [(self._litmus.initial.get(name, 0),) for name in self._places]
        read = (0,) * len(self._litmus.threads)
        return Kernel(text, len(self._blocks), block, (*values, read))

    def _registers(self) -> Iterator[str]:
        for thread, program in enumerate(self._litmus.threads):
            names = {it.result for it in program if it.result}
            names |= {o for it in program for o in it.operands if isinstance(o, str)}
            for name in sorted(names):
                yield f"  %r{thread}.{name} = alloca i32"
                value = self._litmus.registers.get((thread, name), 0)
                yield f"  store i32 {value}, ptr %r{thread}.{name}"

    def _thread(self, number: int) -> None:
        program = self._litmus.threads[number]
        self._emit(f"thread{number}:")
        self._emit(f"  br i1 %leads, label %t{number}.0, label %others{number}")
        self._emit(f"t{number}.0:")
        for at, it in enumerate(program, 1):
            self._instruction(number, it)
            self._emit(f"  br label %t{number}.{at}")
            self._emit(f"t{number}.{at}:")
        self._emit("  br label %end")
        self._emit(f"others{number}:")
        for it in program:
            if it.name in ("bar", "arrive"):
                self._instruction(number, it)
        self._emit("  br label %end")

    def _instruction(self, thread: int, it: Instruction) -> None:
        if it.name == "label":
            self._emit(f"  br label %l{thread}.{it.place}")
            self._emit(f"l{thread}.{it.place}:")
        elif it.name == "goto":
            self._emit(f"  br label %l{thread}.{it.place}")
            self._emit(f"{self._fresh()[1:]}:")
        elif it.name == "if":
            self._branch(thread, it)
        elif it.name in ("bar", "arrive"):
            self._barrier(thread, it)
        elif it.name == "fence":
            scope = _SCOPES[it.scope]
            self._emit(f"  fence {scope}{_ORDERS[it.meaning]}")
        elif it.name == "mov":
            values = [self._value(thread, operand) for operand in it.operands]
            total = values[0]
            for value in values[1:]:
                name = self._fresh()
                self._emit(f"  {name} = add i32 {total}, {value}")
                total = name
            self._emit(f"  store i32 {total}, ptr %r{thread}.{it.result}")
        else:
            self._access(thread, it)

    def _branch(self, thread: int, it: Instruction) -> None:
        first, second = [self._value(thread, operand) for operand in it.operands]
        test, after = self._fresh(), self._fresh()
        self._emit(f"  {test} = icmp {'eq' if it.meaning == '==' else 'ne'} i32 {first}, {second}")
        self._emit(f"  br i1 {test}, label %l{thread}.{it.place}, label {after}")
        self._emit(f"{after[1:]}:")

    def _barrier(self, thread: int, it: Instruction) -> None:
        known = self._barriers.get((self._warps[thread][0], self._read_key(thread, it)))
        if known:
            kind = "sync" if it.name == "bar" else "arrive"
            self._emit(
                f"  call void @llvm.nvvm.barrier.cta.{kind}.count(i32 {known[0]}, i32 {known[1]})"
            )

    def _access(self, thread: int, it: Instruction) -> None:
        values = [self._value(thread, operand) for operand in it.operands]
        scope, place = _SCOPES[it.scope], f"ptr %at.{it.place}"
        strong = "" if it.meaning == "weak" else "atomic "
        order = "" if it.meaning == "weak" else f" {scope}{_ORDERS[it.meaning]}"
        name = self._fresh()
        if it.name == "ld":
            self._emit(f"  {name} = load {strong}i32, {place}{order}, align 4")
        elif it.name == "st":
            self._emit(f"  store {strong}i32 {values[0]}, {place}{order}, align 4")
        elif it.name == "cas":
            swap = f"i32 {values[0]}, i32 {values[1]}{order} monotonic"
            self._emit(f"  {name}.both = cmpxchg {place}, {swap}")
            self._emit(f"  {name} = extractvalue {{ i32, i1 }} {name}.both, 0")
        else:
            # Those of LLVM are relaxed to PTX: what orders are fences beside them.
            operation = "xchg" if it.name == "exch" else it.name
            if it.meaning in ("release", "acq_rel"):
                self._emit(f"  fence {scope}acq_rel")
            self._emit(
                f"  {name} = atomicrmw {operation} {place}, i32 {values[0]} {scope}monotonic"
            )
            if it.meaning in ("acquire", "acq_rel"):
                self._emit(f"  fence {scope}acq_rel")
        if it.result:
            self._emit(f"  store i32 {name}, ptr %r{thread}.{it.result}")
            # What nobody uses is not read.
            slot = self._fresh()
            self._emit(f"  {slot} = getelementptr i32, ptr %at.read, i32 {thread}")
            self._emit(f"  store i32 {name}, ptr {slot}")

    def _value(self, thread: int, operand: Operand) -> str:
        if isinstance(operand, int):
            return str(operand)
        name = self._fresh()
        self._emit(f"  {name} = load i32, ptr %r{thread}.{operand}")
        return name

    def _emit(self, line: str) -> None:
        self._lines.append(line)

    def _fresh(self) -> str:
        self._next += 1
        return f"%v{self._next}"


def _accesses(it: Instruction) -> bool:
    return it.name in ("st", "ld", "add", "sub", "exch", "cas")
