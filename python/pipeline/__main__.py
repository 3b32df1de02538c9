"""``python -m pipeline``."""

import ctypes
import os
import sys
import threading


def load_libraries() -> None:
    """Load the compiler's libraries, LLVM's among them, while Python imports its own modules.

    Both take tens of milliseconds. Importing the extension would hold the interpreter's lock, a
    call by way of ctypes does not. What fails here is told, with its remedy, by that import.
    """
    load = ctypes.CDLL(None).dlopen
    load.argtypes = [ctypes.c_char_p, ctypes.c_int]
    load.restype = ctypes.c_void_p
    plugin = __file__.rpartition(os.sep)[0] + "/WorkgroupPlugin.so"
    threading.Thread(target=load, args=(os.fsencode(plugin), os.RTLD_LAZY)).start()


def run() -> int:
    """Run the command line; an interrupt during the imports is one too."""
    try:
        if sys.argv[1:2] == ["compile"] and not {"-h", "--help"} & {*sys.argv}:
            load_libraries()
        from .cli import main

        return main(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


sys.exit(run())
