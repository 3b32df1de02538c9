"""Run the kernels of a pack on a GPU and compare with what the emulator computed.

Results are written after every case. After an error in a running kernel, CUDA is unusable in the
process where it happened: the cases run in a process of their own, and after such an error the
rest of them in another.

Exit codes: 0 all agree, 1 some do not or were not run, 2 wrong usage, 69 something is missing.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from gpu_arrays import Buffer, Json, PackError, bind, inspect, read_buffer, surround
from gpu_driver import Cuda, Driver, DriverError, MissingError, refusal

FOLDER = Path(__file__).resolve().parent
FORMAT = 2
LAUNCH_SECONDS, LEAST_SECONDS = 30.0, 3.0
"""How long a kernel may run, and how long if the time for all is nearly over."""
USAGE, MISSING, RESTART, INTERRUPTED = 2, 69, 75, 130


# --- a case ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """What became of a case: agree, differ, failed, skipped, not run, or running until then."""

    verdict: str
    detail: str = ""
    difference: float | None = None
    microseconds: float | None = None


def run_case(
    case: Json, function: Any, buffers: Sequence[Buffer], driver: Driver, seconds: float
) -> Verdict:
    """Launch a kernel twice, with arrays aligned as little as may be and better, and compare."""
    times: list[float] = []
    differences: list[float] = []
    faults: dict[str, str] = {}
    for is_generous in (False, True):
        leads = [buffer.lead(is_generous) for buffer in buffers]
        memories = [surround(b.before, lead) for b, lead in zip(buffers, leads, strict=True)]
        places = [driver.allocate(memory.size) for memory in memories]
        for place, memory in zip(places, memories, strict=True):
            driver.upload(place, memory)
        addresses = [place + lead for place, lead in zip(places, leads, strict=True)]
        parameters = bind(case["parameters"], addresses, driver.encode)
        sizes, shared_bytes = (*case["grid"], *case["block"]), case["dynamic_shared_bytes"]
        times.append(driver.launch(function, sizes, shared_bytes, parameters, seconds))
        for buffer, lead, place, memory in zip(buffers, leads, places, memories, strict=True):
            found = inspect(driver.download(place, memory.size), buffer, lead)
            driver.free(place)
            differences.append(found.largest)
            if found.text:
                both = found.text in faults
                faults[found.text] = "" if both else f"launch {len(times)} of 2, "
    is_number = not any(math.isnan(value) for value in differences)
    largest = max(differences, default=0.0) if is_number else math.nan
    detail = "; ".join(launch + text for text, launch in faults.items())
    return Verdict("differ" if faults else "agree", detail, largest, min(times))


# --- results --------------------------------------------------------------------------------------


class Results:
    """What is known of the cases so far, in two files."""

    def __init__(self, folder: Path, header: Json, cases: Sequence[Json]) -> None:
        self.folder = folder
        self.header = header
        self.cases: dict[str, Json] = {case["name"]: case for case in cases}
        self.verdicts: dict[str, Verdict] = {}

    def resume(self) -> None:
        """Take over what an earlier run left; the case in which it ended has failed."""
        try:
            old = json.loads((self.folder / "results.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        except ValueError:
            old = {}
        if old.get("header", {}).get("pack") != self.header["pack"]:
            raise PackError(f"{self.folder} has results of another pack: leave --resume out")
        for record in old["cases"]:
            fields = {key: _from_json(record[key]) for key in Verdict.__dataclass_fields__}
            verdict = Verdict(**fields)
            if verdict.verdict == "running":
                verdict = Verdict("failed", "the process ended while it ran")
            if record["name"] in self.cases and verdict.verdict != "not run":
                self.verdicts[record["name"]] = verdict

    def put(self, name: str, verdict: Verdict) -> None:
        """Note a verdict and write the files."""
        self.verdicts[name] = verdict
        self.save()

    def save(self) -> None:
        """Write the files, each whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in (("results.md", self.to_table()), ("results.json", self.to_json())):
            part = self.folder / f"{name}.part"
            part.write_text(text, encoding="utf-8")
            part.replace(self.folder / name)

    def to_json(self) -> str:
        """Return the results as data."""
        keys = ("name", "kernel", "chip", "grid", "block", "note")
        cases = [
            {key: self.cases[name][key] for key in keys}
            | {key: _to_json(value) for key, value in asdict(verdict).items()}
            for name, verdict in self.verdicts.items()
        ]
        summary = {"text": self.summarize(), "exit_code": self.exit_code()}
        document = {"header": self.header, "summary": summary, "cases": cases}
        return json.dumps(document, indent=1, allow_nan=False) + "\n"

    def to_table(self) -> str:
        """Return the results for a reader."""
        head = self.header
        details = [
            *((name, f"not packed: {text}") for name, text in head["left_out"].items()),
            *((name, case["note"]) for name, case in self.cases.items()),
            *((name, verdict.detail) for name, verdict in self.verdicts.items()),
        ]
        lines = [
            f"# {head['gpu']} against the emulator",
            "",
            f"{head['date']}; {head['gpu']} ({head['chip']}), driver {head['driver']}; PTX for "
            f"{', '.join(head['chips'])}; pack of commit {head['commit']}",
            "",
            f"{self.summarize()}. Differences are relative to the emulator's number where that is "
            "above 1; times are the shorter of two launches.",
            "",
            "| case | grid | block | verdict | largest difference | microseconds |",
            "|---|---|---|---|---|---|",
            *(self._row(name, verdict) for name, verdict in self.verdicts.items()),
            "",
            *(f"- {name}: {' '.join(text.split())}" for name, text in details if text),
        ]
        return "\n".join(lines).rstrip() + "\n"

    def _row(self, name: str, verdict: Verdict) -> str:
        case, word = self.cases[name], verdict.verdict
        cells = [
            name.replace("|", "\\|"),
            *("x".join(str(size) for size in case[key]) for key in ("grid", "block")),
            f"**{word}**" if word in ("differ", "failed") else word,
            "" if verdict.difference is None else f"{verdict.difference:.2g}",
            "" if verdict.microseconds is None else f"{verdict.microseconds:.1f}",
        ]
        return f"| {' | '.join(cells)} |"

    def summarize(self) -> str:
        """Return how many cases have which verdict."""
        words = [verdict.verdict for verdict in self.verdicts.values()]
        words += ["to come"] * (len(self.cases) - len(words))
        return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))

    def exit_code(self) -> int:
        """Return 0 if all cases that this GPU can run agree, and there are any."""
        words = {verdict.verdict for verdict in self.verdicts.values()}
        is_complete = len(self.verdicts) == len(self.cases)
        return 0 if is_complete and "agree" in words and words <= {"agree", "skipped"} else 1


def _to_json(value: Any) -> Any:
    """Return a value that JSON has: it knows no NaN."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _from_json(value: Any) -> Any:
    return float(value) if value in ("nan", "inf") else value


# --- the process that runs the cases --------------------------------------------------------------


def read_suite(folder: Path) -> Json:
    """Return what a pack holds. Raises PackError."""
    try:
        data = (folder / "suite.json").read_bytes()
        suite: Json = json.loads(data)
    except (OSError, ValueError) as error:
        raise PackError(f"suite.json beside run.py cannot be read: {error}") from error
    if suite.get("format") != FORMAT:
        raise PackError("suite.json was written for another run.py")
    return {**suite, "pack": hashlib.sha256(data).hexdigest()[:16]}


def choose(cases: Sequence[Json], name: str) -> list[Json]:
    """Return the case called `name`, or else those whose names hold it. Raises PackError."""
    exact = [case for case in cases if case["name"] == name]
    chosen = exact or [case for case in cases if name.lower() in case["name"].lower()]
    if not chosen:
        names = difflib.get_close_matches(name, [case["name"] for case in cases], 3, 0)
        raise PackError(f"there is no case '{name}'; close to it: {', '.join(names)}")
    return chosen


def make_header(suite: Json, driver: Driver) -> Json:
    """Return what the results are of."""
    header = {key: suite[key] for key in ("commit", "pack", "chips", "left_out")}
    chip = f"sm_{driver.capability[0]}{driver.capability[1]}"
    date = time.strftime("%Y-%m-%d %H:%M:%S %z")
    return {"date": date, "gpu": driver.gpu, "chip": chip, "driver": driver.version, **header}


def work(options: argparse.Namespace, make_driver: Callable[[], Driver]) -> int:
    """Run what has no verdict yet; return RESTART if the rest needs another process."""
    deadline = time.monotonic() + options.budget
    suite = read_suite(options.folder)
    cases = choose(suite["cases"], options.only) if options.only else suite["cases"]
    driver = make_driver()
    results = Results(options.out, make_header(suite, driver), cases)
    if options.resume:
        results.resume()
    for name, case in results.cases.items():
        if name in results.verdicts:
            continue
        is_usable = decide(case, options.folder, driver, deadline, results)
        verdict = results.verdicts[name]
        print(f"{verdict.verdict:8} {name}  {verdict.detail}".rstrip(), flush=True)
        if not is_usable:
            return RESTART
    results.save()
    print(f"{results.summarize()}; {options.out / 'results.md'}")
    return results.exit_code()


def decide(case: Json, folder: Path, driver: Driver, deadline: float, results: Results) -> bool:
    """Find the verdict of a case; tell whether the driver can still be used."""
    name, seconds = case["name"], deadline - time.monotonic()
    if reason := refusal(case["chip"], driver.capability):
        results.put(name, Verdict("skipped", reason))
        return True
    if seconds <= 0:
        results.put(name, Verdict("not run", "there was no time left"))
        return True
    results.put(name, Verdict("running"))  # what stays if the process does not survive
    try:
        buffers = [read_buffer(folder, record) for record in case["arrays"]]
        function = driver.load((folder / case["ptx"]).read_text(encoding="utf-8"), case["kernel"])
    except (PackError, DriverError, OSError) as error:
        results.put(name, Verdict("failed", str(error)))
        return True
    try:
        patience = min(LAUNCH_SECONDS, max(LEAST_SECONDS, seconds))
        verdict = run_case(case, function, buffers, driver, patience)
    except KeyboardInterrupt:
        results.put(name, Verdict("not run", "it was interrupted"))
        raise
    except Exception as error:  # whatever it is, the other cases shall run
        kind = "" if isinstance(error, DriverError) else f"{type(error).__name__}: "
        results.put(name, Verdict("failed", f"{kind}{error}"))
        return False
    results.put(name, verdict)
    return True


# --- the process above it -------------------------------------------------------------------------


def supervise(options: argparse.Namespace, start: Callable[[Sequence[str]], int]) -> int:
    """Start a process for the cases, and another if it ends before all are done."""
    deadline = time.monotonic() + options.budget
    file = options.out / "results.json"
    is_resumed = options.resume
    while True:
        before = _stamp(file)
        budget = max(0.0, deadline - time.monotonic())
        words = ["--worker", f"--out={options.out}", f"--budget={budget}"]
        words += [f"--only={options.only}"] if options.only else []
        code = start([*words, "--resume"] if is_resumed else words)
        if code in (0, 1, USAGE, MISSING, INTERRUPTED):
            return code
        if _stamp(file) == before:
            print(f"error: the run ended with status {code}, in no case", file=sys.stderr)
            return 1
        is_resumed = True


def _stamp(file: Path) -> tuple[int, int] | None:
    """Return what changes whenever `file` is written."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_ino


def start_process(words: Sequence[str]) -> int:
    """Run this program with other arguments."""
    return subprocess.call([sys.executable, str(Path(__file__).resolve()), *words])


# --- the command line -----------------------------------------------------------------------------


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="run.py", description=__doc__)
    parser.add_argument("--out", type=Path, metavar="RESULTS", help="folder for the results")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="start no case after them")
    parser.add_argument("--only", metavar="NAME", help="run this case, or those with it in theirs")
    parser.add_argument("--resume", action="store_true", help="keep verdicts that RESULTS has")
    parser.add_argument("--probe", action="store_true", help="only tell the GPU")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(folder=FOLDER, out=FOLDER / "results", budget=math.inf)
    return parser.parse_args(arguments)


def main(
    arguments: Sequence[str],
    make_driver: Callable[[], Driver] = Cuda,
    start: Callable[[Sequence[str]], int] = start_process,
) -> int:
    """Run the pack of this folder and return the exit code."""
    options = parse(arguments)
    try:
        if options.probe:
            driver = make_driver()
            print(f"{driver.gpu}, sm_{driver.capability[0]}{driver.capability[1]}")
            return 0
        return work(options, make_driver) if options.worker else supervise(options, start)
    except MissingError as error:
        print(f"error: {error}", file=sys.stderr)
        return MISSING
    except (PackError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a kernel that does not end would keep the driver from shutting down
