"""Running what a launch plan says on arrays of NumPy, with the emulator as the GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError, UsageError
from ...records.findings import Dim3, Report
from ..arguments import Value, check_operand
from ..emulator import Options, launch, prepare
from ..sizes import LaunchSizes
from .memory import (
    Memory,
    check_place,
    collapse,
    expand,
    read_vector,
    reinterpret,
    store,
    subview,
    transpose,
)
from .numbers import (
    FUNCTIONS,
    compute,
    compute_function,
    evaluate,
    from_bits,
    iterations,
    to_bytes,
    wrap,
)
from .plan import Function, Plan, Region, Step, dtype_of
from .printing import describe_memory, describe_value

if TYPE_CHECKING:
    from ...diagnostics import Location
    from ...records.signature import Argument
    from ..emulation import Launchable


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of running a function: a report per launch, and its results.

    There are no results if a launch had an error, which is the last one then.
    """

    reports: tuple[Report, ...]
    results: tuple[Any, ...]


class _LaunchError(Exception):
    """A launch had an error, and what follows must not run."""


class Executor:
    """Runs functions of a plan.

    Launches and copies wait until an element is read by the host, or the end: what can be found
    wrong with a launch before anything runs, is.
    """

    def __init__(self, plan: Plan, kernels: Mapping[str, Launchable], options: Options) -> None:
        self._plan = plan
        self._kernels = kernels
        self._options = options
        self._waiting: list[Callable[[], None]] = []
        self._reports: list[Report] = []
        self._globals: dict[int, Memory] = {}

    def run(self, function: Function, values: Sequence[Value]) -> Outcome:
        """Run `function` on its converted arguments."""
        arguments = [
            Memory.of_argument(value)
            if value.has_array
            else from_bits(value.argument.element_type, int.from_bytes(value.bytes, "little"))
            for value in values
        ]
        try:
            results = self._call(function, arguments)
            self._flush()
        except _LaunchError:
            return Outcome(tuple(self._reports), ())
        finally:
            for value in values:
                value.finish()
        given = tuple(
            result.given if isinstance(result, Memory) else _make_scalar(kind, result)
            for kind, result in zip(function.results, results, strict=True)
        )
        return Outcome(tuple(self._reports), given)

    def _call(self, function: Function, arguments: Sequence[Any]) -> list[Any]:
        assert function.body is not None
        return _Frame(self, {}).run(function.body, arguments)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for action in waiting:
            action()

    def call(self, name: str, arguments: Sequence[Any]) -> list[Any]:
        """Run another function of the plan."""
        return self._call(self._plan.functions[name], arguments)

    def data(self, number: int, location: Location) -> Memory:
        """Return memory of the program: a constant, or what all steps of this run see."""
        data = self._plan.data[number]
        if not data.mutable:
            return Memory.of_array(data.make(), "a constant")
        if number not in self._globals:
            memory = Memory.allocate(data.dtype, data.shape, location)
            if data.elements is not None:
                memory.array[...] = data.make()
            self._globals[number] = memory
        return self._globals[number]

    def finish(self) -> None:
        """Do all that waits."""
        self._flush()

    def do(self, action: Callable[[], None]) -> None:
        """Do something when all that was to be done before is done."""
        self._waiting.append(action)

    def load(self, memory: Memory, indices: Sequence[int], step: Step) -> Any:
        """Read an element, after all that may write to it."""
        place = check_place(memory, indices, step.location)
        self._flush()
        return memory.element(place)

    def launch(self, number: int, sizes: LaunchSizes, operands: Sequence[Any], step: Step) -> None:
        """Check a launch, and keep it for later."""
        if 0 in sizes.grid:
            return
        kernel = self._kernels[self._plan.kernels[number]]
        try:
            values = [
                _make_value(argument, operand, index)
                for index, (argument, operand) in enumerate(
                    zip(kernel.arguments, operands, strict=True)
                )
            ]
        except ArgumentError as error:
            reason = str(error).removeprefix("error: ")
            raise UsageError(
                f"{step.location}: error: kernel '{kernel.name}' cannot be launched: {reason}"
            ) from error
        prepared = prepare(kernel, values, sizes, self._options, step.location)

        def run() -> None:
            report = launch(prepared)
            self._reports.append(report)
            if report.errors:
                raise _LaunchError

        self.do(run)


def _make_value(argument: Argument, operand: Any, index: int) -> Value:
    if not isinstance(operand, Memory):
        return Value(argument, None, None, to_bytes(argument.element_type, operand))
    if argument.tensor_map is not None:
        array = operand.array
        return Value(argument, array, array, is_imported=operand.is_imported)
    # An argument of the function is one value for all launches: what one writes to it, the next
    # has to see, whether the array is worked on in place or by a copy.
    value = operand.value or Value(argument, operand.array, operand.array, offset=operand.offset)
    check_operand(value, argument, index)
    return value


def _make_scalar(kind: str, number: Any) -> Any:
    return dtype_of(kind).type(number)


class _Frame:
    """The values of a function that is being executed."""

    def __init__(self, executor: Executor, values: dict[int, Any]) -> None:
        self._executor = executor
        self._values = values

    def run(self, region: Region, arguments: Sequence[Any]) -> list[Any]:
        """Execute a region; return what its last step hands on."""
        self._values.update(zip(region.arguments, arguments, strict=True))
        for step in region.steps[:-1]:
            self._execute(step)
        return self._read_all(region.steps[-1].fields["args"]) if region.steps else []

    def _execute(self, step: Step) -> None:
        dialect, _, name = step.op.partition(".")
        try:
            if dialect == "arith":
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

    def _read(self, operand: Any) -> Any:
        if isinstance(operand, str):
            return self._values[int(operand[1:])]
        if isinstance(operand, list):
            return from_bits(operand[1], operand[2])
        return operand

    def _read_all(self, operands: Sequence[Any]) -> list[Any]:
        return [self._read(operand) for operand in operands]

    # Numbers.

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
        memory = self._read(step.fields["source"])
        assert isinstance(memory, Memory)
        return memory

    def _memref_alloc(self, step: Step) -> list[Any]:
        shape = self._read_all(step.fields["shape"])
        return [Memory.allocate(step.fields["dtype"], shape, step.location)]

    def _memref_dealloc(self, step: Step) -> None:
        # Launches that wait hold on to what they need.
        operand = step.fields["source"]
        if isinstance(operand, str):
            self._values.pop(int(operand[1:]), None)

    def _memref_get_global(self, step: Step) -> list[Any]:
        return [self._executor.data(step.fields["data"], step.location)]

    def _target(self, step: Step) -> Memory:
        """Return the memory that a step writes to. Raises UsageError if it must not."""
        memory = self._read(step.fields["target"])
        assert isinstance(memory, Memory)
        if memory.read_only:
            raise UsageError(f"{step.location}: error: '{step.op}' op writes to {memory.read_only}")
        return memory

    def _memref_copy(self, step: Step) -> None:
        source, target = self._source(step), self._target(step)
        if source.array.shape != target.array.shape:
            raise UsageError(
                f"{step.location}: error: 'memref.copy' op is from shape {source.array.shape} to "
                f"{target.array.shape}"
            )

        def copy() -> None:
            target.array[...] = source.array

        self._executor.do(copy)

    def _gpu_memset(self, step: Step) -> None:
        value, target = self._read(step.fields["value"]), self._target(step)

        def fill() -> None:
            store(target, (), value)

        self._executor.do(fill)

    def _vector_transfer_read(self, step: Step) -> list[Any]:
        fields, source = step.fields, self._source(step)
        indices, padding = self._read_all(fields["indices"]), self._read(fields["padding"])
        if min(indices, default=0) < 0:
            raise UsageError(f"{step.location}: error: there is no element {tuple(indices)}")
        self._executor.finish()
        return [read_vector(source, indices, fields["shape"], padding)]

    def _print(self, step: Step) -> None:
        self._executor.finish()
        if "source" in step.fields:
            text = describe_memory(self._source(step))
        else:
            value = self._read(step.fields["value"]) if "value" in step.fields else None
            text = describe_value(value, step.fields)
        print(text, end="")

    def _memref_load(self, step: Step) -> list[Any]:
        indices = self._read_all(step.fields["indices"])
        return [self._executor.load(self._source(step), indices, step)]

    def _memref_store(self, step: Step) -> None:
        fields = step.fields
        value, target = self._read(fields["value"]), self._target(step)
        place = check_place(target, self._read_all(fields["indices"]), step.location)
        self._executor.do(lambda: store(target, place, value))

    def _memref_dim(self, step: Step) -> list[Any]:
        shape, dim = self._source(step).array.shape, self._read(step.fields["dim"])
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
        carried = self._read_all(fields["init"])
        for number in iterations(lower, upper, stride, width):
            carried = self.run(step.regions["body"], [number, *carried])
        return carried

    def _scf_if(self, step: Step) -> list[Any]:
        condition = self._read(step.fields["condition"])
        return self.run(step.regions["then" if condition else "else"], [])

    def _scf_while(self, step: Step) -> list[Any]:
        carried = self._read_all(step.fields["init"])
        while True:
            condition, *carried = self.run(step.regions["before"], carried)
            if not condition:
                return carried
            carried = self.run(step.regions["after"], carried)

    def _func_call(self, step: Step) -> list[Any]:
        return self._executor.call(step.fields["callee"], self._read_all(step.fields["args"]))

    def _gpu_launch_func(self, step: Step) -> None:
        fields = step.fields
        sizes = LaunchSizes(
            _dim3(self._read_all(fields["grid"])),
            _dim3(self._read_all(fields["block"])),
            self._read(fields["shared"]),
            _dim3(self._read_all(fields["cluster"])) if "cluster" in fields else None,
        )
        self._executor.launch(fields["kernel"], sizes, self._read_all(fields["args"]), step)


def _dim3(sizes: Sequence[int]) -> Dim3:
    x, y, z = sizes
    return x, y, z
