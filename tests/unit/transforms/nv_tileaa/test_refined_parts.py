"""Splits of K: into how many parts an iteration is split."""

from __future__ import annotations

import pytest
from refined_loops import operands
from scheduled_loops import lowered_as_far_as, matmul, optimized


def parts(text: str, arch: str, schedule: str = "") -> int:
    """Into how many iterations one of a matmul is split."""
    (before,) = operands(lowered_as_far_as("expand-dots", optimized(text), arch))
    module = lowered_as_far_as("tile", optimized(text), arch, schedule=schedule)
    (after,) = operands(module)
    assert before[0][1] % after[0][1] == 0
    return before[0][1] // after[0][1]


@pytest.mark.parametrize(("m", "n", "k", "arch", "expected"), [
    (64, 64, 64, "sm_80", 1),  # three stages of 16 KiB are 48 KiB
    (128, 64, 64, "sm_80", 2),  # three of 24 KiB are not
    (128, 128, 64, "sm_80", 2),  # 32 KiB
    (128, 128, 128, "sm_80", 4),  # 64 KiB
    (256, 256, 32, "sm_80", 2),  # 32 KiB
    (256, 256, 64, "sm_80", 4),  # 64 KiB, and 64 / 4 is the K of one instruction
    (128, 128, 64, "sm_90", 1),  # three stages of 32 KiB, of a half of 227 KiB
    (128, 128, 128, "sm_90", 2),  # three of 64 KiB are less than all, but not than a half
    (128, 256, 64, "sm_90", 1),  # three stages of 48 KiB: with 128 accumulators, one block
    (128, 256, 128, "sm_90", 2),  # three of 96 KiB are not
    (256, 256, 16, "sm_80", 1),  # the K of one instruction
])  # fmt: skip
def test_three_stages_are_to_fit(m: int, n: int, k: int, arch: str, expected: int) -> None:
    """A block has 48 KiB of static shared memory on sm_80, 227 KiB on sm_90.

    Of blocks with few accumulators, two share the memory of an SM.
    """
    assert parts(matmul(m, n, k), arch) == expected


@pytest.mark.parametrize(("k", "occupancy", "expected"), [
    (128, 1, 1), (128, 2, 1), (256, 2, 2), (128, 3, 2), (256, 4, 4)
])  # fmt: skip
def test_blocks_that_are_resident_together_share_the_memory(
    k: int, occupancy: int, expected: int
) -> None:
    """Of 227 KiB each has a part, for three stages of K / 4 KiB."""
    assert parts(matmul(64, 64, k, occupancy=occupancy), "sm_90") == expected


@pytest.mark.parametrize(("k", "wanted", "expected"), [
    (64, 1, 1), (64, 2, 2), (64, 3, 4), (64, 4, 4), (64, 8, 4), (16, 2, 1)
])  # fmt: skip
def test_a_number_can_be_forced(k: int, wanted: int, expected: int) -> None:
    """The next power of two, as long as K of a part is not below that of an instruction, 16."""
    assert parts(matmul(64, 64, k), "sm_90", f"k-parts={wanted}") == expected


def test_one_part_can_be_forced_where_more_would_be_chosen() -> None:
    assert parts(matmul(128, 128, 128), "sm_80", "k-parts=1") == 1


@pytest.mark.parametrize(("element", "k", "expected"), [
    ("f16", 32, 2), ("bf16", 32, 2), ("f32", 32, 4), ("f32", 8, 1), ("f8E4M3FN", 128, 1)
])  # fmt: skip
def test_parts_have_32_bytes_along_k(element: str, k: int, expected: int) -> None:
    """Accumulators of fp8 are promoted every 128 elements, which a part must not cut short."""
    assert parts(matmul(64, 64, k, element=element), "sm_90", "k-parts=8") == expected


def tf32_matmul(m: int, n: int) -> str:
    """A matmul that converts both operands from f32 to tf32, with tiles of 64 along K."""
    a, b = f"tile<{m}x64xf32>", f"tile<64x{n}xf32>"
    text = matmul(m, n, 64, element="f32").replace(
        f"%d = mmaf %a, %b, %c : {a}, {b}",
        f"%x = ftof %a : {a} -> {a.replace('f32', 'tf32')}\n"
        f"%y = ftof %b : {b} -> {b.replace('f32', 'tf32')}\n"
        f"%d = mmaf %x, %y, %c : {a.replace('f32', 'tf32')}, {b.replace('f32', 'tf32')}",
    )
    assert "tf32" in text
    return text


@pytest.mark.parametrize(("arch", "expected"), [("sm_90", 8), ("sm_80", 1)])
def test_cheap_conversions_only(arch: str, expected: int) -> None:
    """Rounding to tf32 takes one instruction from sm_90 on, six before."""
    assert parts(tf32_matmul(64, 64), arch, "k-parts=8") == expected


@pytest.mark.parametrize(("m", "n", "expected"), [
    (64, 64, 1),  # 32 accumulators of a thread, 64 + 32 registers of operands, 32 of addresses
    (64, 128, 2),  # 64, 96 + 32, and 48: 240
])  # fmt: skip
def test_converted_operands_are_to_fit_into_registers(m: int, n: int, expected: int) -> None:
    """Into 255 less 24 of a thread. Three stages of 48 KiB fit into shared memory."""
    assert parts(tf32_matmul(m, n), "sm_90") == expected
