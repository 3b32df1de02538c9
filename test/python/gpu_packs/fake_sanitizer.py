"""A compute-sanitizer that watches nothing: it runs the program, and says what a test wants.

`FAKE_SANITIZER` is JSON: by tool, how it behaves; by ``finds``, cases in which it finds something.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

HELP = """\
  --check-tensor-ops arg (=no)          Enables checks related to the PTX cp.async.bulk.tensor
  --racecheck-report arg (=analysis)    The reporting mode that applies to racecheck.
  --report-api-errors arg (=extended)   Print errors if any API call fails.
"""
VERSION = "NVIDIA (R) Compute Sanitizer\nVersion 1.2.3 (a fake)\n"
RECORD = """\
 <record>
  <kind>{tool}</kind>
  <what><text>Something is wrong in {name}</text></what>
 </record>
"""
REPORT = (
    '<?xml version="1.0" encoding="utf-8"?>\n<ComputeSanitizerOutput>\n{}</ComputeSanitizerOutput>'
)


def main(words: list[str]) -> int:
    """Be the program."""
    if words in (["--help"], ["--version"]):
        print(HELP if words == ["--help"] else VERSION, end="")
        return 0
    options, command = split(words)
    wanted = json.loads(os.environ.get("FAKE_SANITIZER", "{}"))
    tool = options["--tool"]
    behaviour = wanted.get(tool, "")
    print("========= COMPUTE-SANITIZER")
    if behaviour == "unsupported":
        print("========= Error: Device not supported.")
        return 1
    if behaviour == "hangs":
        time.sleep(60)
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    print(process.stdout + process.stderr, end="")
    if behaviour == "no call":
        print("========= Error: Target application terminated before first instrumented API call")
        return 255
    if behaviour == "quiet":
        return 0
    names = json.loads(Path(command[-1]).read_text())
    sought = [f"planted bug for {tool}"] if behaviour != "blind" else []
    found = [name for name in names if name in (*sought, *wanted.get("finds", ()))]
    records = "".join(RECORD.format(tool=tool, name=name) for name in found)
    text = REPORT.format(records)
    Path(options["--save"]).write_text(text[:-20] if behaviour == "broken" else text)
    print(f"========= ERROR SUMMARY: {len(found)} errors")
    return int(options["--error-exitcode"]) if found else process.returncode


def split(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the options by name, and the command behind them."""
    options: dict[str, str] = {}
    at = 0
    while words[at].startswith("--"):
        if words[at] == "--xml":
            at += 1
            continue
        options[words[at]] = words[at + 1]
        at += 2
    return options, words[at:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
