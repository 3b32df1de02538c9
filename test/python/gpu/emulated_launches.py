"""Launches of the stand-in, run on our emulator with the values that the driver was given."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from gpu.stand_in_driver import Launch, Memory
from pipeline.runtime.emulator import Check, Options, translate
from pipeline.runtime.tensor_maps import TensorMapRequest, make_view

if TYPE_CHECKING:
    import pipeline
    from pipeline import _native
    from pipeline.records.signature import Parameter

_MAP_MARK = 0x70616D726F736E65
_ELEMENT_BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4)
_INTERLEAVES = ("none", "interleave_16b", "interleave_32b")
_SWIZZLES = ("none", "swizzle_32b", "swizzle_64b", "swizzle_128b")
_PROMOTIONS = ("none", "l2promo_64b", "l2promo_128b", "l2promo_256b")


class Device(Protocol):
    """What launches are made on: the stand-in for the driver, or another that has memory."""

    def on_launch(self, run: Callable[[Launch], None]) -> None:
        """Have launches run by a function."""

    def find_memory(self, address: int) -> Memory | None:
        """Return the allocation that an address is in."""


class EmulatedLaunches:
    """What runs the kernels of modules when the driver launches them.

    A launch is of a kernel of the module whose PTX was loaded. Pointers have to be into memory
    that is allocated on the GPU of the launch; parameters are checked against its signature.
    """

    def __init__(self, device: Device, *modules: pipeline.Module, check: Check = "none") -> None:
        self._device = device
        self._kernels = {
            (module.ptx.rstrip("\0"), kernel.name): kernel
            for module in modules
            for kernel in module.kernels.values()
        }
        # Machine code does not tell which program it is of: names have to.
        self._names = {name: kernel for (_, name), kernel in self._kernels.items()}
        self._options = Options(check=check)
        self.launches: list[Launch] = []
        """What was launched, in order."""
        device.on_launch(self._run)

    def _run(self, launch: Launch) -> None:
        from pipeline import _native

        self.launches.append(launch)
        kernel = self._kernels.get((launch.image, launch.name))
        if not launch.image:
            assert len(self._names) == len(self._kernels), "kernels of one name"
            kernel = self._names.get(launch.name)
        assert kernel is not None, f"{launch.name} is of no module of this test"
        assert len(launch.parameters) == len(kernel.parameters)
        memories: dict[Memory, int] = {}
        request = _native.LaunchRequest()
        request.parameters = [
            self._parameter(launch, parameter, value, memories)
            for parameter, value in zip(kernel.parameters, launch.parameters, strict=True)
        ]
        request.buffers = [_view(memory) for memory in memories]
        request.grid, request.block = list(launch.grid), list(launch.block)
        request.cluster = None if launch.cluster is None else list(launch.cluster)
        request.dynamic_shared_bytes = launch.shared
        request.workers = 1
        translated = translate(kernel._emulation, kernel.name, self._options)
        with translated.lock:
            assert not (fault := translated.kernel.refuse(request)), fault
            result = translated.kernel.launch(request, None)
        assert result.crash is None, result.crash
        assert not result.findings, result.rendered

    def _parameter(
        self, launch: Launch, parameter: Parameter, value: bytes, memories: dict[Memory, int]
    ) -> _native.ParameterValue:
        from pipeline import _native

        made = _native.ParameterValue()
        kind = parameter.parts[0].kind
        if kind == "tensormap":
            made.tensor_map = self._tensor_map(launch, value, memories)
        elif kind == "pointer":
            made.buffer, made.offset = self._place(
                launch, int.from_bytes(value, "little"), memories
            )
        else:
            made.set_bytes(value)
        return made

    def _place(self, launch: Launch, address: int, memories: dict[Memory, int]) -> tuple[int, int]:
        memory = self._device.find_memory(address)
        assert memory is not None, f"{launch.name} got {address:#x}, which is not allocated"
        assert memory.device == launch.device, f"{launch.name} got memory of GPU {memory.device}"
        return memories.setdefault(memory, len(memories)), address - memory.address

    def _tensor_map(
        self, launch: Launch, value: bytes, memories: dict[Memory, int]
    ) -> _native.TensorMapView:
        assert len(value) == 128
        words = struct.unpack("<16Q", value)
        assert words[15] == _MAP_MARK, "a tensor map that the driver did not make"
        rank, kind, interleave, swizzle, l2, oob, *_ = value[8:16]
        request = TensorMapRequest(
            dtype="",
            dims=words[2 : 2 + rank],
            strides=words[7 : 7 + rank - 1],
            box=tuple(words[11] >> 9 * i & 0x1FF for i in range(rank)),
            element_strides=tuple(words[12] >> 4 * i & 0xF for i in range(rank)),
            swizzle=_SWIZZLES[swizzle],
            interleave=_INTERLEAVES[interleave],
            l2=_PROMOTIONS[l2],
            oob="nan" if oob else "zero",
        )
        buffer, offset = self._place(launch, words[0], memories)
        return make_view(request, _ELEMENT_BYTES[kind], buffer, offset)


def _view(memory: Memory) -> Any:
    from pipeline import _native

    view = _native.BufferView()
    view.set_address(memory.address)
    view.bytes = memory.bytes
    view.name = f"memory at {memory.address:#x}"
    view.element_type, view.element_bytes = "i8", 1
    view.shape, view.strides = [memory.bytes], [1]
    return view
