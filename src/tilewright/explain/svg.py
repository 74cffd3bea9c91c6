"""Pictures of a kernel as SVG: timeline, shared-memory map, roofline."""

from __future__ import annotations

from html import escape
from math import log10
from typing import TYPE_CHECKING, Final

from tilewright.explain.figures import spell_bytes
from tilewright.explain.positions import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.explain.report import Allocation, Mark, Roofline, Row, Segment, Timeline

UNIT: Final = 12
"""Pixels of a unit of time."""
LABEL: Final = 110
ROW: Final = 26
BAR: Final = 18
MAP_WIDTH: Final = 640
MAP_HEIGHT: Final = 240
KIND_CLASSES: Final = {"tensor maps": "maps", "mbarriers": "other"}
MIN_TEXT: Final = 44
"""Pixels from which on a bar has its label inside."""


def position_attribute(position: int) -> str:
    """The attribute that links an element with the lines of a position."""
    return "" if position == NOWHERE else f' data-pos="{position}"'


def timeline_svg(timeline: Timeline) -> str:
    """Bars of agents, tensor cores and stages over time; barriers and commits as lines."""
    width, height = LABEL + timeline.length * UNIT + 10, len(timeline.rows) * ROW + 6
    parts = [_open(width, height, "timeline of agents and stages", "timeline")]
    for number, row in enumerate(timeline.rows):
        parts += _row(row, number * ROW + 4, timeline.length)
    return "".join([*parts, "</svg>"])


def _row(row: Row, top: int, length: int) -> list[str]:
    middle = top + BAR // 2
    parts = [
        f'<g class="row" data-row="{escape(row.label)}">',
        f'<text x="0" y="{middle + 4}">{escape(row.label)}</text>',
        f'<path class="axis" d="M{LABEL} {middle}h{length * UNIT}"/>',
    ]
    parts += [_bar(segment, top) for segment in row.segments]
    parts += [_mark(mark, top) for mark in row.marks]
    return [*parts, "</g>"]


def _bar(segment: Segment, top: int) -> str:
    x, width = LABEL + segment.start * UNIT, (segment.end - segment.start) * UNIT
    return (
        f'<rect class="k-{segment.kind}" x="{x}" y="{top}" width="{max(width - 1, 1)}" '
        f'height="{BAR}" rx="2"{position_attribute(segment.position)}>'
        f"<title>{escape(segment.label)}</title></rect>"
    )


def _mark(mark: Mark, top: int) -> str:
    x = LABEL + mark.time * UNIT
    return (
        f'<path class="k-{mark.kind}" d="M{x} {top - 3}v{BAR + 6}">'
        f"<title>{escape(mark.label)}</title></path>"
    )


def shared_map_svg(allocations: Sequence[Allocation]) -> str:
    """Allocations as boxes: bytes from top to bottom, operations from left to right."""
    size = max(each.offset + each.bytes for each in allocations)
    last = max(each.end for each in allocations) + 1
    parts = [_open(MAP_WIDTH + 80, MAP_HEIGHT + 20, "map of shared memory", "shared-map")]
    for each in sorted(allocations, key=lambda each: each.start - each.end):
        x = 70 + each.start * MAP_WIDTH / last
        width = max((each.end + 1 - each.start) * MAP_WIDTH / last, 3)
        y, height = each.offset * MAP_HEIGHT / size, max(each.bytes * MAP_HEIGHT / size, 2)
        kind = KIND_CLASSES.get(each.kind, each.kind)
        title = f"{each.kind}: {each.what}, {spell_bytes(each.bytes)} at {each.offset}"
        parts.append(
            f'<rect class="k-{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}"{position_attribute(each.position)}>'
            f"<title>{escape(title)}</title></rect>"
        )
        if width >= MIN_TEXT and height >= 14:
            parts.append(f'<text x="{x + 6:.1f}" y="{y + 13:.1f}">{escape(each.what)}</text>')
    for share in range(5):
        y = share * MAP_HEIGHT / 4
        parts.append(
            f'<text class="soft" x="0" y="{y + 9:.1f}">{spell_bytes(share * size // 4)}</text>'
        )
    parts.append(
        f'<text class="soft" x="70" y="{MAP_HEIGHT + 16}">operations 0 to {last - 1}</text></svg>'
    )
    return "".join(parts)


def roofline_svg(roofline: Roofline) -> str:
    """The limits of memory and arithmetic, and the kernel, on logarithmic axes."""
    width, height, edge = 360, 200, 40
    low, high = -1.0, max(3.0, log10(max(roofline.intensity, roofline.ridge, 1)) + 0.5)
    top = log10(roofline.peak) + 0.3
    bottom = log10(max(roofline.bandwidth / 1000 * 10**low, 1e-6))

    def x_of(intensity: float) -> float:
        share = (log10(max(intensity, 10**low)) - low) / (high - low)
        return edge + min(share, 1) * (width - edge - 10)

    def y_of(rate: float) -> float:
        share = (log10(max(rate, 10**bottom)) - bottom) / (top - bottom)
        return height - edge - min(share, 1) * (height - edge - 10)

    start, ridge = (x_of(10**low), y_of(10**bottom)), (x_of(roofline.ridge), y_of(roofline.peak))
    spot = x_of(roofline.intensity), y_of(roofline.attainable)
    limit = f"{roofline.peak:g} Tera-operations a second"
    return "".join((
        _open(width, height, "roofline", "roofline"),
        f'<path class="axis" d="M{edge} 5V{height - edge}H{width - 5}"/>',
        f'<path class="roof" d="M{start[0]:.1f} {start[1]:.1f}L{ridge[0]:.1f} {ridge[1]:.1f}'
        f'H{width - 10}"/>',
        f'<circle class="spot" cx="{spot[0]:.1f}" cy="{spot[1]:.1f}" r="5">'
        f"<title>{roofline.intensity:g} operations a byte</title></circle>",
        f'<text class="soft" x="{edge}" y="{height - 22}">{10**low:g}</text>',
        f'<text class="soft" x="{x_of(1):.1f}" y="{height - 22}">1</text>',
        f'<text class="soft" x="{x_of(roofline.ridge) - 12:.1f}" y="{height - 22}">'
        f"{roofline.ridge:g}</text>",
        f'<text class="soft" x="{edge}" y="{height - 6}">operations a byte of global memory</text>',
        f'<text class="soft" x="{edge + 6}" y="{max(ridge[1] - 6, 10):.1f}">{limit}</text>',
        "</svg>",
    ))  # fmt: skip


def _open(width: float, height: float, label: str, kind: str) -> str:
    return (
        f'<svg class="{kind}" role="img" aria-label="{label}" width="{width:g}" '
        f'height="{height:g}" viewBox="0 0 {width:g} {height:g}">'
    )
