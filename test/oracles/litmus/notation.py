"""Programs of a few threads, as text: what they do, and what is asked of the end.

A test is some lines::

    test MP-gpu 60:holds 75:holds race:no
    at 0.0 0.0                              the block and GPU of each thread
    init y=1                                other than zero
    alias s surface x                       further names of a place, by a proxy
    0: st x 1; st.release.gpu y 1
    1: r1 = ld.acquire.gpu y; if r1 != 1 goto end; r2 = ld x; end:
    never 1:r1 == 1 & 1:r2 != 1             or `sometimes`, or `always`

The numbers behind the name are versions of PTX's memory model, and what it says of the last line.
``race`` is of the guarded program, see ``races``; ``ends`` says whether all threads end, see
``liveness``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Quantifier = Literal["sometimes", "never", "always"]
Proxy = Literal["generic", "surface", "texture", "constant"]

Operand = int | str
"""A number, or the name of a register."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """``name`` is st, ld, add, sub, exch, cas, mov, fence, bar, arrive, if, goto, or a label's.

    ``result``: the register that is written. ``place``: what is accessed, or the target of a jump,
    or the proxy of a fence. ``meaning``: weak, relaxed, acquire, release, acq_rel, sc, or proxy; or
    of `if` the comparison.
    """

    name: str
    meaning: str = "weak"
    scope: str = "sys"
    result: str = ""
    place: str = ""
    operands: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """A comparison of a register of a thread, or of a place (``thread`` is -1), with a value."""

    thread: int
    name: str
    is_equal: bool
    value: int
    other: tuple[int, str] | None = None


Condition = tuple[tuple[Term, ...], ...]
"""A disjunction of conjunctions."""


@dataclass(slots=True)
class Litmus:
    """A program and a question."""

    name: str
    verdicts: dict[str, bool] = field(default_factory=dict)
    is_racy: bool | None = None
    ends: bool | None = None
    places: list[tuple[int, int]] = field(default_factory=list)
    initial: dict[str, int] = field(default_factory=dict)
    registers: dict[tuple[int, str], int] = field(default_factory=dict)
    aliases: dict[str, tuple[Proxy, str]] = field(default_factory=dict)
    threads: list[tuple[Instruction, ...]] = field(default_factory=list)
    quantifier: Quantifier = "sometimes"
    condition: Condition = ()

    def origin(self, name: str) -> str:
        """Return the place that a name is of."""
        while name in self.aliases:
            name = self.aliases[name][1]
        return name

    def virtual(self, name: str) -> str:
        """Return the generic name of what a name is of: aliases by a proxy have that of another."""
        while name in self.aliases and self.aliases[name][0] != "generic":
            name = self.aliases[name][1]
        return name

    def proxy(self, name: str) -> Proxy:
        """Return the proxy by which a name is accessed."""
        return self.aliases[name][0] if name in self.aliases else "generic"


_ACCESS = re.compile(
    r"(?:(?P<result>\w+) = )?(?P<name>st|ld|add|sub|exch|cas|mov|fence|bar|arrive)"
    r"(?:\.(?P<meaning>\w+))?(?:\.(?P<scope>\w+))?(?P<rest>( -?\w+)*)"
)
_BRANCH = re.compile(r"if (\w+) (==|!=) (-?\w+) goto (\w+)")
_TERM = re.compile(r"(?:(\d+):)?(\w+) (==|!=) (?:(-?\d+)|(\d+):(\w+))")


_TRUTHS = {"yes": True, "no": False}


def read(text: str) -> Iterator[Litmus]:
    """Yield the tests of a text; what follows a sharp sign is a comment."""
    litmus: Litmus | None = None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        word, _, rest = line.partition(" ")
        try:
            if word == "test":
                name, *verdicts = rest.split()
                litmus = Litmus(name)
                for verdict in verdicts:
                    version, _, answer = verdict.partition(":")
                    if version == "race":
                        litmus.is_racy = _TRUTHS[answer]
                    elif version == "ends":
                        litmus.ends = _TRUTHS[answer]
                    else:
                        litmus.verdicts[version] = {"holds": True, "fails": False}[answer]
            elif line:
                assert litmus is not None
                _read_line(litmus, word, rest)
                if word in ("sometimes", "never", "always"):
                    yield litmus
        except (AssertionError, KeyError, ValueError, TypeError) as error:
            raise ValueError(f"line {number}: {line!r} is not understood") from error


def _read_line(litmus: Litmus, word: str, rest: str) -> None:
    if word == "at":
        for place in rest.split():
            block, _, gpu = place.partition(".")
            litmus.places.append((int(block), int(gpu)))
    elif word == "init":
        for item in rest.split():
            name, _, value = item.partition("=")
            thread, _, register = name.rpartition(":")
            if thread:
                litmus.registers[int(thread), register] = int(value)
            else:
                litmus.initial[name] = int(value)
    elif word == "alias":
        name, proxy, other = rest.split()
        assert proxy in ("generic", "surface", "texture", "constant")
        litmus.aliases[name] = proxy, other  # type: ignore[assignment]
    elif word in ("sometimes", "never", "always"):
        litmus.quantifier = word  # type: ignore[assignment]
        litmus.condition = read_condition(rest)
    else:
        assert int(word.removesuffix(":")) == len(litmus.threads)
        litmus.threads.append(
            tuple(read_instruction(it.strip()) for it in rest.split(";") if it.strip())
        )


def read_condition(text: str) -> Condition:
    """Read `a & b | c & d`."""
    return tuple(
        tuple(_read_term(term.strip()) for term in group.split("&")) for group in text.split("|")
    )


def _read_term(text: str) -> Term:
    match = _TERM.fullmatch(text)
    assert match
    thread, name, sign, value, other, register = match.groups()
    return Term(
        int(thread) if thread else -1,
        name,
        sign == "==",
        int(value or 0),
        (int(other), register) if register else None,
    )


def read_instruction(text: str) -> Instruction:
    """Read one instruction."""
    if text.endswith(":"):
        return Instruction("label", place=text[:-1])
    if text.startswith("goto "):
        return Instruction("goto", place=text[5:])
    if branch := _BRANCH.fullmatch(text):
        register, sign, value, target = branch.groups()
        return Instruction("if", sign, place=target, operands=(register, _operand(value)))
    match = _ACCESS.fullmatch(text)
    assert match
    name, operands = match["name"], match["rest"].split()
    place = operands.pop(0) if name in ("st", "ld", "add", "sub", "exch", "cas") else ""
    if name == "fence" and match["meaning"] == "proxy":
        return Instruction("fence", "proxy", place=match["scope"])
    return Instruction(
        name,
        match["meaning"] or "weak",
        match["scope"] or "sys",
        match["result"] or "",
        place,
        tuple(_operand(item) for item in operands),
    )


def _operand(text: str) -> Operand:
    return int(text) if text.lstrip("-").isdigit() else text


def write(litmus: Litmus) -> str:
    """Return a test as text."""
    verdicts = [f"{it}:{'holds' if holds else 'fails'}" for it, holds in litmus.verdicts.items()]
    if litmus.is_racy is not None:
        verdicts.append(f"race:{'yes' if litmus.is_racy else 'no'}")
    if litmus.ends is not None:
        verdicts.append(f"ends:{'yes' if litmus.ends else 'no'}")
    lines = [" ".join(["test", litmus.name, *verdicts])]
    lines.append("at " + " ".join(f"{block}.{gpu}" for block, gpu in litmus.places))
    initial = [f"{name}={value}" for name, value in litmus.initial.items() if value]
    initial += [f"{it}:{name}={value}" for (it, name), value in litmus.registers.items() if value]
    lines += [f"init {' '.join(initial)}"] if initial else []
    lines += [f"alias {name} {proxy} {it}" for name, (proxy, it) in litmus.aliases.items()]
    for number, thread in enumerate(litmus.threads):
        lines.append(f"{number}: " + "; ".join(write_instruction(it) for it in thread))
    groups = (" & ".join(_write_term(term) for term in group) for group in litmus.condition)
    lines.append(f"{litmus.quantifier} {' | '.join(groups)}")
    return "\n".join(lines) + "\n"


def _write_term(term: Term) -> str:
    thread = f"{term.thread}:" if term.thread >= 0 else ""
    value = f"{term.other[0]}:{term.other[1]}" if term.other else str(term.value)
    return f"{thread}{term.name} {'==' if term.is_equal else '!='} {value}"


def write_instruction(it: Instruction) -> str:
    """Return an instruction as text."""
    if it.name == "label":
        return f"{it.place}:"
    if it.name == "goto":
        return f"goto {it.place}"
    if it.name == "if":
        return f"if {it.operands[0]} {it.meaning} {it.operands[1]} goto {it.place}"
    if it.meaning == "proxy":
        return f"fence.proxy.{it.place}"
    is_plain = it.meaning == "weak" or it.name in ("mov", "bar", "arrive")
    name = it.name if is_plain else f"{it.name}.{it.meaning}.{it.scope}"
    words = [name, *([it.place] if it.place else []), *map(str, it.operands)]
    return (f"{it.result} = " if it.result else "") + " ".join(words)
