"""``python -m pipeline explain``: a report of a program, or the difference of two."""

from __future__ import annotations

import importlib
import json
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Error, ToolError, UsageError
from ..program.names import find_kernel
from .values import read_values

if TYPE_CHECKING:
    import argparse

    from ..program.module import Module
    from ..report.explaining import Explanation

Explain = Callable[[str, Callable[["Module"], Sequence[Any] | None]], "Explanation"]


class Answer(NamedTuple):
    """The text that is asked for, and why programs that it is about are refused."""

    text: str
    errors: Sequence[Error] = ()


def run(options: argparse.Namespace, explain: Explain) -> Answer:
    """Return what is asked for; `explain` explains the program of a name."""
    if options.other is not None:
        return _compare(options, explain)
    if _is_document(options.input):
        if options.format == "yaml":
            raise UsageError("error: --format yaml needs the program, not its document")
        from ..report.comparing import read_document

        document = read_document(Path(options.input))
        is_json = options.format == "json"
        return Answer(json.dumps(document) + "\n" if is_json else _render(document))
    explanation = explain(options.input, lambda module: _read_arguments(options, module))
    write = {"yaml": explanation.remarks, "json": explanation.json, "html": explanation.html}
    return Answer(write[options.format](), [explanation.error] if explanation.error else [])


def load_beside(options: argparse.Namespace) -> None:
    """Load what makes reports, while the program is compiled by another thread."""
    importlib.import_module("pipeline.report.collecting")
    with suppress(ToolError, ImportError):
        if not options.no_emulator:
            importlib.import_module("numpy")
            importlib.import_module("pipeline.runtime.host.execution")
        if options.format == "html" and options.other is None:
            from ..report.rendering import find_template

            find_template("report.html")


def describe_command(options: argparse.Namespace, name: str) -> str:
    """Return the command line for a program that the report tells of: what changes the program."""
    words = ["python", "-m", "pipeline", "explain", name]
    for name in (
        "chip",
        "schedule",
        "sync",
        "numerics",
        "memory_options",
        "tuned",
        "kernel",
        "block",
        "grid",
    ):
        value = getattr(options, name)
        if value not in (None, "", _DEFAULTS.get(name)):
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


_DEFAULTS = {"sync": "auto", "numerics": "exact"}


def _is_document(name: str) -> bool:
    return name.endswith(".json")


def _render(document: Any) -> str:
    from ..report.rendering import render

    return render(document)


def _compare(options: argparse.Namespace, explain: Explain) -> Answer:
    if options.format == "yaml":
        raise UsageError("error: --format yaml is of one program")
    if options.input == options.other == "-":
        raise UsageError("error: the standard input cannot be both programs")
    from ..report.comparing import compare, read_document

    sides, errors = [], []
    for name in (options.input, options.other):
        if _is_document(name):
            sides.append(read_document(Path(name)))
            continue
        explanation = explain(name, lambda module: _read_arguments(options, module))
        sides.append(explanation.to_json())
        errors += [explanation.error] if explanation.error else []
    comparison = compare(*sides)
    if options.format == "json":
        return Answer(json.dumps(comparison, ensure_ascii=False) + "\n", errors)
    from ..report.rendering import render_comparison

    return Answer(render_comparison(comparison), errors)


def _read_arguments(options: argparse.Namespace, module: Module) -> Sequence[Any] | None:
    """Return the values that are given; None if none are."""
    if not options.arg:
        return None
    if options.kernel or not module.entries:
        name = options.kernel or next(iter(module.kernels))
        arguments = module.kernels[find_kernel(list(module.kernels), name)].arguments
    else:
        arguments = module.entry(None).arguments
    return read_values(arguments, options.arg, options.random or 0)
