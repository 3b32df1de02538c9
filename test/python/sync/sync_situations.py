"""The acceptance situations of synchronisation that the language of `sync_programs` can express.

`t` is the thread, of 128 mostly. Counts are vectors as of `sync_programs.cost`: barriers of the
block and of warps, in the deepest loop first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oracles.sync.programs import Program, parse


@dataclass(frozen=True)
class Situation:
    """A program, and what the passes have to say and to do about it."""

    name: str
    program: Program
    verdict: str
    """Of verification."""
    inserted: tuple[int, ...] | None
    """How many barriers are added; none if insertion fails, for the reason in the verdict."""
    left: tuple[int, ...] | None = None
    """How many barriers elimination leaves."""


def situation(
    name: str,
    text: str,
    verdict: str,
    inserted: tuple[int, ...] | None,
    left: tuple[int, ...] | None = None,
    **options: Any,
) -> Situation:
    """Return a situation."""
    return Situation(
        name, parse(text, name=f"situation {name}", **options), verdict, inserted, left
    )


_AB: dict[str, Any] = {"buffers": "A:128 B:128"}
_LINES = (
    situation("1", "W S[t]; R S[t]", "SAFE", (0, 0)),
    situation("2", "W S[t]; R S[127 - t]", "RACE", (1, 0)),
    situation("3", "R S[127 - t]; W S[t]", "RACE", (1, 0)),
    situation("4", "W S[t]; W S[(t + 1) % 128]", "RACE", (1, 0)),
    # The write is at odds with itself, which nothing helps against.
    situation("6", "R S[t // 2]; W S[t // 2]", "UNFIXABLE", None),
    situation("6 across warps", "R S[t % 64]; W S[t % 64]", "UNFIXABLE", None),
    situation("6 by one", "R S[t // 2]; if t % 2 == 0 { W S[t // 2] }", "RACE", (0, 1)),
    situation("6 by one across warps", "R S[t % 64]; if t < 64 { W S[t % 64] }", "RACE", (1, 0)),
    situation("7", "W A[t]; W B[t]; R A[127 - t]; R B[127 - t]", "RACE", (1, 0), **_AB),
    situation("8", "W A[t]; R A[127 - t]; W B[t]; R B[127 - t]", "RACE", (2, 0), **_AB),
    situation(
        "9",
        "W A[t]; barrier; R A[127 - t]; barrier; R A[t]",
        "SAFE",
        (0, 0),
        (1, 0),
        **_AB,
    ),
    situation("11", "W A[t]; R B[63 - t]", "SAFE", (0, 0), threads=64, buffers="A:64@0 B:64@256"),
    situation(
        "11 overlapping", "W A[t]; R B[t]", "RACE", (1, 0), threads=64, buffers="A:64@0 B:64@128"
    ),
    situation(
        "11 overlapping in a warp",
        "W A[t]; R B[t]",
        "RACE",
        (0, 1),
        threads=32,
        buffers="A:32@0 B:32@64",
    ),
    situation("14", "W A[t]; R B[127 - t]", "SAFE", (0, 0), buffers="A:128@0 B:128@512"),
    situation(
        "14 overlapping", "W A[t]; R B[127 - t]", "RACE", (1, 0), buffers="A:128@0 B:128@256"
    ),
    situation("16", "W S[t ^ (t // 8 % 8)]; R S[t ^ (t // 8 % 8)]", "SAFE", (0, 0)),
    situation("16 unswizzled in a warp", "W S[t ^ (t // 8 % 8)]; R S[t]", "RACE", (0, 1)),
    situation("16 unswizzled", "W S[t ^ (t // 64 * 32)]; R S[t]", "RACE", (1, 0)),
)

_RING: dict[str, Any] = {"buffers": "S:2x128", "n": 5}
_LOOPS = (
    situation("18", "for i n { W S[t]; R S[127 - t] }", "RACE", (2, 0, 0, 0), n=4),
    situation(
        "19",
        "for i n { W A[t]; R A[127 - t]; W B[t]; R B[127 - t] }",
        "RACE",
        (2, 0, 0, 0),
        n=4,
        **_AB,
    ),
    situation(
        "20", "for i n { W S[i % 2][t]; R S[i % 2][127 - t] }", "RACE", (1, 0, 0, 0), **_RING
    ),
    situation(
        "21",
        "for i n { W S[(i + 2) % 4][t]; R S[i % 4][(t + 1) % 128] }",
        "RACE",
        (1, 0, 0, 0),
        buffers="S:4x128",
        n=6,
    ),
    situation("22", "W S[t]; for i n { R S[(t + i) % 128] }", "RACE", (0, 0, 1, 0), n=4),
    situation("23", "for i n { W S[t] }; R S[127 - t]", "RACE", (0, 0, 1, 0), n=4),
    situation(
        "25",
        "W S[t]; for i 7 { if t < 64 >> i { R S[t]; R S[t + (64 >> i)]; W S[t] } }; R S[0]",
        "RACE",
        (1, 0, 1, 0),
    ),
    situation(
        "25 around a divergent barrier",
        "W S[t]; for i 7 { if t < 64 >> i { barrier; R S[t + (64 >> i)]; W S[t] } }; R S[0]",
        "DIVERGENT",
        None,
    ),
    situation(
        "27",
        "loop i n { R S[127 - t] } do { W S[t] }",
        "RACE",
        (2, 0, 0, 0),
        n=4,
    ),
)

_CONTROL = (
    situation(
        "28",
        "W A[t]; if f == 0 { W B[t]; R B[127 - t] }; R A[127 - t]",
        "RACE",
        (2, 0),
        f=1,
        **_AB,
    ),
    situation(
        "28 in a loop",
        "W A[t]; for i n { W B[t]; barrier; R B[127 - t]; barrier }; R A[127 - t]",
        "RACE",
        (0, 0, 1, 0),
        n=3,
        **_AB,
    ),
    situation("30", "if t < 64 { W S[t]; R S[63 - t] }", "UNFIXABLE", None),
    situation("31", "if t < 48 { W S[t]; R S[47 - t] }", "UNFIXABLE", None),
    situation("32", "if t < 32 { W S[t]; R S[31 - t] }", "RACE", (0, 1)),
    situation("33", "if t < 64 { W S[t] }; R S[127 - t]", "RACE", (1, 0)),
    situation("34", "if t < 16 { barrier }", "DIVERGENT", None),
    situation("34 harmless", "if t < 128 { W S[t]; barrier; R S[127 - t] }", "SAFE", (0, 0)),
    situation("36", "if t < 64 { W S[t] } else { R S[t - 64] }", "UNFIXABLE", None),
    situation("38", "if t == 0 { W S[0] }; R S[0]", "RACE", (1, 0)),
)

_OTHERS = (
    situation("39", "W S[t]; R S[t ^ 1]", "RACE", (0, 1)),
    situation("39 in one warp", "W S[t]; R S[(t * 5 + 3) % 32]", "RACE", (0, 1), threads=32),
    situation("39 across warps", "W S[t]; R S[t ^ 32]", "RACE", (1, 0)),
    situation("48", "U S[0]; U S[0]", "SAFE", (0, 0)),
    situation("48 read", "U S[t % 16]; R S[(t + 1) % 16]", "RACE", (1, 0)),
    # Barriers of the block do what those of warps would; a warp's do nothing for others.
    situation("warps met", "W S[t]; barrier; R S[t ^ 1]", "SAFE", (0, 0)),
    situation("warps only", "W S[t]; warpsync; R S[127 - t]", "RACE", (1, 0)),
    # A block that is not made of whole warps.
    situation("48 threads", "W S[t]; R S[47 - t]", "RACE", (1, 0), threads=48),
    # From a program with a barrier in every gap.
    situation(
        "18 and more",
        "barrier; for i n { barrier; W S[t]; barrier; R S[127 - t]; barrier }; barrier",
        "SAFE",
        (0, 0, 0, 0),
        (2, 0, 0, 0),
        n=4,
    ),
    situation(
        "20 and more",
        "barrier; for i n { barrier; W S[i % 2][t]; barrier; R S[i % 2][127 - t]; barrier }",
        "SAFE",
        (0, 0, 0, 0),
        (1, 0, 0, 0),
        **_RING,
    ),
    situation(
        "23 and more",
        "barrier; for i n { barrier; W S[t]; barrier }; barrier; R S[127 - t]; barrier",
        "SAFE",
        (0, 0, 0, 0),
        (0, 0, 1, 0),
        n=4,
    ),
)

SITUATIONS = (*_LINES, *_LOOPS, *_CONTROL, *_OTHERS)
# Those whose counts are to be the same in all spellings.
SPELLED = ("18", "19", "20", "21", "22", "23", "25", "27", "28")
