"""What the steps of a plan say, done on a machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...records.scalars import element_bytes
from ..sizes import LaunchSizes
from .machine import Token
from .memory import Memory, collapse, expand, reinterpret, subview, transpose
from .numbers import (
    FUNCTIONS,
    compute,
    compute_function,
    evaluate,
    from_bits,
    iterations,
    to_bytes,
    width_of,
    wrap,
)
from .printing import describe_memory, describe_value
from .vectors import cut_vector

if TYPE_CHECKING:
    from ...records.findings import Dim3
    from .machine import Machine
    from .plan import Function, Plan, Region, Step


_CONSTANT = -1
"""The index of tokens that stand for constants of the program."""


def call(plan: Plan, machine: Machine, function: Function, arguments: Sequence[Any]) -> list[Any]:
    """Do what a function says; return its results: memory, numbers and tokens.

    Raises UsageError for what cannot be done, with its place.
    """
    assert function.body is not None
    return Frame(plan, machine).run(function.body, arguments)


class Frame:
    """The values of a function that is being executed."""

    def __init__(self, plan: Plan, machine: Machine) -> None:
        self._plan = plan
        self._machine = machine
        self._values: dict[int, Any] = {}

    def run(self, region: Region, arguments: Sequence[Any]) -> list[Any]:
        """Execute a region; return what its last step hands on."""
        self._values.update(zip(region.arguments, arguments, strict=True))
        for step in region.steps[:-1]:
            self._execute(step)
        return self._value_all(region.steps[-1].fields["args"]) if region.steps else []

    def _execute(self, step: Step) -> None:
        dialect, _, name = step.op.partition(".")
        try:
            if step.op == "arith.select":
                results = [self._select(step)]
            elif dialect == "arith":
                results = [self._compute(name, step)]
            elif dialect == "math" and name in FUNCTIONS:
                args = self._read_all(step.fields["args"])
                results = [compute_function(name, step.fields["type"], args)]
            else:
                execute = getattr(self, "_" + step.op.replace(".", "_"), None)
                if execute is None:
                    raise UsageError(f"{step.location}: error: no plan has '{step.op}' ops")
                results = execute(step) or []
        except ZeroDivisionError:
            raise UsageError(f"{step.location}: error: '{step.op}' op divides by 0") from None
        except OverflowError as error:
            raise UsageError(f"{step.location}: error: '{step.op}' op {error}") from None
        self._values.update(zip(step.results, results, strict=True))

    def _value(self, operand: Any) -> Any:
        """Return memory, a number, or the token that stands for one."""
        if isinstance(operand, str):
            return self._values[int(operand[1:])]
        if isinstance(operand, list):
            _, kind, bits = operand
            width = width_of(kind)
            if width is not None:
                return wrap(bits, width)
            size = element_bytes(kind) or 8
            return Token(_CONSTANT, kind, (bits % (1 << (8 * size))).to_bytes(size, "little"))
        return operand

    def _value_all(self, operands: Sequence[Any]) -> list[Any]:
        return [self._value(operand) for operand in operands]

    def _read(self, operand: Any) -> Any:
        """Return a number that something is computed from."""
        return self._number(self._value(operand))

    def _number(self, value: Any) -> Any:
        if not isinstance(value, Token):
            return value
        if value.index == _CONSTANT:
            return from_bits(value.element_type, int.from_bytes(value.bytes, "little"))
        return self._machine.number(value)

    def _read_all(self, operands: Sequence[Any]) -> list[Any]:
        return [self._read(operand) for operand in operands]

    def _bytes(self, operand: Any, memory: Memory) -> bytes:
        """Return a number as an element of memory has it."""
        if isinstance(operand, list):
            bits: int = operand[2] % (1 << 64)
            return bits.to_bytes(8, "little")[: memory.itemsize]
        return to_bytes(memory.element_type, self._read(operand))

    # Numbers.

    def _select(self, step: Step) -> Any:
        condition, first, second = step.fields["args"]
        return self._value(first if self._read(condition) else second)

    def _compute(self, name: str, step: Step) -> Any:
        fields = step.fields
        predicate = fields.get("predicate", "")
        return compute(
            name, fields["type"], fields["from"], predicate, self._read_all(fields["args"])
        )

    def _evaluate(self, step: Step) -> list[int]:
        numbers, form = self._read_all(step.fields["args"]), step.fields["map"]
        dims, symbols = numbers[: form["dims"]], numbers[form["dims"] :]
        return [wrap(evaluate(result, dims, symbols), 64) for result in form["results"]]

    def _affine_apply(self, step: Step) -> list[Any]:
        return self._evaluate(step)

    def _affine_min(self, step: Step) -> list[Any]:
        return [min(self._evaluate(step))]

    def _affine_max(self, step: Step) -> list[Any]:
        return [max(self._evaluate(step))]

    def _cf_assert(self, step: Step) -> None:
        if not self._read(step.fields["args"][0]):
            raise UsageError(f"{step.location}: error: {step.fields['text']}")

    # Memory.

    def _source(self, step: Step) -> Memory:
        memory = self._value(step.fields["source"])
        assert isinstance(memory, Memory)
        return memory

    def _memref_alloc(self, step: Step) -> list[Any]:
        shape = self._read_all(step.fields["shape"])
        if min(shape, default=0) < 0:
            raise UsageError(f"{step.location}: error: memory of shape {tuple(shape)} is asked for")
        return [self._machine.allocate(step.fields["dtype"], shape, step.location)]

    def _memref_dealloc(self, step: Step) -> None:
        # Launches that wait hold on to what they need.
        operand = step.fields["source"]
        if isinstance(operand, str):
            self._values.pop(int(operand[1:]), None)

    def _memref_get_global(self, step: Step) -> list[Any]:
        return [self._machine.data(step.fields["data"], step.location)]

    def _target(self, step: Step) -> Memory:
        """Return the memory that a step writes to. Raises UsageError if it must not."""
        memory = self._value(step.fields["target"])
        assert isinstance(memory, Memory)
        if reason := memory.buffer.read_only:
            raise UsageError(f"{step.location}: error: '{step.op}' op writes to {reason}")
        return memory

    def _memref_copy(self, step: Step) -> None:
        source, target = self._source(step), self._target(step)
        if source.shape != target.shape:
            raise UsageError(
                f"{step.location}: error: 'memref.copy' op is from shape {source.shape} to "
                f"{target.shape}"
            )
        self._machine.copy(source, target, step.location)

    def _gpu_memset(self, step: Step) -> None:
        target = self._target(step)
        self._machine.fill(target, self._bytes(step.fields["value"], target), step.location)

    def _vector_transfer_read(self, step: Step) -> list[Any]:
        fields, source = step.fields, self._source(step)
        indices, padding = self._read_all(fields["indices"]), self._read(fields["padding"])
        if min(indices, default=0) < 0:
            raise UsageError(f"{step.location}: error: there is no element {tuple(indices)}")
        array = self._machine.read(source, step.location)
        return [cut_vector(array, indices, fields["shape"], padding)]

    def _print(self, step: Step) -> None:
        if "source" in step.fields:
            source = self._source(step)
            text = describe_memory(source, self._machine.read(source, step.location))
        else:
            value = self._read(step.fields["value"]) if "value" in step.fields else None
            text = describe_value(value, step.fields)
        self._machine.print(text, step.location)

    def _memref_load(self, step: Step) -> list[Any]:
        source = self._source(step)
        element = source.element(self._read_all(step.fields["indices"]), step.location)
        data = self._machine.load(element, step.location)
        return [from_bits(element.element_type, int.from_bytes(data, "little"))]

    def _memref_store(self, step: Step) -> None:
        fields, target = step.fields, self._target(step)
        element = target.element(self._read_all(fields["indices"]), step.location)
        self._machine.fill(element, self._bytes(fields["value"], element), step.location)

    def _memref_dim(self, step: Step) -> list[Any]:
        shape, dim = self._source(step).shape, self._read(step.fields["dim"])
        if not 0 <= dim < len(shape):
            raise UsageError(f"{step.location}: error: there is no dimension {dim}")
        return [shape[dim]]

    def _memref_cast(self, step: Step) -> list[Any]:
        return [self._source(step)]

    def _parts(self, step: Step) -> tuple[list[int], list[int], list[int]]:
        fields = step.fields
        offsets, sizes = self._read_all(fields["offsets"]), self._read_all(fields["sizes"])
        return offsets, sizes, self._read_all(fields["strides"])

    def _memref_subview(self, step: Step) -> list[Any]:
        parts, dropped = self._parts(step), step.fields["dropped"]
        return [subview(self._source(step), *parts, dropped, step.location)]

    def _memref_reinterpret_cast(self, step: Step) -> list[Any]:
        return [reinterpret(self._source(step), *self._parts(step), step.location)]

    def _memref_expand_shape(self, step: Step) -> list[Any]:
        sizes = self._read_all(step.fields["sizes"])
        return [expand(self._source(step), sizes, step.location)]

    def _memref_collapse_shape(self, step: Step) -> list[Any]:
        return [collapse(self._source(step), step.fields["groups"], step.location)]

    def _memref_transpose(self, step: Step) -> list[Any]:
        return [transpose(self._source(step), step.fields["permutation"])]

    # Control flow and launches.

    def _scf_for(self, step: Step) -> list[Any]:
        fields = step.fields
        lower, upper = self._read(fields["lower"]), self._read(fields["upper"])
        stride = self._read(fields["step"])
        width = fields.get("unsigned")
        if stride == 0 or (width is None and stride < 0):
            raise UsageError(f"{step.location}: error: a loop has the step {stride}")
        carried = self._value_all(fields["init"])
        for number in iterations(lower, upper, stride, width):
            carried = self.run(step.regions["body"], [number, *carried])
        return carried

    def _scf_if(self, step: Step) -> list[Any]:
        condition = self._read(step.fields["condition"])
        return self.run(step.regions["then" if condition else "else"], [])

    def _scf_while(self, step: Step) -> list[Any]:
        carried = self._value_all(step.fields["init"])
        while True:
            condition, *carried = self.run(step.regions["before"], carried)
            if not self._number(condition):
                return carried
            carried = self.run(step.regions["after"], carried)

    def _func_call(self, step: Step) -> list[Any]:
        callee = self._plan.functions[step.fields["callee"]]
        return call(self._plan, self._machine, callee, self._value_all(step.fields["args"]))

    def _gpu_launch_func(self, step: Step) -> None:
        fields = step.fields
        sizes = LaunchSizes(
            _dim3(self._read_all(fields["grid"])),
            _dim3(self._read_all(fields["block"])),
            self._read(fields["shared"]),
            _dim3(self._read_all(fields["cluster"])) if "cluster" in fields else None,
        )
        self._machine.launch(fields["kernel"], sizes, self._value_all(fields["args"]), step)


def _dim3(sizes: Sequence[int]) -> Dim3:
    x, y, z = sizes
    return x, y, z
