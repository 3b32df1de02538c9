"""Pages of documents: one file each, which needs nothing but a browser."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ToolError, UsageError
from .drawing import draw_memory, draw_ring
from .mbarriers import name_threads, tabulate

if TYPE_CHECKING:
    from jinja2 import Environment, Template

JSON = Mapping[str, Any]

_FOLDER = Path(__file__).parent / "templates"
_REPAIR = "install mlir-workgroup anew"
_INSTALL = "pip install 'mlir-workgroup[explain]', or pip install jinja2"

PARTS = (
    ("lines", "Program and stages, line by line"),
    ("resources", "Registers, memory, occupancy, roofline"),
    ("memory", "Workgroup memory over time"),
    ("barriers", "Barriers and the races they prevent"),
    ("timeline", "Pipelines over iterations"),
    ("accesses", "Accesses: ideal and actual"),
    ("decisions", "Decisions and alternatives"),
    ("trust", "Proved, tested, assumed"),
    ("provenance", "Provenance"),
)


def render(document: Mapping[str, Any]) -> str:
    """Return the page of an explanation. Raises ToolError without Jinja2."""
    return _render("report.html", document=document, parts=PARTS)


def render_comparison(comparison: Mapping[str, Any]) -> str:
    """Return the page of a comparison. Raises ToolError without Jinja2."""
    return _render("comparison.html", comparison=comparison)


def _render(template: str, **values: Any) -> str:
    page = find_template(template)
    from jinja2 import UndefinedError

    try:
        return page.render(
            **values, draw_memory=draw_memory, draw_ring=draw_ring, tabulate=tabulate
        )
    except (UndefinedError, LookupError, TypeError, AttributeError, ValueError) as error:
        # Of a document that somebody has read: those that are made here are whole.
        raise UsageError(f"error: an explanation is incomplete: {error}") from error


@functools.cache
def find_template(name: str) -> Template:
    """Return a template, which is compiled when it is first asked for. Raises ToolError."""
    environment = _make_environment()
    from jinja2 import TemplateNotFound

    try:
        return environment.get_template(name)
    except TemplateNotFound as error:
        raise ToolError(f"error: the template {name} of reports is missing: {_REPAIR}") from error


def _make_environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ToolError(f"error: reports need Jinja2, which is missing: {_INSTALL}") from error
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["embed"] = _embed
    environment.filters["basename"] = _name_file
    environment.filters["place"] = _name_place
    environment.filters["dims"] = _name_sizes
    environment.filters["number"] = _name_number
    environment.filters["threads"] = name_threads
    environment.filters["fact"] = _name_fact
    environment.filters["code"] = _mark_code
    environment.filters["alike"] = _group_alike
    environment.filters["diff_lines"] = _split_diff
    environment.globals["read"] = _read
    return environment


def _read(name: str) -> Any:
    """Return the text of a file beside the templates, as it is."""
    from markupsafe import Markup

    return Markup((_FOLDER / name).read_text(encoding="utf-8"))


def _embed(value: Any) -> Any:
    """Return JSON for a script: nothing in it ends the script."""
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _name_file(name: str) -> str:
    return Path(name).name or name


def _name_place(place: Mapping[str, Any] | None) -> str:
    if place is None:
        return "not known"
    column = f":{place['column']}" if place["column"] else ""
    return f"{_name_file(place['file'])}:{place['line']}{column}"


def _name_sizes(sizes: list[int] | None) -> str:
    return "known to the launch" if sizes is None else " \u00d7 ".join(map(str, sizes))


def _name_number(value: float | None) -> str:
    if value is None:
        return "not known"
    return f"{value:,}".replace(",", "\u202f") if isinstance(value, int) else f"{value:.4g}"


def _name_fact(value: float | str | None) -> str:
    if value is None:
        return "\u2013"
    return value if isinstance(value, str) else _name_number(value)


def _mark_code(text: str) -> Any:
    """Return the text of a docstring, with code between double backticks as such."""
    from markupsafe import Markup, escape

    parts = [escape(part) for part in text.split("``")]
    marked = [f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts)]
    return Markup("").join(map(Markup, marked))


def _group_alike(operations: Sequence[JSON]) -> list[tuple[JSON, list[int]]]:
    """Return the first of operations that follow each other and are alike, with all their lines."""
    names = ("role", "loops", "is_conditional", "pending", "mbarriers")

    def key(one: JSON) -> Any:
        site = one["site"]
        return site["op"], site["place"], *(one[name] for name in names)

    groups = (list(group) for _, group in itertools.groupby(operations, key))
    return [(group[0], [one["site"]["gpu_line"] for one in group]) for group in groups]


def _split_diff(text: str) -> list[tuple[str, str]]:
    """Return the lines of a difference, each with what kind it is."""
    kinds = {"+": "added", "-": "removed", "@": "hunk"}
    return [(kinds.get(line[:1], "same"), line) for line in text.splitlines()]
