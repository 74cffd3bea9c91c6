"""Folds of shape operations, against NumPy."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from each_case import each_case
from folding import fold, known, unknown, vector

from tilewright.dialects.cuda_tile import core
from tilewright.dialects.cuda_tile.types import PtrType, TileType
from tilewright.ir.builder import create_op
from tilewright.ir.types import F32, I8, I16, I32, TF32
from tilewright.ir.values import Value

CUBE = np.arange(64, dtype=np.uint32).reshape(2, 4, 8)


def constant(array: np.ndarray) -> Value:
    return known(array.ravel(), I32, array.shape)


def of_shape(*shape: int) -> list[TileType]:
    return [TileType(shape, I32)]


def scalar(value: int) -> Value:
    return known([value], I32, ())


def test_reshape_keeps_the_order() -> None:
    assert fold(core.ReshapeOp, of_shape(16, 4), source=constant(CUBE)) == CUBE.ravel().tolist()


@each_case("order", list(permutations(range(3))))
def test_permute_is_transpose(order: tuple[int, ...]) -> None:
    source = constant(CUBE)
    expected = CUBE.transpose(order)
    folded = fold(core.PermuteOp, of_shape(*expected.shape), source=source, permutation=order)
    assert folded == (source if order == (0, 1, 2) else expected.ravel().tolist())


@each_case("shape", [(2, 1, 1), (1, 4, 1), (1, 1, 8), (2, 1, 8), (1, 1, 1)])
def test_broadcast_repeats_unit_extents(shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape), dtype=np.uint32).reshape(shape)
    expected = np.broadcast_to(array, (2, 4, 8)).ravel().tolist()
    assert fold(core.BroadcastOp, of_shape(2, 4, 8), source=constant(array)) == expected


@each_case("dim", range(3))
def test_cat_is_concatenate(dim: int) -> None:
    other = CUBE + 100
    expected = np.concatenate([CUBE, other], dim)
    folded = fold(
        core.CatOp, of_shape(*expected.shape), lhs=constant(CUBE), rhs=constant(other), dim=dim
    )
    assert folded == expected.ravel().tolist()


@each_case("index", [(0, 0, 0), (1, 1, 3), (0, 1, 2), (1, 0, 1)])
def test_extract_and_insert_take_a_part(index: tuple[int, int, int]) -> None:
    i, j, k = index
    part = (slice(i, i + 1), slice(2 * j, 2 * j + 2), slice(2 * k, 2 * k + 2))
    indices = [scalar(number) for number in index]
    folded = fold(core.ExtractOp, of_shape(1, 2, 2), source=constant(CUBE), indices=indices)
    assert folded == CUBE[part].ravel().tolist()
    changed = CUBE.copy()
    changed[part] = np.array([[[900, 901], [902, 903]]])
    folded = fold(
        core.InsertOp, source=constant(changed[part]), destination=constant(CUBE), indices=indices
    )
    assert folded == changed.ravel().tolist()


def test_a_slice_out_of_bounds_stays() -> None:
    indices = [scalar(number) for number in (0, 2, 0)]
    assert fold(core.ExtractOp, of_shape(1, 2, 2), source=constant(CUBE), indices=indices) is None
    part = constant(np.zeros((1, 2, 2), np.uint32))
    folded = fold(core.InsertOp, source=part, destination=constant(CUBE), indices=indices)
    assert folded is None


def test_a_slice_at_unknown_indices_stays_unless_it_is_a_splat() -> None:
    indices = [unknown(TileType((), I32))] * 3
    assert fold(core.ExtractOp, of_shape(1, 2, 2), source=constant(CUBE), indices=indices) is None
    sevens = known([7], I32, (2, 4, 8))
    assert fold(core.ExtractOp, of_shape(1, 2, 2), source=sevens, indices=indices) == [7] * 4


def test_a_slice_of_the_full_shape_is_the_source() -> None:
    x, y, zero = unknown(of_shape(4, 4)[0]), unknown(of_shape(4, 4)[0]), scalar(0)
    assert fold(core.ExtractOp, of_shape(4, 4), source=x, indices=[zero, zero]) is x
    assert fold(core.InsertOp, source=x, destination=y, indices=[zero, zero]) is x


def test_identity_shape_operations_are_dropped() -> None:
    x = unknown(of_shape(4, 4)[0])
    assert fold(core.ReshapeOp, of_shape(4, 4), source=x) is x
    assert fold(core.BroadcastOp, of_shape(4, 4), source=x) is x
    assert fold(core.PermuteOp, of_shape(4, 4), source=x, permutation=(0, 1)) is x
    flat = create_op(core.ReshapeOp, source=x, types=of_shape(16)).result
    assert fold(core.ReshapeOp, of_shape(4, 4), source=flat) is x


def test_large_constants_move_only_if_uniform() -> None:
    large, ones = vector(range(8192), I32), known([1], I32, (1, 8192))
    assert fold(core.BroadcastOp, of_shape(4, 8192), source=ones) == [1] * 32768
    rows = create_op(core.ReshapeOp, source=large, types=of_shape(2, 4096)).result
    folded = fold(core.PermuteOp, of_shape(4096, 2), source=rows, permutation=(1, 0))
    assert folded is None


def test_bytes_of_constants() -> None:
    words = np.array([0x0102, 0xA0B0], np.uint16)
    bytes_ = words.view(np.uint8)
    packed, unpacked = [TileType((4,), I8)], [TileType((2,), I16)]
    assert fold(core.PackOp, packed, source=vector(words, I16)) == bytes_.tolist()
    assert fold(core.UnpackOp, unpacked, source=vector(bytes_, I8)) == words.tolist()
    assert fold(core.PackOp, packed, source=known([0x0102], I16, (2,))) == [2, 1, 2, 1]
    assert fold(core.UnpackOp, unpacked, source=known([3], I8, (4,))) == [0x0303] * 2


def test_bytes_of_odd_elements_stay() -> None:
    folded = fold(core.PackOp, [TileType((8,), I8)], source=known([1], TF32, (2,)))
    assert folded is None


def test_packing_and_unpacking_undo_each_other() -> None:
    x = unknown(TileType((4,), I16))
    packed = create_op(core.PackOp, source=x, types=[TileType((8,), I8)]).result
    assert fold(core.UnpackOp, [TileType((4,), I16)], source=packed) is x
    assert fold(core.UnpackOp, [TileType((2,), F32)], source=packed) is None


def test_a_zero_offset() -> None:
    pointers = TileType((4,), PtrType(F32))
    p = unknown(pointers)
    assert fold(core.OffsetOp, ptr=p, offset=known([0], I32, (4,))) is p
    assert fold(core.OffsetOp, ptr=p, offset=known([1], I32, (4,))) is None


def test_a_count_of_one() -> None:
    assert fold(core.IotaOp, of_shape(1)) == [0]
    assert fold(core.IotaOp, of_shape(2)) is None
