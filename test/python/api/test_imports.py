"""Two threads import modules of the package at once: neither may wait for the other for ever.

Who imports a module holds its lock, and waits for the locks of its package and of what it imports.
Where these waits make a circle, Python raises an error in one of two threads, now and then.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import pipeline
from support.command_line import run

FOLDER = Path(pipeline.__file__).parent
SLOWLY = """
import os, random, runpy, sys, time

class Delay:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("pipeline."):
            time.sleep(random.choice((0, 0.001, 0.004)))

random.seed(int(sys.argv.pop(1)))
sys.meta_path.insert(0, Delay())
os._exit = sys.exit
runpy.run_module("pipeline", run_name="__main__", alter_sys=True)
"""
ADD = """\
!t = tensor<64x128xf32>
func.func @main(%a: !t, %b: !t, %e: !t) -> !t {
  %r = linalg.add ins(%a, %b : !t, !t) outs(%e : !t) -> !t
  return %r : !t
}
"""


def list_modules() -> dict[str, Path]:
    """Return the file of each module by its name."""
    names = {}
    for file in FOLDER.rglob("*.py"):
        parts = [FOLDER.name, *file.relative_to(FOLDER).with_suffix("").parts]
        names[".".join(parts).removesuffix(".__init__")] = file
    return names


def list_statements(body: Sequence[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports that happen when a module is imported."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If):
            is_for_types = ast.unparse(statement.test) == "TYPE_CHECKING"
            yield from list_statements([] if is_for_types else statement.body)
            yield from list_statements(statement.orelse)
        elif isinstance(statement, ast.Try | ast.With):
            yield from list_statements(statement.body)


def list_imports(name: str, file: Path) -> Iterator[str]:
    """Yield the modules that one waits for: its package, and what it imports."""
    yield name.rpartition(".")[0]
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for statement in list_statements(ast.parse(file.read_text(encoding="utf-8")).body):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
            continue
        parts = package.split(".")
        base = parts[: len(parts) - statement.level + 1] if statement.level else []
        origin = ".".join([*base, *filter(None, [statement.module])])
        yield origin
        yield from (f"{origin}.{alias.name}" for alias in statement.names)


def test_no_circle() -> None:
    modules = list_modules()
    graph = {
        name: {other for other in list_imports(name, file) if other in modules} - {name}
        for name, file in modules.items()
    }
    assert sum(map(len, graph.values())) > 2 * len(modules)
    TopologicalSorter(graph).prepare()  # raises CycleError, which shows the circle


@pytest.mark.parametrize("seed", range(4))
def test_modules_that_come_slowly(seed: int, tmp_path: Path) -> None:
    """One thread compiles, and loads what it needs, while another loads what is needed next."""
    source = tmp_path / "add.mlir"
    source.write_text(ADD)
    outcome = run("-c", SLOWLY, str(seed), "compile", source, command=(sys.executable,))
    assert (outcome.code, outcome.words) == (0, "")
    assert ".visible .entry main_kernel" in outcome.text
