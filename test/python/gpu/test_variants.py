"""Of a bundle of several chips, each GPU gets the variant that knows the most of it."""

from __future__ import annotations

import pytest

from pipeline.runtime.cuda.variants import choose_variant


@pytest.mark.parametrize(
    ("chips", "capability", "chosen"),
    [
        (("sm_80", "sm_90a"), (9, 0), "sm_90a"),
        (("sm_80", "sm_90a"), (8, 0), "sm_80"),
        (("sm_80", "sm_90a"), (8, 9), "sm_80"),
        (("sm_80", "sm_90a"), (10, 0), "sm_80"),  # what has a letter runs nowhere else
        (("sm_80", "sm_90a"), (7, 5), None),
        (("sm_90", "sm_90a"), (9, 0), "sm_90a"),
        (("sm_90", "sm_90a"), (12, 0), "sm_90"),
        (("sm_75", "sm_86", "sm_89"), (8, 6), "sm_86"),
        (("sm_75", "sm_86", "sm_89"), (8, 0), "sm_75"),
        (("sm_100", "sm_89", "sm_120"), (12, 0), "sm_120"),
        (("sm_100", "sm_89"), (12, 0), "sm_100"),
        ((), (8, 0), None),
    ],
)
def test_choice(chips: tuple[str, ...], capability: tuple[int, int], chosen: str | None) -> None:
    assert choose_variant(chips, capability) == chosen
    assert choose_variant(reversed(chips), capability) == chosen
