"""The types of cuda_tile: parsing, printing, elements by version, and invalid types."""

from __future__ import annotations

import pickle

import pytest
from each_case import each_case

from tilewright.dialects.cuda_tile.enums import PaddingValue, PtrAttr
from tilewright.dialects.cuda_tile.types import (
    DYNAMIC,
    ELEMENT_SINCE,
    FNV8E5M3FNU,
    TOKEN,
    GatherScatterViewType,
    PartitionViewType,
    PtrType,
    StridedViewType,
    StringType,
    TensorViewType,
    TileType,
)
from tilewright.driver.registry import context
from tilewright.ir.attributes import Type
from tilewright.ir.types import BF16, F4E2M1FN, F32, I1, I4, I8, I32, IntegerType
from tilewright.support.diagnostics import InvalidValue, UserError
from tilewright.text.parser import Parser

MATRIX = TensorViewType((DYNAMIC, 64), F32, (DYNAMIC, 1))
INTEGERS = TensorViewType((DYNAMIC, 64), I32, (DYNAMIC, 1))
HUGE = 1 << 62


def parse(text: str) -> Type:
    parser = Parser(text, context())
    parsed = parser.type("cuda_tile")
    assert parser.peek() == ""
    return parsed


def problem(text: str) -> str:
    with pytest.raises(UserError) as raised:
        parse(text)
    (diagnostic,) = raised.value.diagnostics
    assert str(diagnostic.location).startswith("<stdin>:1:")
    return diagnostic.message


# The texts are what tileirdisasm 13.4 prints for bytecode with these types.
SPELLED = [
    ("tile<f32>", TileType((), F32)),
    ("tile<4x8xbf16>", TileType((4, 8), BF16)),
    ("tile<8xptr<f32>>", TileType((8,), PtrType(F32))),
    ("tile<ptr<f32, <none>>>", TileType((), PtrType(F32, PtrAttr.NONE))),
    ("tile<ptr<fnv8E5M3FNU>>", TileType((), PtrType(FNV8E5M3FNU))),
    ("tensor_view<f32>", TensorViewType((), F32, ())),
    ("tensor_view<f32, #cuda_tile.ptr_attr<none>>", TensorViewType((), F32, (), PtrAttr.NONE)),
    (
        "tensor_view<4x?xf32, strides=[?,1], #cuda_tile.ptr_attr<none>>",
        TensorViewType((4, DYNAMIC), F32, (DYNAMIC, 1), PtrAttr.NONE),
    ),
    (
        "partition_view<tile=(16x32), tensor_view<?x64xf32, strides=[?,1]>>",
        PartitionViewType((16, 32), MATRIX, (0, 1)),
    ),
    (
        "partition_view<tile=(16x32), padding_value = neg_inf,"
        " tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>",
        PartitionViewType((16, 32), MATRIX, (1, 0), PaddingValue.NEG_INF),
    ),
    (
        "strided_view<tile=(16x32), traversal_strides=[5,40], padding_value = zero,"
        " tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>",
        StridedViewType((16, 32), (5, 40), MATRIX, (1, 0), PaddingValue.ZERO),
    ),
    (
        "gather_scatter_view<tile=(8x32), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>",
        GatherScatterViewType((8, 32), MATRIX, 0),
    ),
    ("token", TOKEN),
    ("string", StringType()),
]


@pytest.mark.requirement("R1-005", "R1-019", "R1-044")
@each_case(("text", "type"), SPELLED)
def test_text_both_ways(text: str, type: Type) -> None:
    assert type.spell() == text
    assert str(type) == f"!cuda_tile.{text}"
    assert parse(text) is type
    assert parse(str(type)) is type


@each_case(
    ("text", "type"),
    [
        ("tile<8x!cuda_tile.ptr<f32>>", TileType((8,), PtrType(F32))),
        ("ptr<f32, #cuda_tile.ptr_attr<none>>", PtrType(F32, PtrAttr.NONE)),
        (
            "partition_view<tile=(16x32), !cuda_tile.tensor_view<?x64xf32, strides=[?, 1]>>",
            PartitionViewType((16, 32), MATRIX, (0, 1)),
        ),
        (
            "partition_view<tile=(16x32), tensor_view<?x64xf32, strides=[?,1]>, dim_map=[0, 1]>",
            PartitionViewType((16, 32), MATRIX, (0, 1)),
        ),
    ],
)
def test_other_spellings(text: str, type: Type) -> None:
    assert parse(text) is type


@each_case("type", [type for _, type in SPELLED])
def test_pickled_types_are_the_same_objects(type: Type) -> None:
    assert pickle.loads(pickle.dumps(type)) is type


@pytest.mark.requirement("R1-007")
@each_case(
    "element",
    "f16 bf16 f32 tf32 f64 f8E4M3FN f8E5M2 i1 i8 i16 i32 i64".split(),
)
def test_elements_of_the_first_version(element: str) -> None:
    tile = parse(f"tile<2x{element}>")
    assert isinstance(tile, TileType)
    assert ELEMENT_SINCE[tile.element] == (13, 1)


@pytest.mark.requirement("R1-007")
def test_elements_by_version() -> None:
    counts = [
        sum(since <= (13, minor) for since in ELEMENT_SINCE.values()) for minor in range(1, 5)
    ]
    assert counts == [12, 13, 15, 16]


@pytest.mark.requirement("R1-007")
@each_case("element", ["f6E2M3FN", "i128", "f80", "index", "si32", "tile<f32>"])
def test_invalid_element_types(element: str) -> None:
    assert problem(f"tile<2x{element}>").startswith("tile elements must be numbers or pointers")


@pytest.mark.requirement("R1-004")
def test_tile_shapes_are_static() -> None:
    assert problem("tile<?x4xf32>") == "tile dimensions must be static"


POSITIVE = "tile dimensions must be positive"
POWERS = "tile dimensions must be powers of two"
TOO_MANY = "tile would exceed the maximum element count"


@pytest.mark.requirement("R1-021", "R1-022", "R1-023", "R1-024", "R1-025")
@each_case(
    ("shape", "expected"),
    [
        ((0,), POSITIVE),
        ((-1,), POSITIVE),
        ((3,), POWERS),
        ((48,), POWERS),
        ((4096, 8192), TOO_MANY),
        ((1 << 25,), TOO_MANY),
        ((HUGE, HUGE), TOO_MANY),
        ((3, 0), POWERS),
        ((0, 3), POSITIVE),
        ((HUGE, 3), TOO_MANY),
        ((-4, HUGE), POSITIVE),
    ],
)
def test_tile_shapes_that_cannot_be(shape: tuple[int, ...], expected: str) -> None:
    with pytest.raises(InvalidValue, match=f"^{expected}$"):
        TileType(shape, F32)


@pytest.mark.requirement("R1-021", "R1-022", "R1-023")
@each_case(
    ("text", "expected"),
    [("0xf32", POSITIVE), ("48xf32", POWERS), ("2x0xi8", POSITIVE), ("4096x8192xi8", TOO_MANY)],
)
def test_tile_diagnostics_have_a_location(text: str, expected: str) -> None:
    assert problem(f"tile<{text}>") == expected


@pytest.mark.requirement("R1-023", "R1-026")
def test_the_largest_and_the_smallest_tile() -> None:
    assert TileType((4096, 4096), F32).count == 16 * 1024 * 1024
    assert TileType((), F32).count == 1


@each_case("shape", [(), (1,), (1, 1)])
def test_f4_tiles_fill_their_bytes(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidValue, match="even number of elements"):
        TileType(shape, F4E2M1FN)
    assert TileType((*shape, 2), F4E2M1FN).rank == len(shape) + 1


@pytest.mark.requirement("R1-027")
@each_case(
    ("pointee", "expected"),
    [
        (PtrType(F32), "pointers to pointers are not allowed"),
        (I4, "pointee must be a number, got 'i4'"),
        (TOKEN, "pointee must be a number, got '!cuda_tile.token'"),
        (IntegerType(128), "pointee must be a number, got 'i128'"),
    ],
)
def test_pointees(pointee: Type, expected: str) -> None:
    with pytest.raises(InvalidValue) as raised:
        PtrType(pointee)
    assert str(raised.value) == expected


@pytest.mark.requirement("R1-027")
def test_pointers_to_pointers_in_text() -> None:
    assert problem("tile<ptr<ptr<f32>>>") == "pointers to pointers are not allowed"


RANK = "tensor_view shape and stride must have the same rank"
DIMENSIONS = "static tensor_view dimensions must be positive"
STRIDES = "static tensor_view strides must be positive"


@pytest.mark.requirement("R1-028", "R1-029", "R1-030", "R1-033")
@each_case(
    ("shape", "strides", "expected"),
    [
        ((4, 4), (4, 1, 1), RANK),
        ((), (1,), RANK),
        ((0, 4), (4, 1), DIMENSIONS),
        ((4, -1), (4, 1), DIMENSIONS),
        ((4, 4), (0, 1), STRIDES),
        ((4, 4), (4, -1), STRIDES),
        ((0, 4), (0, 1, 1), RANK),
        ((DYNAMIC, 0), (DYNAMIC, 0), DIMENSIONS),
    ],
)
def test_tensor_views_that_cannot_be(
    shape: tuple[int, ...], strides: tuple[int, ...], expected: str
) -> None:
    with pytest.raises(InvalidValue, match=f"^{expected}$"):
        TensorViewType(shape, F32, strides)


@pytest.mark.requirement("R1-030")
@each_case("stride", ["0", "-1", "-9223372036854775808", "9223372036854775808"])
def test_strides_in_text(stride: str) -> None:
    assert problem(f"tensor_view<4xf32, strides=[{stride}]>") == STRIDES


@pytest.mark.requirement("R1-031", "R1-032")
@each_case(
    ("shape", "strides"),
    [
        ((DYNAMIC, 300), (300, 1)),
        ((100, 300), (DYNAMIC, 1)),
        ((DYNAMIC, DYNAMIC), (DYNAMIC, DYNAMIC)),
        ((100, 300), (300, 1)),
    ],
)
def test_tensor_views_that_can_be(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    view = TensorViewType(shape, I8, strides)
    assert (view.shape, view.strides, view.rank) == (shape, strides, 2)


def test_tensor_views_hold_numbers() -> None:
    assert problem("tensor_view<4xi4, strides=[1]>") == (
        "tensor_view elements must be numbers, got 'i4'"
    )


@pytest.mark.requirement("R1-034", "R1-035", "R1-036", "R1-037", "R1-038")
@pytest.mark.requirement("R1-039", "R1-040", "R1-041", "R1-042")
@each_case(
    ("shape", "dim_map", "expected"),
    [
        ((), (), "partition tiles must have rank"),
        ((), (0, 0), "partition tiles must have rank"),
        ((16,), (0,), "partition tile rank must match tensor rank"),
        ((3,), (0,), "partition tile rank must match tensor rank"),
        ((16, 16), (0,), "dim_map must cover every tile dimension"),
        ((16, 16), (0, 1, 2), "dim_map must cover every tile dimension"),
        ((0, 16), (0, 1), "partition tile dimensions must be positive"),
        ((12, 16), (0, 1), "partition tile dimensions must be powers of two"),
        ((16, 16), (-1, 1), "dim_map target must be inside the tensor rank"),
        ((16, 16), (0, 2), "dim_map target must be inside the tensor rank"),
        (
            (16, 16),
            (0, 0),
            "dim_map must not map two tile dimensions to one tensor dimension",
        ),
        ((0, 12), (5, 5), "partition tile dimensions must be positive"),
        ((12, 0), (5, 5), "partition tile dimensions must be powers of two"),
        ((16, 0), (5, 5), "dim_map target must be inside the tensor rank"),
        ((16, 0), (1, 1), "partition tile dimensions must be positive"),
        ((8192, 8192), (0, 1), TOO_MANY),
        ((16, 16), (0, 1), "special padding values require a floating-point element type"),
    ],
)
def test_partition_views_that_cannot_be(
    shape: tuple[int, ...], dim_map: tuple[int, ...], expected: str
) -> None:
    with pytest.raises(InvalidValue, match=f"^{expected}$"):
        PartitionViewType(shape, INTEGERS, dim_map, PaddingValue.NAN)


@pytest.mark.requirement("R1-034", "R1-035", "R1-038", "R1-039")
@each_case(
    ("tile", "tail", "expected"),
    [
        ("", "", "partition tiles must have rank"),
        ("16", "", "partition tile rank must match tensor rank"),
        ("12x16", "", "partition tile dimensions must be powers of two"),
        ("16x16", ", dim_map=[0, 2]", "dim_map target must be inside the tensor rank"),
        ("4294967296x1", "", "tile dimensions of a view must fit 32 bits"),
    ],
)
def test_partition_view_diagnostics_have_a_location(tile: str, tail: str, expected: str) -> None:
    tensor = "tensor_view<?x64xi32, strides=[?,1]>"
    assert problem(f"partition_view<tile=({tile}), {tensor}{tail}>") == expected


@pytest.mark.requirement("R1-042", "R1-043")
@each_case("padding", PaddingValue)
def test_padding(padding: PaddingValue) -> None:
    assert PartitionViewType((16, 16), MATRIX, (0, 1), padding).padding is padding
    if padding is PaddingValue.ZERO:
        assert PartitionViewType((16, 16), INTEGERS, (0, 1), padding).padding is padding
    else:
        with pytest.raises(InvalidValue, match="special padding values"):
            GatherScatterViewType((16, 16), INTEGERS, 0, padding)


@pytest.mark.parametrize(
    ("strides", "expected"),
    [
        ((5,), "traversal_strides must cover every tile dimension"),
        ((5, 0), "traversal strides must be positive"),
    ],
)
def test_traversal_strides(strides: tuple[int, ...], expected: str) -> None:
    with pytest.raises(InvalidValue, match=expected):
        StridedViewType((16, 16), strides, MATRIX, (0, 1))
    assert StridedViewType((16, 16), (5, 7), MATRIX, (0, 1)).tile_type is TileType((16, 16), F32)


@pytest.mark.parametrize("dim", [-1, 2])
def test_sparse_dimension(dim: int) -> None:
    with pytest.raises(InvalidValue, match="sparse_dim must be inside the tensor rank"):
        GatherScatterViewType((16, 16), MATRIX, dim)


@pytest.mark.requirement("R1-042")
def test_booleans_have_no_special_padding() -> None:
    booleans = TensorViewType((4,), I1, (1,))
    with pytest.raises(InvalidValue, match="floating-point element type"):
        PartitionViewType((4,), booleans, (0,), PaddingValue.NEG_ZERO)


@each_case(
    ("text", "expected"),
    [
        ("tensor_view<4xf32>", "expected ',', got '>'"),
        ("tensor_view<f32, strides=[]>", "expected a ptr_attr, got 'strides'"),
        ("partition_view<tile=(4), f32>", "expected a tensor_view, got 'f32'"),
        ("partition_view<tile=(4x), f32>", "expected a shape, got '4x'"),
        ("ptr<f32, <fast>>", "expected one of none, got 'fast'"),
        ("tile<4x>", "expected a type, got '>'"),
        ("tile", "expected '<', got end of input"),
    ],
)
def test_malformed_text(text: str, expected: str) -> None:
    assert problem(text) == expected


def test_deep_nesting_is_an_error() -> None:
    assert "nested more than" in problem("tile<" * 5000)
