"""Runs host programs with two memories, or with one.

With two, a kernel that is given memory of the host, a host that touches memory of the device,
copies between memories of different sizes, and memory of the device that is used after it is freed,
freed twice or never, are errors. Elements that nobody has written have no value, and what is made
of them has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from oracles.device.generic import Block, Operation, read

MASK = (1 << 32) - 1
Number = int | None


class WrongMemory(Exception):
    """Somebody uses memory that is not there for him."""


@dataclass(eq=False)
class Memory:
    """Elements, and whose they are."""

    elements: list[Number]
    is_of_device: bool = False
    is_freed: bool = False


@dataclass(frozen=True)
class View:
    """Some elements of a memory."""

    memory: Memory
    places: tuple[int, ...]


def whole(memory: Memory) -> View:
    """Return the view of all of a memory."""
    return View(memory, tuple(range(len(memory.elements))))


@dataclass
class Machine:
    """Runs one function; `has_two` tells whether the device has a memory of its own."""

    module: Operation
    has_two: bool
    copies: int = 0
    globals: dict[str, Memory] = field(default_factory=dict)
    device: list[Memory] = field(default_factory=list)

    def __post_init__(self) -> None:
        for operation in self.module.regions[0].operations:
            if operation.name == "memref.global":
                initial = re.search(r"dense < (\d+) >", operation.attributes["initial_value"])
                size = re.search(r"< (\d+)xi32", operation.attributes["type"])
                assert initial is not None
                assert size is not None
                elements: list[Number] = [int(initial[1])] * int(size[1])
                self.globals[operation.attributes["sym_name"].strip('"')] = Memory(elements)

    def run(self, arguments: Sequence[View | int]) -> None:
        """Run the function `main`."""
        for operation in self.module.regions[0].operations:
            if operation.name == "func.func" and operation.attributes["sym_name"] == '"main"':
                body = operation.regions[0]
                values: dict[str, View | Number] = {}
                values.update(zip(body.arguments, arguments, strict=True))
                self.block(body, values)
        if any(not memory.is_freed for memory in self.device):
            raise WrongMemory("memory of the device is not freed")

    def touch(self, view: View, is_kernel: bool) -> list[Number]:
        """Return the elements of what the host, or a kernel, touches."""
        if view.memory.is_freed:
            raise WrongMemory("memory is used that is freed")
        if self.has_two and view.memory.is_of_device != is_kernel:
            raise WrongMemory(
                "a kernel uses memory of the host"
                if is_kernel
                else "the host uses memory of the device"
            )
        return view.memory.elements

    def block(self, block: Block, values: dict[str, View | Number]) -> list[View | Number]:
        """Execute a block and return the operands of its last operation."""
        for operation in block.operations:
            operands = [values[name] for name in operation.operands]
            if operation.name in ("func.return", "scf.yield", "scf.condition"):
                return operands
            results = self.execute(operation, operands, values)
            values.update(zip(operation.results, results, strict=True))
        raise ValueError("a block without an end")

    def execute(
        self, operation: Operation, operands: list[Any], values: dict[str, View | Number]
    ) -> list[View | Number]:
        """Execute an operation and return its results."""
        name = operation.name
        if name.startswith("scf."):
            return self.control(operation, operands, values)
        if name.startswith("gpu."):
            return self.launch_or_copy(operation, operands)
        if name.startswith("arith."):
            return [self.compute(operation, operands)]
        match name:
            case "memref.alloc":
                return [whole(Memory([None] * 4))]
            case "memref.get_global":
                return [whole(self.globals[operation.attributes["name"].removeprefix("@")])]
            case "memref.dealloc":
                self.touch(operands[0], is_kernel=False)
                operands[0].memory.is_freed = True
            case "memref.load":
                view, index = operands
                return [self.touch(view, is_kernel=False)[view.places[index]]]
            case "memref.store":
                value, view, index = operands
                self.touch(view, is_kernel=False)[view.places[index]] = value
            case "memref.copy":
                source, target = operands
                elements = [self.touch(source, is_kernel=False)[place] for place in source.places]
                for place, element in zip(target.places, elements, strict=True):
                    self.touch(target, is_kernel=False)[place] = element
            case "linalg.fill":
                value, view = operands
                for place in view.places:
                    self.touch(view, is_kernel=False)[place] = value
            case _:
                raise ValueError(name)
        return []

    def compute(self, operation: Operation, operands: list[Any]) -> Number:
        """Return the result of arithmetic."""
        if operation.name == "arith.constant":
            return int(operation.attributes["value"].split()[0])
        lhs: Number = operands[0]
        rhs: Number = operands[1]
        if lhs is None or rhs is None:
            return None
        match operation.name:
            case "arith.addi":
                return (lhs + rhs) & MASK
            case "arith.muli":
                return (lhs * rhs) & MASK
            case "arith.cmpi":
                return int(lhs < rhs)
        raise ValueError(operation.name)

    def control(
        self, operation: Operation, operands: list[Any], values: dict[str, View | Number]
    ) -> list[View | Number]:
        """Execute a branch or a loop."""
        regions = operation.regions
        if operation.name == "scf.if":
            region = regions[0 if operands[0] else 1]
            return self.block(region, values) if region.operations else []
        if operation.name == "scf.for":
            lower, upper, step, *carried = operands
            for index in range(lower, upper, step):
                values.update(zip(regions[0].arguments, [index, *carried], strict=True))
                carried = self.block(regions[0], values)
            return carried
        carried = operands
        while True:
            values.update(zip(regions[0].arguments, carried, strict=True))
            goes, *passed = self.block(regions[0], values)
            if not goes:
                return passed
            values.update(zip(regions[1].arguments, passed, strict=True))
            carried = self.block(regions[1], values)

    def launch_or_copy(self, operation: Operation, operands: list[Any]) -> list[View | Number]:
        """Execute an operation of the device."""
        match operation.name:
            case "gpu.alloc":
                memory = Memory([None] * 4, is_of_device=True)
                self.device.append(memory)
                return [whole(memory)]
            case "gpu.dealloc":
                self.touch(operands[0], is_kernel=True)
                operands[0].memory.is_freed = True
            case "gpu.memcpy":
                target, source = operands
                self.copies += target.memory.is_of_device != source.memory.is_of_device
                if target.memory.is_freed or source.memory.is_freed:
                    raise WrongMemory("memory is copied that is freed")
                if len(target.memory.elements) != len(source.memory.elements):
                    raise WrongMemory("memories of different sizes are copied")
                target.memory.elements[:] = source.memory.elements
            case "gpu.launch_func":
                kernel = operation.attributes["kernel"].rpartition("@")[2]
                self.kernel(kernel, operands[6:])
            case _:
                raise ValueError(operation.name)
        return []

    def kernel(self, name: str, operands: list[Any]) -> None:
        """Do what a kernel does."""
        if name == "poke":
            view, value = operands
            self.touch(view, is_kernel=True)[view.places[0]] = value
            return
        source, target = (self.touch(view, is_kernel=True) for view in operands)
        for index, (new, old) in enumerate(zip(list(source), list(target), strict=True)):
            target[index] = None if new is None or old is None else (old * 5 + new) & MASK


def count_by_level(block: Block, level: int = 0) -> dict[int, int]:
    """Return how many copies there are in the text at each level of loops."""
    counts: dict[int, int] = {}
    for operation in block.operations:
        counts[level] = counts.get(level, 0) + (operation.name == "gpu.memcpy")
        deeper = level + (operation.name in ("scf.for", "scf.while"))
        for region in operation.regions:
            for at, number in count_by_level(region, deeper).items():
                counts[at] = counts.get(at, 0) + number
    return counts


def get_function(module: Operation) -> Block:
    """Return the body of the function `main`."""
    for operation in module.regions[0].operations:
        if operation.name == "func.func" and operation.attributes["sym_name"] == '"main"':
            return operation.regions[0]
    raise ValueError("no function")


__all__ = [
    "Machine",
    "Memory",
    "Operation",
    "View",
    "WrongMemory",
    "count_by_level",
    "get_function",
    "read",
    "whole",
]
