"""Run TileLang's thread-sync pass on hand-written TIR; print one JSON object per probe.

Run by tools/peers in an environment that has TileLang's wheel. `import tilelang` would want
PyTorch, which the pass does not use: the wheel's TVM and its library of passes are loaded instead.
What runs is `tl.transform.ThreadSync` alone, on what TileLang hands it: buffers in shared memory,
and all three thread indices.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import json
import os
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

HEAD = """
@T.prim_func(check_well_formed=False)
def probe(n: T.int32):
    A = T.alloc_buffer({shape}, "float32", scope="shared")
    B = T.alloc_buffer((16, 128), "float32", scope="shared")
    r = T.alloc_buffer((1,), "float32", scope="local")
    q = T.alloc_buffer((1,), "float32", scope="local")
    bx = T.launch_thread("blockIdx.x", 4)
    tx = T.launch_thread("threadIdx.x", 128)
    ty = T.launch_thread("threadIdx.y", 1)
    tz = T.launch_thread("threadIdx.z", 1)
"""

# Name, barriers required, barriers that 0.1.15 inserts, shape of A, body.
PROBES = [
    ("control", 1, 1, "(128,)", "A[tx] = T.float32(1)\nr[0] = A[127 - tx]"),
    # Threads t and t - 1 write the same element.
    ("P1", 1, 0, "(128,)", "A[tx] = T.float32(1)\nA[(tx + 1) % 128] = T.float32(2)"),
    # Blocks that skip the branch skip its barrier.
    (
        *("P2", 2, 1, "(128,)"),
        """
        A[tx] = T.float32(1)
        if bx < 1:
            B[0, tx] = T.float32(2)
            r[0] = B[0, (tx + 1) % 128]
        q[0] = A[(tx + 1) % 128]
        """,
    ),
    # Read two iterations after it was written.
    (
        *("P3", 1, 0, "(4, 128)"),
        """
        for i in range(n):
            A[(i + 2) % 4, tx] = T.float32(1)
            r[0] = r[0] + A[i % 4, (tx + 1) % 128]
        """,
    ),
    # The same with one iteration between.
    (
        *("P3 control", 1, 1, "(4, 128)"),
        """
        for i in range(n):
            A[(i + 1) % 4, tx] = T.float32(1)
            r[0] = r[0] + A[i % 4, (tx + 1) % 128]
        """,
    ),
    # Two threads read an element, then both write it: the writes no barrier can order.
    ("P4", 1, 0, "(64,)", 'r[0] = A[tx // 2]\nA[tx // 2] = T.Cast("float32", tx)'),
    # The thread reads what it wrote.
    (
        *("P5", 0, 1, "(8, 16)"),
        "A[tx // 16, tx % 16] = T.float32(1)\nr[0] = A[(tx + 128) // 16 - 8, tx % 16]",
    ),
    # The loop may have no iteration.
    (
        *("P6", 2, 1, "(128,)"),
        """
        A[tx] = T.float32(1)
        for i in range(n):
            B[i, tx] = T.float32(2)
            r[0] = B[i, (tx + 1) % 128]
        q[0] = A[(tx + 1) % 128]
        """,
    ),
]


def load_tvm() -> Any:
    """Import the TVM that is in TileLang's wheel, with TileLang's passes."""
    spec = importlib.util.find_spec("tilelang")
    if spec is None or spec.origin is None:
        sys.exit("error: tilelang is not installed; use tools/peers --tilelang")
    folder = Path(spec.origin).parent
    sys.path.insert(0, str(folder / "3rdparty" / "tvm" / "python"))
    os.environ["TVM_LIBRARY_PATH"] = str(folder / "lib")
    importlib.import_module("z3")  # Its library is what TileLang's is linked to.
    tvm = importlib.import_module("tvm")
    ctypes.CDLL(str(folder / "lib" / "libtilelang.so"))
    return tvm


def count_barriers(tvm: Any, thread_sync: Callable[[str], Any], shape: str, body: str) -> int:
    """Return how many barriers the pass inserts into a program without any."""
    script = importlib.import_module("tvm.script")
    text = HEAD.format(shape=shape) + textwrap.indent(textwrap.dedent(body).strip(), "    ")
    module = tvm.IRModule.from_expr(script.from_source(text, {"T": script.tirx}))
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_80"}, host={"kind": "llvm"})
    attributes = {"global_symbol": "probe", "target": target}
    module = tvm.tirx.transform.Apply(lambda function: function.with_attr(attributes))(module)
    result: str = thread_sync("shared")(module).script()
    return result.count("tvm_storage_sync")


def main() -> None:
    """Run the probes."""
    tvm = load_tvm()
    thread_sync = tvm.get_global_func("tl.transform.ThreadSync")
    for name, required, recorded, shape, body in PROBES:
        found = count_barriers(tvm, thread_sync, shape, body)
        result = {"name": name, "required": required, "found": found, "recorded": recorded}
        print(json.dumps(result))


if __name__ == "__main__":
    main()
