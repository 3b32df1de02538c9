"""What sources say of themselves: what they include or import, and their functions.

No compiler is asked, so that all sources are read in less than a second: C++ is taken to be
formatted, and free of macros that hold braces.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
_IMPORT = re.compile(
    r"^[ \t]*(?:from (\.*)([\w.]*) import (\([^)]*\)|[^\n]+)|import (\w[^\n]*))", re.M
)
_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|^#(?:[^\n]*\\\n)*[^\n]*|R"(\w*)\(.*?\)\1"'
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[{};]""",
    re.S | re.M,
)
_TEXT = re.compile(r'"""(?:\\.|[^\\])*?"""', re.S)
_DOCSTRING = re.compile(r'^[ \t]+("""(?:\\.|[^\\])*?""")', re.S | re.M)
_STATEMENT = re.compile(r"\s*[\w@]")
_DEF = re.compile(r"(\s*)(?:async )?def (\w+)")
_SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b")
_FUNCTION = re.compile(r"\)(?:\s|const|override|final|noexcept|mutable|&|->[\w:<>,*&\s]+)*$")
_METHOD = re.compile(r"\b(\w+)::(?:~?\w+|operator[^\w\s(]+)\s*\(")
_NAME = re.compile(r"([\w:~]+|operator[^\w\s(]+)\s*\(")


class Function(NamedTuple):
    """A function with a body; ``owner`` is the class that it is a method of, if C++ says so.

    ``lines`` are those of code, blank ones and comments among them; the docstring of Python, which
    stands above a function in C++, is none.
    """

    name: str
    owner: str
    line: int
    lines: int


def read_opening(text: str) -> str:
    """Return the opening paragraph of C++: what stands between the licence and a closing rule."""
    block = re.match(r"(?://[^\n]*\n)*", text)
    parts = re.split(r"^//===-+===//\n", block[0] if block else "", flags=re.M)
    lines = parts[1].splitlines() if len(parts) > 2 else ()
    return "\n".join(line[2:].strip() for line in lines).strip()


def read_includes(text: str) -> list[str]:
    """Return what C++ includes in quotes."""
    return _INCLUDE.findall(text)


def read_imports(text: str, package: str) -> list[tuple[str, list[str]]]:
    """Return the modules that Python imports, inside of functions too, with the names of each.

    `package` is the one that dots stand for.
    """
    found: list[tuple[str, list[str]]] = []
    for dots, module, names, modules in _IMPORT.findall(text):
        if modules:
            found += [(name.split()[0], []) for name in modules.split(",") if name.strip()]
            continue
        if dots:
            parts = package.split(".")
            module = ".".join(parts[: len(parts) - len(dots) + 1] + [module] * bool(module))
        words = re.sub(r"#[^\n]*|[()]", "", names).split(",")
        found.append((module, [word.split()[0] for word in words if word.strip()]))
    return found


def read_functions(path: Path, text: str) -> list[Function]:
    """Return the functions of a source, those inside of others not."""
    return _read_python(text) if path.suffix == ".py" else _read_cpp(text)


def _read_python(text: str) -> list[Function]:
    """Find bodies by indentation, in which texts in triple quotes have no part."""
    lines = _TEXT.sub(lambda match: '"' + "\n" * match[0].count("\n") + '"', text).split("\n")
    docstrings = {
        text.count("\n", 0, match.start(1)) + 1: match[1].count("\n") + 1
        for match in _DOCSTRING.finditer(text)
    }

    def count_code(start: int, last: int) -> int:
        head = (n for n in range(start, last) if lines[n - 1].split("#")[0].rstrip().endswith(":"))
        return last - start + 1 - docstrings.get(next(head, last) + 1, 0)

    found: list[Function] = []
    is_inside, indent, name, start, last = False, 0, "", 0, 0
    for number, line in enumerate([*lines, "end"], 1):
        if is_inside and _STATEMENT.match(line) and len(line) - len(line.lstrip()) <= indent:
            found.append(Function(name, "", start, count_code(start, last)))
            is_inside = False
        if not is_inside and (match := _DEF.match(line)):
            is_inside, indent, name, start = True, len(match[1]), match[2], number
        if line.strip() and line.lstrip()[0] != "#":
            last = number
    return found


def _read_cpp(text: str) -> list[Function]:
    """Find bodies: what stands in braces outside of functions, behind a closing parenthesis."""
    found = []
    head, start = "", -1  # code since the last declaration, and where it begins
    scopes: list[bool] = []  # of each brace around, whether declarations are in it
    depth, end = 0, 0  # braces inside of a function, and where the last token ends
    for token in _TOKEN.finditer(text):
        word = token[0]
        if not depth:
            code = text[end : token.start()]
            if start < 0 and code.strip():
                start = end + len(code) - len(code.lstrip())
            head += code
        end = token.end()
        if depth:
            depth += (word == "{") - (word == "}")
            if not depth:
                found.append(_make_function(text, head, start, end))
                head, start = "", -1
        elif word == "{" and _FUNCTION.search(head):
            depth = 1
        elif word == "{":
            scopes.append(bool(_SCOPE.search(head)) and not head.rstrip().endswith("="))
            if scopes[-1]:
                head, start = "", -1
        elif word == "}":
            is_scope = scopes.pop() if scopes else True
            # An initialiser: the declaration goes on.
            head, start = ("", -1) if is_scope else (head + "()", start)
        elif word == ";":
            head, start = "", -1
        elif word[0] in "\"'R":
            head += '""'
    return found


def _make_function(text: str, head: str, start: int, end: int) -> Function:
    for _ in range(3):  # templates in templates
        head = re.sub(r"<[^<>]*>", "", head)
    name, method = _NAME.search(head), _METHOD.search(head)
    line = text.count("\n", 0, start) + 1
    lines = text.count("\n", start, end) + 1
    return Function(name[1] if name else "?", method[1] if method else "", line, lines)
