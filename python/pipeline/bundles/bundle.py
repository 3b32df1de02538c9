"""A bundle: variants of a program, one for each chip, and what they were made by."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ..documents.reading import Offence, show
from ..errors import BundleError, PlanError
from ..runtime.host.plan import Plan
from ..system.files import write_file
from .archive import pack, unpack
from .constants import split
from .kernels import Kernels, arguments_of, read_kernels
from .manifest import MANIFEST, File, Manifest, hash_bytes, read_manifest

_T = TypeVar("_T")

_TARGET = re.compile(r"^\.target\s+(\w+)", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\(([^)]*)\)")
_PARAMETER = re.compile(r"\.param\b")


@dataclass(frozen=True, slots=True)
class Variant:
    """A program as it was compiled for a chip.

    ``cubin`` is machine code, ``bitcode`` what the emulator translates; either may not be there.
    ``ptxas`` is the version of the assembler; ``certificate`` says why threads do not race in
    ``llvm``, the LLVM IR of the kernels.
    """

    chip: str
    plan: Plan
    kernels: Kernels
    ptx: str
    cubin: bytes | None = field(default=None, repr=False)
    ptxas: str = ""
    bitcode: bytes | None = field(default=None, repr=False)
    certificate: str | None = field(default=None, repr=False)
    llvm: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Bundle:
    """The variants of a program, that of the oldest chip first.

    ``producer`` has the versions of what made it, ``license`` the SPDX expression of the program if
    its author gave one, ``third_party`` what else is in the code. ``sources`` are texts and their
    names, for messages. ``digest`` is the checksum of the manifest, which names the contents; it is
    empty before they are written. ``sizes`` has the bytes of each file.
    """

    variants: tuple[Variant, ...]
    producer: Mapping[str, str]
    license: str | None = None
    third_party: tuple[str, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    digest: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)


# --- writing --------------------------------------------------------------------------------------


def write_bundle(path: str | Path, bundle: Bundle, licence: bytes | None = None) -> str:
    """Write a bundle, which appears whole or not at all; return its digest.

    licence: the text of the program's licence.

    Raises UsageError if the file cannot be written.
    """
    contents: dict[str, bytes] = {}
    files: dict[str, File] = {}

    def add(path: str, content: bytes, role: str, **more: str) -> None:
        contents[path] = content
        files[path] = File(role, len(content), hash_bytes(content), **more)

    for variant in bundle.variants:
        _add_variant(variant, add)
    for number, (text, name) in enumerate(bundle.sources):
        add(f"source/{number}.mlir", text.encode(), "source", name=name)
    if licence is not None:
        add("LICENSE", licence, "licence")
    manifest = Manifest(
        bundle.producer,
        bundle.license,
        bundle.third_party,
        tuple(variant.chip for variant in bundle.variants),
        files,
    ).write()
    write_file(path, pack({MANIFEST: manifest, **contents}))
    return hash_bytes(manifest)


def _add_variant(variant: Variant, add: Callable[..., None]) -> None:
    chip = variant.chip
    plan, constants = split(variant.plan)
    add(f"{chip}/plan.json", plan, "plan", chip=chip)
    for name, elements in constants.items():
        add(name, elements, "data")
    add(f"{chip}/kernels.json", variant.kernels.write(), "kernels", chip=chip)
    add(f"{chip}/kernels.ptx", variant.ptx.encode(), "ptx", chip=chip)
    if variant.cubin is not None:
        name = f"{chip}/kernels.cubin"
        add(name, variant.cubin, "cubin", chip=chip, ptxas=variant.ptxas)
    if variant.bitcode is not None:
        add(f"{chip}/kernels.bc", variant.bitcode, "llvm", chip=chip)
    if variant.certificate is not None and variant.llvm is not None:
        certificate = variant.certificate.encode()
        add(f"{chip}/certificate.json", certificate, "certificate", chip=chip)
        add(f"{chip}/kernels.ll", variant.llvm.encode(), "ir", chip=chip)


# --- reading --------------------------------------------------------------------------------------


def read_bundle(path: str | Path, sha256: str | None = None) -> Bundle:
    """Read a bundle, and check all of it.

    sha256: the digest that it has to have.

    Raises BundleError, or PlanError if a launch plan is at fault.
    """
    contents = unpack(path)
    try:
        return _read(contents, sha256)
    except Offence as offence:
        raise BundleError(f"{path}: error: {offence}") from None
    except PlanError as error:
        words = str(error).removeprefix("error: ")
        raise PlanError(f"{path}: error: {words}") from error


def _read(contents: dict[str, bytes], sha256: str | None) -> Bundle:
    if MANIFEST not in contents:
        raise Offence(f"it is no bundle: it has no {MANIFEST}")
    text = contents.pop(MANIFEST)
    digest = hash_bytes(text)
    if sha256 is not None and sha256.lower() != digest:
        raise Offence(f"its digest is {digest}, but {sha256:.80} was asked for")
    manifest = _read_part(MANIFEST, read_manifest, text)
    for name in sorted(manifest.files.keys() ^ contents.keys()):
        missing = "is missing" if name in manifest.files else f"is not in {MANIFEST}"
        raise Offence(f"{show(name)} {missing}")
    for name, file in manifest.files.items():
        if len(contents[name]) != file.bytes or hash_bytes(contents[name]) != file.sha256:
            raise Offence(
                f"{show(name)} does not match its checksum: the bundle is damaged, or was edited"
            )
    return Bundle(
        tuple(_read_variant(manifest, contents, chip) for chip in manifest.chips),
        manifest.producer,
        manifest.license,
        manifest.third_party,
        tuple(
            (_read_part(name, _decode, contents[name]), manifest.files[name].name or name)
            for name in manifest.find("source")
        ),
        digest,
        {name: len(content) for name, content in sorted(contents.items())},
    )


def _read_part(name: str, read: Callable[[bytes], _T], content: bytes) -> _T:
    try:
        return read(content)
    except Offence as offence:
        raise Offence(f"{name}: {offence}") from None


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Offence(f"byte {error.start} is not valid UTF-8") from None


def _read_variant(manifest: Manifest, contents: Mapping[str, bytes], chip: str) -> Variant:
    def find(role: str) -> str | None:
        return next(iter(manifest.find(role, chip)), None)

    names = {role: find(role) for role in ("plan", "kernels", "ptx", "cubin", "llvm")}
    plan_name, kernels_name, ptx_name = (str(names[role]) for role in ("plan", "kernels", "ptx"))
    kernels = _read_part(kernels_name, read_kernels, contents[kernels_name])
    try:
        plan = Plan.parse(
            _read_part(plan_name, _decode, contents[plan_name]),
            arguments_of(kernels),
            {name: contents[name] for name in manifest.find("data")},
        )
    except PlanError as error:
        raise PlanError(f"{plan_name}: {str(error).removeprefix('error: ')}") from error
    ptx = _read_part(ptx_name, _decode, contents[ptx_name])
    _check_together(chip, plan, kernels, ptx)
    cubin = names["cubin"]
    certificate, ir = (
        _read_part(name, _decode, contents[name]) if (name := find(role)) else None
        for role in ("certificate", "ir")
    )
    return Variant(
        chip,
        plan,
        kernels,
        ptx,
        contents[cubin] if cubin else None,
        manifest.files[cubin].ptxas if cubin else "",
        contents[names["llvm"]] if names["llvm"] else None,
        certificate,
        ir,
    )


def _check_together(chip: str, plan: Plan, kernels: Kernels, ptx: str) -> None:
    """Raise Offence for parts that are not of one program."""
    if plan.chip != chip:
        raise Offence(f"the launch plan for {chip} is for {show(plan.chip)}")
    target = _TARGET.search(ptx)
    if target is None or target[1] != chip:
        raise Offence(f"the PTX for {chip} is for {show(target[1] if target else '')}")
    if "\0" in ptx:
        raise Offence(f"the PTX for {chip} holds a NUL, which ends it")
    code = {name: len(_PARAMETER.findall(text)) for name, text in _ENTRY.findall(ptx)}
    for kernel in kernels.kernels:
        count = code.get(kernel.name)
        if count is None:
            raise Offence(f"the PTX for {chip} has no kernel {show(kernel.name)}")
        if count != len(kernel.parameters):
            raise Offence(
                f"kernel {show(kernel.name)} for {chip} has {count} parameters in the PTX, but "
                f"{len(kernel.parameters)} beside it: they do not belong together"
            )
    for entry in kernels.entries:
        function = plan.functions.get(entry.name)
        types = tuple(argument.type for argument in entry.arguments)
        if function is None or function.arguments != types:
            raise Offence(f"the launch plan for {chip} has another function {show(entry.name)}")


def sort_variants(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """Return variants by the age of their chips. Raises BundleError if two are for one chip."""
    chips = [variant.chip for variant in variants]
    if len({*chips}) != len(chips):
        raise BundleError(f"error: a bundle has one variant for each chip, not {', '.join(chips)}")
    return tuple(sorted(variants, key=lambda variant: _age(variant.chip)))


def _age(chip: str) -> tuple[Any, ...]:
    match = re.fullmatch(r"sm_(\d+)(\w*)", chip)
    return (int(match[1]), match[2]) if match else (0, chip)
