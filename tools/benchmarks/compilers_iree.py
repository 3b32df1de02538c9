"""Compile programs with IREE, and print the seconds: `compilers_iree.py ROUNDS FILE...`.

Runs in the virtual environment that `bench compilers` makes. Like ours, a compilation begins with
text, and ends with PTX: IREE calls no assembler for CUDA.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from iree.compiler.api import Invocation, Output, Session, Source  # type: ignore[import-not-found]

FLAGS = ("--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80")


def compile_once(text: bytes) -> None:
    """Compile a program to memory."""
    session = Session()
    session.set_flags(*FLAGS)
    source = Source.wrap_buffer(session, text)
    invocation = Invocation(session)
    invocation.enable_console_diagnostics()
    if not invocation.parse_source(source) or not invocation.execute():
        sys.exit("IREE refuses the program")
    output = Output.open_membuffer()
    invocation.output_vm_bytecode(output)
    if b".target sm_80" not in bytes(output.map_memory()):
        sys.exit("IREE has made no PTX")


def main() -> None:
    """Print a line for each compilation."""
    for name in sys.argv[2:]:
        path = Path(name)
        text = path.read_bytes() + b"\0"
        for _ in range(int(sys.argv[1])):
            start, processor = time.perf_counter(), time.process_time()
            compile_once(text)
            spent = time.perf_counter() - start, time.process_time() - processor
            print(json.dumps({"program": path.stem, "seconds": spent}), flush=True)


if __name__ == "__main__":
    main()
