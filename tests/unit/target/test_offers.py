"""What each GPU offers: expected values are those of the PTX ISA and the CUDA programming guide."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.target.arch import ARCHES, BASELINE, MAX_CLUSTER, PORTABLE_CLUSTER, TYPICAL_SMS
from tilewright.target.engines import BULK, CP_ASYNC, REGISTERS, TMA, Engine
from tilewright.target.features import Feature
from tilewright.target.memories import KIB, Space
from tilewright.target.resources import REALLOCATED, Resources
from tilewright.target.tensor_cores import ALL_WGMMA, MMA, MMA_COLUMNS, MMA_K_BYTES, MMA_ROWS

AMPERE = ("sm_80", "sm_86", "sm_87", "sm_88")
ADA = ("sm_89",)
HOPPER = ("sm_90",)
TENSOR_MEMORY = ("sm_100", "sm_103", "sm_107", "sm_110")
CONSUMER = ("sm_120", "sm_121")
SINCE_HOPPER = (*HOPPER, *TENSOR_MEMORY, *CONSUMER)
EVERY = (*AMPERE, *ADA, *SINCE_HOPPER)


def having(question: str) -> tuple[str, ...]:
    """The GPUs that answer a question about what they offer with yes."""
    answers = {
        "asynchronous dots": lambda arch: bool(arch.async_dots),
        "bulk copies": lambda arch: arch.bulk_engine is BULK,
        "tile copies": lambda arch: arch.tile_engine is TMA,
        "dots beside copies": lambda arch: arch.overlap_problem is None,
        "clusters": lambda arch: arch.cluster_problem is None,
        "tensor memory": lambda arch: arch.tensor_memory is not None,
        "fp8 dots": lambda arch: arch.multiplies("e4m3"),
        "fp8 conversions": lambda arch: arch.converts("f8E4M3FN") and arch.converts("f8E5M2"),
        "tf32 rounding": lambda arch: arch.converts("tf32"),
        "elected lanes": lambda arch: arch.elects_lanes,
        "dependent grids": lambda arch: arch.overlaps_grids,
        "reallocated registers": lambda arch: arch.reallocates_registers,
        "matrix stores": lambda arch: arch.stores_matrices,
    }
    return tuple(name for name, arch in ARCHES.items() if answers[question](arch))


@each_case(
    ("question", "expected"),
    [
        # The target notes of each instruction in the PTX ISA.
        ("asynchronous dots", HOPPER),  # wgmma.mma_async: sm_90a
        ("bulk copies", SINCE_HOPPER),  # cp.async.bulk: sm_90
        ("tile copies", SINCE_HOPPER),  # cp.async.bulk.tensor: sm_90
        ("dots beside copies", HOPPER),
        ("clusters", SINCE_HOPPER),  # %cluster_ctarank: sm_90
        ("tensor memory", TENSOR_MEMORY),  # tcgen05: sm_100a, sm_110a and their families
        ("fp8 dots", (*ADA, *SINCE_HOPPER)),  # mma of .e4m3: sm_89
        ("fp8 conversions", (*ADA, *SINCE_HOPPER)),  # cvt.rn.satfinite.e4m3x2: sm_89
        ("tf32 rounding", SINCE_HOPPER),  # cvt.rn.tf32.f32: sm_90
        ("elected lanes", SINCE_HOPPER),  # elect.sync: sm_90
        ("dependent grids", SINCE_HOPPER),  # griddepcontrol: sm_90
        ("reallocated registers", SINCE_HOPPER),  # setmaxnreg: sm_90a, sm_100a, sm_120a, ...
        ("matrix stores", SINCE_HOPPER),  # stmatrix: sm_90
    ],
)
def test_offers(question: str, expected: tuple[str, ...]) -> None:
    assert set(having(question)) == set(expected)


def test_every_gpu_copies_by_threads_and_has_the_dots_of_a_warp() -> None:
    assert set(ARCHES) == set(EVERY)
    for arch in ARCHES.values():
        assert {CP_ASYNC, REGISTERS} <= set(arch.engines)
        for a, accumulator, k in (("f16", "f32", 16), ("bf16", "f32", 16), ("s8", "s32", 32)):
            atom = arch.dot_atom(a, a, accumulator, (16, 8, k))
            assert atom is not None
            assert (atom.warps, atom.asynchronous) == (1, False)
        assert arch.dot_atom("f64", "f64", "f64", (8, 8, 4)) is not None


def test_what_an_atom_or_engine_needs_is_among_the_instructions() -> None:
    for arch in ARCHES.values():
        assert all(each.requires in arch for each in (*arch.dots, *arch.engines))
        assert (arch.tensor_memory is not None) == (Feature.TENSOR_MEMORY in arch)


@each_case("a", ["f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"])
def test_atoms_of_a_warpgroup(a: str) -> None:
    """Table "wgmma.mma_async": M is 64, K 32 bytes, B in shared memory, A there or in registers."""
    atom = ARCHES["sm_90"].async_dot(a)
    assert atom is not None
    assert (atom.warps, atom.rows, atom.columns) == (4, 64, 8)
    assert max(n for _, n, _ in atom.shapes) == 256
    assert atom.a_memories == {Space.REGISTERS, Space.SHARED}
    assert atom.b_memories == {Space.SHARED}
    # Transposed matrices are for .f16 and .bf16 only.
    assert atom.is_k_major_only(a) == (a not in ("f16", "bf16"))
    assert ARCHES["sm_100"].async_dot(a) is None


def test_dots_of_tiles_have_no_fp8_with_f16_accumulators_by_warpgroups() -> None:
    """Of these, cuBLAS is no reference, and `mma.sync` has them."""
    arch = ARCHES["sm_90"]
    assert arch.dot_atom("e4m3", "e4m3", "f16", (64, 64, 32)) is None
    assert arch.dot_atom("e4m3", "e4m3", "f16", (16, 8, 32)) is not None
    assert arch.dot_atom("e4m3", "e5m2", "f32", (64, 64, 32)) is not None
    assert [arch.reads_either_major(bytes) for bytes in (1, 2, 4)] == [False, True, False]
    assert not ARCHES["sm_80"].reads_either_major(2)


def test_extents_that_all_atoms_share() -> None:
    for atom in (*MMA, *ALL_WGMMA):
        if atom.accumulators != {"f64"}:
            assert all(m % MMA_ROWS == 0 or m == 8 for m, _, _ in atom.shapes)
            assert min(n for _, n, _ in atom.shapes) == MMA_COLUMNS
    assert MMA_K_BYTES == 16 * 2 == 32 * 1 == 8 * 4  # m16n8k16 of f16, k32 of int8, k8 of tf32


@each_case(
    ("engine", "granules", "alignment", "bulk"),
    [
        (CP_ASYNC, (4, 8, 16), 1, False),  # cp.async: cp-size is 4, 8 or 16
        (BULK, (16,), 16, True),  # cp.async.bulk: size and addresses are multiples of 16
        (TMA, (16,), 16, True),  # tensor maps: globalAddress and globalStrides, 16 bytes
    ],
)
def test_engines(engine: Engine, granules: tuple[int, ...], alignment: int, bulk: bool) -> None:
    assert (engine.granules, engine.alignment, engine.bulk) == (granules, alignment, bulk)
    assert engine.asynchronous
    assert not REGISTERS.asynchronous


def test_boxes_of_tensor_maps() -> None:
    """Limits of tensor maps in the CUDA driver API; shared memory is aligned to 128 bytes."""
    assert (TMA.max_rank, TMA.max_extent, TMA.box_alignment) == (5, 256, 128)


@each_case(
    ("name", "per_sm", "per_cta"),
    [
        # Technical specifications per compute capability; the most of a CTA needs the suffix a.
        ("sm_80", 164, 48), ("sm_86", 100, 48), ("sm_89", 100, 48), ("sm_90", 228, 227),
        ("sm_100", 228, 227), ("sm_103", 228, 227), ("sm_110", 228, 227), ("sm_120", 100, 99),
    ],
)  # fmt: skip
def test_shared_memory(name: str, per_sm: int, per_cta: int) -> None:
    shared = ARCHES[name].shared
    assert (shared.per_sm, shared.per_cta) == (per_sm * KIB, per_cta * KIB)
    assert shared.ctas(0) == per_sm  # a KiB of each CTA is reserved
    assert shared.ctas(per_cta * KIB - 1) == per_sm // (per_cta + 1)


def test_tensor_memory() -> None:
    """512 columns of 128 lanes with 32 bits; an allocation has at least 32 columns."""
    memory = ARCHES["sm_100"].tensor_memory
    assert memory is not None
    assert memory.per_sm == 512 * 128 * 4
    assert memory.unit == 32 * 128 * 4
    assert Resources.of(ARCHES["sm_100"]).tensor_memory == 256 * KIB
    assert Resources.of(ARCHES["sm_120"]).tensor_memory == 0


def test_clusters() -> None:
    """8 CTAs are portable, 16 the most of sm_90 and sm_100."""
    assert PORTABLE_CLUSTER == 8
    assert max(arch.max_cluster for arch in ARCHES.values()) == MAX_CLUSTER == 16
    assert {arch.max_cluster for arch in ARCHES.values()} == {1, 8, 16}


def test_reallocated_registers() -> None:
    """Setmaxnreg: a multiple of 8 in the range 24 to 256."""
    assert (REALLOCATED[0], REALLOCATED[-1], REALLOCATED.step) == (24, 256, 8)


@each_case(
    ("name", "source", "result", "count"),
    [
        ("sm_80", "f32", "f16", 1),
        ("sm_80", "tf32", "f32", 1),
        ("sm_80", "f32", "tf32", 6),
        ("sm_90", "f32", "tf32", 1),
        ("sm_80", "f8E4M3FN", "f16", 10),
        ("sm_86", "f16", "f8E5M2", 10),
        ("sm_89", "f8E4M3FN", "f16", 1),
    ],
)
def test_conversions(name: str, source: str, result: str, count: int) -> None:
    assert ARCHES[name].conversion_instructions(source, result) == count


def test_reasons_name_what_is_missing() -> None:
    oldest = ARCHES[BASELINE]
    assert oldest.overlap_problem == "the GPU has no wgmma or no TMA"
    assert oldest.cluster_problem == "the GPU has no clusters"
    assert oldest.tile_engine_problem == "bulk and tensor copies that complete on a barrier"
    assert ARCHES["sm_120"].overlap_problem is not None
    assert ARCHES["sm_120"].tile_engine_problem is None


def test_rates_of_an_h100() -> None:
    """Dense TFLOP/s of the data sheet, over 132 SMs and the 1.83 GHz that they are given for."""
    arch = ARCHES["sm_90"]
    assert arch.rates is not None
    assert arch.peak is not None
    for type in ("f16", "bf16", "tf32", "e4m3", "s8"):
        per_clock = arch.peak.operations[type] * 1e12 / 132 / 1.83e9
        assert arch.rates.dots[type] == pytest.approx(per_clock, rel=0.01)
    assert arch.rates.shared_bytes == 32 * 4  # banks of a word
    assert 108 <= TYPICAL_SMS <= 148


@each_case(("newer", "runs"), [("sm_80", True), ("sm_86", True), ("sm_90", False), ("sm_89", True)])
def test_code_runs_on_newer_minor_versions(newer: str, runs: bool) -> None:
    assert ARCHES["sm_80"].is_older_minor_of(newer) == runs
    assert not ARCHES["sm_86"].is_older_minor_of("sm_80")
