"""What the lowering to nv_tileas decided: agents, pipelines, instructions of dots and accesses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.remarks import MMA_INSTRUCTIONS, MMA_NAMES
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.view import TiledAtomicRmwOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp, agent_of
from tilewright.dialects.nv_tileas.async_store import AsyncTiledStoreOp
from tilewright.dialects.nv_tileas.attributes import CopyEngine, in_shared_memory
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import (
    AtomicCasOp,
    AtomicRmwOp,
    GatherLoadOp,
    LoadOp,
    ScatterStoreOp,
    StoreOp,
    TiledLoadOp,
    TiledStoreOp,
)
from tilewright.dialects.nv_tileas.multimem import (
    MultimemLoadReduceOp,
    MultimemReduceOp,
    MultimemStoreOp,
)
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerOp,
    CreatePipelineOp,
    ProducerCopyOp,
    ProducerOp,
    ProducerWriteOp,
    counts_copies,
)
from tilewright.dialects.nv_tileas.types import pipeline, stored_bytes
from tilewright.explain.report import Access, Agent, Dot, Pipeline
from tilewright.explain.shared_map import short_type
from tilewright.plans.allocations import allocated_bytes

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.explain.positions import Positions
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.support.location import Location

ENGINES: Final = {
    CopyEngine.CP_ASYNC: "cp.async",
    CopyEngine.REGISTERS: "ld.global, st.shared",
    CopyEngine.TMA: "cp.async.bulk.tensor",
}
ALL_WARPS: Final = "all warps"


def agents_of(function: FuncOp) -> list[Agent]:
    """The agents of a kernel, by their first warp."""
    switches = [op for op in function.walk() if isinstance(op, AgentSwitchOp)]
    agents = {Agent(op.first, op.warps, op.max_registers, _role(op)): None for op in switches}
    return sorted(agents)


def _role(agent: AgentSwitchOp) -> str:
    ops = list(agent.walk())
    produces = any(isinstance(op, ProducerOp) for op in ops)
    consumes = any(isinstance(op, ConsumerOp) for op in ops)
    if produces and consumes:
        return "copies and computes"
    return "copies" if produces else "computes"


def agent_name(op: Operation) -> str:
    """The warps that execute an operation."""
    agent = agent_of(op)
    if agent is None:
        return ALL_WARPS
    last = agent.first + agent.warps - 1
    return f"warp {agent.first}" if agent.warps == 1 else f"warps {agent.first}-{last}"


def pipelines_of(function: FuncOp, positions: Positions) -> list[Pipeline]:
    """The pipelines of a kernel in program order."""
    creations = [op for op in function.walk() if isinstance(op, CreatePipelineOp)]
    return [_pipeline(op, positions) for op in creations]


def _pipeline(op: CreatePipelineOp, positions: Positions) -> Pipeline:
    type = pipeline(op.result)
    users = list(op.result.users)
    producers = [user for user in users if isinstance(user, ProducerOp)]
    consumers = [user for user in users if isinstance(user, ConsumerOp)]
    copies = [ENGINES[user.engine] for user in users if isinstance(user, ProducerCopyOp)]
    writes = ["st.shared" for user in users if isinstance(user, ProducerWriteOp)]
    synchronization = "mbarriers"
    if counts_copies(op):
        synchronization = "copy groups" if op.private else "copy groups and a barrier"
    return Pipeline(
        type.stages,
        sum(stored_bytes(each) for each in type.elements),
        allocated_bytes(op),
        [short_type(each) for each in type.elements],
        list(dict.fromkeys(copies + writes)),
        agent_name(producers[0]) if producers else "",
        agent_name(consumers[0]) if consumers else "",
        synchronization,
        positions.first(op.location),
    )


def dots_of(function: FuncOp, positions: Positions) -> list[Dot]:
    """The dots of a kernel in program order; equal ones of the same line once."""
    dots = [_dot(op, positions) for op in function.walk() if isinstance(op, DotOp)]
    return list(dict.fromkeys(dots))


def _dot(op: DotOp, positions: Positions) -> Dot:
    *_, m, n = shape(op.c.type)
    chosen = MMA_INSTRUCTIONS[op.atom](op)
    name = MMA_NAMES[op.atom]
    if chosen is not None:
        name += " m{}n{}k{}".format(*chosen.shape)
    a, b, c = (str(element_of(value.type)) for value in (op.a, op.b, op.c))
    homes = ["shared" if in_shared_memory(value) else "registers" for value in (op.a, op.b)]
    return Dot(
        name,
        (m, n, shape(op.a.type)[-1]),
        f"{a} x {b} + {c}",
        f"A in {homes[0]}, B in {homes[1]}",
        op.asynchronous,
        positions.first(op.location),
    )


MULTIMEM: Final[dict[type[Operation], tuple[str, str]]] = {
    MultimemLoadReduceOp: ("load", "multimem.ld_reduce"),
    MultimemReduceOp: ("atomic", "multimem.red"),
    MultimemStoreOp: ("store", "multimem.st"),
}
"""What the accesses of multimem addresses do, and their instructions."""


def accesses_of(function: FuncOp, positions: Positions) -> list[Access]:
    """The accesses of global memory in program order; equal ones of the same line are counted.

    Copies that a pass makes of an access, such as for the first iterations of a loop, have the
    location of the access and count as one.
    """
    locations: dict[Access, set[Location]] = {}
    for op in function.walk():
        access = _access(op, positions)
        if access is not None:
            locations.setdefault(access, set()).add(op.location)
    return [access._replace(times=len(each)) for access, each in locations.items()]


def _access(op: Operation, positions: Positions) -> Access | None:
    at = positions.first(op.location)
    match op:
        case ProducerCopyOp():
            tile = pipeline(op.pipeline).elements[op.number]
            vector = 0 if op.is_by_tma else op.vector
            return _vector_access("load", tile, ENGINES[op.engine], vector, at)
        case AsyncTiledStoreOp():
            return _vector_access("store", op.tile.type, "cp.async.bulk.tensor", 0, at)
        case LoadOp():
            return _vector_access("load", op.result.type, "ld.global", op.vector, at)
        case TiledLoadOp() | GatherLoadOp():
            return _vector_access("load", op.tile.type, "ld.global", op.vector, at)
        case StoreOp():
            return _vector_access("store", op.value.type, "st.global", op.vector, at)
        case TiledStoreOp() | ScatterStoreOp():
            return _vector_access("store", op.tile.type, "st.global", op.vector, at)
        case AtomicRmwOp() | AtomicCasOp():
            return _vector_access("atomic", op.result.type, "atom.global", 1, at)
        case TiledAtomicRmwOp():
            return _vector_access("atomic", op.tile.type, "red.global", 1, at)
        case MultimemLoadReduceOp() | MultimemReduceOp() | MultimemStoreOp():
            what, instruction = MULTIMEM[type(op)]
            return _vector_access(what, op.tile.type, instruction, op.vector, at)
        case _:
            return None


def _vector_access(what: str, tile: Type, instruction: str, vector: int, at: int) -> Access:
    size = pointee_bytes(element_of(tile))
    return Access(what, short_type(tile), count(tile) * size, instruction, vector * size, at)
