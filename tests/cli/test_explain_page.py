"""Pages of `tilewright explain`: valid, self-contained and safe; and, in Chromium, alive."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from browser import find_browser, run_in_page
from explained import ATTENTION, GEMM, LAYER_NORM, VECTOR_ADD, explained, has_nvdisasm

from tilewright.driver.explanation import explain
from tilewright.driver.settings import Settings
from tilewright.explain.html import html_report
from tilewright.explain.html_comparison import html_comparison
from tilewright.target.arch import ARCHES

VOID = {"meta", "br", "link", "input", "img", "hr"}
needs_browser = pytest.mark.skipif(
    find_browser() is None, reason="Chromium is not installed (Debian's package chromium)"
)


class Page(HTMLParser):
    """The elements of a page; fails where they are not nested."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.data = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)
        self._is_data = ("id", "report") in attrs

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "script" and self._is_data:
            self.data += data

    def values(self, name: str) -> list[str]:
        return [value for _, attribute, value in self.attributes if attribute == name]


@cache
def page_of(path: Path, schedule: str = "") -> str:
    return html_report(explained(path, schedule=schedule))


PROGRAMS = {
    "gemm": (GEMM, ""),
    "specialized warps": (GEMM, "agents=1"),
    "two kernels": (VECTOR_ADD, ""),
    "layer_norm": (LAYER_NORM, ""),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_pages_are_valid_and_load_nothing(name: str) -> None:
    text = page_of(*PROGRAMS[name])
    page = Page(text)
    assert not {"link", "img", "iframe", "object"} & page.tags.keys()
    assert page.values("src") == []
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    code = text.rpartition("<script>")[2]
    assert not re.search(r"https?:|fetch\(|XMLHttpRequest|import\(|WebSocket", code)
    [policy] = [value for value in page.values("content") if "default-src" in value]
    assert policy.startswith("default-src 'none'")


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_link_has_a_target(name: str) -> None:
    path, schedule = PROGRAMS[name]
    page = Page(page_of(path, schedule))
    identifiers = page.values("id")
    assert len(identifiers) == len(set(identifiers))
    assert page.values("href")
    assert all(href.removeprefix("#") in identifiers for href in page.values("href"))
    data = json.loads(page.data)
    linked = {each for positions in data["sets"] for each in positions}
    # Each position of a table or picture has a line of some text, and each line a known set.
    assert {int(value) for value in page.values("data-pos")} <= linked
    for text in data["texts"]:
        assert len(text["lines"]) == len(text["links"])
        assert all(-1 <= each < len(data["sets"]) for each in text["links"])
    names = [text["name"] for text in data["texts"]]
    levels = ["cuda_tile", "nv_tileaa", "nv_tileas", "nvgpu", "nvvm", "llvm", "ptx"]
    assert names == [path.name, *levels, *(["sass"] if has_nvdisasm() else [])]


def test_pages_are_deterministic() -> None:
    settings = Settings(ARCHES["sm_90"])
    report = explain(LAYER_NORM.read_bytes(), str(LAYER_NORM), settings)
    assert html_report(report) == page_of(LAYER_NORM)


HOSTILE = '</script><img src=x onerror=alert(1)>&"'


def test_texts_of_programs_are_escaped(tmp_path: Path) -> None:
    program = f"""\
// {HOSTILE} \u2028 <!-- ]]>
cuda_tile.module @kernels {{
  entry @kernel(%x: tile<ptr<f32>>) {{
    %0 = constant <f32: 1.0> : tile<f32>
    %1 = store_ptr_tko weak %x, %0 : tile<ptr<f32>>, tile<f32> -> token
    return
  }}
}}
"""
    report = explain(program.encode(), f"{HOSTILE}.mlir", Settings(ARCHES["sm_90"]))
    hostile = report._replace(
        title=HOSTILE,
        options=HOSTILE,
        notes=[HOSTILE],
        kernels=[each._replace(name=HOSTILE) for each in report.kernels],
        remarks=[each._replace(text=HOSTILE, id=HOSTILE) for each in report.remarks],
    )
    for text in (html_report(hostile), html_comparison(hostile, report)):
        page = Page(text)
        assert "img" not in page.tags
        assert page.values("onerror") == []
    assert HOSTILE in json.loads(Page(html_report(hostile)).data)["texts"][0]["lines"][0]


def test_comparison_is_valid() -> None:
    page = Page(html_comparison(explained(GEMM), explained(GEMM, schedule="agents=1")))
    # Levels that differ: from nv_tileaa on, whose plan says what is asked.
    assert page.tags["details"] == (7 if has_nvdisasm() else 6)
    assert page.values("src") == []
    assert page.values("class").count("timeline") == 2


HELPERS = """
const pane = (name) => document.querySelector(`.pane[data-text="${name}"]`);
const rows = (name, kind) => [...pane(name).querySelectorAll(`.ln${kind || ""}`)];
const texts = (list) => list.map((row) => row.textContent);
const row = (name, text) => rows(name).find((each) => each.textContent.includes(text));
const over = (target) => target.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
const click = (target) =>
  target.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
const all = (selector) => [...document.querySelectorAll(selector)];
"""


def probe(path: Path, script: str, folder: Path, schedule: str = "", width: int = 1400) -> Any:
    return run_in_page(page_of(path, schedule), HELPERS + script, folder, width=width)


@needs_browser
def test_hovering_a_source_line_lights_the_others(tmp_path: Path) -> None:
    result = probe(
        GEMM,
        """
        over(row("gemm.mlir", "mmaf %x"));
        const lit = {source: texts(rows("gemm.mlir", ".lit"))};
        lit.level = texts(rows("nv_tileas", ".lit"));
        pane("gemm.mlir").querySelector(".box").dispatchEvent(new MouseEvent("mouseleave"));
        return {...lit, after: document.querySelectorAll(".ln.lit").length};
        """,
        tmp_path,
    )
    assert len(result["source"]) == 1
    assert "nv_tileas.dot " in "".join(result["level"])
    assert all("dot" in line or "barrier" in line for line in result["level"]), result["level"]
    assert result["after"] == 0


@needs_browser
def test_tokens_have_colours_and_lines_their_text(tmp_path: Path) -> None:
    result = probe(
        GEMM,
        """
        const data = JSON.parse(document.getElementById("report").textContent);
        const wrong = data.texts.flatMap((text) => text.lines.filter((line) =>
          coloredLine(line, languageOf(text.name))
            .map((each) => each.textContent ?? each).join("") !== line));
        const kinds = (name, text) => [...row(name, text).querySelectorAll("[class^=t-]")]
          .map((each) => [each.className, each.textContent]);
        return {wrong, source: kinds("gemm.mlir", "constant <i32: 64>"),
                comment: kinds("gemm.mlir", "// C = A"), ptx: kinds("ptx", ".address_size")};
        """,
        tmp_path,
    )
    assert result["wrong"] == []
    assert result["source"] == [
        ["t-name", "%step"], ["t-word", "constant"], ["t-type", "i32"], ["t-number", "64"],
        ["t-type", "tile"], ["t-type", "i32"],
    ]  # fmt: skip
    assert [kind for kind, _ in result["comment"]] == ["t-comment"]
    assert result["ptx"] == [["t-word", ".address_size"], ["t-number", "64"]]


@needs_browser
def test_clicking_pins_and_scrolls_to_the_linked_lines(tmp_path: Path) -> None:
    result = probe(
        GEMM,
        """
        const before = pane("ptx").querySelector(".box").scrollTop;
        click(row("gemm.mlir", "mmaf %x"));
        const after = pane("ptx").querySelector(".box").scrollTop;
        const pinned = texts(rows("ptx", ".pin"));
        window.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
        return {before, after, pinned, left: document.querySelectorAll(".ln.pin").length};
        """,
        tmp_path,
    )
    assert result["before"] == 0
    assert result["after"] > 1000
    assert any("wgmma" in line for line in result["pinned"])
    assert result["left"] == 0


@needs_browser
def test_links_of_tables_pin_lines(tmp_path: Path) -> None:
    result = probe(
        GEMM,
        """
        click(all("a[data-pos]").find((each) => each.textContent === "gemm.mlir:32"));
        return {hash: location.hash, pinned: texts(rows("gemm.mlir", ".pin"))};
        """,
        tmp_path,
    )
    assert len(result["pinned"]) == 1
    assert "store_view_tko" in result["pinned"][0]
    assert result["hash"] == "#code"


@needs_browser
def test_bars_of_the_timeline_light_lines(tmp_path: Path) -> None:
    result = probe(
        GEMM,
        """
        const bars = all("svg.timeline rect.k-copy[data-pos]");
        over(bars[0]);
        const stages = all("svg.timeline g.row").map((each) => each.dataset.row);
        const box = bars[0].getBoundingClientRect();
        return {stages, width: box.width, lit: texts(rows("gemm.mlir", ".lit")), bars: bars.length};
        """,
        tmp_path,
        schedule="agents=1",
    )
    assert result["stages"][:3] == ["warp 8", "warps 0-7", "tensor cores"]
    assert result["width"] > 5
    assert len(result["lit"]) == 1
    assert "load_view_tko weak %a_tiles" in result["lit"][0]


@needs_browser
def test_levels_are_shown_and_hidden(tmp_path: Path) -> None:
    result = probe(
        GEMM,
        """
        const shown = () =>
          all(".pane").filter((each) => !each.hidden).map((each) => each.dataset.text);
        const before = shown();
        click(document.querySelector('#chips button[data-text="nvvm"]'));
        click(document.querySelector('#chips button[data-text="ptx"]'));
        return {before, after: shown(), rows: rows("nvvm").length};
        """,
        tmp_path,
    )
    assert result["before"] == ["gemm.mlir", "nv_tileas", "ptx"]
    assert result["after"] == ["gemm.mlir", "nv_tileas", "nvvm"]
    assert result["rows"] > 20


@needs_browser
def test_layouts_are_painted_and_name_the_thread(tmp_path: Path) -> None:
    """Element (9, 3) of the accumulator: row 1 of the second group of rows of warp 0."""
    result = probe(
        GEMM,
        """
        const canvas = document.querySelector(".layout canvas");
        const cell = canvas.width / 128;
        const box = canvas.getBoundingClientRect();
        const at = {clientX: box.left + 3.5 * cell, clientY: box.top + 9.5 * cell};
        canvas.dispatchEvent(new MouseEvent("mousemove", at));
        const pixel = canvas.getContext("2d").getImageData(3.5 * cell, 9.5 * cell, 1, 1).data[3];
        const register = document.querySelector(".readout").textContent;
        const choice = document.querySelector(".layout select.which");
        choice.value = "1";
        choice.dispatchEvent(new Event("change"));
        const wide = canvas.width / 64;
        const other = canvas.getBoundingClientRect();
        const below = {clientX: other.left + 0.5 * wide, clientY: other.top + 1.5 * wide};
        canvas.dispatchEvent(new MouseEvent("mousemove", below));
        return {pixel, register, shared: document.querySelector(".readout").textContent};
        """,
        tmp_path,
    )
    assert result["pixel"] == 255
    # Lane 4 * 1 + 3 // 2, register 2 for the lower eight rows and 1 for the odd column.
    assert result["register"] == "element (9, 3): thread 5 (warp 0, lane 5), register 3"
    # Row 1 begins at byte 128; chunk 0 of it lies at chunk 0 ^ 1, four banks further.
    assert result["shared"] == "element (1, 0): byte 144, bank 4, line 1"


@needs_browser
def test_long_programs_have_few_rows_and_narrow_pages_do_not_overflow(tmp_path: Path) -> None:
    script = """
        const ptx = pane("ptx");
        if (ptx.hidden) click(document.querySelector('#chips button[data-text="ptx"]'));
        ptx.querySelector(".box").scrollTop = 90000;
        ptx.querySelector(".box").dispatchEvent(new Event("scroll"));
        const data = JSON.parse(document.getElementById("report").textContent);
        const numbers = rows("ptx").map((each) => Number(each.dataset.line));
        return {
          rows: document.querySelectorAll(".ln").length, numbers,
          lines: data.texts.find((each) => each.name === "ptx").lines.length,
          wide: document.documentElement.scrollWidth, window: window.innerWidth,
        };
        """
    for width in (1400, 500):
        result = probe(ATTENTION, script, tmp_path, width=width)
        assert result["lines"] > 5000
        assert result["rows"] < 600
        assert 5000 in result["numbers"]
        assert result["wide"] <= result["window"]
