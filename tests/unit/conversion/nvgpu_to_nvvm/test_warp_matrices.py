"""nvgpu's ldmatrix, mma.sync and sparse mma to NVVM."""

from __future__ import annotations

from pathlib import Path

import pytest
from each_case import each_case
from low_programs import check, emulate
from lowering import convert, failures, kernel, lowered, read, to_ptx
from programs import parse_runs

from tilewright.dialects.llvm.calls import InlineAsmOp
from tilewright.dialects.nvgpu.warp import MmaSparseSyncOp
from tilewright.support.diagnostics import UserError
from tilewright.target.tensor_cores import MMA, SPARSE_MMA, DotAtom, fragment_registers

PROGRAMS = Path(__file__).parents[3] / "run" / "low"
ELEMENTS = {
    "f16": "f16",
    "bf16": "bf16",
    "tf32": "f32",
    "f32": "f32",
    "f64": "f64",
    "s8": "i8",
    "u8": "ui8",
    "s4": "i4",
    "u4": "ui4",
    "b1": "i1",
    "s32": "i32",
    "e4m3": "f8E4M3FN",
    "e5m2": "f8E5M2",
}
"""The element types of nvgpu by their names in PTX."""
BITS = {"f64": 64, "tf32": 32, "f16": 16, "bf16": 16, "s4": 4, "u4": 4, "b1": 1}
REGISTER = {"f16": "vector<2xf16>", "f32": "f32", "f64": "f64"}


def run(name: str) -> None:
    """Run a program on the emulator, with its checker on."""
    path = PROGRAMS / name
    text = path.read_text()
    for each in parse_runs(text):
        check(each, text, path.name, emulate(each, text, path.name, seed=1))


def ldmatrix(count: int, transpose: bool = False, element: str = "f16", held: int = 2) -> list[str]:
    source = f"memref<32x8x{element}, 3>"
    body = (
        f"%v = nvgpu.ldmatrix %s[%i, %i] "
        f"{{numTiles = {count} : i32, transpose = {str(transpose).lower()}}} "
        f": {source} -> vector<{count}x{held}x{element}>"
    )
    return lowered(body, f"%s: {source}, %i: index")


@pytest.mark.requirement("R3-014", "R3-100")
@each_case("count", [1, 2, 4])
@each_case(("transpose", "layout"), [(False, "row"), (True, "col")])
def test_count_and_transposition_of_ldmatrix(count: int, transpose: bool, layout: str) -> None:
    (line,) = [line for line in ldmatrix(count, transpose) if "ldmatrix" in line]
    assert f"{{layout = #nvvm.mma_layout<{layout}>, num = {count} : i32}}" in line


@pytest.mark.requirement("R3-101")
@each_case(
    ("count", "type"),
    [(1, "i32"), (2, "!llvm.struct<(i32, i32)>"), (4, "!llvm.struct<(i32, i32, i32, i32)>")],
)
def test_registers_of_ldmatrix(count: int, type: str) -> None:
    (line,) = [line for line in ldmatrix(count) if "ldmatrix" in line]
    assert line.endswith(f": (!llvm.ptr<3>) -> {type}")


@pytest.mark.requirement("R3-063", "R3-102", kind="behaviour")
@each_case("count", [1, 2, 4])
@each_case(("element", "held"), [("f16", 2), ("i8", 4), ("f32", 1), ("f8E4M3FN", 4), ("bf16", 2)])
def test_registers_become_one_vector(count: int, element: str, held: int) -> None:
    lines = ldmatrix(count, element=element, held=held)
    lines = lines[next(i for i, line in enumerate(lines) if "ldmatrix" in line) + 1 :]
    taken = [line for line in lines if "llvm.extractvalue" in line]
    put = [line for line in lines if "llvm.insertelement" in line]
    assert len(taken) == (count if count > 1 else 0)
    assert [line.rsplit(" : ")[-1] for line in put] == [f"vector<{count}xi32>"] * count
    stored = {"f8E4M3FN": "i8"}.get(element, element)
    assert lines[-1].endswith(f": vector<{count}xi32> to vector<{count * held}x{stored}>")


@pytest.mark.requirement("R3-063")
@pytest.mark.parametrize("name", ["mma/f16.mlir", "mma/transposed.mlir", "mma/s8.mlir"])
def test_results_of_ldmatrix(name: str) -> None:
    run(name)


def mmas(table: tuple[DotAtom, ...]) -> list[tuple[str, str, str, tuple[int, int, int]]]:
    return [
        (a, b, accumulator, shape)
        for row in table
        for a, b in sorted(row.multiplicands)
        for accumulator in sorted(row.accumulators)
        for shape in row.shapes
    ]


def fragment(letter: str, type: str, shape: tuple[int, int, int], sparse: bool = False) -> str:
    """The vector type of a fragment: registers, and elements of each; C has pairs."""
    element = ELEMENTS[type]
    if letter == "c":
        return f"vector<{shape[0] * shape[1] // 64}x2x{element}>"
    count = fragment_registers(shape, letter, type, sparse=sparse)
    held = 1 if type == "f64" else 32 // BITS.get(type, 8)
    return f"vector<{count}x{held}x{element}>"


def mma_kernel(
    name: str, a: str, b: str, sum: str, shape: tuple[int, int, int], sparse: bool = False
) -> str:
    va, vb = fragment("a", a, shape, sparse), fragment("b", b, shape)
    vc = fragment("c", sum, shape)
    meta = " metadata(%m)" if sparse else ""
    arguments = f"%a: {va}, %b: {vb}, %c: {vc}, %m: vector<2xi16>"
    body = (
        f"%d = nvgpu.{name}(%a, %b, %c){meta} {{mmaShape = {list(shape)}}} "
        f": ({va}, {vb}, {vc}) -> {vc}"
    )
    return kernel(body, arguments)


@pytest.mark.requirement("R3-014", "R3-062")
@each_case(("a", "b", "sum", "shape"), mmas(MMA))
def test_every_mma_of_the_hardware(a: str, b: str, sum: str, shape: tuple[int, int, int]) -> None:
    module = convert(mma_kernel("mma.sync", a, b, sum, shape))
    (mma,) = [op for op in module.walk() if op.name == "nvvm.mma.sync"]
    assert str(mma.attributes["multiplicandAPtxType"]) == f"#nvvm.mma_type<{a}>"
    assert str(mma.attributes["multiplicandBPtxType"]) == f"#nvvm.mma_type<{b}>"
    m, n, k = shape
    register = REGISTER.get(sum, "i32")
    count = m * n // 32 // (2 if sum == "f16" else 1)
    assert str(mma.results[0].type) == f"!llvm.struct<({', '.join([register] * count)})>"
    assert str(mma.attributes["shape"]) == f"m{m}n{n}k{k}"


@pytest.mark.parametrize(
    ("element", "shape", "message"),
    [
        ("f16", (8, 8, 8), "f16 and f16 to f16 with the shape m8n8k8"),
        ("i8", (16, 16, 32), "s8 and s8 to s32 with the shape m16n16k32"),
    ],
)
def test_mmas_that_the_hardware_lacks(
    element: str, shape: tuple[int, int, int], message: str
) -> None:
    a = {"f16": "f16", "i8": "s8"}[element]
    text = mma_kernel("mma.sync", a, a, "f16" if a == "f16" else "s32", shape)
    (error,) = failures(text)
    assert "nvgpu.mma.sync" in error
    with pytest.raises(UserError) as caught:
        convert(text)
    assert f"expected an mma that the hardware has, got {message}" in caught.value.render()


@pytest.mark.requirement("R3-062")
@pytest.mark.parametrize(
    "name", ["bf16", "tf32", "f64", "f64_deep", "s4", "b1", "f8"], ids=lambda name: str(name)
)
def test_results_of_mma(name: str) -> None:
    run(f"mma/{name}.mlir")


@pytest.mark.requirement("R3-016", "R3-065")
@each_case(("a", "b", "sum", "shape"), mmas(SPARSE_MMA))
def test_a_sparse_mma_is_inline_assembly(
    a: str, b: str, sum: str, shape: tuple[int, int, int]
) -> None:
    module = convert(mma_kernel("mma.sp.sync", a, b, sum, shape, sparse=True))
    (made,) = [op for op in module.walk() if isinstance(op, InlineAsmOp)]
    m, n, k = shape
    name = f"mma.sp.sync.aligned.m{m}n{n}k{k}.row.col.{sum}.{a}.{b}.{sum}"
    assert made.asm_string.startswith(f"{name} {{$0, $1")
    assert made.asm_string.endswith(", 0;")
    assert made.convergent
    assert not made.has_side_effects


@pytest.mark.requirement("R3-065")
def test_a_sparse_mma_in_ptx() -> None:
    ptx = to_ptx((PROGRAMS / "mma" / "sparse_f16.mlir").read_text(), "sm_80")
    assert ptx.count("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {") == 1
    assert (
        ptx.count("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {") == 1
    )
    assert ptx.count("mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {") == 1
    assert ptx.count("mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {") == 1


@pytest.mark.requirement("R3-065")
@pytest.mark.parametrize("name", ["f16", "tf32", "s8", "f8"])
def test_results_of_sparse_mma(name: str) -> None:
    run(f"mma/sparse_{name}.mlir")


@pytest.mark.requirement("R3-107")
def test_nothing_else_is_inline_assembly() -> None:
    names = {"asm": 0, "programs": 0}
    for path in sorted(PROGRAMS.rglob("*.mlir")):
        text = path.read_text()
        if "gpu.func" not in text or "llvm.inline_asm" in text:
            continue
        sparse = sum(isinstance(op, MmaSparseSyncOp) for op in read(text).walk())
        module = convert(text, "convert-scf-to-cf,convert-gpu-nvgpu-to-nvvm")
        count = sum(isinstance(op, InlineAsmOp) for op in module.walk())
        assert count == sparse, path
        names["asm"] += count
        names["programs"] += 1
    assert names["asm"] >= 8
    assert names["programs"] >= 30
