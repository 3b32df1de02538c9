"""What an integer or an address is, for all threads of a block at once.

A value is a number that all threads have, an array with one for each thread, or unknown: UNIFORM if
all threads have the same one, DIVERGENT if they may not. Numbers count modulo 2 to the width.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from certificates.ir import Instruction, NotUnderstood, Operand, Type

Array = npt.NDArray[Any]


LIMIT = 1 << 63


class Unknown:
    """A value that is not known: ``varied`` if threads may not agree on it.

    As a signed number it is at least ``low`` and at most ``high``. Of a condition, ``true`` and
    ``false`` say for which threads it may be so; None: for all.
    """

    __slots__ = ("false", "high", "low", "true", "varied")

    def __init__(self, *, varied: bool, low: int = -LIMIT, high: int = LIMIT) -> None:
        self.varied = varied
        self.low, self.high = low, high
        self.true: Array | None = None
        self.false: Array | None = None

    @property
    def is_condition(self) -> bool:
        """Whether it is known of it which threads it may be so for."""
        return self.true is not None or self.false is not None

    def at_least(self, low: int) -> Unknown:
        """The same, where it is known to be no less."""
        return Unknown(varied=self.varied, low=max(self.low, low), high=max(self.high, low))

    def has_few(self, most: int) -> bool:
        """Whether all threads have the same one of so many values at most."""
        return not self.varied and self.high - self.low < most

    def __repr__(self) -> str:
        return f"{'DIVERGENT' if self.varied else 'UNIFORM'} {self.low} {self.high}"


UNIFORM = Unknown(varied=False)
DIVERGENT = Unknown(varied=True)

Value = int | Array | Unknown
Environment = dict[str, Value]


def merge_unknown(*values: Value) -> Unknown:
    """What is known of something that is made of these."""
    varied = any(
        value.varied if isinstance(value, Unknown) else isinstance(value, np.ndarray)
        for value in values
    )
    return DIVERGENT if varied else UNIFORM


def blend(old: Value, value: Value, threads: Array, count: int) -> Unknown:
    """What is known where some threads have a new value, and the others an old one.

    One of them is unknown. Limits are kept if both are, since those of a number need its width.
    """
    result = Unknown(varied=True)
    if isinstance(old, Unknown) and isinstance(value, Unknown):
        result.low, result.high = min(old.low, value.low), max(old.high, value.high)
    pair = [_possible(each, count) for each in (old, value)]
    if any(isinstance(each, Unknown) and each.is_condition for each in (old, value)):
        result.true, result.false = pair[0]
        result.true[threads] = pair[1][0][threads]
        result.false[threads] = pair[1][1][threads]
    return result


def _possible(value: Value, count: int) -> tuple[Array, Array]:
    """For which threads a condition may be so, and for which not."""
    if isinstance(value, Unknown):
        everybody = np.ones(count, bool)
        true, false = (everybody if way is None else way for way in (value.true, value.false))
        return true.copy(), false.copy()
    known = pick(value, None, count).astype(bool)
    return known.copy(), ~known


def limits_of(value: Value, bits: int) -> tuple[int, int]:
    """The least and the greatest signed number that a value may be."""
    if isinstance(value, Unknown):
        edge = 1 << (bits - 1)
        return max(value.low, -edge), min(value.high, edge - 1)
    if isinstance(value, int):
        return _signed(value, bits), _signed(value, bits)
    numbers = _signed_array(value, bits)
    return int(numbers.min()), int(numbers.max())


def _bounded(low: int, high: int, bits: int, *values: Value) -> Unknown:
    """An unknown value within limits; without, if they are beyond what it can be."""
    unknown = merge_unknown(*values)
    if low < -(1 << (bits - 1)) or high >= 1 << (bits - 1) or low > high:
        return unknown
    return Unknown(varied=unknown.varied, low=low, high=high)


def _binary_unknown(op: str, a: Value, b: Value, bits: int) -> Unknown:
    """Limits of what an operation makes of values that are not all known."""
    (la, ha), (lb, hb) = limits_of(a, bits), limits_of(b, bits)
    positive = la >= 0 and lb >= 0
    low, high = 1, 0
    if op == "add":
        low, high = la + lb, ha + hb
    elif op == "sub":
        low, high = la - hb, ha - lb
    elif op == "mul" or (op == "shl" and lb == hb and 0 <= lb < bits):
        factors = (lb, hb) if op == "mul" else (1 << lb, 1 << lb)
        products = [x * y for x in (la, ha) for y in factors]
        low, high = min(products), max(products)
    elif op == "and" and (la >= 0 or lb >= 0):
        low, high = 0, min(x for x, least in ((ha, la), (hb, lb)) if least >= 0)
    elif op in ("or", "xor") and positive:
        low, high = 0, (1 << max(ha.bit_length(), hb.bit_length())) - 1
    elif op in ("lshr", "ashr") and positive and lb == hb:
        low, high = la >> lb, ha >> lb
    elif op == "lshr" and lb == hb and 0 < lb < bits:
        low, high = 0, ((1 << bits) - 1) >> lb
    elif op in ("udiv", "sdiv") and positive and lb > 0:
        low, high = la // hb, ha // lb
    elif op in ("urem", "srem") and lb > 0 and (op == "urem" or la >= 0):
        low, high = 0, hb - 1
    return _bounded(low, high, bits, a, b)


def _compare_unknown(predicate: str, a: Value, b: Value, bits: int) -> Value:
    """A comparison that may be decided by limits, for some threads at least."""
    unknown = merge_unknown(a, b)
    (la, ha), (lb, hb) = limits_of(a, bits), limits_of(b, bits)
    if predicate[0] == "u" and (la < 0 or lb < 0):
        return unknown
    lows, highs = [], []
    for value, low, high in ((a, la, ha), (b, lb, hb)):
        known = _signed_array(value, bits) if isinstance(value, np.ndarray) else None
        lows.append(low if known is None else known)
        highs.append(high if known is None else known)
    may_be_less = lows[0] < highs[1]
    may_be_more = highs[0] > lows[1]
    may_be_equal = (lows[0] <= highs[1]) & (highs[0] >= lows[1])
    ways = {
        "lt": (may_be_less, may_be_more | may_be_equal),
        "gt": (may_be_more, may_be_less | may_be_equal),
        "le": (may_be_less | may_be_equal, may_be_more),
        "ge": (may_be_more | may_be_equal, may_be_less),
        "eq": (may_be_equal, may_be_less | may_be_more),
        "ne": (may_be_less | may_be_more, may_be_equal),
    }
    true, false = ways[predicate[-2:]]
    if not np.any(false) or not np.any(true):
        return int(bool(np.any(true)))
    result = Unknown(varied=unknown.varied, low=-1, high=1)
    result.true = true if isinstance(true, np.ndarray) else None
    result.false = false if isinstance(false, np.ndarray) else None
    return result


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _signed_array(value: Array, bits: int) -> Array:
    shift = np.uint64(64 - bits)
    return (value << shift).view(np.int64) >> np.int64(64 - bits)


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_UNSIGNED: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "udiv": lambda a, b: a // b,
    "urem": lambda a, b: a % b,
}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def _binary_numbers(op: str, a: int, b: int, bits: int) -> int | None:
    if op in ("udiv", "urem", "sdiv", "srem") and b == 0:
        return None
    if op in ("shl", "lshr", "ashr"):
        if b >= bits:
            return None
        moved = a << b if op == "shl" else (_signed(a, bits) if op == "ashr" else a) >> b
        return moved % (1 << bits)
    if op in _UNSIGNED:
        return int(_UNSIGNED[op](a, b)) % (1 << bits)
    x, y = _signed(a, bits), _signed(b, bits)
    quotient = _quotient(x, y)
    return (quotient if op == "sdiv" else x - quotient * y) % (1 << bits)


def _binary_arrays(op: str, a: Array, b: Array, bits: int) -> Array | None:
    mask = np.uint64((1 << bits) - 1)
    if op in ("udiv", "urem", "sdiv", "srem") and not np.all(b):
        return None
    if op in ("shl", "lshr", "ashr"):
        if np.any(b >= np.uint64(bits)):
            return None
        if op == "ashr":
            return (_signed_array(a, bits) >> b.astype(np.int64)).view(np.uint64) & mask
        return (a << b if op == "shl" else a >> b) & mask
    if op in _UNSIGNED:
        return np.asarray(_UNSIGNED[op](a, b)) & mask
    x, y = _signed_array(a, bits), _signed_array(b, bits)
    quotient = np.abs(x) // np.abs(y) * np.where((x < 0) == (y < 0), 1, -1)
    return (quotient if op == "sdiv" else x - quotient * y).view(np.uint64) & mask


def binary(op: str, a: Value, b: Value, bits: int) -> Value:
    """What an operation of two integers makes; undefined results are unknown."""
    if op in ("and", "mul") and any(isinstance(x, int) and x == 0 for x in (a, b)):
        return 0
    if bits > 64:
        return merge_unknown(a, b)
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return _binary_unknown(op, a, b, bits)
    if isinstance(a, int) and isinstance(b, int):
        number = _binary_numbers(op, a, b, bits)
        return UNIFORM if number is None else number
    array = _binary_arrays(op, *_arrays(a, b), bits)
    return DIVERGENT if array is None else array


def _arrays(a: int | Array, b: int | Array) -> tuple[Array, Array]:
    return np.asarray(a, np.uint64), np.asarray(b, np.uint64)


def compare(predicate: str, a: Value, b: Value, bits: int) -> Value:
    """What a comparison of two integers says, as 0 or 1."""
    if bits > 64:
        return merge_unknown(a, b)
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return _compare_unknown(predicate, a, b, bits)
    function = _COMPARISONS[predicate[-2:]]
    is_signed = predicate[0] == "s"
    if isinstance(a, int) and isinstance(b, int):
        if is_signed:
            a, b = _signed(a, bits), _signed(b, bits)
        return int(function(a, b))
    x, y = _arrays(a, b)
    if is_signed:
        x, y = _signed_array(x, bits), _signed_array(y, bits)
    return np.asarray(function(x, y)).astype(np.uint64)


_NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def refine(predicate: str, value: Value, other: Value, bits: int, *, truth: bool) -> Value:
    """What is known of the first of two values where a comparison of them is true, or false."""
    if not isinstance(value, Unknown) or bits > 64:
        return value
    words = predicate[-2:] if truth else _NEGATED[predicate[-2:]]
    (low, high), (least_other, most_other) = limits_of(value, bits), limits_of(other, bits)
    if predicate[0] == "u":
        if least_other < 0 or (low < 0 and words not in ("lt", "le")):
            return value
        low = max(low, 0)
    if words in ("lt", "le"):
        high = min(high, most_other - (words == "lt"))
    elif words in ("gt", "ge"):
        low = max(low, least_other + (words == "gt"))
    elif words == "eq":
        low, high = max(low, least_other), min(high, most_other)
    return _bounded(low, high, bits, value)


def refine_second(predicate: str, value: Value, other: Value, bits: int, *, truth: bool) -> Value:
    """The same of the second one."""
    sign = predicate[:-2]
    return refine(sign + _MIRRORED[predicate[-2:]], other, value, bits, truth=truth)


def select(condition: Value, a: Value, b: Value, bits: int) -> Value:
    """One of two values, by a condition."""
    if isinstance(condition, int):
        return a if condition else b
    if isinstance(condition, Unknown) and isinstance(a, int) and same(a, b):
        return a
    if isinstance(condition, Unknown) or isinstance(a, Unknown) or isinstance(b, Unknown):
        if bits > 64:
            return merge_unknown(condition, a, b)
        (la, ha), (lb, hb) = limits_of(a, bits), limits_of(b, bits)
        return _bounded(min(la, lb), max(ha, hb), bits, condition, a, b)
    return np.where(condition.astype(bool), *_arrays(a, b))


def same(a: Value, b: Value) -> bool:
    """Whether two values are the same, as far as they are known."""
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return repr(a) == repr(b)
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    first, second = np.broadcast_arrays(*_arrays(a, b))
    return bool(np.array_equal(first, second))


def extend(value: Value, source: Type, target: Type, *, signed: bool) -> Value:
    """A number in another width."""
    if target.bits > 64 or source.bits > 64:
        return merge_unknown(value)
    if isinstance(value, Unknown):
        low, high = limits_of(value, source.bits)
        if not signed and low < 0 and source.bits < target.bits:
            low, high = 0, (1 << source.bits) - 1
        return _bounded(low, high, target.bits, value)
    mask = (1 << target.bits) - 1
    if isinstance(value, int):
        return (_signed(value, source.bits) if signed else value) & mask
    if signed:
        value = _signed_array(value, source.bits).view(np.uint64)
    return value & np.uint64(mask)


def least(signed: bool, greatest: bool, a: Value, b: Value, bits: int) -> Value:
    """The smaller or the greater one of two numbers."""
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        if bits > 64:
            return merge_unknown(a, b)
        (la, ha), (lb, hb) = limits_of(a, bits), limits_of(b, bits)
        if not signed and (la < 0 or lb < 0):
            # Without a sign, what is negative is large.
            most = [h for low, h in ((la, ha), (lb, hb)) if low >= 0]
            if greatest or not most:
                return merge_unknown(a, b)
            return _bounded(0, min(most), bits, a, b)
        choose = max if greatest else min
        return _bounded(choose(la, lb), choose(ha, hb), bits, a, b)
    predicate = ("s" if signed else "u") + ("gt" if greatest else "lt")
    return select(compare(predicate, a, b, bits), a, b, bits)


class Evaluator:
    """Values of instructions, of one kernel in blocks of one shape.

    ``bases``: an address for each variable of workgroup memory.
    """

    def __init__(self, block: tuple[int, int, int], bases: Mapping[str, int]) -> None:
        self.bases = bases
        self.threads = int(np.prod(block))
        numbers = np.arange(self.threads, dtype=np.uint64)
        x, y, z = (np.uint64(extent) for extent in block)
        self.ids: dict[str, Value] = {
            "tid.x": numbers % x if block[0] > 1 else 0,
            "tid.y": numbers // x % y if block[1] > 1 else 0,
            "tid.z": numbers // (x * y) % z if block[2] > 1 else 0,
            "ntid.x": block[0],
            "ntid.y": block[1],
            "ntid.z": block[2],
            "laneid": numbers % np.uint64(32),
        }

    def operand(self, operand: Operand, environment: Environment) -> Value:
        """What an operand is."""
        if operand.kind == "int":
            bits = operand.type.bits or 64
            return operand.number % (1 << bits)
        if operand.kind == "register":
            return environment.get(operand.name, DIVERGENT)
        if operand.kind == "global":
            return self.bases.get(operand.name, UNIFORM)
        if operand.kind == "expression" and operand.name == "getelementptr":
            return self.address(operand.base, operand.parts, environment)
        if operand.kind == "expression" and operand.name == "addrspacecast":
            return self.operand(operand.parts[0], environment)
        if operand.kind == "expression" and operand.name == "ptrtoint":
            value = self.operand(operand.parts[0], environment)
            return extend(value, Type("int", 64), operand.type, signed=False)
        return UNIFORM if operand.kind == "expression" else DIVERGENT

    def address(
        self, base: Type | None, operands: tuple[Operand, ...], environment: Environment
    ) -> Value:
        """The address of a `getelementptr`."""
        value = self.operand(operands[0], environment)
        type = base
        for number, operand in enumerate(operands[1:]):
            index = self.operand(operand, environment)
            index = extend(index, operand.type, Type("int", 64), signed=True)
            if type is None or operand.type.kind != "int":
                return DIVERGENT
            if number > 0:
                if type.kind == "struct":
                    value = binary("add", value, type.offset(operand.number), 64)
                    type = type.parts[operand.number]
                    continue
                type = type.parts[0]
            value = binary("add", value, binary("mul", index, type.stride, 64), 64)
        return value

    def choose(
        self, steps: Iterable[Instruction], source: str, environment: Environment
    ) -> Environment:
        """The values that are chosen by the way to a block of such steps."""
        return {
            line.name: self.operand(line.operands[line.labels.index(source)], environment)
            for line in steps
            if line.op == "phi" and source in line.labels
        }

    def instruction(self, line: Instruction, environment: Environment) -> Value:
        """What the result of an instruction is; unknown if it is not an integer."""
        op = line.op
        if op == "getelementptr":
            return self.address(line.base, line.operands, environment)
        if op == "call" and "read.ptx.sreg." in line.callee:
            return self._register(line)
        values = [self.operand(operand, environment) for operand in line.operands]
        if op == "call":
            return self._call(line, values)
        if op in _UNSIGNED or op in ("sdiv", "srem", "shl", "lshr", "ashr"):
            if line.type.kind == "int":
                return binary(op, values[0], values[1], line.type.bits)
        elif op == "icmp" and line.operands[0].type.kind in ("int", "ptr"):
            return compare(line.flag, values[0], values[1], line.operands[0].type.bits)
        elif op == "select" and line.operands[0].type.kind == "int":
            return select(values[0], values[1], values[2], line.type.bits)
        elif op in ("zext", "sext", "trunc") and line.type.kind == "int":
            return extend(values[0], line.operands[0].type, line.type, signed=op == "sext")
        elif op in ("freeze", "addrspacecast"):
            return values[0]
        elif op == "ptrtoint" and line.type.kind == "int":
            return extend(values[0], Type("int", 64), line.type, signed=False)
        if op in ("load", "extractvalue", "extractelement", "atomicrmw", "cmpxchg"):
            return DIVERGENT
        return merge_unknown(*values) if values else DIVERGENT

    def _call(self, line: Instruction, values: list[Value]) -> Value:
        match = re.fullmatch(r"@llvm\.([us])(min|max)\.i\d+", line.callee)
        if match:
            signed, greatest = match[1] == "s", match[2] == "max"
            return least(signed, greatest, values[0], values[1], line.type.bits)
        if line.callee == "@llvm.nvvm.shfl.sync.idx.i32":
            return self._exchange(values)
        return DIVERGENT

    def _exchange(self, values: list[Value]) -> Value:
        """What one lane has, for all lanes of its warp; all have to take part."""
        mask, value, lane, clamp = values
        known = mask == (1 << 32) - 1 and isinstance(lane, int) and 0 <= lane < 32 and clamp == 31
        if not known or isinstance(value, Unknown) or self.threads % 32:
            return DIVERGENT
        sources = np.arange(self.threads) // 32 * 32 + int(lane)  # type: ignore[arg-type]
        return value if isinstance(value, int) else value[sources]

    def _register(self, line: Instruction) -> Value:
        name = line.callee.split("sreg.")[1]
        value = self.ids.get(name, DIVERGENT)
        if "ctaid" in name or name.startswith("nclusterid"):
            limits = re.search(r"range\(i32 (\d+), (\d+)\)", line.text)
            low, high = (int(limits[1]), int(limits[2]) - 1) if limits else (0, (1 << 31) - 1)
            value = low if low == high else Unknown(varied=False, low=low, high=high)
        return value


def pick(value: Array | int, threads: Array | None, count: int) -> Array:
    """A value for each of some threads."""
    whole = np.broadcast_to(np.asarray(value, np.uint64), (count,))
    return whole if threads is None else whole[threads]


def check_parameters(kernel: str, parameters: Mapping[str, Type]) -> None:
    """Refuse parameters that a kernel cannot have."""
    for name, type in parameters.items():
        if type.kind == "ptr" and type.space == 3:
            raise NotUnderstood(f"kernel {kernel}: parameter {name} points to workgroup memory")
