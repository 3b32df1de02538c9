"""Modules to bundles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import conversion
from ..bundles.bundle import Bundle, Variant, sort_variants, write_bundle
from ..bundles.kernels import Kernels, SharedBuffer
from ..errors import UsageError
from ..records.kernel import KernelRecord
from ..records.origin import Origin
from ..system.assembler import find_version
from ..system.files import read_file

if TYPE_CHECKING:
    from typing import Protocol

    from ..records.memory import WorkgroupMemory
    from ..records.signature import Entry
    from ..runtime.emulation import Emulation, Launchable
    from ..runtime.host.plan import Plan

    class _Assembly(Protocol):
        ptxas: str

    class _Kernel(Launchable, Protocol):
        @property
        def known(self) -> dict[str, Any]: ...

    class Savable(Protocol):
        """A module."""

        @property
        def chip(self) -> str: ...
        @property
        def kernels(self) -> Mapping[str, _Kernel]: ...
        @property
        def entries(self) -> Mapping[str, Entry]: ...
        @property
        def plan(self) -> Plan: ...
        @property
        def texts(self) -> Mapping[str, str]: ...
        @property
        def ptx(self) -> str: ...
        @property
        def cubin(self) -> bytes: ...
        @property
        def workgroup_memory(self) -> tuple[WorkgroupMemory, ...]: ...
        @property
        def _assembly(self) -> _Assembly: ...
        @property
        def _origin(self) -> Origin | None: ...


_LIBDEVICE = "NVIDIA libdevice, linked into the kernels"
_CALL_OF_LIBDEVICE = b"__nv_"


def save_module(
    module: Savable,
    path: str | Path,
    *,
    variants: Sequence[Savable],
    cubin: bool,
    emulator: bool,
    certificate: bool,
    sources: bool,
    license: str | None,
    license_file: str | Path | None,
) -> str:
    """Write a bundle of a module and its variants, and return its digest; see ``Module.save``."""
    modules = (module, *variants)
    origins = [_find_origin(each) for each in modules]
    emulation = _find_emulation(module)
    text = read_file(license_file) if license_file is not None else None
    bundle = Bundle(
        sort_variants(
            [
                _make_variant(each, cubin=cubin, emulator=emulator, certificate=certificate)
                for each in modules
            ]
        ),
        producer=origins[0].producer,
        license=license if license is not None else origins[0].license,
        third_party=tuple(sorted({name for origin in origins for name in origin.third_party})),
        sources=emulation.sources if sources and emulation else (),
    )
    return write_bundle(path, bundle, text)


def _find_emulation(module: Savable) -> Emulation | None:
    return next((kernel._emulation for kernel in module.kernels.values()), None)


def _find_origin(module: Savable) -> Origin:
    """Return what made a module: what its bundle says, or this package and its extension."""
    if module._origin is not None:
        return module._origin
    from .. import __version__, _native

    emulation = _find_emulation(module)
    is_linked = emulation is not None and _CALL_OF_LIBDEVICE in emulation.bitcode
    versions = {"mlir-workgroup": __version__, "llvm": _native.llvm_version()}
    return Origin(versions, None, (_LIBDEVICE,) if is_linked else ())


def _make_variant(module: Savable, *, cubin: bool, emulator: bool, certificate: bool) -> Variant:
    emulation = _find_emulation(module)
    is_emulated = emulator and emulation is not None and bool(emulation.bitcode)
    code = module.cubin if cubin else None  # which has ptxas make it
    return Variant(
        module.chip,
        module.plan,
        Kernels(
            tuple(KernelRecord(**kernel.known) for kernel in module.kernels.values()),
            tuple(module.entries.values()),
            emulation is not None and emulation.needs_distinct_arguments,
            module.workgroup_memory,
            _describe_buffers(emulation) if emulation and is_emulated else (),
        ),
        module.ptx,
        code,
        (module._assembly.ptxas or find_version()) if cubin else "",
        emulation.bitcode if emulation and is_emulated else None,
        *(_find_certificate(module) if certificate else (None, None)),
    )


def _find_certificate(module: Savable) -> tuple[str, str]:
    """Return the certificate of a module, and the LLVM IR that it is about."""
    texts = module.texts
    if "certificate" not in texts or "llvm" not in texts:
        raise UsageError("error: the module has no certificate: compile it with certify=True")
    return texts["certificate"], texts["llvm"]


def _describe_buffers(emulation: Emulation) -> tuple[SharedBuffer, ...]:
    """Return what the emulator knows of workgroup buffers, as records of this package."""
    return tuple(map(_describe_buffer, emulation.shared_buffers))


def _describe_buffer(buffer: Any) -> SharedBuffer:
    if isinstance(buffer, SharedBuffer):
        return buffer
    *fields, location = buffer.__getstate__()
    values = [tuple(value) if isinstance(value, list) else value for value in fields]
    return SharedBuffer._make([*values, conversion.convert(location)])
