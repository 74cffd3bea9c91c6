"""nv_tileas: tiles with layouts, instruction selection, asynchronous copies and pipelines."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.nv_tileas import (
    agents,
    aggregate,
    async_copy,
    async_store,
    attributes,
    matrix,
    memory,
    multimem,
    pipeline,
    shape,
    sync,
    tensor_map,
    types,
    warpgroup_order,
)
from tilewright.dialects.nv_tileas.attributes import alias
from tilewright.ir.dialect import Dialect

NV_TILEAS: Final = Dialect(
    "nv_tileas",
    aggregate,
    async_copy,
    async_store,
    attributes,
    matrix,
    memory,
    multimem,
    agents,
    pipeline,
    shape,
    sync,
    tensor_map,
    types,
    warpgroup_order,
    alias=alias,
)
