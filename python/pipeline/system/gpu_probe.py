"""Asks the GPU's driver how it is: a program of its own, for a driver that hangs or crashes.

It writes facts as lines of JSON, each as soon as it is known.
"""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

LIBRARY = "libcuda.so.1"
_MAJOR, _MINOR, _COMPUTE_MODE = 75, 76, 20


def _tell(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def _loaded_file() -> str:
    """Return the file that the library was loaded from."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.split(maxsplit=5)[-1]
        if "/libcuda.so" in path:
            return path
    return ""


def _attribute(library: ctypes.CDLL, attribute: int, device: int) -> int:
    value = ctypes.c_int(-1)
    library.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
    return value.value


def _tell_device(library: ctypes.CDLL, device: int) -> None:
    name = ctypes.create_string_buffer(256)
    library.cuDeviceGetName(name, len(name), device)
    _tell(
        device=device,
        name=name.value.decode("utf-8", "replace"),
        major=_attribute(library, _MAJOR, device),
        minor=_attribute(library, _MINOR, device),
        mode=_attribute(library, _COMPUTE_MODE, device),
    )


def main() -> None:
    """Tell what loading the library, ``cuInit`` and each GPU say."""
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        _tell(missing=str(error))
        return
    _tell(file=_loaded_file())
    version = ctypes.c_int()
    library.cuDriverGetVersion(ctypes.byref(version))
    _tell(version=version.value)
    _tell(init=(code := library.cuInit(0)))
    if code:
        return
    count = ctypes.c_int()
    library.cuDeviceGetCount(ctypes.byref(count))
    for device in range(count.value):
        _tell_device(library, device)
    _tell(devices=count.value)


if __name__ == "__main__":
    main()
