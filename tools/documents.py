"""Write the documents that are made from the sources, or check that they are up to date.

docs/passes.md: the reference of all passes, by mlir-tblgen from Passes.td and what it includes.
"""

from __future__ import annotations

import argparse
import difflib
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PASSES = ROOT / "docs" / "passes.md"
TITLE = """# Passes

This page is made from `include/workgroup/Passes.td` by `tools/documents.py`. Every pass works
before outlining (`gpu.launch`) and after (`gpu.func`), runs on any operation that holds kernels
unless its anchor is named, touches nothing outside of it, and changes nothing when it runs again.

"""


def make_passes() -> str:
    """Return the pass reference."""
    tblgen = shutil.which("mlir-tblgen-22")
    config = shutil.which("llvm-config-22")
    if not tblgen or not config:
        sys.exit("error: mlir-tblgen-22 and llvm-config-22 are needed")
    folder = subprocess.check_output([config, "--includedir"], text=True).strip()
    source = ROOT / "include" / "workgroup" / "Passes.td"
    command = [tblgen, "-gen-pass-doc", str(source), "-I", folder, "-I", str(ROOT / "include")]
    text = subprocess.check_output(command, text=True)
    text = re.sub(r"<!--.*?-->\n", "", text, flags=re.S)
    return TITLE + re.sub(r"[ \t]+$", "", text, flags=re.M).strip() + "\n"


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell what has changed")
    check = parser.parse_args().check
    text = make_passes()
    if not check:
        PASSES.parent.mkdir(exist_ok=True)
        PASSES.write_text(text, encoding="utf-8")
        return 0
    old = PASSES.read_text(encoding="utf-8") if PASSES.exists() else ""
    lines = difflib.unified_diff(
        old.splitlines(), text.splitlines(), "docs/passes.md", "docs/passes.md, new", lineterm=""
    )
    difference = "\n".join(lines)
    if difference:
        print(f"{difference}\ndocs/passes.md is out of date: run tools/documents.py")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
