"""Type conversion, and materializations between the levels."""

from __future__ import annotations

import pytest
from each_case import each_case
from tile_lowering import converted, failures, kernel, lines, parsed, tile_module

from tilewright.conversion.cuda_tile_to_nv_tileaa import TARGET, TYPES
from tilewright.conversion.cuda_tile_to_nv_tileaa.types import (
    TO_CUDA_TILE,
    TO_NV_TILEAA,
    tileaa_types,
)
from tilewright.dialects.builtin import UnrealizedConversionCastOp, unrealized_cast
from tilewright.dialects.cuda_tile.types import (
    TOKEN,
    GatherScatterViewType,
    PartitionViewType,
    PtrType,
    StridedViewType,
    StringType,
    TensorViewType,
    TileType,
)
from tilewright.dialects.llvm.types import PointerType, StructType
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.attributes import Type
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Operation, UnregisteredOp
from tilewright.ir.types import DYNAMIC, F32, I8, I32, TensorType
from tilewright.ir.values import BlockArgument
from tilewright.ir.verifier import verify

MATRIX = TensorViewType((DYNAMIC, 64), F32, (DYNAMIC, 1))
MEMREF = "!nv_tileaa.memref<?x64xf32, strides = [?, 1]>"

CONVERTED: dict[Type, str] = {
    TileType((8, 64), F32): "tensor<8x64xf32>",
    TileType((), F32): "f32",
    TileType((16,), PtrType(F32)): "tensor<16x!nv_tileaa.ptr<f32>>",
    TileType((), PtrType(I8)): "!nv_tileaa.ptr<i8>",
    PtrType(F32): "!nv_tileaa.ptr<f32>",
    TOKEN: "!nv_tileaa.mem_token",
    MATRIX: MEMREF,
    PartitionViewType((8, 8), MATRIX, (0, 1)): (
        f"!nv_tileaa.tiled_view<tile = [8, 8], source = {MEMREF}>"
    ),
    StridedViewType((8, 8), (4, 8), MATRIX, (1, 0)): (
        f"!nv_tileaa.tiled_view<tile = [8, 8], source = {MEMREF}, steps = [4, 8], dims = [1, 0]>"
    ),
    GatherScatterViewType((8, 8), MATRIX, 1): (
        f"!nv_tileaa.tiled_view<tile = [8, 8], source = {MEMREF}, sparse = 1>"
    ),
    I32: "i32",
}


def casts(root: Operation) -> list[Operation]:
    return [op for op in root.walk() if isinstance(op, UnrealizedConversionCastOp)]


@pytest.mark.requirement("R0-007", "R1-061", "R0-030")
@each_case("type", CONVERTED, ids=str)
def test_types(type: Type) -> None:
    converted_types = TYPES.convert(type)
    assert converted_types is not None
    assert list(map(str, converted_types)) == [CONVERTED[type]]


def test_types_without_values_are_not_converted() -> None:
    assert TYPES.convert(StringType()) is None


@pytest.mark.requirement("R0-007", "R0-028")
def test_views_reach_loads_and_stores() -> None:
    view = "partition_view<tile=(8x8), tensor_view<?x64xf32, strides=[64,1]>>"
    body = f"""
    %v = make_tensor_view %p, shape = [%i, 64], strides = [64, 1]
        : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
    %w = make_partition_view %v : {view}
    %t, %k = load_view_tko weak %w[%i, %i] : {view}, tile<i32> -> tile<8x8xf32>, token
    %l = store_view_tko weak %t, %w[%i, %i] token = %k
        : tile<8x8xf32>, {view}, tile<i32> -> token
    """
    function = kernel(body, "%p: tile<ptr<f32>>, %i: tile<i32>")
    load, store = [op for op in function.walk() if op.name.startswith("nv_tileaa.tiled_")]
    assert load.operands[0] is store.operands[1]
    assert store.operands[-1] is load.results[1]
    assert store.operands[0] is load.results[0]


@pytest.mark.requirement("R0-014")
def test_types_are_the_same_for_operands_results_and_arguments() -> None:
    body = """
    %zero = constant <i32: 0> : tile<i32>
    %q, %u = for %i in (%zero to %zero, step %zero) : tile<i32> iter_values(%r = %p, %k = %t)
        -> (tile<ptr<f32>>, token) {
      continue %r, %k : tile<ptr<f32>>, token
    }
    %x, %o = load_ptr_tko weak %q token=%u : tile<ptr<f32>> -> tile<f32>, token
    """
    function = kernel("%t = make_token : token" + body, "%p: tile<ptr<f32>>")
    (loop,) = [op for op in function.walk() if op.name == "scf.for"]
    expected = ["!nv_tileaa.ptr<f32>", "!nv_tileaa.mem_token"]
    block = loop.regions[0].block
    assert [str(value.type) for value in loop.operands[3:]] == expected
    assert [str(value.type) for value in loop.results] == expected
    assert [str(argument.type) for argument in block.args[1:]] == expected


@pytest.mark.requirement("R0-034")
def test_llvm_types_are_kept() -> None:
    for type in (StructType((I32,)), PointerType(1)):
        assert TYPES.is_legal_type(type)
    body = '%s = "other.make"() : () -> !llvm.struct<(i32)>\n%p = ub.poison : !llvm.ptr<1>'
    module = parsed(tile_module(body))
    assert failures(module) == []
    made = {op.name: str(op.results[0].type) for op in module.walk() if op.results}
    assert made == {"other.make": "!llvm.struct<(i32)>", "ub.poison": "!llvm.ptr<1>"}


TRUNCATED = tile_module(
    "%i = iota : tile<128xi32>\n%n = trunci %i : tile<128xi32> -> tile<128xi8>\n"
    'print_tko "%d", %n : tile<128xi8> -> token'
)
FOREIGN = TRUNCATED.replace("iota : ", '"other.make"() : () -> !cuda_tile.')
"""The operand of `trunci` is defined by an operation that the pass does not convert."""


@pytest.mark.requirement("R0-024", "R0-032")
def test_an_unconverted_operand_is_materialized_by_a_cast() -> None:
    module = parsed(FOREIGN)
    assert failures(module) == []
    (cast,) = casts(module)
    (made,) = [op for op in module.walk() if op.name == "nv_tileaa.trunci"]
    assert made.operands == cast.results
    assert str(cast.operands[0].type) == "!cuda_tile.tile<128xi32>"
    assert str(cast.results[0].type) == "tensor<128xi32>"


@pytest.mark.requirement("R0-025", "R0-032")
def test_the_cast_is_reconciled_when_the_producer_is_converted() -> None:
    """The consumer is converted first, then the producer, and the casts between them cancel."""
    module = parsed(FOREIGN)
    assert failures(module) == []
    (old,) = [op for op in module.walk() if op.name == "other.make"]
    build = Builder(InsertPoint.before(old))
    new = build.insert(UnregisteredOp("other.made", (), (TensorType((128,), I32),)))
    back = unrealized_cast(build, (old.results[0].type,), new.results)
    old.results[0].replace_all_uses_with(back.results[0])
    assert len(casts(module)) == 2
    parse_pipeline("reconcile-unrealized-casts").run(module)
    assert casts(module) == []
    verify(module)
    (made,) = [op for op in module.walk() if op.name == "nv_tileaa.trunci"]
    assert made.operands == new.results


@pytest.mark.requirement("R0-025")
def test_a_whole_conversion_makes_no_casts() -> None:
    assert casts(converted(TRUNCATED)) == []


@pytest.mark.requirement("R0-026", "R0-027", kind="behaviour")
def test_three_types_have_a_materialization_in_one_direction() -> None:
    types = tileaa_types()
    tile, pointer = TileType((8,), F32), TileType((), PtrType(F32))
    bridged = {
        ("tile", "forward"): types.to_target(build(), new_types(tile), old_values(tile)),
        ("token", "forward"): types.to_target(build(), new_types(TOKEN), old_values(TOKEN)),
        ("pointer", "back"): types.to_source(build(), (pointer,), old_values(*new_types(pointer))),
        ("tile", "back"): types.to_source(build(), (tile,), old_values(*new_types(tile))),
        ("token", "back"): types.to_source(build(), (TOKEN,), old_values(MEM_TOKEN)),
    }
    made = {key for key, values in bridged.items() if values is not None}
    assert made == {("tile", "forward"), ("token", "forward"), ("pointer", "back")}


@pytest.mark.requirement("R0-026", kind="behaviour")
def test_materializations_take_their_own_types() -> None:
    tile = TileType((8,), F32)
    answers = [bridge(build(), new_types(tile), old_values(tile)) for bridge in TO_NV_TILEAA]
    assert [answer is None for answer in answers] == [False, True]
    assert TO_CUDA_TILE(build(), (tile,), old_values(*new_types(tile))) is None


def build() -> Builder:
    return Builder(InsertPoint(Block()))


def new_types(type: Type) -> tuple[Type, ...]:
    types = TYPES.convert(type)
    assert types is not None
    return types


def old_values(*types: Type) -> tuple[BlockArgument, ...]:
    return Block(types).args


@pytest.mark.requirement("R0-027")
def test_pointers_of_unconverted_users_are_materialized() -> None:
    body = '"other.use"(%p) : (!cuda_tile.tile<ptr<f32>>) -> ()'
    module = parsed(tile_module(body, "%p: tile<ptr<f32>>"))
    assert failures(module) == []
    (cast,) = casts(module)
    assert [str(value.type) for value in (*cast.operands, *cast.results)] == [
        "!nv_tileaa.ptr<f32>",
        "!cuda_tile.tile<ptr<f32>>",
    ]


@pytest.mark.requirement("R0-080")
def test_a_value_without_a_materialization_fails() -> None:
    body = '"other.use"(%x) : (!cuda_tile.tile<f32>) -> ()'
    (error,) = failures(parsed(tile_module(body, "%x: tile<f32>")))
    assert error.message == "failed to convert cuda_tile to nv_tileaa"
    assert "no materialisation from 'f32' to '!cuda_tile.tile<f32>'" in error.notes[0].message


@pytest.mark.requirement("R0-028", "R0-072")
def test_the_token_order_is_kept() -> None:
    body = """
    %t = make_token : token
    %a, %t1 = load_ptr_tko weak %p token=%t : tile<ptr<f32>> -> tile<f32>, token
    %b, %t2 = load_ptr_tko weak %p token=%t : tile<ptr<f32>> -> tile<f32>, token
    %j = join_tokens %t1, %t2 : token
    %t3 = store_ptr_tko weak %p, %a token=%j : tile<ptr<f32>>, tile<f32> -> token
    %c, %t4 = atomic_rmw_tko relaxed device %p, addf, %b token=%t3
        : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    """
    argument = "%p: tile<ptr<f32>>"
    before = edges(parsed(tile_module(body, argument)), TOKEN)
    after = edges(converted(tile_module(body, argument)), MEM_TOKEN)
    assert before == after == [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5)]


def edges(root: Operation, token: Type) -> list[tuple[int, int]]:
    """The token edges between operations, as pairs of indices."""
    acting = [
        op
        for op in root.walk()
        if any(value.type is token for value in (*op.operands, *op.results))
    ]
    index = {op: number for number, op in enumerate(acting)}
    return sorted(
        (index[value.owner], index[op])  # pyrefly: ignore[missing-attribute]
        for op in acting
        for value in op.operands
        if value.type is token
    )


@pytest.mark.requirement("R0-029")
def test_one_to_one() -> None:
    function = kernel(
        "%x = iota : tile<8xi32>\n%y = reshape %x : tile<8xi32> -> tile<2x4xi32>\n"
        "%z = addi %y, %y : tile<2x4xi32>"
    )
    (made,) = [op for op in function.walk() if op.name == "nv_tileaa.addi"]
    source = made.operands[0].defining_op()
    assert source is not None
    assert source.name == "nv_tileaa.view"
    assert made.operands[0] is made.operands[1]
    assert [str(value.type) for value in (*made.operands, *made.results)] == ["tensor<2x4xi32>"] * 3


@pytest.mark.requirement("R0-031", "R0-033", "R0-045")
def test_trunci_is_the_example_of_the_notes() -> None:
    assert lines("%i = iota : tile<128xi32>\n%n = trunci %i : tile<128xi32> -> tile<128xi8>") == [
        "%0 = nv_tileaa.make_range : tensor<128xi32>",
        "%1 = nv_tileaa.trunci %0 : tensor<128xi32> to tensor<128xi8>",
    ]


@pytest.mark.requirement("R0-034", kind="behaviour")
def test_the_target_does_not_mention_llvm() -> None:
    module = parsed('"other.op"() : () -> !llvm.ptr')
    (inner,) = module.members()
    assert TARGET.legality(inner).value == "unknown"
