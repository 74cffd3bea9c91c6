"""All types of Tile IR."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.cuda_tile.tile_types import (
    ELEMENT_SINCE,
    MAX_ELEMENTS,
    TOKEN,
    PtrType,
    StringType,
    TensorViewType,
    TileType,
    TokenType,
    element_count,
)
from tilewright.dialects.cuda_tile.view_types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    ViewType,
)
from tilewright.ir.attributes import Type
from tilewright.ir.declare import Version
from tilewright.ir.types import DYNAMIC, FNV8E5M3FNU

__all__ = [
    "DYNAMIC",
    "ELEMENT_SINCE",
    "FNV8E5M3FNU",
    "MAX_ELEMENTS",
    "TOKEN",
    "TYPE_SINCE",
    "GatherScatterViewType",
    "PartitionViewType",
    "PtrType",
    "StridedViewType",
    "StringType",
    "TensorViewType",
    "TileType",
    "TokenType",
    "ViewType",
    "element_count",
]

TYPE_SINCE: Final[dict[type[Type], Version]] = {
    StridedViewType: (13, 3),
    GatherScatterViewType: (13, 3),
}
"""The version that added a type class, if not the first."""
