"""A GPU's driver for tests where there is none: memory of the host, launches on our emulator.

It is strict where NVIDIA documents what a call takes, writes down each call, and fails when a test
asks for it. It is the library that cuda-bindings finds, so all that is ours runs as with a GPU.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import hashlib
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pipeline.runtime.cuda.driver import Driver

SOURCES = Path(__file__).with_name("stand_in")
LIBRARY = "libcuda.so.1"

QUERIES = (
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuFuncGetAttribute",
    "cuFuncGetParamInfo",
    "cuStreamGetCaptureInfo",
    "cuStreamGetCtx",
    "cuStreamGetId",
    "cuStreamIsCapturing",
    "cuThreadExchangeStreamCaptureMode",
)
"""Calls that change nothing."""


def compiler() -> str:
    """Return the C++ compiler of this machine."""
    found = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if found is None:
        raise RuntimeError("the stand-in for the driver needs a C++ compiler")
    return found


def compile_command(target: Path, *options: str) -> list[str]:
    """Return the command that makes the library of the sources."""
    flags = (
        "-std=c++17",
        "-O1",
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        f"-Wl,-soname,{LIBRARY}",
    )
    sources = sorted(map(str, SOURCES.glob("*.cpp")))
    return [compiler(), *flags, *options, "-o", str(target), *sources, "-ldl", "-lpthread"]


@functools.cache
def build() -> Path:
    """Return the library, which is compiled if there is none of these sources."""
    digest = hashlib.sha256(compiler().encode())
    for source in sorted(SOURCES.iterdir()):
        digest.update(source.read_bytes())
    folder = SOURCES.parents[3] / "build" / "stand-in-driver" / digest.hexdigest()[:16]
    library = folder / LIBRARY
    folder.mkdir(parents=True, exist_ok=True)
    # Of several processes, one compiles, and the others wait for it.
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.is_file():
            made = library.with_suffix(".made")
            subprocess.run(compile_command(made), check=True)
            made.replace(library)
    return library


class _Record(ctypes.Structure):
    """`LaunchRecord` of stand_in/state.h."""

    _fields_: ClassVar = [
        ("name", ctypes.c_char_p),
        ("image", ctypes.c_char_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("cluster", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("device", ctypes.c_int),
        ("stream", ctypes.c_uint64),
        ("count", ctypes.c_uint),
        ("sizes", ctypes.POINTER(ctypes.c_uint64)),
        ("values", ctypes.POINTER(ctypes.c_void_p)),
    ]


_Callback = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Record))


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch that was made; `parameters` are the bytes of each.

    `image` is the PTX, and empty for a kernel of a cubin.
    """

    name: str
    image: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int] | None
    shared: int
    device: int
    stream: int
    parameters: tuple[bytes, ...]

    def integer(self, number: int) -> int:
        """Return parameter `number` as an address or a size."""
        return int.from_bytes(self.parameters[number], "little")


def _read_launch(record: _Record) -> Launch:
    x, y, z = record.cluster
    parameters = (ctypes.string_at(record.values[i], record.sizes[i]) for i in range(record.count))
    return Launch(
        record.name.decode(),
        record.image.decode(),
        (record.grid[0], record.grid[1], record.grid[2]),
        (record.block[0], record.block[1], record.block[2]),
        (x, y, z) if x else None,
        record.shared,
        record.device,
        record.stream,
        tuple(parameters),
    )


@dataclass(frozen=True, slots=True)
class Memory:
    """An allocation: where it starts, how many bytes it has, and the GPU that it is on."""

    address: int
    bytes: int
    device: int


class StandIn:
    """The stand-in, loaded into this process in place of the driver."""

    def __init__(self) -> None:
        self.path = build()
        # Whoever asks for the name of the driver's library gets this one from now on.
        ctypes.CDLL(str(self.path), ctypes.RTLD_GLOBAL)
        self._library = ctypes.CDLL(LIBRARY)
        if not hasattr(self._library, "stand_in_reset"):
            raise RuntimeError("NVIDIA's driver is loaded; these tests need a process without it")
        self._library.stand_in_get_call.restype = ctypes.c_char_p
        for name in ("allocate", "live_bytes", "count_calls", "loaded_modules"):
            getattr(self._library, f"stand_in_{name}").restype = ctypes.c_size_t
        self._callback: Any = None
        self.errors: list[BaseException] = []
        """What launches raised; a driver has nobody to raise it to."""

    def reset(self, options: str = "") -> None:
        """Begin anew, with options as state.h has them: ``version=13000 chips=90,80``."""
        Driver._of_process = None
        self._library.stand_in_reset(options.encode())
        self._callback = None
        self.errors.clear()

    def on_launch(self, run: Callable[[Launch], None]) -> None:
        """Call `run` for each launch, when it runs."""

        def receive(record: Any) -> None:
            try:
                run(_read_launch(record.contents))
            except BaseException as error:
                self.errors.append(error)

        self._callback = _Callback(receive)
        self._library.stand_in_on_launch(self._callback)

    def calls(self, but: Sequence[str] = QUERIES) -> list[str]:
        """Return the calls since the last time, each with its arguments, but for some functions."""
        count = self._library.stand_in_count_calls()
        calls = [self._library.stand_in_get_call(number).decode() for number in range(count)]
        self._library.stand_in_clear_calls()
        return [call for call in calls if call.split(" ")[0] not in but]

    def fail(self, function: str, nth: int, code: int) -> None:
        """Have a function fail when it is called the nth time from now on; ``*`` is any."""
        self._library.stand_in_fail(function.encode(), nth, code)

    def break_launch(self, code: int = 700) -> None:
        """Have the next launch do what no kernel may, which later calls report."""
        self._library.stand_in_break(code)

    @property
    def live_bytes(self) -> int:
        """The bytes of all memory that is allocated."""
        return int(self._library.stand_in_live_bytes())

    @property
    def loaded_modules(self) -> int:
        """How many modules are loaded."""
        return int(self._library.stand_in_loaded_modules())

    def find_memory(self, address: int) -> Memory | None:
        """Return the allocation that has an address."""
        base, size, device = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_int()
        found = self._library.stand_in_find_memory(
            ctypes.c_uint64(address), ctypes.byref(base), ctypes.byref(size), ctypes.byref(device)
        )
        return Memory(base.value, size.value, device.value) if found else None

    def put(self, array: npt.NDArray[Any], device: int = 0) -> DeviceArray:
        """Return an array of a GPU with the elements of `array`."""
        return DeviceArray(self, array, device)


class DeviceArray:
    """A contiguous array in the memory of a GPU, by ``__cuda_array_interface__``.

    ``host`` is the memory itself, which only the stand-in lets the host see.
    """

    def __init__(self, stand_in: StandIn, array: npt.NDArray[Any], device: int) -> None:
        self._library = stand_in._library
        size = max(array.nbytes, 1)
        self.address = int(self._library.stand_in_allocate(ctypes.c_size_t(size), device))
        self.device = device
        memory = (ctypes.c_uint8 * size).from_address(self.address)
        flat = np.frombuffer(memoryview(memory), np.uint8)[: array.nbytes]
        self.host: npt.NDArray[Any] = flat.view(array.dtype).reshape(array.shape)
        self.host[...] = array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Return the interface of version 3."""
        return {
            "shape": self.host.shape,
            "typestr": self.host.dtype.str,
            "data": (self.address, False),
            "strides": None,
            "version": 3,
        }

    def release(self) -> None:
        """Free the memory."""
        self._library.stand_in_release(ctypes.c_uint64(self.address))


@functools.cache
def stand_in() -> StandIn:
    """Return the stand-in of this process, loaded."""
    return StandIn()
