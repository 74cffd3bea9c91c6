"""The report of `tilewright explain` for a terminal."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from tilewright.explain.figures import counted, repeated, spell_bytes, spell_number
from tilewright.explain.positions import NOWHERE
from tilewright.explain.report import UNUSED
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.explain.report import Allocation, Kernel, RemarkRow, Report, Timeline, Work

WIDTH: Final = 64
"""Columns of a timeline."""
LONGEST_LINE: Final = 60
SHOWN_LINES: Final = 4
"""Source lines with most spills, and with most live registers."""
SYMBOLS: Final = {
    "copy": "c", "wait": ".", "dot": "#", "math": "m", "filling": "<", "full": "=", "reading": ">",
}  # fmt: skip
MARKS: Final = {"missed": "-", "failed": "!", "passed": "+", "analysis": " "}


def text_report(report: Report) -> str:
    """The whole report."""
    lines = [f"{report.title} for {report.arch}, {report.options} (Tilewright {report.version})"]
    lines += [f"note: {note}" for note in report.notes]
    for kernel in report.kernels:
        lines += ["", *_kernel(report, kernel)]
    general = [remark for remark in report.remarks if not remark.kernel]
    if general:
        lines += ["", "remarks on the module", *_remarks(report, general)]
    return "\n".join(lines)


def _kernel(report: Report, kernel: Kernel) -> Iterator[str]:
    yield f"kernel {kernel.name}{_at(report, kernel.position)}"
    yield from _resources(report, kernel)
    yield from _shared(report, kernel)
    yield from _pipelines(report, kernel)
    yield from _instructions(report, kernel)
    if kernel.layouts:
        yield "  layouts"
        rows = [
            (each.name, "x".join(map(str, each.shape)) + f"x{each.element}", each.memory,
             each.summary)
            for each in kernel.layouts
        ]  # fmt: skip
        yield from _table(rows)
    yield from _work(report, kernel)
    if kernel.timeline is not None:
        yield from _timeline(kernel.timeline)
    remarks = [remark for remark in report.remarks if remark.kernel == kernel.name]
    if remarks:
        yield "  remarks"
        yield from _remarks(report, remarks)


def _resources(report: Report, kernel: Kernel) -> Iterator[str]:
    used = kernel.resources
    if used is None:
        return
    shape = "x".join(map(str, used.threads)) or "any"
    cluster = f", clusters of {kernel.cluster} CTAs" if kernel.cluster > 1 else ""
    warps = f" ({counted(-(-prod(used.threads) // WARP_SIZE), 'warp')})" if used.threads else ""
    yield f"  launch        blocks of {shape} threads{warps}{cluster}"
    for agent in kernel.agents:
        last = agent.first + agent.warps - 1
        limit = f", up to {agent.registers} registers" if agent.registers else ""
        warps = f"warp {last}" if agent.warps == 1 else f"warps {agent.first}-{last}"
        yield f"  agent         {warps}: {agent.role}{limit}"
    yield f"  registers     {used.registers} a thread"
    spilled = f"{used.spill_stores} bytes stored, {used.spill_loads} loaded, a thread"
    yield f"  spills        {spilled if used.spill_stores or used.spill_loads else 'none'}"
    for spill in kernel.spills[:SHOWN_LINES]:
        counts = f"{spill.stores} bytes stored, {spill.loads} loaded"
        yield f"                {counts}{_cited(report, spill.position)}"
    for each in kernel.pressure[:SHOWN_LINES]:
        yield f"  live          about {each.registers}{_cited(report, each.position)}"
    yield f"  stack         {used.stack} bytes"
    yield f"  shared        {used.shared} of {kernel.shared_limit} bytes"
    if kernel.occupancy is not None:
        each = kernel.occupancy
        bounds = ", ".join(f"{bound.resource} {bound.ctas}" for bound in each.bounds)
        yield (
            f"  occupancy     {counted(each.ctas, 'CTA')} an SM, {each.warps} of {each.max_warps} "
            f"warps; limited by {each.limit} ({bounds})"
        )


def _shared(report: Report, kernel: Kernel) -> Iterator[str]:
    if not kernel.shared_map:
        return
    yield "  shared memory"

    def row(each: Allocation) -> tuple[str, ...]:
        span = f"{each.offset}..{each.offset + each.bytes}"
        live = "" if each.kind == UNUSED else f"operations {each.start}-{each.end}"
        source = _at(report, each.position).strip()
        return span, spell_bytes(each.bytes), each.kind, each.what, live, source

    yield from _table([row(each) for each in kernel.shared_map])


def _pipelines(report: Report, kernel: Kernel) -> Iterator[str]:
    if not kernel.pipelines:
        return
    yield "  pipelines"
    for each in kernel.pipelines:
        tiles = ", ".join(each.tiles)
        yield (
            f"    {counted(each.stages, 'stage')} of {spell_bytes(each.stage_bytes)} ({tiles}) by "
            f"{', '.join(each.engines) or 'no copy'}: {each.producer} to {each.consumer}, "
            f"{each.synchronization}{_at(report, each.position)}"
        )


def _instructions(report: Report, kernel: Kernel) -> Iterator[str]:
    if kernel.dots:
        yield "  dots"
        yield from _table([
            ("x".join(map(str, each.shape)), each.types, each.instruction,
             each.operands + (", asynchronous" if each.asynchronous else ""),
             _at(report, each.position).strip())
            for each in kernel.dots
        ])  # fmt: skip
    if kernel.accesses:
        yield "  global memory"
        yield from _table([
            (each.what, each.tile, repeated(each.times, spell_bytes(each.bytes)), each.instruction,
             f"{counted(each.vector_bytes, 'byte')} at once" if each.vector_bytes else "boxes",
             _at(report, each.position).strip())
            for each in kernel.accesses
        ])  # fmt: skip


def _work(report: Report, kernel: Kernel) -> Iterator[str]:
    if not kernel.work:
        return
    yield "  work (static, without caches)"

    def row(each: Work) -> tuple[str, ...]:
        trips = "" if not each.nesting else f" of {each.trips}" if each.trips else " of unknown"
        name = "  " * each.nesting + each.what + trips
        return (
            name,
            f"loads {spell_bytes(each.loads)}",
            f"stores {spell_bytes(each.stores)}",
            f"dots {spell_number(each.dot_operations)} {each.dot_type}".rstrip(),
            f"other {spell_number(each.operations)}",
            _at(report, each.position).strip(),
        )

    yield from _table([row(each) for each in kernel.work])
    yield from _cost(report, kernel)
    roof = kernel.roofline
    if roof is not None:
        yield (
            f"  roofline      {roof.intensity:g} operations a byte in one {roof.what}, ridge at "
            f"{roof.ridge:g} on {roof.gpu}: bound by {roof.limit}, at most "
            f"{roof.attainable:g} of {roof.peak:g} Tera-operations a second"
        )


def _cost(report: Report, kernel: Kernel) -> Iterator[str]:
    if not kernel.cost:
        return
    yield "  predicted clocks (of all CTAs of an SM together; resources and latency: of one)"
    yield from _table([
        ("  " * each.nesting + each.what, str(each.clocks), f"limited by {each.limit}",
         ", ".join(f"{name} {clocks}" for name, clocks in [*each.resources,
                                                          ("latency", each.chain)]),
         _at(report, each.position).strip())
        for each in kernel.cost
    ])  # fmt: skip


def _timeline(timeline: Timeline) -> Iterator[str]:
    legend = "c copy, . wait, # dot, m math, < filling, = full, > read"
    yield f"  timeline (schematic: {legend})"
    width = max(len(row.label) for row in timeline.rows)
    for row in timeline.rows:
        cells = [" "] * min(timeline.length, WIDTH)
        for segment in row.segments:
            for at in range(segment.start, min(segment.end, len(cells))):
                cells[at] = SYMBOLS.get(segment.kind, "?")
        yield f"    {row.label:<{width}} |{''.join(cells)}|"


def _remarks(report: Report, remarks: Sequence[RemarkRow]) -> Iterator[str]:
    for remark in remarks:
        details = ", ".join(f"{name} {value}" for name, value in remark.details)
        rest = f" ({details})" if details else ""
        rest += _at(report, remark.position)
        yield f"    {MARKS.get(remark.kind, ' ')} {remark.text}{rest} [{remark.id}]"
        if remark.remedy:
            yield f"        remedy: {remark.remedy}"


def _at(report: Report, position: int) -> str:
    if position == NOWHERE:
        return ""
    at = report.positions[position]
    return f" at {at.file}:{at.line}"


def _cited(report: Report, position: int) -> str:
    """The file and line of a position, and the text of the line if it was read."""
    if position == NOWHERE or report.positions[position].source == NOWHERE:
        return _at(report, position)
    at = report.positions[position]
    line = report.sources[at.source].lines[at.line - 1].strip()
    shown = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}..."
    return f"{_at(report, position)}: {shown}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "    " + "  ".join(cells).rstrip()
