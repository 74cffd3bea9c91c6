from __future__ import annotations

import numpy as np
import pytest
from each_case import each_case
from matrix_probes import (
    MmaCase,
    coordinate_c,
    mma_cases,
    mma_probe,
    quarter_coordinate,
    quarter_probes,
    vector,
)
from matrix_values import DTYPES, TYPES, numbers
from ptx_probes import Array, Probe, emulate
from repeats import keep_every
from warp_probes import matrix_move_probes
from wgmma_probes import Case, accumulator_coordinate, cases, probe_of

from tilewright.ir.types import F32
from tilewright.support.diagnostics import Unsupported, UserError
from tilewright.testing.bounds import dot_tolerance
from tilewright.testing.compare import Tolerance, difference

EXACT = [case for case in mma_cases() if case.kind == "exact"]


def results(probe: Probe, type: str, actual: list[Array]) -> Array:
    """Registers as (warps, lanes, elements)."""
    word = np.uint64 if type == "f64" else np.uint32
    table = np.stack([each.view(word) for each in actual[: len(probe.outputs)]], axis=1)
    return np.ascontiguousarray(table).view(DTYPES[type]).reshape(probe.threads // 32, 32, -1)


def exact_mma(a: Array, b: Array, c: Array, operation: str = "") -> Array:
    if ".xor" in operation:
        return (a[:, :, None] != b[None, :, :]).sum(axis=1) + c
    result = a @ b + c
    if "satfinite" in operation:
        return np.clip(result, -(2.0**31), 2.0**31 - 1)
    return result


@pytest.mark.parametrize("case", EXACT, ids=lambda case: case.name)
@pytest.mark.sampled(24)
def test_exact_mma_results_equal_numpy(case: MmaCase) -> None:
    probe = mma_probe(case)
    d, a, b = probe.notes["types"]
    m, n, _ = probe.notes["shape"]
    actual = results(probe, d, emulate(probe))
    for warp, (left, right, into) in enumerate(probe.notes["matrices"]):
        expected = exact_mma(numbers(a, left), numbers(b, right), numbers(d, into), probe.name)
        for lane in range(32):
            for at in range(m * n // 32):
                assert actual[warp, lane, at] == expected[coordinate_c(m)(lane, at)]


@each_case("probe", list(quarter_probes()), ids=lambda probe: probe.name)
def test_the_four_quarter_warp_mmas_of_m8n8k4(probe: Probe) -> None:
    d, c = probe.notes["types"]
    actual = results(probe, d, emulate(probe))[0]
    a, b, into = (probe.notes[name] for name in "abc")
    expected = numbers("f16", a) @ numbers("f16", b).transpose(0, 2, 1) + numbers(c, into)
    for lane in range(32):
        for at in range(8):
            assert actual[lane, at] == expected[quarter_coordinate(lane, at, d)]


def wgmma_result(case: Case, actual: list[Array], probe: Probe) -> Array:
    elements = results(probe, case.d, actual)
    d = np.zeros((64, case.n))
    for warp in range(4):
        for lane in range(32):
            for at in range(elements.shape[2]):
                row, column = accumulator_coordinate(lane, at)
                d[16 * warp + row, column] = elements[warp, lane, at]
    return d


# Cases whose swizzle pattern starts off its boundary have only the hardware as a reference.
WGMMA = [case for case in cases() if case.kind == "exact" and not case.shift]


@pytest.mark.parametrize("case", keep_every(WGMMA, 3), ids=lambda case: case.name)
@pytest.mark.sampled(8)
def test_exact_wgmma_results_equal_numpy(case: Case) -> None:
    probe = probe_of(case)
    a, b = (numbers(type, probe.notes[name]) for type, name in ((case.a, "a"), (case.b, "b")))
    d = numbers(case.d, probe.notes["d"]) if case.keep else np.zeros((64, case.n))
    expected = d + case.scales[0] * case.scales[1] * case.steps * (a @ b.T)
    if case.satfinite:
        expected = np.clip(expected, -(2.0**31), 2.0**31 - 1)
    for seed in (0, 1):
        assert np.array_equal(wgmma_result(case, emulate(probe, seed=seed), probe), expected)


# The accumulators of these are inexact in any order.
ROUNDED = [case for case in mma_cases() if case.kind != "exact"]
ROUNDED_WGMMA = [case for case in cases() if case.kind in ("normal", "wild")]


@pytest.mark.parametrize("case", ROUNDED, ids=lambda case: case.name)
@pytest.mark.sampled(16)
def test_mma_results_are_within_the_error_bound(case: MmaCase) -> None:
    probe = mma_probe(case)
    d, a, b = probe.notes["types"]
    m, n, _ = probe.notes["shape"]
    actual = results(probe, d, emulate(probe))
    for warp, matrices in enumerate(probe.notes["matrices"]):
        left, right, into = map(numbers, (a, b, d), matrices)
        d_matrix = np.zeros((m, n), DTYPES[d])
        for lane, at in np.ndindex(32, m * n // 32):
            d_matrix[coordinate_c(m)(lane, at)] = actual[warp, lane, at]
        tolerance = dot_tolerance(left, right, into, TYPES[d])
        assert difference(d_matrix, left @ right + into, TYPES[d], tolerance) is None


def wgmma_operands_and_results(case: Case) -> tuple[Array, Array, Array, Array, Array]:
    """Return the emulated result of a wgmma, the exact one, and A, B and C."""
    probe = probe_of(case)
    a, b = (numbers(type, probe.notes[name]) for type, name in ((case.a, "a"), (case.b, "b")))
    # Every step reads the same operands: the same as one mma with A and B repeated along K.
    a, b = np.tile(a, (1, case.steps)), np.tile(b, (1, case.steps)).T
    d = numbers(case.d, probe.notes["d"]) if case.keep else np.zeros((64, case.n))
    actual = wgmma_result(case, emulate(probe), probe).astype(DTYPES[case.d])
    return actual, a @ b + d, a, b, d


@pytest.mark.parametrize("case", ROUNDED_WGMMA, ids=lambda case: case.name)
@pytest.mark.sampled(12)
def test_wgmma_results_are_within_the_error_bound(case: Case) -> None:
    actual, expected, a, b, d = wgmma_operands_and_results(case)
    tolerance = dot_tolerance(a, b, d, TYPES[case.d])
    if case.a in ("e4m3", "e5m2") and case.d == "f32":
        # Accumulators of fp8 have 14 bits and are truncated: an error of one ulp, not of half.
        magnitudes = np.abs(a) @ np.abs(b) + np.abs(d)
        tolerance = Tolerance(absolute=(a.shape[1] + 1) * 2.0**-13 * magnitudes)
    assert difference(actual, expected, TYPES[case.d], tolerance) is None


@pytest.mark.parametrize("type", ["e4m3", "e5m2"])
def test_fp8_accumulators_are_narrower_than_f32(type: str) -> None:
    case = next(case for case in ROUNDED_WGMMA if case.a == type and case.d == "f32")
    actual, expected, a, b, d = wgmma_operands_and_results(case)
    assert difference(actual, expected, F32, dot_tolerance(a, b, d, F32)) is not None


MATRIX_COPIES = [probe for probe in matrix_move_probes() if probe.name != "movmatrix"]


@each_case("probe", MATRIX_COPIES, ids=lambda probe: probe.name)
def test_ldmatrix_and_stmatrix_follow_the_manual(probe: Probe) -> None:
    assert probe.image is not None
    actual = emulate(probe)
    count, transposed = int(probe.name.split("x")[-1][0]), "trans" in probe.name
    address = probe.inputs[0][1]
    image = probe.image.copy()
    for thread in range(probe.threads):
        warp, lane = divmod(thread, 32)
        for matrix in range(count):
            for half in range(2):
                row, column = lane // 4, 2 * (lane % 4) + half
                row, column = (column, row) if transposed else (row, column)
                at = int(address[32 * warp + 8 * matrix + row]) + 2 * column
                if probe.dump:
                    value = probe.inputs[1 + matrix][1].view(np.uint16)[2 * thread + half]
                    image[at : at + 2] = np.array([value]).view(np.uint8)
                else:
                    value = actual[matrix].view(np.uint16)[2 * thread + half]
                    assert value == image[at : at + 2].view(np.uint16)[0]
    if probe.dump:
        assert np.array_equal(actual[-1], image)


def launch_one(body: str, threads: int = 32, declarations: str = "") -> None:
    inputs = [("b32", np.arange(threads, dtype=np.uint32))] * 12
    image = np.zeros(1024, np.uint8)
    probe = Probe(
        "test", body, inputs, ["b32"] * 4, threads, image=image, declarations=declarations
    )
    emulate(probe)


def test_a_row_must_be_aligned_and_inside() -> None:
    load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%o0}, [%address];"
    with pytest.raises(UserError, match="misaligned load of 16 bytes"):
        launch_one(f"add.u32 %address, %smem, 8; {load}", declarations=".reg .b32 %address;")
    with pytest.raises(UserError, match="outside of shared memory"):
        launch_one(f"add.u32 %address, %smem, 1024; {load}", declarations=".reg .b32 %address;")


def test_mma_needs_the_whole_warp() -> None:
    a, b, c, d = vector("i", 0, 4), vector("i", 4, 2), vector("i", 6, 4), vector("o", 0, 4)
    body = f"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {d}, {a}, {b}, {c};"
    with pytest.raises(UserError, match="expected all 32 threads of every warp"):
        launch_one(body, threads=16)


@each_case(
    ("opcode", "a", "text"),
    [
        ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 2, "expected 4 registers"),
        ("mma.sync.aligned.m16n8k16.row.row.f32.bf16.bf16.f32", 4, r"\.row\.row"),
        ("mma.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", 4, "m16n8k32 of .bf16"),
        ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32", 4, "kind::f8f6f4"),
    ],
)
def test_invalid_mmas_are_rejected(opcode: str, a: int, text: str) -> None:
    operands = f"{vector('o', 0, 4)}, {vector('i', 0, a)}, {vector('i', 4, 2)}, {vector('i', 6, 4)}"
    with pytest.raises((UserError, Unsupported), match=text):
        launch_one(f"{opcode} {operands};")


def test_metadata_must_name_two_elements() -> None:
    operands = f"{vector('o', 0, 4)}, {vector('i', 0, 2)}, {vector('i', 4, 2)}, {vector('i', 6, 4)}"
    opcode = "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    with pytest.raises(UserError, match="the metadata selects an element twice"):
        launch_one(f"{opcode} {operands}, 0, 0;")
    with pytest.raises(UserError, match="expected a selector below 4, got 4"):
        launch_one(f"{opcode} {operands}, %i10, 4;")
