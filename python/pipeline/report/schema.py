"""The schema of explanations, as JSON Schema: made from the records of ``document``."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import document
from .document import FORMAT, VERSION, Document

SCHEMA = Path(__file__).with_name("schema.json")

_PLAIN: Mapping[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
}


def make_schema() -> dict[str, Any]:
    """Return the schema, which ``schema.json`` beside this file is a copy of."""
    definitions: dict[str, Any] = {}
    root = _describe(Document, definitions)
    definitions["Document"]["properties"]["format"] = {"const": FORMAT}
    definitions["Document"]["properties"]["version"] = {"const": VERSION}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{FORMAT}, version {VERSION}",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def _describe(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if dataclasses.is_dataclass(kind):
        return _refer(typing.cast(type[Any], kind), definitions)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [_describe_part(one, definitions) for one in arguments]}
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _describe(arguments[0], definitions)}
    if origin is tuple:
        items = [_describe(one, definitions) for one in arguments]
        size = len(items)
        return {"type": "array", "prefixItems": items, "minItems": size, "maxItems": size}
    assert origin is Mapping, kind
    return {"type": "object", "additionalProperties": _describe(arguments[1], definitions)}


def _describe_part(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    return {"type": "null"} if kind is type(None) else _describe(kind, definitions)


def _refer(kind: type[Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # records may hold themselves
        hints = typing.get_type_hints(kind, vars(document))
        names = [field.name for field in dataclasses.fields(kind)]
        definitions[kind.__name__] = {
            "description": " ".join((kind.__doc__ or "").split()),
            "type": "object",
            "properties": {name: _describe(hints[name], definitions) for name in names},
            "required": names,
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}


def write_schema() -> str:
    """Return the text of ``schema.json``."""
    return json.dumps(make_schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(write_schema(), encoding="utf-8")
