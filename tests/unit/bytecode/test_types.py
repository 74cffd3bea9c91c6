"""The Type section: every type in every version, and what is wrong with others."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.types import TypePool
from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile.enums import PaddingValue, PtrAttr
from tilewright.dialects.cuda_tile.types import (
    FNV8E5M3FNU,
    TOKEN,
    GatherScatterViewType,
    PartitionViewType,
    PtrType,
    StridedViewType,
    TensorViewType,
    TileType,
)
from tilewright.ir.types import DYNAMIC, F4E2M1FN, F8E8M0FNU, F32, I1, I4, I32, INDEX, FunctionType
from tilewright.support.diagnostics import InvalidValue, UserError

SCALAR = b"\x0d\x00\x00"


def argument_types(build, record: bytes, *others: bytes, version=(13, 4)):
    """The type of a function's only argument, from its record; `others` are numbered from 7."""
    function = b"\x10\x01\x06\x00"
    data = build.module(types=[function, record, *others], signature=5, version=version)
    (entry,) = read_bytecode(data, "k").entries()
    return entry.arguments[0].type


def error(build, record: bytes, *others: bytes, version=(13, 4)) -> str:
    with pytest.raises(UserError) as caught:
        argument_types(build, record, *others, version=version)
    return str(caught.value)


@each_case(
    ("tag", "name"),
    [
        (0, "i1"), (1, "i8"), (2, "i16"), (3, "i32"), (4, "i64"), (5, "f16"), (6, "bf16"),
        (7, "f32"), (8, "tf32"), (9, "f64"), (10, "f8E4M3FN"), (11, "f8E5M2"), (18, "f8E8M0FNU"),
        (19, "f4E2M1FN"), (22, "i4"), (130, "fnv8E5M3FNU"), (17, "!cuda_tile.token"),
    ],
)  # fmt: skip
def test_types_that_are_nothing_but_a_tag(build, tag: int, name: str) -> None:
    assert str(argument_types(build, build.varint(tag))) == name


@each_case(
    ("record", "since"),
    [(b"\x12", (13, 2)), (b"\x13", (13, 3)), (b"\x16", (13, 3)), (b"\x82\x01", (13, 4))],
)
def test_types_newer_than_the_file_are_refused(build, record: bytes, since) -> None:
    argument_types(build, record, version=since)
    older = (13, since[1] - 1)
    assert f"which came with 13.{since[1]}" in error(build, record, version=older)


def test_pointers_have_options_from_13_4_on(build) -> None:
    assert argument_types(build, b"\x0c\x00", version=(13, 3)) is PtrType(I32)
    assert argument_types(build, b"\x0c\x00\x00") is PtrType(I32)
    assert argument_types(build, b"\x0c\x01\x00\x00") is PtrType(I32, PtrAttr.NONE)
    assert "expected a pointer attribute of 0, found 1" in error(build, b"\x0c\x01\x00\x01")


def test_tiles(build) -> None:
    record = b"\x0d\x00" + build.words(8, 4, 16)
    assert argument_types(build, record) is TileType((4, 16), I32)
    three = b"\x0d\x00" + build.words(8, 3)
    assert "tile dimensions must be powers of two" in error(build, three)
    token = b"\x0d\x03" + build.words(8, 4)
    assert "must be numbers or pointers" in error(build, token)


def tensor_view(build, version=(13, 4)) -> bytes:
    options = b"\x00" if version >= (13, 4) else b""
    return b"\x0e" + options + b"\x00" + build.words(8, DYNAMIC, 64) + build.words(8, 64, 1)


TENSOR = TensorViewType((DYNAMIC, 64), I32, (64, 1))


@each_case("version", [(13, 1), (13, 3), (13, 4)])
def test_tensor_views(build, version) -> None:
    assert argument_types(build, tensor_view(build, version), version=version) is TENSOR


def test_partition_views_before_13_3_have_a_presence_byte(build) -> None:
    head = b"\x0f" + build.words(4, 8, 16) + b"\x07" + build.words(4, 1, 0)
    view = tensor_view(build, (13, 1))
    plain = argument_types(build, head + b"\x00", view, version=(13, 1))
    assert plain is PartitionViewType((8, 16), TENSOR, (1, 0))
    zero = argument_types(build, head + b"\x01\x00", view, version=(13, 2))
    assert zero is PartitionViewType((8, 16), TENSOR, (1, 0), PaddingValue.ZERO)
    assert "expected 0 or 1 for the presence" in error(build, head + b"\2", view, version=(13, 2))


def test_views_from_13_3_on_have_options_in_front(build) -> None:
    view = tensor_view(build)
    tile, dims = build.words(4, 8, 16), build.words(4, 0, 1)
    partition = b"\x0f\x01" + tile + b"\x07" + dims + b"\x00"
    assert argument_types(build, partition, view) is PartitionViewType(
        (8, 16), TENSOR, (0, 1), PaddingValue.ZERO
    )
    strided = b"\x15\x00" + tile + build.words(4, 5, 40) + b"\x07" + dims
    assert argument_types(build, strided, view) is StridedViewType((8, 16), (5, 40), TENSOR, (0, 1))
    gather = b"\x14\x00" + tile + b"\x07" + b"\x01"
    assert argument_types(build, gather, view) is GatherScatterViewType((8, 16), TENSOR, 1)
    assert "which came with 13.3" in error(
        build, gather, tensor_view(build, (13, 2)), version=(13, 2)
    )


def test_views_are_of_tensor_views_and_known_paddings(build) -> None:
    tile, dims = build.words(4, 8), build.words(4, 0)
    assert "expected a tensor_view in a view, found '!cuda_tile.tile<i32>'" in error(
        build, b"\x0f\x00" + tile + b"\x01" + dims
    )
    wrong = b"\x0f\x01" + build.words(4, 8, 16) + b"\x07" + build.words(4, 0, 1) + b"\x05"
    assert "expected a padding value below 5, found 5" in error(build, wrong, tensor_view(build))


@each_case(
    ("records", "message"),
    [
        ([b"\x63"], "expected the tag of a type, found 99"),
        ([b"\x82\x02"], "expected the tag of a type, found 258"),
        ([b""], "expected"),
        ([b"\x0d\x06\x00"], "found type 6 inside itself"),
        ([b"\x0d\x07\x00", b"\x0d\x06\x00"], "found type 6 inside itself"),
        ([b"\x0d\x63\x00"], "expected a type below 7, found number 99"),
        ([b"\x0d\x00\xff\xff\x03"], "extents in what is left, found a count of 65535"),
        ([b"\x10\x01\x02\x00"], "expected values as parameters, found a function"),
        ([b"\x0d\x00", b"\x00"], "expected the end of type 6, found that it goes on"),
    ],
)
def test_broken_records(build, records: list[bytes], message: str) -> None:
    assert message in error(build, *records)


def test_a_chain_of_types_has_an_end(build) -> None:
    chain = [b"\x0d" + build.varint(index) + b"\x00" for index in range(7, 40)]
    assert "expected types nested at most 8 deep" in error(build, *chain)


def test_an_unused_invalid_type_is_ignored(build, text_of) -> None:
    assert text_of(build.module(types=[b"\xff\x01"])) == "entry @k() {\n  return\n}\n"


ALL = [
    (PtrType(F32), (13, 1)),
    (PtrType(F32, PtrAttr.NONE), (13, 4)),
    (TileType((4, 8), I1), (13, 1)),
    (TileType((2,), F4E2M1FN), (13, 3)),
    (TileType((), I4), (13, 3)),
    (TileType((), F8E8M0FNU), (13, 2)),
    (TileType((), FNV8E5M3FNU), (13, 4)),
    (TENSOR, (13, 1)),
    (TensorViewType((), F32, (), PtrAttr.NONE), (13, 4)),
    (PartitionViewType((8, 16), TENSOR, (1, 0), PaddingValue.ZERO), (13, 1)),
    (StridedViewType((8, 16), (5, 40), TENSOR, (0, 1)), (13, 3)),
    (GatherScatterViewType((8, 16), TENSOR, 1, PaddingValue.ZERO), (13, 3)),
    (TOKEN, (13, 1)),
]


@each_case(("type", "since"), ALL, ids=str)
@each_case("version", [(13, 1), (13, 2), (13, 3), (13, 4)])
def test_types_are_written_from_their_version_on(build, type, since, version) -> None:
    module = read_bytecode(build.module(signature=4, version=version))
    (entry,) = module.entries()
    entry.function_type = FunctionType((type,))
    entry.arguments[0].type = type
    if version < since:
        with pytest.raises(UserError, match=f", got 13.{version[1]}"):
            write_bytecode(module, version)
        return
    (again,) = read_bytecode(write_bytecode(module, version)).entries()
    assert again.arguments[0].type is type


def test_types_come_after_what_they_are_made_of() -> None:
    pool = TypePool((13, 4))
    view = PartitionViewType((8, 16), TENSOR, (0, 1))
    assert pool.index(FunctionType((TileType((), PtrType(F32)), view))) == 6
    assert list(pool.indices)[:3] == [F32, PtrType(F32), TileType((), PtrType(F32))]
    assert pool.index(view) == 5


def test_types_without_a_form_are_refused() -> None:
    with pytest.raises(InvalidValue, match="type 'index' has no form in bytecode"):
        TypePool((13, 4)).index(INDEX)
