"""Kernels with a ring, each with one mistake."""

from __future__ import annotations

import re

MUTATIONS = (
    *("wait loosened", "wait removed", "barrier removed", "commit removed", "slot too few"),
)


def mutate(text: str, kind: str, slots: int) -> str:
    """Return a kernel, whose loop has a ring of `slots`, with one mistake in it."""
    wait = re.compile(rf"^ *nvvm\.cp\.async\.wait\.group {slots - 2}$", re.MULTILINE)
    inner = wait.search(text)
    assert inner
    rest = text[inner.end() :]
    barrier = re.search(r"^ *gpu\.barrier$", rest, re.MULTILINE)
    commit = re.search(r"^ *nvvm\.cp\.async\.commit\.group$", rest, re.MULTILINE)
    assert barrier
    assert commit
    if kind == "wait loosened":
        return text[: inner.start()] + f"nvvm.cp.async.wait.group {slots - 1}" + rest
    if kind == "wait removed":
        return text[: inner.start()] + rest
    if kind == "barrier removed":
        return text[: inner.end()] + rest[: barrier.start()] + rest[barrier.end() :]
    if kind == "commit removed":
        return text[: inner.end()] + rest[: commit.start()] + rest[commit.end() :]
    assert kind == "slot too few"
    return re.sub(
        rf"(%\w+) = arith\.constant {slots} : index",
        rf"\1 = arith.constant {slots - 1} : index",
        text,
    )
