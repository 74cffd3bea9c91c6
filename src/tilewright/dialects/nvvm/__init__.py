"""The NVVM dialect: PTX instructions as operations, in upstream MLIR's syntax if it has them."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.nvvm import (
    access,
    arithmetic,
    attributes,
    conversion,
    copy,
    matrix,
    mbarrier,
    multimem,
    registers,
    sync,
    tma,
    warp,
    wgmma,
)
from tilewright.ir.dialect import Dialect

NVVM: Final = Dialect(
    "nvvm",
    access,
    arithmetic,
    attributes,
    conversion,
    copy,
    matrix,
    mbarrier,
    multimem,
    registers,
    sync,
    tma,
    warp,
    wgmma,
    spellings={
        **{kind.name: kind for kind in registers.REGISTERS.values()},
        "nvvm.fence.proxy.acquire.sync": sync.FenceProxyAcquireOp,
        "nvvm.ldmatrix.sync": matrix.LdMatrixOp,
    },
)
