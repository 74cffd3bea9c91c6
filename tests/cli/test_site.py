"""The documentation site: its navigation is complete, generated pages are up to date, it builds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import dialect_reference
import docs_site
import passes_page
import performance_table
import pytest
from documentation import PAGES, ROOT, name_of

from tilewright.driver.registry import DIALECTS

LOADS = re.compile(
    r"""<(?:script|img|iframe)[^>]+src="(.*?)"|<link[^>]+href="(.*?)"|url\((.*?)\)"""
)


def test_every_page_is_in_the_navigation_once() -> None:
    listed = docs_site.read_navigation().pages()
    assert len(listed) == len(set(listed))
    assert {name_of(page) for page in PAGES if page.is_relative_to(ROOT / "docs")} <= set(listed)
    assert all((ROOT / page).is_file() for page in listed)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "source"
    docs_site.stage(folder)
    return folder


def test_links_of_staged_pages_lead_to_files_of_the_site(sources: Path) -> None:
    for page in sources.rglob("*.md"):
        text = docs_site.FENCE.sub("", page.read_text("utf-8"))
        for match in docs_site.LINK.finditer(text):
            file = match[2].partition("#")[0]
            assert "://" in file or (page.parent / file).exists(), (page, file)


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("docs/explain.md", "remarks.md#pipeline", "remarks.md#pipeline"),
        ("docs/index.md", "../CONTRIBUTING.md", "CONTRIBUTING.md"),
        ("docs/decisions/0001.md", "../nvvm.md", "../nvvm.md"),
        ("docs/decisions/0001.md", "../../benchmarks/x.md", "../benchmarks/x.md"),
        ("benchmarks/results/x.md", "../../docs/nvvm.md#a", "../../nvvm.md#a"),
        ("CONTRIBUTING.md", "docs/nvvm.md", "nvvm.md"),
        ("docs/explain.md", "#the-page", "#the-page"),
        ("docs/tuning.md", "https://docs.ray.io", "https://docs.ray.io"),
    ],
)
def test_links_are_those_of_the_site(page: str, link: str, expected: str) -> None:
    text, _ = docs_site.rewritten(f"see [this]({link}).", page)
    assert text == f"see [this]({expected})."


def test_code_is_not_rewritten() -> None:
    text = "[a](../b.md)\n\n```text\n[a](../b.md)\n```\n"
    assert docs_site.rewritten(text, "docs/x.md")[0] == text.replace("../b.md", "b.md", 1)


def test_the_dialect_reference_is_up_to_date() -> None:
    """`python tools/dialect_reference.py` writes it."""
    pages = dialect_reference.pages()
    assert {path.name for path in dialect_reference.FOLDER.iterdir()} == set(pages)
    for name, text in pages.items():
        assert (dialect_reference.FOLDER / name).read_text("utf-8") == text, name


def test_every_dialect_has_a_description() -> None:
    assert set(dialect_reference.DESCRIPTIONS) == set(DIALECTS)


def test_the_page_of_passes_is_up_to_date() -> None:
    """`python tools/passes_page.py > docs/passes.md` writes it."""
    assert (ROOT / "docs" / "passes.md").read_text("utf-8") == passes_page.page()


def test_the_table_of_speed_is_up_to_date() -> None:
    """`python tools/performance_table.py` writes it."""
    assert performance_table.PAGE.read_text("utf-8") == performance_table.page()


def test_rows_of_the_home_page_are_those_that_were_measured() -> None:
    measured = performance_table.ROWS.read_text("utf-8").splitlines()
    cells = {
        line.split("|")[1].strip(): line.split("|") for line in measured if line.startswith("| `")
    }
    home = (ROOT / "docs" / "index.md").read_text("utf-8")
    rows = [line.split("|") for line in home.splitlines() if line.startswith("| `")]
    assert len(rows) >= 5
    for row in rows:
        _, name, ours, tileiras, torch, of_tileiras, of_torch, _ = map(str.strip, row)
        row_measured = [cell.strip() for cell in cells[name]]
        assert [ours, tileiras, torch, of_tileiras, of_torch] == [
            *row_measured[2:5],
            *row_measured[6:8],
        ], name


def numbers_with_a_table() -> Iterator[tuple[str, str, str]]:
    """Rows of the page on fast kernels: the times, and the page of results that has them."""
    text = (ROOT / "docs" / "fast-kernels.md").read_text("utf-8")
    results = ""
    for line in text.splitlines():
        links = re.findall(r"\((\.\./benchmarks/results/[\w-]+\.md)", line)
        results = links[0] if links else results
        if line.startswith("|") and re.search(r"\d", line):
            times = re.findall(r"(?<=\| )[\d,]+\.\d(?= \|)", line)
            yield from ((line, results, time) for time in times)


def test_times_on_the_page_of_fast_kernels_are_those_that_were_measured() -> None:
    rows = list(numbers_with_a_table())
    assert len(rows) > 30
    for line, results, time in rows:
        text = (ROOT / "docs" / results).read_text("utf-8")
        assert re.search(rf"(?<![\d,.]){re.escape(time)}(?!\d|\.\d)", text), (line, time)


@pytest.mark.exhaustive
@pytest.mark.skipif(find_spec("sphinx") is None, reason="needs Sphinx: pip install '.[docs]'")
def test_the_site_builds_without_warnings_and_loads_nothing(sources: Path) -> None:
    """Sphinx checks again the links that the tests above and those of pages check."""
    output = sources.with_name("site")
    assert docs_site.build(sources, output) == 0
    pages = list(output.rglob("*.html"))
    assert len(pages) >= len(docs_site.read_navigation().pages())
    for page in (*pages, *output.rglob("*.css")):
        loaded = [target for match in LOADS.findall(page.read_text("utf-8")) for target in match]
        outside = [target for target in loaded if re.match(r"['\"]?(https?:)?//", target)]
        assert not outside, (os.path.relpath(page, output), outside)
