"""The code of a program on GPUs: which of it a GPU runs, loaded once, held against signatures."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ...errors import DeviceError, DeviceUnavailable, DriverError, PlanError
from ...system.gpu_driver import cuda_for_ptx, show_version
from .parameters import parameter_bytes

if TYPE_CHECKING:
    from ...records.findings import Dim3
    from .driver import Driver
    from .parameters import Interface

DEFAULT_SHARED_BYTES = 48 * 1024
"""Shared memory that a block may have without being opted in."""
_PORTABLE_CLUSTER = 8
_NOT_FOUND = 500
# A cubin that a driver does not take, where PTX may do.
_REFUSALS = frozenset((200, 209))

_CHIP = re.compile(r"sm_(?P<major>\d+)(?P<minor>\d)(?P<suffix>[af]?)")
_VERSION = re.compile(rb"^\s*\.version\s+(\d+)\.(\d+)", re.MULTILINE)
_TARGET = re.compile(rb"^\s*\.target\s+(sm_\d+[af]?)", re.MULTILINE)


class Chip(NamedTuple):
    """A chip that code is for, as ``sm_90a``: its compute capability, and a, f or nothing."""

    major: int
    minor: int
    suffix: str

    def __str__(self) -> str:
        return f"sm_{self.major}{self.minor}{self.suffix}"

    @classmethod
    def parse(cls, name: str) -> Chip | None:
        """Return the chip of a name; None if it is none."""
        match = _CHIP.fullmatch(name)
        return cls(int(match["major"]), int(match["minor"]), match["suffix"]) if match else None

    def runs_compiled(self, capability: tuple[int, int]) -> bool:
        """Return whether machine code for this chip runs on a GPU."""
        major, minor = capability
        if self.suffix == "a":
            return (self.major, self.minor) == capability
        return self.major == major and self.minor <= minor

    def runs_as_ptx(self, capability: tuple[int, int]) -> bool:
        """Return whether PTX for this chip can be compiled for a GPU."""
        if self.suffix:
            return self.runs_compiled(capability)
        return (self.major, self.minor) <= capability


@dataclass(frozen=True, slots=True)
class Image:
    """Code as the driver loads it: a cubin, or PTX of a version."""

    chip: Chip
    content: bytes
    ptx: tuple[int, int] | None = None


class Code:
    """The code of a program: PTX, and machine code for some chips.

    A GPU gets the machine code for its own chip; else that of its generation which is nearest
    below; else the PTX, which the driver compiles. What is loaded stays so for as long as the
    process runs: graphs that were captured may hold its kernels.
    """

    def __init__(
        self, ptx: bytes, cubins: Mapping[str, bytes], kernels: Sequence[Interface]
    ) -> None:
        self._kernels = tuple(kernels)
        self._images = [_read_ptx(ptx)] if ptx else []
        for name, content in cubins.items():
            if (chip := Chip.parse(name)) is None:
                raise PlanError(f"error: '{name}' is no chip that code can be for")
            self._images.append(Image(chip, content))
        self._loaded: dict[int, DeviceCode] = {}
        self._lock = threading.Lock()

    def on(self, driver: Driver, device: int) -> DeviceCode:
        """Return the code on a GPU, where it is loaded when it is first asked for.

        Raises DeviceUnavailable if none of it runs there, PlanError if it has other kernels than it
        should, DriverError with the words of the driver's compiler if that refuses it.
        """
        if (loaded := self._loaded.get(device)) is not None:
            return loaded
        with self._lock:
            if device not in self._loaded:
                self._loaded[device] = self._load(driver, device)
            return self._loaded[device]

    def _load(self, driver: Driver, device: int) -> DeviceCode:
        images = self._choose(driver, device)
        for image in images[:-1]:
            try:
                return _load_image(driver, device, image, self._kernels)
            except DriverError as error:
                if error.code not in _REFUSALS:
                    raise
        return _load_image(driver, device, images[-1], self._kernels)

    def _choose(self, driver: Driver, device: int) -> list[Image]:
        """Return what runs on a GPU, the best first."""
        capability = driver.capability(device)
        cubins = [
            image
            for image in self._images
            if image.ptx is None and image.chip.runs_compiled(capability)
        ]
        # On a tie, what was compiled for this very chip and family knows the most of it.
        cubins.sort(key=lambda image: (image.chip.minor, image.chip.suffix == "a"), reverse=True)
        texts = [
            image for image in self._images if image.ptx and image.chip.runs_as_ptx(capability)
        ]
        readable = [image for image in texts if _reads(driver, image)]
        if not cubins and not readable:
            raise DeviceUnavailable(self._refusal(driver, device, texts))
        return [*cubins, *readable]

    def _refusal(self, driver: Driver, device: int, texts: Sequence[Image]) -> str:
        for image in texts:
            assert image.ptx is not None
            needed = show_version(cuda_for_ptx(image.ptx))
            major, minor = image.ptx
            return (
                f"error: the code is PTX {major}.{minor}, which needs a driver for CUDA {needed} "
                f"or newer; this driver is for CUDA {show_version(driver.version)}: update the "
                "driver, or compile with --emit cubin or for an older PTX version"
            )
        chips = ", ".join(dict.fromkeys(str(image.chip) for image in self._images)) or "no chip"
        own = Chip(*driver.capability(device), "")
        return (
            f"error: the code is for {chips}, but GPU {device} is {own}: compile with --chip {own}"
        )


class DeviceCode:
    """The kernels of a program on a GPU, loaded; ``functions`` are theirs in order."""

    __slots__ = (
        "_device",
        "_driver",
        "_kernels",
        "_lock",
        "_opted",
        "_static",
        "chip",
        "functions",
    )

    def __init__(
        self,
        driver: Driver,
        device: int,
        chip: Chip,
        kernels: Sequence[Interface],
        functions: Sequence[int],
    ) -> None:
        self._driver = driver
        self._device = device
        self._kernels = kernels
        self._lock = threading.Lock()
        self._static = tuple(map(driver.static_shared, functions))
        self._opted: dict[tuple[int, str], int] = {}
        self.chip = chip
        """What the code that was chosen is for."""
        self.functions = tuple(functions)

    def prepare(self, kernel: int, shared: int, cluster: Dim3 | None) -> int:
        """Return a kernel, ready for launches with dynamic shared memory and clusters.

        Raises DeviceError if the GPU has less. The context of the GPU has to be current.
        """
        self._check_shared(kernel, shared)
        if cluster is not None and cluster != (1, 1, 1):
            self._allow_cluster(kernel, cluster)
        function = self.functions[kernel]
        if self._static[kernel] + shared > DEFAULT_SHARED_BYTES:
            with self._lock:
                # Never less than launches that were prepared before have.
                if self._opted.get((kernel, "shared"), 0) < shared:
                    self._driver.set_dynamic_shared(function, shared)
                    self._opted[kernel, "shared"] = shared
        return function

    def _check_shared(self, kernel: int, shared: int) -> None:
        limit, needed = self._driver.shared_limit(self._device), self._static[kernel] + shared
        if needed > limit:
            raise DeviceError(
                f"error: kernel '{self._kernels[kernel].name}' needs {needed} bytes of shared "
                f"memory per block; GPU {self._device} has {limit}"
            )

    def _allow_cluster(self, kernel: int, cluster: Dim3) -> None:
        own = Chip(*self._driver.capability(self._device), "")
        if own.major < 9:
            raise DeviceError(
                f"error: kernel '{self._kernels[kernel].name}' is launched in clusters, which GPU "
                f"{self._device} ({own}) does not have: it takes an sm_90 or newer"
            )
        if cluster[0] * cluster[1] * cluster[2] > _PORTABLE_CLUSTER:
            with self._lock:
                if (kernel, "cluster") not in self._opted:
                    self._driver.set_cluster_opt_in(self.functions[kernel])
                    self._opted[kernel, "cluster"] = 1


def _read_ptx(ptx: bytes) -> Image:
    version, target = _VERSION.search(ptx), _TARGET.search(ptx)
    chip = Chip.parse(target[1].decode()) if target else None
    if version is None or chip is None:
        raise PlanError("error: the code is not PTX: it does not begin with .version and .target")
    return Image(chip, ptx, (int(version[1]), int(version[2])))


def _reads(driver: Driver, image: Image) -> bool:
    assert image.ptx is not None
    return driver.version >= cuda_for_ptx(image.ptx)


def _load_image(
    driver: Driver, device: int, image: Image, kernels: Sequence[Interface]
) -> DeviceCode:
    token, module = driver.enter(device), 0
    try:
        with driver.relaxed():
            module = driver.load(image.content, device)
            functions = [_find_function(driver, module, kernel) for kernel in kernels]
            return DeviceCode(driver, device, image.chip, kernels, functions)
    except BaseException:
        if module:
            with driver.relaxed():
                driver.unload(module, device)
        raise
    finally:
        driver.leave(token)


def _find_function(driver: Driver, module: int, kernel: Interface) -> int:
    """Return a kernel that takes what its signature says: else it would corrupt memory."""
    try:
        function = driver.get_function(module, kernel.name)
    except DriverError as error:
        if error.code != _NOT_FOUND:
            raise
        raise PlanError(f"error: kernel '{kernel.name}' is not in the code") from error
    expected, found = parameter_bytes(kernel), driver.parameter_sizes(function)
    if found is None:
        return function
    fault = ""
    if len(found) != len(expected):
        fault = f"it has {len(found)} parameters in the code, but {len(expected)} in its signature"
    for number, (size, wanted) in enumerate(zip(found, expected, strict=False)):
        if wanted not in (None, size) and not fault:
            sizes = f"{size} bytes in the code, but {wanted} in its signature"
            fault = f"parameter {number} has {sizes}"
    if fault:
        raise PlanError(f"error: kernel '{kernel.name}': {fault}: they do not belong together")
    return function


__all__ = ["DEFAULT_SHARED_BYTES", "Chip", "Code", "DeviceCode", "Image"]
