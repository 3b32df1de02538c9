"""The command line: arguments in, texts and exit codes out.

Results go to standard output, words to standard error. Exit codes: 0 done, 1 the program was
refused, 2 wrong usage, 69 a tool is missing, 70 internal error, 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..compiling.compiler import choose_schedule, compile, load_beside
from ..compiling.request import STAGES, ProgramOptions, Stage
from ..errors import CompileError, Error, InternalError, UnverifiedWarning, UsageError
from ..system import worker
from ..system.files import is_bundle, is_text, write_file
from ..system.toolchain import find_mlir_opt, plugin_path
from .launch_sizes import read_launch
from .parser import make_parser

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from ..diagnostics import Remark
    from ..program.module import Module

T = TypeVar("T")

_SUFFIXES = {
    "schedule": "schedule.mlir",
    "gpu": "gpu.mlir",
    "nvvm": "nvvm.mlir",
    "llvm": "ll",
    "certificate": "certificate.json",
}
_PACKING = "workgroup-pack-memory"


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    warnings.simplefilter("ignore", UnverifiedWarning)  # told in words of the command line
    if arguments and arguments[0] == "opt":
        # Everything after the word is mlir-opt's, which argparse cannot promise.
        return _guard(lambda: _opt(arguments[1:]))
    return _guard(lambda: _parse_and_run(arguments))


def _parse_and_run(arguments: Sequence[str]) -> int:
    try:
        options = make_parser().parse_args(arguments)
    except SystemExit:
        if sys.stdout is not None:
            sys.stdout.flush()
        raise
    return _COMMANDS[options.command](options)


def _guard(command: Callable[[], int]) -> int:
    """Turn what `command` raises into words and an exit code."""
    try:
        code = command()
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except InternalError as error:
        print(error, file=sys.stderr)
        print(f"error: reproducer: {_save_reproducer(error)}", file=sys.stderr)
        return error.exit_code
    except UsageError as error:
        print(error.shell_message, file=sys.stderr)
        return error.exit_code
    except Error as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        # Not by way of the interpreter's end, which would wait for, or pull the ground from under,
        # a compilation that is still under way in its thread.
        os._exit(130)
    except BrokenPipeError:
        _drop_output()  # the reader has gone
        return 1
    except OSError as error:
        _drop_output()
        print(f"error: {error.filename or '<stdout>'}: {error.strerror}", file=sys.stderr)
        return 2


def _drop_output() -> None:
    """Keep what is still buffered from being written, and failing again, at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _save_reproducer(error: InternalError) -> str:
    import tempfile

    with tempfile.NamedTemporaryFile(
        "w", prefix="pipeline-", suffix=".mlir", delete=False, encoding="utf-8"
    ) as stream:
        stream.write(error.reproducer)
        return stream.name


# --- commands -------------------------------------------------------------------------------------


def _compile(options: argparse.Namespace) -> int:
    emit: str = options.emit
    if options.input == options.schedule == "-":
        raise UsageError("error: the standard input cannot be both program and schedule")
    _refuse_options_of_bundles(options)
    if emit == "schedule":
        return _emit_schedule(options)
    remarks = _compile_regex(options.remarks)
    if emit == "bundle" or "," in (options.chip or ""):
        return _compile_bundle(options, remarks)
    _warn_of(options)
    is_certificate = emit == "certificate"
    until: Stage = next((stage for stage in STAGES if stage == emit), "ptx")
    until = "llvm" if is_certificate else until
    module = _compile_for(options, options.chip, until, remarks)
    cubin = module.cubin if emit == "cubin" else None
    text = module.texts["certificate" if is_certificate else until]
    _write(options.output, cubin or text.encode(), is_binary=cubin is not None)
    return 0


def _refuse_options_of_bundles(options: argparse.Namespace) -> None:
    """Raise UsageError for what says how to write a bundle, where none is written."""
    given = {
        "--no-cubin": options.no_cubin,
        "--no-emulator": options.no_emulator,
        "--certificate": options.certificate,
        "--license": options.license is not None,
    }
    for name, is_given in given.items():
        if is_given and options.emit != "bundle":
            raise UsageError(f"error: {name} is for bundles: add --emit bundle")


def _compile_bundle(options: argparse.Namespace, remarks: re.Pattern[str] | None) -> int:
    from . import bundle_commands

    chips = bundle_commands.read_chips(options)
    _warn_of(options)
    return bundle_commands.emit(
        options, chips, lambda chip: _compile_for(options, chip, "ptx", remarks)
    )


def _compile_for(
    options: argparse.Namespace,
    chip: str | None,
    until: Stage,
    remarks: re.Pattern[str] | None,
) -> Module:
    """Compile the program for a chip, and tell and keep what is asked for."""
    if options.input == "-" and options.chip and "," in options.chip:
        raise UsageError("error: several chips read the program several times: give a file")
    try:
        module = _wait_for(
            lambda: compile(
                _source(options.input),
                verify=not options.no_verify,
                assert_bounds=options.assert_bounds,
                until=until,
                keep_texts=options.save_temps is not None,
                certify=options.emit == "certificate" or options.certificate,
                color=_use_color(options.color),
                **_read_program_options(options, chip=chip),
            )
        )
    except CompileError as error:
        _report(error, options, remarks)
        _save_temps(error.texts, options, error.schedule, chip=chip)
        raise
    if module.rendered:
        print(module.rendered, file=sys.stderr)
    start = time.perf_counter()
    cubin = module.cubin if options.emit == "cubin" else None
    ptxas = {} if cubin is None else {"cubin": time.perf_counter() - start}
    _report(module, options, remarks, ptxas)
    _save_temps(module.texts, options, module.schedule, cubin, chip)
    return module


def _emit_schedule(options: argparse.Namespace) -> int:
    if options.schedule not in (None, "auto"):
        raise UsageError("error: --emit schedule prints what --schedule auto chooses")
    text = _wait_for(
        lambda: choose_schedule(
            _source(options.input),
            chip=options.chip,
            numerics=options.numerics,
            tuned=options.tuned,
            color=_use_color(options.color),
        )
    )
    _write(options.output, text.encode(), is_binary=False)
    return 0


def _warn_of(options: argparse.Namespace) -> None:
    if options.no_verify:
        what = "kernels are not checked for data races and divergent barriers"
        print(f"warning: --no-verify: {what}", file=sys.stderr)


def _wait_for(function: Callable[[], T], load_more: Callable[[], None] = lambda: None) -> T:
    """Call a function that may take long in a thread, so that Ctrl-C is heard at once.

    That ends the process, by ``_guard``, whatever the thread is at. Meanwhile `load_more` loads
    what will be needed besides.
    """

    def load() -> None:
        load_beside()
        load_more()
        gc.enable()
        worker.raise_at_interrupts()

    return worker.call(function, load)


def _read_program_options(options: argparse.Namespace, **given: Any) -> ProgramOptions:
    """Return what decides what a program becomes: options of `compile`, and what is given."""
    read: ProgramOptions = {
        "chip": options.chip,
        "schedule": _schedule(options.schedule),
        "sync": options.sync,
        "numerics": options.numerics,
        "clang_options": _read_clang_options(options),
        "tuned": options.tuned,
    }
    if "memory_options" in options:
        read["memory_options"] = options.memory_options
    return cast("ProgramOptions", {**read, **given})


def _source(given: str) -> str | Path:
    """Return the name of a file as what cannot be taken for a program."""
    if not is_text(given):
        return given
    from pathlib import Path

    return Path(given)


def _read_clang_options(options: argparse.Namespace) -> list[str]:
    import shlex

    try:
        return shlex.split(options.clang_options or "")
    except ValueError as error:
        raise UsageError(f"error: --clang-options: {error}") from error


def _schedule(given: str | None) -> str | Path | None:
    return None if given is None else _source(given)


def _compile_regex(text: str | None) -> re.Pattern[str] | None:
    try:
        return re.compile(text) if text is not None else None
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"error: --remarks: not a regular expression: {error}") from error


def _use_color(choice: str) -> bool:
    if choice == "auto":
        return sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    return choice == "always"


def _report(
    outcome: Module | CompileError,
    options: argparse.Namespace,
    remarks: re.Pattern[str] | None,
    ptxas: Mapping[str, float] | None = None,
) -> None:
    if remarks is not None:
        for remark in filter(lambda item: _matches(item, remarks), outcome.remarks):
            print(remark, file=sys.stderr)
        if remarks.search(_PACKING) and not isinstance(outcome, CompileError):
            for memory in outcome.workgroup_memory:
                print(memory, file=sys.stderr)
    if options.timing:
        all_seconds = {**outcome.seconds, **(ptxas or {})}
        for stage, seconds in [*all_seconds.items(), ("total", sum(all_seconds.values()))]:
            print(f"{seconds * 1e3:10.2f} ms  {stage}", file=sys.stderr)


def _matches(remark: Remark, pattern: re.Pattern[str]) -> bool:
    return bool(pattern.search(remark.category) or pattern.search(remark.name))


def _save_temps(
    texts: Mapping[str, str],
    options: argparse.Namespace,
    schedule: str | None = None,
    cubin: bytes | None = None,
    chip: str | None = None,
) -> None:
    if options.save_temps is None:
        return
    from pathlib import Path

    folder = Path(options.save_temps)
    if chip is not None and chip != options.chip:  # one of several
        folder /= chip
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: error: cannot be made: {error.strerror}") from error
    name = "stdin" if options.input == "-" else Path(options.input).stem
    if schedule is not None:
        write_file(folder / f"{name}.transform.mlir", schedule.encode())
    for stage, text in texts.items():
        write_file(folder / f"{name}.{_SUFFIXES.get(stage, stage)}", text.encode())
    if cubin is not None:
        write_file(folder / f"{name}.cubin", cubin)


def _write(output: str, data: bytes, *, is_binary: bool) -> None:
    if output != "-":
        return write_file(output, data)
    if sys.stdout is None:
        raise UsageError("error: the standard output is closed; name a file by -o")
    if is_binary and sys.stdout.isatty():
        raise UsageError("error: a cubin is no text for a terminal; name a file by -o")
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return None


def _run(options: argparse.Namespace) -> int:
    from . import run_command

    if options.input == options.schedule == "-":
        raise UsageError("error: the standard input cannot be both program and schedule")
    if is_bundle(options.input):
        return run_command.run(options, lambda: _load(options))
    _warn_of(options)

    def compile_module() -> Module:
        module = _wait_for(
            lambda: compile(
                _source(options.input),
                verify=not options.no_verify,
                assert_bounds=options.assert_bounds,
                keep_reads=options.check_races or options.check in ("races", "all"),
                until="ptx" if options.backend == "cuda" else "llvm",
                color=_use_color("auto"),
                **_read_program_options(options, **read_launch(options)),
            )
        )
        if module.rendered:
            print(module.rendered, file=sys.stderr)
        return module

    return run_command.run(options, compile_module)


def _load(options: argparse.Namespace) -> Module:
    from ..program.loading import load
    from .bundle_commands import refuse_options_of_programs

    refuse_options_of_programs(options)
    return load(options.input, chip=options.chip)


def _check(options: argparse.Namespace) -> int:
    from ..compiling.checking import check
    from . import check_command

    if options.input == options.schedule == "-":
        raise UsageError("error: the standard input cannot be both program and schedule")
    if options.dynamic and options.input == "-":
        raise UsageError("error: --dynamic reads the program twice: give a file")
    sizes = read_launch(options)
    return check_command.run(
        options,
        lambda: _wait_for(
            lambda: check(
                _source(options.input),
                schedule=_schedule(options.schedule),
                memory_options=options.memory_options,
                clang_options=_read_clang_options(options),
                **sizes,
                color=_use_color("auto"),
            )
        ),
        lambda sync: _wait_for(
            lambda: compile(
                _source(options.input),
                schedule=_schedule(options.schedule),
                memory_options=options.memory_options,
                clang_options=_read_clang_options(options),
                **sizes,
                sync=sync,
                verify=False,
                assert_bounds=True,
                keep_reads=True,
                until="llvm",
                color=_use_color("auto"),
            )
        ),
    )


def _opt(arguments: Sequence[str]) -> int:
    import subprocess

    command = [str(find_mlir_opt()), f"--load-pass-plugin={plugin_path()}", *arguments]
    code = subprocess.run(command, check=False).returncode
    return 128 - code if code < 0 else code


def _plugin_path(_: argparse.Namespace) -> int:
    print(plugin_path())
    return 0


def _doctor(_: argparse.Namespace) -> int:
    from ..system.doctor import examine

    findings = examine()
    for finding in findings:
        print(finding)
    return 0 if all(finding.is_fine for finding in findings) else 69


def _inspect(options: argparse.Namespace) -> int:
    from . import bundle_commands

    return bundle_commands.inspect(options)


def _tune(options: argparse.Namespace) -> int:
    from . import tune_command

    gc.enable()
    worker.raise_at_interrupts()
    return tune_command.run(options)


def _explain(options: argparse.Namespace) -> int:
    from ..report.explaining import explain
    from . import explain_command

    program_options = _read_program_options(options, **read_launch(options))
    answer = explain_command.run(
        options,
        lambda name, arguments: _wait_for(
            lambda: explain(
                _source(name),
                arguments=arguments,
                assemble=not options.no_ptxas,
                emulate=not options.no_emulator,
                blocks=options.blocks,
                seed=options.random or 0,
                command=explain_command.describe_command(options, name),
                **program_options,
            ),
            lambda: explain_command.load_beside(options),
        ),
    )
    _write(options.output, answer.text.encode(), is_binary=False)
    for error in answer.errors:
        print(error, file=sys.stderr)
    return max((error.exit_code for error in answer.errors), default=0)


_COMMANDS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "compile": _compile,
    "run": _run,
    "check": _check,
    "opt": lambda _: _opt([]),
    "plugin-path": _plugin_path,
    "doctor": _doctor,
    "inspect": _inspect,
    "explain": _explain,
    "tune": _tune,
}


__all__ = ["CompileError", "main"]
