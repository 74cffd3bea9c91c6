"""Distribution of a kernel over the CTAs of a cluster, one bit of their rank after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.targets import target_or_baseline
from tilewright.dialects.nv_tileaa.attributes import KernelSpecAttr
from tilewright.dialects.nv_tileaa.requests import NUM_CTAS
from tilewright.support.remark_catalogue import CLUSTER, CLUSTER_REFUSED
from tilewright.support.remarks import Remark
from tilewright.target.arch import PORTABLE_CLUSTER
from tilewright.transforms.nv_tileaa.cluster_accesses import check_accesses
from tilewright.transforms.nv_tileaa.cluster_choice import choose_cut
from tilewright.transforms.tile.closure import CannotCut
from tilewright.transforms.tile.one_part import HALVES, split_over_bit

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.support.diagnostics import Sink


def distribute(kernel: FuncOp, sink: Sink, pass_name: str) -> None:
    """Share the tiles of a kernel over as many CTAs as possible, up to the hint."""
    asked, split = kernel.asks(NUM_CTAS) or 1, list[str]()
    failure: CannotCut | None = None
    try:
        problem = target_or_baseline(kernel).cluster_problem
        if problem is not None:
            raise CannotCut(kernel, problem)
        check_accesses(kernel)
        while HALVES << len(split) <= min(asked, PORTABLE_CLUSTER):
            choice = choose_cut(kernel)
            split_over_bit(kernel, choice.cut, len(split))
            split.append(choice.dimension)
    except CannotCut as error:
        failure = error
    ctas, spec = 1 << len(split), kernel.kernel_spec
    assert spec is not None
    kernel.attributes["kernel_spec"] = KernelSpecAttr(
        ctas if ctas > 1 else None, spec.num_warps, spec.occupancy
    )
    if sink.wants_remarks and split:
        text = f"{ctas} CTAs of a cluster share tiles, split along {', then '.join(split)}"
        sink.remark(Remark(CLUSTER, text, pass_name, kernel.sym_name, kernel.location))
    if ctas < asked:
        missed = _missed(kernel, asked, failure, pass_name)
        kernel.refuse(NUM_CTAS, missed.reason)
        if sink.wants_remarks:
            sink.remark(missed)


def _missed(kernel: FuncOp, asked: int, failure: CannotCut | None, pass_name: str) -> Remark:
    """The remark on a hint that is not met, or not to its full extent."""
    reason, location = f"not a power of two up to {PORTABLE_CLUSTER}", kernel.location
    if failure is not None:
        reason, location = failure.reason, failure.op.location
    ctas = kernel.cluster_size
    effect = f"is met by {ctas} CTAs only" if ctas > 1 else "is not used"
    text = f"num_ctas {asked} {effect}"
    return Remark(CLUSTER_REFUSED, text, pass_name, kernel.sym_name, location, reason)
