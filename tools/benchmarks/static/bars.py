"""What the figures of the suite are held against: one table, and who misses what."""

from __future__ import annotations

import fnmatch
import operator
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.static.rows import Row, Value

_RELATIONS = {"=": operator.eq, "<=": operator.le, ">=": operator.ge}
_EPSILON = 1e-6


@dataclass(frozen=True)
class Bar:
    """A bound of a figure for rows of a group, kind and chip (patterns) that meet all conditions.

    A figure that is not known meets no bar, as where a loop, or an emulated access, is missing: no
    row is held against what does not apply to it.
    """

    rows: str
    figure: str
    relation: str
    bound: float
    conditions: tuple[tuple[str, str, float], ...] = ()

    def __str__(self) -> str:
        """Return the bar as a reader's formula."""
        return f"{self.figure} {self.relation} {self.bound:.6g}"

    def applies(self, row: Row) -> bool:
        """Tell whether a row is held against it."""
        groups, kinds, chips = self.rows.split()
        case = row.case
        facts = {
            "aligned": int(case.aligned),
            "streams": int(case.streams),
            "keeps_size": int(case.keeps_size),
        }
        figures = {**row.figures, **dict(case.extents), **facts}
        return (
            self.figure in row.figures
            and _is_one(case.group, groups)
            and _is_one(case.kind, kinds)
            and _is_one(row.chip, chips)
            and all(_holds(figures, *condition) for condition in self.conditions)
        )

    def is_met(self, row: Row) -> bool:
        """Tell whether a row to which it applies meets it."""
        value = row.figures[self.figure]
        return value is None or _holds(row.figures, self.figure, self.relation, self.bound)


def _is_one(name: str, patterns: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split(","))


def _holds(figures: Mapping[str, Value], figure: str, relation: str, bound: float) -> bool:
    value = figures.get(figure)
    if not isinstance(value, int | float):
        return False
    slack = {"=": 0.0, "<=": -_EPSILON, ">=": _EPSILON}[relation]
    return bool(_RELATIONS[relation](value + slack, bound))


_LARGE = (("m", ">=", 2048), ("n", ">=", 2048), ("k", ">=", 512))
_HUGE = (("m", ">=", 4095), ("n", ">=", 4095), ("k", ">=", 512))
_MIDDLE = (*_LARGE, ("m", "<=", 4094))
_MMA = (("tensor", "=", 1), ("hopper", "=", 0))
_WGMMA = (("hopper", "=", 1),)
_ALIGNED = (("aligned", "=", 1),)

BARS = (
    # Every kernel.
    Bar("* * *", "spills", "=", 0),
    Bar("* * *", "stack", "=", 0),
    Bar("* * *", "warnings", "=", 0),
    Bar("* * *", "resident", ">=", 1),
    # f32: fused multiply-adds that nothing but wide loads from workgroup memory holds up. sm_75 and
    # sm_80 have half as many lanes for them as a warp has threads.
    # Tiles of 256 x 128 for large matrices, of 128 x 128 below.
    Bar("matmul f32 *", "share", ">=", 0.92, _HUGE),
    Bar("matmul f32 *", "share", ">=", 0.90, _MIDDLE),
    Bar("matmul f32 sm_75,sm_80", "issue", ">=", 0.445, _HUGE),
    Bar("matmul f32 sm_75,sm_80", "issue", ">=", 0.43, _MIDDLE),
    Bar("matmul f32 sm_86,sm_89,sm_90*,sm_1*", "issue", ">=", 0.89, _HUGE),
    Bar("matmul f32 sm_86,sm_89,sm_90*,sm_1*", "issue", ">=", 0.86, _MIDDLE),
    Bar("matmul f32 *", "lds", "<=", 3, _HUGE),
    Bar("matmul f32 *", "lds", "<=", 4, _MIDDLE),
    Bar("matmul f32 *", "narrow_lds", "=", 0, _LARGE),
    Bar("matmul f32 *", "barriers", "<=", 1),
    Bar("matmul f32 *", "read_wavefronts", "<=", 2),
    # Tensor cores by mma.sync.
    Bar("matmul,conv,attention f16,bf16,i8 *", "tensor", "=", 1),
    Bar("matmul,conv f64 sm_80,sm_90*,sm_100", "tensor", "=", 1),
    Bar("matmul f16,bf16,i8 *", "share", ">=", 0.40, (*_MMA, *_LARGE, ("math", "<=", 127))),
    Bar("matmul f16,bf16,i8 *", "share", ">=", 0.46, (*_MMA, *_LARGE, ("math", ">=", 128))),
    Bar("matmul f64 *", "share", ">=", 0.35, (*_MMA, *_LARGE)),
    Bar("matmul f16,bf16 *", "per_ldsm", ">=", 4, (*_MMA, *_LARGE)),
    Bar("matmul,conv f16,bf16 *", "narrow_lds", "=", 0, _MMA),
    Bar("matmul,conv f16,bf16 *", "barriers", "<=", 1, _MMA),
    Bar("matmul,conv f16,bf16 *", "read_wavefronts", "<=", 1, _MMA),
    # wgmma.
    Bar("matmul f16,bf16 sm_90a", "hopper", "=", 1, _LARGE),
    Bar("matmul f16,bf16 sm_90a", "per_math", "<=", 14, _WGMMA),
    Bar("matmul f16,bf16 sm_90a", "fences", "=", 0, _WGMMA),
    Bar("matmul f16,bf16 sm_90a", "group_waits", "=", 1, _WGMMA),
    Bar("matmul f16,bf16 sm_90a", "pending", "=", 1, _WGMMA),
    Bar("matmul f16,bf16 sm_90a", "shared", ">=", 180 << 10, (*_WGMMA, *_LARGE)),
    Bar("matmul f16,bf16 sm_90a", "hopper_columns", ">=", 128, (*_WGMMA, *_LARGE)),
    Bar("matmul f16,bf16 sm_90a", "maxnreg", "=", 2, (*_WGMMA, *_LARGE)),
    Bar("matmul f16,bf16 sm_90a", "tma", ">=", 1, _WGMMA),
    # Convolutions beside the matmul of their size; attention, of which docs/schedules.md tells what
    # there can be at most, and what is reached.
    Bar("conv * *", "against_same", "<=", 1.4),
    Bar("attention * *", "share", ">=", 0.35, _MMA),
    Bar("attention * *", "always", ">=", 0.30, (*_MMA, ("width", ">=", 128))),
    Bar("attention * *", "always", ">=", 0.19, (*_MMA, ("width", "<=", 64), ("causal", "=", 0))),
    Bar("attention * *", "always", ">=", 0.165, (*_MMA, ("width", "<=", 64), ("causal", "=", 1))),
    Bar("attention * *", "kernels", "=", 1),
    # All sums of products.
    Bar("matmul,narrow,conv * *", "unfused", "=", 0),
    Bar("matmul,conv,attention * *", "write_wavefronts", "<=", 1),
    Bar("matmul * *", "wide_loads", "=", 1, _ALIGNED),
    Bar("matmul,conv * *", "load_sectors", "<=", 1, _ALIGNED),
    Bar("matmul,conv * *", "store_sectors", "<=", 1, _ALIGNED),
    Bar("matmul * *", "quantisation", ">=", 0.95, _HUGE),
    # Bound by global memory.
    Bar("memory * *", "traffic", "<=", 1.01, (("aligned", "=", 1), ("streams", "=", 1))),
    Bar("memory * *", "wide_loads", "=", 1, _ALIGNED),
    Bar("memory * *", "wide_stores", "=", 1, (("aligned", "=", 1), ("keeps_size", "=", 1))),
    Bar("memory * *", "block_barriers", "<=", 2),
    Bar("memory * *", "kernels", "=", 1),
    Bar("narrow * *", "wide_loads", ">=", 0.5, _ALIGNED),
    Bar("memory,narrow * *", "in_flight", ">=", 32768, _ALIGNED),
)


def missed(row: Row) -> list[Bar]:
    """Return the bars that a row is held against and does not meet."""
    return [bar for bar in BARS if bar.applies(row) and not bar.is_met(row)]


def held(row: Row) -> int:
    """Return how many bars a row is held against."""
    return sum(bar.applies(row) for bar in BARS)
