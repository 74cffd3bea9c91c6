"""The report of `tilewright explain` as a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from tilewright.explain.figures import repeated, spell_bytes, spell_number
from tilewright.explain.page import card, legend, link, page, table, tiles
from tilewright.explain.positions import NOWHERE
from tilewright.explain.report import UNUSED, to_json
from tilewright.explain.svg import roofline_svg, shared_map_svg, timeline_svg

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.explain.report import Kernel, Layout, RemarkRow, Report

HINT: Final = (
    "Hover over a line to see the lines of other levels that come from the same source line; "
    "click to keep them and to scroll there; Escape lets go."
)
TIMELINE_LEGEND: Final = (
    ("copy", "copy"), ("wait", "wait"), ("dot", "dot"), ("math", "other operations"),
    ("filling", "stage filling"), ("full", "stage full"), ("reading", "stage read"),
)  # fmt: skip
MAP_LEGEND: Final = (
    ("pipeline", "pipeline"), ("tile", "tile"), ("buffer", "buffer"), ("maps", "tensor maps"),
    ("scratch", "scratch"), ("other", "mbarriers"), ("unused", "unused"),
)  # fmt: skip


def html_report(report: Report) -> str:
    """The whole page."""
    return page(f"{report.title}: Tilewright explain", _body(report), page_data(report))


def page_data(report: Report) -> dict[str, object]:
    """What the script of a page reads: texts with the sets of positions of their lines, layouts."""
    sets: dict[tuple[int, ...], int] = {}

    def number(positions: Sequence[int]) -> int:
        return sets.setdefault(tuple(positions), len(sets)) if positions else NOWHERE

    texts: list[dict[str, object]] = []
    for index, source in enumerate(report.sources):
        at = {each.line: [n] for n, each in enumerate(report.positions) if each.source == index}
        links = [number(at.get(line, [])) for line in range(1, len(source.lines) + 1)]
        name = source.name.replace("\\", "/").rsplit("/", 1)[-1]
        texts.append({"name": name, "lines": list(source.lines), "links": links})
    for level in report.levels:
        links = [number(each) for each in level.links]
        texts.append({"name": level.name, "lines": list(level.lines), "links": links})
    layouts = [to_json(kernel.layouts) for kernel in report.kernels]
    return {"texts": texts, "sets": [list(each) for each in sets], "layouts": layouts}


def _body(report: Report) -> Iterator[str]:
    yield f"<header><h1>{escape(report.title)}</h1>"
    options = f"{escape(report.arch)}, {escape(report.options)}"
    yield f'<p class="soft">{options} &middot; Tilewright {escape(report.version)}</p><nav>'
    for number, kernel in enumerate(report.kernels):
        yield f'<a href="#kernel-{number}">{escape(kernel.name)}</a>'
    yield '<a href="#code">code</a><a href="#remarks">remarks</a></nav>'
    for note in report.notes:
        yield f'<p class="soft">Note: {escape(note)}.</p>'
    yield "</header>\n<main>\n"
    yield '<section id="code"><h2>Code</h2>'
    yield f'<p class="soft">{HINT}</p>'
    yield '<div class="chips" id="chips"></div><div id="panes"></div></section>\n'
    for number, kernel in enumerate(report.kernels):
        yield from _kernel(report, kernel, number)
    yield '<section id="remarks"><h2>Remarks</h2><div class="card">'
    yield _remarks(report, report.remarks) or "none"
    yield "</div></section>\n</main>\n"
    yield "<footer>Made by <code>tilewright explain --html</code>; works offline.</footer>\n"


def _kernel(report: Report, kernel: Kernel, number: int) -> Iterator[str]:
    name = f"<code>{escape(kernel.name)}</code> {link(report, kernel.position)}"
    yield f'<section id="kernel-{number}"><h2>Kernel {name}</h2>'
    yield tiles(_tiles(kernel))
    yield '<div class="cards">\n'
    yield card("Timeline of agents and stages", _timeline(kernel), wide=True)
    yield card("Shared memory", _shared(report, kernel), wide=True)
    yield card("Layouts", _layouts(report, kernel, number), wide=True)
    yield card("Occupancy", _occupancy(kernel))
    yield card("Registers", _registers(report, kernel))
    yield card("Pipelines and agents", _pipelines(report, kernel))
    yield card("Dots", _dots(report, kernel))
    yield card("Global memory", _accesses(report, kernel))
    yield card("Bytes and operations", _work(report, kernel))
    yield card("Predicted clocks", _cost(report, kernel))
    yield card("Roofline", _roofline(kernel))
    yield "</div></section>\n"


def _tiles(kernel: Kernel) -> Iterator[tuple[str, str]]:
    used, resident = kernel.resources, kernel.occupancy
    if used is not None:
        yield "threads a block", "x".join(map(str, used.threads)) or "any"
        yield "registers a thread", str(used.registers)
        spilled = used.spill_stores + used.spill_loads
        yield "bytes spilled a thread", str(spilled)
        yield "shared memory", spell_bytes(used.shared)
    if resident is not None:
        yield "CTAs an SM", str(resident.ctas)
        yield "warps an SM", f"{resident.warps} of {resident.max_warps}"
    if kernel.cluster > 1:
        yield "CTAs a cluster", str(kernel.cluster)
    if kernel.roofline is not None:
        yield "bound by", kernel.roofline.limit


def _timeline(kernel: Kernel) -> str:
    if kernel.timeline is None:
        return ""
    caption = (
        "The first iterations: the order and the waits are those of the program, durations are "
        "not measured. Lines are commits, releases and barriers."
    )
    picture = f'<div class="scroll">{timeline_svg(kernel.timeline)}</div>'
    return f'<p class="soft">{caption}</p>{picture}{legend(TIMELINE_LEGEND)}'


def _shared(report: Report, kernel: Kernel) -> str:
    if not kernel.shared_map:
        return ""
    rows = [
        (
            str(each.offset),
            spell_bytes(each.bytes),
            escape(each.kind),
            escape(each.what),
            "" if each.kind == UNUSED else f"{each.start} to {each.end}",
            link(report, each.position),
        )
        for each in kernel.shared_map
    ]
    picture = f'<div class="scroll">{shared_map_svg(kernel.shared_map)}</div>'
    head = ("offset", "size", "kind", "holds", "live at operations", "source")
    return f"{picture}{legend(MAP_LEGEND)}{table(head, rows)}"


def _layouts(report: Report, kernel: Kernel, number: int) -> str:
    if not kernel.layouts:
        return ""
    choices = "".join(
        f'<option value="{index}">{escape(_layout_title(each))}</option>'
        for index, each in enumerate(kernel.layouts)
    )
    rows = [
        (
            f"<code>{escape(each.name)}</code>",
            escape("x".join(map(str, each.shape)) + f"x{each.element}"),
            escape(each.memory),
            escape(each.summary),
            ", ".join(link(report, at) for at in each.positions[:4]),
        )
        for each in kernel.layouts
    ]
    head = ("name", "tile", "in", "layout", "used at")
    return (
        f'<div class="layout" data-kernel="{number}"><div class="controls">'
        f'<select class="which" aria-label="layout">{choices}</select>'
        '<select class="by" aria-label="colours"></select></div>'
        '<p class="soft summary"></p><div class="scroll"><canvas role="img"></canvas></div>'
        '<p class="soft readout">Hover over an element to see the thread that owns it.</p></div>'
        f"{table(head, rows)}"
    )


def _layout_title(layout: Layout) -> str:
    shape = "x".join(map(str, layout.shape))
    return f"{layout.name}: {shape}x{layout.element} in {layout.memory}"


def _occupancy(kernel: Kernel) -> str:
    if kernel.occupancy is None:
        return ""
    rows = [(escape(each.resource), str(each.ctas)) for each in kernel.occupancy.bounds]
    limit = escape(kernel.occupancy.limit)
    return f"<p>Limited by {limit}.</p>{table(('resource', 'CTAs an SM that it allows'), rows)}"


def _registers(report: Report, kernel: Kernel) -> str:
    spills = [
        (str(each.stores), str(each.loads), link(report, each.position)) for each in kernel.spills
    ]
    live = [(str(each.registers), link(report, each.position)) for each in kernel.pressure]
    note = '<p class="soft">Virtual registers of PTX that are live: an estimate.</p>'
    return table(("spilled, bytes", "loaded again, bytes", "source"), spills) + (
        note + table(("live, about", "source"), live) if live else ""
    )


def _pipelines(report: Report, kernel: Kernel) -> str:
    agents = [
        (f"{each.first} to {each.first + each.warps - 1}", escape(each.role),
         str(each.registers or ""))
        for each in kernel.agents
    ]  # fmt: skip
    rows = [
        (
            link(report, each.position),
            f"{each.stages} x {spell_bytes(each.stage_bytes)}",
            escape(", ".join(each.tiles)),
            escape(", ".join(each.engines)),
            escape(f"{each.producer} to {each.consumer}"),
            escape(each.synchronization),
        )
        for each in kernel.pipelines
    ]
    head = ("source", "stages", "tiles", "copied by", "agents", "synchronized by")
    return table(head, rows) + table(("warps", "role", "registers"), agents)


def _dots(report: Report, kernel: Kernel) -> str:
    rows = [
        (
            link(report, each.position),
            "x".join(map(str, each.shape)),
            escape(each.types),
            escape(each.instruction),
            escape(each.operands) + (", asynchronous" if each.asynchronous else ""),
        )
        for each in kernel.dots
    ]
    return table(("source", "M x N x K", "types", "instruction", "operands"), rows)


def _accesses(report: Report, kernel: Kernel) -> str:
    rows = [
        (
            escape(each.what),
            escape(each.tile),
            repeated(each.times, spell_bytes(each.bytes)),
            escape(each.instruction),
            f"{each.vector_bytes} B" if each.vector_bytes else "boxes",
            link(report, each.position),
        )
        for each in kernel.accesses
    ]
    return table(("access", "tile", "size", "instruction", "at once", "source"), rows)


def _work(report: Report, kernel: Kernel) -> str:
    rows = [
        (
            "&nbsp;&nbsp;" * each.nesting + escape(each.what),
            str(each.trips or "unknown") if each.nesting else "1",
            spell_bytes(each.loads),
            spell_bytes(each.stores),
            f"{spell_number(each.dot_operations)} {escape(each.dot_type)}",
            spell_number(each.operations),
            link(report, each.position),
        )
        for each in kernel.work
    ]
    return table(("of one", "times", "loads", "stores", "dots", "other", "source"), rows)


def _cost(report: Report, kernel: Kernel) -> str:
    if not kernel.cost:
        return ""
    rows = [
        (
            "&nbsp;&nbsp;" * each.nesting + escape(each.what),
            str(each.clocks),
            escape(each.limit),
            escape(", ".join(f"{name} {clocks}" for name, clocks in each.resources)),
            str(each.chain),
            link(report, each.position),
        )
        for each in kernel.cost
    ]
    heads = ("of one", "clocks", "limited by", "resources of a CTA", "latency of a CTA", "source")
    return table(heads, rows)


def _roofline(kernel: Kernel) -> str:
    roof = kernel.roofline
    if roof is None:
        return ""
    return (
        f"<p>{roof.intensity:g} operations a byte in one {escape(roof.what)}; the ridge of "
        f"{escape(roof.gpu)} is at {roof.ridge:g}: bound by {roof.limit}.</p>"
        f"{roofline_svg(roof)}"
        '<p class="soft">Without caches: tiles that blocks share through L2 raise the '
        "intensity.</p>"
    )


def _remarks(report: Report, remarks: Sequence[RemarkRow]) -> str:
    items = "".join(_remark(report, each) for each in remarks)
    return f'<ul class="remarks">{items}</ul>' if items else ""


def _remark(report: Report, remark: RemarkRow) -> str:
    details = ", ".join(f"{name} {value}" for name, value in remark.details)
    rest = f' <span class="soft">{escape(details)}</span>' if details else ""
    remedy = f'<span class="remedy">Remedy: {escape(remark.remedy)}</span>' if remark.remedy else ""
    kernel = f" {escape(remark.kernel)}" if remark.kernel else ""
    return (
        f'<li><span class="kind {escape(remark.kind)}">{escape(remark.kind)}</span> '
        f"{escape(remark.text)}{rest} {link(report, remark.position)} "
        f'<code class="soft">{escape(remark.id)}</code><span class="soft">{kernel}</span>{remedy}'
        "</li>"
    )
