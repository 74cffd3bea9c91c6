"""Constants that a conversion creates once in a block."""

from __future__ import annotations

import toy
from integrity import check_integrity
from lowering import lowered

from tilewright.conversion.block_constants import block_constant
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Result, convert, converts
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.types import I32
from tilewright.ir.values import Value

TARGET = ConversionTarget(legal=("arith",), illegal=("toy",))


def seven(build: Builder) -> Value:
    return block_constant(build, ConstantOp, IntegerAttr(7, I32), I32)


def test_operations_of_a_block_share_constants() -> None:
    body = """
        %a:4 = vector.to_elements %x : vector<4xf32>
        %b:4 = vector.to_elements %y : vector<4xf32>
    """
    lines = lowered(body, "%x: vector<4xf32>, %y: vector<4xf32>")
    assert len([line for line in lines if "llvm.mlir.constant" in line]) == 4
    assert len([line for line in lines if "llvm.extractelement" in line]) == 8


def test_blocks_have_constants_of_their_own() -> None:
    body = """
        scf.if %c {
          %a:2 = vector.to_elements %x : vector<2xf32>
        } else {
          %b:2 = vector.to_elements %x : vector<2xf32>
        }
    """
    lines = lowered(body, "%c: i1, %x: vector<2xf32>")
    assert len([line for line in lines if "llvm.mlir.constant" in line]) == 4


def test_a_constant_that_was_rolled_back_is_created_again() -> None:
    @converts(toy.UseOp)
    def gives_up(op: toy.UseOp, new: toy.UseOp, build: ConversionBuilder) -> Result:
        seven(build)
        return None

    @converts(toy.UseOp)
    def applies(op: toy.UseOp, new: toy.UseOp, build: ConversionBuilder) -> Result:
        assert seven(build) is seven(build)
        return ()

    module, build = toy.module()
    toy.use(build)
    convert(module, TARGET, (gives_up, applies))
    check_integrity(module)
    assert [op.name for op in module.members()] == ["arith.constant"]


def test_a_constant_is_not_used_before_its_definition() -> None:
    @converts(toy.UseOp)
    def before(op: toy.UseOp, new: toy.UseOp, build: ConversionBuilder) -> Result:
        later = seven(build).defining_op()
        assert later is not None
        with build.at(InsertPoint.before(later)):
            assert seven(build).defining_op() is later.prev
        return ()

    module, build = toy.module()
    toy.use(build)
    convert(module, TARGET, (before,))
    assert [op.name for op in module.members()] == ["arith.constant"] * 2


def test_values_with_names_have_constants_of_their_own() -> None:
    body = """
        %a = arith.constant 7 : i32 loc("a"("kernel.py":1:1))
        %b = arith.constant 7 : i32 loc("b"("kernel.py":2:1))
        %c = arith.constant 7 : i32
        %d = arith.constant 7 : i32
    """
    lines = lowered(body)
    assert len([line for line in lines if "llvm.mlir.constant" in line]) == 3
