"""Rule that splits iterations over K: more of them, with tiles that are shorter along K.

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
from tilewright.dialects.nv_tileaa.splits import Split, SplitForm
from tilewright.dialects.nv_tileaa.view import TiledLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.plans.mma import PROMOTED
from tilewright.schedule.limits import CHEAP, OVERLAPPED_STAGES
from tilewright.schedule.registers import K_LOOP_OTHERS, resident_blocks, tile_capacity
from tilewright.schedule.shared_memory import block_share
from tilewright.schedule.tile_words import accumulator_words, address_words, tile_words
from tilewright.schedule.warp_counts import threads_of
from tilewright.target.tensor_cores import MMA_K_BYTES
from tilewright.transforms.nv_tileaa.dot_parts import dots_of_loops
from tilewright.transforms.tile.closure import CannotCut
from tilewright.transforms.tile.loop import counts_up_by_one, cut_along_k

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink
    from tilewright.target.arch import Arch
    from tilewright.transforms.nv_tileaa.choose_splits import Trial

K_PARTS: Final = "k_parts"


def choose_k_parts(trial: Trial, _: Sink) -> None:
    """Split iterations so that stages fit into shared memory, and computed operands into registers.

    As many as asked by `k_parts`, or as few as it takes.
    """
    program, arch = trial.program, target_of(trial.program)
    if arch is None or not program.is_kernel:
        return
    wanted, problems = program.asks(K_PARTS) or 0, list[str | None]()
    loops, spec = dots_of_loops(trial), program.kernel_spec
    chosen = None if spec is None else spec.occupancy
    for sources in loops:
        dots = [dot for each in sources if isinstance(dot := trial.current(each), DotOp)]
        parts, problem = _choose(trial.kernel, dots, arch, chosen, wanted)
        for dot in dots if parts > 1 else ():
            trial.split(dot, Split(len(shape(dot.c.type)), parts, SplitForm.K_LOOP))
        problems.append(problem)
    if wanted > 1 and None not in problems:
        program.refuse(K_PARTS, problems[0] or "" if problems else "no loop has a dot")


def _choose(
    kernel: FuncOp, dots: Sequence[DotOp], arch: Arch, chosen: int | None, wanted: int
) -> tuple[int, str | None]:
    """Into how many parts the iterations of a loop are split, and why not into as many as wanted.

    `chosen` blocks share an SM, if that is known already.
    """
    loop = dots[0].parent_op
    assert isinstance(loop, ForOp)
    if not counts_up_by_one(loop):
        return 1, "a loop does not count up by one from a constant"
    if any(element_of(dot.a.type) in PROMOTED for dot in dots):
        # The intervals of K after which they are promoted must not become shorter.
        return 1, "accumulators are promoted after intervals of K"
    loads = [op for op in loop.body.block if isinstance(op, TiledLoadOp)]
    bytes = sum(count(op.tile.type) * pointee_bytes(element_of(op.tile.type)) for op in loads)
    threads = threads_of(kernel)
    blocks = _resident_blocks(dots, arch, threads, chosen)
    parts = _parts(dots, bytes, block_share(arch, blocks), threads, wanted)

    def is_cheap(op: Operation) -> bool:
        # What is expensive is computed before the tile is in shared memory: no stage holds it.
        return not is_elementwise(op) or instructions(op, arch) <= CHEAP

    if parts > 1:
        try:
            cut_along_k(loop, dots, parts, is_cheap)
        except CannotCut:
            return 1, "an operation of a loop cannot be split along K"
    missed = f"K of a tile can be split into {parts} parts only"
    return parts, None if parts >= wanted else missed


def _resident_blocks(dots: Sequence[DotOp], arch: Arch, threads: int, chosen: int | None) -> int:
    """How many blocks share the memory of an SM.

    wgmma reads both operands from their stages if they have 16 bits. With others, warps prepare the
    operands, and are specialized: a block then has the SM to itself.
    """
    bytes = {pointee_bytes(element_of(dot.a.type)) for dot in dots}
    if not all(map(arch.reads_either_major, bytes)):
        return chosen or 1
    accumulators = sum(accumulator_words(dot.result.type) for dot in dots) // threads
    return resident_blocks(accumulators, chosen)


def _parts(dots: Sequence[DotOp], bytes: int, memory: int, threads: int, wanted: int) -> int:
    """Into how many iterations one is split: as many as wanted, or as it takes."""
    along_k = min([shape(op.a.type)[-1] * pointee_bytes(element_of(op.a.type)) for op in dots])
    accumulators = sum([accumulator_words(dot.result.type) for dot in dots])
    operands = sum([_operand_words(dot) for dot in dots])
    if operands:
        operands += address_words(bytes)
    registers = tile_capacity(threads, K_LOOP_OTHERS)
    parts = 1
    while along_k > parts * MMA_K_BYTES:
        fits = bytes * OVERLAPPED_STAGES <= parts * memory
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
