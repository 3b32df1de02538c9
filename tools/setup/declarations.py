"""Check that each function that a header of include/ and lib/ declares is defined.

The compiler does not notice a declaration without a definition before somebody calls it. Headers
are read as text and compared with the symbols of the built plugin and extension: by qualified name,
number of parameters, and const. Templates are left out; a function may be defined in a header, too.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "include", ROOT / "lib")

_IGNORED = re.compile(
    r"""//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'""",
    re.S | re.M,
)
# What stands before the brace of a scope.
_NAMESPACE = re.compile(r"\b(?:inline\s+)?namespace\s+([\w:]+)$")
_CLASS = re.compile(r"^(?:class|struct|union)\s+(?:alignas\s*\([^)]*\)\s*)?(\w+)\b[^()]*$")
# What begins a declaration of something else, or of what no symbol needs to be there for.
_NO_FUNCTION = re.compile(
    r"^(?:using|typedef|friend|static_assert|enum|template|extern template)\b"
)
# What ends a declaration that wants a definition elsewhere, unless the group is there.
_ENDING = re.compile(r"\)[\w\s&]*(=\s*(?:0|default|delete))?$")
_NAME = re.compile(r"((?:\w+\s*::\s*)*(?:~?\w+|operator\s*(?:\(\)|\[\]|[^\s\w(]+|[\w\s]+)))\s*$")


class Function(NamedTuple):
    """What tells a function from others, as far as it is compared.

    The name is qualified. A function of C has -1 parameters: its symbol does not tell them.
    """

    name: str
    arity: int
    is_const: bool

    def __str__(self) -> str:
        plural = "" if self.arity == 1 else "s"
        return f"{self.name} of {self.arity} parameter{plural}{', const' if self.is_const else ''}"


@dataclass
class Declarations:
    """The functions of one header: those that are only declared, and those that have a body."""

    declared: Counter[Function] = field(default_factory=Counter)
    inline: Counter[Function] = field(default_factory=Counter)


def _find_parameters(text: str) -> int:
    """Return where the parenthesis of the parameters opens, or -1."""
    depth = 0
    text = text.replace("operator()", "operator__").replace("->", "--")
    for at, character in enumerate(text):
        if character == "<" and not text[:at].rstrip().endswith("operator"):
            depth += 1
        elif character == ">" and depth > 0:
            depth -= 1
        elif character == "(" and depth == 0:
            return at
    return -1


def _close(text: str, start: int) -> int:
    """Return where the text goes on behind what the bracket at `start` encloses."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "({[") - (text[at] in ")}]")
        if depth == 0:
            return at + 1
    message = f"nothing closes {text[start : start + 40]!r}"
    raise ValueError(message)


def _count_parameters(text: str) -> int:
    """Return how many parameters stand between parentheses."""
    if text.strip() in ("", "void"):
        return 0
    depth = commas = 0
    for character in text.replace("->", "--"):
        depth += (character in "<({[") - (character in ">)}]")
        commas += character == "," and depth == 0
    return commas + 1


def parse_function(text: str) -> Function | None:
    """Return the function that `text`, up to a body or semicolon, declares, if it does."""
    start = _find_parameters(text)
    name = _NAME.search(text[:start]) if start >= 0 else None
    is_macro = name is not None and re.fullmatch(r"[A-Z]+_[A-Z_]+", name[1]) is not None
    if not name or is_macro or "=" in text[: name.start()]:  # of a variable
        return None
    end = _close(text, start)
    is_const = re.match(r"\s*const\b", text[end:]) is not None
    return Function(name[1].strip(), _count_parameters(text[start + 1 : end - 1]), is_const)


class _Reader:
    """Reads the text of one header, scope by scope."""

    def __init__(self, text: str) -> None:
        self.text = _IGNORED.sub(lambda match: '""' if match[0][0] == '"' else " ", text)
        self.at = 0
        self.found = Declarations()

    def read(self, scope: str = "", is_template: bool = False) -> None:
        """Read declarations up to the brace that closes the scope, or to the end."""
        head = ""
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in "([":
                end = _close(self.text, self.at)
                head, self.at = head + self.text[self.at : end], end
                continue
            if character == "{":
                head = self._enter(head, scope, is_template)
                continue
            self.at += 1
            if character == "}":
                return
            if character == ";":
                self._add(self.found.declared, head, scope, is_template)
                head = ""
            else:
                head = re.sub(r"\b(?:public|private|protected)\s*:$", "", head + character)

    def _enter(self, head: str, scope: str, is_template: bool) -> str:
        """Read or skip what is in braces; return the head if the declaration goes on behind."""
        text = head.strip()
        is_template = is_template or text.startswith("template")
        bare = re.sub(r"^template\s*<.*?>\s*(?=class|struct|union)", "", text, flags=re.S)
        if opened := _NAMESPACE.search(text):
            self._read_scope(f"{scope}{opened[1]}::", is_template)
        elif re.match(r'extern\s*""$', text):
            self._read_scope("", is_template)
        elif text == "namespace":
            self.at = _close(self.text, self.at)
        elif opened := _CLASS.match(bare):
            self._read_scope(f"{scope}{opened[1]}::", is_template)
        else:
            self.at = _close(self.text, self.at)
            if re.match(r"\s*[,{]", self.text[self.at :]):  # initializers of members
                return head + "{}"
            if not text.startswith("enum") and not self.text[self.at :].lstrip().startswith(";"):
                self._add(self.found.inline, head, scope, is_template)
        return ""

    def _read_scope(self, scope: str, is_template: bool) -> None:
        self.at += 1
        self.read(scope, is_template)

    def _add(self, functions: Counter[Function], head: str, scope: str, is_template: bool) -> None:
        text = re.sub(r"\[\[.*?\]\]", "", head).strip()
        if is_template or _NO_FUNCTION.match(text):
            return
        if functions is self.found.declared:
            ending = _ENDING.search(text)
            if not ending or ending[1]:
                return
        if function := parse_function(text):
            is_of_c = scope == "" and "::" not in function.name
            name = scope + function.name
            functions[Function(name, -1, False) if is_of_c else function._replace(name=name)] += 1


def read_header(text: str) -> Declarations:
    """Return the functions that a header declares."""
    reader = _Reader(text)
    reader.read()
    return reader.found


def read_symbols(library: Path) -> Counter[Function]:
    """Return the functions that a library exports or, if it is a file of symbols, defines."""
    kind = ["--dynamic"] if library.suffix != ".debug" else []
    command = ["nm", *kind, "--defined-only", str(library)]
    lines = set(subprocess.check_output(command, text=True).splitlines())
    # Of the symbols of the extension, most are LLVM's.
    names = [line for line in lines if "9workgroup" in line or " _Z" not in line]
    demangled = subprocess.check_output("c++filt", input="\n".join(names), text=True)
    functions: Counter[Function] = Counter()
    for line in demangled.splitlines():
        symbol = line.split(" ", 2)[2]
        text = re.sub(r"\[abi:\w+\]", "", symbol).replace("(anonymous namespace)", "")
        if "(" not in text:
            functions[Function(text, -1, False)] += 1
        elif function := parse_function(text):
            functions[function] += 1
    return functions


def find_undefined(headers: list[Path], libraries: list[Path]) -> list[tuple[Path, Function]]:
    """Return the functions that `headers` declare and neither they nor `libraries` define."""
    found = {header: read_header(header.read_text(encoding="utf-8")) for header in headers}
    linked: Counter[Function] = Counter()
    for library in libraries:
        linked |= read_symbols(library)
    defined = sum((header.inline for header in found.values()), linked)
    return [
        (header, function)
        for header, declarations in found.items()
        for function, count in declarations.declared.items()
        if defined[function] < count
    ]


def list_headers() -> list[Path]:
    """Return all headers of the plugin and the extension."""
    return sorted(chain.from_iterable(folder.rglob("*.h") for folder in FOLDERS))


def main() -> int:
    """Print what is declared and not defined."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plugin", type=Path, help="the built WorkgroupPlugin.so")
    parser.add_argument("symbols", type=Path, help="the symbols of the built extension")
    parser.add_argument("headers", type=Path, nargs="*", help="the headers, instead of all")
    options = parser.parse_args()
    libraries = [options.plugin, options.symbols]
    undefined = find_undefined(options.headers or list_headers(), libraries)
    for header, function in undefined:
        print(f"{header}: nothing defines {function}")
    return 1 if undefined else 0


if __name__ == "__main__":
    sys.exit(main())
