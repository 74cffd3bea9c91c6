"""Batches: narrowing, merging, and values that are uniform over all blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.operation import Block
from tilewright.ir.types import I32
from tilewright.reference.address_space import AddressSpace
from tilewright.reference.batch import Batch, merge
from tilewright.reference.machine import Machine


def batch_of(count: int) -> Batch:
    machine = Machine(AddressSpace(), (count, 1, 1), lambda text: None)
    blocks = np.zeros((count, 3), np.int32)
    blocks[:, 0] = np.arange(count)
    return Batch.of_blocks(machine, blocks)


def scalars(*arrays: Any) -> list[Any]:
    return [np.array(array, np.int32) for array in arrays]


def values(count: int) -> Any:
    return Block([TileType((), I32)] * count).args


def test_a_narrowed_batch_has_the_values_of_its_own_blocks() -> None:
    at, (each, same) = batch_of(4), values(2)
    at.bind((each, same), scalars([10, 11, 12, 13], [7]))
    inner = at.narrow(np.array([1, 3])).narrow(np.array([1]))
    assert inner[each].tolist() == [13]
    assert inner[same].tolist() == [7]
    assert inner.blocks.tolist() == [[3, 0, 0]]


def test_a_uniform_condition_does_not_split() -> None:
    at = batch_of(3)
    assert at.split(np.array([True])) == (at, None)
    assert at.split(np.array([False, False, False])) == (None, at)


def test_divergent_blocks_merge_in_order() -> None:
    at = batch_of(5)
    odd, even = at.split(np.array([False, True, False, True, False]))
    assert odd is not None
    assert even is not None
    one, several = scalars([5], [0, 2, 4])
    whole, (actual, kept) = merge(at, [(odd, (one, one)), (even, (several, one))])
    assert whole is at
    assert actual.tolist() == [0, 5, 2, 5, 4]
    assert kept is one


def test_blocks_that_do_not_return_are_left_out() -> None:
    at = batch_of(4)
    first, rest = at.narrow(np.array([0])), at.narrow(np.array([2, 3]))
    merged, (actual,) = merge(at, [(rest, scalars([22, 23])), (first, scalars([20]))])
    assert merged.count == 3
    assert merged.lanes_in(at).tolist() == [0, 2, 3]
    assert actual.tolist() == [20, 22, 23]


def test_the_parent_of_a_single_part_is_the_merged_batch() -> None:
    at = batch_of(4)
    part = at.narrow(np.array([1, 2, 3])).narrow(np.array([0, 2]))
    merged, _ = merge(at, [(part, ())])
    assert merged.parent is at
    assert merged.lanes_in(at).tolist() == [1, 3]
