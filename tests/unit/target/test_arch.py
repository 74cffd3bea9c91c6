"""The table of GPUs is complete, and ptxas agrees with it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from each_case import each_case

from tilewright.target.arch import (
    ARCHES,
    BASELINE,
    Arch,
    Limits,
    find_arch,
    occupancy,
)
from tilewright.target.features import Feature
from tilewright.target.memories import STATIC_SHARED

NAMES = "80 86 87 88 89 90 100 103 107 110 120 121".split()
EVERY = [pytest.param(arch, id=name) for name, arch in ARCHES.items()]


def test_every_name_that_tileiras_takes_has_a_row() -> None:
    assert list(ARCHES) == [f"sm_{number}" for number in NAMES]


@each_case("arch", EVERY)
def test_rows_are_complete(arch: Arch) -> None:
    assert arch.ptx_target.startswith("sm_")
    assert arch.assembled_as.startswith(arch.name)
    assert Feature.BASE in arch
    assert isinstance(arch.limits, Limits)
    assert STATIC_SHARED <= arch.static_shared <= arch.shared.per_sm - arch.shared.reserved
    assert (arch.max_cluster > 1) == (Feature.CLUSTER in arch)
    assert {"i32", "f16", "bf16", "f32", "f64", "tf32"} <= arch.elements


def test_every_feature_is_somewhere_and_some_are_not_everywhere() -> None:
    for feature in Feature:
        having = [name for name, arch in ARCHES.items() if feature in arch]
        assert having
        assert len(having) < len(ARCHES) or feature is Feature.BASE


def test_every_gpu_has_the_features_of_the_baseline() -> None:
    assert all(ARCHES[BASELINE].features <= arch.features for arch in ARCHES.values())


def test_targets_with_an_architecture_of_their_own() -> None:
    assert ARCHES["sm_90"].ptx_target == "sm_90a"
    assert ARCHES["sm_107"].ptx_target == "sm_100f"
    assert find_arch("sm_90a") is ARCHES["sm_90"]
    assert find_arch("sm_100f") is ARCHES["sm_100"]
    assert find_arch("sm_70") is None


@each_case(
    ("element", "since"),
    [
        ("f16", 80),
        ("f8E4M3FN", 90),
        ("f8E5M2", 90),
        ("f8E8M0FNU", 100),
        ("f4E2M1FN", 100),
    ],
)
def test_element_types_as_tileiras_gates_them(element: str, since: int) -> None:
    assert {a.number for a in ARCHES.values() if element in a.elements} == {
        number for number in map(int, NAMES) if number >= since
    }


def test_one_element_type_of_one_gpu() -> None:
    having = [a.name for a in ARCHES.values() if "fnv8E5M3FNU" in a.elements]
    assert having == ["sm_107"]


PTX = """\
.version 9.0
.target {target}
.address_size 64
.shared .align 16 .b8 s[{shared}];
.visible .entry k(.param .u64 p) .maxntid {threads} .minnctapersm {ctas} {{
  .reg .b64 %rd<2>;
  .reg .b16 %rs<2>;
  ld.param.b64 %rd1, [p];
  ld.shared.b8 %rs1, [s];
  st.global.b8 [%rd1], %rs1;
  ret;
}}
"""


def complaints(
    ptxas: Path, folder: Path, arch: Arch, *, shared: int = 16, threads: int = 32, ctas: int = 1
) -> str:
    source = folder / "k.ptx"
    text = PTX.format(target=arch.ptx_target, shared=shared, threads=threads, ctas=ctas)
    source.write_text(text)
    command = [ptxas, f"-arch={arch.assembled_as}", source, "-o", folder / "k.cubin"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.sampled(4)
def test_ptxas_knows_the_limits(arch: Arch, ptxas: Path, tmp_path: Path) -> None:
    limits = arch.limits
    assert not complaints(ptxas, tmp_path, arch, shared=arch.static_shared)
    assert "too much shared" in complaints(ptxas, tmp_path, arch, shared=arch.static_shared + 1)
    assert not complaints(ptxas, tmp_path, arch, ctas=limits.ctas)
    assert "out of range" in complaints(ptxas, tmp_path, arch, ctas=limits.ctas + 1)
    per_cta = limits.warps * 32 // 4
    assert not complaints(ptxas, tmp_path, arch, threads=per_cta, ctas=4)
    assert "out of range" in complaints(ptxas, tmp_path, arch, threads=per_cta, ctas=5)


@each_case(
    ("threads", "registers", "shared", "expected"),
    [
        (128, 32, 0, 16),  # 64 warps
        (128, 255, 0, 2),  # 8192 registers a warp, two in each part of the SM: eight warps
        (384, 168, 229904, 1),  # the shared memory of one is all there is
        (1024, 64, 0, 1),
        (1024, 65, 0, 0),  # 2304 registers a warp: seven in a part of the SM, 28 in all
        (32, 16, 0, 32),  # as many CTAs as an SM takes
        (32, 0, 100 * 1024, 2),
        (2048, 16, 0, 0),
    ],
)
def test_occupancy_of_an_h200(threads: int, registers: int, shared: int, expected: int) -> None:
    arch = ARCHES["sm_90"]
    assert occupancy(arch, threads=threads, registers=registers, shared=shared) == expected
