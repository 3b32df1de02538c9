"""``python -m pipeline``."""

import sys


def run() -> int:
    """Run the command line; an interrupt during the imports is one too."""
    try:
        from .cli import main

        return main(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


sys.exit(run())
