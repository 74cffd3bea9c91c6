"""wgmma: the bits of its accumulators, and every type."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from compiled_once import lowered_to
from gemm_text import KLoop, kernel, zeros
from matrix_programs import DTYPES, View
from repeats import keep_first

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.ir.types import F16
from tilewright.support.tensor_map_parameters import PARAMETERS
from tilewright.target.arch import ARCHES
from tilewright.testing.bounds import dot_tolerance
from tilewright.testing.compare import difference

Array = np.ndarray[Any, Any]
BYTES = ("f8E4M3FN", "f8E5M2")
INSTRUCTION = 32
"""The number of fp8 terms per wgmma."""
GROUP = 128
"""The number of terms until the accumulator is added to one in f32."""
LEAST = {"f8E4M3FN": -6, "f8E5M2": -14}
"""The exponents of the least normal numbers."""


class Gemm:
    """`c = a @ b + c` in tiles: shapes, types, and majorness."""

    def __init__(
        self,
        tile: tuple[int, int, int],
        types: tuple[str, str] = ("f8E4M3FN", "f32"),
        *,
        iterations: int = 1,
        a_k_major: bool = True,
        b_k_major: bool = False,
        fast: bool = False,
        warps: int | None = None,
        anew: bool = False,
        added: bool = False,
        assembled: bool = False,
        schedule: str = "",
    ) -> None:
        self.tile, self.types, self.iterations = tile, types, iterations
        self.schedule = schedule
        self.k_major, self.fast, self.warps = (a_k_major, b_k_major), fast, warps
        self.anew = anew
        """Whether accumulators start at zero instead of C."""
        self.added = added
        """Whether dots start at zero, and are added to the accumulators."""
        self.emit = "cubin" if assembled else "ptx"

    def text(self) -> str:
        """The program; the number of iterations is an argument."""
        m, n, k = self.tile
        element, accumulator = self.types
        k_extent = k * self.iterations
        a = View("a", (m, k_extent), (k_extent, 1) if self.k_major[0] else (1, m), (m, k), element)
        b = View("b", (k_extent, n), (1, k_extent) if self.k_major[1] else (n, 1), (k, n), element)
        c = View("c", (m, n), (n, 1), (m, n), accumulator)
        tile = c.tile_type
        add = "addi" if element == "i8" else "addf"
        after = f"%next = {add} %acc, %d : {tile}\ncontinue %next : {tile}" if self.added else ""
        loop = KLoop(
            a, b, tile, start="%c", into="%none" if self.added else "", signs="signed unsigned",
            fast="fast_acc" if self.fast else "", after=after,
        )  # fmt: skip
        start = zeros(tile, "%c") if self.anew else c.load("%zero, %zero", "%c", "%t")
        count = f"num_worker_warps_per_cta = {self.warps}"
        return kernel(
            [a, b, c],
            f"{start}\n{zeros(tile)}\n{loop.text()}\n{c.store('%sum')}",
            arguments="%n: tile<i32>",
            hints="" if self.warps is None else f"optimization_hints=<sm_90 = {{{count}}}>",
        )

    def run(self, a: Array, b: Array, c: Array) -> Array:
        """Run on the emulator with its checks on; return the accumulators."""
        kept = [
            a if self.k_major[0] else np.ascontiguousarray(a.T),
            np.ascontiguousarray(b.T) if self.k_major[1] else b,
            c.copy(),
        ]
        module = read_runnable(self.text(), "kernel.mlir")
        maps = self.compiled.map_parameters.get("k", ())
        run_ptx(self.ptx, module, "k", 1, [*kept, self.iterations], maps=maps, check=True)
        return kept[2]

    @property
    def ptx(self) -> str:
        """The code for sm_90."""
        return self.compiled.ptx

    @cached_property
    def compiled(self) -> tilewright.CompiledModule:
        """The kernel, compiled once: tests read its code, and run it."""
        options = {"tensor_maps": PARAMETERS, "schedule": self.schedule}
        return tilewright.compile(self.text(), "sm_90", emit=self.emit, **options)


def exponents(numbers: Array, least: int) -> Array:
    """Return exponents of at least that of the smallest normal number; zero has a lower one."""
    exponents = np.maximum(np.frexp(numbers)[1] - 1, least)
    return np.where(numbers == 0, -1000, exponents)


def one_instruction(a: Array, b: Array, c: Array, element: str) -> Array:
    """docs/ptxsim.md on f8: 13 bits below the greatest exponent, of terms and accumulators."""
    least = LEAST[element]
    terms = a[:, :, None] * b[None, :, :]
    powers = exponents(a, least)[:, :, None] + exponents(b, least)[None, :, :]
    top = np.maximum(powers.max(axis=1), exponents(c, -126))
    unit = np.ldexp(1.0, np.maximum(top, -900) - 13)
    truncated = np.trunc(terms / unit[:, None, :]).sum(axis=1) * unit + np.trunc(c / unit) * unit
    last = np.ldexp(1.0, np.maximum(np.frexp(truncated)[1], -900) - 14)
    return np.trunc(truncated / last) * last


def expected_bits(gemm: Gemm, a: Array, b: Array, c: Array) -> Array:
    """The accumulators of an fp8 matmul, instruction by instruction."""
    element, tile_k = gemm.types[0], gemm.tile[2]
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    accumulators = c.astype(np.float64)
    alone = INSTRUCTION if gemm.fast else min(GROUP, tile_k)
    for start in range(0, a.shape[1], alone):
        own = accumulators if gemm.fast else np.zeros_like(accumulators)
        for at in range(start, start + alone, INSTRUCTION):
            part = slice(at, at + INSTRUCTION)
            own = one_instruction(wide_a[:, part], wide_b[part], own, element)
        accumulators = (
            own if gemm.fast else (accumulators + own).astype(np.float32).astype(np.float64)
        )
    return accumulators.astype(np.float32)


def numbers(seed: int, shape: tuple[int, ...], type: str) -> Array:
    """Return normally distributed numbers of widely different magnitudes."""
    random = np.random.default_rng(seed)
    sizes = np.exp2(random.integers(-4, 4, shape))
    values: Array = (random.standard_normal(shape) * sizes).astype(DTYPES[type])
    return values


def operands(gemm: Gemm) -> tuple[Array, Array, Array]:
    m, n, k = gemm.tile
    element, accumulator = gemm.types
    k_extent = k * gemm.iterations
    return (
        numbers(1, (m, k_extent), element),
        numbers(2, (k_extent, n), element),
        numbers(3, (m, n), accumulator),
    )


@pytest.mark.parametrize("element", BYTES)
@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("b_k_major", [False, True])
@pytest.mark.parametrize(("tile_k", "iterations"), keep_first([(32, 3), (128, 2), (256, 2)]))
@pytest.mark.sampled(3)
def test_fp8_accumulators_have_the_bits_of_the_instructions(
    element: str, fast: bool, b_k_major: bool, tile_k: int, iterations: int
) -> None:
    gemm = Gemm(
        (64, 32, tile_k), (element, "f32"), iterations=iterations, b_k_major=b_k_major, fast=fast
    )
    a, b, c = operands(gemm)
    np.testing.assert_array_equal(gemm.run(a, b, c), expected_bits(gemm, a, b, c))


@pytest.mark.parametrize("fast", [False, True])
def test_bits_below_14_are_lost_only_within_128_terms(fast: bool) -> None:
    """128 times 2**-14 beside 1: each by itself is truncated, all together are not."""
    gemm = Gemm((64, 8, 128), iterations=2, fast=fast)
    tiny = 2.0**-7
    a, b = np.full((64, 256), tiny), np.full((256, 8), tiny)
    a[:, 0] = b[0] = 1
    kept = [x.astype(ml_dtypes.float8_e4m3fn) for x in (a, b)]
    actual = gemm.run(kept[0], kept[1], np.zeros((64, 8), np.float32))
    np.testing.assert_array_equal(actual, np.full((64, 8), 1 if fast else 1 + 2.0**-7, np.float32))


@pytest.mark.parametrize(
    ("tile", "warps"),
    [
        ((64, 8, 32), None),
        ((128, 64, 64), None),
        ((64, 512, 32), None),
        ((256, 16, 128), None),
        ((128, 128, 128), 8),
        ((64, 64, 128), 8),
        ((128, 32, 512), 4),
    ],
)
@pytest.mark.parametrize("a_k_major", [False, True])
@pytest.mark.sampled(3)
def test_shapes_and_warps(tile: tuple[int, int, int], warps: int | None, a_k_major: bool) -> None:
    gemm = Gemm(tile, warps=warps, a_k_major=a_k_major)
    assert "wgmma.mma_async" in gemm.ptx
    small = [np.rint(x.astype(np.float64) / 8) for x in operands(gemm)]
    a, b = (x.astype(ml_dtypes.float8_e4m3fn) for x in small[:2])
    c = small[2].astype(np.float32)
    np.testing.assert_array_equal(gemm.run(a, b, c), expected_bits(gemm, a, b, c))


@pytest.mark.parametrize(
    "types", [("i8", "i32"), ("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("tf32", "f32")]
)
@pytest.mark.parametrize(("a_k_major", "b_k_major"), [(True, False), (True, True), (False, False)])
@pytest.mark.parametrize("tile", [(64, 64, 64), (128, 32, 128)])
@pytest.mark.sampled(3)
def test_other_types(
    types: tuple[str, str],
    a_k_major: bool,
    b_k_major: bool,
    tile: tuple[int, int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gpu = ARCHES["sm_90"]
    transposing = [atom._replace(transposes_b=atom.asynchronous) for atom in gpu.dots]
    monkeypatch.setattr(gpu, "dots", tuple(transposing))
    check_exactly(Gemm(tile, types, iterations=2, a_k_major=a_k_major, b_k_major=b_k_major))


def check_exactly(gemm: Gemm) -> None:
    """Small integers, whose accumulation is exact in every order, equal NumPy's."""
    assert "wgmma.mma_async" in gemm.ptx
    random = np.random.default_rng(sum(gemm.tile))
    (m, n, k), (element, accumulator) = gemm.tile, gemm.types
    k_extent = gemm.iterations * k
    shapes = ((m, k_extent), element), ((k_extent, n), element), ((m, n), accumulator)
    a, b, c = (random.integers(-2, 3, shape).astype(DTYPES[kind]) for shape, kind in shapes)
    c = np.zeros_like(c) if gemm.anew else c
    right = b.view(np.uint8) if element == "i8" else b
    expected = a.astype(np.float64) @ right.astype(np.float64) + c.astype(np.float64)
    np.testing.assert_array_equal(gemm.run(a, b, c), expected.astype(DTYPES[accumulator]))


@pytest.mark.parametrize("a_k_major", [False, True])
def test_f16_accumulators_are_within_the_bounds_of_f16(a_k_major: bool) -> None:
    """They stay in flight over iterations, and no thread has more than two in a register."""
    gemm = Gemm(
        (64, 64, 64), ("f16", "f16"), iterations=3, a_k_major=a_k_major, schedule="in-flight=1"
    )
    assert "wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16" in gemm.ptx
    assert re.search(r"wgmma\.wait_group\.sync\.aligned\s+1;", gemm.ptx)
    random = np.random.default_rng(0)
    a, b, c = (
        random.uniform(-1, 1, shape).astype(np.float16)
        for shape in ((64, 192), (192, 64), (64, 64))
    )
    left, right, start = (each.astype(np.float64) for each in (a, b, c))
    expected = (left @ right + start).astype(np.float16)
    tolerance = dot_tolerance(left, right, start, F16)
    assert difference(gemm.run(a, b, c), expected, F16, tolerance) is None


@pytest.mark.parametrize("tile", [(64, 64, 64), (64, 256, 64), (128, 32, 128)])
@pytest.mark.parametrize(
    "types", [("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("f8E4M3FN", "f32"), ("i8", "i32")]
)
@pytest.mark.sampled(3)
def test_dots_are_added_to_the_accumulators(
    types: tuple[str, str], tile: tuple[int, int, int]
) -> None:
    check_exactly(Gemm(tile, types, iterations=3, b_k_major=types[0] == "i8", added=True))


@pytest.mark.parametrize("k", keep_first([64, 128]))
@pytest.mark.parametrize("added", [False, True])
def test_accumulators_are_rounded_once_by_an_addition(k: int, added: bool) -> None:
    """An instruction adds 1 to 2**24, which has no bit for it; the whole dot is a multiple of 4."""
    gemm = Gemm((64, 32, k), ("f16", "f32"), iterations=2, added=added)
    a, b = np.full((64, 2 * k), 0.25, np.float16), np.full((2 * k, 32), 0.25, np.float16)
    start = np.full((64, 32), 2.0**24, np.float32)
    expected = start + (2 * k / 16 if added else 0)
    np.testing.assert_array_equal(gemm.run(a, b, start), expected)


@pytest.mark.usefixtures("ptxas")
def test_added_dots_of_wide_tiles_stay_in_registers() -> None:
    gemm = Gemm((128, 256, 64), ("f16", "f32"), iterations=4, anew=True, added=True, assembled=True)
    kernel = gemm.compiled.entries["k"]
    assert kernel.resources.spill_stores == 0


@pytest.mark.parametrize(
    "types", [("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("f8E5M2", "f32")]
)
@pytest.mark.parametrize("iterations", [1, 2, 5])
@pytest.mark.sampled(2)
def test_operands_are_prefetched(types: tuple[str, str], iterations: int) -> None:
    gemm = Gemm((128, 64, 128 if types[0] == "f8E5M2" else 64), types, iterations=iterations)
    assert "cp.async" in gemm.ptx
    check_exactly(gemm)


class TwiceGemm(Gemm):
    """`c = 2 * a @ b + c`, by two dots in one accumulator."""

    def text(self) -> str:
        """The program; the number of iterations is an argument."""
        text = super().text()
        (dot,) = (line for line in text.splitlines() if "mmaf" in line)
        first, second = dot.replace("%d =", "%half ="), dot.replace("%acc", "%half")
        return text.replace(dot, f"{first}\n{second}")


@pytest.mark.parametrize("types", keep_first(map(pytest.param, [("f16", "f32"), ("f16", "f16")])))
@pytest.mark.parametrize(
    ("tile", "iterations"), keep_first([((64, 64, 64), 3), ((64, 128, 32), 1)])
)
def test_dots_in_one_accumulator_are_in_flight_together(
    types: tuple[str, str], tile: tuple[int, int, int], iterations: int
) -> None:
    gemm = TwiceGemm(tile, types, iterations=iterations, schedule="in-flight=1")
    assert re.search(r"wgmma\.wait_group\.sync\.aligned\s+2;", gemm.ptx)
    random = np.random.default_rng(1)
    m, n, k = tile
    shapes = (m, k * iterations), (k * iterations, n), (m, n)
    a, b, c = (random.integers(-1, 2, shape).astype(np.float16) for shape in shapes)
    c = c.astype(DTYPES[types[1]])
    expected = 2 * (a.astype(np.float32) @ b.astype(np.float32)) + c.astype(np.float32)
    np.testing.assert_array_equal(gemm.run(a, b, c).astype(np.float32), expected)


@pytest.mark.parametrize(
    ("gemm", "why"),
    [
        (Gemm((32, 32, 64)), "fewer rows and columns than the rows of an instruction"),
        (Gemm((64, 64, 16)), "a smaller K than that of an instruction"),
        (Gemm((64, 128, 1024)), "operands that leave less than 48 KiB of shared memory"),
        (Gemm((64, 64, 64), ("tf32", "f32"), a_k_major=False), "neither A nor B K-major"),
        (Gemm((64, 32, 64), ("i8", "i32")), "fewer columns than the rows of an instruction"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
@pytest.mark.sampled(3)
def test_others_use_mma_sync(gemm: Gemm, why: str) -> None:
    operations = lowered_to("nvgpu", gemm.text())
    assert "wgmma" not in operations
    assert "nvgpu.mma.sync" in operations


@pytest.mark.parametrize("element", ["f8E4M3FN", "i8", "tf32"])
@pytest.mark.parametrize(
    ("tile", "iterations"),
    keep_first([((64, 64, 32), 3), ((128, 64, 32), 4), ((64, 64, 128), 1)]),
)
@pytest.mark.parametrize("anew", keep_first([True, False]))
def test_b_of_other_majors_is_transposed_in_registers(
    element: str, tile: tuple[int, int, int], iterations: int, anew: bool
) -> None:
    """A and B are swapped: cp.async copies both, and only registers transpose one of them."""
    types = (element, "i32" if element == "i8" else "f32")
    gemm = Gemm(tile, types, iterations=iterations, anew=anew and element != "i8")
    assert re.search(r"wgmma\.mma_async[^\n]*\}, \{%r", gemm.ptx), "expected A in registers"
    if element != "tf32":
        assert ".trans.shared.b16" in gemm.ptx
    check_exactly(gemm)


@pytest.mark.parametrize("b_k_major", [False, True])
@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.sampled(2)
def test_a_large_tile_stays_in_registers_and_copies_whole_words(
    b_k_major: bool, fast: bool
) -> None:
    gemm = Gemm(
        (128, 256, 128), iterations=8, b_k_major=b_k_major, fast=fast, anew=True, assembled=True
    )
    kernel = gemm.compiled.entries["k"]
    assert kernel.resources.spill_stores == 0
    # Where a warp encodes tensor maps, it loads the key of earlier ones, and stores zeros.
    by_tma = "cp.async.bulk.tensor" in gemm.ptx
    assert by_tma or "ld.global" not in gemm.ptx
    stores = re.findall(r"st\.shared\S*", gemm.ptx)
    stores = [each for each in stores if not by_tma or each != "st.shared.b32"]
    if b_k_major:
        # Both operands are copied to where wgmma reads them.
        assert not stores
        assert "ld.shared" not in gemm.ptx
    elif fast:
        # A and B are swapped, and B is transposed as it is read; only the result is stored.
        assert ".trans.shared.b16" in gemm.ptx
        assert set(stores) == {"st.shared.v4.b32"}
    else:
        # Registers do not suffice for that beside partial accumulators: a thread of 256 transposes
        # 128 bytes of B, and stores 8 bytes at a time.
        assert stores == ["st.shared.b64"] * (128 * 256 // 256 // 8)


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize("tile", keep_first(map(pytest.param, [(256, 256, 16), (128, 512, 16)])))
def test_accumulators_of_more_than_two_warpgroups_fit_registers(tile: tuple[int, int, int]) -> None:
    """ptxas rejects an instruction whose accumulators take all registers of a thread.

    Sixteen warps hold the accumulators of the whole tile, so that they are not split.
    """
    gemm = Gemm(tile, ("f16", "f32"), iterations=2, warps=16, assembled=True)
    a = np.random.default_rng(1).integers(-4, 5, (tile[0], 32)).astype(np.float16)
    b = np.random.default_rng(2).integers(-4, 5, (32, tile[1])).astype(np.float16)
    c = np.zeros((tile[0], tile[1]), np.float32)
    np.testing.assert_array_equal(gemm.run(a, b, c), a.astype(np.float32) @ b.astype(np.float32))
    assert ".m64n128k16." in gemm.ptx
    assert ".reqntid 512," in gemm.ptx
    assert gemm.compiled.cubin
