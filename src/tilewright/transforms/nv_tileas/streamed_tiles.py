"""Tiles that are read once: by one block, in one iteration of a loop.

L2 need not keep them, since nothing reads them again. Copied with the priority `evict_first`, they
replace each other instead of other data, such as lines that an earlier kernel wrote, and that would
have to be written back to make space. A kernel that stores in the loop writes as much as it reads,
and makes space for that in any case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.determined import Determined
from tilewright.dialects.nv_tileaa.memory import AddPtrOp
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.program import GetCtaRankOp, GetProgramIdOp
from tilewright.dialects.nv_tileaa.shape import BroadcastOp, ExpandDimsOp, SplatOp, ViewOp
from tilewright.dialects.nv_tileaa.view import (
    BlockTileOp,
    MakeMemrefOp,
    TileStoreOp,
    tiled_view,
)
from tilewright.dialects.nv_tileas.attribute_names import ENGINE, SCHEDULE
from tilewright.dialects.nv_tileas.attributes import CopyEngine
from tilewright.dialects.nv_tileas.memory import LoadOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.ir.types import DYNAMIC
from tilewright.transforms.nv_tileas.consecutive_loops import (
    continues,
    loop_before,
    scheduled_loads,
)
from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad
from tilewright.transforms.tile.parts import WRITES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

POINTER_OPS: Final = (
    AddPtrOp, AssumeOp, BroadcastOp, ConvertLayoutOp, ExpandDimsOp, SplatOp, ViewOp,
)  # fmt: skip
"""Operations whose result points into the same memory as their first operand."""


def streamed_tiles(function: FuncOp) -> dict[TileLoad, str | None]:
    """Of each tile of scheduled loops, why it may be read more than once; None if it is not."""
    loops = [op for op in function.walk() if isinstance(op, ForOp) and SCHEDULE in op.attributes]
    if not loops:
        return {}
    first: dict[Operation | None, ForOp] = {}
    for loop in loops:
        before = loop_before(loop)
        is_next = before in first and before is not None and continues(before, loop)
        first[loop] = first[before] if is_next else loop
    blocks, others = list(_block_ids(function)), list(function.walk())

    problems: dict[TileLoad, str | None] = {}
    for loop in loops:
        for load in scheduled_loads(loop):
            problem = _problem(load, loop, blocks)
            if problem is None and any(_may_repeat(load, op, first) for op in others):
                problem = "another load may read it"
            problems[load] = problem
    return problems


def _problem(load: TileLoad, loop: ForOp, blocks: Iterable[Value]) -> str | None:
    """Why the load of a loop by itself may read a tile more than once, or for nothing."""
    if load.attributes[ENGINE] is CopyEngine.REGISTERS:
        return "it passes through registers"
    if any(isinstance(op, WRITES) for op in loop.body.walk()):
        return "the loop stores, too"
    if _overlaps(load):
        return "its tiles overlap"
    indices = () if isinstance(load, LoadOp) else load.indices
    known = Determined([_address(load), *indices])
    if not all(block in known for block in blocks):
        return "other blocks may read it"
    if not all(_is_counter_known(each, known) for each in load.ancestors()):
        return "other iterations may read it"
    return None


def _may_repeat(load: TileLoad, other: Operation, first: Mapping[Operation | None, ForOp]) -> bool:
    """Whether another load reads the same memory, unless it is that of other iterations.

    `first` of a loop is the first of those whose iterations it takes over.
    """
    if other is load or not isinstance(other, TileLoad) or _base(load) is not _base(other):
        return False
    is_later = first.get(other.parent_op) is first.get(load.parent_op)
    return other.parent_op is load.parent_op or not is_later


def _is_counter_known(op: Operation, known: Determined) -> bool:
    """Whether an operation around a load is no loop, or one whose induction variable is known."""
    if isinstance(op, ForOp):
        return op.induction_variable in known
    return not isinstance(op, WhileOp)


def _block_ids(function: FuncOp) -> Iterator[Value]:
    """The numbers that a kernel distinguishes its blocks and CTAs by.

    Without those that only one value of stores anything: the kernel is not launched with others.
    """
    writes = [op for op in function.walk() if isinstance(op, WRITES)]
    for op in function.walk():
        if isinstance(op, GetProgramIdOp | GetCtaRankOp):
            for number in op.results:
                if number.is_used and not all(_stores_once(each, number) for each in writes):
                    yield number


def _stores_once(write: Operation, number: Value) -> bool:
    """Whether tiles are in bounds for only one value of a number: the view has one tile along."""
    if not isinstance(write, TileStoreOp):
        return False
    view = tiled_view(write.view)
    for dim, index in enumerate(write.indices):
        extent = view.source.shape[view.dims[dim]]
        is_only = extent != DYNAMIC and extent <= view.counted[dim]
        if is_only and dim != view.sparse and number in Determined([index]):
            return True
    return False


def _overlaps(load: TileLoad) -> bool:
    """Whether tiles of a view with different indices have elements in common."""
    if isinstance(load, LoadOp):
        return False
    view = tiled_view(load.view)
    dims = [dim for dim in range(view.rank) if dim != view.sparse]
    return any(view.counted[dim] < view.tile[dim] for dim in dims)


def _address(load: TileLoad) -> Value:
    """The address of the memory that a load reads from; its view or pointers, if it is unknown."""
    if isinstance(load, LoadOp):
        return load.pointers
    tiles = load.view.defined_by(BlockTileOp)
    memory = None if tiles is None else tiles.source.defined_by(MakeMemrefOp)
    return load.view if memory is None else memory.base


def _base(load: TileLoad) -> Value:
    """The pointer from which the addresses of a load are computed."""
    value = _address(load)
    while isinstance(op := value.defining_op(), POINTER_OPS):
        value = op.operands[0]
    return value
