"""Check text by two FileChecks, of which both have to pass: `filechecks.py PROGRAM ARGUMENT...`.

PROGRAM is LLVM's; the other one is PyPI's, for those who have no LLVM. So what is checked is made
once.
"""

import io
import subprocess
import sys

from filecheck.main import main

text = sys.stdin.buffer.read()
if status := subprocess.run(sys.argv[1:], input=text, check=False).returncode:
    sys.exit(status)
sys.stdin = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8")
main(["filecheck", *sys.argv[2:]])
