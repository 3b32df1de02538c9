"""Where a compiled program is from, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Origin(NamedTuple):
    """What a program was made by, and what its author says of it.

    ``producer`` has versions by name, ``license`` the SPDX expression if one was given,
    ``third_party`` what else is in the code, ``digest`` the checksum of the bundle that it was
    loaded from.
    """

    producer: Mapping[str, str]
    license: str | None
    third_party: tuple[str, ...]
    digest: str = ""
