"""Where calls run: on a GPU, or on the emulator; and what a module keeps for its calls on GPUs."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..errors import UsageError

if TYPE_CHECKING:
    from typing import Protocol

    from ..records.findings import Report
    from ..records.signature import Entry, Signature
    from ..runtime.arguments import Value
    from ..runtime.cuda.guard import Guard
    from ..runtime.cuda.launcher import Launcher
    from ..runtime.emulator import Options
    from ..runtime.host.plan import Plan
    from ..runtime.sizes import LaunchSizes

    class PlanSource(Protocol):
        """What reads a plan when it is first asked for."""

        @property
        def plan(self) -> Plan: ...


Backend = Literal["auto", "emulator", "cuda"]

_MAX_GUARDS = 8
_Variant = TypeVar("_Variant")


def runs_on_gpu(
    backend: str,
    values: Sequence[Any],
    stream: Any,
    options: Options | None = None,
    device: int | None = None,
) -> bool:
    """Return whether a call runs on a GPU: if there is one, and nothing else is said.

    `options` are those of the emulator, if there are any. Raises UsageError for what there is not,
    or not together.
    """
    from ..runtime.arrays import is_on_gpu

    if backend not in ("auto", "emulator", "cuda"):
        raise UsageError(f"error: unknown backend '{backend}'; there are auto, emulator, cuda")
    is_plain = options is None or options == _no_options()
    if backend == "cuda" and not is_plain:
        reason = "has no checks, orders, seeds, limits or statistics, which the emulator has"
        raise UsageError(f"error: backend 'cuda' {reason}", f"error: --backend cuda {reason}")
    if backend == "emulator" or not is_plain:
        for given, name in ((stream, "stream"), (device, "device")):
            if given is not None:
                raise UsageError(f"error: a {name} is given, but the emulator has none")
        return False
    if backend == "cuda" or stream is not None or device is not None:
        return True
    return any(is_on_gpu(value) for value in values) or has_gpu()


@functools.cache
def has_gpu() -> bool:
    """Return whether this process has a GPU to use."""
    from ..errors import DeviceUnavailable, DriverError
    from ..runtime.cuda.driver import Driver

    try:
        return Driver.get().device_count() > 0
    except (DeviceUnavailable, DriverError):
        return False


@functools.cache
def _no_options() -> Options:
    from ..runtime.emulator import Options

    return Options()


def read_device(device: Any) -> int | None:
    """Return the number of a GPU, or None if none is given. Raises KindError."""
    from ..errors import KindError

    if device is None or (isinstance(device, int) and not isinstance(device, bool)):
        return device
    raise KindError(f"error: device must be the number of a GPU, as 1, but is {device!r}")


def unpack(results: tuple[Any, ...]) -> Any:
    """Return results as a caller gets them: None, the only one, or a tuple."""
    return results if len(results) > 1 else next(iter(results), None)


def choose_variant(
    variants: Mapping[str, _Variant],
    called: _Variant,
    values: Sequence[Any],
    device: int | None = None,
) -> _Variant:
    """Return the module of a bundle that is for the newest chip that a GPU is, or is newer than.

    The GPU is `device`, or that of the first array that is on one, or the first. ``called`` is what
    is called, and is returned if it has no others beside it.
    """
    if len(variants) < 2:
        return called
    from ..runtime.cuda.backend import Backend as Gpus
    from ..runtime.cuda.code import Chip

    gpus = Gpus.get()
    capability = gpus.driver.capability(gpus.find_device(values) if device is None else device)
    fitting = [
        (chip, module)
        for name, module in variants.items()
        if (chip := Chip.parse(name)) is not None and chip.runs_as_ptx(capability)
    ]
    if not fitting:
        return called
    return max(fitting, key=lambda pair: pair[0])[1]


class GpuCalls:
    """The code of a module for GPUs, and what its calls leave for the next ones.

    ``ptx`` is PTX, ``cubins`` machine code by chip.
    """

    def __init__(self, ptx: str, cubins: Mapping[str, bytes] | None = None) -> None:
        self._ptx = ptx
        self._cubins = dict(cubins or {})
        self._kernels: Mapping[str, Signature] = {}
        self._plan: PlanSource | None = None
        self._reset()

    def _reset(self) -> None:
        self._launcher: Launcher | None = None
        self._lock = threading.Lock()
        self.guards: tuple[Guard, ...] = ()

    def attach(self, kernels: Mapping[str, Signature], plan: PlanSource) -> None:
        """Tell the kernels that the code has, and the plan that launches them."""
        self._kernels = kernels
        self._plan = plan

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the code: what is loaded is of this process."""
        left_out = ("_launcher", "_lock", "guards")
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin with nothing loaded."""
        vars(self).update(state)
        self._reset()

    @property
    def launcher(self) -> Launcher:
        """What runs the kernels on GPUs. Raises UsageError if there is no code for one."""
        with self._lock:
            if self._launcher is None:
                self._launcher = self._make()
            return self._launcher

    def _make(self) -> Launcher:
        from ..runtime.cuda.code import Code
        from ..runtime.cuda.launcher import Launcher

        if not self._ptx and not self._cubins:
            raise UsageError("error: the module has no PTX: an earlier stage was asked for")
        assert self._plan is not None
        code = Code(self._ptx.encode(), self._cubins, list(self._kernels.values()))
        return Launcher(self._plan.plan, self._kernels, code)

    def call(
        self,
        entry: Entry,
        values: Sequence[Value],
        stream: Any,
        device: int | None,
        *,
        needs_distinct_arguments: bool,
        is_guarded: bool,
    ) -> tuple[tuple[Any, ...], Guard | None]:
        """Run a host function on checked arguments; return its results, and None or a guard.

        is_guarded: whether a guard is wanted; not all calls can have one.
        """
        launcher = self.launcher
        callee = launcher.callee(
            entry.name, entry.written, needs_distinct_arguments=needs_distinct_arguments
        )
        return callee.call(values, stream, device, is_guarded=is_guarded)

    def remember(self, guard: Guard) -> None:
        """Ask a guard first from now on, when the module is called."""
        self.guards = (guard, *self.guards[: _MAX_GUARDS - 1])

    def call_alike(self, values: tuple[Any, ...], stream: Any) -> tuple[Any, ...] | None:
        """Run a call like one before; return its results, or None if it is like none."""
        guards = self.guards
        for guard in guards:
            results = guard(values, stream)
            if results is not None:
                if guard is not guards[0]:
                    self.guards = (guard, *(other for other in guards if other is not guard))
                return results
        return None

    def launch(
        self,
        kernel: Signature,
        sizes: LaunchSizes,
        values: Sequence[Value],
        stream: Any,
        device: int | None,
    ) -> Report:
        """Launch a kernel on checked arguments; the report tells how long that took the host."""
        from ..records.findings import Report

        start = time.perf_counter()
        self.launcher.run_kernel(kernel, sizes, values, stream, device)
        seconds = time.perf_counter() - start
        blocks = sizes.grid[0] * sizes.grid[1] * sizes.grid[2]
        return Report(kernel.name, "none", (), "", blocks, blocks, (), "", None, seconds)
