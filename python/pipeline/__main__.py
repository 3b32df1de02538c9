"""``python -m pipeline``."""

from __future__ import annotations

import gc
import os
import sys

from .system import worker


def run() -> int:
    """Run the command line; an interrupt during the imports is one too.

    Wrong usage does not leave by the interpreter's end, beside which libraries are being loaded.
    """
    try:
        compiles = sys.argv[1:2] in (["compile"], ["run"], ["check"], ["explain"])
        if compiles and not {"-h", "--help"} & {*sys.argv}:
            worker.end_at_interrupts()
            worker.start()
        from .command_line.cli import main

        return main(sys.argv[1:])
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1
    except KeyboardInterrupt:
        return 130
    except Exception:  # the interpreter's end would take from the thread what it compiles with
        sys.excepthook(*sys.exc_info())
        return 70


def main() -> None:
    """Run the command line, and end the process without taking apart what was loaded."""
    gc.disable()  # until the modules are loaded, nothing of which is garbage
    code = run()
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
