"""Completeness of the patterns of the NVVM conversion."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from each_case import each_case
from lowering import convert, failures, kernel, lowered, read, to_ptx

from tilewright.conversion.nvgpu_to_nvvm import PATTERNS, gpu
from tilewright.conversion.nvgpu_to_nvvm.types import llvm_types
from tilewright.dialects.func import FuncOp
from tilewright.dialects.llvm.functions import FuncOp as LLVMFuncOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import UserError

SOURCES = (
    "arith", "cf", "cute", "cute_nvgpu", "func", "gpu", "math", "memref", "nvgpu", "scf", "ub",
    "vector",
)  # fmt: skip

WITHOUT = {
    "func.constant": "a function as a value has no use: there is no call of one",
    "gpu.module": "a container, which stays",
    "gpu.yield": "the end of a body that is put in place of its operation",
    "scf.condition": "the end of a body that scf.while takes along",
    "scf.yield": "the end of a body that loops and branches take along",
}

GROUP = "!nvgpu.mbarrier.group<memorySpace = 3>"
MAP = (
    "!nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, "
    "l2promo = none, oob = zero, interleave = none>"
)

SIMPLE = {
    "nvgpu.mbarrier.init %b[%n], %n : {group}": "nvvm.mbarrier.init.shared",
    "%a = nvgpu.mbarrier.arrive %b[%n] : {group} -> !nvgpu.mbarrier.token": (
        "nvvm.mbarrier.arrive.shared"
    ),
    "nvgpu.mbarrier.arrive.expect_tx %b[%n], %n : {group}": "nvvm.mbarrier.arrive.expect_tx.shared",
    "nvgpu.tma.prefetch.descriptor %m : {map}": "nvvm.prefetch",
    "nvgpu.tma.async.store %t to %m[%n, %n] : memref<64x64xf16, 3> -> {map}": (
        "nvvm.cp.async.bulk.tensor.global.shared.cta"
    ),
    "%g = nvgpu.device_async_create_group": "nvvm.cp.async.commit.group",
    "nvgpu.device_async_wait %k {{numGroups = 1 : i32}}": "nvvm.cp.async.wait.group",
    "%c = nvgpu.device_async_copy %s[%n], %d[%n], 4 : memref<64xf32, 1> to memref<64xf32, 3>": (
        "nvvm.cp.async.shared.global"
    ),
    "%p = nvgpu.fma.packed.f32x2 %v, %v, %v : vector<2xf32>": "nvvm.fma.packed.f32x2",
    "%p = nvgpu.mul.packed.f32x2 %v, %v : vector<2xf32>": "nvvm.mul.packed.f32x2",
    "gpu.barrier": "nvvm.bar.sync.aligned",
    "%l = gpu.lane_id": "nvvm.read.ptx.sreg.laneid",
}
ARGUMENTS = (
    f"%b: {GROUP}, %m: {MAP}, %n: index, %t: memref<64x64xf16, 3>, %k: !nvgpu.device.async.token, "
    "%s: memref<64xf32, 1>, %d: memref<64xf32, 3>, %v: vector<2xf32>"
)

GPU_SIDE = {
    "%i = gpu.thread_id y": "nvvm.read.ptx.sreg.tid.y",
    "%i = gpu.cluster_block_id x": "nvvm.read.ptx.sreg.cluster.ctaid.x",
    "%i = gpu.cluster_dim_blocks x": "nvvm.read.ptx.sreg.cluster.nctaid.x",
    "gpu.barrier": "nvvm.bar.sync.aligned",
    "%i = gpu.global_id x": "llvm.mul",
    "%d = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>": (
        "llvm.mlir.addressof"
    ),
    "%y, %valid = gpu.shuffle xor %x, %x, %x : i32": "nvvm.shfl.sync",
    "%y = gpu.subgroup_reduce add %x : (i32) -> i32": "nvvm.redux.sync",
    "%y = gpu.all_reduce add %x { } : (i32) -> i32": "nvvm.bar.sync.aligned",
    'gpu.printf "%d", %x : i32': "llvm.call",
    "%y = math.sin %f : f32": "llvm.call",
}


NVGPU_SIDE = {
    "barriers": ("nvvm.mbarrier.init.shared", "nvvm.mbarrier.try_wait.parity.shared"),
    "tma": (
        "nvvm.cp.async.bulk.tensor.shared.cluster.global",
        "nvvm.cp.async.bulk.tensor.global.shared.cta",
        "nvvm.prefetch",
        "nvvm.fence.proxy.acquire",
        "llvm.alloca",
    ),
    "warpgroup": ("nvvm.wgmma.mma_async",),
    "warp": (
        "nvvm.mma.sync",
        "nvvm.ldmatrix",
        "nvvm.cp.async.shared.global",
        "llvm.inline_asm",
    ),
    "packed": (
        "nvvm.rcp.approx.ftz.f",
        "nvvm.convert.f32x2.to.bf16x2",
        "nvvm.fma.packed.f32x2",
        "nvvm.mul.packed.f32x2",
    ),
}
"""Operations that must result from each function of a file with all operations of nvgpu."""
OWN = Path(__file__).parents[2] / "dialects" / "nvgpu" / "own.mlir"


def every_pattern() -> tuple:
    return (*PATTERNS, gpu.BARRIERS["barrier0"])


def roots() -> Counter[type[Operation]]:
    return Counter(root for pattern in every_pattern() for root in pattern.roots)


def operations(name: str) -> dict[str, type[Operation]]:
    dialect = context().dialect(name)
    assert dialect is not None
    return dict(dialect.ops)


@each_case("name", SOURCES)
def test_every_operation_has_a_pattern_or_a_reason(name: str) -> None:
    known = roots()
    missing = {op for op, kind in operations(name).items() if kind not in known}
    assert missing == {op for op in WITHOUT if op.split(".")[0] == name}


@pytest.mark.requirement("R3-045", "R3-046")
@pytest.mark.parametrize("name", ["nvgpu", "cute_nvgpu"])
def test_an_operation_has_one_dedicated_pattern(name: str) -> None:
    kinds = set(operations(name).values())
    known = roots()
    assert {kind.name for kind in kinds if known[kind] != 1} == set()
    shared = [p.name for p in PATTERNS if kinds & set(p.roots) and len(p.roots) != 1]
    assert shared == []


@pytest.mark.requirement("R3-045")
def test_patterns_are_a_table() -> None:
    assert len({pattern.apply for pattern in every_pattern()}) == len(every_pattern())
    assert all(pattern.roots and pattern.name for pattern in every_pattern())


@pytest.mark.requirement("R3-069", kind="behaviour")
def test_all_remaining_types_are_those_of_the_shared_converter() -> None:
    lines = [each.format(group=GROUP, map=MAP) for each in SIMPLE]
    numbered = [line.replace("%p =", f"%p{n} =") for n, line in enumerate(lines)]
    module = convert(kernel("\n".join(numbered), ARGUMENTS))
    types = llvm_types()
    for op in module.walk():
        for value in (*op.operands, *op.results):
            assert types.convert(value.type) == (value.type,), op


@pytest.mark.requirement("R3-070")
@each_case(("line", "name"), SIMPLE.items())
def test_a_simple_row_gives_one_operation(line: str, name: str) -> None:
    text = "\n".join(lowered(line.format(group=GROUP, map=MAP), ARGUMENTS))
    assert text.count("nvvm.") - text.count("#nvvm.") == 1
    assert name in text


@pytest.mark.requirement("R3-004")
@each_case(("line", "name"), GPU_SIDE.items())
def test_the_gpu_side(line: str, name: str) -> None:
    assert any(name in each for each in lowered(line, "%x: i32, %f: f32"))


@pytest.mark.requirement("R3-004")
def test_functions_of_gpu() -> None:
    text = """
    gpu.module @m {
      gpu.func @helper(%x: f32) -> f32 {
        gpu.return %x : f32
      }
    }
    """
    names = [op.name for op in convert(text).walk()]
    assert names == ["builtin.module", "gpu.module", "llvm.func", "llvm.return"]


@pytest.mark.requirement("R3-005")
@pytest.mark.parametrize("family", NVGPU_SIDE)
def test_the_nvgpu_side(family: str) -> None:
    # An unranked tensor is not lowered here.
    module = convert(OWN.read_text().replace("memref<*xbf16>", "memref<64x64xbf16>"))
    function = next(
        op for op in module.walk() if isinstance(op, LLVMFuncOp) and op.sym_name == family
    )
    names = {op.name for op in function.walk()}
    assert set(NVGPU_SIDE[family]) <= names
    assert {name.partition(".")[0] for name in names} == {"llvm", "nvvm"}


@pytest.mark.requirement("R3-022")
def test_an_assertion_without_a_module_for_its_strings() -> None:
    module = read('func.func @f(%c: i1) {\n  cf.assert %c, "m"\n  return\n}')
    function = next(op for op in module.walk() if isinstance(op, FuncOp)).detach()
    before = str(function)
    with pytest.raises(UserError) as caught:
        parse_pipeline("convert-gpu-nvgpu-to-nvvm").run(function)
    (error,) = caught.value.diagnostics
    assert error.message == "failed to legalize operation 'cf.assert' that was marked illegal"
    assert [note.message for note in error.notes] == [
        "expected a module around it for the string constants"
    ]
    assert str(function) == before


@pytest.mark.requirement("R3-036")
@each_case(
    ("size", "is_whole"),
    [("96, 1, 1", True), ("16, 2, 1", True), ("48, 1, 1", False), ("1, 1, 1", False)],
)
def test_block_sizes_are_multiples_of_the_warp_size(size: str, is_whole: bool) -> None:
    attributes = f"attributes {{known_block_size = array<i32: {size}>}}"
    text = kernel("gpu.barrier").replace("kernel {", f"kernel {attributes} {{")
    if not is_whole:
        assert failures(text) == ["failed to legalize operation 'gpu.func' that was marked illegal"]
        return
    ptx = to_ptx(text)
    threads = eval(ptx.split(".reqntid ")[1].split("\n")[0].replace(",", "*"))
    assert threads % 32 == 0


def test_barriers_are_invalidated_by_an_nvvm_op() -> None:
    assert "nvgpu.mbarrier.inval" not in operations("nvgpu")
    body = f"""
        %b = nvgpu.mbarrier.create -> {GROUP}
        %n = arith.constant 1 : index
        nvgpu.mbarrier.init %b[%n], %n : {GROUP}
        %a = builtin.unrealized_conversion_cast %b : {GROUP} to !llvm.ptr<3>
        nvvm.mbarrier.inval.shared %a : !llvm.ptr<3>
    """
    lines = lowered(body)
    assert lines[-1].startswith("nvvm.mbarrier.inval.shared %0")
    assert "mbarrier.inval.shared.b64" in to_ptx(kernel(body))
