"""Run the synchronisation passes on kernels of `sync_programs`, and read what they did.

Barriers are found again in the printed module by the locations of the steps around them, so that
the outcome is a program again; and nothing else may have changed.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

import pipeline
from oracles.sync.programs import Access, Barrier, Branch, Loop, Program, Step, numbered
from oracles.sync.text import Form, Part
from pipeline.system.toolchain import find_mlir_opt

Verdict = Literal["SAFE", "MAYBE", "RACE", "UNFIXABLE", "DIVERGENT", "REFUSED"]
# The openings of messages, from the gravest to the mildest.
OPENINGS: dict[str, Verdict] = {
    "barrier in divergent control flow": "DIVERGENT",
    "cannot synchronize ": "UNFIXABLE",
    "data race on ": "RACE",
    "possible data race on ": "MAYBE",
}
INSERT = "workgroup-insert-barriers"
ELIMINATE = "workgroup-eliminate-barriers"
VERIFY = "workgroup-verify-sync"


@dataclass(frozen=True)
class Message:
    """A diagnostic, with the step that it is at; 0 if it is at none."""

    severity: Literal["error", "warning", "remark", "note"]
    step: int
    text: str


@dataclass
class Outcome:
    """What became of a module."""

    text: str = ""
    messages: list[Message] = field(default_factory=list)
    crash: str = ""

    @property
    def errors(self) -> list[Message]:
        """The errors."""
        return [message for message in self.messages if message.severity == "error"]

    @property
    def verdict(self) -> Verdict:
        """What the messages amount to."""
        for opening, verdict in OPENINGS.items():
            severity = "warning" if verdict == "MAYBE" else "error"
            if any(m.severity == severity and m.text.startswith(opening) for m in self.messages):
                return verdict
        return "REFUSED" if self.errors or self.crash else "SAFE"

    def __str__(self) -> str:
        messages = "\n".join(f"{m.severity} at {m.step}: {m.text}" for m in self.messages)
        return "\n".join(part for part in (self.crash, messages, self.text) if part)


@cache
def has_passes() -> bool:
    """Tell whether the plugin has the passes yet."""
    command = [str(find_mlir_opt()), f"--load-pass-plugin={pipeline.plugin_path()}", "--help"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return all(f"--{name} " in text for name in (INSERT, ELIMINATE, VERIFY))


def run_passes(texts: Sequence[tuple[str, str]], passes: str) -> list[Outcome]:
    """Run passes on modules, each with the name that its locations have as their file.

    All in one process, as long as none makes it crash. Names are to be different."""
    command = [
        str(find_mlir_opt()),
        f"--load-pass-plugin={pipeline.plugin_path()}",
        "--split-input-file",
        "--mlir-print-debuginfo",
        "--mlir-print-local-scope",
        f"--pass-pipeline=builtin.module({passes})",
    ]
    source = "// -----\n".join(text for _, text in texts)
    result = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if result.returncode < 0 or "PLEASE submit a bug report" in result.stderr:
        if len(texts) == 1:
            return [Outcome(crash=f"mlir-opt crashed\n{result.stderr[:3000]}")]
        return [run_passes([text], passes)[0] for text in texts]
    return _read_outcomes(texts, result.stdout, result.stderr)


def _read_outcomes(texts: Sequence[tuple[str, str]], output: str, messages: str) -> list[Outcome]:
    outcomes = {name: Outcome() for name, _ in texts}
    for match in re.finditer(
        r"^(?:loc\()?\"?([^\n\":]+)\"?:(\d+):\d+\)?: (error|warning|remark|note): (.*)$",
        messages,
        re.M,
    ):
        name, line, severity, text = match.groups()
        if name not in outcomes and severity == "note":
            # Arguments of blocks have the place where they are in the text.
            continue
        if name not in outcomes:
            raise RuntimeError(f"mlir-opt says of no program: {match[0]}")
        message = Message(severity, int(line), text)  # type: ignore[arg-type]
        outcomes[name].messages.append(message)
    for module in output.split("// -----"):
        # Arguments of blocks have the place where they are in the text.
        names = re.findall(r'loc\("([^"]+)":\d+:\d+\)', module)
        if name := next((name for name in names if name in outcomes), None):
            outcomes[name].text = module.strip() + "\n"
    for name, outcome in outcomes.items():
        if not outcome.text and not outcome.errors:
            raise RuntimeError(f"nothing is said of {name}:\n{messages[:2000]}")
    return list(outcomes.values())


# --- reading --------------------------------------------------------------------------------------

_LOCATION = re.compile(r'loc\("[^"<]*":(\d+):(\d+)\)$')
_ACCESS = re.compile(r"(?:= )?(?:memref|affine)\.(?:load|store|atomic_rmw) ")


@dataclass(frozen=True)
class Token:
    """Something in the printed module that tells where it is: a step and its part, or a word."""

    kind: Literal["step", "barrier", "warpsync", "open", "middle", "close"]
    number: int = 0
    part: Part = Part.SELF


def is_barrier(line: str) -> bool:
    """Tell whether a line of a printed module is a barrier."""
    return line.strip().startswith(("gpu.barrier", "nvvm.bar.warp.sync"))


def read_tokens(text: str) -> Iterator[Token]:
    """Yield what a kernel does."""
    for line in map(str.strip, text.splitlines()):
        match = _LOCATION.search(line)
        number, part = (int(match[1]), Part(int(match[2]) or 1)) if match else (0, Part.SELF)
        if line.startswith("gpu.barrier"):
            yield Token("barrier")
        elif line.startswith("nvvm.bar.warp.sync"):
            yield Token("warpsync")
        elif re.search(r"\b(scf|affine)\.(for|if|while)\b.*\{", line):
            yield Token("open")
        elif line in ("} else {", "} do {"):
            yield Token("middle")
        elif number and line.startswith("}"):
            yield Token("close", number)
        elif number and (_ACCESS.search(line) or line.startswith("cf.")):
            yield Token("step", number, part)


class Mismatch(Exception):
    """A printed module is not the program that it came from, with other barriers."""


def read_barriers(program: Program, text: str, form: Form) -> Program:
    """Return the program with the barriers that are in the printed module, and no others."""
    reader = _Reader(list(read_tokens(text)), form.is_flat, form.spelling == "while")
    steps = reader.steps(program.steps)
    if reader.tokens:
        raise Mismatch(f"{reader.tokens[0]} is too much")
    return numbered(replace(program, steps=steps))


class _Reader:
    """Follows a program through tokens."""

    def __init__(self, tokens: list[Token], is_flat: bool, has_heads: bool) -> None:
        self.tokens = tokens
        self.is_flat = is_flat
        self.has_heads = has_heads

    def barriers(self) -> list[Step]:
        """Read barriers."""
        found: list[Step] = []
        while self.tokens and self.tokens[0].kind in ("barrier", "warpsync"):
            found.append(Barrier(self.tokens.pop(0).kind == "warpsync"))
        return found

    def expect(self, kind: str, number: int = 0, part: Part = Part.SELF) -> None:
        """Read a token."""
        token = self.tokens.pop(0) if self.tokens else None
        if token is None or (token.kind, token.number, token.part) != (kind, number, part):
            raise Mismatch(f"{token} instead of {kind} {number} {part.name}")

    def steps(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """Read steps, with the barriers around them."""
        found = self.barriers()
        for step in steps:
            if not isinstance(step, Barrier):
                found.append(self.step(step))
                found += self.barriers()
        return tuple(found)

    def step(self, step: Step) -> Step:
        """Read one."""
        number = step.number
        match step:
            case Access():
                self.expect("step", number)
                return step
            case Loop() if self.is_flat:
                self.expect("step", number, Part.ENTER)
                head = self.steps(step.head)
                self.expect("step", number, Part.TEST)
                body = self.steps(step.body)
                self.expect("step", number, Part.NEXT)
                return replace(step, head=head, body=body)
            case Branch() if self.is_flat:
                self.expect("step", number, Part.TEST)
                then = self.steps(step.then)
                self.expect("step", number, Part.THEN)
                other = self.steps(step.other)
                self.expect("step", number, Part.OTHER)
                return replace(step, then=then, other=other)
            case Loop():
                self.expect("open")
                head = step.head
                if head or self.has_heads:
                    head = self.steps(head)
                    self.expect("middle")
                body = self.steps(step.body)
                self.expect("close", number)
                return replace(step, head=head, body=body)
            case Branch():
                self.expect("open")
                then = self.steps(step.then)
                self.expect("middle")
                other = self.steps(step.other)
                self.expect("close", number)
                return replace(step, then=then, other=other)
            case _:
                raise AssertionError(step)
