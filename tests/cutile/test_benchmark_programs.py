"""`benchmarks/benchmark_programs.py` writes all variants, and the same bytes as before."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from benchmark_programs import VARIANTS, variant_programs
from program_archive import ARCHIVE, unpacked
from variant_timing import cases

PROGRAMS = unpacked(ARCHIVE.read_bytes())


def test_every_case_is_in_the_archive_and_no_other() -> None:
    expected = {
        f"{group}/{name.replace(' ', '-')}"
        for group, variants in VARIANTS.items()
        for name, _, _ in cases(variants)
    }
    archived = [name for name in PROGRAMS if not name.startswith("rows/")]
    assert [name for name in archived if not name.startswith(tuple(expected))] == []
    assert [name for name in expected if not any(each.startswith(name) for each in archived)] == []


@pytest.mark.parametrize(("group", "name"), [("gemm", "raster"), ("attention", "gradients")])
def test_writing_a_variant_anew_gives_the_same_bytes(group: str, name: str) -> None:
    variants = [each for each in VARIANTS[group] if each.name == name]
    written = list(variant_programs(group, variants))
    assert written
    assert [program for program in written if PROGRAMS[program.name] != program.code] == []
