"""Arrays of any library as addresses, shapes and strides; none is imported, and nothing copied."""

from __future__ import annotations

import operator
import sys
from typing import Any, NamedTuple

from ..errors import AccessError, DTypeError, KindError, LayoutError
from ..records.scalars import describe_value
from .dlpack import Export, export

HOST = -1
"""The number of the host among devices; GPUs count from 0."""

UNKNOWN_GPU = -2
"""The device of an array that does not tell it: the driver knows which GPU an address is of."""

_DLPACK_CPU = 1
_DLPACK_GPUS = (2, 3, 13)  # of CUDA, pinned memory of the host, managed memory
_JAX = ("jax", "jaxlib")


class ArrayView(NamedTuple):
    """Where an array lies, and what of.

    ``address`` is that of the first element, ``strides`` count elements. ``dtype`` is the name that
    NumPy or ml_dtypes has for the type of the elements, ``itemsize`` their bytes. ``device`` is
    ``HOST``, or the number of a GPU. ``read_only`` tells why it must not be written and what to do,
    and is empty if it may. ``owner`` keeps the memory alive; ``library`` is numpy, torch, cupy, jax
    or other. ``ready`` is the stream whose work has to be waited for; 0 is none.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    itemsize: int
    device: int
    read_only: str
    owner: Any
    library: str
    ready: int = 0

    @property
    def size(self) -> int:
        """The number of elements."""
        return count(self.shape)

    @property
    def bounds(self) -> tuple[int, int]:
        """The addresses of the first byte, and behind the last; negative strides reach below."""
        return bounds_of(self.address, self.shape, self.strides, self.itemsize)

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements follow one another in row-major order."""
        return has_strides(self.shape, self.strides, row_major(self.shape))

    def overlaps(self, other: ArrayView) -> bool:
        """Return whether the ranges of bytes of two arrays have some in common."""
        if 0 in self.shape or 0 in other.shape:
            return False
        (low, high), (other_low, other_high) = self.bounds, other.bounds
        return low < other_high and other_low < high


def count(shape: tuple[int, ...]) -> int:
    """Return the number of elements of a shape."""
    total = 1
    for extent in shape:
        total *= extent
    return total


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of contiguous memory, in elements."""
    strides, stride = [], 1
    for extent in reversed(shape):
        strides.append(stride)
        stride *= extent
    return tuple(strides[::-1])


def has_strides(shape: tuple[int, ...], strides: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Return whether elements lie as strides say; those of single elements say nothing."""
    return (
        strides == wanted
        or 0 in shape
        or all(
            stride == must or extent == 1
            for extent, stride, must in zip(shape, strides, wanted, strict=True)
        )
    )


def bounds_of(
    address: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int
) -> tuple[int, int]:
    """Return the range of bytes between the first element and the last, from low to high."""
    if 0 in shape:
        return address, address
    low = high = 0
    for extent, stride in zip(shape, strides, strict=True):
        if stride < 0:
            low += (extent - 1) * stride
        else:
            high += (extent - 1) * stride
    return address + low * itemsize, address + (high + 1) * itemsize


def view(value: Any, index: int, stream: int | None = None) -> ArrayView:
    """Return where argument number `index` lies.

    `stream` is the handle of the stream that is going to use it, for libraries that order their
    work before it; None is the host. Raises a kind of ArgumentError for what is no array, or can
    be neither read nor written where it is.
    """
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        return _view_torch(value, index, torch)
    if numpy is not None and isinstance(value, numpy.ndarray):
        return _view_numpy(value, index)
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(value, cupy.ndarray):
        return _view_cupy(value, index)
    is_scalar = numpy is not None and isinstance(value, numpy.generic)
    try:
        if not is_scalar and hasattr(value, "__dlpack__"):
            return _view_dlpack(value, index, stream)
        if not is_scalar and hasattr(value, "__cuda_array_interface__"):
            return _view_interface(value, index)
    except (KindError, DTypeError, LayoutError, AccessError):
        raise
    except Exception as error:  # of a tracer, which has no elements to ask for
        raise _refuse_export(error, index, library_of(value)) from error
    start = f"error: argument {index} must be an array"
    message = f"{start} (NumPy, or any object with __dlpack__), not {type(value).__name__}"
    raise KindError(message, index, f"{start}, a .npy file, not {describe_value(value)}")


def is_on_gpu(value: Any) -> bool:
    """Return whether a value is an array whose memory is that of a GPU."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return bool(value.is_cuda)
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(value, cupy.ndarray):
        return True
    try:
        if hasattr(value, "__cuda_array_interface__"):
            return True
        kind, _ = value.__dlpack_device__()
        return kind in (2, 13)
    except Exception:  # of anything else, and of what cannot tell
        return False


def library_of(value: Any) -> str:
    """Return which library an array is of, as ``ArrayView.library`` says it."""
    name = type(value).__module__.partition(".")[0]
    if name in _JAX:
        return "jax"
    return name if name in ("numpy", "torch", "cupy") else "other"


def _refuse_export(error: Exception, index: int, library: str) -> AccessError:
    owner = "its library" if library == "other" else library
    words = str(error).strip().split("\n")[0] or type(error).__name__
    return AccessError(f"error: argument {index} cannot be exported by {owner}: {words}", index)


# --- NumPy ----------------------------------------------------------------------------------------

_READ_ONLY = (
    "is a read-only NumPy array (flags.writeable is False): pass a copy, array.copy(), and look "
    "for the results there"
)


def _refuse_mask(index: int) -> KindError:
    return KindError(f"error: argument {index} is an array with a mask: pass a plain one", index)


def _view_numpy(array: Any, index: int) -> ArrayView:
    if getattr(array, "mask", None) is not None:
        raise _refuse_mask(index)
    dtype = array.dtype
    itemsize = dtype.itemsize
    strides = array.strides
    if itemsize != 1:
        strides = _count_strides(strides, itemsize, array.size, index)
    return ArrayView(
        array.__array_interface__["data"][0],
        array.shape,
        strides,
        str(dtype),
        itemsize,
        HOST,
        "" if array.flags.writeable else _READ_ONLY,
        array,
        "numpy",
    )


def _count_strides(
    strides: tuple[int, ...], itemsize: int, size: int, index: int
) -> tuple[int, ...]:
    """Return strides of bytes as strides of elements."""
    if size and itemsize and any(stride % itemsize for stride in strides):
        message = f"error: argument {index} has strides that are no whole elements: pass a copy"
        raise LayoutError(message, index)
    return tuple(stride // itemsize if itemsize else 0 for stride in strides)


def _view_cupy(array: Any, index: int) -> ArrayView:
    """Return an array by its attributes: an export would order it with the default stream."""
    itemsize = array.itemsize
    return ArrayView(
        int(array.data.ptr),
        tuple(array.shape),
        _count_strides(tuple(array.strides), itemsize, array.size, index),
        str(array.dtype),
        itemsize,
        int(array.device.id),
        "",
        array,
        "cupy",
    )


# --- PyTorch --------------------------------------------------------------------------------------


def _view_torch(tensor: Any, index: int, torch: Any) -> ArrayView:
    if tensor.layout is not torch.strided:
        message = f"error: argument {index} is a tensor of layout {tensor.layout}: pass its dense"
        raise LayoutError(f"{message} form, t.to_dense()", index)
    if tensor.requires_grad and torch.is_grad_enabled():
        raise AccessError(
            f"error: argument {index} requires grad, and no gradient would be recorded: pass "
            "t.detach(), or call under torch.no_grad()",
            index,
        )
    if tensor.is_conj() or tensor.is_neg():
        raise LayoutError(
            f"error: argument {index} is a view that conjugates or negates when it is read: pass "
            "t.resolve_conj().resolve_neg()",
            index,
        )
    place = tensor.device
    if place.type not in ("cpu", "cuda"):
        raise AccessError(
            f"error: argument {index} is on device '{place.type}' and holds no data that a kernel "
            "can reach",
            index,
        )
    if type(tensor).__name__ == "FakeTensor":  # it warns when it is asked for its address
        raise _refuse_storage(index)
    try:
        address = tensor.data_ptr()
        shape, strides = tuple(tensor.shape), tensor.stride()
    except Exception as error:  # of tensors that only stand for some: fake, functional, batched
        raise _refuse_storage(index) from error
    if not address and tensor.numel():
        raise _refuse_storage(index)
    device = HOST if place.type == "cpu" else place.index
    name = str(tensor.dtype).removeprefix("torch.")
    return ArrayView(
        address, shape, strides, name, tensor.element_size(), device, "", tensor, "torch"
    )


def _check_place(address: int, shape: tuple[int, ...], index: int) -> None:
    """Refuse elements that are nowhere, and less than none of them."""
    if min(shape, default=0) < 0:
        raise LayoutError(f"error: argument {index} has the shape {shape}", index)
    if not address and 0 not in shape:
        raise _refuse_storage(index)


def _refuse_storage(index: int) -> AccessError:
    return AccessError(
        f"error: argument {index} has no storage (freed, fake or meta tensor, or one of vmap)",
        index,
    )


# --- DLPack ---------------------------------------------------------------------------------------

_OLD_DLPACK = (
    "came by DLPack as read-only, as all arrays do from libraries whose DLPack is older than 1.0: "
    "pass a copy, numpy.from_dlpack(array).copy(), and look for the results there, or use a newer "
    "version of the library"
)
_IMMUTABLE = "is an array of JAX, which are immutable: pass an array of another library"


def _view_dlpack(value: Any, index: int, stream: int | None) -> ArrayView:
    library = library_of(value)
    try:
        kind, number = (int(part) for part in value.__dlpack_device__())
        if kind not in (_DLPACK_CPU, *_DLPACK_GPUS):
            raise BufferError(f"it is on a device of kind {kind}, which is neither host nor CUDA")
        given: Export = export(value, stream if kind in _DLPACK_GPUS and kind != 3 else None)
    except Exception as error:  # of any type: those of libraries differ
        raise _refuse_export(error, index, library) from error
    if not given.dtype:
        raise DTypeError(
            f"error: argument {index} has elements of DLPack type {given.code}, which no kernel "
            "takes",
            index,
        )
    _check_place(given.address, given.shape, index)
    read_only = _OLD_DLPACK if given.is_read_only else ""
    return ArrayView(
        given.address,
        given.shape,
        row_major(given.shape) if given.strides is None else given.strides,
        given.dtype,
        given.itemsize,
        number if kind in (2, 13) else HOST,
        _IMMUTABLE if library == "jax" else read_only,
        (value, given.capsule),
        library,
    )


# --- __cuda_array_interface__ ---------------------------------------------------------------------

_KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex"}
_INTERFACE_READ_ONLY = (
    "is read-only by its __cuda_array_interface__: pass a copy, and look for the results there"
)


def _view_interface(value: Any, index: int) -> ArrayView:
    interface = value.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise _refuse_mask(index)
    order, kind, itemsize = _read_type(interface["typestr"])
    is_foreign = order == (">" if sys.byteorder == "little" else "<") and itemsize > 1
    name = "bool" if kind == "b" else _KINDS.get(kind, "") and f"{_KINDS[kind]}{8 * itemsize}"
    if is_foreign or not name:
        message = f"error: argument {index} has elements of type {interface['typestr']}, which no "
        raise DTypeError(f"{message}kernel takes", index)
    address, is_read_only = interface["data"]
    address, shape = operator.index(address or 0), _read_integers(interface["shape"])
    strides = interface.get("strides")
    apart = None if strides is None else _read_integers(strides)
    if not 0 <= address < 1 << 64 or (apart is not None and len(apart) != len(shape)):
        raise ValueError("its __cuda_array_interface__ describes no array")
    _check_place(address, shape, index)
    return ArrayView(
        address,
        shape,
        row_major(shape) if apart is None else _count_strides(apart, itemsize, count(shape), index),
        name,
        itemsize,
        UNKNOWN_GPU,
        _INTERFACE_READ_ONLY if is_read_only else "",
        value,
        library_of(value),
        operator.index(interface.get("stream") or 0),
    )


def _read_integers(values: Any) -> tuple[int, ...]:
    return tuple(operator.index(value) for value in values)


def _read_type(text: str) -> tuple[str, str, int]:
    """Return byte order, kind and bytes of a type that is written as NumPy does, like ``<f4``."""
    digits = text[2:]
    return text[:1], text[1:2], int(digits) if digits.isdigit() else 0
