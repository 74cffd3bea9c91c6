"""Constants, shape operations and pointers: verifier diagnostics and result names."""

from __future__ import annotations

import struct

import pytest
from each_case import each_case

from tilewright.dialects.cuda_tile import core as c
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.builder import create_op
from tilewright.ir.traits import CONSTANT_LIKE
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Severity, Sink


@pytest.fixture
def constant(tile):
    def make(text: str, data: bytes) -> c.ConstantOp:
        type = tile(text)
        return create_op(c.ConstantOp, types=[type], value=DenseElementsAttr(data, type))

    return make


@pytest.mark.requirement("R1-016")
def test_constant(problems, tile):
    for text, data in [("4xi16", b"\1\0"), ("2xi8", b"\1\2"), ("f64", bytes(8)), ("2xi1", b"\1\0")]:
        value = DenseElementsAttr(data, tile(text))
        assert problems(c.ConstantOp, results=text, value=value) == []
    assert CONSTANT_LIKE in c.ConstantOp.traits


def test_constant_has_the_type_of_its_value(problems, tile):
    value = DenseElementsAttr(bytes(4), tile("4xi32"))
    assert problems(c.ConstantOp, results="8xi32", value=value) == [
        "expected a value of type '!cuda_tile.tile<8xi32>', got '!cuda_tile.tile<4xi32>'"
    ]


def test_constant_has_one_element_or_all(problems, tile):
    value = DenseElementsAttr(b"\1\2\3", tile("4xi8"))
    assert problems(c.ConstantOp, results="4xi8", value=value) == [
        "expected 1 or 4 elements, got 3"
    ]


def test_constant_is_a_number(problems, tile):
    for element in ("i4", "ptr<i8>"):
        type = tile(f"4x{element}")
        value = DenseElementsAttr(b"\0", tile("4xi8"))
        (problem,) = problems(c.ConstantOp, results=f"4x{element}", value=value)
        assert problem.endswith(f"but got '{type}'")


def test_integer_of_a_constant(constant):
    assert constant("4xi8", b"\xff").integer == -1
    assert constant("i64", bytes([7, *bytes(7)])).integer == 7
    assert constant("2xi8", b"\1\2").integer is None
    assert constant("f32", bytes(4)).integer is None


# The public names are those that tileirdisasm 13.4 prints for the same constants.
@pytest.mark.parametrize(
    ("type", "data", "public", "tileiras"),
    [
        pytest.param("4xi1", b"\1", "true", "true", marks=pytest.mark.requirement("R4-028")),
        pytest.param("i1", b"\0", "false", "false", marks=pytest.mark.requirement("R4-029")),
        pytest.param(
            "4xi1",
            b"\1\0\1\0",
            "cst_i1",
            "cst_i1",
            marks=pytest.mark.requirement("R4-031", "R4-034"),
        ),
        ("f32", struct.pack("<I", 0x7FC00000), "cst_NaN_f32", "cst_NaN"),
        ("4xf32", struct.pack("<I", 0xFFC00000), "cst_NaN_f32", "cst_NaN"),
        ("f32", struct.pack("<I", 0x7F800001), "cst_NaN_f32", "cst_NaN"),
        ("2xf32", struct.pack("<II", 0x7FC00000, 0), "cst_f32", "cst"),
        ("f32", struct.pack("<f", float("inf")), "cst_f32", "cst"),
        ("f32", struct.pack("<f", -0.0), "cst_f32", "cst"),
        ("f32", struct.pack("<f", 0.0), "cst_0_f32", "cst"),
        ("f32", struct.pack("<f", -1.0), "cst_f32", "cst"),
        ("f32", struct.pack("<f", 1.5), "cst_f32", "cst"),
        ("f32", struct.pack("<f", 1e10), "cst_10000000000_f32", "cst"),
        ("f32", struct.pack("<f", 2.0**63), "cst_9223372036854775808_f32", "cst"),
        ("f32", struct.pack("<f", 2.0**64), "cst_f32", "cst"),
        ("4xf64", struct.pack("<d", 2.0), "cst_2_f64", "cst"),
        ("f8E4M3FN", b"\x38", "cst_1_f8E4M3FN", "cst"),
        ("f8E8M0FNU", b"\x38", "cst_f8E8M0FNU", "cst"),
        ("2xf4E2M1FN", b"\x02", "cst_1_f4E2M1FN", "cst"),
        ("fnv8E5M3FNU", b"\x38", "cst_fnv8E5M3FNU", "cst"),
        ("4xi32", struct.pack("<i", 42), "cst_42_i32", "cst_42"),
        ("i8", b"\xff", "cst_-1_i8", "cst_-1"),
        ("i64", b"\xff" * 7 + b"\x7f", "cst_9223372036854775807_i64", "cst_9223372036854775807"),
        ("2xi8", b"\1\2", "cst_i8", "cst"),
    ],
)
@pytest.mark.requirement("R4-030", "R4-032", "R4-033")
def test_names_of_constants(constant, type, data, public, tileiras):
    op = constant(type, data)
    assert list(op.result_names("public")) == [(0, public)]
    assert list(op.result_names("tileiras")) == [(0, tileiras)]


@pytest.mark.requirement("R1-012")
def test_iota(problems):
    for result in ("64xi16", "256xi8", "2xi1", "1xi64"):
        assert problems(c.IotaOp, results=result) == []
    assert problems(c.IotaOp, results="512xi8") == ["expected at most 256 elements of i8, got 512"]
    for result in ("i32", "4x4xi32", "4xf32", "4xi4"):
        (problem,) = problems(c.IotaOp, results=result)
        assert problem == (
            "result #0 must be rank-1 tile of i1, i8, i16, i32 or i64, "
            f"but got '!cuda_tile.tile<{result}>'"
        )


@pytest.mark.requirement("R1-012")
def test_broadcast(problems):
    for source, result in [("1x8xf32", "4x8xf32"), ("1xptr<i8>", "4xptr<i8>"), ("i4", "i4")]:
        assert problems(c.BroadcastOp, source, results=result) == []
    assert problems(c.BroadcastOp, "8xf32", results="4x8xf32") == [
        "expected a result of rank 1 like the source, got 2"
    ]
    assert problems(c.BroadcastOp, "2x8xf32", results="4x8xf32") == [
        "expected a source of shape 4x8 or with ones in it, got 2x8"
    ]
    assert problems(c.BroadcastOp, "1xf32", results="4xf16") == [
        "expected source and result to have the same element type, got f32 and f16"
    ]


@pytest.mark.requirement("R1-012")
def test_reshape(problems):
    for source, result in [("8xf32", "2x4xf32"), ("ptr<i8>", "1x1xptr<i8>"), ("1xi4", "i4")]:
        assert problems(c.ReshapeOp, source, results=result) == []
    assert problems(c.ReshapeOp, "8xf32", results="2x8xf32") == [
        "expected a result of 8 elements, got 16"
    ]
    assert problems(c.ReshapeOp, "8xf32", results="2x4xi32") == [
        "expected source and result to have the same element type, got f32 and i32"
    ]


@pytest.mark.requirement("R1-012")
def test_permute(problems):
    assert problems(c.PermuteOp, "2x4x8xf32", results="8x2x4xf32", permutation=(2, 0, 1)) == []
    for permutation, wrong in [
        ((0, 1), "[0, 1]"),
        ((0, 0, 1), "[0, 0, 1]"),
        ((0, 1, 3), "[0, 1, 3]"),
        ((-1, 0, 1), "[-1, 0, 1]"),
    ]:
        assert problems(c.PermuteOp, "2x4x8xf32", results="2x4x8xf32", permutation=permutation) == [
            f"expected a permutation of 0 to 2, got {wrong}"
        ]
    assert problems(c.PermuteOp, "4xf32", results="4xf32", permutation=(0,)) == [
        "expected a source of rank 2 or more, got 1"
    ]
    assert problems(c.PermuteOp, "2x4xf32", results="2x4xf32", permutation=(1, 0)) == [
        "expected result of shape 4x2, got 2x4"
    ]
    assert problems(c.PermuteOp, "2x4xf32", results="4x2x1xf32", permutation=(1, 0)) == [
        "expected result of shape 4x2, got 4x2x1"
    ]
    assert problems(c.PermuteOp, "2x4xf32", results="4x2xi32", permutation=(1, 0)) == [
        "expected source and result to have the same element type, got f32 and i32"
    ]


@pytest.mark.requirement("R1-012")
def test_cat(problems):
    assert problems(c.CatOp, "2x4xf32", "2x4xf32", results="2x8xf32", dim=1) == []
    for dim in (-1, 2):
        assert problems(c.CatOp, "2x4xf32", "2x4xf32", results="2x8xf32", dim=dim) == [
            f"expected dim in 0 to 1, got {dim}"
        ]
    assert problems(c.CatOp, "2x4xf32", "2x4xf32", results="4x4xf32", dim=1) == [
        "expected result of shape 2x8, got 4x4"
    ]
    for rhs in ("4x4xf32", "2xf32", "2x4x1xf32"):
        shape = rhs.removesuffix("xf32")
        assert problems(c.CatOp, "2x4xf32", rhs, results="2x8xf32", dim=1) == [
            f"expected rhs of the same shape as lhs, 2x4, in all dimensions but 1, got {shape}"
        ]
    assert problems(c.CatOp, "2xf32", "2xi32", results="4xf32", dim=0) == [
        "expected lhs and rhs and result to have the same element type, got f32 and i32 and f32"
    ]


def test_cat_of_scalars(problems):
    assert problems(c.CatOp, "f32", "f32", results="2xf32", dim=0) == [
        "expected tiles of rank 1 or more, got scalars"
    ]


@pytest.mark.requirement("R1-012")
def test_extract(problems):
    assert problems(c.ExtractOp, "8x16xf32", "i32", "i32", results="8x2xf32") == []
    assert problems(c.ExtractOp, "f32", results="f32") == []
    assert problems(c.ExtractOp, "8x16xf32", "i32", "i32", results="8xf32") == [
        "expected result of rank 2 like the source, got 1"
    ]
    assert problems(c.ExtractOp, "8x16xf32", "i32", "i32", results="8x32xf32") == [
        "expected result of a shape that divides 8x16, got 8x32"
    ]
    assert problems(c.ExtractOp, "8x16xf32", "i32", results="8x2xf32") == [
        "expected 2 indices, one for each dimension, got 1"
    ]
    assert problems(c.ExtractOp, "8xf32", "i32", results="2xf16") == [
        "expected source and result to have the same element type, got f32 and f16"
    ]
    for index in ("i64", "1xi32"):
        assert problems(c.ExtractOp, "8xf32", index, results="2xf32") == [
            f"operand #1 must be scalar tile of i32, but got '!cuda_tile.tile<{index}>'"
        ]


def test_insert(problems):
    assert problems(c.InsertOp, "8x2xf32", "8x16xf32", "i32", "i32") == []
    assert problems(c.InsertOp, "8xf32", "8x16xf32", "i32", "i32") == [
        "expected source of rank 2 like the destination, got 1"
    ]
    assert problems(c.InsertOp, "16xf32", "8xf32", "i32") == [
        "expected source of a shape that divides 8, got 16"
    ]
    assert problems(c.InsertOp, "2xf32", "8xf32", "i32", "i32") == [
        "expected 1 indices, one for each dimension, got 2"
    ]
    assert problems(c.InsertOp, "2xf16", "8xf32", "i32") == [
        "expected source and destination to have the same element type, got f16 and f32"
    ]
    assert problems(c.InsertOp, "2xf32", "8xf32", "i32", results="16xf32") == [
        "expected destination and result to have the same type"
    ]
    assert problems(c.InsertOp, "2xf32", "8xf32", "i64") == [
        "operand #2 must be scalar tile of i32, but got '!cuda_tile.tile<i64>'"
    ]


@pytest.mark.parametrize(
    ("kind", "tiles", "results"),
    [(c.ExtractOp, ["8xf32"], "2xf32"), (c.InsertOp, ["2xf32", "8xf32"], "")],
)
def test_constant_index_out_of_range_is_only_a_warning(make, constant, kind, tiles, results):
    for index, is_inside in [(0, True), (3, True), (4, False), (-1, False)]:
        number = constant("i32", struct.pack("<i", index))
        sink = Sink()
        verify(make(kind, *tiles, number.result, results=results), sink)
        actual = [(entry.severity, entry.message) for entry in sink.diagnostics]
        warning = f"'{kind.name}' op expected index 0 in 0 to 3, got {index}"
        assert actual == ([] if is_inside else [(Severity.WARNING, warning)])


@pytest.mark.requirement("R1-012")
def test_select(problems):
    for element in ("f32", "i4", "ptr<i8>", "f8E8M0FNU"):
        assert problems(c.SelectOp, "4xi1", f"4x{element}", f"4x{element}") == []
    assert problems(c.SelectOp, "4xi1", "4xf4E2M1FN", "4xf4E2M1FN") == [
        "expected elements of a byte or more, got f4E2M1FN"
    ]
    assert problems(c.SelectOp, "i1", "4xf32", "4xf32") == [
        "expected cond and result to have the same shape, got scalar and 4"
    ]
    assert problems(c.SelectOp, "4xi1", "4xf32", "4xf16") == [
        "expected val_if_true, val_if_false and result to have the same type"
    ]
    assert problems(c.SelectOp, "4xi8", "4xf32", "4xf32") == [
        "operand #0 must be tile of i1, but got '!cuda_tile.tile<4xi8>'"
    ]


@pytest.mark.requirement("R1-011")
def test_offset(problems):
    for element in ("i1", "i8", "i16", "i32", "i64"):
        assert problems(c.OffsetOp, "4xptr<f32>", f"4x{element}") == []
    assert problems(c.OffsetOp, "4xptr<f32>", "i32") == [
        "expected ptr and offset to have the same shape, got 4 and scalar"
    ]
    assert problems(c.OffsetOp, "4xptr<f32>", "4xi32", results="4xptr<i8>") == [
        "expected ptr and result to have the same type"
    ]
    assert problems(c.OffsetOp, "4xi64", "4xi32", results="4xptr<i8>") == [
        "operand #0 must be tile of pointers, but got '!cuda_tile.tile<4xi64>'"
    ]


@each_case(
    ("tile", "bytes"),
    [("16xf32", 64), ("16xi1", 2), ("16xi4", 8), ("16xf4E2M1FN", 8), ("4xtf32", 16), ("4xi64", 32)],
)
def test_pack_and_unpack(problems, tile, bytes):
    assert problems(c.PackOp, tile, results=f"{bytes}xi8") == []
    assert problems(c.UnpackOp, f"{bytes}xi8", results=tile) == []
    bits = 8 * bytes
    assert problems(c.PackOp, tile, results=f"{2 * bytes}xi8") == [
        f"expected result of {bits} bits like source, got {2 * bits}"
    ]
    assert problems(c.UnpackOp, f"{2 * bytes}xi8", results=tile) == [
        f"expected source of {bits} bits like result, got {2 * bits}"
    ]


def test_pack_and_unpack_change_the_width(problems):
    for element in ("i8", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "fnv8E5M3FNU"):
        assert problems(c.PackOp, f"4x{element}", results="4xi8") == [
            f"expected source elements of another width than 8 bits, got {element}"
        ]
        assert problems(c.UnpackOp, "4xi8", results=f"4x{element}") == [
            f"expected result elements of another width than 8 bits, got {element}"
        ]


def test_pack_and_unpack_take_rank_1(problems):
    assert problems(c.PackOp, "4x1xf32", results="16xi8")[0].startswith(
        "operand #0 must be rank-1 tile of i4, i1, i8,"
    )
    assert problems(c.UnpackOp, "16xi8", results="f64")[0].startswith(
        "result #0 must be rank-1 tile of i4, i1, i8,"
    )


@pytest.mark.parametrize("kind", [c.GetTileBlockIdOp, c.GetNumTileBlocksOp])
def test_grid(problems, make, kind):
    assert problems(kind) == []
    assert [str(result.type) for result in make(kind).results] == ["!cuda_tile.tile<i32>"] * 3
    assert problems(kind, results="i32 i32 i64") == [
        "result #2 must be scalar tile of i32, but got '!cuda_tile.tile<i64>'"
    ]


@each_case(
    ("kind", "operands", "results", "names"),
    [
        (c.BroadcastOp, ["1xf32"], "4xf32", ["bcast"]),
        (c.ReshapeOp, ["1xf32"], "f32", ["reshape"]),
        (c.GetTileBlockIdOp, [], "", ["blockId_x", "blockId_y", "blockId_z"]),
        (c.GetNumTileBlocksOp, [], "", ["gridSize_x", "gridSize_y", "gridSize_z"]),
        (c.IotaOp, [], "4xi32", []),
    ],
)
@pytest.mark.requirement("R4-035")
def test_names_of_results(make, kind, operands, results, names):
    op = make(kind, *operands, results=results)
    assert list(op.result_names("public")) == list(enumerate(names))


def test_versions():
    newer = {c.InsertOp: (13, 4), c.PackOp: (13, 3), c.UnpackOp: (13, 3)}
    kinds = [kind for kind in vars(c).values() if getattr(kind, "__module__", "") == c.__name__]
    for kind in kinds:
        if getattr(kind, "name", ""):
            assert kind.since == newer.get(kind, (13, 1))
