"""Self-contained pages: the frame, and the small pieces of HTML that sections are made of."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from tilewright.explain.positions import NOWHERE
from tilewright.explain.svg import position_attribute

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tilewright.explain.report import Report

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""A page loads nothing: it works offline, and cannot tell anyone that it was opened."""


def page(title: str, body: Iterable[str], data: object = None) -> str:
    """A page with the script and the style sheet inside; `data` is what the script reads."""
    script = ""
    if data is not None:
        script = (
            f'<script type="application/json" id="report">{embedded(data)}</script>\n'
            f"<script>{page_script()}</script>\n"
        )
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
    return document(title, [*body, script], asset("page.css"), policy)


def document(title: str, body: Iterable[str], style: str, head: str = "") -> str:
    """An HTML document with a style sheet inside."""
    start = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{head}"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
    )
    return "".join([start, *body, "</body>\n</html>\n"])


def page_script() -> str:
    """The script of a page, as it stands in its element."""
    return f"\n{asset('tokens.js')}{asset('page.js')}"


def embedded(data: object) -> str:
    """JSON that may stand in a script element: no text in it can end the element."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def asset(name: str) -> str:
    """The text of a style sheet or script of pages."""
    return files("tilewright.explain").joinpath(name).read_text("utf-8")


def link(report: Report, position: int) -> str:
    """A link to the lines of a position; nothing if it is unknown."""
    if position == NOWHERE:
        return ""
    at = report.positions[position]
    name = at.file.replace("\\", "/").rsplit("/", 1)[-1]
    return f'<a href="#code"{position_attribute(position)}>{escape(name)}:{at.line}</a>'


def card(title: str, content: str, *, wide: bool = False) -> str:
    """A box with a heading; nothing if it has no content."""
    if not content:
        return ""
    kind = "card wide" if wide else "card"
    return f'<section class="{kind}"><h3>{escape(title)}</h3>{content}</section>\n'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are HTML. Nothing if there are no rows."""
    cells = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    if not cells:
        return ""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f'<div class="scroll"><table><tr>{names}</tr>{cells}</table></div>'


def tiles(figures: Iterable[tuple[str, str]]) -> str:
    """Small boxes with a number and its name."""
    boxes = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(name)}</span></div>'
        for name, value in figures
    )
    return f'<div class="tiles">{boxes}</div>'


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """The colours of a picture, by the class of its bars."""
    samples = "".join(
        '<span><svg width="11" height="11" aria-hidden="true">'
        f'<rect class="k-{kind}" width="11" height="11" rx="2"/></svg> {escape(name)}</span>'
        for kind, name in entries
    )
    return f'<div class="legend">{samples}</div>'
