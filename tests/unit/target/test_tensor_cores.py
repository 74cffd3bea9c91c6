"""The tables of mma shapes, against numbers of the PTX ISA."""

from __future__ import annotations

from each_case import each_case

from tilewright.target.arch import ARCHES
from tilewright.target.tensor_cores import (
    ALL_WGMMA,
    BITS,
    K_MAJOR_ONLY,
    MMA,
    SPARSE_MMA,
    TABLES,
    WGMMA,
    find_mma,
    fragment_registers,
)


@each_case("name", TABLES)
def test_no_mma_is_in_two_families(name: str) -> None:
    seen: set[object] = set()
    for row in TABLES[name]:
        for a, b in row.multiplicands:
            for accumulator in row.accumulators:
                for shape in row.shapes:
                    key = (a, b, accumulator, shape)
                    assert key not in seen
                    seen.add(key)
    assert {a for row in TABLES[name] for a, _ in row.multiplicands} <= set(BITS)


def test_only_16_bit_operands_of_wgmma_have_either_major() -> None:
    types = {a for atom in ALL_WGMMA for a, _ in atom.multiplicands}
    assert types - K_MAJOR_ONLY == {"f16", "bf16"}
    assert types >= K_MAJOR_ONLY


@each_case("name", TABLES)
def test_a_row_of_k_is_a_fixed_number_of_bytes(name: str) -> None:
    """The largest-K mma of each type takes 32 bytes of A a row, 64 dense ones of a sparse A."""
    for row in TABLES[name]:
        for a, _ in row.multiplicands:
            widest = max(k for _, _, k in row.shapes) * BITS[a] // 8
            expected = {"mma": 32, "mma.sp": 64, "wgmma": 32}[name]
            if a == "f64":
                expected = 32 if len(row.shapes) == 1 else 128
            assert widest == expected


@each_case(
    ("shape", "type", "registers"),
    [
        # A, B, C of the tables "Matrix fragments for mma.m..." of the PTX ISA
        ((16, 8, 16), "f16", (4, 2)),
        ((16, 8, 8), "bf16", (2, 1)),
        ((16, 8, 8), "tf32", (4, 2)),
        ((16, 8, 32), "s8", (4, 2)),
        ((8, 8, 16), "u8", (1, 1)),
        ((16, 8, 64), "s4", (4, 2)),
        ((16, 8, 256), "b1", (4, 2)),
        ((8, 8, 4), "f64", (1, 1)),
        ((16, 8, 16), "f64", (8, 4)),
    ],
)
def test_registers_of_fragments(
    shape: tuple[int, int, int], type: str, registers: tuple[int, int]
) -> None:
    assert (
        fragment_registers(shape, "a", type),
        fragment_registers(shape, "b", type),
    ) == registers


def test_registers_of_accumulators_and_of_sparse_multiplicands() -> None:
    assert fragment_registers((16, 8, 16), "c", "f32") == 4
    assert fragment_registers((16, 8, 16), "c", "f16") == 2
    assert fragment_registers((8, 8, 4), "c", "f64") == 2
    assert fragment_registers((16, 8, 32), "a", "f16", sparse=True) == 4
    assert fragment_registers((16, 8, 32), "b", "f16", sparse=True) == 4


def test_instructions_by_gpu() -> None:
    def kinds(name: str) -> set[str]:
        return {a for atom in MMA if atom in ARCHES[name].dots for a, _ in atom.multiplicands}

    assert "e4m3" not in kinds("sm_80")
    assert "e4m3" in kinds("sm_89")
    assert all(atom in ARCHES["sm_90"].dots for atom in WGMMA)
    assert not any(atom in ARCHES["sm_100"].dots for atom in WGMMA)
    assert sum(atom.requires in ARCHES["sm_80"] for atom in SPARSE_MMA) == 5


def test_lookup() -> None:
    assert find_mma(WGMMA, "bf16", "bf16", "f32", (64, 256, 16)) is not None
    assert find_mma(WGMMA, "s8", "u8", "s32", (64, 40, 32)) is None
    assert find_mma(MMA, "f16", "bf16", "f32", (16, 8, 16)) is None
