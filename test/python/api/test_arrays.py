"""Arrays of any library: where they lie, as it is read without that library."""

from __future__ import annotations

import gc
import random
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import pipeline
from pipeline.diagnostics import Location
from pipeline.runtime.arrays import HOST, UNKNOWN_GPU, ArrayView, has_strides, view
from pipeline.runtime.host.memory import Buffer, Memory, expand, subview, transpose
from pipeline.runtime.host_arrays import as_numpy

Array = npt.NDArray[Any]

CPU = (1, 0)
GPU = (2, 3)


class Exporter:
    """An array of another library, on any device; `asked` is what `__dlpack__` was given."""

    def __init__(
        self, array: Array, device: tuple[int, int] = CPU, *, is_old: bool = False
    ) -> None:
        self.array = array
        self.device = device
        self.is_old = is_old
        self.asked: list[dict[str, Any]] = []

    def __dlpack__(self, **options: Any) -> Any:
        self.asked.append(options)
        if self.is_old and "max_version" in options:
            raise TypeError("no such parameter")
        version = options.get("max_version")
        return self.array.__dlpack__(**({"max_version": version} if version else {}))

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class Interface:
    """An array that tells its place by `__cuda_array_interface__` alone."""

    def __init__(self, **changes: Any) -> None:
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": (3, 4),
            "typestr": "<f4",
            "data": (4096, False),
            "strides": None,
        } | changes


def random_view(rnd: random.Random, memory: Array) -> Array:
    """Return a view of some rank, with steps of both signs."""
    array = memory[rnd.randrange(4) : rnd.randrange(4, 60)]
    if rnd.random() < 0.6:
        array = array[: len(array) // 4 * 4].reshape(-1, rnd.choice([1, 2, 4]))
    steps = [rnd.choice([1, 1, 2, 3, -1, -2]) for _ in array.shape]
    array = array[tuple(slice(None, None, step) for step in steps)]
    return array.T if rnd.random() < 0.3 else array


def test_ranges_are_those_of_numpy() -> None:
    rnd = random.Random(5)
    memories = [np.arange(64, dtype=dtype) for dtype in ("i4", "f8", "u1")]
    found = 0
    for _ in range(4000):
        first, second = (random_view(rnd, rnd.choice(memories)) for _ in range(2))
        wanted = np.may_share_memory(first, second)
        assert view(first, 0).overlaps(view(second, 1)) == wanted
        found += wanted
        if first.size:
            assert view(first, 0).bounds == np.lib.array_utils.byte_bounds(first)
            assert view(first, 0).is_contiguous == first.flags.c_contiguous
        np.testing.assert_array_equal(as_numpy(view(first, 0)).view(first.dtype), first)
    assert 500 < found < 3000


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4"])
def test_narrow_types(name: str) -> None:
    array = np.ones((2, 3), getattr(ml_dtypes, name))
    assert view(array, 0)[1:6] == ((2, 3), (3, 1), name, array.itemsize, HOST)


def test_dlpack() -> None:
    array = np.arange(24, dtype=np.int16).reshape(4, 6)[::2, ::-1]
    for is_old in (False, True):
        exporter = Exporter(array, is_old=is_old)
        found = view(exporter, 0, stream=7)
        assert found[:6] == view(array, 0)[:6]
        assert found.read_only.startswith("came by DLPack as read-only") == is_old
        assert not any("stream" in options for options in exporter.asked)
    array.flags.writeable = False
    assert view(Exporter(array), 0).read_only


@pytest.mark.parametrize(("stream", "told"), [(None, None), (0, 1), (1, 1), (4242, 4242)])
def test_stream_that_dlpack_is_told(stream: int | None, told: int | None) -> None:
    """The default stream is 1, never 0."""
    exporter = Exporter(np.ones(3, "f4"), GPU)
    assert view(exporter, 0, stream).device == GPU[1]
    assert exporter.asked == [{"max_version": (1, 1)} | ({"stream": told} if told else {})]


def test_exports_end_with_views() -> None:
    array = np.ones(3, "f4")

    class Owner(np.ndarray[Any, Any]):
        pass

    owned = array.view(Owner)
    reference = weakref.ref(owned)
    found: ArrayView | None = view(Exporter(owned), 0)
    del owned
    gc.collect()
    assert reference() is not None
    del found
    gc.collect()
    assert reference() is None


class Broken(Exporter):
    """An array whose library does not give it away."""

    def __dlpack__(self, **options: Any) -> Any:
        raise AssertionError("deleted\nand more")


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (Broken(np.ones(2)), pipeline.AccessError, "cannot be exported by its library: deleted"),
        (Exporter(np.ones(2), (10, 0)), pipeline.AccessError, "neither host nor CUDA"),
        ([1.0], pipeline.KindError, "must be an array (NumPy, or any object with __dlpack__), not"),
        (np.float32(1), pipeline.KindError, "not float32"),
        (Interface(mask=object()), pipeline.KindError, "an array with a mask"),
        (Interface(typestr=">f4"), pipeline.DTypeError, "elements of type >f4, which no kernel"),
        (Interface(typestr="|V2"), pipeline.DTypeError, "elements of type |V2"),
        (Interface(strides=(16, 3)), pipeline.LayoutError, "no whole elements"),
        (Interface(strides=(4,)), pipeline.AccessError, "describes no array"),
        (Interface(shape=(3.0, 4)), pipeline.AccessError, "cannot be exported by its library"),
        (Interface(shape=(-3, 4)), pipeline.LayoutError, "has the shape (-3, 4)"),
        (Interface(data=(0, False)), pipeline.AccessError, "has no storage"),
        (Interface(data=(None, False)), pipeline.AccessError, "has no storage"),
        (Interface(data=(1 << 64, False)), pipeline.AccessError, "describes no array"),
        (Interface(stream="x"), pipeline.AccessError, "cannot be exported by its library"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), pipeline.KindError, "with a mask"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_refused(value: Any, error: type[pipeline.ArgumentError], words: str) -> None:
    with pytest.raises(error) as caught:
        view(value, 3)
    assert caught.value.index == 3
    assert str(caught.value).startswith("error: argument 3 ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_cuda_array_interface() -> None:
    found = view(Interface(strides=(32, 4), stream=9, data=(512, True)), 0)
    assert found[:6] == (512, (3, 4), (8, 1), "float32", 4, UNKNOWN_GPU)
    assert found.read_only.startswith("is read-only by its __cuda_array_interface__")
    assert found.ready == 9
    assert view(Interface(), 0).strides == (4, 1)
    assert view(Interface(shape=(0, 4), data=(None, False)), 0).address == 0


# --- PyTorch --------------------------------------------------------------------------------------


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.arange(12, dtype=torch.bfloat16).reshape(3, 4).T
    address = tensor.data_ptr()
    assert view(tensor, 0)[:6] == (address, (4, 3), (1, 4), "bfloat16", 2, HOST)
    needing = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        assert view(needing, 0).shape == (3,)
    freed = torch.ones(10)
    freed.untyped_storage().resize_(0)
    negated = torch.ones(3, dtype=torch.complex64).conj().imag
    for value, error, words in (
        (needing, pipeline.AccessError, "requires grad"),
        (torch.ones(3, device="meta"), pipeline.AccessError, "on device 'meta'"),
        (freed, pipeline.AccessError, "has no storage"),
        (negated, pipeline.LayoutError, "conjugates or negates"),
        (torch.ones(3, 3).to_sparse(), pipeline.LayoutError, "layout torch.sparse_coo"),
    ):
        with pytest.raises(error, match=words):
            view(value, 0)


# --- views of memory ------------------------------------------------------------------------------


def memory_of(array: Array) -> Memory:
    found = view(array, 0)
    buffer = Buffer(0, found.address, array.size, owner=array)
    return Memory(buffer, 0, found.shape, found.strides, "i32", 4)


def test_reshapes_are_those_of_numpy() -> None:
    """Views of other shapes exist, and lie, where NumPy says so."""
    rnd, kept = random.Random(2), 0
    place = Location("x.mlir", 1, 1)
    for _ in range(3000):
        shape = tuple(rnd.choice([1, 1, 2, 3, 4, 6]) for _ in range(rnd.randrange(5)))
        array = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
        memory = memory_of(array)
        if shape:
            order = rnd.sample(range(len(shape)), len(shape))
            array, memory = array.transpose(order), transpose(memory, order)
            steps = [rnd.choice([1, 1, 2]) for _ in shape]
            array = array[tuple(slice(None, None, step) for step in steps)]
            memory = subview(memory, [0] * len(shape), array.shape, steps, (), place)
        sizes, rest = [], array.size
        while rest > 1:
            sizes.append(rnd.choice([n for n in range(2, rest + 1) if rest % n == 0]))
            rest //= sizes[-1]
        sizes.insert(rnd.randint(0, len(sizes)), 1)
        try:
            wanted = array.view()
            wanted.shape = tuple(sizes)
        except AttributeError:
            with pytest.raises(pipeline.UsageError, match="cannot be seen in shape"):
                expand(memory, sizes, place)
            continue
        found = expand(memory, sizes, place)
        assert has_strides(found.shape, found.strides, view(wanted, 0).strides)
        np.testing.assert_array_equal(as_numpy(found.array, "i32"), wanted)
        kept += 1
    assert 1000 < kept < 3000
