"""What stands for PyTorch where it is not installed: tensors in the memory of the stand-in."""

from __future__ import annotations

import ctypes
from types import ModuleType, SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from gpu.stand_in_driver import StandIn

Array = npt.NDArray[Any]


class DType:
    """A type of elements, of which there is one object, as in PyTorch."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.numpy = np.dtype(getattr(ml_dtypes, name, name))

    def __str__(self) -> str:
        return f"torch.{self.name}"


class Device(SimpleNamespace):
    """A device; two of them that are one are equal."""

    type: str
    index: int | None


class Tensor:
    """A tensor of a GPU. The host sees its elements in ``host``, which only the stand-in allows."""

    def __init__(
        self,
        owner: Any,
        address: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        dtype: DType,
        device: Device,
    ) -> None:
        self.owner = owner
        self.address = address
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.dtype = dtype
        self.device = device
        self.layout = "strided"
        self.requires_grad = False
        self.is_cuda = device.type == "cuda"
        self.negated = False
        self.conjugated = False
        self.version = 0
        self.streams: list[tuple[int, int]] = []

    def data_ptr(self) -> int:
        return self.address

    def stride(self) -> tuple[int, ...]:
        return self.strides

    def numel(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    def element_size(self) -> int:
        return int(self.dtype.numpy.itemsize)

    def storage_offset(self) -> int:
        return int(self.address - self.owner.address) // self.element_size()

    def is_neg(self) -> bool:
        return self.negated

    def is_conj(self) -> bool:
        return self.conjugated

    def as_strided(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Tensor:
        start = self.owner.address + offset * self.element_size()
        return Tensor(self.owner, start, shape, strides, self.dtype, self.device)

    def record_stream(self, stream: Any) -> None:
        self.streams.append((stream.handle, stream.device.index))

    @property
    def host(self) -> Array:
        """Return the elements, in place."""
        size = self.element_size()
        if not self.numel():
            return np.empty(self.shape, self.dtype.numpy)
        reach = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)) + 1
        memory = memoryview((ctypes.c_uint8 * (reach * size)).from_address(self.address))
        strides = [stride * size for stride in self.strides]
        return np.ndarray(self.shape, self.dtype.numpy, memory, 0, strides)


class Torch(ModuleType):
    """The functions of PyTorch that are used; ``stream`` is the current one."""

    strided = "strided"

    def __init__(self, gpu: StandIn) -> None:
        super().__init__("torch")
        self.Tensor: type[Tensor] = Tensor
        self.gpu = gpu
        self.stream = 0
        self.grad = True
        self.asked: list[int] = []
        self._C = SimpleNamespace(_cuda_getCurrentRawStream=self._current)
        self.cuda = SimpleNamespace(
            ExternalStream=lambda handle, device: SimpleNamespace(handle=handle, device=device)
        )
        self.autograd = SimpleNamespace(graph=SimpleNamespace(increment_version=self._bump))
        for name in ("bool", "int8", "uint8", "int16", "int32", "int64"):
            setattr(self, name, DType(name))
        for name in ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"):
            setattr(self, name, DType(name))
        self.complex64 = DType("complex64")

    def _current(self, device: int) -> int:
        self.asked.append(device)
        return self.stream

    def _bump(self, tensor: Tensor) -> None:
        tensor.version += 1

    def is_grad_enabled(self) -> bool:
        return self.grad

    def device(self, kind: str, index: int) -> Device:
        return Device(type=kind, index=index)

    def empty(self, shape: tuple[int, ...], *, dtype: DType, device: Device) -> Tensor:
        assert device.index is not None
        owner = self.gpu.put(np.empty(shape, dtype.numpy), device.index)
        owner.host.reshape(-1).view(np.uint8)[...] = 0xAB
        return self._wrap(owner, dtype, device)

    def put(self, array: Array, device: int = 0) -> Tensor:
        """Return a contiguous tensor with these elements."""
        owner = self.gpu.put(np.array(array, order="C"), device)
        return self._wrap(owner, getattr(self, array.dtype.name), self.device("cuda", device))

    def _wrap(self, owner: Any, dtype: DType, device: Device) -> Tensor:
        host = owner.host
        strides = np.empty(host.shape, "u1").strides
        return Tensor(owner, owner.address, host.shape, strides, dtype, device)


Tensor.__module__ = "torch"
