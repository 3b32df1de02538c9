"""The names of kernels: symbols, and what their authors call them."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import UsageError


def find_kernel(names: Sequence[str], wanted: str) -> str:
    """Return which of the kernels ``names`` is called so. Raises UsageError if there is none."""
    if wanted in names:
        return wanted
    # A bundle is run without the native extension.
    symbols = [name for name in names if name.startswith("_Z")]
    if symbols:
        from .. import _native

        symbols = [name for name in symbols if _native.is_called(name, wanted)]
    if len(symbols) == 1:
        return symbols[0]
    known = ", ".join(readable_name(name) for name in names)
    raise UsageError(f"error: there is no kernel '{wanted}'; there are {known}")


def readable_name(symbol: str) -> str:
    """Return the name that the author of a kernel knows it by."""
    if not symbol.startswith("_Z"):
        return symbol
    from .. import _native

    return _native.readable_name(symbol)
