"""nvgpu's conversions of pairs and packed arithmetic to NVVM and PTX."""

from __future__ import annotations

import pytest
from each_case import each_case
from lowering import kernel, lowered, to_ptx

from tilewright.support.diagnostics import Unsupported

PAIR = "vector<2xf32>"
TRUNCATIONS = {
    ("f32", "f16", ""): ("nvvm.convert.f32x2.to.f16x2", "cvt.rn.f16x2.f32", "sm_80"),
    ("f32", "f16", "relu"): ("nvvm.convert.f32x2.to.f16x2", "cvt.rn.relu.f16x2.f32", "sm_80"),
    ("f32", "bf16", "rz"): ("nvvm.convert.f32x2.to.bf16x2", "cvt.rz.bf16x2.f32", "sm_80"),
    ("f32", "f8E4M3FN", ""): (
        "nvvm.convert.f32x2.to.f8x2",
        "cvt.rn.satfinite.e4m3x2.f32",
        "sm_89",
    ),
    ("f32", "f8E5M2", "relu"): (
        "nvvm.convert.f32x2.to.f8x2",
        "cvt.rn.satfinite.relu.e5m2x2.f32",
        "sm_90",
    ),
    ("f16", "f8E4M3FN", ""): (
        "nvvm.convert.f16x2.to.f8x2",
        "cvt.rn.satfinite.e4m3x2.f16x2",
        "sm_90",
    ),
    ("f16", "f8E5M2", ""): (
        "nvvm.convert.f16x2.to.f8x2",
        "cvt.rn.satfinite.e5m2x2.f16x2",
        "sm_90",
    ),
    ("f32", "f6E2M3FN", ""): (
        "nvvm.convert.f32x2.to.f6x2",
        "cvt.rn.satfinite.e2m3x2.f32",
        "sm_100",
    ),
    ("f32", "f6E3M2FN", ""): (
        "nvvm.convert.f32x2.to.f6x2",
        "cvt.rn.satfinite.e3m2x2.f32",
        "sm_100",
    ),
    ("f32", "f4E2M1FN", ""): (
        "nvvm.convert.f32x2.to.f4x2",
        "cvt.rn.satfinite.e2m1x2.f32",
        "sm_100",
    ),
    ("f32", "f8E8M0FNU", "rz"): (
        "nvvm.convert.f32x2.to.f8x2",
        "cvt.rz.satfinite.ue8m0x2.f32",
        "sm_100",
    ),
    ("bf16", "f8E8M0FNU", "rp"): (
        "nvvm.convert.bf16x2.to.f8x2",
        "cvt.rp.satfinite.ue8m0x2.bf16x2",
        "sm_100",
    ),
}
EXTENSIONS = {
    ("f8E4M3FN", "f16"): ("nvvm.convert.f8x2.to.f16x2", "cvt.rn.f16x2.e4m3x2", "sm_89"),
    ("f8E5M2", "f16"): ("nvvm.convert.f8x2.to.f16x2", "cvt.rn.f16x2.e5m2x2", "sm_90"),
    ("f6E2M3FN", "f16"): ("nvvm.convert.f6x2.to.f16x2", "cvt.rn.f16x2.e2m3x2", "sm_100"),
    ("f4E2M1FN", "f16"): ("nvvm.convert.f4x2.to.f16x2", "cvt.rn.f16x2.e2m1x2", "sm_100"),
    ("f8E8M0FNU", "bf16"): ("nvvm.convert.f8x2.to.bf16x2", "cvt.rn.bf16x2.ue8m0x2", "sm_100"),
}
STORED = {"f8E4M3FN": 8, "f8E5M2": 8, "f8E8M0FNU": 8, "f6E2M3FN": 6, "f6E3M2FN": 6, "f4E2M1FN": 4}


def attributes(mode: str) -> str:
    if not mode:
        return ""
    return " {relu}" if mode == "relu" else f" {{rounding = #nvgpu.packed_rounding<{mode}>}}"


def through_memory(op: str, source: str, target: str) -> str:
    """A kernel that converts eight floats; fp8 and narrower are int8 in memory."""
    bits = [STORED.get(type, 0) for type in (source, target)]
    read = f"{bits[0]}xi8" if bits[0] else f"8x{source}"
    write = f"{bits[1]}xi8" if bits[1] else f"8x{target}"
    body = f"""
        %c0 = arith.constant 0 : index
        %x = vector.load %a[%c0] : memref<{read}, 1>, vector<{read}>
        %v = vector.bitcast %x : vector<{read}> to vector<8x{source}>
        %r = {op}
        %y = vector.bitcast %r : vector<8x{target}> to vector<{write}>
        vector.store %y, %b[%c0] : memref<{write}, 1>, vector<{write}>
    """
    return kernel(body, f"%a: memref<{read}, 1>, %b: memref<{write}, 1>")


@pytest.mark.requirement("R3-017", "R3-067")
@each_case(("source", "target", "mode"), TRUNCATIONS)
def test_truncation(source: str, target: str, mode: str) -> None:
    name, instruction, arch = TRUNCATIONS[source, target, mode]
    op = f"nvgpu.cvt_fptrunc %v{attributes(mode)} : vector<8x{source}> to vector<8x{target}>"
    lines = lowered(f"%r = {op}", f"%v: vector<8x{source}>")
    assert sum(f"= {name} " in line for line in lines) == 4
    ptx = to_ptx(through_memory(op, source, target), arch)
    assert ptx.count(f"{instruction} ") == 4


@pytest.mark.requirement("R3-017", "R3-067")
@each_case(("source", "target"), EXTENSIONS)
def test_extension(source: str, target: str) -> None:
    name, instruction, arch = EXTENSIONS[source, target]
    op = f"nvgpu.cvt_fpext %v : vector<8x{source}> to vector<8x{target}>"
    lines = lowered(f"%r = {op}", f"%v: vector<8x{source}>")
    assert sum(f"= {name} " in line for line in lines) == 4
    ptx = to_ptx(through_memory(op, source, target), arch)
    assert ptx.count(f"{instruction} ") == 4


@pytest.mark.requirement("R3-067")
@pytest.mark.parametrize("source", ["f16", "bf16"])
def test_f16_and_bf16_are_extended_by_fpext(source: str) -> None:
    body = f"%r = nvgpu.cvt_fpext %v : vector<4x{source}> to vector<4xf32>"
    assert lowered(body, f"%v: vector<4x{source}>") == [
        f"%0 = llvm.fpext %arg0 : vector<4x{source}> to vector<4xf32>"
    ]


def test_a_vector_of_several_rows_converts_row_by_row() -> None:
    body = "%r = nvgpu.cvt_fptrunc %v : vector<2x2xf32> to vector<2x2xf8E4M3FN>"
    lines = lowered(body, "%v: vector<2x2xf32>")
    # The second of a pair is the high half: 1 and 0, 3 and 2.
    assert [line.split(" {")[0].split("f8x2 ")[1] for line in lines if "f8x2" in line] == [
        "%3, %1",
        "%7, %5",
    ]


ARITHMETIC = {
    "nvgpu.fma.packed.f32x2 %v, %v, %v": ("nvvm.fma.packed.f32x2", "fma.rn.f32x2"),
    "nvgpu.mul.packed.f32x2 %v, %v": ("nvvm.mul.packed.f32x2", "mul.rn.f32x2"),
    "nvgpu.mul.packed.f32x2 %v, %v {rounding = #nvgpu.packed_rounding<rz>, ftz}": (
        "nvvm.mul.packed.f32x2",
        "mul.rz.ftz.f32x2",
    ),
}


def arithmetic(op: str) -> str:
    body = f"""
        %c0 = arith.constant 0 : index
        %v = vector.load %a[%c0] {{alignment = 8 : i64}} : memref<2xf32, 1>, {PAIR}
        %r = {op} : {PAIR}
        vector.store %r, %a[%c0] {{alignment = 8 : i64}} : memref<2xf32, 1>, {PAIR}
    """
    return kernel(body, "%a: memref<2xf32, 1>")


@pytest.mark.requirement("R3-017", "R3-068")
@each_case("op", ARITHMETIC)
def test_packed_arithmetic(op: str) -> None:
    name, instruction = ARITHMETIC[op]
    (line,) = lowered(f"%r = {op} : {PAIR}", f"%v: {PAIR}")
    assert line.split()[2] == name
    ptx = to_ptx(arithmetic(op), "sm_100")
    assert ptx.count(f"{instruction} ") == 1


@pytest.mark.requirement("R3-068")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_older_gpus_have_no_packed_arithmetic(arch: str) -> None:
    with pytest.raises(Unsupported, match="arithmetic on pairs of f32"):
        to_ptx(arithmetic("nvgpu.mul.packed.f32x2 %v, %v"), arch)
