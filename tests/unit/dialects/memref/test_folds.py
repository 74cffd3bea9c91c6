from __future__ import annotations

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.memref.access import DimOp
from tilewright.dialects.memref.folds import fold_cast, fold_extent
from tilewright.dialects.memref.views import CastOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block
from tilewright.ir.types import DYNAMIC, F32, INDEX, MemRefType

STATIC = MemRefType((4, 8), F32)
DYNAMIC_ROWS = MemRefType((DYNAMIC, 8), F32)


def test_no_op_casts() -> None:
    source = Block([STATIC]).args[0]
    same = create_op(CastOp, source=source, types=[STATIC])
    assert fold_cast(same, (None,)) is source
    there = create_op(CastOp, source=source, types=[DYNAMIC_ROWS])
    assert fold_cast(there, (None,)) is None
    back = create_op(CastOp, source=there.result, types=[STATIC])
    assert fold_cast(back, (None,)) is source


def test_static_extents() -> None:
    source = Block([DYNAMIC_ROWS]).args[0]
    for number, expected in ((0, None), (1, IntegerAttr(8, INDEX)), (2, None)):
        value = IntegerAttr(number, INDEX)
        index = create_op(ConstantOp, value=value, types=[INDEX]).result
        op = create_op(DimOp, source=source, index=index)
        assert fold_extent(op, (None, value)) is expected
