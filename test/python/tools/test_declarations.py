"""Each function that a header declares is defined, and each pass has one."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pipeline

ROOT = Path(__file__).resolve().parents[3]
INCLUDE = ROOT / "include"
TOOL = ROOT / "tools" / "setup" / "declarations.py"

DEFINED = (
    "LogicalResult placeBuffers(Operation *root);",
    "class UniformityAnalysis { public: bool isUniform(Value value) const; };",
    # A body, in the class or behind it.
    "class A { A() : a{1, 2}, b(3) {} void f() { if (a) g(); } int a[2]; int b = 0; };",
    "struct B { int get() const; }; inline int B::get() const { return 1; }",
    # What needs no definition.
    "struct C { virtual ~C() = default; virtual int f() = 0; C(int) = delete; };",
    "template <typename T> struct D { int f(); }; template <typename T> int g(T value);",
    # What declares no function.
    "struct E { friend class C; uint64_t all = ~uint64_t(0); std::function<int(int)> f; };",
    "using Visit = void (*)(int); enum class Kind { First, Last };",
    "// int commented(int a);\n#define DECLARE(name) int name();\n",
)
UNDEFINED = (
    # Others than a function of the same name.
    "LogicalResult placeBuffers(Operation *root, int64_t threads);",
    "class UniformityAnalysis { public: bool isUniform(Value value); };",
    # Free functions.
    "LogicalResult placeNothing(Operation *root);",
    "[[nodiscard]] std::vector<std::pair<int, int>> listNothing();",
    "void visitNothing(function_ref<void(int, int)> visit = {});",
    "bool operator==(const CopyOptions &lhs, const CopyOptions &rhs);",
    # Members.
    "class F { explicit F(int a); };",
    "class G { ~G(); };",
    "struct H { struct Inner : Base<int> { int get() const; }; };",
    "struct I { int f() { return 1; } static int count(); };",
    "struct J { int operator()(int a) const; };",
)


def check(*headers: Path) -> list[str]:
    """Return what the tool says, line by line; its status tells whether it says anything."""
    (symbols,) = (ROOT / "build").glob("cp*/python/_native*.debug")
    command: list[str | Path] = [sys.executable, TOOL, pipeline.plugin_path(), symbols, *headers]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == (done.stdout != "")
    return done.stdout.splitlines()


def write(folder: Path, declarations: Sequence[str]) -> list[Path]:
    """Write a header for each of `declarations`."""
    headers = [folder / f"{number}.h" for number in range(len(declarations))]
    for header, text in zip(headers, declarations, strict=True):
        header.write_text(f"namespace mlir::workgroup {{\n{text}\n}} // namespace\n")
    return headers


def test_headers() -> None:
    assert check() == []


def test_defined(tmp_path: Path) -> None:
    assert check(*write(tmp_path, DEFINED)) == []


def test_undefined(tmp_path: Path) -> None:
    headers = write(tmp_path, UNDEFINED)
    lines = check(*headers)
    assert [line.split(":")[0] for line in lines] == [str(header) for header in headers]
    assert lines[0].endswith(": nothing defines mlir::workgroup::placeBuffers of 2 parameters")
    assert lines[8].endswith(
        ": nothing defines mlir::workgroup::H::Inner::get of 0 parameters, const"
    )


def test_passes() -> None:
    """A pass only calls its function, which another project can call as well."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(INCLUDE.rglob("*.td"))]
    passes = re.findall(r"^def (\w+)Pass\b", "\n".join(texts), flags=re.M)
    headers = [file.read_text(encoding="utf-8") for file in sorted(INCLUDE.rglob("*.h"))]
    functions = set(re.findall(r"^(?:[\w:<>]+ )?(\w+)\(", "\n".join(headers), flags=re.M))
    missing = {name for name in passes if name[0].lower() + name[1:] not in functions}
    assert passes
    assert not missing
