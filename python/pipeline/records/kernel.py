"""What is known of a kernel without its code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .signature import Argument, Parameter

if TYPE_CHECKING:
    from .findings import Dim3


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """A kernel, as its callers and bundles know it.

    ``block`` and ``grid`` (threads per block, blocks) and ``dynamic_shared_bytes`` are None unless
    all launches in the program agree on constants; without a launch, ``dynamic_shared_bytes`` is
    what the kernel is known to need. ``least_dynamic_shared_bytes`` is what it needs whatever
    branches its threads take; no launch may have less.
    ``cluster`` is blocks per cluster, ones if no launch asks for clusters. ``known_block`` and
    ``known_grid`` are sizes that the kernel was compiled for (``known_block_size``,
    ``known_grid_size``): it takes no other.
    """

    name: str
    arguments: tuple[Argument, ...]
    parameters: tuple[Parameter, ...]
    block: Dim3 | None
    grid: Dim3 | None
    cluster: Dim3 | None
    known_block: Dim3 | None
    known_grid: Dim3 | None
    static_shared_bytes: int
    dynamic_shared_bytes: int | None
    least_dynamic_shared_bytes: int

    @property
    def known(self) -> dict[str, Any]:
        """All of these fields by name, without what else a module has of a kernel."""
        return {name: getattr(self, name) for name in KernelRecord.__match_args__}
