"""Two compilations side by side as a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from tilewright.explain.compare import figures, level_diffs
from tilewright.explain.page import card, page
from tilewright.explain.svg import shared_map_svg, timeline_svg

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.explain.compare import Difference, LevelDiff
    from tilewright.explain.report import Kernel, Report

CLASSES: Final = {"-": "minus", "+": "plus", "@": "at"}


def html_comparison(left: Report, right: Report) -> str:
    """The page that compares two reports."""
    return page(f"{left.title} and {right.title}: Tilewright explain", _body(left, right))


def _body(left: Report, right: Report) -> Iterator[str]:
    yield "<header><h1>Comparison</h1>"
    for name, report in (("A", left), ("B", right)):
        gist = f"{report.title} for {report.arch}, {report.options}"
        yield f"<p><b>{name}</b> {escape(gist)}</p>"
    yield '<nav><a href="#figures">figures</a><a href="#pictures">pictures</a>'
    yield '<a href="#levels">levels</a></nav></header>\n<main>\n'
    rows = figures(left, right)
    differing = sum(row.differs for row in rows)
    yield f'<section id="figures"><h2>{differing} of {len(rows)} figures differ</h2>'
    yield f'<div class="card">{_figures(rows)}</div></section>\n'
    yield '<section id="pictures"><h2>Pictures</h2><div class="cards">\n'
    for name, report in (("A", left), ("B", right)):
        for kernel in report.kernels:
            yield card(f"{name}: timeline of {kernel.name}", _timeline(kernel), wide=True)
    for name, report in (("A", left), ("B", right)):
        for kernel in report.kernels:
            yield card(f"{name}: shared memory of {kernel.name}", _shared(kernel))
    yield '</div></section>\n<section id="levels"><h2>Levels</h2>\n'
    for diff in level_diffs(left, right):
        yield _level(diff)
    yield "</section>\n</main>\n"


def _figures(rows: Sequence[Difference]) -> str:
    cells = "".join(
        f'<tr class="{"differs" if row.differs else "same"}"><td>{escape(row.kernel)}</td>'
        f"<td>{escape(row.figure)}</td><td>{escape(row.left)}</td><td>{escape(row.right)}</td></tr>"
        for row in rows
    )
    head = "<tr><th>kernel</th><th>figure</th><th>A</th><th>B</th></tr>"
    return f'<div class="scroll"><table>{head}{cells}</table></div>'


def _timeline(kernel: Kernel) -> str:
    # Without panes of code there are no lines to link to.
    if kernel.timeline is None:
        return ""
    return f'<div class="scroll">{_unlinked(timeline_svg(kernel.timeline))}</div>'


def _shared(kernel: Kernel) -> str:
    if not kernel.shared_map:
        return ""
    return f'<div class="scroll">{_unlinked(shared_map_svg(kernel.shared_map))}</div>'


def _unlinked(svg: str) -> str:
    return svg.replace(" data-pos=", " data-line=")


def _level(diff: LevelDiff) -> str:
    if not diff.lines:
        return f"<p><b>{escape(diff.name)}</b>: the same</p>\n"
    lines = "".join(
        f'<span class="{CLASSES.get(line[:1], "same")}">{escape(line) or " "}</span>'
        for line in diff.lines
    )
    gist = f"{diff.removed} lines of A, {diff.added} lines of B"
    return (
        f"<details><summary><b>{escape(diff.name)}</b>: {gist}</summary>"
        f'<pre class="diff">{lines}</pre></details>\n'
    )
