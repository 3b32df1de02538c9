"""The errors and warnings that the project can emit, as the sources and the tests have them.

Three sources, as none has them all: statements of C++ that emit a diagnostic, or refuse something
in words; what Python raises or warns of; and what tests of passes expect (`expected-error`), which
is where reasons show that functions return. A text has `…` for what is put in.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeGuard

ROOT = Path(__file__).resolve().parents[3]
HOLE = "…"
EMITTERS = re.compile(
    r"\bemit(?:(?:Op)?(?:Error|Warning)\b|Cannot\w+)|\b(?:error|refuse|reject)(?=\()"
)
FINDING = re.compile(r'\{FindingKind::\w+,\s*"([\w.-]+)"')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:[^"\\]|\\.)*")', re.DOTALL)
EXPECTED = re.compile(r"expected-(?:error|warning)(?:-re)?\b[^{\n]*\{\{(.*)\}\}")

REMARKS = ("BankBuffers.cpp", "TensorCopies.cpp")
"""Where what is refused is a remark: something is done in another way."""
OF_LLVM = ("AbsentCompression.cpp",)
PAGES_OF_THEIR_OWN = ("doctor.py",)


class Text(NamedTuple):
    """A message, and where it is from."""

    text: str
    place: str


def collect() -> Iterator[Text]:
    """Yield all texts."""
    for folder in ("lib", "include", "python/src"):
        yield from collect_cpp(ROOT / folder)
    yield from collect_findings(ROOT / "lib" / "Emulator" / "Report" / "Sentences.cpp")
    yield from collect_python(ROOT / "python" / "pipeline")
    yield from collect_expected(ROOT / "test")


def collect_findings(path: Path) -> Iterator[Text]:
    """Yield the kinds of what the emulator finds, as they end a message."""
    for match in FINDING.finditer(path.read_text(encoding="utf-8")):
        yield Text(f"a finding of the emulator [{match[1]}]", path.relative_to(ROOT).as_posix())


def collect_cpp(folder: Path) -> Iterator[Text]:
    """Yield the texts of statements of C++ that emit."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".cpp", ".h") or path.name in REMARKS + OF_LLVM:
            continue
        source = COMMENT.sub(lambda match: match[1] or "", path.read_text(encoding="utf-8"))
        for match in EMITTERS.finditer(source):
            end = find_end(source, match.end())
            text = join_literals(source[match.end() : end])
            if text.strip(f"{HOLE} "):
                line = source.count("\n", 0, match.start()) + 1
                yield Text(text, f"{path.relative_to(ROOT).as_posix()}:{line}")


def find_end(source: str, start: int) -> int:
    """Return the place of the semicolon that ends a statement, or of the brace that follows."""
    depth = 0
    position = start
    while position < len(source):
        if literal := LITERAL.match(source, position):
            position = literal.end()
            continue
        letter = source[position]
        depth += (letter in "([{") - (letter in ")]}")
        if letter == ";" and depth <= 0:
            break
        position += 1
    return position


def join_literals(code: str) -> str:
    """Return the literals of an expression, with holes for what is between."""
    parts: list[str] = []
    position = 0
    for match in LITERAL.finditer(code):
        between = code[position : match.start()]
        if re.search(r"[\w']", between):
            parts.append(HOLE)
        parts.append(match[1].replace('\\"', '"').replace("\\n", " "))
        position = match.end()
    if re.search(r"<<|\w\)?\s*\)$", code[position:]):
        parts.append(HOLE)
    return tidy("".join(parts))


def tidy(text: str) -> str:
    """Return a text with one hole for several, and single spaces."""
    return re.sub(rf"{HOLE}(?:\s*{HOLE})+", HOLE, " ".join(text.split()))


def collect_expected(folder: Path) -> Iterator[Text]:
    """Yield the texts that tests of passes expect."""
    for path in sorted(folder.rglob("*.mlir")):
        source = path.read_text(encoding="utf-8")
        for match in EXPECTED.finditer(source):
            line = source.count("\n", 0, match.start()) + 1
            text = tidy(re.sub(r"\{\{.*?\}\}", HOLE, match[1]))
            yield Text(text, f"{path.relative_to(ROOT).as_posix()}:{line}")


def collect_python(folder: Path) -> Iterator[Text]:
    """Yield the texts of what Python raises or warns of."""
    for path in sorted(folder.rglob("*.py")):
        if path.name in PAGES_OF_THEIR_OWN:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        parts = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for part in node.values
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) or (is_message(node) and id(node) not in parts):
                for text in list_texts(node):
                    yield Text(text, f"{path.relative_to(ROOT).as_posix()}:{node.lineno}")


def is_message(node: ast.AST) -> TypeGuard[ast.Constant | ast.JoinedStr]:
    """Tell whether an expression is a text that begins as errors and warnings do."""
    return isinstance(node, ast.Constant | ast.JoinedStr) and bool(
        re.match(rf"(?:{HOLE}: )?(?:error|warning): ", read(node))
    )


def list_texts(node: ast.AST) -> Iterator[str]:
    """Yield the strings of an expression, each with its holes."""
    if isinstance(node, ast.Constant | ast.JoinedStr):
        text = tidy(read(node))
        if " " in text.strip(f"{HOLE} "):
            yield text
        return
    for child in ast.iter_child_nodes(node):
        yield from list_texts(child)


def read(node: ast.Constant | ast.JoinedStr) -> str:
    """Return a string, with holes for what is put in."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values
    )
