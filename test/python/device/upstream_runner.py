"""Programs in upstream's mlir-runner, with a stand-in for its GPU runtime that emulates launches.

The stand-in is a library of the tests (`runner/runtime.cpp`). Memory of the device is a file that
this process and the runner have at the same addresses, so that kernels are emulated here where
they lie there.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import mmap
import os
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

import pipeline
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import Launch, Memory, compiler
from pipeline.system.toolchain import find_mlir_opt

SOURCE = Path(__file__).with_name("runner") / "runtime.cpp"
ADDRESS, BYTES = 0x2000_0000_0000, 64 << 20
_FIXED = 0x100000
"""``MAP_FIXED_NOREPLACE``."""
_TIMEOUT = 120.0
_ENTRY = re.compile(r"\.entry\s+(\w+)\s*\((.*?)\)", re.S)
_PARAMETER = re.compile(r"\.param\b[^,]*?\.[busf](\d+)\b[^,\[]*(?:\[(\d+)\])?")

Array = npt.NDArray[Any]


def find_runner() -> tuple[Path, list[Path]] | str:
    """Return mlir-runner with the libraries that print for it, or why it cannot be used."""
    opt = find_mlir_opt()
    runner = opt.with_name(opt.name.replace("mlir-opt", "mlir-runner"))
    if not runner.exists():
        return f"{runner.name} is not beside {opt}: it is in Debian's mlir-22-tools"
    folder = opt.resolve().parents[1] / "lib"
    libraries = [folder / f"libmlir_{name}.so" for name in ("runner_utils", "c_runner_utils")]
    for library in libraries:
        if not library.exists():
            return f"{library} is missing: it is in Debian's libmlir-22-dev"
    return runner, libraries


@functools.cache
def build_runtime() -> Path:
    """Return the stand-in, which is compiled if there is none of this source."""
    digest = hashlib.sha256(SOURCE.read_bytes() + compiler().encode()).hexdigest()[:16]
    library = SOURCE.parents[4] / "build" / "stand-in-runtime" / digest / "libruntime.so"
    if not library.is_file():
        library.parent.mkdir(parents=True, exist_ok=True)
        made = library.with_suffix(f".{os.getpid()}")
        flags = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-shared", "-fPIC")
        command = [compiler(), *flags, "-fvisibility=hidden", "-o", str(made), str(SOURCE)]
        subprocess.run(command, check=True)
        made.replace(library)
    return library


@contextmanager
def device_memory() -> Iterator[int]:
    """Have a file as memory of the device at its address; give its descriptor."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (
        *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int),
        *(ctypes.c_int, ctypes.c_long),
    )
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    file = os.memfd_create("device")
    try:
        os.ftruncate(file, BYTES)
        access, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED | _FIXED
        found = libc.mmap(ADDRESS, BYTES, access, flags, file, 0)
        assert found == ADDRESS, "the memory of the device cannot be at its address"
        try:
            yield file
        finally:
            libc.munmap(ADDRESS, BYTES)
    finally:
        os.close(file)


# --- what the stand-in asks -----------------------------------------------------------------------


@dataclass
class Server:
    """What answers the stand-in: it loads PTX, and emulates launches of kernels of modules."""

    memories: dict[int, int] = field(default_factory=dict)
    """Bytes that are allocated, by address, during a launch."""
    images: list[dict[str, tuple[int, ...]]] = field(default_factory=list)
    """The sizes of the parameters of each kernel of each PTX that was loaded."""
    copies: list[str] = field(default_factory=list)
    """Each copy, as "host device"."""
    end: tuple[int, ...] = ()
    """How many allocations, streams and events there were when the program ended."""
    launched: Callable[[Launch], None] = lambda launch: None

    def on_launch(self, run: Callable[[Launch], None]) -> None:
        """Have launches run by a function."""
        self.launched = run

    def find_memory(self, address: int) -> Memory | None:
        """Return the allocation that an address is in."""
        for start, size in self.memories.items():
            if start <= address < start + size:
                return Memory(start, size, 0)
        return None

    def answer(self, line: str) -> str:
        """Do what a request asks for; return the reply."""
        word, *words = line.split()
        if word == "load":
            self.images.append(read_parameters(bytes.fromhex(words[0]).decode()))
            return f" {len(self.images) - 1}"
        if word == "function":
            sizes = self.images[int(words[0])].get(words[1])
            assert sizes is not None, f"there is no kernel {words[1]}"
            return " ".join(map(str, sizes))
        if word == "launch":
            self._launch(words)
        elif word == "copy":
            self.copies.append(" ".join(words))
        elif word == "end":
            self.end = tuple(map(int, words))
        else:
            raise AssertionError(f"a request '{word}'")
        return ""

    def _launch(self, words: list[str]) -> None:
        _, name, *rest = words
        gx, gy, gz, bx, by, bz, shared, count = map(int, rest[:8])
        parameters = tuple(bytes.fromhex(text) for text in rest[8 : 8 + count])
        places = (text.split(":") for text in rest[8 + count :])
        self.memories = {int(start): int(size) for start, size in places}
        sizes = ((gx, gy, gz), (bx, by, bz))
        self.launched(Launch(name, "", *sizes, None, shared, 0, 0, parameters))


def read_parameters(ptx: str) -> dict[str, tuple[int, ...]]:
    """Return the bytes of each parameter of each kernel of a PTX."""
    return {
        entry[1]: tuple(
            int(bits) // 8 * int(count or 1) for bits, count in _PARAMETER.findall(entry[2])
        )
        for entry in _ENTRY.finditer(ptx)
    }


# --- a program ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ran:
    """What became of a program: what it printed, its exit code, and what it asked the runtime."""

    code: int
    output: str
    errors: str
    server: Server
    launches: list[Launch]

    def numbers(self) -> list[Array]:
        """Return the memrefs that it printed, in order."""
        found = []
        for part in self.output.split("Unranked Memref ")[1:]:
            head, _, data = part.partition("data =")
            sizes = re.search(r"sizes = \[(.*?)\]", head)
            assert sizes is not None
            shape = tuple(int(text) for text in sizes[1].split(",") if text.strip())
            numbers = [float(text) for text in re.findall(r"-?(?:nan|inf|\d[\d.e+-]*)", data)]
            found.append(np.array(numbers).reshape(shape))
        return found


def run_program(text: str, *modules: pipeline.Module, entry: str = "test") -> Ran:
    """Run a program of the LLVM dialect; kernels are those of modules, checked for races."""
    found = find_runner()
    assert not isinstance(found, str)
    runner, libraries = found
    server = Server()
    emulated = EmulatedLaunches(server, *modules, check="races")
    ours, theirs = socket.socketpair()
    options = [f"--shared-libs={library}" for library in (build_runtime(), *libraries)]
    with ExitStack() as stack:
        program, output, errors = (stack.enter_context(TemporaryFile()) for _ in range(3))
        with device_memory() as memory, ours, theirs:
            program.write(text.encode())
            program.seek(0)
            process = subprocess.Popen(
                [str(runner), "--entry-point-result=void", f"-e={entry}", *options],
                stdin=program,
                stdout=output,
                stderr=errors,
                env=os.environ
                | {
                    "WORKGROUP_DEVICE": f"{memory} {ADDRESS} {BYTES}",
                    "WORKGROUP_LAUNCHES": str(theirs.fileno()),
                },
                pass_fds=(memory, theirs.fileno()),
            )
            theirs.close()
            _serve(process, ours, server)
            output.seek(0)
            errors.seek(0)
            told = output.read().decode(), errors.read().decode()
    return Ran(process.returncode, *told, server, emulated.launches)


def _serve(process: subprocess.Popen[bytes], ours: socket.socket, server: Server) -> None:
    """Answer requests until a process ends."""
    ours.settimeout(_TIMEOUT)
    try:
        with ours.makefile("r") as requests:
            for line in requests:
                ours.sendall(f"{_reply(server, line)}\n".encode())
        process.wait(_TIMEOUT)
    finally:
        process.kill()
        process.wait()


def _reply(server: Server, line: str) -> str:
    try:
        return f"ok{server.answer(line)}"
    except AssertionError as error:
        return f"error: {' '.join(str(error).split())}"
