"""The report of `tilewright explain`: plain values that the renderers print or embed as JSON.

A `position` is an index into `Report.positions`: a line of a source file. Lines of all levels that
have a position in common come from the same source line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, cast


class SourceFile(NamedTuple):
    """A file that locations name, with its text."""

    name: str
    lines: Sequence[str]


class Position(NamedTuple):
    """A line of a file; `source` is the index of its `SourceFile`, or -1 if it was not read."""

    file: str
    line: int
    source: int


class LevelText(NamedTuple):
    """The program at one level of the lowering pipeline."""

    name: str
    lines: Sequence[str]
    links: Sequence[Sequence[int]]
    """The positions of each line."""


class Bound(NamedTuple):
    """A resource of an SM, and how many CTAs it allows."""

    resource: str
    ctas: int


class Occupancy(NamedTuple):
    """Resident CTAs per SM, and what limits them."""

    ctas: int
    warps: int
    max_warps: int
    bounds: Sequence[Bound]
    limit: str
    """The resources that allow no more CTAs."""


class Resources(NamedTuple):
    """What ptxas reports on a kernel."""

    threads: Sequence[int]
    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    shared: int
    barriers: int


class Pressure(NamedTuple):
    """A source line, and the registers that are live there."""

    registers: int
    position: int


class Spill(NamedTuple):
    """A source line, and the bytes of registers that are spilled there, per thread."""

    stores: int
    loads: int
    position: int


UNUSED: Final = "unused"
"""The kind of a range of shared memory that holds nothing: what follows it is aligned."""


class Allocation(NamedTuple):
    """A range of shared memory; it is live from one operation of the function to another."""

    offset: int
    bytes: int
    what: str
    kind: str
    """pipeline, tile, buffer, tensor maps, scratch, mbarriers or unused."""
    start: int
    end: int
    position: int


class Agent(NamedTuple):
    """A range of warps that run a part of the kernel on their own."""

    first: int
    warps: int
    registers: int
    role: str


class Pipeline(NamedTuple):
    """A ring of stages in shared memory."""

    stages: int
    stage_bytes: int
    bytes: int
    tiles: Sequence[str]
    engines: Sequence[str]
    producer: str
    consumer: str
    synchronization: str
    position: int


class Dot(NamedTuple):
    """A dot and the instruction that computes it."""

    instruction: str
    shape: Sequence[int]
    """M, N and K."""
    types: str
    operands: str
    asynchronous: bool
    position: int


class Access(NamedTuple):
    """An access of global memory."""

    what: str
    tile: str
    bytes: int
    instruction: str
    vector_bytes: int
    """Bytes that a thread accesses at once; 0 for TMA."""
    position: int
    times: int = 1
    """How many accesses of the line are equal to this one."""


class Layout(NamedTuple):
    """A layout of tiles: in registers, or in shared memory."""

    name: str
    shape: Sequence[int]
    element: str
    element_bytes: int
    memory: str
    """registers or shared."""
    inputs: Sequence[tuple[str, Sequence[int]]]
    """By input dimension, the row-major number of the element that each bit contributes."""
    summary: str
    positions: Sequence[int]


class Work(NamedTuple):
    """What one block, or one iteration of a loop, loads, stores and computes.

    Inner loops are not included: they have rows of their own.
    """

    what: str
    nesting: int
    trips: int
    """Iterations of the loop; 0 if they are unknown."""
    loads: int
    stores: int
    dot_operations: int
    dot_type: str
    operations: int
    position: int


class Cost(NamedTuple):
    """The predicted clocks of one block, or of one iteration of a loop, without inner loops."""

    what: str
    nesting: int
    clocks: int
    """For all resident CTAs of an SM together."""
    limit: str
    """The resource that takes longest, or latency."""
    resources: Sequence[tuple[str, int]]
    """The clocks that one CTA takes of each resource."""
    chain: int
    """The clocks of one CTA alone, whose parts wait for each other."""
    position: int


class Roofline(NamedTuple):
    """The arithmetic intensity of the innermost loop with most work, against a GPU."""

    gpu: str
    what: str
    intensity: float
    """Operations per byte of global memory."""
    ridge: float
    """The intensity at which both limits are equal."""
    peak: float
    """Operations per second, in units of 10^12."""
    bandwidth: float
    """Bytes per second, in units of 10^9."""
    attainable: float
    limit: str


class Segment(NamedTuple):
    """A bar of the timeline."""

    start: int
    end: int
    kind: str
    """copy, wait, dot, math; of stages: filling, full or reading."""
    label: str
    position: int


class Mark(NamedTuple):
    """A synchronization on the timeline: barrier, commit or release."""

    time: int
    kind: str
    label: str


class Row(NamedTuple):
    """An agent, the tensor cores or a stage."""

    label: str
    kind: str
    """agent, tensor or stage."""
    segments: Sequence[Segment]
    marks: Sequence[Mark]


class Timeline(NamedTuple):
    """The first iterations of the pipelined loops, with durations that are not measured."""

    length: int
    rows: Sequence[Row]


class Kernel(NamedTuple):
    """One kernel of the module."""

    name: str
    position: int
    warps: int
    cluster: int
    resources: Resources | None
    occupancy: Occupancy | None
    pressure: Sequence[Pressure]
    spills: Sequence[Spill]
    shared_map: Sequence[Allocation]
    shared_limit: int
    agents: Sequence[Agent]
    pipelines: Sequence[Pipeline]
    dots: Sequence[Dot]
    accesses: Sequence[Access]
    layouts: Sequence[Layout]
    work: Sequence[Work]
    cost: Sequence[Cost]
    """Empty without ptxas, and for GPUs whose rates are unknown."""
    roofline: Roofline | None
    timeline: Timeline | None


class RemarkRow(NamedTuple):
    """A remark of a pass or of ptxas."""

    id: str
    kind: str
    category: str
    text: str
    details: Sequence[tuple[str, str]]
    remedy: str
    source: str
    """The pass that reported it."""
    kernel: str
    position: int


class Report(NamedTuple):
    """Everything about one compilation."""

    title: str
    version: str
    arch: str
    options: str
    sources: Sequence[SourceFile]
    positions: Sequence[Position]
    levels: Sequence[LevelText]
    kernels: Sequence[Kernel]
    remarks: Sequence[RemarkRow]
    notes: Sequence[str]
    """What is missing from the report, and why."""


def to_json(value: object) -> object:
    """Convert a report to values of JSON; named tuples become objects."""
    if isinstance(value, str | int | float) or value is None:
        return value
    if hasattr(value, "_fields"):
        fields = cast("NamedTuple", value)._asdict()
        return {name: to_json(each) for name, each in fields.items()}
    return [to_json(each) for each in cast("Sequence[object]", value)]
