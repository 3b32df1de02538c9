"""The steps of launch plans, as a table: the fields of each, and what it takes and makes.

docs/launch-plan.md says what they do. Nothing here runs: rules tell of the kinds of values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...documents.reading import Offence, show
from ...documents.schema import Choice, Fields, Integer, Items, Schema, Text
from .kinds import INDEX, TRUTH, Array, Kind, Number, Vector, is_float, is_integer
from .operands import NAME, OPERAND, OPERANDS, TYPE, Expression, find_parts

if TYPE_CHECKING:
    from .checking import Scope

_MOST_ELEMENTS = 1 << 20
_DIM3 = Items(OPERAND, 3, 3)
_DIMENSIONS = Items(Integer(0, 63), most=64)
_MAP = Fields({"dims": Integer(0, 4096), "results": Items(Expression(), 1, 64)})

Infer = Callable[["Scope", Mapping[str, Any]], Sequence[Kind]]


@dataclass(frozen=True, slots=True)
class Rule:
    """The fields of a step beside those of all, its regions, and what it makes of its operands.

    ``infer`` returns the kinds of its results, or raises Offence.
    """

    infer: Infer
    fields: Mapping[str, Schema]
    optional: Mapping[str, Schema] = field(default_factory=dict)
    regions: tuple[str, ...] = ()


# --- numbers --------------------------------------------------------------------------------------

_TYPED: Mapping[str, Schema] = {"args": OPERANDS, "type": TYPE, "from": TYPE}


def _names(dialect: str, words: str) -> tuple[str, ...]:
    return tuple(f"{dialect}.{word}" for word in words.split())


_INTEGERS = _names(
    "arith",
    "addi subi muli divsi divui remsi remui ceildivsi ceildivui floordivsi minsi minui maxsi "
    "maxui andi ori xori shli shrsi shrui",
)
_FLOATS = _names("arith", "addf subf mulf divf maximumf minimumf maxnumf minnumf")
_FUNCTIONS = _names(
    "math",
    "absf ceil cos erf exp exp2 expm1 floor log log10 log1p log2 rsqrt sin sqrt tan tanh",
)
_COMPARISONS = "eq ne slt sle sgt sge ult ule ugt uge"
_FLOAT_COMPARISONS = (
    "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true"  # as arith has them
)
# From which types to which.
_CONVERSIONS = {
    **dict.fromkeys(_names("arith", "index_cast index_castui extsi extui trunci"), "ii"),
    **dict.fromkeys(_names("arith", "sitofp uitofp"), "if"),
    **dict.fromkeys(_names("arith", "fptosi fptoui"), "fi"),
    **dict.fromkeys(_names("arith", "extf truncf"), "ff"),
    "arith.bitcast": "nn",
}
_CLASSES: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "i": (is_integer, "integers"),
    "f": (is_float, "floats"),
    "n": (lambda text: is_integer(text) or is_float(text), "numbers"),
}


def _check_type(fields: Mapping[str, Any], name: str, letter: str) -> str:
    text: str = fields[name]
    is_one, words = _CLASSES[letter]
    if not is_one(text):
        raise Offence(f"is {show(text)}, but must be a type of {words}", f".{name}")
    return text


def _take(scope: Scope, fields: Mapping[str, Any], kinds: Sequence[Kind]) -> None:
    """Check that the operands of ``args`` are of these kinds."""
    args = fields["args"]
    if len(args) != len(kinds):
        raise Offence(f"has {len(args)} operands, but takes {len(kinds)}", ".args")
    for number, (operand, kind) in enumerate(zip(args, kinds, strict=True)):
        scope.take(operand, kind, f".args[{number}]")


def _same(letter: str, count: int) -> Infer:
    """Return the rule of operations on numbers of one type, which is that of the result."""

    def infer(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
        kind = Number(_check_type(fields, "type", letter))
        if fields["from"] != fields["type"]:
            raise Offence(f"is {show(fields['from'])}, but its result is of another type", ".from")
        _take(scope, fields, [kind] * count)
        return [kind]

    return infer


def _conversion(letters: str) -> Infer:
    def infer(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
        _take(scope, fields, [Number(_check_type(fields, "from", letters[0]))])
        return [Number(_check_type(fields, "type", letters[1]))]

    return infer


def _comparison(letter: str) -> Infer:
    def infer(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
        kind = Number(_check_type(fields, "from", letter))
        if fields["type"] != "i1":
            raise Offence(f"is {show(fields['type'])}, but must be i1", ".type")
        _take(scope, fields, [kind, kind])
        return [TRUTH]

    return infer


def _select(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    args = fields["args"]
    if len(args) != 3:
        raise Offence(f"has {len(args)} operands, but takes 3", ".args")
    scope.take(args[0], TRUTH, ".args[0]")
    kind = scope.join(scope.kind(args[1], ".args[1]"), scope.kind(args[2], ".args[2]"), ".args[2]")
    text = fields["type"]
    if isinstance(kind, Number):
        kind = scope.join(kind, Number(text), ".type")
    return [kind]


def _affine(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    form, args = fields["map"], fields["args"]
    _take(scope, fields, [INDEX] * len(args))
    dims = form["dims"]
    if dims > len(args):
        raise Offence(f"is {dims}, but there are {len(args)} operands", ".map.dims")
    for number, result in enumerate(form["results"]):
        if find_parts(result, "d") > dims or find_parts(result, "s") > len(args) - dims:
            place = f".map.results[{number}]"
            raise Offence("takes a dimension or a symbol that is not there", place)
    return [INDEX]


def _apply(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    if len(fields["map"]["results"]) != 1:
        raise Offence("must have one result", ".map.results")
    return _affine(scope, fields)


def _assert(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    _take(scope, fields, [TRUTH])
    return []


_MAPPED: Mapping[str, Schema] = {"args": OPERANDS, "map": _MAP}
_MAY_BE_TYPED: Mapping[str, Schema] = {"type": TYPE, "from": TYPE}

_NUMBER_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_INTEGERS, Rule(_same("i", 2), _TYPED)),
    **dict.fromkeys((*_FLOATS, "math.powf"), Rule(_same("f", 2), _TYPED)),
    **dict.fromkeys((*_FUNCTIONS, "arith.negf"), Rule(_same("f", 1), _TYPED)),
    **{name: Rule(_conversion(letters), _TYPED) for name, letters in _CONVERSIONS.items()},
    "arith.cmpi": Rule(_comparison("i"), {**_TYPED, "predicate": Choice.of(*_COMPARISONS.split())}),
    "arith.cmpf": Rule(
        _comparison("f"), {**_TYPED, "predicate": Choice.of(*_FLOAT_COMPARISONS.split())}
    ),
    "arith.select": Rule(_select, {"args": OPERANDS, "type": TYPE}, {"from": TYPE}),
    "affine.apply": Rule(_apply, _MAPPED, _MAY_BE_TYPED),
    "affine.min": Rule(_affine, _MAPPED, _MAY_BE_TYPED),
    "affine.max": Rule(_affine, _MAPPED, _MAY_BE_TYPED),
    "cf.assert": Rule(_assert, {"args": OPERANDS, "text": Text(1 << 20)}, _MAY_BE_TYPED),
}


# --- memory ---------------------------------------------------------------------------------------


def _alloc(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    scope.take_indices(fields, "shape")
    return [Array(fields["dtype"], len(fields["shape"]))]


def _dealloc(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    scope.array(fields, "source")
    scope.free(fields["source"])
    return []


def _copy(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    scope.join(scope.array(fields, "source"), scope.array(fields, "target"), ".target")
    return []


def _memset(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    scope.take(fields["value"], Number(scope.array(fields, "target").element), ".value")
    return []


def _get_global(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    return [scope.data(fields["data"])]


def _take_place(scope: Scope, fields: Mapping[str, Any], name: str) -> Number:
    """Return what an element is whose place ``indices`` tell."""
    element, rank = scope.ranked(fields, name)
    scope.take_indices(fields, "indices", rank)
    return Number(element)


def _load(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    return [_take_place(scope, fields, "source")]


def _store(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    scope.take(fields["value"], _take_place(scope, fields, "target"), ".value")
    return []


def _dim(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    scope.array(fields, "source")
    scope.take(fields["dim"], INDEX, ".dim")
    return [INDEX]


def _cast(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    return [scope.array(fields, "source")]


def _subview(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    element, rank = scope.ranked(fields, "source")
    for name in ("offsets", "sizes", "strides"):
        scope.take_indices(fields, name, rank)
    dropped = fields["dropped"]
    if len({*dropped}) != len(dropped) or any(dim >= rank for dim in dropped):
        raise Offence("has a dimension twice, or one that is not there", ".dropped")
    if any(fields["sizes"][dim] != 1 for dim in dropped):
        raise Offence("has a dimension whose size is not 1", ".dropped")
    return [Array(element, rank - len(dropped))]


def _reinterpret(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    memory = scope.array(fields, "source")
    scope.take_indices(fields, "offsets", 1)
    scope.take_indices(fields, "sizes")
    scope.take_indices(fields, "strides", len(fields["sizes"]))
    return [Array(memory.element, len(fields["sizes"]))]


def _transpose(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    element, rank = scope.ranked(fields, "source")
    if sorted(fields["permutation"]) != [*range(rank)]:
        raise Offence(f"is no order of {rank} dimensions", ".permutation")
    return [Array(element, rank)]


def _expand(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    memory = scope.array(fields, "source")
    scope.take_indices(fields, "sizes")
    return [Array(memory.element, len(fields["sizes"]))]


def _collapse(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    (element, rank), groups = scope.ranked(fields, "source"), fields["groups"]
    if groups and [dim for group in groups for dim in group] != [*range(rank)]:
        raise Offence(f"do not have each of {rank} dimensions in order", ".groups")
    return [Array(element, len(groups))]


def _read_vector(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    element, rank = scope.ranked(fields, "source")
    scope.take_indices(fields, "indices", rank)
    scope.take(fields["padding"], Number(element), ".padding")
    if len(fields["shape"]) > rank or math.prod(fields["shape"]) > _MOST_ELEMENTS:
        raise Offence("is larger than what is read, or than any vector", ".shape")
    return [Vector(element)]


def _print(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    if "source" in fields:
        kind: Kind = Number(scope.array(fields, "source").element)
    elif "end" not in fields:
        raise Offence('has no field "end"')
    elif "value" not in fields:
        return []
    else:
        kind = scope.kind(fields["value"], ".value")
    text = kind.type if isinstance(kind, Number) else getattr(kind, "element", "")
    is_printed = isinstance(kind, (Number, Vector)) and (
        not text or is_integer(text) or is_float(text)
    )
    if not is_printed:
        raise Offence(f"prints {kind}, which has no text")
    return []


_WINDOW: Mapping[str, Schema] = {
    "source": OPERAND,
    "offsets": OPERANDS,
    "sizes": OPERANDS,
    "strides": OPERANDS,
}

_MEMORY_RULES: Mapping[str, Rule] = {
    "memref.alloc": Rule(_alloc, {"dtype": TYPE, "shape": OPERANDS}),
    "memref.dealloc": Rule(_dealloc, {"source": OPERAND}),
    "memref.copy": Rule(_copy, {"source": OPERAND, "target": OPERAND}),
    "gpu.memset": Rule(_memset, {"target": OPERAND, "value": OPERAND}),
    "memref.get_global": Rule(_get_global, {"data": Integer(0, 1 << 20)}),
    "memref.load": Rule(_load, {"source": OPERAND, "indices": OPERANDS}),
    "memref.store": Rule(_store, {"value": OPERAND, "target": OPERAND, "indices": OPERANDS}),
    "memref.dim": Rule(_dim, {"source": OPERAND, "dim": OPERAND}),
    "memref.cast": Rule(_cast, {"source": OPERAND}),
    "memref.subview": Rule(_subview, {**_WINDOW, "dropped": _DIMENSIONS}),
    "memref.reinterpret_cast": Rule(_reinterpret, _WINDOW),
    "memref.transpose": Rule(_transpose, {"source": OPERAND, "permutation": _DIMENSIONS}),
    "memref.expand_shape": Rule(_expand, {"source": OPERAND, "sizes": OPERANDS}),
    "memref.collapse_shape": Rule(
        _collapse, {"source": OPERAND, "groups": Items(_DIMENSIONS, most=64)}
    ),
    "vector.transfer_read": Rule(
        _read_vector,
        {
            "source": OPERAND,
            "indices": OPERANDS,
            "shape": Items(Integer(0, _MOST_ELEMENTS), most=64),
            "padding": OPERAND,
        },
    ),
    "print": Rule(
        _print,
        {},
        {"source": OPERAND, "value": OPERAND, "text": Text(1 << 20), "end": Text(64)},
    ),
}


# --- control flow and launches --------------------------------------------------------------------


def _for(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    index: Kind = Number("")
    for name in ("lower", "upper", "step"):
        index = scope.join(index, scope.take_integer(fields[name], f".{name}"), f".{name}")
    carried = scope.kinds(fields, "init")
    return scope.loop("body", [index, *carried], carried)


def _if(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    scope.take(fields["condition"], TRUTH, ".condition")
    return scope.branch("then", "else")


def _while(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    return scope.loop_while(scope.kinds(fields, "init"))


def _call(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    arguments, results = scope.function(fields["callee"])
    _take(scope, fields, arguments)
    return results


def _launch(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    for name in ("grid", "block", "cluster"):
        for number, size in enumerate(fields.get(name, ())):
            scope.take_integer(size, f".{name}[{number}]")
    scope.take_integer(fields["shared"], ".shared")
    scope.launch(fields["kernel"], scope.kinds(fields, "args"))
    return []


_CONTROL_RULES: Mapping[str, Rule] = {
    "scf.for": Rule(
        _for,
        {"lower": OPERAND, "upper": OPERAND, "step": OPERAND, "init": OPERANDS},
        {"unsigned": Integer(1, 64)},
        ("body",),
    ),
    "scf.if": Rule(_if, {"condition": OPERAND}, regions=("then", "else")),
    "scf.while": Rule(_while, {"init": OPERANDS}, regions=("before", "after")),
    "func.call": Rule(_call, {"callee": NAME, "args": OPERANDS}),
    "gpu.launch_func": Rule(
        _launch,
        {
            "kernel": Integer(0, 1 << 20),
            "grid": _DIM3,
            "block": _DIM3,
            "shared": OPERAND,
            "args": OPERANDS,
        },
        {"cluster": _DIM3},
    ),
}


def _hand_on(scope: Scope, fields: Mapping[str, Any]) -> Sequence[Kind]:
    del scope, fields
    raise Offence("hands on values before the end of its region")


TERMINATORS = ("func.return", "scf.yield", "scf.condition")

RULES: Mapping[str, Rule] = {
    **_NUMBER_RULES,
    **_MEMORY_RULES,
    **_CONTROL_RULES,
    **{name: Rule(_hand_on, {"args": OPERANDS}) for name in TERMINATORS},
}
"""All steps that a plan can have."""
