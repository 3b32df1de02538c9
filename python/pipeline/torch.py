"""A compiled program as an operator of PyTorch, which ``torch.compile`` takes as any other.

PyTorch is imported when an operator is made.
"""

from __future__ import annotations

import atexit
import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from .errors import (
    DeviceError,
    DTypeError,
    ShapeError,
    ToolError,
    UsageError,
)
from .records.scalars import DTYPES
from .runtime.host.extents import Result, evaluate, find_results
from .runtime.host.requirements import conditions

if TYPE_CHECKING:
    from .program.calling import Backend
    from .program.module import Module
    from .records.signature import Argument, Entry
    from .runtime.emulator import Check

_NAME = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*")
_UNUSABLE = ("i4",)
"""Types of elements that PyTorch has a name for, and nothing else."""
_INTEGERS = ("index", "i8", "i16", "i32", "i64")
_FLOATS = ("f16", "bf16", "f32", "f64")


def custom_op(
    module: Module,
    name: str,
    *,
    entry: str | None = None,
    backend: Backend = "auto",
    check: Check = "none",
) -> Any:
    """Register a host function of a module as an operator of PyTorch, and return it.

    name: ``namespace::operator``; a name that is taken gets the new meaning.
    entry: the function, if several launch kernels.
    backend: as for ``Module.run``: ``auto`` has tensors on a GPU go to that GPU, those on the host
        to the first GPU and back, or to the emulator where there is none. The emulator runs what is
        loaded from a bundle if it is asked for.
    check: as for ``Module.run``, for tensors on the host.

    The operator takes a tensor for each array, an ``int``, ``float`` or ``bool`` for each number,
    and returns new tensors, contiguous, on the device of the first one; a number is returned as a
    tensor without dimensions. Arrays that the function writes are declared as mutated, so that
    ``torch.compile`` keeps their order. Arrays that are only read may have any strides: what lies
    in another way is copied. What is returned is a ``torch.library.CustomOpDef``: call it, or what
    ``torch.ops`` has by its name, and give it a derivative by ``register_autograd``.

    Raises UsageError if the function has no array to find the device by, types that PyTorch does
    not have, or results whose extents follow from more than those of its arguments; ToolError if
    PyTorch is missing or older than 2.4. The operator raises as ``Module.run`` does.
    """
    torch = _import_torch()
    if not _NAME.fullmatch(name):
        raise UsageError(f"error: name is '{name}', but must be 'namespace::operator'")
    operator = _make_operator(torch, module, module.entry(entry), backend, check)
    atexit.register(operator.forget)
    definition = torch.library.custom_op(
        name,
        operator.run,
        mutates_args=operator.written,
        device_types=("cpu", "cuda"),
        schema=operator.schema,
    )
    definition.register_fake(operator.describe)
    return definition


def _import_torch() -> Any:
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ToolError("error: PyTorch is not installed: pip install torch") from error
    if not hasattr(torch.library, "custom_op"):
        raise ToolError(
            f"error: PyTorch {torch.__version__} has no torch.library.custom_op: install 2.4 or "
            "newer"
        )
    return torch


def _make_operator(
    torch: Any, module: Module, entry: Entry, backend: Backend, check: Check
) -> _Operator:
    for index, argument in enumerate(entry.arguments):
        if _find_type(torch, argument) is None:
            raise UsageError(
                f"error: argument {index} of {entry.name}() is of type {argument.type}, which "
                "PyTorch has nothing for"
            )
    if not any(argument.is_memref for argument in entry.arguments):
        raise UsageError(
            f"error: {entry.name}() takes no array, whose device PyTorch would choose by"
        )
    results = find_results(module.plan, entry.name, entry.arguments)
    for index, result in enumerate(results):
        if _find_dtype(torch, result.element_type) is None:
            raise UsageError(
                f"error: result {index} of {entry.name}() has elements of type "
                f"{result.element_type}, which PyTorch does not have"
            )
    return _Operator(torch, module, entry, results, backend, check)


def _find_dtype(torch: Any, element_type: str) -> Any:
    """Return PyTorch's type for elements of a type, or None; it has NumPy's names."""
    names = () if element_type in _UNUSABLE else DTYPES.get(element_type, ())
    return getattr(torch, next(iter(names), ""), None)


def _find_type(torch: Any, argument: Argument) -> str | None:
    """Return what an argument is in a schema, or None if it is nothing there."""
    kind = argument.element_type
    if argument.is_memref:
        return None if _find_dtype(torch, kind) is None else "Tensor"
    if kind == "i1":
        return "bool"
    if kind in _INTEGERS:
        return "SymInt"
    return "float" if kind in _FLOATS else None


@dataclass(frozen=True)
class _Operator:
    """A host function, as PyTorch's dispatcher calls it."""

    torch: Any
    module: Module
    entry: Entry
    results: tuple[Result, ...]
    backend: Backend
    check: Check

    @property
    def written(self) -> tuple[str, ...]:
        """The names of the arguments that are written."""
        return tuple(f"arg{n}" for n, is_written in enumerate(self.entry.written) if is_written)

    @property
    def schema(self) -> str:
        """The arguments and results in PyTorch's words: ``(Tensor arg0) -> Tensor``."""
        arguments = []
        for number, argument in enumerate(self.entry.arguments):
            kind = _find_type(self.torch, argument)
            mark = f"(a{number}!)" if self.entry.written[number] else ""
            arguments.append(f"{kind}{mark} arg{number}")
        results = ", ".join(["Tensor"] * len(self.results))
        return f"({', '.join(arguments)}) -> " + (
            results if len(self.results) == 1 else f"({results})"
        )

    def forget(self) -> None:
        """Let go of the module, before the interpreter ends: PyTorch never does."""
        object.__setattr__(self, "module", None)

    # With data.

    def run(self, *values: Any) -> Any:
        """Run the function on tensors."""
        first = self._first(values)
        arrays = [
            self._prepare(value, number) if argument.is_memref else value
            for number, (argument, value) in enumerate(
                zip(self.entry.arguments, values, strict=True)
            )
        ]
        found = self._call(arrays, is_on_host=first.device.type == "cpu")
        found = found if isinstance(found, tuple) else (found,)
        tensors = tuple(
            self._finish(value, result, first.device)
            for value, result in zip(found, self.results, strict=False)
        )
        return self._pack(tensors)

    def _call(self, arrays: Sequence[Any], *, is_on_host: bool) -> Any:
        if not is_on_host and self.backend == "auto" and len(self.module.entries) == 1:
            return self.module(*arrays)  # which knows calls like those before
        check: Check = self.check if is_on_host else "none"
        return self.module.run(*arrays, entry=self.entry.name, backend=self.backend, check=check)

    def _first(self, values: Sequence[Any]) -> Any:
        return next(
            value
            for argument, value in zip(self.entry.arguments, values, strict=True)
            if argument.is_memref
        )

    def _pack(self, tensors: tuple[Any, ...]) -> Any:
        return tensors if len(tensors) > 1 else next(iter(tensors), None)

    def _prepare(self, tensor: Any, number: int) -> Any:
        """Return a tensor as the function can take it; a copy only if it is not written."""
        argument = self.entry.arguments[number]
        has_layout = "strided<" in argument.type or "affine_map" in argument.type
        if self.entry.written[number] or has_layout:
            return tensor
        tensor = tensor.contiguous()
        return tensor.clone() if tensor.data_ptr() % argument.alignment else tensor

    def _finish(self, value: Any, result: Result, device: Any) -> Any:
        """Return what the function returned as a tensor that shares memory with nothing."""
        if result.extents is None:
            number = value.item() if hasattr(value, "item") else value
            dtype = _find_dtype(self.torch, result.element_type)
            return self.torch.tensor(number, dtype=dtype, device=device)
        return (value if result.is_new else value.clone()).contiguous()

    # Without data.

    def describe(self, *values: Any) -> Any:
        """Return tensors without data, of the shapes that the results have."""
        for number, (argument, value) in enumerate(zip(self.entry.arguments, values, strict=True)):
            if argument.is_memref:
                self._check_tensor(argument, value, number)

        def read(number: int, dim: int | None) -> Any:
            return values[number] if dim is None else values[number].shape[dim]

        function = self.module.plan.functions[self.entry.name]
        for holds, make_error in conditions(function, read):
            self._demand(holds, make_error)
        first = self._first(values)
        self._check_devices(values, first)
        operations = {"min": self.torch.sym_min, "max": self.torch.sym_max}
        return self._pack(
            tuple(
                first.new_empty(
                    [evaluate(extent, read, operations) for extent in result.extents or ()],
                    dtype=_find_dtype(self.torch, result.element_type),
                )
                for result in self.results
            )
        )

    def _check_tensor(self, argument: Argument, tensor: Any, number: int) -> None:
        """Raise a kind of ArgumentError for a tensor that the function does not take."""
        dtypes = [getattr(self.torch, name, None) for name in DTYPES[argument.element_type]]
        if tensor.dtype not in dtypes:
            raise DTypeError(
                f"error: argument {number} has elements of type {tensor.dtype}, but the kernel "
                f"takes {argument.element_type}",
                number,
            )
        if tensor.dim() != len(argument.shape):
            raise ShapeError(
                f"error: argument {number} has shape {tuple(tensor.shape)}, but {argument.type} "
                f"has {len(argument.shape)} dimensions",
                number,
            )
        for dim, (extent, wanted) in enumerate(zip(tensor.shape, argument.shape, strict=True)):
            if wanted is not None:
                message = (
                    f"error: argument {number} has shape {tuple(tensor.shape)}, but dimension "
                    f"{dim} must be {wanted}"
                )
                self._demand(extent == wanted, partial(ShapeError, message, number))

    def _check_devices(self, values: Sequence[Any], first: Any) -> None:
        for number, (argument, value) in enumerate(zip(self.entry.arguments, values, strict=True)):
            if argument.is_memref and value.device != first.device:
                raise DeviceError(
                    f"error: argument {number} is on {value.device}, but an array before it is on "
                    f"{first.device}",
                    number,
                )

    def _demand(self, holds: Any, make_error: Callable[[], Exception]) -> None:
        """Raise an error, or tell PyTorch what it has to check of symbols."""
        if not isinstance(holds, bool):
            self.torch._check(holds, lambda: str(make_error()))
        elif not holds:
            raise make_error()
