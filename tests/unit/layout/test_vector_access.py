"""Registers that hold contiguous elements, and orders that make them so."""

from __future__ import annotations

from each_case import each_case

from tilewright.layout.linear import LANE, REGISTER, WARP, Layout
from tilewright.layout.vector_access import contiguous_registers, vector_order


def layout(registers: list[int], lanes: list[int]) -> Layout:
    size = 1 << len(registers) + len(lanes)
    return Layout([(REGISTER, registers), (LANE, lanes), (WARP, [])], (size,))


@each_case(("registers", "lanes", "limit", "count"), [
    ([1, 2, 16], [4, 8], 16, 4),  # registers 0 to 3 are elements 0 to 3, register 4 is element 16
    ([1, 2, 16], [4, 8], 2, 2),
    ([2, 1], [4], 16, 1),  # register 1 is element 2
    ([4], [1, 2], 16, 1),
])  # fmt: skip
def test_contiguous_registers_begin_at_the_first(
    registers: list[int], lanes: list[int], limit: int, count: int
) -> None:
    assert contiguous_registers(layout(registers, lanes), limit) == count


def test_a_vector_order_makes_accesses_contiguous() -> None:
    """Register bit 0 is element bit 1 and the other way round; bit 2 is element bit 4."""
    assert vector_order(layout([2, 1, 16], [4, 8]), 4) == [0, 2, 1, 3, 4, 6, 5, 7]
    assert vector_order(layout([2, 1, 16], [4, 8]), 2) == [0, 2, 1, 3, 4, 6, 5, 7]
    assert vector_order(layout([2, 1, 16], [4, 8]), 1) == list(range(8))
