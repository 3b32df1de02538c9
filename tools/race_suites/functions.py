"""Functions that a CUDA kernel is given by their addresses, as numbers."""

from __future__ import annotations

import re

_POINTER = re.compile(
    r"typedef\s+(?P<result>[\w\s*]+?)\(\s*\*\s*(?P<name>\w+)\s*\)\s*\((?P<parameters>[^()]*)\)\s*;"
)
_FUNCTION = re.compile(
    r"__device__\s+(?P<result>[\w\s*]+?)\b(?P<name>\w+)\s*\((?P<parameters>[^()]*)\)(?=\s*\{)"
)


def choose_by_numbers(text: str, kernel: str) -> str | None:
    """Let a kernel take a number where it takes a function: of which one, from 1 on, or of none.

    What it may be are the functions of its type that the program has. None if the kernel takes no
    function. Lines are those of the original.
    """
    types = {it["name"]: _describe(it) for it in _POINTER.finditer(text)}
    match = re.search(
        rf"__global__[^;{{}}()]*\b{kernel}\s*\((?P<parameters>[^(){{}};]*)\)\s*\{{", text
    )
    if not match:
        return None
    given, chosen = [], []
    for parameter in match["parameters"].split(","):
        *words, name = parameter.split() or [""]
        if len(words) != 1 or words[0] not in types:
            given.append(parameter)
            continue
        wanted = types[words[0]]
        names = [it["name"] for it in _FUNCTION.finditer(text) if _describe(it) == wanted]
        cases = "".join(f"{name}_number == {i} ? {it} : " for i, it in enumerate(names, 1))
        given.append(f" int {name}_number")
        chosen.append(f" {words[0]} {name} = {cases}nullptr;")
    if not chosen:
        return None
    begin, end = match.span("parameters")
    head, tail = text[:begin] + ",".join(given), text[match.end() :]
    return head + text[end : match.end()] + "".join(chosen) + tail


def _describe(match: re.Match[str]) -> tuple[str, int]:
    """Return the type of a result, and how many parameters there are."""
    own = match["parameters"].strip()
    return "".join(match["result"].split()), own.count(",") + 1 if own else 0
