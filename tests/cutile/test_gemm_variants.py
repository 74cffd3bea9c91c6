"""The GEMM variants of `benchmarks/variant_cases.py` on small operands, against NumPy in f32."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from cutile_launches import check_variant, emulated, interpreted
from variant_cases import VARIANTS
from variant_resources import Usage, report_resources, summary
from variant_sizes import Variant
from variant_timing import cases, times_of

TOLERANCE = 5e-3
"""As a fraction of the largest element: a little more than the rounding of bf16."""


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)
@pytest.mark.sampled(12)
def test_result(variant: Variant) -> None:
    check_variant(variant, interpreted, TOLERANCE)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)
def test_compiled_result(variant: Variant) -> None:
    check_variant(variant, emulated, TOLERANCE)


def test_names_are_unique() -> None:
    names = [name for name, _, _ in cases(VARIANTS)]
    assert len(names) == len(set(names))


def test_times_of_another_run() -> None:
    output = (
        "raster 4096x4096x4096 128x128x64 (chosen) 211.5 us 650 TFLOP/s, differs by 0.0003\n"
        "swiglu 4096x4096x4096 128x128x64 (chosen) rejected: no registers left\n"
    )
    assert times_of(output) == {"raster 4096x4096x4096 128x128x64": 211.5}


def test_resources_need_no_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    selected = list(cases(VARIANTS, "^small-tiles .* 32x32x32"))
    assert report_resources(selected, [], jobs=1) == 0
    line, counts = capsys.readouterr().out.splitlines()
    resources = r"\d+ registers, \d+ bytes of shared memory, spills 0\+0 bytes"
    assert re.fullmatch(rf"small-tiles 1024x1024x1024 32x32x32 \(chosen\): {resources}", line)
    assert counts == "1 kernels: 0 spill, 0 have warnings of wgmma, 0 do not compile"


def test_kernels_with_spills_and_warnings_are_counted() -> None:
    usages = [
        Usage("a", registers=255, shared=1024, spills=(8, 4), warnings=("C7510",)),
        Usage("b", "no registers left"),
        Usage("c", registers=40),
    ]
    assert str(usages[0]).endswith(
        "255 registers, 1024 bytes of shared memory, spills 8+4 bytes, C7510"
    )
    assert str(usages[1]) == "b: no registers left"
    assert summary(usages) == ("3 kernels: 1 spill, 1 have warnings of wgmma, 1 do not compile")
