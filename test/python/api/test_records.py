"""Modules, kernels and errors as values: copied, pickled, compared, shown."""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import pipeline
from support import programs


@functools.cache
def records(iteration: int = 0) -> dict[str, Any]:
    """Return one value of each public class of data, anew in each iteration."""
    module = pipeline.compile(programs.WARNED, snapshots=True)
    kernel = module.kernels["main_kernel"]
    tensor_map = pipeline.compile(programs.TENSOR_MAP, chip="sm_90").kernels["prefetch"]
    return {
        "location": module.diagnostics[0].location,
        "diagnostic": module.diagnostics[0],
        "remark": module.remarks[0],
        "snapshot": module.snapshots[0],
        "argument": kernel.arguments[0],
        "part": kernel.parameters[0].parts[0],
        "parameter": kernel.parameters[0],
        "resources": kernel.resources,
        "kernel": kernel,
        "module": module,
        "tensor map": tensor_map.arguments[1].tensor_map,
    }


RECORDS = [
    *("location", "diagnostic", "remark", "snapshot", "argument"),
    *("part", "parameter", "resources", "kernel", "module", "tensor map"),
]
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", RECORDS)
def test_records_can_be_copied(name: str, way: str) -> None:
    value = records()[name]
    duplicate = COPIES[way](value)
    assert type(duplicate) is type(value)
    assert duplicate == value


def test_copied_module_still_assembles() -> None:
    module = pipeline.compile(programs.STORE)
    duplicate = copy.copy(module)
    assert duplicate.cubin == module.cubin
    assert duplicate.kernels["store"].registers == module.kernels["store"].registers


@pytest.mark.parametrize("name", [name for name in RECORDS if name != "module"])
def test_records_can_be_compared_and_hashed(name: str) -> None:
    first, second = records(1)[name], records(2)[name]
    assert first == second
    assert hash(first) == hash(second)
    assert first != object()


def test_modules_of_one_program_are_equal() -> None:
    """How long a compilation took is no difference between its results."""
    assert pipeline.compile(programs.STORE) == pipeline.compile(programs.STORE)
    assert pipeline.compile(programs.STORE) != pipeline.compile(programs.STORE, chip="sm_90")


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_frozen(name: str) -> None:
    value = records()[name]
    kind = type(value)
    field = next(iter(getattr(kind, "__dataclass_fields__", None) or kind._fields))
    with pytest.raises(AttributeError):
        setattr(value, field, None)


def test_representations_are_short() -> None:
    module = records()["module"]
    assert repr(module).startswith("Module(chip='sm_80'")
    assert "main_kernel_0" in repr(module)
    assert ".visible .entry" not in repr(module), "the texts are long"
    assert repr(module.kernels["main_kernel"]).startswith("Kernel(name='main_kernel', ")
    assert "_assembly" not in repr(module)


def errors() -> dict[str, pipeline.Error]:
    """Return one error of each class."""
    location = pipeline.Location("a.mlir", 1, 2)
    diagnostics = [pipeline.Diagnostic("error", "words", location)]
    refused = pipeline.CompileError("a.mlir:1:2: error: words", diagnostics, "gpu", "module {}")
    return {
        "usage": pipeline.UsageError("error: words"),
        "tool": pipeline.ToolError("error: words"),
        "internal": pipeline.InternalError("error: words", "module {}"),
        "compile": refused,
        "resource": pipeline.ResourceError(refused, "workgroup memory", 2, 1),
    }


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", list(errors()))
def test_errors_can_be_copied(name: str, way: str) -> None:
    """Process pools send them home by pickle; one that does not unpickle breaks the pool."""
    error = errors()[name]
    duplicate = COPIES[way](error)
    assert type(duplicate) is type(error)
    assert str(duplicate) == str(error)
    assert vars(duplicate) == vars(error)
