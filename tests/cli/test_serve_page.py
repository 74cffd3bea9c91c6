"""The page of `tilewright serve` in Chromium: edit, see errors, levels and results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from browser import find_browser
from devtools import Tab, open_tab

from tilewright.driver.playground.child import Limits
from tilewright.driver.playground.languages import examples, languages
from tilewright.driver.playground.page import Opened, playground_page
from tilewright.driver.playground.server import Server
from tilewright.driver.playground.tasks import Tasks

pytestmark = pytest.mark.skipif(
    find_browser() is None, reason="Chromium is not installed (Debian's package chromium)"
)

COMPILED = "document.body.dataset.state === 'compiled'"
WRONG = "document.body.dataset.state === 'wrong'"
RAN = "document.body.dataset.run === 'ended'"


@pytest.fixture
def server() -> Iterator[Server]:
    known = [*languages()[:2], languages()[2]._replace(missing="no nvcc")]
    offered = examples(known)
    page = playground_page(Opened(offered[0], "sm_90", "3", ""), known, offered)
    made = Server(0, page, Tasks(Limits(timeout=60.0)))
    thread = Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.tasks.close()
    made.server_close()
    thread.join()


@pytest.fixture
def tab(server: Server, tmp_path: Path) -> Iterator[Tab]:
    with open_tab(tmp_path / "profile") as opened:
        opened.show(1280, 1000, "light")
        opened.open(server.url)
        opened.wait_for(COMPILED)
        yield opened
        # Nothing was refused by the policy of the page, and no script failed.
        assert not [each for each in opened.events if "exceptionThrown" in each.get("method", "")]


def replace(tab: Tab, old: str, new: str) -> None:
    """Edit the program as typing does."""
    tab.evaluate(
        "const source = document.getElementById('source');"
        f"const start = source.value.indexOf({json.dumps(old)});"
        f"source.focus(); source.setSelectionRange(start, start + {len(old)});"
        f"document.execCommand('insertText', false, {json.dumps(new)});"
    )


def choose(tab: Tab, name: str, text: str) -> None:
    """Choose the option of a menu that has a text."""
    tab.evaluate(
        f"const menu = document.getElementById({json.dumps(name)});"
        f"const option = [...menu.options].find((each) => each.text === {json.dumps(text)});"
        "menu.value = option.value; menu.dispatchEvent(new Event('change'));"
    )


def texts(tab: Tab, selector: str) -> list[str]:
    return tab.evaluate(
        f"return [...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)"
    )


def frame(tab: Tab, script: str) -> Any:
    """Run a script in the page of `explain`, once it is there."""
    context = tab.frame_context()
    tab.wait_for("document.querySelector('.pane')", context)
    return tab.evaluate(script, context)


def test_edit_and_run(tab: Tab) -> None:
    panes = "return [...document.querySelectorAll('.pane')].map((each) => each.dataset.text)"
    assert frame(tab, panes)[1:8] == [
        "cuda_tile", "nv_tileaa", "nv_tileas", "nvgpu", "nvvm", "llvm", "ptx",
    ]  # fmt: skip

    # An error is at its line, in the list and beside the line.
    replace(tab, "addf %a, %b", "addf %a, %c")
    tab.wait_for(WRONG)
    [error] = texts(tab, "#errors li")
    assert error.startswith("line 15: ")
    assert texts(tab, "#gutter .error") == ["15"]
    assert texts(tab, "#paint .error")[0].strip().startswith("%sum = addf %a, %c")
    assert tab.evaluate("return document.getElementById('report').className") == "stale"
    tab.evaluate("document.querySelector('#errors button').click()")
    selected = "const s = document.getElementById('source');"
    selected += "return s.value.slice(s.selectionStart, s.selectionEnd)"
    assert "addf %a, %c" in tab.evaluate(selected)

    # Fixed, it is compiled: now to a multiplication.
    replace(tab, "addf %a, %c rounding<nearest_even>", "mulf %a, %b")
    tab.wait_for(COMPILED)
    assert texts(tab, "#errors li") == []
    assert texts(tab, "#gutter .error") == []
    ptx = frame(
        tab,
        "return document.querySelector('.pane[data-text=\"ptx\"] h3').textContent"
        " + JSON.parse(document.getElementById('report').textContent).texts"
        ".find((each) => each.name === 'ptx').lines.join('\\n')",
    )
    assert "mul.rn.f32" in ptx or "mul.f32" in ptx

    # The emulator multiplies.
    tab.evaluate(
        "const inputs = [...document.querySelectorAll('#arguments input')];"
        "inputs[0].value = 'iota:64xf32'; inputs[1].value = 'iota:64xf32';"
        "document.getElementById('start').click();"
    )
    tab.wait_for(RAN)
    assert texts(tab, "#results td") == ["0", "1", "4", "9", "16", "25", "36", "49"]
    assert texts(tab, "#results h3")[0] == "out, 64xf32: 0 to 3969, the first elements"
    assert "thread instructions" in texts(tab, "#results pre")[0]

    # The arguments stay, and each edit runs the kernel anew.
    replace(tab, "mulf %a, %b", "subf %a, %b")
    tab.wait_for("document.querySelector('#results.stale')")
    tab.wait_for(f"{COMPILED} && {RAN}")
    assert texts(tab, "#results td") == ["0"] * 8


def test_switch_between_examples_and_languages(tab: Tab) -> None:
    disabled = "return [...document.querySelectorAll('#language option')].map((e) => e.disabled)"
    assert tab.evaluate(disabled) == [False, False, True]
    assert "no nvcc" in texts(tab, "#language option")[2]
    choose(tab, "examples", "Softmax (cuTile Python)")
    tab.wait_for(COMPILED)
    assert tab.evaluate("return document.getElementById('language').value") == ".py"
    assert texts(tab, "#kernel option") == ["softmax"]
    assert texts(tab, "#arguments label")[0] == "x"
    title = frame(tab, "return document.querySelector('h1').textContent")
    assert title == "softmax.py: softmax"
    choose(tab, "arch", "sm_80")
    tab.wait_for(COMPILED)
    assert "sm_80" in frame(tab, "return document.querySelector('header .soft').textContent")


def test_lines_of_the_editor_and_of_the_levels_are_linked(tab: Tab) -> None:
    shown = "return document.querySelectorAll('.pane[data-text=\"nv_tileas\"] .ln.pin').length"
    tab.evaluate(
        "const source = document.getElementById('source');"
        "const at = source.value.indexOf('load_view_tko');"
        "source.setSelectionRange(at, at); source.dispatchEvent(new MouseEvent('click'));"
    )
    assert texts(tab, "#paint .linked")[0].strip().startswith("%a, %at = load_view_tko")
    context = tab.frame_context()
    tab.wait_for("document.querySelector('.pane[data-text=\"nv_tileas\"] .ln.pin')", context)
    assert frame(tab, shown) >= 1
    # And back: the store, by a line of the level.
    frame(
        tab,
        "const rows = [...document.querySelectorAll('.pane[data-text=\"nv_tileas\"] .ln.linked')];"
        "rows.find((each) => each.textContent.includes('tiled_store')"
        " || each.textContent.includes('store')).click();",
    )
    tab.wait_for("document.querySelector('#paint .linked').textContent.includes('store_view_tko')")


def test_what_is_shown_stays_as_one_edits(tab: Tab) -> None:
    shown = "return [...document.querySelectorAll('.pane')].filter((each) => !each.hidden)"
    shown += ".map((each) => each.dataset.text)"
    assert frame(tab, shown) == ["nv_tileas", "ptx"]
    frame(tab, "document.querySelector('#chips button[data-text=\"nvvm\"]').click()")
    frame(tab, "document.querySelector('#chips button[data-text=\"ptx\"]').click()")
    replace(tab, "addf %a, %b", "addf %b, %a")
    tab.wait_for("document.body.dataset.state === 'edited'")
    tab.wait_for(COMPILED)
    context = tab.frame_context()
    tab.wait_for("document.querySelector('.pane[data-text=\"ptx\"]')?.hidden", context)
    assert frame(tab, shown) == ["nv_tileas", "nvvm"]


def test_pages_and_sources_are_saved(tab: Tab, tmp_path: Path) -> None:
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    tab.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))
    tab.evaluate("document.getElementById('save-source').click()")
    tab.evaluate("document.getElementById('save-page').click()")
    wait_for_file(tab, lambda: len([*downloads.glob("*.html"), *downloads.glob("*.mlir")]) == 2)
    source = (downloads / "add.mlir").read_text()
    assert source == tab.evaluate("return document.getElementById('source').value")
    tab.open((downloads / "add.html").as_uri())
    first = "return document.querySelector('.pane h3').textContent"
    assert tab.evaluate(first).startswith("add.mlir (")
    hidden = "return document.querySelector('.pane').hidden"
    assert tab.evaluate(hidden) is False


def wait_for_file(tab: Tab, is_there: Callable[[], bool]) -> None:
    for _ in range(200):
        if is_there():
            return
        tab.evaluate("return 0")
        tab.pause()
    pytest.fail("nothing was saved")


def test_narrow_pages_do_not_overflow(tab: Tab) -> None:
    for width in (1280, 500):
        tab.show(width, 900, "dark")
        wide = "return [document.documentElement.scrollWidth, window.innerWidth]"
        scrolled, window = tab.evaluate(wide)
        assert scrolled <= window
