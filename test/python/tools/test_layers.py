"""Each rule on the sources fails where it is broken, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from setup import layers
from setup.sources import read_functions, read_imports

TABLE = """
["lib/Top"]
rule = "Above."
uses = ["lib/Middle", "lib/Bottom"]

["lib/Middle"]
rule = "Between."
uses = ["lib/Bottom"]
public = ["Api.h"]

["lib/Bottom"]
rule = "Below."
uses = []

["python/pipeline"]
rule = "Names."
uses = ["python/pipeline/part"]

["python/pipeline/part"]
rule = "A part."
uses = []

["test/python/some"]
rule = "Tests."
uses = ["python/pipeline*"]
"""
RULE = "//===---===//\n"
LICENCE = f"//===- Numbers.h - Numbers ---===//\n//\n// Apache-2.0\n//\n{RULE}"
OPENING = f"{LICENCE}//\n// Counts.\n//\n{RULE}\n"
FILES = {
    "lib/Top/Top.h": f'{OPENING}#include "Bottom/Numbers.h"\n#include "workgroup/Api.h"\n',
    "lib/Top/Top.cpp": '#include "Top.h"\n#include "mlir/IR/Value.h"\n#include "Passes.h.inc"\n',
    "lib/Middle/Api.cpp": '#include "workgroup/Api.h"\n#include "Bottom/Numbers.h"\n',
    "lib/Bottom/Numbers.h": OPENING + "struct Numbers {\n  void count();\n};\n",
    "lib/Bottom/Numbers.cpp": '#include "Numbers.h"\nvoid Numbers::count() {\n}\n',
    "include/workgroup/Api.h": OPENING + "int answer();\n",
    "python/pipeline/__init__.py": "from .part.data import Data\n__version__ = '1'\n",
    "python/pipeline/part/__init__.py": "",
    "python/pipeline/part/data.py": "from .. import __version__, _native\n\nclass Data: ...\n",
    "test/python/some/test_data.py": "from pipeline.part.data import Data\n",
}


def find_errors(
    root: Path, changes: dict[str, str] | None = None, *, table: str = TABLE, more: str = ""
) -> list[str]:
    """Return what is wrong with a small tree after some changes."""
    for name, text in {"tools/setup/layers.toml": table + more, **FILES, **(changes or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    # The table itself lies in a folder of Python, but is none.
    return layers.report(layers.Sources(root), root)


def lines(number: int) -> str:
    return "  count();\n" * number


def test_nothing_is_wrong(tmp_path: Path) -> None:
    assert find_errors(tmp_path) == []


def test_repository() -> None:
    assert layers.report(layers.Sources(layers.ROOT), layers.ROOT) == []


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        (
            {"lib/Bottom/Numbers.h": '#include "Top/Top.h"\n'},
            "lib/Bottom/Numbers.h: lib/Bottom may not use lib/Top, which has lib/Top/Top.h",
        ),
        (
            {"python/pipeline/part/data.py": "def get():\n    from pipeline import Data\n"},
            "python/pipeline/part/data.py: python/pipeline/part may not use python/pipeline, "
            "which has python/pipeline/__init__.py",
        ),
        (
            {"python/pipeline/part/data.py": "import test_data\n", "test/python/test_data.py": ""},
            "test/python/test_data.py: is in no folder of tools/setup/layers.toml",
        ),
        (
            {"lib/Top/Top.cpp": '#include "Numbers.h"\n'},
            "lib/Top/Top.cpp: includes Numbers.h, which is not in its folder",
        ),
        (
            {"lib/Top/Top.cpp": '#include "../Bottom/Numbers.h"\n'},
            "lib/Top/Top.cpp: includes ../Bottom/Numbers.h, which is not in its folder",
        ),
        (
            {"lib/Top/Top.cpp": '#include "Top/Top.h"\n'},
            "lib/Top/Top.cpp: includes Top/Top.h, which is to be written Top.h",
        ),
        (
            {"include/workgroup/Api.h": '#include "Bottom/Numbers.h"\n'},
            "include/workgroup/Api.h: is public and includes lib/Bottom/Numbers.h, which is not",
        ),
        (
            {"lib/Other/Other.h": ""},
            "lib/Other/Other.h: is in no folder of tools/setup/layers.toml",
        ),
        (
            {
                "lib/Bottom/Digits.h": '#include "Numbers.h"\n',
                "lib/Bottom/Numbers.h": '#include "Digits.h"\n',
            },
            "use each other: lib/Bottom/Digits, lib/Bottom/Numbers",
        ),
        (
            {"lib/Bottom/Long.cpp": "void count() {\n" + lines(59) + "}\n"},
            "lib/Bottom/Long.cpp: count: has 61 lines, more than 60, from line 1 on",
        ),
        (
            {"test/python/some/test_long.py": "\n\ndef count():\n" + lines(60)},
            "test/python/some/test_long.py: count: has 61 lines, more than 60, from line 3 on",
        ),
        (
            {"lib/Bottom/Long.h": "int f();\n" * 501},
            "lib/Bottom/Long.h: has 501 lines, more than 500",
        ),
        (
            {f"lib/Bottom/{name}.cpp": f"int Numbers::get{name}() {{\n}}\n" for name in "AB"},
            "Numbers: is defined in A.cpp, B.cpp, Numbers.cpp",
        ),
    ],
)
def test_broken_rule(changes: dict[str, str], error: str, tmp_path: Path) -> None:
    assert error in find_errors(tmp_path, changes)


def test_circle_of_folders(tmp_path: Path) -> None:
    table = TABLE.replace("uses = []", 'uses = ["lib/Top"]', 1)
    changes = {"lib/Bottom/Numbers.cpp": '#include "Top/Top.h"\n'}
    errors = find_errors(tmp_path, changes, table=table)
    assert "use each other: lib/Bottom, lib/Middle, lib/Top" in errors


def test_needless_use(tmp_path: Path) -> None:
    errors = find_errors(tmp_path, {"lib/Middle/Api.cpp": OPENING})
    assert errors == [
        "tools/setup/layers.toml: lib/Middle lists lib/Bottom, which it does not need"
    ]


def test_use_without_row(tmp_path: Path) -> None:
    table = TABLE.replace("uses = []", 'uses = ["lib/Cellar"]', 1)
    error = "tools/setup/layers.toml: lib/Bottom lists lib/Cellar, which has no row"
    assert error in find_errors(tmp_path, table=table)


def test_two_rows(tmp_path: Path) -> None:
    table = TABLE.replace("uses = []", 'uses = []\npublic = ["Api.h"]', 1)
    error = "include/workgroup/Api.h: is in lib/Middle and lib/Bottom of tools/setup/layers.toml"
    assert error in find_errors(tmp_path, table=table)


# --- exceptions -----------------------------------------------------------------------------------

LONG = {"lib/Bottom/Long.cpp": OPENING + "void count() {\n" + lines(60) + "}\n"}
EXCEPTION = '[exceptions.sizes]\n"lib/Bottom/Long.cpp: count" = "a table"\n'


def test_exception(tmp_path: Path) -> None:
    assert find_errors(tmp_path, LONG, more=EXCEPTION) == []


def test_exception_that_is_not_needed(tmp_path: Path) -> None:
    (error,) = find_errors(tmp_path, more=EXCEPTION)
    assert "exception 'lib/Bottom/Long.cpp: count' is no longer needed" in error


# --- opening paragraphs ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "text", "is_opened"),
    [
        ("lib/Bottom/Sum.h", OPENING + "int sum();\n", True),
        ("lib/Bottom/Sum.h", f"{LICENCE}\nint sum();\n", False),
        ("lib/Bottom/Sum.h", f"{LICENCE}//\n{RULE}\nint sum();\n", False),
        ("lib/Bottom/Sum.h", f"{LICENCE}\n{RULE}// Sums\n{RULE}", False),
        ("lib/Bottom/Sum.h", "int sum();\n", False),
        ("include/workgroup/Bottom.h", f"{LICENCE}\nint sum();\n", False),
        ("lib/Bottom/Sum.cpp", f"{LICENCE}\nint sum();\n", False),
        ("lib/Bottom/Sum.cpp", f"{OPENING}\nint sum();\n", True),
        # Their headers say what they hold.
        ("lib/Bottom/Numbers.cpp", f"{LICENCE}\nint sum();\n", True),
        ("lib/Middle/Api.cpp", f'{LICENCE}#include "workgroup/Api.h"\n', True),
    ],
)
def test_opening(file: str, text: str, is_opened: bool, tmp_path: Path) -> None:
    folder, _, name = file.rpartition("/")
    error = f"{folder}: no opening paragraph in {name}"
    assert (error in find_errors(tmp_path, {file: text})) == (not is_opened)


def test_opening_of_folder(tmp_path: Path) -> None:
    changes = {f"lib/Bottom/{name}.cpp": f"int get{name}();\n" for name in "AB"}
    assert find_errors(tmp_path, changes) == ["lib/Bottom: no opening paragraph in A.cpp, B.cpp"]
    exception = '[exceptions.openings]\n"lib/Bottom" = "to be written"\n'
    assert find_errors(tmp_path, changes, more=exception) == []


# --- options of passes ----------------------------------------------------------------------------

OPTION = 'Option<"maxBytes", "max-bytes", "int64_t", "0", "Bytes; 0 for those of the chip">'
OWN = f"""
def CopyPass : Pass<"workgroup-copy"> {{
  let options = [{OPTION}];
}}
"""
SHARED = f"""
def MaxBytesOption
    : {OPTION};

def CopyPass : Pass<"workgroup-copy"> {{
  let options = [MaxBytesOption];
}}
"""
INHERITED = f"""
class MemoryPass<string name> : Pass<name> {{
  let options = [{OPTION}];
}}

def CopyPass : MemoryPass<"workgroup-copy"> {{
  let summary = "Copy";
}}
"""
UNSET = "workgroup-copy: max-bytes: is an option that nothing sets"


@pytest.mark.parametrize(
    ("file", "text", "is_set"),
    [
        (
            "test/a.mlir",
            "// RUN: mlir-opt --pass-pipeline='any(workgroup-copy{max-bytes=4})'",
            True,
        ),
        ("test/a.mlir", "// RUN: mlir-opt --workgroup-copy='max-bytes=4'", True),
        ("test/a.mlir", '"workgroup-copy" with options = {"max-bytes" = 4} to %f', True),
        ("test/a.mlir", "any(workgroup-copy,other{max-bytes=4})", False),
        ("test/a.mlir", "workgroup-copy{least-max-bytes=4}", False),
        ("lib/Compiler/P.cpp", "add(createCopyPass({options.maxBytes, 4}));", True),
        ("lib/Compiler/P.cpp", "add(createCopyPass({/*maxBytes=*/0, 4}));", False),
        ("lib/Compiler/P.cpp", "CopyPassOptions copy;\ncopy.maxBytes = 4;", True),
        ("lib/Compiler/P.cpp", "OtherPassOptions copy;\ncopy.maxBytes = 4;", False),
    ],
)
@pytest.mark.parametrize("definitions", [OWN, SHARED, INHERITED])
def test_option(definitions: str, file: str, text: str, is_set: bool, tmp_path: Path) -> None:
    opening = OPENING if file.endswith(".cpp") else ""
    changes = {"include/workgroup/Bottom.td": definitions, file: opening + text}
    more = '["lib/Compiler"]\nrule = ""\nuses = []\n'
    errors = find_errors(tmp_path, changes, more=more)
    assert errors == ([] if is_set else [UNSET])


# --- reading --------------------------------------------------------------------------------------

CPP = """\
#define MACRO(x) { x
// A comment {
namespace a {
struct Point {
  int x{0}, y = {1};
  int getX() const { return x; }
  Point(int x) : x{x}, y(2) {
    if (x) {
      f("}");
    }
  }
};
static const int numbers[] = {
    1,
    2,
};
/// Of a template.
template <typename T, typename = std::enable_if_t<(sizeof(T) > 1)>>
static std::pair<int, T>
makePair(T value) {
  auto make = [&](char c) { return c == '{'; };
  return {1, value};
}
enum class Kind { A, B };
int Point::get(llvm::function_ref<bool(int)> f) const & {
  return R"(})" ? 1'000 : 0;
}
bool operator==(Point a, Point b) { return true; }
} // namespace a
"""


def test_functions_of_cpp() -> None:
    found = read_functions(Path("a.cpp"), CPP)
    assert [(f.name, f.owner, f.line, f.lines) for f in found] == [
        ("getX", "", 6, 1),
        ("Point", "", 7, 5),
        ("makePair", "", 18, 6),
        ("Point::get", "Point", 25, 3),
        ("operator==", "", 28, 1),
    ]


PYTHON = '''\
class A:
    @property
    def first(self) -> str:
        """Text
of two lines
"""
        return f"""
no = 1
"""

    # of the next one

    def second(
        self,
    ) -> int:
        def inner() -> int:
            """Text that is inside"""
            return 1

        return inner()
async def third(): ...
x = 1
'''


def test_functions_of_python() -> None:
    found = read_functions(Path("a.py"), PYTHON)
    assert [(f.name, f.line, f.lines) for f in found] == [
        ("first", 3, 4),  # without the docstring
        ("second", 13, 8),
        ("third", 21, 1),
    ]


def test_imports() -> None:
    text = (
        "import a.b, c as d\nfrom . import e, f as g\nfrom ..h import (\n    i,  # first\n    j,\n)"
        "\nif True:\n    from k.l import m\n"
    )
    assert read_imports(text, "p.q") == [
        ("a.b", []),
        ("c", []),
        ("p.q", ["e", "f"]),
        ("p.h", ["i", "j"]),
        ("k.l", ["m"]),
    ]
