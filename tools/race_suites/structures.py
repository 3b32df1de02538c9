"""Structures with pointers in them, that a kernel is passed by value, as arguments of its own.

No array can be given inside of a structure. A kernel around the one that was written takes the
parts, and puts them into a structure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_TYPE = re.compile(r'^(?P<name>%(?:[\w.$-]+|"[^"]+")) = type (?P<body>.*)$', re.M)
_BY_VALUE = re.compile(r"\bbyval\(")
_MOST = 256
"""Parts of a structure."""


def spread_structures(text: str, kernel: str) -> str | None:
    """Return LLVM IR whose kernel of that name takes parts; None if it takes no structure."""
    name = rf"(?:_Z{len(kernel)})?{kernel}[\w.$]*"
    match = re.search(
        rf"^define (?P<how>[^\n]*)ptx_kernel void @(?P<name>{name})\((?P<parameters>.*)\)"
        rf"(?P<rest>[^()\n]*\{{)$",
        text,
        re.M,
    )
    if not match or not _BY_VALUE.search(match["parameters"]):
        return None
    types = {it["name"]: it["body"] for it in _TYPE.finditer(text)}
    taken, handed, before, body = [], [], [], []
    for number, parameter in enumerate(_split(match["parameters"])):
        kind, argument = parameter.split(" ")[0], f"%a{number}"
        found = _BY_VALUE.search(parameter)
        if not found:
            taken.append(f"{kind} {argument}")
            handed.append(f"{kind} {argument}")
            before.append(parameter)
            continue
        structure, rest = _read_parenthesis(parameter[found.end() :])
        before.append(parameter[: found.start()] + rest.lstrip())
        handed.append(f"ptr {argument}")
        body.append(f"  {argument} = alloca {structure}, align 16")
        for part, (path, leaf) in enumerate(_find_parts(structure, types)):
            indices = "".join(f", i32 {index}" for index in (0, *path))
            taken.append(f"{leaf} {argument}.{part}")
            place = f"{argument}.{part}.place"
            body.append(f"  {place} = getelementptr {structure}, ptr {argument}{indices}")
            body.append(f"  store {leaf} {argument}.{part}, ptr {place}")
    inner = f"{match['name']}.of_parts"
    inside = f"define {match['how']}void @{inner}({', '.join(before)}){match['rest']}"
    around = [
        f"define ptx_kernel void @{match['name']}({', '.join(taken)}) {{",
        *body,
        f"  call void @{inner}({', '.join(handed)})",
        "  ret void\n}\n",
    ]
    begin, end = match.span()
    return text[:begin] + inside + text[end:] + "\n" + "\n".join(around)


def _find_parts(kind: str, types: Mapping[str, str]) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield where the numbers and pointers of a type are, and what they are."""
    kind = types.get(kind, kind).strip()
    if array := re.fullmatch(r"\[(\d+) x (.*)\]", kind):
        inner = [array[2]] * min(int(array[1]), _MOST)
    elif kind.startswith(("{", "<{")):
        inner = _split(kind.strip("<>{} "))
    else:
        yield (), kind
        return
    for index, element in enumerate(inner):
        for path, leaf in _find_parts(element, types):
            yield (index, *path), leaf


def _split(text: str) -> list[str]:
    """Return what commas outside of brackets part."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _read_parenthesis(text: str) -> tuple[str, str]:
    """Return what is up to the parenthesis that closes, and what is behind it."""
    depth = 1
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[:place], text[place + 1 :]
    return text, ""
