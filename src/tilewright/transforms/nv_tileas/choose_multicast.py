"""Which tiles the CTAs of a cluster multicast: those that several of them load.

Each CTA copies a part of the tile to the stages of all CTAs that share it, so that L2 is read once
for all of them. CTAs fill the same stages in the same order then: no bound or condition of a
pipelined loop, or of one around it, depends on the rank of the CTA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.attribute_names import CLUSTER_SHARED
from tilewright.dialects.nv_tileaa.program import GetCtaRankOp
from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.pipeline import ranks_within
from tilewright.dialects.nv_tileas.tensor_map import part_boxes
from tilewright.dialects.nv_tileas.types import TensorMapType
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.types import TensorType
from tilewright.layout.tma_boxes import NoBoxes
from tilewright.transforms.nv_tileas.producer_slice import ProducerSlice

if TYPE_CHECKING:
    from collections.abc import Collection

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.attributes import Type
    from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad


def multicast_problem(function: FuncOp, loops: Collection[ForOp]) -> str | None:
    """Why the CTAs of a cluster cannot share the stages of pipelined loops; None if they can."""
    # Without copies, the slice is what bounds and conditions depend on.
    control = ProducerSlice(function, loops, ()).values
    if any(value.defined_by(GetCtaRankOp) is not None for value in control):
        return "the iterations of a pipelined loop depend on the rank of the CTA"
    return None


def shared_ranks(load: TileLoad) -> int:
    """The bits of the rank in which CTAs differ that load the same tile; 0 if there are none."""
    mask = load.attributes.get(CLUSTER_SHARED)
    return mask.value if isinstance(mask, IntegerAttr) else 0


def multicast_ranks(load: TileLoad, tile: Type) -> int:
    """The bits of the rank in which CTAs differ that multicast a tile to each other.

    They are fewer than those of the CTAs that share it if it has not enough boxes for all.
    """
    mask = shared_ranks(load)
    if not isinstance(load, TiledLoadOp) or not isinstance(tile, TensorType):
        return 0
    while mask:
        try:
            part_boxes(TensorMapType(tiled_view(load.view), tile, len(ranks_within(mask))))
        except NoBoxes:
            mask ^= 1 << (mask.bit_length() - 1)
        else:
            return mask
    return 0
