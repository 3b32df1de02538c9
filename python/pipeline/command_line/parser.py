"""What the command line takes: commands, their options, and what ``--help`` says of them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from .. import __version__
from ..records.limits import STEP_LIMIT

_PROGRAM = "python -m pipeline"
_EMITS = ("ptx", "cubin", "bundle", "certificate", "schedule", "gpu", "nvvm", "llvm")


class _Formatter(argparse.HelpFormatter):
    """Writes lines of 100 columns, whatever the terminal has.

    Each option that is added makes a formatter, and asking for a terminal's width loads modules
    that take milliseconds.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=100)


class _Parser(argparse.ArgumentParser):
    """Gets its options, by `add_options`, when it is first asked to read some."""

    def __init__(
        self, add_options: Callable[[argparse.ArgumentParser], None] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Formatter, **kwargs)
        self._add_options = add_options

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._add_options:
            self._add_options(self)
            self._add_options = None
        return super().parse_known_args(args, namespace)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser, which tells the ``command`` beside its options."""
    parser = _Parser(
        prog=_PROGRAM,
        description="From linalg to PTX with plain upstream MLIR.",
        epilog="Exit codes: 0 done, 1 program refused, 2 wrong usage, 69 tool missing, "
        "70 internal error, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"mlir-workgroup {__version__}")
    commands = parser.add_subparsers(
        title="commands",
        dest="command",
        required=True,
        metavar="COMMAND",
        prog=_PROGRAM,  # else the usage of all is formatted, for this
    )
    for name, words, add_options in (
        ("compile", "compile a program to PTX or machine code", _add_compile),
        ("run", "run a program, or one kernel, on the CPU emulator or a GPU", _add_run),
        ("check", "prove that kernels do not race, or tell which accesses do", _add_check),
        ("explain", "write a report on a program, or on what differs between two", _add_explain),
        ("tune", "search for the tiles with which a program's kernels are fastest", _add_tune),
        ("inspect", "tell what a bundle holds", _add_inspect),
    ):
        commands.add_parser(name, help=words, add_options=add_options)
    commands.add_parser("opt", help="run mlir-opt with the plugin loaded", add_help=False)
    commands.add_parser("plugin-path", help="print the path of the pass plugin")
    commands.add_parser("doctor", help="tell what is installed and what is missing")
    return parser


def _add_input(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "input", metavar="IN.mlir|IN.ll|IN.cu", help="the program; - is the standard input"
    )


def _add_compile(parser: argparse.ArgumentParser) -> None:
    _add_input(parser)
    parser.add_argument(
        "-o", "--output", metavar="OUT", default="-", help="the result; - is the standard output"
    )
    parser.add_argument(
        "--emit", choices=_EMITS, default="ptx", help="what to write (default: %(default)s)"
    )
    parser.add_argument(
        "--chip",
        metavar="CHIP",
        help="as sm_90a (default: the program's target, else sm_80); of a bundle, several: "
        "sm_80,sm_90a, for each of which it then has machine code",
    )
    parser.add_argument(
        "--schedule",
        metavar="auto|none|FILE",
        help="transform dialect schedule to apply (default: auto, the program's own or, if it has "
        "neither one nor kernels, one that is chosen, which --emit schedule prints)",
    )
    parser.add_argument(
        "--sync",
        metavar="auto|insert|keep|minimize",
        default="auto",
        help="barriers: add the fewest that are missing, leave them as they are, or also remove "
        "those that order nothing (default: insert, but keep in kernels that are LLVM's)",
    )
    parser.add_argument(
        "--no-verify",
        action="store_true",
        help="accept data races, and barriers in divergent control flow",
    )
    _add_code_options(parser)
    parser.add_argument(
        "--memory-options",
        metavar="OPTIONS",
        default="",
        help="further options of the pipeline workgroup-memory, as mlir-opt takes them: "
        "'reuse=never resolve-bank-conflicts=false'",
    )
    _add_clang_options(parser)
    _add_tuned(parser)
    _add_bundle_options(parser)
    parser.add_argument("--save-temps", metavar="DIR", help="write the text of every stage there")
    parser.add_argument("--timing", action="store_true", help="print the time of each stage")
    parser.add_argument(
        "--remarks",
        metavar="REGEX",
        help="print the remarks of the passes that match, or of all: .; if workgroup-pack-memory "
        "does, also where each kernel's workgroup buffers are",
    )
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colour of errors"
    )


def _add_bundle_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-cubin", action="store_true", help="bundles: leave out machine code, which takes ptxas"
    )
    parser.add_argument(
        "--no-emulator", action="store_true", help="bundles: leave out what the emulator runs"
    )
    parser.add_argument(
        "--certificate",
        action="store_true",
        help="bundles: add why threads do not race, with the LLVM IR that it is about",
    )
    parser.add_argument(
        "--license", metavar="SPDX", help="bundles: the licence of the program, as Apache-2.0"
    )


def _add_clang_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--clang-options",
        metavar="OPTIONS",
        help="further options of clang, which reads CUDA C++: --clang-options='-Iinclude -DN=16'",
    )


def _add_code_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--assert-bounds",
        action="store_true",
        help="have kernels assert that indices lie in their dimensions, and slices in what they "
        "are slices of",
    )
    parser.add_argument(
        "--numerics",
        metavar="exact|[tf32][,narrow][,finite]",
        default="exact",
        help="how sums of products are computed: as they are written; with factors of f32 rounded "
        "to tf32, for tensor cores; with weights of attention rounded to the 16 bits of values "
        "(narrow); of factors that are finite, so that attention leaves out what a causal mask "
        "hides (default: %(default)s)",
    )


def _add_tune(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "input", metavar="IN.mlir", help="the program; - is the standard input, with -o"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the tiles, for --tuned; those that it has for other kernels stay "
        "(default: the name of the program, with .tuned.json)",
    )
    parser.add_argument("--chip", metavar="CHIP", help="as for compile")
    parser.add_argument("--numerics", metavar="WORDS", default="exact", help="as for compile")
    parser.add_argument("--memory-options", default="", metavar="OPTIONS", help="as for compile")
    _add_values(parser)
    parser.add_argument(
        "--candidates",
        type=int,
        default=24,
        metavar="N",
        help="tiles of each kernel that are tried (default: %(default)s)",
    )
    parser.add_argument(
        "--budget", type=float, metavar="SECONDS", help="begin nothing more after them"
    )
    parser.add_argument(
        "--backend",
        metavar="auto|static|cuda",
        default="auto",
        help="what costs are: times on a GPU (cuda), or estimates (static) (default: a GPU if "
        "there is one that PyTorch sees)",
    )
    parser.add_argument(
        "--executor",
        metavar="local|dask://HOST:PORT|ray://HOST:PORT",
        default="local",
        help="who does the work (default: processes of this machine)",
    )
    parser.add_argument(
        "--workers", type=int, default=0, metavar="N", help="of local (default: one per core)"
    )
    parser.add_argument("--all", action="store_true", help="tell of each candidate")


def _add_tuned(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tuned",
        metavar="FILE",
        help="take the tiles that tune has found for kernels of the same shapes, types and chip",
    )


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="BUNDLE", help="the file, or the folder")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of the answer")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "input", metavar="IN.mlir|IN.ll|IN.cu|BUNDLE", help="the program; - is the standard input"
    )
    parser.add_argument("--entry", metavar="F", help="the host function, if several launch kernels")
    parser.add_argument("--kernel", metavar="K", help="run this kernel instead of a host function")
    _add_values(parser)
    parser.add_argument(
        "--out", metavar="DIR", help="write argN.npy of what changed, and resultN.npy"
    )
    parser.add_argument(
        "--backend",
        choices=("auto", "cuda", "emulator"),
        default="auto",
        help="where to run: auto is a GPU (cuda) if there is one, else the emulator, but not for a "
        "bundle, of which it makes code of this process",
    )
    parser.add_argument("--device", type=int, metavar="N", help="the GPU to run on; default: 0")
    _add_sizes(parser, ", with --kernel")
    _add_check_options(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of the report")
    parser.add_argument("--chip", metavar="CHIP", help="as for compile")
    parser.add_argument("--schedule", metavar="auto|none|FILE", help="as for compile")
    parser.add_argument(
        "--sync", metavar="auto|insert|keep|minimize", default="auto", help="as for compile"
    )
    parser.add_argument("--no-verify", action="store_true", help="as for compile")
    _add_clang_options(parser)
    _add_tuned(parser)
    _add_code_options(parser)


def _add_values(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="A.npy|N|2x3xf32[=N]",
        help="the next argument: an array's file, a number, or the shape and type of an array, of "
        "random values or of a number",
    )
    parser.add_argument(
        "--random", type=int, metavar="SEED", help="random values for arguments that are not given"
    )


def _add_sizes(parser: argparse.ArgumentParser, when: str) -> None:
    sizes = {"grid": "blocks", "block": "threads per block", "cluster": "blocks per cluster"}
    for name, words in sizes.items():
        parser.add_argument(f"--{name}", metavar="X,Y,Z", help=f"{words}{when}")
    parser.add_argument(
        "--dynamic-shared-bytes", type=int, metavar="N", help=f"dynamic memory{when}"
    )


def _add_check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--check", choices=("none", "races", "all"), default=None, help="default: none"
    )
    parser.add_argument("--check-races", action="store_true", help="the same as --check races")
    parser.add_argument("--stats", action="store_true", help="tell what accesses cost")
    parser.add_argument(
        "--order", default="forward", metavar="forward|reverse|SEED", help="who runs first"
    )
    parser.add_argument(
        "--async-mode",
        default="on_wait",
        metavar="on_wait|eager|SEED",
        help="when the bytes of asynchronous copies arrive",
    )
    parser.add_argument(
        "--delays",
        action="store_true",
        help="let threads stop for random times, by the seed, where they order memory",
    )
    parser.add_argument(
        "--step-limit",
        type=int,
        default=STEP_LIMIT,
        metavar="N",
        help="loop iterations after which a thread counts as stuck (default: %(default)s)",
    )
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="host threads to use")
    parser.add_argument("--blocks", type=int, default=0, metavar="N", help="run only N blocks")


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "input",
        metavar="IN.mlir|IN.ll|IN.cu|IN.json",
        help="the program, or what --format json wrote",
    )
    parser.add_argument("other", metavar="OTHER", nargs="?", help="what to compare it with")
    parser.add_argument(
        "-o", "--output", metavar="OUT", default="-", help="the report; - is the standard output"
    )
    parser.add_argument(
        "--format",
        choices=("html", "json", "yaml"),
        default="html",
        help="a page, the document that it is made of, or the remarks alone, as LLVM's viewers "
        "read them (default: %(default)s)",
    )
    parser.add_argument("--chip", metavar="CHIP", help="as for compile")
    parser.add_argument("--schedule", metavar="auto|none|FILE", help="as for compile")
    parser.add_argument(
        "--sync", metavar="auto|insert|keep|minimize", default="auto", help="as for compile"
    )
    parser.add_argument("--numerics", metavar="WORDS", default="exact", help="as for compile")
    parser.add_argument("--memory-options", default="", metavar="OPTIONS", help="as for compile")
    _add_clang_options(parser)
    _add_tuned(parser)
    parser.add_argument("--kernel", metavar="K", help="the kernel that sizes and values are for")
    parser.add_argument(
        "--block", metavar="X,Y,Z", help="threads per block, of the kernel or of all"
    )
    parser.add_argument("--grid", metavar="X,Y,Z", help="blocks, of the kernel or of all")
    _add_values(parser)
    parser.add_argument(
        "--blocks",
        type=int,
        default=1,
        metavar="N",
        help="run only N blocks of each launch on the emulator; 0 is all (default: %(default)s)",
    )
    parser.add_argument("--no-emulator", action="store_true", help="run nothing")
    parser.add_argument("--no-ptxas", action="store_true", help="assemble nothing")


def _add_check(parser: argparse.ArgumentParser) -> None:
    _add_input(parser)
    parser.add_argument("--schedule", metavar="auto|none|FILE", help="as for compile")
    parser.add_argument("--memory-options", default="", metavar="OPTIONS", help="as for compile")
    _add_clang_options(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of the report")
    parser.add_argument(
        "--dynamic",
        action="store_true",
        help="also run the program on the emulator, on random arguments, and look for races",
    )
    parser.add_argument(
        "--kernel", metavar="K", help="run this kernel instead of all host functions"
    )
    _add_values(parser)
    _add_sizes(parser, ", of the kernel or of all")
    _add_search(parser)


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--orders",
        metavar="both|until-quiet",
        default="both",
        help="of threads and blocks, with --dynamic: forward and reverse, or also by seeds, with "
        "delays where threads order memory, until they bring nothing new (default: %(default)s)",
    )
    parser.add_argument(
        "--budget", type=float, metavar="SECONDS", help="of until-quiet, at most (default: 60)"
    )
    parser.add_argument(
        "--launches", type=int, metavar="N", help="orders of until-quiet, at most (default: 1000)"
    )
    parser.add_argument(
        "--quiet",
        type=int,
        metavar="N",
        help="orders that bring nothing new, after which it is quiet (default: 16)",
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="the first seed of until-quiet (default: 0)"
    )
