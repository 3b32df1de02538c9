"""Arguments of the commands of ``tools``: what is wrong is refused before anything is done."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from covering import coverage
from setup import suite
from setup.arguments import positive, seed_range


def test_positive_numbers() -> None:
    assert [positive("1"), positive("20")] == [1, 20]
    for text in ("0", "-3", "x", "1.5", ""):
        with pytest.raises(ArgumentTypeError):
            positive(text)


def test_seeds() -> None:
    assert seed_range("3-5") == range(3, 6)
    assert seed_range("7") == range(7, 8)
    for text in ("x", "", "-", "3-", "-3", "5-3", "1-x"):
        with pytest.raises(ArgumentTypeError):
            seed_range(text)


@pytest.mark.parametrize("kind", ["nosuch", "empty"])
def test_programs_that_coverage_does_not_find(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is built for them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    built: list[str] = []
    monkeypatch.setattr(suite, "build_preset", built.append)
    with pytest.raises(SystemExit) as ended:
        coverage.main(["linalg", kind])
    assert ended.value.code == 2
    assert f"'{kind}' is not linalg" in capsys.readouterr().err
    assert not built
