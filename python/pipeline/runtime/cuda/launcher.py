"""Functions and kernels of a module on GPUs: found among what was recorded, or recorded."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import AccessError
from ..arguments import Value
from ..host.interpreter import call
from ..host.machine import Token
from ..host.memory import Memory
from ..host.requirements import scalars_required
from .backend import Backend
from .beginning import begin
from .calls import Call, DeviceCall
from .direct import DirectRun
from .guard import Rules, make_guard
from .machine import Recorder
from .program import Program, build, describe_results
from .steps import Functions

if TYPE_CHECKING:
    from ...records.signature import Signature
    from ..host.plan import Function, Plan
    from ..sizes import LaunchSizes
    from .code import Code
    from .guard import Guard

_MAX_PROGRAMS = 256
_LEAST_ALIGNMENT = 16
"""What tensor maps take, whatever kernels rely on."""


class Launcher:
    """Runs what a module has on GPUs, and keeps what that takes.

    ``code`` is that of the kernels, in their order.
    """

    def __init__(self, plan: Plan, kernels: Mapping[str, Signature], code: Code) -> None:
        self._plan = plan
        self._kernels = kernels
        self._code = code
        self._numbers = {name: number for number, name in enumerate(kernels)}
        self._constants: dict[int, dict[int, int]] = {}
        self._callees: dict[str, Callee] = {}
        self._loading = threading.RLock()
        alignments = [
            argument.alignment for kernel in kernels.values() for argument in kernel.arguments
        ]
        self.address_mask = max([_LEAST_ALIGNMENT, *alignments]) - 1
        """The bits of addresses that tell how they are aligned, as far as kernels care."""

    def load(self, device: int) -> None:
        """Load the code and the constants for a GPU, as the first call does. Captures need it."""
        backend = Backend.get()
        with backend.on(device):
            self.functions(backend, device)
            self.constants(backend, device)

    def functions(self, backend: Backend, device: int) -> Functions:
        """Return the kernels on a device, whose context is current."""
        return Functions(self._code.on(backend.driver, device), self._numbers)

    def constants(self, backend: Backend, device: int) -> Mapping[int, int]:
        """Return the addresses of the data of the plan on a device, whose context is current."""
        with self._loading:
            if device not in self._constants:
                self._constants[device] = {
                    number: backend.upload_for_good(device, data.elements)
                    for number, data in enumerate(self._plan.data)
                    if data.elements
                }
            return self._constants[device]

    def callee(
        self, name: str, written: Sequence[bool], *, needs_distinct_arguments: bool
    ) -> Callee:
        """Return a function as it is called; `written` are the arguments that it may write to."""
        with self._loading:
            if name not in self._callees:
                function = self._plan.functions[name]
                self._callees[name] = Callee(
                    self, self._plan, function, written, needs_distinct_arguments
                )
            return self._callees[name]

    def run_kernel(
        self,
        kernel: Signature,
        sizes: LaunchSizes,
        values: Sequence[Value],
        stream: Any,
        device: int | None = None,
    ) -> None:
        """Launch a kernel on checked arguments, on the GPU `device` if that is not None."""
        for index, value in enumerate(values):
            if value.view is not None and value.view.read_only:
                raise AccessError(
                    f"error: argument {index} {value.view.read_only}; on a GPU nobody finds out "
                    f"whether {kernel.name}() writes to it",
                    index,
                )
        backend = Backend.get()
        written = [value.view is not None for value in values]
        with begin(backend, values, written, stream, device) as made:
            recorder = Recorder(
                self._plan,
                self._kernels,
                made.device,
                len(values),
                lambda *_: b"",
            )
            recorder.launch_kernel(kernel, sizes, record_values(made.values))
            functions = self.functions(backend, made.device)
            program = build(recorder, (), backend.driver, functions, {})
            arena = 0 if made.shares_arena else made.start(program)
            with backend.queueing:
                if made.shares_arena:
                    arena = made.start(program)
                program.queue(made.addresses, made.numbers, arena, made.stream)
            made.finish(written)

    def recorder(self, device: int, values: Sequence[Value], read: Any) -> Recorder:
        """Return a machine for a call of a function of the plan."""
        return Recorder(self._plan, self._kernels, device, len(values), read)


def record_arguments(values: Sequence[Value]) -> list[Memory | Token]:
    """Return arguments as machines take them."""
    return [
        Token(index, value.argument.element_type, value.bytes)
        if value.view is None
        else Memory.of_argument(index, value)
        for index, value in enumerate(values)
    ]


def record_values(values: Sequence[Value]) -> list[Value]:
    """Return the arguments of a kernel as those of a launch that is recorded."""
    made = []
    for value, source in zip(values, record_arguments(values), strict=True):
        offset = source.offset if isinstance(source, Memory) else 0
        made.append(Value(value.argument, value.view, value.bytes, offset, source))
    return made


class Callee:
    """A function of a plan, with what was recorded of its calls."""

    def __init__(
        self,
        launcher: Launcher,
        plan: Plan,
        function: Function,
        written: Sequence[bool],
        needs_distinct_arguments: bool,
    ) -> None:
        self.written = written
        self.needs_distinct_arguments = needs_distinct_arguments
        self.address_mask = launcher.address_mask
        self._launcher = launcher
        self._plan = plan
        self._function = function
        self._programs: dict[Any, Program] = {}
        self._shaping = tuple(sorted(scalars_required(function)))
        self._lock = threading.RLock()

    def call(
        self, values: Sequence[Value], stream: Any, device: int | None, *, is_guarded: bool
    ) -> tuple[tuple[Any, ...], Guard | None]:
        """Run on checked arguments; return the results, and a guard for calls alike if wanted."""
        backend = Backend.get()
        with begin(backend, values, self.written, stream, device) as made:
            results, program = self._call(backend, made)
            if program is None or not is_guarded or not isinstance(made, DeviceCall):
                return results, None
            rules = Rules(
                self.written, self._shaping, self.needs_distinct_arguments, self.address_mask
            )
            return results, make_guard(rules, backend, made, program)

    def _call(self, backend: Backend, made: Call) -> tuple[tuple[Any, ...], Program | None]:
        """Run a call; return its results, and what was done if it can be done again."""
        launcher = self._launcher
        functions = launcher.functions(backend, made.device)
        constants = launcher.constants(backend, made.device)
        program = self._programs.get(self._key(made))
        if program is None:
            run = DirectRun(backend, made, functions, constants)
            recorder = launcher.recorder(made.device, made.values, run.read)
            try:
                found = call(self._plan, recorder, self._function, record_arguments(made.values))
                results = describe_results(recorder, found, self._function.results)
                if run.has_begun:
                    given = run.finish(recorder, results)
                    made.finish(self.written)
                    return given, None
            finally:
                run.free()
            program = build(recorder, results, backend.driver, functions, constants)
            self._keep(made, recorder, program)
        given = self._run(backend, made, program)
        made.finish(self.written)
        return given, program

    def _run(self, backend: Backend, made: Call, program: Program) -> tuple[Any, ...]:
        values = [value.given for value in made.values]
        library = made.library if program.needs_library else None
        addresses = [*made.addresses, *program.template]
        fresh: dict[int, Any] = {}
        arena = 0 if made.shares_arena else made.start(program)
        with backend.queueing:
            if made.shares_arena:
                arena = made.start(program)
            addresses[: len(values)] = made.addresses
            if library is not None:
                fresh = program.make_fresh(addresses, library)
            program.queue(addresses, made.numbers, arena, made.stream)
        return program.give(values, fresh, made.numbers, None if library is None else library.cut)

    def _key(self, made: Call) -> Any:
        mask = self.address_mask
        arrays = tuple(
            (array.shape, array.strides, array.address & mask)
            for value in made.values
            if (array := value.view) is not None
        )
        return made.device, arrays, tuple(made.values[index].bytes for index in self._shaping)

    def _keep(self, made: Call, recorder: Recorder, program: Program) -> None:
        with self._lock:
            self._shaping = tuple(sorted({*self._shaping, *recorder.shaping}))
            if len(self._programs) >= _MAX_PROGRAMS:
                self._programs.pop(next(iter(self._programs)), None)
            self._programs[self._key(made)] = program


__all__ = ["Callee", "Launcher"]
