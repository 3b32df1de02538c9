"""Bundles to modules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ..bundles.bundle import Bundle, Variant, read_bundle
from ..errors import UsageError
from ..records.origin import Origin
from ..runtime.emulation import Emulation
from .assembly import Assembly
from .calling import GpuCalls
from .module import Kernel, Module, PlanText, index_by_name


def load(path: str | Path, *, chip: str | None = None, sha256: str | None = None) -> Module:
    """Read a bundle, the file or folder that ``Module.save`` wrote, and return its module.

    path: the bundle.
    chip: the only variant to use, as ``sm_90a``. Default: all ``variants``, of which the one for
        the oldest chip is returned; on a GPU, calls go to that which suits it best.
    sha256: the digest that the bundle must have, as ``Module.save`` returned it.

    It takes neither compiler nor GPU. Nothing that the bundle holds is executed by reading it, and
    all of it is checked before anything is returned. The checksums in it find damage, not malice:
    whoever can change the bundle can change them as well. Its kernels can read and write all memory
    that this process has on a GPU, and what the emulator makes of them runs in this process: run
    what you trust, or name the digest that you know.

    Raises BundleError or PlanError, both of them UsageError, for what is damaged, of a version that
    this does not read, or no bundle.
    """
    bundle = read_bundle(path, sha256)
    modules: dict[str, Module] = {}
    for variant in bundle.variants:
        modules[variant.chip] = _make_module(bundle, variant, modules)
    if chip is None:
        return modules[bundle.variants[0].chip]
    if chip not in modules:
        known = ", ".join(modules)
        raise UsageError.of_option("chip", f"is '{chip}', but the bundle is for {known}")
    only: dict[str, Module] = {}
    only[chip] = replace(modules[chip], variants=only)
    return only[chip]


def _make_module(bundle: Bundle, variant: Variant, modules: dict[str, Module]) -> Module:
    kernels = variant.kernels
    assembly = Assembly(variant.ptx, variant.chip, variant.cubin, variant.ptxas)
    emulation = Emulation(
        variant.bitcode or b"",
        variant.chip,
        bundle.sources,
        kernels.shared_buffers,
        kernels.needs_distinct_arguments,
        made_by_llvm=bundle.producer.get("llvm", "unknown"),
    )
    plan, gpu = PlanText.of(variant.plan), GpuCalls(variant.ptx, assembly.images)
    made = index_by_name(
        [
            Kernel(
                **record.known,
                _assembly=assembly,
                _emulation=emulation,
                _plan=plan,
                _gpu=gpu,
            )
            for record in kernels.kernels
        ]
    )
    gpu.attach(made, plan)
    return Module(
        chip=variant.chip,
        kernels=made,
        texts={**_certificate_of(variant), "ptx": variant.ptx},
        diagnostics=(),
        remarks=(),
        snapshots=(),
        seconds={},
        rendered="",
        entries={entry.name: entry for entry in kernels.entries},
        _plan=plan,
        workgroup_memory=kernels.workgroup_memory,
        _barriers=(),
        schedule=None,
        _assembly=assembly,
        _gpu=gpu,
        _origin=Origin(bundle.producer, bundle.license, bundle.third_party, bundle.digest),
        variants=modules,
    )


def _certificate_of(variant: Variant) -> dict[str, str]:
    """Return the certificate of a variant, and the LLVM IR that it is about, as texts."""
    if variant.certificate is None or variant.llvm is None:
        return {}
    return {"llvm": variant.llvm, "certificate": variant.certificate}


def describe(path: str | Path) -> dict[str, Any]:
    """Return what ``python -m pipeline inspect --format json`` prints of a bundle."""
    bundle = read_bundle(path)
    return {
        "version": 1,
        "digest": bundle.digest,
        "producer": dict(bundle.producer),
        "license": bundle.license,
        "third_party": list(bundle.third_party),
        "files": dict(bundle.sizes),
        "variants": [_describe_variant(variant) for variant in bundle.variants],
    }


def _describe_variant(variant: Variant) -> dict[str, Any]:
    kernels = variant.kernels
    return {
        "chip": variant.chip,
        "cubin": variant.cubin is not None,
        "emulator": variant.bitcode is not None,
        "certificate": variant.certificate is not None,
        "functions": [
            {"name": entry.name, "arguments": [argument.type for argument in entry.arguments]}
            for entry in kernels.entries
        ],
        "kernels": [
            {"name": kernel.name, "arguments": [argument.type for argument in kernel.arguments]}
            for kernel in kernels.kernels
        ],
    }
