"""The kernels of `benchmarks/validation_cases.py` on small operands, against NumPy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from cutile_launches import check_variant, emulated, interpreted
from validation_cases import VARIANTS
from variant_sizes import Variant
from variant_timing import cases


@pytest.mark.sampled(10)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)
def test_result(variant: Variant) -> None:
    check_variant(variant, interpreted)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)
def test_compiled_result(variant: Variant) -> None:
    check_variant(variant, emulated)


def test_names_are_unique() -> None:
    names = [name for name, _, _ in cases(VARIANTS)]
    assert len(names) == len(set(names))


def test_each_kernel_has_one_shape_and_four_tiles() -> None:
    assert len(VARIANTS) == 40
    for variant in VARIANTS:
        shapes, tiles = zip(*variant.sizes, strict=True)
        assert len(set(shapes)) == 1
        assert len(set(tiles)) == len(tiles) == 4
