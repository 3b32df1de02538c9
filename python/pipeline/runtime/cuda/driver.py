"""NVIDIA's driver, behind one class: addresses and handles are integers, failures are errors.

The calls are those of cuda-bindings, which is imported when the driver is first asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import DeviceUnavailable
from ..arrays import HOST
from .bindings import Bindings
from .tensor_maps import encode

if TYPE_CHECKING:
    from ...records.findings import Dim3
    from ..tensor_maps import TensorMapRequest

_LOG_BYTES = 16384
_NON_BLOCKING = 1
_NO_TIMING = 2


class Driver(Bindings):
    """The driver of this process, initialised.

    All that has a `stream` takes its raw handle, runs in its order, and needs the context of its
    device to be current (``enter``). Whatever fails raises DriverError, which names the function,
    the error and what to do, or DeviceUnavailable if there is no GPU to use.
    """

    _of_process: ClassVar[Driver | None] = None
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self) -> None:
        """Load and initialise the driver. Raises DeviceUnavailable."""
        super().__init__()
        self._contexts: dict[int, int] = {}
        self._attributes: dict[tuple[str, int], int] = {}
        self._retaining = threading.Lock()
        # What each call of a program asks, without looking for it.
        self._current = self._api.cuCtxGetCurrent
        self._is_capturing = self._api.cuStreamIsCapturing
        self._stream_id = self._api.cuStreamGetId

    @classmethod
    def get(cls) -> Driver:
        """Return the one of this process. Raises DeviceUnavailable; the next call tries again."""
        with cls._lock:
            if cls._of_process is None:
                cls._of_process = cls()
            return cls._of_process

    # --- devices ----------------------------------------------------------------------------------

    def device_count(self) -> int:
        """Return how many GPUs there are."""
        return int(self._call("cuDeviceGetCount"))

    def capability(self, device: int) -> tuple[int, int]:
        """Return the compute capability of a GPU: (9, 0) for sm_90."""
        return (
            self._attribute("COMPUTE_CAPABILITY_MAJOR", device),
            self._attribute("COMPUTE_CAPABILITY_MINOR", device),
        )

    def name(self, device: int) -> str:
        """Return how NVIDIA calls a GPU."""
        name: bytes = self._call("cuDeviceGetName", 256, self._handle(device))
        return name.partition(b"\0")[0].decode("utf-8", "replace")

    def shared_limit(self, device: int) -> int:
        """Return how many bytes of shared memory a block may have, for kernels that opt in."""
        return self._attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", device)

    def _attribute(self, name: str, device: int) -> int:
        value = self._attributes.get((name, device))
        if value is None:
            attributes = self._api.CUdevice_attribute
            attribute = getattr(attributes, f"CU_DEVICE_ATTRIBUTE_{name}")
            value = int(self._call("cuDeviceGetAttribute", attribute, self._handle(device)))
            self._attributes[name, device] = value
        return value

    def _handle(self, device: int) -> Any:
        count = self.device_count()
        if not 0 <= device < count:
            raise DeviceUnavailable(
                f"error: there is no GPU {device}: the driver sees {count}; look at nvidia-smi -L "
                "and CUDA_VISIBLE_DEVICES"
            )
        return self._call("cuDeviceGet", device)

    # --- contexts ---------------------------------------------------------------------------------

    def enter(self, device: int) -> int:
        """Make the primary context of a GPU current to this thread, as all that launches needs.

        Return what ``leave`` restores: 0 if it was current, or none was; then it stays.
        """
        wanted = self._contexts.get(device) or self._retain(device)
        try:
            code, found = self._current()
        except ValueError as error:
            raise self._unknown("cuCtxGetCurrent", error) from error
        if code:
            raise self._failure("cuCtxGetCurrent", int(code))
        before = int(found)
        if before == wanted:
            return 0
        self._call("cuCtxSetCurrent", wanted)
        return before

    def leave(self, token: int) -> None:
        """Make the context current that was before ``enter``."""
        if token:
            self._call("cuCtxSetCurrent", token)

    def _retain(self, device: int) -> int:
        with self._retaining:
            if device not in self._contexts:
                handle = self._handle(device)
                self._contexts[device] = int(self._call("cuDevicePrimaryCtxRetain", handle))
            return self._contexts[device]

    # --- code -------------------------------------------------------------------------------------

    def load(self, image: bytes, device: int) -> int:
        """Load PTX or a cubin for a GPU; return the module. Errors have the words of the JIT."""
        # cuda-bindings has the driver write into an object of bytes: one of our own.
        log = bytes(_LOG_BYTES)
        options = self._api.CUjit_option
        names = [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        # PTX is a C string. The NUL that Python has behind all bytes is a detail of CPython.
        text = image if image.endswith(b"\0") else image + b"\0"
        values = [log, _LOG_BYTES]
        token = self.enter(device)
        try:
            code, module = self._ask("cuModuleLoadDataEx", text, len(names), names, values)
        finally:
            self.leave(token)
        if code:
            words = log.partition(b"\0")[0].decode("utf-8", "replace").strip()
            raise self._failure("cuModuleLoadDataEx", int(code), words)
        return int(module)

    def unload(self, module: int, device: int) -> None:
        """Unload a module, none of whose kernels runs or is in a graph."""
        token = self.enter(device)
        try:
            self._call("cuModuleUnload", module)
        finally:
            self.leave(token)

    def get_function(self, module: int, name: str) -> int:
        """Return a kernel of a module."""
        return int(self._call("cuModuleGetFunction", module, name.encode()))

    def parameter_sizes(self, function: int) -> tuple[int, ...] | None:
        """Return the bytes of each parameter of a kernel; None if the driver is too old to tell."""
        if self.version < 12040:
            return None
        sizes: list[int] = []
        while True:
            code, _, size = self._ask("cuFuncGetParamInfo", function, len(sizes))
            if int(code) == 1:  # behind the last one
                return tuple(sizes)
            if code:
                raise self._failure("cuFuncGetParamInfo", int(code))
            sizes.append(int(size))

    def static_shared(self, function: int) -> int:
        """Return the bytes of shared memory that a kernel has without asking at the launch."""
        attribute = self._api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
        return int(self._call("cuFuncGetAttribute", attribute, function))

    def set_dynamic_shared(self, function: int, size: int) -> None:
        """Let launches of a kernel ask for up to `size` bytes of shared memory."""
        attributes = self._api.CUfunction_attribute
        attribute = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self._call("cuFuncSetAttribute", function, attribute, size)

    def set_cluster_opt_in(self, function: int) -> None:
        """Let launches of a kernel have clusters of more than 8 blocks."""
        attributes = self._api.CUfunction_attribute
        attribute = attributes.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
        self._call("cuFuncSetAttribute", function, attribute, 1)

    # --- launches ---------------------------------------------------------------------------------

    def prepare(
        self,
        function: int,
        grid: Dim3,
        block: Dim3,
        cluster: Dim3 | None,
        shared: int,
        parameters_address: int,
    ) -> Launch:
        """Prepare launches of a kernel that take their parameters by the pointers at an address.

        `shared` is dynamic shared memory in bytes; `cluster` counts blocks.
        """
        return Launch(self, function, (grid, block, cluster, shared), parameters_address)

    # --- memory -----------------------------------------------------------------------------------

    def allocate(self, size: int, stream: int) -> int:
        """Return the address of `size` bytes for work on a stream and behind it."""
        if self._has_pools():
            return int(self._call("cuMemAllocAsync", size, stream))
        return int(self._call("cuMemAlloc", size))

    def allocate_for_graph(self, size: int) -> int:
        """Return the address of `size` bytes while a stream of this thread is being captured."""
        address = 0
        try:
            with self.relaxed():
                address = int(self._call("cuMemAlloc", size))
        except BaseException:
            if address:
                self.free_and_wait(address)
            raise
        return address

    def free(self, address: int, stream: int) -> None:
        """Free memory behind all work that was queued on a stream."""
        if self._has_pools():
            self._call("cuMemFreeAsync", address, stream)
        else:
            self._call("cuMemFree", address)

    def free_and_wait(self, address: int) -> None:
        """Free memory behind all work of the current GPU."""
        with self.relaxed():
            self._call("cuMemFree", address)

    def _has_pools(self) -> bool:
        """Return whether the current GPU allocates in the order of streams."""
        device = int(self._call("cuCtxGetDevice"))
        return bool(self._attribute("MEMORY_POOLS_SUPPORTED", device))

    def upload(self, target: int, source: int, size: int, stream: int) -> None:
        """Copy `size` bytes from the host, which may be reused when this returns if pageable."""
        self._call("cuMemcpyHtoDAsync", target, source, size, stream)

    def download(self, target: int, source: int, size: int, stream: int) -> None:
        """Copy `size` bytes to the host; they are there after ``synchronize``."""
        self._call("cuMemcpyDtoHAsync", target, source, size, stream)

    def copy(self, target: int, source: int, size: int, stream: int) -> None:
        """Copy `size` bytes within the memory of GPUs."""
        self._call("cuMemcpyDtoDAsync", target, source, size, stream)

    def copy_2d(
        self,
        target: int,
        target_pitch: int,
        source: int,
        source_pitch: int,
        width: int,
        rows: int,
        stream: int,
    ) -> None:
        """Copy rows of `width` bytes that start every so many bytes, within a GPU's memory."""
        copy = self._api.CUDA_MEMCPY2D()
        memory = self._api.CUmemorytype.CU_MEMORYTYPE_DEVICE
        copy.srcMemoryType = copy.dstMemoryType = memory
        copy.srcDevice, copy.srcPitch = source, source_pitch
        copy.dstDevice, copy.dstPitch = target, target_pitch
        copy.WidthInBytes, copy.Height = width, rows
        self._call("cuMemcpy2DAsync", copy, stream)

    def fill(self, target: int, pattern: bytes, count: int, stream: int) -> None:
        """Write `pattern`, of 1, 2 or a multiple of 4 bytes, `count` times."""
        if pattern == pattern[:1] * len(pattern):
            self._call("cuMemsetD8Async", target, pattern[0], count * len(pattern), stream)
        elif len(pattern) == 2:
            number = int.from_bytes(pattern, "little")
            self._call("cuMemsetD16Async", target, number, count, stream)
        else:
            words = [
                int.from_bytes(pattern[at : at + 4], "little") for at in range(0, len(pattern), 4)
            ]
            self._fill_words(target, words, count, stream)

    def _fill_words(self, target: int, words: Sequence[int], count: int, stream: int) -> None:
        if all(word == words[0] for word in words):
            self._call("cuMemsetD32Async", target, words[0], count * len(words), stream)
            return
        pitch = 4 * len(words)
        for number, word in enumerate(words):
            start = target + 4 * number
            self._call("cuMemsetD2D32Async", start, pitch, word, 1, count, stream)

    def pointer_device(self, address: int) -> int:
        """Return the GPU whose memory an address is in; ``HOST`` if the driver does not know it."""
        attribute = self._api.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        code, device = self._ask("cuPointerGetAttribute", attribute, address)
        if int(code) == 1:
            return HOST
        if code:
            raise self._failure("cuPointerGetAttribute", int(code))
        return int(device)

    def encode_tensor_map(self, request: TensorMapRequest, address: int) -> bytes:
        """Return the 128 bytes of the map of a tensor that starts at an address."""
        code, tensor_map = encode(self._library, request, address)
        if code:
            raise self._failure("cuTensorMapEncodeTiled", code)
        return tensor_map

    # --- streams ----------------------------------------------------------------------------------

    def create_stream(self, device: int) -> int:
        """Return a stream of a GPU that waits for no other."""
        token = self.enter(device)
        try:
            return int(self._call("cuStreamCreate", _NON_BLOCKING))
        finally:
            self.leave(token)

    def destroy_stream(self, stream: int) -> None:
        """Destroy a stream, behind the work on it."""
        self._call("cuStreamDestroy", stream)

    def synchronize(self, stream: int) -> None:
        """Wait for all work on a stream. What kernels did wrong is raised here, if not before."""
        self._call("cuStreamSynchronize", stream)

    def stream_context(self, stream: int) -> int:
        """Return the context that a stream is of."""
        context = self._call("cuStreamGetCtx", stream)
        return int(context[0] if isinstance(context, list) else context)

    def device_context(self, device: int) -> int:
        """Return the primary context of a GPU."""
        return self._contexts.get(device) or self._retain(device)

    def stream_id(self, stream: int) -> int:
        """Return a number that no other stream of this process has, nor had."""
        try:
            code, number = self._stream_id(stream)
        except ValueError as error:
            raise self._unknown("cuStreamGetId", error) from error
        if code:
            raise self._failure("cuStreamGetId", int(code))
        return int(number)

    def is_capturing(self, stream: int) -> bool:
        """Return whether work on a stream becomes part of a graph."""
        try:
            code, status = self._is_capturing(stream)
        except ValueError as error:
            raise self._unknown("cuStreamIsCapturing", error) from error
        if code:
            raise self._failure("cuStreamIsCapturing", int(code))
        return bool(status)

    def capture_id(self, stream: int) -> int:
        """Return the number of the capture that a stream is part of; 0 if it is of none."""
        status, number, *_ = self._call("cuStreamGetCaptureInfo", stream)
        return int(number) if int(status) else 0

    @contextmanager
    def relaxed(self) -> Iterator[None]:
        """Let this thread load code, allocate and free while somebody captures a graph."""
        mode = self._api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        before = self._call("cuThreadExchangeStreamCaptureMode", mode)
        try:
            yield
        finally:
            self._call("cuThreadExchangeStreamCaptureMode", before)

    # --- events -----------------------------------------------------------------------------------

    def create_event(self) -> int:
        """Return an event of the current GPU, without times."""
        return int(self._call("cuEventCreate", _NO_TIMING))

    def destroy_event(self, event: int) -> None:
        """Destroy an event, behind what waits for it."""
        self._call("cuEventDestroy", event)

    def record(self, event: int, stream: int) -> None:
        """Have an event happen behind all work on a stream."""
        self._call("cuEventRecord", event, stream)

    def wait(self, stream: int, event: int) -> None:
        """Have later work on a stream wait for an event."""
        self._call("cuStreamWaitEvent", stream, event, 0)


class Launch:
    """Launches of a kernel that differ in their stream, and in what parameters point at.

    Not for several threads at once: they share the parameters.
    """

    __slots__ = ("_config", "_driver", "_function", "_launch", "_parameters", "_stream")

    def __init__(
        self,
        driver: Driver,
        function: int,
        sizes: tuple[Dim3, Dim3, Dim3 | None, int],
        parameters: int,
    ) -> None:
        api = driver._api
        grid, block, cluster, shared = sizes
        config = api.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = grid
        config.blockDimX, config.blockDimY, config.blockDimZ = block
        config.sharedMemBytes = shared
        config.hStream = 0
        if cluster is not None:
            attribute = api.CUlaunchAttribute()
            attribute.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            dims = attribute.value.clusterDim
            dims.x, dims.y, dims.z = cluster
            config.attrs, config.numAttrs = [attribute], 1
        self._driver = driver
        self._config = config
        self._function = api.CUfunction(function)
        self._parameters = parameters
        self._launch = api.cuLaunchKernelEx
        self._stream = 0

    def call(self, stream: int) -> None:
        """Launch on a stream, with the values that the parameters have now."""
        if stream != self._stream:
            self._config.hStream = stream
            self._stream = stream
        try:
            code = self._launch(self._config, self._function, self._parameters, 0)[0]
        except ValueError as error:
            raise self._driver._unknown("cuLaunchKernelEx", error) from error
        if code:
            raise self._driver._failure("cuLaunchKernelEx", int(code))
