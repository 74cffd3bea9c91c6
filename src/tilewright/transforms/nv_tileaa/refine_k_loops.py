"""Refinement of loops over K: more iterations, with tiles that are shorter along K.

The number of stages of a software pipeline should not depend on the tile that a program chose along
K. Where too few stages of the loaded tiles fit into shared memory, or operands that are computed do
not fit into registers, an iteration is split into several, each with a part of K. The accumulation
keeps its order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import instructions, is_elementwise
from tilewright.analysis.targets import target_of
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.conversion import ExtIOp
from tilewright.dialects.nv_tileaa.integer import DivIOp, MulIOp
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp
from tilewright.dialects.nv_tileaa.shape import MakeRangeOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.types import TiledViewType
from tilewright.dialects.nv_tileaa.view import BlockTileOp, TiledLoadOp, tiled_view
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.ir.passes import Pass
from tilewright.ir.rules import constant_of
from tilewright.ir.types import I32, I64
from tilewright.plans.mma import PROMOTED
from tilewright.plans.slicing import is_plain
from tilewright.schedule.registers import K_LOOP_OTHERS, resident_blocks, tile_capacity
from tilewright.schedule.shared_memory import block_share
from tilewright.schedule.tile_words import accumulator_words, address_words, tile_words
from tilewright.schedule.warps import threads_of
from tilewright.target.tensor_cores import MMA_K_BYTES
from tilewright.transforms.nv_tileaa.loop_slicing import LoopSlicing
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.nv_tileaa.tile_slices import cut_type
from tilewright.transforms.nv_tileaa.uniform_tiles import uniform_tile

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink
    from tilewright.target.arch import Arch

K_PARTS: Final = "k_parts"
WANTED_STAGES: Final = 3
"""One that is read, and two that are copied meanwhile."""
CHEAP: Final = 2
"""Instructions for an element of an operation that may follow the read of a stage."""


class RefineKLoops(Pass):
    """Split the iterations of loops over K such that stages and operands fit into memory.

    Several stages are to fit into shared memory, and operands that are computed into registers.
    """

    name = "refine-k-loops"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            arch, spec = target_of(function), function.kernel_spec
            if arch is None or not function.is_kernel:
                continue
            chosen, wanted = None if spec is None else spec.occupancy, function.asks(K_PARTS) or 0
            problems: list[str | None] = []
            for loop in [each for each in function.walk_post_order() if isinstance(each, ForOp)]:
                dots = [inner for inner in loop.body.block if isinstance(inner, DotOp)]
                if dots:
                    problems.append(_refine(function, loop, dots, arch, chosen, wanted))
            if wanted > 1 and None not in problems:
                function.refuse(K_PARTS, problems[0] or "" if problems else "no loop has a dot")


def _refine(
    function: FuncOp,
    loop: ForOp,
    dots: list[DotOp],
    arch: Arch,
    chosen: int | None,
    wanted: int,
) -> str | None:
    """Split the iterations of a loop into as many as it takes, or return why they are not.

    `chosen` blocks share an SM, if that is known already.
    """
    if not _counts_up_by_one(loop):
        return "a loop does not count up by one from a constant"
    if any(element_of(dot.a.type) in PROMOTED for dot in dots):
        # The intervals of K after which they are promoted must not become shorter.
        return "accumulators are promoted after intervals of K"
    loads = [op for op in loop.body.block if isinstance(op, TiledLoadOp)]
    bytes = sum(count(op.tile.type) * pointee_bytes(element_of(op.tile.type)) for op in loads)
    blocks = _resident_blocks(function, dots, arch, chosen)
    parts = _parts(dots, bytes, block_share(arch, blocks), threads_of(function), wanted)
    if parts > 1:
        refinement = _Refinement(loop, parts, arch)
        if not refinement.is_possible(dots):
            return "an operation of a loop cannot be split along K"
        refinement.apply()
    return None if parts >= wanted else f"K of a tile can be split into {parts} parts only"


def _resident_blocks(function: FuncOp, dots: list[DotOp], arch: Arch, chosen: int | None) -> int:
    """How many blocks share the memory of an SM.

    wgmma reads both operands from their stages if they have 16 bits. With others, warps prepare the
    operands, and are specialized: a block then has the SM to itself.
    """
    bytes = {pointee_bytes(element_of(dot.a.type)) for dot in dots}
    if not all(map(arch.reads_either_major, bytes)):
        return chosen or 1
    accumulators = sum(accumulator_words(dot.result.type) for dot in dots) // threads_of(function)
    return resident_blocks(accumulators, chosen)


def _counts_up_by_one(loop: ForOp) -> bool:
    """Whether the induction variable takes consecutive values that are not negative."""
    first, step = constant_of(loop.lower_bound), constant_of(loop.step)
    if not isinstance(first, IntegerAttr) or not isinstance(step, IntegerAttr):
        return False
    return loop.lower_bound.type in (I32, I64) and first.value >= 0 and step.value == 1


def _parts(dots: list[DotOp], bytes: int, memory: int, threads: int, wanted: int) -> int:
    """Into how many iterations one is split: as many as wanted, or as it takes."""
    along_k = min([shape(op.a.type)[-1] * pointee_bytes(element_of(op.a.type)) for op in dots])
    accumulators = sum([accumulator_words(dot.result.type) for dot in dots])
    operands = sum([_operand_words(dot) for dot in dots])
    if operands:
        operands += address_words(bytes)
    registers = tile_capacity(threads, K_LOOP_OTHERS)
    parts = 1
    while along_k > parts * MMA_K_BYTES:
        fits = bytes * WANTED_STAGES <= parts * memory
        if operands:
            fits = fits and accumulators + operands // parts <= registers
        if parts >= wanted if wanted else fits:
            break
        parts *= 2
    return parts


def _operand_words(dot: DotOp) -> int:
    """The registers of operands if both are computed, as by a conversion; otherwise 0.

    wgmma reads the larger one from registers. The smaller one is permuted and stored to shared
    memory: registers hold it before and after the permutation.
    """
    computed = [each for each in (dot.a, dot.b) if each.defined_by(TiledLoadOp) is None]
    words = [tile_words(each.type) for each in computed]
    return sum(words) + min(words) if len(words) == 2 else 0


class _Refinement:
    """The dimension of each tile of a loop that is K, and the loop over shorter tiles."""

    __slots__ = ("_arch", "_dims", "_loop", "_parts", "_slicing")

    def __init__(self, loop: ForOp, parts: int, arch: Arch) -> None:
        self._loop, self._parts, self._arch = loop, parts, arch
        self._slicing = LoopSlicing(loop, parts, self._is_refinable)
        self._dims = self._slicing.dims

    def is_possible(self, dots: list[DotOp]) -> bool:
        """Whether the loop does nothing but accumulate dots over the tiles that it loads."""
        last = self._loop.body.block.last
        assert last is not None
        accumulators = {dot.c: dot for dot in dots}
        for argument, end in zip(self._loop.carried, last.operands, strict=True):
            dot = accumulators.get(argument)
            if dot is None or end is not dot.result or list(argument.users) != [dot]:
                return False
        if any(list(dot.result.users) != [last] for dot in dots):
            return False
        for dot in dots:
            rank = len(shape(dot.a.type))
            if not (self._slicing.add(dot.a, rank - 1) and self._slicing.add(dot.b, rank - 2)):
                return False
        return all(self._is_member(op) for op in self._loop.body.block)

    def _is_member(self, op: Operation) -> bool:
        """Whether an operation is part of the refined loop: on parts of tiles, or the same in all.

        Only loads may take the induction variable, which counts parts then.
        """
        if isinstance(op, DotOp | YieldOp):
            return True
        if op.regions or not any(result in self._dims for result in op.results):
            return False
        return isinstance(op, TiledLoadOp) or not any(
            operand.is_inside(self._loop) and operand not in self._dims for operand in op.operands
        )

    def _is_refinable(self, op: Operation, dim: int) -> bool:
        """Whether the result of an operation can be shorter along K, which is the dimension."""
        if isinstance(op, TiledLoadOp):
            return self._is_consecutive(op, dim)
        if len(op.results) != 1 or isinstance(op, MakeRangeOp):
            return False
        # What is expensive is computed before the tile is in shared memory: no stage holds it.
        return not is_elementwise(op) or instructions(op, self._arch) <= CHEAP

    def _is_consecutive(self, load: TiledLoadOp, dim: int) -> bool:
        """Whether the iterations of a loop load consecutive tiles along a dimension."""
        type, counter = tiled_view(load.view), self._loop.induction_variable
        if load.view.defined_by(BlockTileOp) is None or load.view.is_inside(self._loop):
            return False
        if not is_plain(load):
            return False
        is_first = load.token is None or load.token.defined_by(CreateMemTokenOp) is not None
        if not is_first or load.result_token.is_used or type.steps[dim] != type.tile[dim]:
            return False
        others = [index for number, index in enumerate(load.indices) if number != dim]
        return load.indices[dim] is counter and not any(
            index.is_inside(self._loop) for index in others
        )

    def apply(self) -> None:
        """Replace the loop by one with shorter tiles and more iterations."""
        old = self._loop
        build = Builder(InsertPoint.before(old), old.location)
        lower, upper, step = self._bounds(build)
        inside = Block([lower.type, *(value.type for value in old.init_args)])
        values: dict[Value, Value] = dict(zip(old.body.block.args, inside.args, strict=True))
        at_end = Builder(InsertPoint.at_end(inside), old.location)
        for op in old.body.block:
            self._copy(op, values, at_end, build)
        operands = [lower, upper, step, *old.init_args]
        types = [result.type for result in old.results]
        new = ForOp(operands, types, old.attributes.copy(), [Region([inside])], old.location)
        build.insert(new)
        for result, replacement in zip(old.results, new.results, strict=True):
            result.replace_all_uses_with(replacement)
        old.erase()

    def _bounds(self, build: Builder) -> list[Value]:
        """The bounds and step of the new loop, in a type that holds them."""
        lower, upper, step = self._loop.operands[:3]
        type = I32 if self._stays_small(lower) and self._stays_small(upper) else I64
        scale = constant(build, self._parts, type)
        scaled: list[Value] = []
        for bound in (lower, upper):
            wide = bound
            if bound.type is not type:
                signed = Signedness.UNSIGNED if self._loop.unsigned_cmp else Signedness.SIGNED
                wide = build.create(ExtIOp, source=bound, signedness=signed, types=[type]).result
            scaled.append(build.create(MulIOp, lhs=wide, rhs=scale).result)
        return [*scaled, step if step.type is type else constant(build, 1, type)]

    def _stays_small(self, bound: Value) -> bool:
        """Whether a bound still fits into 32 bits when it is scaled."""
        if bound.type is not I32:
            return False
        known, op = constant_of(bound), bound.defining_op()
        if isinstance(known, IntegerAttr):
            return 0 <= known.value * self._parts < 1 << (I32.width - 1)
        divisor = constant_of(op.rhs) if isinstance(op, DivIOp) else None
        return isinstance(divisor, IntegerAttr) and divisor.value >= 2 * self._parts

    def _copy(
        self, op: Operation, values: dict[Value, Value], build: Builder, before: Builder
    ) -> None:
        """Copy an operation of the body, on shorter tiles."""
        if isinstance(op, ConstantOp):
            values[op.result] = self._uniform(op.result, build)
            return
        operands = [self._operand(value, values, before) for value in op.operands]
        if isinstance(op, TiledLoadOp):
            operands[0] = self._view(op, before)
        types = [
            cut_type(result.type, self._dims[result], self._parts)
            if result in self._dims
            else result.type
            for result in op.results
        ]
        new = op.like(operands, types)
        if isinstance(new, TiledLoadOp):
            # The last iterations of the program's last tile may have nothing in bounds.
            new.sliced = True
        build.insert(new)
        for result, replacement in zip(op.results, new.results, strict=True):
            values[result] = replacement

    def _operand(self, value: Value, values: dict[Value, Value], before: Builder) -> Value:
        """The replacement of an operand; uniform tiles are made before the loop."""
        if value in self._dims and value not in values:
            values[value] = self._uniform(value, before)
        return values.get(value, value)

    def _uniform(self, value: Value, build: Builder) -> Value:
        """A shorter tile with one value in all elements, as the tile has."""
        type = cut_type(value.type, self._dims[value], self._parts)
        return uniform_tile(value, type, build)

    def _view(self, load: TiledLoadOp, build: Builder) -> Value:
        """A view of the same memory in tiles that are shorter along K."""
        type, op, dim = tiled_view(load.view), load.view.defining_op(), self._dims[load.tile]
        assert isinstance(op, BlockTileOp)
        extents = list(type.tile)
        extents[dim] //= self._parts
        steps = [*type.steps[:dim], extents[dim], *type.steps[dim + 1 :]]
        shorter = TiledViewType(
            tuple(extents), type.source, tuple(steps), type.dims, type.sparse, type.padding
        )
        return build.create(BlockTileOp, source=op.source, types=[shorter]).result
