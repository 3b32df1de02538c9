"""Run this folder on a GPU: `python run.py --help`.

It needs Python 3.11, NumPy, a GPU with its driver, and cuda-bindings; PyTorch, Triton and
compute-sanitizer are used if they are here.
"""

import importlib.util
import sys

if sys.version_info < (3, 11):
    print("error: Python 3.11 or newer is needed, not " + sys.version.split()[0], file=sys.stderr)
    sys.exit(69)
if importlib.util.find_spec("numpy") is None:
    print(f"error: NumPy is missing: {sys.executable} -m pip install numpy", file=sys.stderr)
    sys.exit(69)

if __name__ == "__main__":
    from running.command import run

    run(sys.argv[1:])
