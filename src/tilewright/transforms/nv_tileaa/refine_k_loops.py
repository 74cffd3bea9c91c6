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
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp
from tilewright.dialects.nv_tileaa.shape import MakeRangeOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TiledLoadOp, tiled_view
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.passes import Pass
from tilewright.ir.rules import constant_of
from tilewright.ir.tiling import Join
from tilewright.ir.types import I32, I64
from tilewright.plans.mma import PROMOTED
from tilewright.schedule.registers import K_LOOP_OTHERS, resident_blocks, tile_capacity
from tilewright.schedule.shared_memory import block_share
from tilewright.schedule.tile_words import accumulator_words, address_words, tile_words
from tilewright.schedule.warps import threads_of
from tilewright.target.tensor_cores import MMA_K_BYTES
from tilewright.transforms.tile.closure import CannotCut, Cut
from tilewright.transforms.tile.control_flow import Scope
from tilewright.transforms.tile.k_loop import refine_loop

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.tiling import Way
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
        cut = _Refinement(loop, parts, arch).cut(dots)
        if cut is None:
            return "an operation of a loop cannot be split along K"
        refine_loop(loop, cut)
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
    """The tiles of a loop over K that become shorter, and which of its operations may."""

    __slots__ = ("_arch", "_loop", "_parts")

    def __init__(self, loop: ForOp, parts: int, arch: Arch) -> None:
        self._loop, self._parts, self._arch = loop, parts, arch

    def cut(self, dots: list[DotOp]) -> Cut | None:
        """What is cut along K; None if the loop does more than to accumulate dots over loads."""
        if not self._only_accumulates(dots):
            return None
        cut = Cut(Scope([], [self._loop.body.block]), self._parts, self._is_refinable)
        try:
            for dot in dots:
                cut = cut.with_op(dot, cut.way_along(dot, dot.a, len(shape(dot.a.type)) - 1))
        except CannotCut:
            return None
        is_refined = all(self._is_member(op, cut) for op in self._loop.body.block)
        return cut if is_refined else None

    def _only_accumulates(self, dots: list[DotOp]) -> bool:
        """Whether the loop carries the accumulators of its dots, and nothing else uses them."""
        last = self._loop.body.block.last
        assert last is not None
        accumulators = {dot.c: dot for dot in dots}
        for argument, end in zip(self._loop.carried, last.operands, strict=True):
            dot = accumulators.get(argument)
            if dot is None or end is not dot.result or list(argument.users) != [dot]:
                return False
        return all(list(dot.result.users) == [last] for dot in dots)

    def _is_member(self, op: Operation, cut: Cut) -> bool:
        """Whether an operation is part of the refined loop: on parts of tiles, or the same in all.

        Only loads may take the induction variable, which counts parts then.
        """
        if isinstance(op, DotOp | TiledLoadOp | YieldOp):
            return op in cut.ways or isinstance(op, YieldOp)
        if op not in cut.ways and not (len(op.results) == 1 and cut.is_remade(op.results[0])):
            return False
        return all(
            value in cut.dims or cut.is_remade(value) or not value.is_inside(self._loop)
            for value in op.operands
        )

    def _is_refinable(self, op: Operation, way: Way) -> bool:
        """Whether the tiles of an operation can be shorter along K, in this way."""
        if isinstance(op, DotOp):
            return way.join is Join.CHAIN
        if isinstance(op, TiledLoadOp):
            return self._is_consecutive(op, way.axes[op.tile])
        if len(op.results) != 1 or isinstance(op, MakeRangeOp):
            return False
        # What is expensive is computed before the tile is in shared memory: no stage holds it.
        if op.regions:
            return False
        return not is_elementwise(op) or instructions(op, self._arch) <= CHEAP

    def _is_consecutive(self, load: TiledLoadOp, dim: int) -> bool:
        """Whether the iterations of a loop load consecutive tiles along a dimension."""
        type, counter = tiled_view(load.view), self._loop.induction_variable
        if load.view.is_inside(self._loop):
            return False
        is_first = load.token is None or load.token.defined_by(CreateMemTokenOp) is not None
        if not is_first or load.result_token.is_used or type.steps[dim] != type.tile[dim]:
            return False
        others = [index for number, index in enumerate(load.indices) if number != dim]
        return load.indices[dim] is counter and not any(
            index.is_inside(self._loop) for index in others
        )
