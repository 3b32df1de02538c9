"""The launch plan of a module: what its host functions do. docs/launch-plan.md has the schema."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...diagnostics import Location
from ...documents.reading import Offence, read_json, show
from ...documents.schema import (
    Choice,
    Fields,
    Hexadecimal,
    Integer,
    Items,
    Row,
    Schema,
    Text,
    Truth,
)
from ...errors import PlanError
from ...records.scalars import element_bytes
from ..sizes import Limits
from .checking import Scope, check_functions
from .kinds import Kind
from .operands import LOCATION, NAME, TYPE, VALUE_NUMBER, Expression
from .steps import RULES
from .structure import Data, Function, Region, Requirement, Step, dtype_of

if TYPE_CHECKING:
    from ...records.signature import Argument

_FORMAT = "pipeline-plan"
_VERSION = (2, 2)
"""The newest version that is read, and the oldest of its major version."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the host functions of a module do.

    ``kernels`` are the names of the kernels that launches call by number, ``text`` is the document
    itself. ``chip`` is what it was compiled for, ``limits`` what GPUs take of a launch.
    """

    kernels: tuple[str, ...]
    data: tuple[Data, ...]
    functions: Mapping[str, Function]
    text: str
    chip: str
    limits: Limits

    @classmethod
    def none(cls) -> Plan:
        """Return the plan of a program that has none, and no kernels either."""
        return cls((), (), {}, "", "", Limits((0, 0, 0), (0, 0, 0), 0, 0))

    @classmethod
    def parse(
        cls,
        text: str,
        kernels: Mapping[str, Sequence[Argument]] | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> Plan:
        """Read a document, and check that what it says can be done.

        kernels: the arguments of the kernels that there is code of, for launches to be checked
            against.
        files: the contents of the files that constants may be in, by their names.

        Raises PlanError, which names the place, if it is no plan, of another version, or says what
        has no meaning: a value that is used before it is made or as what it is not, a function or
        a kernel that is not there, an expression that divides by a constant zero, calls in a
        circle. What is left to go wrong is told by the data that it is run on.
        """
        try:
            document = read_json(text)
            _check_version(document)
            _put_in(document, files or {})
            plan: Plan = _PLAN.check(document)(text)
            check_functions(plan.functions, plan.data, plan.kernels, _infer, kernels)
        except Offence as offence:
            raise PlanError(f"error: launch plan: {offence}") from None
        except RecursionError:
            raise PlanError("error: launch plan: it is nested too deeply") from None
        return plan


def _check_version(document: Any) -> None:
    """Raise Offence for what is of another format, or has to be read by another version."""
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise Offence(f"it is no document of format {_FORMAT}")
    try:
        version = Row((Integer(), Integer())).check(document.get("version"))
        if version[0] != _VERSION[0] or version > _VERSION:
            known = f"{_VERSION[0]}.{_VERSION[1]}"
            raise Offence(
                f"is {version[0]}.{version[1]}, but this reads {known}: use the version of "
                "mlir-workgroup that wrote it, or compile again"
            )
        if version < _VERSION:
            raise Offence(
                f"is {version[0]}.{version[1]}, which lacks types and limits: compile again"
            )
    except Offence as offence:
        raise offence.within(".version") from None
    features = document.get("features")
    if features:
        raise Offence(f"are {features!r:.80}, none of which this reads", ".features")


def _put_in(document: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    """Give constants that are in files their bytes. Raises Offence."""
    data = document.get("data")
    for number, item in enumerate(data if isinstance(data, list) else ()):
        if isinstance(item, dict) and "file" in item:
            name = item.pop("file")
            if type(name) is not str or name not in files:
                raise Offence(
                    f"is {show(name)}, which is no file beside it", f".data[{number}].file"
                )
            if "hex" in item:
                raise Offence("has its bytes both here and in a file", f".data[{number}]")
            item["hex"] = files[name]


def _infer(scope: Scope, step: Step) -> Sequence[Kind]:
    return RULES[step.op].infer(scope, step.fields)


# --- the document ---------------------------------------------------------------------------------

_DIM3 = Row((Integer(1),) * 3)


def _make_data(
    name: str, dtype: str, shape: tuple[int, ...], hex: bytes | None = None, mutable: bool = False
) -> Data:
    if hex is None and not mutable:
        raise Offence(f"constant {show(name)} has no elements")
    if hex is not None:
        size = element_bytes(dtype)
        if size is None:
            raise Offence(f"is {show(dtype)}, whose elements cannot be read", ".dtype")
        if len(hex) != size * math.prod(shape):
            raise Offence(f"has {len(hex)} bytes, but must have {size * math.prod(shape)}", ".hex")
    return Data(name, dtype, shape, hex, mutable)


def _make_function(
    name: str,
    arguments: tuple[str, ...],
    results: tuple[str, ...],
    require: tuple[Requirement, ...],
    loc: Location,
    body: Region | None = None,
    refusal: tuple[str, Location] | None = None,
) -> Function:
    if (body is None) == (refusal is None):
        raise Offence("must have a body, or the reason why it has none")
    reason, place = refusal or ("", loc)
    return Function(name, arguments, results, require, body, reason, place)


def _make_requirement(
    args: tuple[tuple[int, ...], ...],
    left: Any,
    relation: str,
    right: Any,
    trips: tuple[Any, ...],
    loc: Location,
) -> Requirement:
    return Requirement(args, left, relation, right, trips, loc)


def _make_region(arguments: tuple[int, ...], steps: tuple[Step, ...]) -> Region:
    return Region(arguments, steps)


def _make_plan(
    format: str,
    version: tuple[int, int],
    features: tuple[str, ...],
    target: tuple[str, Limits],
    kernels: tuple[str, ...],
    data: tuple[Data, ...],
    functions: tuple[Function, ...],
) -> Callable[[str], Plan]:
    del format, version, features  # checked before
    by_name = {function.name: function for function in functions}
    if len(by_name) != len(functions):
        raise Offence("two have the same name", ".functions")
    chip, limits = target
    return lambda text: Plan(kernels, data, by_name, text, chip, limits)


class _Steps:
    """A step: its operation tells its fields."""

    def __init__(self) -> None:
        self._fields: dict[str, Fields] = {}

    def check(self, value: Any) -> Step:
        """Return the step. Raises Offence."""
        if type(value) is not dict:
            raise Offence(f"is {show(value)}, but must be an object")
        op = value.get("op")
        if type(op) is not str or op not in RULES:
            raise Offence(f"is {show(op)}, which no plan has", ".op")
        rule = RULES[op]
        if op not in self._fields:
            self._fields[op] = Fields(
                {**_OF_ALL, **rule.fields, **dict.fromkeys(rule.regions, _REGION)}, rule.optional
            )
        fields = self._fields[op].check(value)
        regions = {name: fields.pop(name) for name in rule.regions}
        return Step(op, fields["results"], fields, regions, fields["loc"])


_OF_ALL: Mapping[str, Schema] = {
    "op": NAME,
    "results": Items(VALUE_NUMBER, most=4096),
    "loc": LOCATION,
}
_REGION = Fields(
    {"arguments": Items(VALUE_NUMBER, most=4096), "steps": Items(_Steps())}, make=_make_region
)
_EXPRESSION = Expression(divides_by_values=False)
_REQUIREMENT = Fields(
    {
        "args": Items(Items(Integer(0, 1 << 16), 1, 2), most=256),
        "left": _EXPRESSION,
        "relation": Choice.of("==", "<=", ">="),
        "right": _EXPRESSION,
        "trips": Items(_EXPRESSION, most=256),
        "loc": LOCATION,
    },
    make=_make_requirement,
)
_FUNCTION = Fields(
    {
        "name": NAME,
        "arguments": Items(TYPE, most=4096),
        "results": Items(TYPE, most=4096),
        "require": Items(_REQUIREMENT),
        "loc": LOCATION,
    },
    {
        "body": _REGION,
        "refusal": Fields(
            {"reason": Text(1 << 16), "loc": LOCATION}, make=lambda reason, loc: (reason, loc)
        ),
    },
    make=_make_function,
)
_DATA = Fields(
    {"name": NAME, "dtype": TYPE, "shape": Items(Integer(0, 1 << 40), most=64)},
    {"hex": Hexadecimal(), "mutable": Truth()},
    make=_make_data,
)
_LIMITS = Fields(
    {"grid": _DIM3, "block": _DIM3, "block_threads": Integer(1), "cluster_blocks": Integer(1)},
    make=Limits,
)
_PLAN = Fields(
    {
        "format": NAME,
        "version": Row((Integer(), Integer())),
        "features": Items(NAME, most=0),
        "target": Fields(
            {"chip": NAME, "limits": _LIMITS}, make=lambda chip, limits: (chip, limits)
        ),
        "kernels": Items(NAME),
        "data": Items(_DATA),
        "functions": Items(_FUNCTION),
    },
    make=_make_plan,
)


__all__ = ["Data", "Function", "Plan", "Region", "Requirement", "Step", "dtype_of"]
