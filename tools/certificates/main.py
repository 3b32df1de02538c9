"""Check certificates of compiled kernels on their LLVM IR."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from certificates.cells import Refuted
from certificates.claims import check
from certificates.ir import NotUnderstood


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a certificate.

    Returns 0 if it holds, 1 if it does not, 2 if a file cannot be read, and 3 if it could not be
    checked.
    """
    parser = argparse.ArgumentParser(prog="check-certificate", description=__doc__)
    parser.add_argument("certificate", type=Path, help="what `--emit certificate` wrote")
    parser.add_argument("llvm", type=Path, help="what `--emit llvm` wrote")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    texts = [_read(path) for path in (options.certificate, options.llvm)]
    if None in texts:
        return 2
    certificate, llvm = map(str, texts)
    try:
        checked = check(json.loads(certificate), llvm)
    except Refuted as refuted:
        print(f"REFUTED: {refuted}")
        return 1
    except NotUnderstood as reason:
        print(f"NOT CHECKED: {reason}")
        return 3
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        print(f"REFUTED: the certificate has not the form that it must have: {error!r}")
        return 1
    for kernel in checked:
        print(f"{kernel.kernel}: {kernel.threads} threads, {kernel.accesses} accesses, "
              f"{kernel.barriers} barriers, {kernel.pairs} pairs of groups: no race")  # fmt: skip
        print(f"  global memory: no race in {kernel.blocks} blocks" if kernel.blocks
              else f"  global memory is not covered: {kernel.uncovered}")  # fmt: skip
        for text in kernel.assumed:
            print(f"  assumed: {text}")
        for line in sorted(kernel.unknown):
            print(f"  line {line}: its address is not known; it counts as any byte of the variable")
        for line in sorted(kernel.unreached):
            print(f"  line {line}: no thread comes there")
    print(f"HOLDS ({time.perf_counter() - start:.1f} s)")
    return 0


def _read(path: Path) -> str | None:
    """Return the text of a file; None, and say why, if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        print(f"{path}: error: cannot be read: {error.strerror}", file=sys.stderr)
    except UnicodeDecodeError as error:
        print(f"{path}: error: it is no text: byte {error.start} is no UTF-8", file=sys.stderr)
    return None


if __name__ == "__main__":
    sys.exit(main())
