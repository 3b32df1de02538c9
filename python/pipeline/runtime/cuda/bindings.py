"""Calls by cuda-bindings, which is imported when there is a driver; their errors in our words."""

from __future__ import annotations

import ctypes
import importlib
import re
from typing import Any

from ...errors import DeviceUnavailable, DriverError
from ...system.gpu_driver import (
    INSTALL_BINDINGS,
    OLDEST_VERSION,
    USE_EMULATOR,
    explain,
    open_library,
    show_version,
)
from .faults import explain_failure

# Errors by which any call may say that there is no GPU to use.
_STATES = frozenset((3, 34, 46, 100, 101, 304, 802, 803, 804))


class Bindings:
    """The functions of the driver; whatever fails raises DriverError or DeviceUnavailable.

    ``_api`` has them as cuda-bindings does, ``_library`` as they are in C.
    """

    def __init__(self) -> None:
        """Load and initialise the driver. Raises DeviceUnavailable."""
        self._library: ctypes.CDLL = open_library()
        self._api = _import_bindings()
        self.version = 0
        """The newest CUDA version that the driver is for, as 13000."""
        self.version = int(self._call("cuDriverGetVersion"))
        self._check_version()
        self._call("cuInit", 0)

    def _check_version(self) -> None:
        bindings = importlib.import_module("cuda.bindings").__version__
        needed = max(OLDEST_VERSION, int(bindings.partition(".")[0]) * 1000)
        if self.version >= needed:
            return
        own, least = show_version(self.version), show_version(needed)
        if self.version < OLDEST_VERSION:
            remedy = "update the driver"
        else:
            major = self.version // 1000
            remedy = f"pip install 'cuda-bindings>={major},<{major + 1}', or update the driver"
        raise DeviceUnavailable(
            f"error: cuda-bindings {bindings} needs a driver for CUDA {least} or newer; this "
            f"driver is for CUDA {own}: {remedy}"
        )

    def _call(self, function: str, *arguments: Any) -> Any:
        """Return what a function of the driver returns beside its result."""
        code, *values = self._ask(function, *arguments)
        if code:
            raise self._failure(function, int(code))
        return values[0] if len(values) == 1 else values

    def _ask(self, function: str, *arguments: Any) -> Any:
        """Return the result of a function, and what else it returns."""
        try:
            return getattr(self._api, function)(*arguments)
        except ValueError as error:
            raise self._unknown(function, error) from error
        except RuntimeError as error:
            raise DeviceUnavailable(
                f"error: the driver, for CUDA {show_version(self.version)}, lacks {function}: "
                f"{error}; update the driver, or {USE_EMULATOR}"
            ) from error

    def _unknown(self, function: str, error: ValueError) -> Exception:
        """Return what to raise for an error that is newer than cuda-bindings, which gives up."""
        match = re.match(r"(\d+) is not a valid CUresult", str(error))
        return self._failure(function, int(match[1])) if match else error

    def _failure(self, function: str, code: int, log: str = "") -> Exception:
        """Return what to raise for an error of a function."""
        state = explain(code) if function == "cuInit" or code in _STATES else None
        if state is not None:
            words, remedy = state
            return DeviceUnavailable(
                f"error: no GPU can be used: {words} ({function}: error {code}); {remedy}, or "
                f"{USE_EMULATOR}"
            )
        name, words = self._words("cuGetErrorName", code), self._words("cuGetErrorString", code)
        text = f"error: {function} failed: {name} ({code}): {words}"
        for part in (log, explain_failure(code)):
            text += f"; {part}" if part else ""
        return DriverError(text, function, code)

    def _words(self, function: str, code: int) -> str:
        words = ctypes.c_char_p()
        getattr(self._library, function)(code, ctypes.byref(words))
        return (words.value or b"unknown").decode("utf-8", "replace")


def _import_bindings() -> Any:
    try:
        return importlib.import_module("cuda.bindings.driver")
    except ImportError as error:
        raise DeviceUnavailable(
            f"error: cuda-bindings cannot be loaded: {error}; {INSTALL_BINDINGS}, or {USE_EMULATOR}"
        ) from error
