"""Check the sources against layers.toml: which folder may use which, and how large things may be.

A folder may use itself and what its row there lists. A row is for the files that lie directly in
the folder, for its public headers (`include/workgroup/Transforms/Copies.h` and
`include/workgroup/Support/*` belong to `lib/Transforms/Copies` and `lib/Support`), and for what
`public` names; a row of a file is for that file alone. Each header, and each source without one,
has an opening paragraph, between the licence and the closing rule of its first comment. What breaks
a limit may be an exception, which has to go when it no longer does.
"""

from __future__ import annotations

import fnmatch
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .sources import Function, read_functions, read_imports, read_includes, read_opening

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path("tools/setup/layers.toml")
ROOTS = ("lib", "include/workgroup", "python", "test", "tools")
PYTHON_PATH = ("python", "test/python", "test", "tools", "tools/gpu")
PUBLIC = "include/workgroup/"
MOST_LINES, MOST_FUNCTION_LINES, MOST_FILES = 500, 60, 2


class Use(NamedTuple):
    """What `file` includes or imports, and how: another file of the project."""

    file: str
    used: str
    spelling: str


class Sources:
    """All sources below a root, with the rows of the table that they belong to."""

    def __init__(self, root: Path) -> None:
        self.rows: dict[str, Any] = tomllib.loads((root / TABLE).read_text(encoding="utf-8"))
        self.exceptions: dict[str, dict[str, str]] = self.rows.pop("exceptions", {})
        self.errors: list[str] = []
        paths = (path for folder in ROOTS for path in sorted((root / folder).rglob("*.*")))
        self.texts = {
            path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
            for path in paths
            if path.suffix in (".h", ".cpp", ".td", ".py")
        }
        self.row_of = {file: self._find_row(file) for file in self.texts}
        self.uses = [use for file in self.texts for use in self._find_uses(file)]
        self.functions: dict[str, list[Function]] = {
            file: read_functions(Path(file), text)
            for file, text in self.texts.items()
            if not file.endswith(".td")
        }

    def _find_row(self, file: str) -> str:
        """Return the row of a file; none, or two, are an error."""
        folder = file.rpartition("/")[0]
        short = file.removeprefix(PUBLIC)
        found = [row for row, fields in self.rows.items() if short in fields.get("public", ())]
        places = [file, folder]
        if short != file:
            stem, parent = short.rpartition(".")[0], short.rpartition("/")[0]
            own = [f"lib/{stem}", f"lib/{parent}"]
            # Headers of folders lie beside those of all, directly in include/workgroup.
            places = [folder, *own] if parent else [*own, folder]
        found = found or [row for row in places if row in self.rows][:1]
        if len(found) != 1:
            where = " and ".join(found) or "no folder"
            self.errors.append(f"{file}: is in {where} of {TABLE}")
        return found[0] if found else ""

    def _find_uses(self, file: str) -> Iterator[Use]:
        if file.endswith((".h", ".cpp")):
            yield from self._find_included(file)
        elif file.endswith(".py"):
            yield from self._find_imported(file)

    def _find_included(self, file: str) -> Iterator[Use]:
        folder = file.rpartition("/")[0]
        for name in read_includes(self.texts[file]):
            places = (f"include/{name}", f"lib/{name}", f"{folder}/{name}")
            used = next((place for place in places if place in self.texts), "")
            if used:
                yield Use(file, used, name)
            elif name.endswith(".h") and not name.startswith(("mlir/", "llvm/", "nanobind/")):
                self.errors.append(f"{file}: includes {name}, which is not in its folder")

    def _find_imported(self, file: str) -> Iterator[Use]:
        base = max((path for path in PYTHON_PATH if file.startswith(f"{path}/")), key=len)
        package = file.removeprefix(f"{base}/").rpartition("/")[0].replace("/", ".")
        for module, names in read_imports(self.texts[file], package):
            found = {self._find_module(f"{module}.{name}") for name in names} - {""}
            # Neither the native extension nor `__version__` is in the sources of a package.
            if not names or not all(
                self._find_module(f"{module}.{n}") or n[0] == "_" for n in names
            ):
                found |= {self._find_module(module)} - {""}
            yield from (Use(file, used, module) for used in sorted(found - {file}))

    def _find_module(self, module: str) -> str:
        path = module.replace(".", "/")
        places = (f"{base}/{path}{end}" for base in PYTHON_PATH for end in (".py", "/__init__.py"))
        return next((place for place in places if place in self.texts), "")


def check_folders(sources: Sources) -> Iterator[str]:
    """Uses against the table, and what the table allows for nothing."""
    needed = defaultdict(set)
    for file, used, spelling in sources.uses:
        row, other = sources.row_of[file], sources.row_of[used]
        if (wanted := spell_include(file, used)) and spelling != wanted:
            yield f"{file}: includes {spelling}, which is to be written {wanted}"
        if row == other:
            continue
        allowed = sources.rows.get(row, {}).get("uses", ())
        matching = [entry for entry in allowed if fnmatch.fnmatchcase(other, entry)]
        needed[row].update(matching)
        if not matching:
            yield f"{file}: {row} may not use {other}, which has {used}"
        if file.startswith(PUBLIC) and used.startswith("lib/"):
            yield f"{file}: is public and includes {used}, which is not"
    for row, fields in sources.rows.items():
        for entry in fields["uses"]:
            if entry not in needed[row]:
                yield f"{TABLE}: {row} lists {entry}, which it does not need"
            if "*" not in entry and entry not in sources.rows:
                yield f"{TABLE}: {row} lists {entry}, which has no row"


def spell_include(file: str, used: str) -> str:
    """Return how a file includes a header; nothing for other files."""
    if not used.endswith(".h"):
        return ""
    is_near = Path(file).parent == Path(used).parent and not used.startswith("include/")
    return Path(used).name if is_near else used.partition("/")[2]


def check_circles(sources: Sources) -> Iterator[tuple[str, str]]:
    """Yield folders, and units in them, header and source as one, that use each other."""
    units: dict[str, set[str]] = defaultdict(set)
    for file, used, _ in sources.uses:
        one, other = (f"{sources.row_of[f].removesuffix(f)}/{Path(f).stem}" for f in (file, used))
        units[one].add(other)
    rows = {row: set(fields["uses"]) for row, fields in sources.rows.items()}
    for graph in (rows, units):
        for circle in find_circles(graph):
            yield " ".join(circle), f"use each other: {', '.join(circle)}"


def find_circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one node (Tarjan 1972)."""
    found: list[list[str]] = []
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []

    def visit(node: str) -> None:
        numbers[node] = lowest[node] = len(numbers)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in numbers:
                visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in stack:
                lowest[node] = min(lowest[node], numbers[other])
        if lowest[node] == numbers[node]:
            place = stack.index(node)
            if len(stack) > place + 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for node in sorted(graph):
        if node not in numbers:
            visit(node)
    return found


def check_sizes(sources: Sources) -> Iterator[tuple[str, str]]:
    """Yield files and functions that are too long, and classes in too many files."""
    files = defaultdict(set)
    for file, functions in sources.functions.items():
        lines = sources.texts[file].count("\n")
        if lines > MOST_LINES:
            yield file, f"has {lines} lines, more than {MOST_LINES}"
        for function in functions:
            if function.lines > MOST_FUNCTION_LINES:
                text = f"has {function.lines} lines, more than {MOST_FUNCTION_LINES}"
                yield f"{file}: {function.name}", f"{text}, from line {function.line} on"
            if file.startswith("lib/") and file.endswith(".cpp"):
                files[function.owner].add(Path(file).name)
    declared = set(re.findall(r"\b(?:class|struct) (\w+)", "\n".join(sources.texts.values())))
    for owner in sorted(declared & set(files)):
        if len(files[owner]) > MOST_FILES:
            yield owner, f"is defined in {', '.join(sorted(files[owner]))}"


def check_openings(sources: Sources) -> Iterator[tuple[str, str]]:
    """Yield folders with headers, or sources without one, that do not say what they hold."""
    have_header = {
        file for file, used, _ in sources.uses if Path(used).name == f"{Path(file).stem}.h"
    }
    have_header |= {file for file in sources.texts if file.replace(".cpp", ".h") in sources.texts}
    missing = defaultdict(list)
    for file, text in sources.texts.items():
        is_opened = file.endswith(".h") or (file.endswith(".cpp") and file not in have_header)
        if is_opened and not read_opening(text):
            missing[str(Path(file).parent)].append(Path(file).name)
    for folder, names in missing.items():
        yield folder, f"no opening paragraph in {', '.join(names)}"


def check_options(sources: Sources, root: Path) -> Iterator[tuple[str, str]]:
    """Yield options of passes that no test, tool, pipeline or schedule sets."""
    given = find_given_options(sources, root)
    builders = ("lib/Pipelines/", "lib/Compiler/")
    cpp = "\n".join(text for file, text in sources.texts.items() if file.startswith(builders))
    cpp = re.sub(r"/\*.*?\*/|//[^\n]*", "", cpp)
    for definition, name, options in find_options(sources):
        members = _find_set_members(definition, cpp)
        for member, option in options:
            is_set = re.search(rf"(?<![\w-]){option}(?![\w-])", given[name])
            if not is_set and not re.search(rf"\b{member}\b", members):
                yield f"{name}: {option}", "is an option that nothing sets"


def find_options(sources: Sources) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield definition and name of each pass, and member and name of each of its options."""
    text = "\n".join(text for file, text in sources.texts.items() if file.endswith(".td"))
    option = r'Option<"(\w+)", "([\w-]+)"'
    shared = {
        name: pair for name, *pair in re.findall(rf"^def (\w+)\s*: (?:List)?{option}", text, re.M)
    }
    bases = {"Pass": "", **dict(re.findall(r"^class (\w+)<(.*?)^}", text, re.M | re.S))}
    of_passes = rf'^def (\w+)\s*: ({"|".join(bases)})<"([\w-]+)"(.*?)^}}'
    for match in re.finditer(of_passes, text, re.M | re.S):
        body = match[4] + bases[match[2]]
        options = re.findall(option, body)
        options += [(*pair,) for name, pair in shared.items() if re.search(rf"\b{name}\b", body)]
        yield match[1], match[3], options


def find_given_options(sources: Sources, root: Path) -> Mapping[str, str]:
    """Return what stands behind the name of each pass where it may have options."""
    programs = [path for path in (root / "test").rglob("*") if path.suffix in (".mlir", ".test")]
    mlir = "\n".join(path.read_text(encoding="utf-8") for path in programs)
    python = "\n".join(text for file, text in sources.texts.items() if file.endswith(".py"))
    found: dict[str, str] = defaultdict(str)
    for name, text in re.findall(r'(workgroup-[\w-]+)(\{[^}]*|=[^\n]*|" with [^}]*)', mlir):
        found[name] += text
    for name, text in re.findall(r"(workgroup-[\w-]+)(?=([^;]{0,300}))", python):
        found[name] += text
    return found


def _find_set_members(pass_class: str, cpp: str) -> str:
    """Return text in which each option of a pass that C++ sets stands by its name."""
    found = re.findall(rf"\bcreate{pass_class}\(\{{(.*?)\}}\)", cpp, re.S)
    options = rf"\b{pass_class.removesuffix('Pass')}(?:Pass)?Options (\w+);"
    for name in re.findall(options, cpp):
        found += re.findall(rf"\b{name}\.(\w+)", cpp)
    return " ".join(found)


def report(sources: Sources, root: Path) -> list[str]:
    """Return everything that is wrong."""
    errors = [*sources.errors, *check_folders(sources)]
    kinds: dict[str, Iterable[tuple[str, str]]] = {
        "circles": check_circles(sources),
        "sizes": check_sizes(sources),
        "openings": check_openings(sources),
        "options": check_options(sources, root),
    }
    for kind, found in kinds.items():
        excepted = dict(sources.exceptions.get(kind, {}))
        for name, problem in found:
            if excepted.pop(name, None) is None:
                errors.append(f"{name}: {problem}" if kind != "circles" else problem)
        errors += [f"{TABLE}: exception '{name}' is no longer needed" for name in excepted]
    return errors


def main(root: Path = ROOT) -> int:
    """Print what is wrong."""
    errors = report(Sources(root), root)
    print("".join(f"{error}\n" for error in errors), end="")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
