"""Kernels whose lanes exchange values: shuffles, votes, matches, reductions of warps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from corpus.kernels_case import Array, Case, eighths, function, module, normal, whole

LANES = np.arange(32)
Make = Callable[[np.random.Generator], list[Any]]


def signed(rng: np.random.Generator, shape: int | tuple[int, ...]) -> Array:
    return np.asarray(whole(rng, shape, top=10**6) * rng.choice([-1, 1], shape), np.int32)


# Lanes that no lane sends to keep their value.
SHUFFLES = module(
    function(
        "shuffles",
        "%a: memref<2x64xf32>, %b: memref<2x64xi64>, %out: memref<4x2x64xf32>,"
        " %wide: memref<2x64xi64>",
        """
    %i3 = arith.constant 3 : i32
    %i5 = arith.constant 5 : i32
    %i32 = arith.constant 32 : i32
    %lane = gpu.lane_id
    %l = arith.index_cast %lane : index to i32
    %source = arith.muli %l, %i5 : i32
    %i31 = arith.constant 31 : i32
    %any = arith.andi %source, %i31 : i32
    %x = memref.load %a[%bx, %tx] : memref<2x64xf32>
    %v0, %p0 = gpu.shuffle xor %x, %i5, %i32 : f32
    memref.store %v0, %out[%c0, %bx, %tx] : memref<4x2x64xf32>
    %v1, %p1 = gpu.shuffle up %x, %i3, %i32 : f32
    %r1 = arith.select %p1, %v1, %x : f32
    memref.store %r1, %out[%c1, %bx, %tx] : memref<4x2x64xf32>
    %v2, %p2 = gpu.shuffle down %x, %i5, %i32 : f32
    %r2 = arith.select %p2, %v2, %x : f32
    memref.store %r2, %out[%c2, %bx, %tx] : memref<4x2x64xf32>
    %v3, %p3 = gpu.shuffle idx %x, %any, %i32 : f32
    memref.store %v3, %out[%c3, %bx, %tx] : memref<4x2x64xf32>
    %y = memref.load %b[%bx, %tx] : memref<2x64xi64>
    %v4, %p4 = gpu.shuffle xor %y, %i3, %i32 : i64
    memref.store %v4, %wide[%bx, %tx] : memref<2x64xi64>
""",
        block=(64, 1, 1),
    )
)


def pick(values: Array, lanes: Sequence[int] | Array) -> Array:
    """Return what lane i of each warp gets from lane lanes[i]."""
    warps = values.reshape(-1, 32)
    return warps[:, np.asarray(lanes)].reshape(values.shape)


def expect_shuffles(arguments: Sequence[Any]) -> dict[int, Array]:
    a, b, _, _ = arguments
    up = np.where(LANES < 3, LANES, LANES - 3)
    down = np.where(LANES + 5 > 31, LANES, LANES + 5)
    return {
        2: np.stack([pick(a, lanes) for lanes in (LANES ^ 5, up, down, LANES * 5 % 32)]),
        3: pick(b, LANES ^ 3),
    }


# Sixteen lanes sum their values, then eight of them turn theirs; the others do nothing.
NARROW = module(
    function(
        "narrow",
        "%a: memref<3x32xi32>",
        """
    %i1 = arith.constant 1 : i32
    %i2 = arith.constant 2 : i32
    %i4 = arith.constant 4 : i32
    %i7 = arith.constant 7 : i32
    %i8 = arith.constant 8 : i32
    %i16 = arith.constant 16 : i32
    %lane = gpu.lane_id
    %x = memref.load %a[%bx, %tx] : memref<3x32xi32>
    %is_low = arith.cmpi ult, %lane, %c16 : index
    scf.if %is_low {
      %v0, %p0 = gpu.shuffle xor %x, %i8, %i16 : i32
      %x0 = arith.addi %x, %v0 : i32
      %v1, %p1 = gpu.shuffle xor %x0, %i4, %i16 : i32
      %x1 = arith.addi %x0, %v1 : i32
      %v2, %p2 = gpu.shuffle xor %x1, %i2, %i16 : i32
      %x2 = arith.addi %x1, %v2 : i32
      %v3, %p3 = gpu.shuffle xor %x2, %i1, %i16 : i32
      %sum = arith.addi %x2, %v3 : i32
      %v4, %p4 = gpu.shuffle down %x, %i4, %i16 : i32
      %below = arith.select %p4, %v4, %i1 : i32
      %new = arith.addi %sum, %below : i32
      memref.store %new, %a[%bx, %tx] : memref<3x32xi32>
      %is_lowest = arith.cmpi ult, %lane, %c8 : index
      scf.if %is_lowest {
        %l = arith.index_cast %lane : index to i32
        %other = arith.subi %i7, %l : i32
        %v5, %p5 = gpu.shuffle idx %new, %other, %i8 : i32
        memref.store %v5, %a[%bx, %tx] : memref<3x32xi32>
      }
    }
""",
        block=(32, 1, 1),
    )
)


def expect_narrow(arguments: Sequence[Any]) -> dict[int, Array]:
    a = arguments[0]
    low = a[:, :16]
    new = low.sum(axis=1, keepdims=True) + np.pad(low[:, 4:], ((0, 0), (0, 4)), constant_values=1)
    return {0: np.hstack([new[:, :8][:, ::-1], new[:, 8:], a[:, 16:]]).astype(np.int32)}


# Both sides of a branch shuffle, each with the mask of its lanes and within segments of it.
SIDES = module(
    function(
        "sides",
        "%a: memref<2x64xi32>, %out: memref<4x2x64xi32>",
        """
    %low_lanes = arith.constant 0x0000FFFF : i32
    %high_lanes = arith.constant 0xFFFF0000 : i32
    // The segment's mask in bits 8 to 12, its last lane in bits 0 to 4.
    %sixteen = arith.constant 0x100F : i32
    %sixteen_up = arith.constant 0x1000 : i32
    %eight = arith.constant 0x1807 : i32
    %eight_up = arith.constant 0x1800 : i32
    %i1 = arith.constant 1 : i32
    %i3 = arith.constant 3 : i32
    %i10 = arith.constant 10 : i32
    %zero = arith.constant 0 : i32
    %lane = gpu.lane_id
    %x = memref.load %a[%bx, %tx] : memref<2x64xi32>
    %is_low = arith.cmpi ult, %lane, %c16 : index
    scf.if %is_low {
      %v0 = nvvm.shfl.sync bfly %low_lanes, %x, %i10, %sixteen : i32 -> i32
      memref.store %v0, %out[%c0, %bx, %tx] : memref<4x2x64xi32>
      %v1 = nvvm.shfl.sync up %low_lanes, %x, %i3, %sixteen_up : i32 -> i32
      memref.store %v1, %out[%c1, %bx, %tx] : memref<4x2x64xi32>
      %v2 = nvvm.shfl.sync idx %low_lanes, %x, %i10, %sixteen : i32 -> i32
      memref.store %v2, %out[%c2, %bx, %tx] : memref<4x2x64xi32>
      %s3 = nvvm.shfl.sync down %low_lanes, %x, %i3, %sixteen {return_value_and_is_valid}
          : i32 -> !llvm.struct<(i32, i1)>
      %v3 = llvm.extractvalue %s3[0] : !llvm.struct<(i32, i1)>
      %p3 = llvm.extractvalue %s3[1] : !llvm.struct<(i32, i1)>
      %r3 = arith.select %p3, %v3, %zero : i32
      memref.store %r3, %out[%c3, %bx, %tx] : memref<4x2x64xi32>
    } else {
      %v0 = nvvm.shfl.sync bfly %high_lanes, %x, %i3, %eight : i32 -> i32
      memref.store %v0, %out[%c0, %bx, %tx] : memref<4x2x64xi32>
      %v1 = nvvm.shfl.sync up %high_lanes, %x, %i1, %eight_up : i32 -> i32
      memref.store %v1, %out[%c1, %bx, %tx] : memref<4x2x64xi32>
      %v2 = nvvm.shfl.sync idx %high_lanes, %x, %i1, %eight : i32 -> i32
      memref.store %v2, %out[%c2, %bx, %tx] : memref<4x2x64xi32>
      %y = arith.sitofp %x : i32 to f32
      %v3 = nvvm.shfl.sync down %high_lanes, %y, %i1, %eight : f32 -> f32
      %r3 = arith.fptosi %v3 : f32 to i32
      memref.store %r3, %out[%c3, %bx, %tx] : memref<4x2x64xi32>
    }
""",
        block=(64, 1, 1),
    )
)


def expect_sides(arguments: Sequence[Any]) -> dict[int, Array]:
    a, _ = arguments
    low = LANES < 16
    segment = LANES // 8 * 8
    sources = [
        np.where(low, LANES ^ 10, LANES ^ 3),
        np.where(low, np.where(LANES < 3, LANES, LANES - 3), np.maximum(LANES - 1, segment)),
        np.where(low, 10, segment + 1),
        np.where(low, np.minimum(LANES + 3, 15), np.minimum(LANES + 1, segment + 7)),
    ]
    rows = np.stack([pick(a, lanes) for lanes in sources])
    rows[3].reshape(-1, 32)[:, 13:16] = 0
    return {1: rows}


# Lanes whose operand does not exist in the last, partial warp take no part.
PARTIAL = module(
    function(
        "partial",
        "%a: memref<2x40xi32>",
        """
    %one = arith.constant 1 : i32
    %clamp = arith.constant 31 : i32
    %is_full = arith.cmpi ult, %tx, %c32 : index
    %all = arith.constant -1 : i32
    %few = arith.constant 0xFF : i32
    %mask = arith.select %is_full, %all, %few : i32
    %x = memref.load %a[%bx, %tx] : memref<2x40xi32>
    %bit = arith.andi %x, %one : i32
    %is_odd = arith.cmpi eq, %bit, %one : i32
    %odd = nvvm.vote.sync ballot %mask, %is_odd -> i32
    %count = math.ctpop %odd : i32
    %y = nvvm.shfl.sync bfly %mask, %x, %one, %clamp : i32 -> i32
    %z = arith.muli %y, %count : i32
    memref.store %z, %a[%bx, %tx] : memref<2x40xi32>
""",
        block=(40, 1, 1),
    )
)


def expect_partial(arguments: Sequence[Any]) -> dict[int, Array]:
    a = arguments[0]
    odd = a % 2
    counts = np.where(np.arange(40) < 32, odd[:, :32].sum(1)[:, None], odd[:, 32:].sum(1)[:, None])
    return {0: (a[:, np.arange(40) ^ 1] * counts).astype(np.int32)}


REDUCE = module(
    function(
        "reduce",
        "%a: memref<2x96xf32>, %b: memref<2x96xi32>,"
        " %f: memref<2x2x96xf32>, %i: memref<2x2x96xi32>",
        """
    %x = memref.load %a[%bx, %tx] : memref<2x96xf32>
    %y = memref.load %b[%bx, %tx] : memref<2x96xi32>
    %r0 = gpu.subgroup_reduce add %x uniform : (f32) -> f32
    memref.store %r0, %f[%c0, %bx, %tx] : memref<2x2x96xf32>
    %r1 = gpu.subgroup_reduce maximumf %x cluster(size = 8) : (f32) -> f32
    memref.store %r1, %f[%c1, %bx, %tx] : memref<2x2x96xf32>
    %r2 = gpu.subgroup_reduce minsi %y uniform : (i32) -> i32
    memref.store %r2, %i[%c0, %bx, %tx] : memref<2x2x96xi32>
    %r3 = gpu.subgroup_reduce add %y cluster(size = 4, stride = 8) : (i32) -> i32
    memref.store %r3, %i[%c1, %bx, %tx] : memref<2x2x96xi32>
""",
        block=(96, 1, 1),
    )
)


def expect_reduce(arguments: Sequence[Any]) -> dict[int, Array]:
    a, b = (x.reshape(2, 3, 4, 8) for x in arguments[:2])
    floats = [a.sum((2, 3), keepdims=True), a.max(3, keepdims=True)]
    numbers = [b.min((2, 3), keepdims=True), b.sum(2, keepdims=True, dtype=np.int32)]
    return {
        number + 2: np.stack([np.broadcast_to(x, a.shape).reshape(2, 96) for x in rows])
        for number, rows in enumerate((floats, numbers))
    }


VOTES = module(
    function(
        "votes",
        "%a: memref<64xi32>, %ballots: memref<64xi32>, %flags: memref<3x64xi32>",
        """
    %all = arith.constant -1 : i32
    %limit = arith.constant 50 : i32
    %x = memref.load %a[%tx] : memref<64xi32>
    %p = arith.cmpi sgt, %x, %limit : i32
    %ballot = nvvm.vote.sync ballot %all, %p -> i32
    memref.store %ballot, %ballots[%tx] : memref<64xi32>
    %v0 = nvvm.vote.sync any %all, %p -> i1
    %v1 = nvvm.vote.sync all %all, %p -> i1
    %v2 = nvvm.vote.sync uni %all, %p -> i1
    %r0 = arith.extui %v0 : i1 to i32
    %r1 = arith.extui %v1 : i1 to i32
    %r2 = arith.extui %v2 : i1 to i32
    memref.store %r0, %flags[%c0, %tx] : memref<3x64xi32>
    memref.store %r1, %flags[%c1, %tx] : memref<3x64xi32>
    memref.store %r2, %flags[%c2, %tx] : memref<3x64xi32>
""",
        block=(64, 1, 1),
    )
)


def make_votes(rng: np.random.Generator) -> list[Any]:
    """Return numbers of which the first warp's are mixed and the second one's all large."""
    numbers = whole(rng, 64)
    numbers[32:] += 50
    return [numbers, whole(rng, 64), whole(rng, (3, 64))]


def to_mask(lanes: Array) -> Array:
    """Return the ballot of each row of 32 flags."""
    ballots: Array = (lanes << LANES).sum(axis=1, dtype=np.int64)
    return ballots.astype(np.uint32).view(np.int32)


def expect_votes(arguments: Sequence[Any]) -> dict[int, Array]:
    flags = (arguments[0] > 50).reshape(2, 32)
    votes = np.stack([flags.any(1), flags.all(1), flags.any(1) == flags.all(1)])
    return {1: np.repeat(to_mask(flags), 32), 2: np.repeat(votes, 32, axis=1).astype(np.int32)}


MATCHES = module(
    function(
        "matches",
        "%a: memref<64xi32>, %masks: memref<3x64xi32>",
        """
    %all = arith.constant -1 : i32
    %x = memref.load %a[%tx] : memref<64xi32>
    %v0 = nvvm.match.sync any %all, %x : i32 -> i32
    memref.store %v0, %masks[%c0, %tx] : memref<3x64xi32>
    %wide = arith.extsi %x : i32 to i64
    %v1 = nvvm.match.sync any %all, %wide : i64 -> i32
    memref.store %v1, %masks[%c1, %tx] : memref<3x64xi32>
    %s2 = nvvm.match.sync all %all, %x : i32 -> !llvm.struct<(i32, i1)>
    %v2 = llvm.extractvalue %s2[0] : !llvm.struct<(i32, i1)>
    %p2 = llvm.extractvalue %s2[1] : !llvm.struct<(i32, i1)>
    %r2 = arith.select %p2, %v2, %x : i32
    memref.store %r2, %masks[%c2, %tx] : memref<3x64xi32>
""",
        block=(64, 1, 1),
    )
)


def make_matches(rng: np.random.Generator) -> list[Any]:
    """Return numbers of which the first warp's are a few different ones, the second one's equal."""
    return [np.repeat(whole(rng, 33, top=5), [1] * 32 + [32]), whole(rng, (3, 64))]


def expect_matches(arguments: Sequence[Any]) -> dict[int, Array]:
    warps = arguments[0].reshape(2, 32)
    masks = np.concatenate([to_mask(warp[:, None] == warp) for warp in warps])
    every = np.repeat((warps == warps[:, :1]).all(axis=1), 32)
    return {1: np.stack([masks, masks, np.where(every, np.int32(-1), arguments[0])])}


KINDS = ("add", "umax", "umin", "max", "min", "and", "or", "xor")
REDUX = module(
    function(
        "redux",
        "%a: memref<64xi32>, %out: memref<8x64xi32>",
        "\n".join(
            [
                "    %all = arith.constant -1 : i32",
                "    %x = memref.load %a[%tx] : memref<64xi32>",
            ]
            + [
                f"    %v{i} = nvvm.redux.sync {kind} %x, %all : i32 -> i32\n"
                f"    memref.store %v{i}, %out[%c{i}, %tx] : memref<8x64xi32>"
                for i, kind in enumerate(KINDS)
            ]
        ),
        block=(64, 1, 1),
    )
)


def expect_redux(arguments: Sequence[Any]) -> dict[int, Array]:
    warps = arguments[0].reshape(2, 32)
    bits = warps.view(np.uint32)
    results = [
        warps.sum(1),
        bits.max(1),
        bits.min(1),
        warps.max(1),
        warps.min(1),
        *(ufunc.reduce(warps, 1) for ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)),
    ]
    return {1: np.stack([np.repeat(x.astype(np.int32), 32) for x in results])}


CASES = (
    Case(
        "shuffles",
        SHUFFLES,
        "shuffles",
        grid=(2, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [
            normal(rng, (2, 64)),
            whole(rng, (2, 64), "i8", 10**12),
            normal(rng, (4, 2, 64)),
            whole(rng, (2, 64), "i8"),
        ],
        expect=expect_shuffles,
    ),
    Case(
        "narrow shuffles",
        NARROW,
        "narrow",
        grid=(3, 1, 1),
        block=(32, 1, 1),
        make=lambda rng: [signed(rng, (3, 32))],
        expect=expect_narrow,
    ),
    Case(
        "shuffles on both sides of a branch",
        SIDES,
        "sides",
        grid=(2, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [signed(rng, (2, 64)), signed(rng, (4, 2, 64))],
        expect=expect_sides,
    ),
    Case(
        "partial warp",
        PARTIAL,
        "partial",
        grid=(2, 1, 1),
        block=(40, 1, 1),
        make=lambda rng: [whole(rng, (2, 40))],
        expect=expect_partial,
    ),
    Case(
        "subgroup_reduce",
        REDUCE,
        "reduce",
        grid=(2, 1, 1),
        block=(96, 1, 1),
        make=lambda rng: [
            eighths(rng, (2, 96)),
            signed(rng, (2, 96)),
            eighths(rng, (2, 2, 96)),
            signed(rng, (2, 2, 96)),
        ],
        expect=expect_reduce,
    ),
    Case("votes", VOTES, "votes", (1, 1, 1), (64, 1, 1), make_votes, expect_votes),
    Case("matches", MATCHES, "matches", (1, 1, 1), (64, 1, 1), make_matches, expect_matches),
    Case(
        "redux",
        REDUX,
        "redux",
        grid=(1, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [signed(rng, (64,)), signed(rng, (8, 64))],
        expect=expect_redux,
    ),
)
