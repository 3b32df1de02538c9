"""Run Wave's placement of barriers on a loop; print one JSON object per probe.

Run by tools/peers in an environment that has Wave's wheel. Its analysis of hazards and its
minimiser are run as they are (`wave_lang/kernel/wave/utils/barriers_utils.py`); the operations of
the loop, and the few names that this file takes from the rest of Wave and from PyTorch, are
stand-ins with the fields that it reads.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

SHARED = "shared"
PACKAGE = "wave_lang.kernel.wave.utils"


@dataclass(eq=False)
class Operation:
    """An operation of Wave's; for its analysis also a node of the graph."""

    memory: str = ""
    subgraph_name: str = ""
    address_space: str = SHARED

    @property
    def memory_type(self) -> Operation:
        """Wave asks the type of the memory for its address space."""
        return self


class Read(Operation):
    """A read of shared memory."""


class Write(Operation):
    """A write of shared memory."""


class NestedRegionOp(Operation):
    """An operation with a subgraph."""


class Iterate(NestedRegionOp):
    """A loop."""


class Other(Operation):
    """What the analysis has no interest in."""


@dataclass
class Trace:
    """A kernel that is one loop."""

    body: list[Operation]
    loop: Iterate = field(default_factory=lambda: Iterate(subgraph_name="body"))

    @property
    def nodes(self) -> list[Operation]:
        """Return the nodes outside of the loop."""
        return [self.loop]

    def get_root_graph(self) -> Trace:
        """Return what has `nodes`."""
        return self

    def walk_graph(self, name: str) -> list[Operation]:
        """Return the nodes of the loop."""
        assert name == self.loop.subgraph_name
        return self.body

    def preorder_walk(self) -> list[Operation]:
        """Return all nodes."""
        return [self.loop, *self.body]


def add_module(name: str, **names: Any) -> None:
    """Make a module importable that has these names."""
    module = ModuleType(name)
    module.__dict__.update(names)
    module.__path__ = []
    sys.modules[name] = module


def load_barriers() -> Any:
    """Load Wave's file of barriers with stand-ins for all that it imports."""
    found = next(Path(sys.prefix).glob("lib/python*/site-packages/wave_lang"), None)
    if found is None:
        sys.exit("error: wave-lang is not installed; use tools/peers --wave")
    for name in ("torch", "wave_lang", "wave_lang.kernel", "wave_lang.kernel.wave", PACKAGE):
        add_module(name)
    add_module("torch.fx", Node=Operation)
    add_module(f"{PACKAGE}.graph_utils", propagate_loop_carried_vars=lambda memory, _: memory)
    for name in ("_support", "lang", "ops"):
        add_module(f"wave_lang.kernel.{name}")
    add_module("wave_lang.kernel._support.tracing", CapturedTrace=Trace)
    add_module("wave_lang.kernel.lang.global_symbols", SHARED_ADDRESS_SPACE=SHARED)
    absent = ("AtomicOp", "GatherToLDS", "TensorLoadToLDS", "Conditional")
    operations: dict[str, Any] = {name: type(name, (Operation,), {}) for name in absent}
    present = (Read, Write, NestedRegionOp, Iterate)
    operations |= {kind.__name__: kind for kind in present}
    add_module(
        "wave_lang.kernel.ops.wave_ops",
        **operations,
        CustomOp=Operation,
        get_custom=lambda node: node,
    )
    file = found / "kernel" / "wave" / "utils" / "barriers_utils.py"
    spec = importlib.util.spec_from_file_location(f"{PACKAGE}.barriers_utils", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def count_barriers(wave: Any, accesses: list[Operation]) -> int:
    """Return how many barriers Wave puts into a loop with these accesses."""
    trace = Trace([Other(), *accesses, Other()])
    regions = wave.get_barriers_analysis(trace, wave.TargetConfig("gfx942"))
    return len(wave.minimize_placement_strategy(regions))


def main() -> None:
    """Run the probes."""
    wave = load_barriers()
    # An iteration writes A and reads what other threads wrote.
    probes = {
        "loop": (1, [Write("A"), Read("A")]),
        # With two reads the hazard of the next iteration starts behind the barrier, and is seen.
        "loop, two reads": (2, [Write("A"), Read("A"), Read("A")]),
    }
    for name, (recorded, accesses) in probes.items():
        found = count_barriers(wave, accesses)
        print(json.dumps({"name": name, "required": 2, "found": found, "recorded": recorded}))


if __name__ == "__main__":
    main()
