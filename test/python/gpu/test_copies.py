"""Copies and fills of views as rows: done here on bytes, as strictly as the driver does them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pipeline
from pipeline.diagnostics import Location
from pipeline.runtime.arrays import view
from pipeline.runtime.cuda.copies import copy_actions, fill_actions
from pipeline.runtime.host.memory import Buffer, Memory

Array = npt.NDArray[Any]
PLACE = Location("x.mlir", 3, 5)


def memory_of(part: Array, whole: Array, number: int) -> Memory:
    """Return a view of contiguous memory."""
    array, start = view(part, 0), view(whole, 0).address
    offset = (array.address - start) // array.itemsize
    return Memory(Buffer(number, 0, whole.size), offset, array.shape, array.strides, "i16", 2)


def pair(rnd: random.Random) -> tuple[Array, Array]:
    """Return memory and a view of it, with steps and dimensions in any order."""
    whole = np.arange(1, 1 + 6 * 7 * 8, dtype=np.int16)
    part = whole.reshape(6, 7, 8)
    part = part[:: rnd.choice([1, -1, 2]), :: rnd.choice([1, 3]), :: rnd.choice([1, 1, 2, -1])]
    order = rnd.sample(range(3), 3)
    return whole, part.transpose(order)


def test_copies() -> None:
    rnd, count = random.Random(4), 0
    for _ in range(600):
        (whole, part), (other, source) = pair(rnd), pair(rnd)
        cut = tuple(slice(0, min(sizes)) for sizes in zip(part.shape, source.shape, strict=True))
        part, source = part[cut], source[cut]
        other *= -1
        expected = whole.copy()
        shifted(expected, whole, part)[...] = source
        memories = memory_of(source, other, 1), memory_of(part, whole, 0)
        actions = copy_actions(*memories, PLACE)
        to, origin = whole.view(np.uint8), other.view(np.uint8)
        for target, start, width, height, pitch, source_pitch in actions:
            assert (target.room, start.room) == (0, 1)
            assert height == 1 or min(pitch, source_pitch) >= width
            for row in range(height):
                at, place = target.offset + row * pitch, start.offset + row * source_pitch
                to[at : at + width] = origin[place : place + width]
        np.testing.assert_array_equal(whole, expected)
        count += len(actions)
    assert count > 1000


def shifted(copy: Array, whole: Array, part: Array) -> Array:
    """Return the part of a copy that lies where `part` does in the original."""
    start = (view(part, 0).address - view(whole, 0).address) // 2
    return np.lib.stride_tricks.as_strided(copy[start:], part.shape, part.strides)


def test_fills() -> None:
    rnd = random.Random(5)
    for _ in range(200):
        whole, part = pair(rnd)
        actions = fill_actions(memory_of(part, whole, 0), b"\x07\x01", PLACE)
        expected = whole.copy()
        shifted(expected, whole, part)[...] = 0x107
        for target, pattern, length in actions:
            at = target.offset // 2
            whole[at : at + length] = np.frombuffer(pattern, np.int16)
        np.testing.assert_array_equal(whole, expected)


def test_contiguous_memory_is_one_copy() -> None:
    whole = np.zeros((4, 5, 6), np.int16)
    first, second = (memory_of(whole, whole.reshape(-1), number) for number in range(2))
    ((_, _, width, height, *_),) = copy_actions(first, second, PLACE)
    assert (width, height) == (240, 1)
    ((_, _, length),) = fill_actions(first, b"\0\0", PLACE)
    assert length == 120


def test_too_many_pieces() -> None:
    whole = np.zeros((300, 300, 2), np.int16)
    memory = memory_of(whole[:, :, 0], whole.reshape(-1), 0)
    assert len(fill_actions(memory_of(whole[:200, :, 0], whole.reshape(-1), 0), b"\0\0", PLACE))
    with pytest.raises(pipeline.UsageError, match=r"^x.mlir:3:5: error: .* takes 90000 operations"):
        fill_actions(memory, b"\0\0", PLACE)
