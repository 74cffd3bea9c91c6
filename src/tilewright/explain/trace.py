"""Traces of agents: the pipeline operations and dots of a few iterations, in program order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
from tilewright.dialects.nv_tileas.aggregate import ReduceOp, ScanOp
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreateIteratorOp,
    CreatePipelineOp,
    IncIterOp,
    PipelineOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ProducerCopyOp,
    ProducerWriteOp,
)
from tilewright.dialects.nv_tileas.sync import BarrierOp
from tilewright.dialects.nv_tileas.types import pipeline
from tilewright.dialects.scf import ForOp, IfOp, YieldOp
from tilewright.explain.decisions import agent_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.explain.positions import Positions
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value

MAX_EVENTS: Final = 4000
"""The most events of a trace: more than anyone looks at."""
MATH_OPS: Final = 4
"""How many consecutive operations on tiles are one unit of time."""
SHOWN: Final = 3
"""Iterations that are shown beyond those that fill the stages."""


class Event(NamedTuple):
    """A step of an agent."""

    kind: str
    """acquire, copy, commit, wait, release, dot, dot_wait, math or barrier."""
    position: int
    pipeline: int = 0
    step: int = 0
    """How often the iterator of the stage has been advanced; of a wait for dots, the pending ones;
    of a group of operations, their number."""
    asynchronous: bool = False


class Trace(NamedTuple):
    """The events of the warps with a name."""

    agent: str
    events: list[Event]


class Unknown(Exception):
    """The control flow of a pipeline is not known statically."""


def traces_of(function: FuncOp, positions: Positions) -> list[Trace]:
    """The traces of all agents of a kernel; none if no loop has a pipeline or dots."""
    creations = [op for op in function.walk() if isinstance(op, CreatePipelineOp)]
    if not creations:
        return []
    numbers: dict[Value, int] = {op.result: n for n, op in enumerate(creations)}
    stages = max(pipeline(creation.result).stages for creation in creations)
    tracer = _Tracer(numbers, stages + SHOWN, positions)
    try:
        tracer.block(function.body.block)
    except Unknown:
        return []
    return [
        Trace(name, events)
        for name, events in tracer.traces.items()
        if any(event.kind != "math" for event in events)
    ]


def _matters(op: Operation) -> bool:
    """Whether an operation contains events other than groups of operations on tiles."""
    kinds = (PipelineOp, DotOp, DotWaitOp, BarrierOp, AgentSwitchOp)
    return any(isinstance(each, kinds) for each in op.walk())


class _Tracer:
    """Runs a function with known iterators: the first region of branches, some iterations."""

    def __init__(self, pipelines: dict[Value, int], trips: int, positions: Positions) -> None:
        self._pipelines = pipelines
        self._trips = trips
        self._positions = positions
        self._steps: dict[Value, int] = {}
        self.traces: dict[str, list[Event]] = {}

    def block(self, block: Block) -> None:
        """Run the operations of a block."""
        for op in block:
            self._op(op)

    def _op(self, op: Operation) -> None:
        match op:
            case CreateIteratorOp():
                self._steps[op.result] = 0
            case IncIterOp():
                self._steps[op.result] = self._step(op.iterator) + 1
            case AgentSwitchOp():
                self.block(op.body.block)
            case ForOp() if _matters(op):
                self._loop(op)
            case IfOp() if _matters(op):
                self.block(op.then_region.block)
                self._pass_on(_yielded(op.then_region.block), op.outputs)
            case PipelineOp() | DotOp() | DotWaitOp() | BarrierOp():
                self._event(op)
            case _ if op.regions and not isinstance(op, ReduceOp | ScanOp) and _matters(op):
                raise Unknown
            case _ if op.results and maybe_layout_of(op.results[0]) is not None:
                self._math(op)
            case _:
                pass

    def _loop(self, op: ForOp) -> None:
        body = op.body.block
        self._pass_on(op.init_args, body.args[1:])
        inner = any(isinstance(each, ForOp) and _matters(each) for each in body)
        for _ in range(1 if inner else self._trips):
            self.block(body)
            self._pass_on(_yielded(body), body.args[1:])
        self._pass_on(body.args[1:], op.outputs)

    def _pass_on(self, sources: Sequence[Value], targets: Sequence[Value]) -> None:
        """Bind iterators to the block arguments or results that take their values."""
        known = [self._steps.get(source) for source in sources]
        for target, step in zip(targets, known, strict=False):
            if step is not None:
                self._steps[target] = step

    def _step(self, value: Value) -> int:
        step = self._steps.get(value)
        if step is None:
            raise Unknown
        return step

    def _event(self, op: Operation) -> None:
        for event in self._events(op):
            trace = self.traces.setdefault(agent_name(op), [])
            if len(trace) >= MAX_EVENTS:
                raise Unknown
            trace.append(event)

    def _events(self, op: Operation) -> Iterator[Event]:
        at = self._positions.first(op.location)
        match op:
            case ProducerAcquireOp() | ConsumerWaitOp():
                step = self._steps[op.token] = self._step(op.iterator)
                kind = "acquire" if isinstance(op, ProducerAcquireOp) else "wait"
                yield Event(kind, at, self._pipelines[op.pipeline], step)
            case ProducerCopyOp() | ProducerWriteOp():
                yield Event("copy", at, self._pipelines[op.pipeline], self._step(op.token))
            case ProducerCommitOp():
                yield Event("commit", at, self._pipelines[op.pipeline], self._step(op.token))
            case ConsumerReleaseOp():
                step = self._step(op.token) - op.lag
                if step >= 0:
                    yield Event("release", at, self._pipelines[op.pipeline], step)
            case DotOp():
                yield Event("dot", at, asynchronous=op.asynchronous)
            case DotWaitOp():
                yield Event("dot_wait", at, step=op.pending)
            case BarrierOp():
                yield Event("barrier", at)
            case _:
                pass

    def _math(self, op: Operation) -> None:
        """Add an operation on tiles to the group that it continues."""
        events = self.traces.setdefault(agent_name(op), [])
        if events and events[-1].kind == "math":
            events[-1] = events[-1]._replace(step=events[-1].step + 1)
        else:
            events.append(Event("math", self._positions.first(op.location), step=1))


def _yielded(block: Block) -> Sequence[Value]:
    end = block.terminator
    return end.values if isinstance(end, YieldOp) else ()
