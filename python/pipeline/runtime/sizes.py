"""How large a launch is: blocks, clusters of them, threads, and dynamic workgroup memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from ..errors import UsageError
from ..records.findings import Dim3
from ..records.scalars import describe_value, read_integer

if TYPE_CHECKING:
    from ..records.signature import Signature

Sizes = SupportsIndex | Sequence[SupportsIndex]
"""What a grid or a block may be given as: along x, or along x, y and z; missing ones are 1."""


class Limits(NamedTuple):
    """What GPUs take of a launch, as plans tell it.

    ``grid`` and ``block`` are the most blocks and threads along x, y and z, ``block_threads`` the
    most threads of a block, ``cluster_blocks`` the most blocks of a cluster.
    """

    grid: Dim3
    block: Dim3
    block_threads: int
    cluster_blocks: int


def read_sizes(name: str, given: Any) -> Dim3:
    """Return the sizes along x, y and z. Raises UsageError for what is none."""
    is_row = isinstance(given, (tuple, list)) or getattr(given, "ndim", 0) == 1
    parts = tuple(given) if is_row else (given,)
    numbers = [number for part in parts if (number := read_integer(part)) is not None]
    if len(numbers) != len(parts) or not 1 <= len(numbers) <= 3:
        raise UsageError.of_option(
            name, f"is {describe_value(given)}, but must be one to three whole numbers: x, y, z"
        )
    if any(abs(number) >> 64 for number in numbers):
        raise UsageError.of_option(name, "is larger than any GPU takes")
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def read_bytes(name: str, given: Any) -> int:
    """Return a number of bytes. Raises UsageError for what is none."""
    number = read_integer(given)
    if number is None:
        raise UsageError.of_option(
            name, f"is {describe_value(given)}, but must be a whole number from 0 on"
        )
    return number


@dataclass(frozen=True, slots=True)
class LaunchSizes:
    """Blocks, threads per block, bytes of dynamic workgroup memory, and blocks per cluster.

    Without a cluster, it is the kernel that knows.
    """

    grid: Dim3
    block: Dim3
    dynamic_shared_bytes: int
    cluster: Dim3 | None = None

    def find_fault(self, kernel: Signature) -> str:
        """Return what no GPU takes, or the kernel was not compiled for; nothing if all is well."""
        limits = kernel.limits
        known_grid, known_block = kernel.known_grid, kernel.known_block
        least_bytes = kernel.least_dynamic_shared_bytes
        threads = self.block[0] * self.block[1] * self.block[2]
        if not _is_within(self.grid, limits.grid):
            return f"a grid of {self.grid}, but it may be (1, 1, 1) to {limits.grid}"
        if not _is_within(self.block, limits.block):
            return f"a block of {self.block}, but it may be (1, 1, 1) to {limits.block}"
        if threads > limits.block_threads:
            return f"a block of {threads} threads, but a GPU takes at most {limits.block_threads}"
        if known_block not in (None, self.block):
            return f"a block of {self.block}, but it was compiled for {known_block}"
        if known_grid not in (None, self.grid):
            return f"a grid of {self.grid}, but it was compiled for {known_grid}"
        if self.dynamic_shared_bytes < least_bytes:
            need = f"it uses {least_bytes}" if least_bytes else "the least is 0"
            return f"{self.dynamic_shared_bytes} bytes of dynamic workgroup memory, but {need}"
        if self.dynamic_shared_bytes >= 1 << 32:
            return "more workgroup memory than any GPU has"
        if self.cluster is not None and not _is_within(self.cluster, self.grid):
            return f"clusters of {self.cluster} blocks in a grid of {self.grid}"
        return ""


def _is_within(sizes: Dim3, limits: Sequence[int]) -> bool:
    return all(1 <= size <= limit for size, limit in zip(sizes, limits, strict=True))
