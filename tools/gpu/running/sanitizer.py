"""compute-sanitizer over cases: each tool in a process of its own that holds only our runtime."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .reports import NO_CALL, ReportError, read_report, shorten, tells_no_errors

ERROR_CODE = 86
"""What it exits with after a finding."""
RAN = "ran: "
"""What the process below it prints before the name of a case that has run."""
FOLDERS = ("/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer", "/opt/cuda/bin")
INSTALL = "pip install nvidia-cuda-sanitizer-api, or name it: --sanitizer PATH"

OPTIONS = {
    # The runtime asks the driver for more than there is and looks at the answer: what the driver
    # says is no finding, and what matters of it is an exception.
    "memcheck": (
        ("--report-api-errors", "no"),
        ("--check-tensor-ops", "yes"),
        ("--check-bulk-copy", "yes"),
        ("--check-warpgroup-mma", "yes"),
        ("--padding", "256"),
    ),
    "racecheck": (("--racecheck-report", "all"), ("--racecheck-fence-proxy-async", "yes")),
    "synccheck": (),
    "initcheck": (("--initcheck-address-space", "all"),),
}
"""What each tool is asked for, as far as its version knows it: most are off by default."""


@dataclass(frozen=True)
class Outcome:
    """What a process ended with: clean, found, failed, or not run; and words for it."""

    word: str
    detail: str = ""
    ran: int = 0
    """How many of the cases have run to their end."""


def find_sanitizer(given: str = "") -> str | None:
    """Return the program: the one that is given, or that is here."""
    if given:
        return shutil.which(given)
    places = [None, *FOLDERS]
    spec = importlib.util.find_spec("nvidia")
    for base in spec.submodule_search_locations or () if spec else ():
        places += [str(path) for path in sorted(Path(base).glob("*/bin"))]
    return next(filter(None, (shutil.which("compute-sanitizer", path=at) for at in places)), None)


class Sanitizer:
    """The program, which runs `command` with the name of a file that lists cases."""

    def __init__(self, program: str, log: Path, command: Sequence[str]) -> None:
        """Ask the program for its options; what it prints is added to a file. Raises OSError."""
        self._program = program
        self._log = log
        self._command = list(command)
        self._known = self._ask("--help")
        self.version = next(
            (line for line in self._ask("--version").splitlines() if "ersion" in line), "unknown"
        ).strip()

    def _ask(self, option: str) -> str:
        words = [self._program, option]
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60).stdout

    def options(self, tool: str) -> list[str]:
        """Return the options of a tool that this version knows."""
        pairs = [pair for pair in OPTIONS[tool] if f"{pair[0]} " in self._known]
        return [word for pair in pairs for word in pair]

    def run(self, tool: str, names: Sequence[str], seconds: float) -> Outcome:
        """Run cases under a tool, in one process."""
        with tempfile.TemporaryDirectory() as folder:
            return self._run(tool, names, seconds, Path(folder))

    def _run(self, tool: str, names: Sequence[str], seconds: float, folder: Path) -> Outcome:
        listed, report = folder / "cases.json", folder / "report.xml"
        listed.write_text(json.dumps(list(names)), encoding="utf-8")
        command = [
            *(self._program, "--tool", tool, "--error-exitcode", str(ERROR_CODE)),
            *("--xml", "--save", str(report), "--target-processes", "application-only"),
            *self.options(tool),
            *self._command,
            str(listed),
        ]
        started = time.monotonic()
        code, text = _call(command, seconds)
        self._keep(f"{tool}: {', '.join(names)}\nexit code {code}", text, report)
        if code is None:
            return Outcome("failed", f"it still runs after {time.monotonic() - started:.0f} s")
        return judge(code, text, report, names)

    def _keep(self, title: str, text: str, report: Path) -> None:
        """Add what a process printed, and its report, to the log."""
        parts = [f"# {title}", text]
        if report.exists():
            parts.append(report.read_text(encoding="utf-8", errors="replace"))
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a", encoding="utf-8") as log:
            log.write("\n".join(part.rstrip() for part in parts) + "\n\n")


def judge(code: int, text: str, report: Path, names: Sequence[str]) -> Outcome:
    """Return what an exit code, the output and a report say together."""
    lines = text.splitlines()
    ran = sum(f"{RAN}{name}" in lines for name in names)
    has_report = report.exists()
    try:
        records = read_report(report) if has_report else []
    except ReportError as error:
        return Outcome("failed", str(error), ran)
    if records or code == ERROR_CODE:
        words = records[:3] or [f"no report says what; it printed: {_tail(text)}"]
        more = f" (and {len(records) - 3} more)" if len(records) > 3 else ""
        return Outcome("found", "; ".join(words) + more, ran)
    if NO_CALL in text:
        return Outcome("not run", "the process made no CUDA call that the tool has seen", ran)
    if code == 0 and ran == len(names):
        if has_report or tells_no_errors(text):
            return Outcome("clean", "", ran)
        return Outcome("not run", f"the tool says nothing of what it has seen: {_tail(text)}", ran)
    has_failed = ran or any(line.startswith("error: ") for line in lines)
    return Outcome("failed" if has_failed else "not run", _tail(text), ran)


def _tail(text: str) -> str:
    """Return the last that was printed, without what a tool frames it with."""
    return shorten(text.replace("=========", " ")[-1500:]) or "nothing was printed"


def _call(command: Sequence[str], seconds: float) -> tuple[int | None, str]:
    """Run a command and those that it starts; return no code if it takes longer."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        text, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
        return None, text
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, text


def divide(
    names: Sequence[str], run: Callable[[Sequence[str]], Outcome]
) -> list[tuple[str, Outcome]]:
    """Run cases together and, where not all of them are clean, in halves, down to single ones."""
    outcome = run(names)
    is_about_all = outcome.word == "clean" or (outcome.word == "not run" and not outcome.ran)
    if is_about_all or len(names) == 1:
        return [(name, outcome) for name in names]
    middle = len(names) // 2
    return [*divide(names[:middle], run), *divide(names[middle:], run)]
