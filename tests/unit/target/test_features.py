"""The features of each GPU, checked with ptxas: it accepts or rejects an instruction."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tilewright.target.arch import ARCHES, Arch
from tilewright.target.features import Feature

INSTRUCTIONS = {
    Feature.BASE: "redux.sync.add.s32 %r1, %r1, -1;",
    Feature.FP8: "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f1;",
    Feature.BF16_ATOMICS: "atom.global.add.noftz.bf16 %h1, [%rd1], %h1;",
    Feature.CLUSTER: "mov.u32 %r1, %cluster_ctarank;",
    Feature.PROGRAMMATIC_LAUNCH: "griddepcontrol.wait;",
    Feature.TMA: "cp.async.bulk.commit_group;",
    Feature.STMATRIX: "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%rd1], {%r1};",
    Feature.F64_MMA: (
        "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%d1, %d1, %d1, %d1}, {%d1, %d1}, "
        "{%d1}, {%d1, %d1, %d1, %d1};"
    ),
    Feature.VECTOR_REDUCTIONS: "red.global.v2.f32.add [%rd1], {%f1, %f1};",
    Feature.MULTIMEM: "multimem.st.weak.global.f32 [%rd1], %f1;",
    Feature.SETMAXNREG: "setmaxnreg.inc.sync.aligned.u32 64;",
    Feature.WGMMA: "wgmma.fence.sync.aligned;",
    Feature.PACKED_F32: "add.rn.f32x2 %rd1, %rd1, %rd1;",
    Feature.WIDE_ACCESS: "ld.global.v4.b64 {%rd1, %rd2, %rd3, %rd4}, [%rd1];",
    Feature.BULK_STORE: "st.bulk.shared::cta [%rd1], %rd2, 0;",
    Feature.NARROW_FLOATS: "cvt.rp.satfinite.ue8m0x2.f32 %h1, %f1, %f1;",
    Feature.F32_REDUX: "redux.sync.max.f32 %f1, %f1, -1;",
    Feature.RANDOM_ROUNDING: "cvt.rs.bf16x2.f32 %r1, %f1, %f1, %r2;",
    Feature.TMA_EXTENDED: (
        "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
        "[%rd1, {%r1, %r1, %r1, %r1, %r1}], [%rd2];"
    ),
    Feature.TENSORMAP_FIELDS: (
        "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%rd1], 1;"
    ),
    Feature.TENSOR_MEMORY: "tcgen05.fence::before_thread_sync;",
    Feature.NARROW_MMA: (
        "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {%f1, %f1, %f1, %f1}, "
        "{%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1};"
    ),
}

HEAD = """\
.version 9.0
.target {target}
.address_size 64
"""
ENTRY = """\
.visible .entry {name}() .maxntid 128 {{
.reg .b16 %h<5>; .reg .b32 %r<5>; .reg .f32 %f<5>; .reg .f64 %d<5>; .reg .b64 %rd<5>;
{instruction}
ret;
}}
"""

NEWER_THAN_LLVM = {("sm_110", Feature.F32_REDUX)}
"""Features of ptxas that LLVM 22 lacks, so that we do not claim them."""


def wrong_lines(ptxas: Path, folder: Path, arch: Arch, features: list[Feature]) -> set[Feature]:
    """Return the features whose instructions ptxas rejects, tried all at once."""
    parts = [HEAD.format(target=arch.ptx_target)]
    parts += [ENTRY.format(name=each.name, instruction=INSTRUCTIONS[each]) for each in features]
    source = folder / "k.ptx"
    source.write_text("".join(parts))
    command = [ptxas, f"-arch={arch.assembled_as}", source, "-o", folder / "k.cubin"]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = {int(number) for number in re.findall(r"line (\d+); error", done.stderr)}
    assert bool(done.returncode) == bool(lines), done.stderr
    size = ENTRY.count("\n")
    return {features[(line - 1 - HEAD.count("\n")) // size] for line in lines}


def test_every_feature_has_an_instruction() -> None:
    assert set(INSTRUCTIONS) == set(Feature)


@pytest.mark.parametrize("arch", [pytest.param(a, id=a.name) for a in ARCHES.values()])
def test_ptxas_agrees_with_the_features(arch: Arch, ptxas: Path, tmp_path: Path) -> None:
    having = [feature for feature in Feature if feature in arch]
    missing = [feature for feature in Feature if feature not in arch]
    missing = [feature for feature in missing if (arch.name, feature) not in NEWER_THAN_LLVM]
    assert wrong_lines(ptxas, tmp_path, arch, having) == set()
    assert wrong_lines(ptxas, tmp_path, arch, missing) == set(missing)
