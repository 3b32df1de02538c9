"""``compile --emit bundle``, ``run`` of a bundle, and ``inspect``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    import argparse

    from ..program.module import Module


def read_chips(options: argparse.Namespace) -> Sequence[str | None]:
    """Return the chips to compile for: None is that of the program.

    Raises UsageError for several if no bundle is asked for, which alone holds several.
    """
    if options.chip is None:
        return [None]
    chips: list[str] = options.chip.split(",")
    if len(chips) > 1 and options.emit != "bundle":
        raise UsageError(
            f"error: --chip {options.chip}: several chips make a bundle: add --emit bundle"
        )
    named = [chip for chip in chips if chip]  # the compiler says that others are unknown
    if len({*named}) != len(named):
        raise UsageError(f"error: --chip {options.chip}: a chip is there twice")
    return chips


def emit(
    options: argparse.Namespace,
    chips: Sequence[str | None],
    compile_for: Callable[[str | None], Module],
) -> int:
    """Compile for all chips, and write the bundle."""
    if options.output == "-":
        raise UsageError("error: --emit bundle writes a file: name it by -o")
    module, *variants = [compile_for(chip) for chip in chips]
    module.save(
        options.output,
        variants=variants,
        cubin=chips != [None] and not options.no_cubin,
        emulator=not options.no_emulator,
        certificate=options.certificate,
        license=options.license,
    )
    return 0


def refuse_options_of_programs(options: argparse.Namespace) -> None:
    """Raise UsageError for what says how to compile, where nothing is compiled."""
    given = {
        "--schedule": options.schedule is not None,
        "--sync": options.sync != "auto",
        "--no-verify": options.no_verify,
        "--assert-bounds": options.assert_bounds,
        "--numerics": options.numerics != "exact",
        "--tuned": options.tuned is not None,
    }
    for name, is_given in given.items():
        if is_given:
            raise UsageError(f"error: {name} is for programs, and {options.input} is a bundle")


def inspect(options: argparse.Namespace) -> int:
    """Print what a bundle holds."""
    from ..program.loading import describe

    description = describe(options.input)
    if options.format == "json":
        print(json.dumps(description))
        return 0
    for line in _write(description):
        print(line)
    return 0


def _write(description: dict[str, Any]) -> Sequence[str]:
    made_by = ", ".join(f"{name} {version}" for name, version in description["producer"].items())
    lines = [
        f"digest    {description['digest']}",
        f"made by   {made_by}",
        f"license   {description['license'] or 'not told'}",
        *(f"contains  {name}" for name in description["third_party"]),
    ]
    for variant in description["variants"]:
        parts = ["PTX", *(["machine code"] if variant["cubin"] else [])]
        parts += ["what the emulator runs"] if variant["emulator"] else []
        parts += ["a certificate"] if variant["certificate"] else []
        lines.append(f"{variant['chip']}: {', '.join(parts)}")
        for what, kind in (("functions", "function"), ("kernels", "kernel")):
            for each in variant[what]:
                lines.append(f"  {kind} {each['name']}({', '.join(each['arguments'])})")
    for name, size in description["files"].items():
        lines.append(f"{size:>10}  {name}")
    return lines
