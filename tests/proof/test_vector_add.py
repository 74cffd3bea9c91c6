"""A vector add from text to PTX, through a toy conversion."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import pytest
import tiny_llvm as tiny
from integrity import check_integrity

from tilewright.dialects.builtin import UnrealizedConversionCastOp
from tilewright.dialects.cuda_tile.attributes import Signedness
from tilewright.dialects.cuda_tile.control_flow import ReturnOp
from tilewright.dialects.cuda_tile.core import (
    BroadcastOp,
    ConstantOp,
    GetTileBlockIdOp,
    IotaOp,
    OffsetOp,
    ReshapeOp,
)
from tilewright.dialects.cuda_tile.floating import AddFOp
from tilewright.dialects.cuda_tile.integer import AddIOp, CmpIOp, MulIOp
from tilewright.dialects.cuda_tile.memory import (
    JoinTokensOp,
    LoadPtrTkoOp,
    MakeTokenOp,
    StorePtrTkoOp,
)
from tilewright.dialects.cuda_tile.structure import EntryOp, ModuleOp
from tilewright.dialects.cuda_tile.types import PtrType, TileType, TokenType
from tilewright.driver.registry import context
from tilewright.ir.attributes import Type
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, convert, converts
from tilewright.ir.equivalence import equivalent
from tilewright.ir.instruments import VerifyEach
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.operation import Operation
from tilewright.ir.passes import Pass, Pipeline
from tilewright.ir.type_converter import TypeConverter
from tilewright.ir.types import F32, I32
from tilewright.support.diagnostics import Sink, UserError
from tilewright.text.parser import parse_text
from tilewright.transforms.generic.cse import Cse
from tilewright.transforms.generic.dce import Dce

PROGRAM = """\
builtin.module {
  cuda_tile.module @kernels {
    entry @vector_add(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
      %token = make_token : token
      %block, %y, %z = get_tile_block_id : tile<i32>
      %width = constant <i32: 128> : tile<i32>
      %start = muli %block, %width : tile<i32>
      %start_1 = reshape %start : tile<i32> -> tile<1xi32>
      %starts = broadcast %start_1 : tile<1xi32> -> tile<128xi32>
      %lane = iota : tile<128xi32>
      %index = addi %starts, %lane : tile<128xi32>
      %n_1 = reshape %n : tile<i32> -> tile<1xi32>
      %ends = broadcast %n_1 : tile<1xi32> -> tile<128xi32>
      %inside = cmpi less_than %index, %ends, signed : tile<128xi32> -> tile<128xi1>
      %a_1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
      %as = broadcast %a_1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
      %pa = offset %as, %index : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
      %b_1 = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>
      %bs = broadcast %b_1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
      %pb = offset %bs, %index : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
      %c_1 = reshape %c : tile<ptr<f32>> -> tile<1xptr<f32>>
      %cs = broadcast %c_1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
      %pc = offset %cs, %index : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
      %x, %t1 = load_ptr_tko weak %pa, %inside token=%token : tile<128xptr<f32>>, tile<128xi1> -> tile<128xf32>, token
      %w, %t2 = load_ptr_tko weak %pb, %inside token=%token : tile<128xptr<f32>>, tile<128xi1> -> tile<128xf32>, token
      %loaded = join_tokens %t1, %t2 : token
      %sum = addf %x, %w : tile<128xf32>
      %done = store_ptr_tko weak %pc, %sum, %inside token=%loaded : tile<128xptr<f32>>, tile<128xf32>, tile<128xi1> -> token
      return
    }
  }
}
"""  # noqa: E501


def element(tile: TileType) -> Type | None:
    """The element type: a thread holds one element, so tiles have at most 128 elements."""
    if tile.shape not in ((), (1,), (128,)):
        return None
    return tiny.PTR if isinstance(tile.element, PtrType) else tile.element


def types() -> TypeConverter:
    converter = TypeConverter()
    converter.add(TileType, element)
    # Memory operations of one thread are in program order.
    converter.add(TokenType, lambda token: ())
    return converter


@converts(ModuleOp)
def module(op: ModuleOp, new: ModuleOp, build: ConversionBuilder) -> Result:
    build.inline_block(op.body.block, [])
    return ()


@converts(EntryOp)
def entry(op: EntryOp, new: EntryOp, build: ConversionBuilder) -> Result:
    function = build.create(tiny.FuncOp, sym_name=op.sym_name)
    build.convert_region(op.body, function.body)
    return function


@converts(ReturnOp)
def return_(op: ReturnOp, new: ReturnOp, build: ConversionBuilder) -> Result:
    return build.create(tiny.ReturnOp)


@converts(ConstantOp)
def constant(op: ConstantOp, new: ConstantOp, build: ConversionBuilder) -> Result:
    if build.types.convert(op.result.type) != (I32,):
        return build.reject("expected a constant of i32")
    return build.create(tiny.ConstantOp, value=op.value.elements()[0], types=[I32])


@converts(IotaOp)
def iota(op: IotaOp, new: IotaOp, build: ConversionBuilder) -> Result:
    return build.create(tiny.RegisterOp, register="tid.x")


@converts(GetTileBlockIdOp)
def block_id(op: GetTileBlockIdOp, new: GetTileBlockIdOp, build: ConversionBuilder) -> Result:
    axes = [build.create(tiny.RegisterOp, register=f"ctaid.{axis}") for axis in "xyz"]
    return [axis.result for axis in axes]


@converts(ReshapeOp, BroadcastOp)
def forward(
    op: ReshapeOp | BroadcastOp, new: ReshapeOp | BroadcastOp, build: ConversionBuilder
) -> Result:
    return new.source


OPCODES = {AddIOp: "add", MulIOp: "mul", AddFOp: "fadd"}


@converts(AddIOp, MulIOp, AddFOp)
def arithmetic(
    op: AddIOp | MulIOp | AddFOp, new: AddIOp | MulIOp | AddFOp, build: ConversionBuilder
) -> Result:
    return build.create(tiny.BinaryOp, opcode=OPCODES[type(op)], lhs=new.lhs, rhs=new.rhs)


@converts(CmpIOp)
def compare(op: CmpIOp, new: CmpIOp, build: ConversionBuilder) -> Result:
    wanted = op.comparison_predicate.keyword
    if wanted != "less_than":
        return build.reject(f"expected less_than, got {wanted}")
    predicate = "slt" if op.signedness is Signedness.SIGNED else "ult"
    return build.create(tiny.CompareOp, predicate=predicate, lhs=new.lhs, rhs=new.rhs)


@converts(OffsetOp)
def offset(op: OffsetOp, new: OffsetOp, build: ConversionBuilder) -> Result:
    return build.create(tiny.OffsetOp, base=new.ptr, index=new.offset)


@converts(MakeTokenOp, JoinTokensOp)
def order(
    op: MakeTokenOp | JoinTokensOp, new: MakeTokenOp | JoinTokensOp, build: ConversionBuilder
) -> Result:
    return [()]


@converts(LoadPtrTkoOp)
def load(op: LoadPtrTkoOp, new: LoadPtrTkoOp, build: ConversionBuilder) -> Result:
    """A branch around the load, since a masked-off lane must not access memory."""
    if new.mask is None:
        return [build.create(tiny.LoadOp, address=new.source, types=[F32]).result, ()]
    then = build.add_block()
    other = build.add_block(after=then)
    after = build.add_block([F32], after=other)
    build.create(tiny.CondBranchOp, condition=new.mask, successors=[then, other])
    with build.at(InsertPoint.at_end(then)):
        value = build.create(tiny.LoadOp, address=new.source, types=[F32])
        build.create(tiny.BranchOp, inputs=[value.result], successors=[after])
    with build.at(InsertPoint.at_end(other)):
        zero = build.create(tiny.ConstantOp, value=0, types=[F32])
        build.create(tiny.BranchOp, inputs=[zero.result], successors=[after])
    build.continue_in(after)
    return [after.args[0], ()]


@converts(StorePtrTkoOp)
def store(op: StorePtrTkoOp, new: StorePtrTkoOp, build: ConversionBuilder) -> Result:
    if new.mask is None:
        return build.reject("expected a mask")
    then = build.add_block()
    after = build.add_block(after=then)
    build.create(tiny.CondBranchOp, condition=new.mask, successors=[then, after])
    with build.at(InsertPoint.at_end(then)):
        build.create(tiny.StoreOp, value=new.value, address=new.destination)
        build.create(tiny.BranchOp, successors=[after])
    build.continue_in(after)
    return [()]


PATTERNS: Patterns = (
    module,
    entry,
    return_,
    constant,
    iota,
    block_id,
    forward,
    arithmetic,
    compare,
    offset,
    order,
    load,
    store,
)
TARGET = ConversionTarget(legal=("tiny",), illegal=("cuda_tile", UnrealizedConversionCastOp))


class ToTiny(Pass):
    """The whole lowering, one thread for each element of a tile."""

    name = "to-tiny"

    def run(self, op: Operation, sink: Sink) -> None:
        convert(op, TARGET, PATTERNS, types(), sink=sink)


def read(text: str) -> Operation:
    return parse_text(text, context(), "vector_add.mlir")


def to_ptx(text: str) -> str:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    compiled = llvm.parse_assembly(text)
    compiled.verify()
    target = llvm.Target.from_triple("nvptx64-nvidia-cuda")
    machine = target.create_target_machine(cpu="sm_90", features="+ptx80", opt=2)
    return machine.emit_assembly(compiled)


def test_a_vector_add_becomes_ptx() -> None:
    program = read(PROGRAM)
    Pipeline(ToTiny(), Cse(), Dce()).run(program, instruments=[VerifyEach()])
    check_integrity(program)
    assert list(TARGET.problems(program)) == []
    ptx = to_ptx(tiny.llvm_ir(program))
    assert ".visible .entry vector_add(" in ptx
    assert len(re.findall(r"\.param \.u64", ptx)) == 3
    assert len(re.findall(r"ld\.global(\.nc)?\.(f32|b32)", ptx)) == 2
    assert len(re.findall(r"add(\.rn)?\.f32", ptx)) == 1
    assert len(re.findall(r"st\.global\.(f32|b32)", ptx)) == 1
    assert "%tid.x" in ptx
    assert "%ctaid.x" in ptx
    assert "%ctaid.y" not in ptx


def test_new_operations_have_source_locations() -> None:
    lines = PROGRAM.splitlines()
    program = read(PROGRAM)
    convert(program, TARGET, PATTERNS, types())
    words: dict[type[Operation], str] = {tiny.LoadOp: "load_ptr_tko", tiny.FuncOp: "entry"}
    words |= {tiny.StoreOp: "store_ptr_tko", tiny.CompareOp: "cmpi"}
    words |= {tiny.OffsetOp: "offset", tiny.ReturnOp: "return"}
    seen: set[type[Operation]] = set()
    for op in program.walk():
        if type(op) in words:
            line = int(str(op.location).split(":")[1])
            assert words[type(op)] in lines[line - 1]
            seen.add(type(op))
    assert seen == set(words)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "addf %x, %w :",
            "subf %x, %w :",
            "failed to legalize operation 'cuda_tile.subf' that was marked illegal",
        ),
        (
            "cmpi less_than",
            "cmpi greater_than",
            "failed to legalize operation 'cuda_tile.cmpi' that was marked illegal",
        ),
    ],
)
def test_an_op_without_a_pattern_is_reported_and_nothing_changes(
    old: str, new: str, message: str
) -> None:
    text = PROGRAM.replace(old, new)
    program = read(text)
    before = program.clone()
    with pytest.raises(UserError) as caught:
        Pipeline(ToTiny()).run(program)
    (error,) = caught.value.diagnostics
    assert error.message == message
    line = 1 + next(n for n, line in enumerate(text.splitlines()) if new in line)
    assert str(error.location).startswith(f"vector_add.mlir:{line}:")
    assert "^" in error.render()
    assert equivalent(program, before, locations=True)
    check_integrity(program)


def test_tiles_of_other_shapes_are_rejected() -> None:
    program = read(PROGRAM.replace("128x", "64x"))
    with pytest.raises(UserError, match=r"failed to legalize operation 'cuda_tile.\w+'"):
        Pipeline(ToTiny()).run(program)
