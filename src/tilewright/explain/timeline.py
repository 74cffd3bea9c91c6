"""The timeline of pipelines: traces of agents, played against each other.

The order of events and the waits between agents are those of the program. Durations are not
measured: a copy, a dot and a group of other operations take a fixed time each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileas import types
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp
from tilewright.explain.report import Mark, Row, Segment, Timeline
from tilewright.explain.trace import MATH_OPS, Trace, traces_of

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.explain.positions import Positions
    from tilewright.explain.trace import Event

LATENCY: Final = 8
"""From the commit of a stage until its copies are complete."""
DOT: Final = 4
ISSUE: Final = 1
LONGEST_MATH: Final = 6
AFTER: Final = 2
"""Units that are shown after the last dot or release."""


class _Agent:
    """The clock of an agent, and what it has shown."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.next = 0
        self.clock = 0
        self.segments: list[Segment] = []
        self.marks: list[Mark] = []

    @property
    def event(self) -> Event | None:
        """The next event; None at the end."""
        events = self.trace.events
        return events[self.next] if self.next < len(events) else None

    def spend(self, until: int, kind: str, label: str, position: int) -> None:
        """Advance the clock, and show what the time was for."""
        if until > self.clock:
            self.segments.append(Segment(self.clock, until, kind, label, position))
            self.clock = until


class _Stage:
    """The times of one filling of a stage."""

    def __init__(self) -> None:
        self.started: int | None = None
        self.full: int | None = None
        self.read: int | None = None
        self.released: int | None = None
        self.position = -1


class _Simulation:
    """Plays the events of all agents."""

    def __init__(self, traces: list[Trace], stages: list[int]) -> None:
        self.agents = [_Agent(trace) for trace in traces]
        self.stages = stages
        self.fillings: dict[tuple[int, int], _Stage] = {}
        self.tensor: list[Segment] = []
        self._dots: list[int] = []
        """When each asynchronous dot ends."""

    def run(self) -> None:
        """Play events until all traces end, or all agents wait for each other."""
        progress = True
        while progress:
            progress = False
            # The earliest agent acts first, so that times do not depend on the order.
            for agent in sorted(self.agents, key=lambda each: each.clock):
                event = agent.event
                if event is not None and self._play(agent, event):
                    agent.next += 1
                    progress = True
                    break

    def _play(self, agent: _Agent, event: Event) -> bool:
        """Play an event; false if it waits for another agent."""
        at = event.position
        match event.kind:
            case "acquire":
                return self._acquire(agent, event)
            case "wait":
                return self._wait(agent, event)
            case "copy":
                agent.spend(agent.clock + ISSUE, "copy", f"copy {event.step}", at)
                filling = self._filling(event)
                filling.started = filling.started or agent.clock
                filling.position = at
            case "commit":
                filling = self._filling(event)
                filling.started = filling.started or agent.clock
                filling.full = agent.clock + LATENCY
                agent.marks.append(Mark(agent.clock, "commit", f"commit stage {event.step}"))
            case "release":
                self._filling(event).released = agent.clock
                agent.marks.append(Mark(agent.clock, "release", f"release stage {event.step}"))
            case "dot":
                self._dot(agent, event)
            case "dot_wait":
                ends = self._dots[: len(self._dots) - event.step]
                agent.spend(max([agent.clock, *ends[-1:]]), "wait", "wait for dots", at)
            case "math":
                duration = min(LONGEST_MATH, -(-event.step // MATH_OPS))
                agent.spend(agent.clock + duration, "math", f"{event.step} operations", at)
            case _:
                agent.marks.append(Mark(agent.clock, "barrier", "barrier"))
        return True

    def _acquire(self, agent: _Agent, event: Event) -> bool:
        earlier = event.step - self.stages[event.pipeline]
        if earlier < 0:
            return True
        released = self.fillings.get((event.pipeline, earlier), _Stage()).released
        if released is None:
            # Threads that count their own copies order a stage by barriers, and release it later.
            return len(self.agents) == 1
        agent.spend(max(agent.clock, released), "wait", "wait for an empty stage", event.position)
        return True

    def _wait(self, agent: _Agent, event: Event) -> bool:
        filling = self._filling(event)
        if filling.full is None:
            return False
        label = f"wait for stage {event.step}"
        agent.spend(max(agent.clock, filling.full), "wait", label, event.position)
        if filling.read is None:
            filling.read = agent.clock
        return True

    def _dot(self, agent: _Agent, event: Event) -> None:
        start = max([agent.clock, *self._dots[-1:]])
        end = start + DOT
        self.tensor.append(Segment(start, end, "dot", "dot", event.position))
        self._dots.append(end)
        until = agent.clock + ISSUE if event.asynchronous else end
        agent.spend(until, "dot", "dot", event.position)

    def _filling(self, event: Event) -> _Stage:
        return self.fillings.setdefault((event.pipeline, event.step), _Stage())


def timeline_of(function: FuncOp, positions: Positions) -> Timeline | None:
    """The timeline of a kernel with pipelines; None for others."""
    traces = traces_of(function, positions)
    if not traces:
        return None
    creations = [op for op in function.walk() if isinstance(op, CreatePipelineOp)]
    stages = [types.pipeline(op.result).stages for op in creations]
    simulation = _Simulation(traces, stages)
    simulation.run()
    return _drawn(simulation)


def _drawn(simulation: _Simulation) -> Timeline:
    ends = [segment.end for segment in simulation.tensor]
    ends += [each.released for each in simulation.fillings.values() if each.released is not None]
    length = max(ends, default=0) + AFTER
    rows = [
        Row(agent.trace.agent, "agent", _cut(agent.segments, length),
            [mark for mark in agent.marks if mark.time <= length])
        for agent in simulation.agents
    ]  # fmt: skip
    if simulation.tensor:
        rows.append(Row("tensor cores", "tensor", _cut(simulation.tensor, length), []))
    for number, stages in enumerate(simulation.stages):
        for stage in range(stages):
            segments = _stage_segments(simulation, number, stage, length)
            name = f"stage {stage}"
            label = name if len(simulation.stages) == 1 else f"pipeline {number}, {name}"
            rows.append(Row(label, "stage", segments, []))
    return Timeline(length, rows)


def _stage_segments(simulation: _Simulation, number: int, stage: int, length: int) -> list[Segment]:
    segments: list[Segment] = []
    for (pipeline, step), each in sorted(simulation.fillings.items()):
        if pipeline != number or step % simulation.stages[number] != stage:
            continue
        full, read, at = each.full, each.read, each.position
        if each.started is None or full is None:
            continue
        segments.append(Segment(each.started, full, "filling", f"copy {step}", at))
        until = length if read is None else read
        if until > full:
            segments.append(Segment(full, until, "full", f"{step} is full", at))
        if read is not None:
            end = length if each.released is None else each.released
            segments.append(Segment(read, max(read, end), "reading", f"{step} is read", at))
    return _cut(segments, length)


def _cut(segments: list[Segment], length: int) -> list[Segment]:
    return [each._replace(end=min(each.end, length)) for each in segments if each.start < length]
