"""Pages in a real browser: headless Chromium (Debian: chromium-headless-shell), by Playwright.

Skipped where one of them is missing. With WORKGROUP_SCREENSHOTS set, pictures are saved there, by
the names that docs/explain.md has for them:

    WORKGROUP_SCREENSHOTS=../../docs/images python -m pytest report/test_report_in_browser.py
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pipeline
from benchmarks.static.programs import contract
from pipeline.report.explaining import Explanation
from pipeline.report.rendering import PARTS
from report.explained_programs import MATMUL, OF_THE_USER

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright, of PyPI")
BROWSER = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))),
    None,
)
pytestmark = pytest.mark.skipif(not BROWSER, reason="needs Debian's chromium-headless-shell")


HOPPER = contract("mk,kn->mn", {"m": 4096, "n": 4096, "k": 4096}, "f16", is_dynamic=False)
"""For sm_90a, where warps of their own fill the ring."""

HEIGHT = 560
"""Of a picture, in pixels, at most."""


class Opened:
    """A page in a browser, and what it has complained of."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._note)

    def _note(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            self.complaints.append(f"fetches {request.url}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as api:
        chromium = api.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "matmul.mlir").write_text(MATMUL)
    path = folder / "report.html"
    path.write_text(pipeline.explain(folder / "matmul.mlir").html())
    return path


@pytest.fixture(scope="module")
def specialized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("specialized")
    (folder / "matmul.mlir").write_text(HOPPER)
    explained = pipeline.explain(
        folder / "matmul.mlir",
        chip="sm_90a",
        memory_options="specialize-warps=128",
        assemble=False,
        emulate=False,
    )
    path = folder / "report.html"
    path.write_text(explained.html())
    return path


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("refused")
    (folder / "reverse.mlir").write_text(OF_THE_USER)
    path = folder / "report.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)  # the error that is shown names the file as the caller does
        path.write_text(pipeline.explain("reverse.mlir", sync="keep").html())
    return path


def open_page(browser: Any, path: Path, scheme: str = "light") -> Opened:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 800})
    opened = Opened(context.new_page())
    opened.page.goto(path.as_uri())
    return opened


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_opens_without_complaints(browser: Any, report: Path, scheme: str) -> None:
    opened = open_page(browser, report, scheme)
    for part, title in PARTS:
        assert title in opened.page.locator(f"#{part} h2").inner_text()
    for link in opened.page.locator("nav a").all():
        link.click()
    assert opened.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("of", ["report", "refused"])
def test_page_is_accessible(
    browser: Any, request: pytest.FixtureRequest, scheme: str, of: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    opened = open_page(browser, request.getfixturevalue(of), scheme)
    results = axe.Axe().run(opened.page)
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize(("media", "width"), [("screen", 400), ("print", 794)])
@pytest.mark.parametrize("of", ["report", "refused"])
def test_page_fits(
    browser: Any, request: pytest.FixtureRequest, media: str, width: int, of: str
) -> None:
    """Nothing is wider than a phone, or a sheet of paper."""
    page = open_page(browser, request.getfixturevalue(of)).page
    page.emulate_media(media=media)
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_lines_are_linked_by_keyboard(browser: Any, report: Path) -> None:
    page = open_page(browser, report).page
    pane = page.locator("#pane2")
    pane.focus()
    stages = json.loads(page.locator("#stages").text_content())
    gpu = next(one for one in stages if one["name"] == "gpu")["text"].splitlines()
    row = next(number for number, text in enumerate(gpu, 1) if "gpu.barrier" in text)
    pane.press("Home")
    for _ in range((row - 1) // 20):
        pane.press("PageDown")
    for _ in range((row - 1) % 20):
        pane.press("j")
    assert pane.get_attribute("aria-activedescendant") == f"pane2-{row}"
    marked = page.locator("#pane3 .linked").all_inner_texts()
    assert any("BAR" in text.upper() for text in marked)
    assert page.locator("#pane1 .linked").count() >= 1


def test_links_lead_to_lines(browser: Any, report: Path) -> None:
    page = open_page(browser, report).page
    link = page.locator("#barriers a[data-stage=gpu]").first
    line = link.get_attribute("data-line")
    link.click()
    assert page.locator("#pane2").get_attribute("aria-activedescendant") == f"pane2-{line}"
    assert "gpu.barrier" in page.locator(f"#pane2-{line}").inner_text()
    page.locator("#decisions a[data-stage=transform]").first.click()
    assert "transform" in page.locator("#pane2 [aria-selected=true]").inner_text()


def test_passes_are_stepped_through(browser: Any, report: Path) -> None:
    page = open_page(browser, report).page
    passes = page.locator("details.pass")
    assert passes.count() >= 2
    passes.nth(0).locator("summary").focus()
    page.keyboard.press("j")
    assert passes.nth(1).get_attribute("open") is not None
    page.keyboard.press("k")
    assert passes.nth(0).get_attribute("open") is not None


def test_hostile_names_run_nothing(browser: Any, tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=console.log(1)>'&"
    path = tmp_path / "report.html"
    program = OF_THE_USER.replace("@reverse", f'@"{evil}"')
    path.write_text(pipeline.explain(program, assemble=False, emulate=False).html())
    opened = open_page(browser, path)
    opened.page.locator("#pane1 [role=option]").first.click()
    assert evil in opened.page.locator("#pane1").inner_text()
    assert opened.complaints == []


def test_many_kernels_open_in_a_second(browser: Any, tmp_path: Path) -> None:
    kernels = [OF_THE_USER.replace("@kernels", f"@of_{n}") for n in range(100)]
    explained = pipeline.explain("\n".join(kernels), assemble=False, emulate=False)
    assert len(explained.document.kernels) == 100
    path = tmp_path / "report.html"
    path.write_text(explained.html())
    open_page(browser, path)  # warm
    start = time.perf_counter()
    opened = open_page(browser, path)
    elapsed = time.perf_counter() - start
    assert opened.complaints == []
    timing = "performance.getEntriesByType('navigation')[0].duration"
    print(f"{len(path.read_bytes())} bytes, {elapsed:.2f} s, {opened.page.evaluate(timing):.0f} ms")
    assert elapsed < 5, "a second, where nothing else runs"


def save(opened: Opened, part: str, *, last: str = "") -> None:
    """Save a picture of a part, down to what `last` finds in it, if pictures are asked for."""
    opened.page.evaluate("scrollTo(0, 0)")
    area = opened.page.locator(f"#{part}")
    box = area.bounding_box()
    assert box
    assert box["height"] > 60
    folder = os.environ.get("WORKGROUP_SCREENSHOTS")
    if not folder:
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    height = min(box["height"], HEIGHT)
    if last:
        end = area.locator(last).first.bounding_box()
        assert end
        height = end["y"] + end["height"] - box["y"]
    clip = {**box, "height": height}
    opened.page.screenshot(path=f"{folder}/explain-{part}.png", full_page=True, clip=clip)


SHOWN = ("lines", "barriers", "memory", "decisions")
"""The parts that the documentation shows of a matmul for sm_80."""


def test_parts_are_shown(browser: Any, report: Path) -> None:
    opened = open_page(browser, report)
    opened.page.locator("#barriers a[data-stage=gpu]").first.click()
    for part, _ in PARTS:
        assert opened.page.locator(f"#{part}").bounding_box()["height"] > 60
    for part in SHOWN:
        save(opened, part)


def test_mbarriers_are_shown(browser: Any, specialized: Path) -> None:
    """Warps that fill the slots of a ring, and those that read them, in their phases."""
    opened = open_page(browser, specialized)
    text = opened.page.locator("#timeline").inner_text()
    for words in ("full", "empty", "copy by TMA to", "phase 0", "passes"):
        assert words in text
    save(opened, "timeline", last="table.grid")


def test_race_is_shown_first(browser: Any, refused: Path) -> None:
    opened = open_page(browser, refused)
    text = opened.page.locator("#main > section").first.inner_text()
    for words in ("The program is refused", "data race on workgroup memory", "at byte 0"):
        assert words in text
    opened.page.locator("#refusal a[data-stage=gpu]").first.click()
    assert "memref.store" in opened.page.locator("#pane2 [aria-selected=true]").inner_text()
    assert opened.complaints == []
    save(opened, "refusal")


def test_comparison_is_accessible(browser: Any, tmp_path: Path) -> None:
    from pipeline.report.comparing import compare
    from pipeline.report.rendering import render_comparison

    def explain(program: str) -> Explanation:
        return pipeline.explain(program, assemble=False, emulate=False)

    path = tmp_path / "difference.html"
    sides = [explain(one).to_json() for one in (OF_THE_USER, MATMUL)]
    path.write_text(render_comparison(compare(*sides)))
    opened = open_page(browser, path)
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    results = axe.Axe().run(opened.page)
    assert results.violations_count == 0, results.generate_report()
    assert opened.complaints == []
