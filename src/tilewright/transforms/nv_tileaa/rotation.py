"""Loops that `rotate-dots` can rotate: the parts of their bodies, and whether it pays."""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.elementwise import is_tile
from tilewright.analysis.targets import target_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.nv_tileas.matrix import wgmma_instruction
from tilewright.dialects.nv_tileas.types import stored_bytes
from tilewright.dialects.scf import ForOp
from tilewright.ir.effects import is_effect_free, is_pure
from tilewright.ir.types import BF16, F16, IntegerType
from tilewright.plans.slicing import is_plain
from tilewright.plans.tile_registers import tile_words
from tilewright.plans.warps import choose_warps
from tilewright.target.arch import WARP_SIZE
from tilewright.target.features import Feature
from tilewright.target.tensor_cores import WARPGROUP
from tilewright.transforms.nv_tileaa.address_ops import is_first
from tilewright.transforms.nv_tileaa.consecutive_bounds import are_consecutive

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value

STAGES: Final = 2
"""Of a pipeline for the loads of a rotated loop, at least."""
WARPGROUPS: Final = 2
"""Of a block, at least: with one, a second block on the SM does more."""
OTHER_REGISTERS: Final = 36
"""Of a thread, beside the accumulators of all dots and the operand that is computed from one."""
MAX_REGISTERS: Final = 240
"""Of a thread that computes, where others copy."""


class Rotation(NamedTuple):
    """A loop that can be rotated, with the operations of its body in three parts."""

    loop: ForOp
    dots: Sequence[Operation]
    """All dots but the last one, and what computes their operands."""
    rest: Sequence[Operation]
    """What is computed from them, for the last dot."""
    second: Sequence[Operation]
    """The last dot with its loads, and what is computed from it."""
    crossing: Sequence[Value]
    """The values that the second part uses of the others, or of the iteration before."""
    kept: Sequence[Value]
    """The values that the loop carries from one first part to the next."""

    @staticmethod
    def of(loop: ForOp) -> Rotation | None:
        """Split a loop whose last dot multiplies what is computed from another one."""
        body, end = loop.body.block, loop.body.block.last
        assert end is not None
        ops = [op for op in body if op is not end]
        dots = [op for op in ops if isinstance(op, DotOp)]
        if len(dots) < 2 or not isinstance(loop.lower_bound.type, IntegerType):
            return None
        if not all(map(_is_movable, ops)) or not any(
            dot in _sources([dots[-1].a], body) for dot in dots[:-1]
        ):
            return None
        last = {dots[-1], *_dependents(dots[-1].results, body)} - {end}
        loaded = _only_for(last, ops, loop, dots)
        second = last | loaded
        first = _sources([dot.result for dot in dots[:-1]], body)
        accumulators = [
            carried
            for carried, value in zip(loop.carried, end.operands, strict=True)
            if value.defining_op() in second
        ]
        late = _dependents(accumulators, body)
        if first & (second | late):
            return None
        # Addresses of loads of both parts may share operations.
        second |= _sources([value for op in loaded for value in op.operands], body)
        crossing = _used(second, loop)
        if any(_is_only_loaded(value, loop, dots) for value in crossing):
            return None
        rest = [op for op in ops if op not in first and op not in last | loaded]
        return Rotation(
            loop,
            [op for op in ops if op in first],
            # What needs the last dot follows what can run beside it.
            sorted(rest, key=late.__contains__),
            [op for op in ops if op in second],
            crossing,
            [carried for carried in loop.carried if carried not in accumulators],
        )

    def is_worthwhile(self, function: FuncOp) -> bool:
        """Whether all dots use wgmma, and registers and shared memory suffice."""
        arch, spec = target_of(function), function.kernel_spec
        if arch is None or spec is None or not {Feature.WGMMA, Feature.TMA} <= arch.features:
            return False
        warps = choose_warps(function, spec.num_warps)
        dots = [op for op in self.loop.body.block if isinstance(op, DotOp)]
        if warps < WARPGROUPS * WARPGROUP or any(wgmma_instruction(dot) is None for dot in dots):
            return False
        operand = dots[-1].a.type
        if element_of(operand) not in (F16, BF16):
            return False
        words = sum(tile_words(dot.result.type) for dot in dots) + tile_words(operand)
        fits = words // (warps * WARP_SIZE) + OTHER_REGISTERS <= MAX_REGISTERS
        return fits and self._shared_bytes(dots) <= arch.static_shared // (spec.occupancy or 1)

    def continues_in(self, other: Rotation) -> bool:
        """Whether another loop goes on where this one ends, with the same second part."""
        loop, following = self.loop, other.loop
        if not are_consecutive(loop, following) or len(loop.results) != len(following.init_args):
            return False
        is_passed = all(
            value is result and result.has_one_use
            for value, result in zip(following.init_args, loop.results, strict=True)
        )
        numbers = [[each.index for each in rotation.kept] for rotation in (self, other)]
        return is_passed and numbers[0] == numbers[1] and _are_twins(self, other)

    def _shared_bytes(self, dots: Sequence[DotOp]) -> int:
        """The shared memory of the stages of all loads, and of operands from outside the loop."""
        loads = [op for op in self.loop.body.block if isinstance(op, LoadOp | TileLoadOp)]
        others = {dot.a for dot in dots if not dot.a.is_inside(self.loop)}
        staged = sum(stored_bytes(load.results[0].type) for load in loads)
        return STAGES * staged + sum(stored_bytes(value.type) for value in others)


def previous_loop(loop: ForOp) -> ForOp | None:
    """The loop before one in its block, if only pure operations are between."""
    before = loop.prev
    while before is not None and not isinstance(before, ForOp):
        if before.regions or not is_pure(before):
            return None
        before = before.prev
    return before


def _are_twins(one: Rotation, other: Rotation) -> bool:
    """Whether the second parts of two loops do the same with corresponding values."""
    if len(one.crossing) != len(other.crossing) or len(one.second) != len(other.second):
        return False
    twins = dict(zip(one.crossing, other.crossing, strict=True))
    if any(value.type is not twin.type for value, twin in twins.items()):
        return False
    twins[one.loop.induction_variable] = other.loop.induction_variable
    for op, twin in zip(one.second, other.second, strict=True):
        if type(op) is not type(twin) or op.attributes != twin.attributes or op.regions:
            return False
        operands = [twins.get(value, value) for value in op.operands]
        if len(operands) != len(twin.operands) or not all(map(is_, operands, twin.operands)):
            return False
        twins.update(zip(op.results, twin.results, strict=True))
    ends = [rotation.loop.body.block.last for rotation in (one, other)]
    assert ends[0] is not None
    assert ends[1] is not None
    pairs = zip(one.loop.carried, *[end.operands for end in ends if end is not None], strict=True)
    return all(
        twins.get(value) is twin for carried, value, twin in pairs if carried not in one.kept
    )


def _is_movable(op: Operation) -> bool:
    """Whether an operation is free of effects, or a load that no token orders."""
    if isinstance(op, LoadOp | TileLoadOp):
        return is_plain(op) and is_first(op) and not op.result_token.is_used
    return is_effect_free(op)


def _only_for(
    last: Collection[Operation], ops: Sequence[Operation], loop: ForOp, dots: Sequence[DotOp]
) -> set[Operation]:
    """What only the second part uses, and is computed from neither dots nor carried values."""
    others = _dependents([*loop.carried, *[dot.result for dot in dots]], loop.body.block)
    loaded: set[Operation] = set()
    for op in reversed(ops):
        users = {user for result in op.results for user in result.users}
        if op not in others and op not in dots and users and users <= {*last, *loaded}:
            loaded.add(op)
    return loaded


def _is_only_loaded(value: Value, loop: ForOp, dots: Sequence[DotOp]) -> bool:
    """Whether a tile of an iteration is computed from no dot: carried, it would take registers."""
    op, body = value.defining_op(), loop.body.block
    if op is None or not is_tile(value):
        return False
    return op not in _dependents([*loop.carried, *[dot.result for dot in dots]], body)


def _used(ops: Collection[Operation], loop: ForOp) -> list[Value]:
    """The values of a loop that operations of it use, and do not compute."""
    used = dict.fromkeys(
        value
        for op in loop.body.block
        if op in ops
        for inner in op.walk()
        for value in inner.operands
        if value.parent_block is loop.body.block and value.defining_op() not in ops
    )
    used.pop(loop.induction_variable, None)
    return list(used)


def _sources(values: Iterable[Value], body: Block) -> set[Operation]:
    """The operations of a block from which values are computed."""
    ops: set[Operation] = set()
    pending = list(values)
    while pending:
        op = pending.pop().defining_op()
        if op is not None and op.parent is body and op not in ops:
            ops.add(op)
            pending += [value for inner in op.walk() for value in inner.operands]
    return ops


def _dependents(values: Iterable[Value], body: Block) -> set[Operation]:
    """The operations of a block that are computed from values."""
    ops: set[Operation] = set()
    pending = list(values)
    while pending:
        for user in pending.pop().users:
            outer = next((op for op in (user, *user.ancestors()) if op.parent is body), None)
            if outer is not None and outer not in ops:
                ops.add(outer)
                pending += outer.results
    return ops
