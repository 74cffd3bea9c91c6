"""The lowering pipeline from Tile IR to PTX: the dialects of each level, and the PTX."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.driver.compile import CompiledModule, compile
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.ir.types import TensorType
from tilewright.ir.values import BlockArgument, Value
from tilewright.text.parser import parse_text

KERNELS = Path(__file__).parents[1] / "run" / "kernels"

ADD = """cuda_tile.module @kernels {
  entry @add(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %i = iota : tile<64xi32>
    %a = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %b = broadcast %a : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %p = offset %b, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %c = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
    %d = broadcast %c : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %q = offset %d, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    TOKEN
    %v, %t = load_ptr_tko weak %p BEFORE : tile<64xptr<f32>> -> tile<64xf32>, token
    %w = addf %v, %v : tile<64xf32>
    %u = store_ptr_tko weak %q, %w : tile<64xptr<f32>>, tile<64xf32> -> token
    return
  }
}
"""


@cache
def compiled(name: str) -> CompiledModule:
    """A kernel, which several tests look at."""
    return compile((KERNELS / f"{name}.mlir").read_text(), arch="sm_90")


@cache
def stage(name: str, level: str) -> Operation:
    """A level of a kernel, as its text says it."""
    return parse_text(compiled(name).stages[level], context())


def dialects(text: str) -> set[str]:
    return {op.dialect for op in parse_text(text, context()).walk()}


@pytest.mark.requirement("R1-001")
@pytest.mark.parametrize("name", ["add", "softmax", "gemm", "attention"])
def test_pure_tile_ir_compiles(name: str) -> None:
    files = [file for file in KERNELS.glob("*.mlir") if name in file.stem]
    shortest = min(files, key=lambda file: file.stat().st_size)
    assert dialects(shortest.read_text()) <= {"cuda_tile", "builtin"}
    assert compiled(shortest.stem).cubin.startswith(b"\x7fELF")


@pytest.mark.requirement("R1-002")
def test_every_entry_is_a_kernel() -> None:
    entries = "".join([f"entry @k{n}(%x: tile<ptr<f32>>) {{ return }}\n" for n in range(3)])
    ptx = compile(f"cuda_tile.module @m {{ {entries} }}", arch="sm_90", emit="ptx").ptx
    assert re.findall(r"\.visible \.entry (\w+)", ptx) == ["k0", "k1", "k2"]


@pytest.mark.requirement("R1-006")
def test_tokens_cost_nothing() -> None:
    """A load after a fresh token compiles to the same code as one without."""
    with_token = ADD.replace("TOKEN", "%s = make_token : token").replace("BEFORE", "token = %s")
    without = ADD.replace("TOKEN", "").replace("BEFORE", "")
    assert (
        compile(with_token, arch="sm_90", emit="ptx").ptx
        == compile(without, arch="sm_90", emit="ptx").ptx
    )


def values(module: Operation) -> Iterator[Value]:
    """Every result and block argument."""
    for op in module.walk():
        yield from op.results
        yield from (arg for region in op.regions for block in region.blocks for arg in block.args)


@pytest.mark.requirement("R2-057")
def test_no_tokens_below_nv_tileas() -> None:
    """A loop carries a token: neither a result nor a block argument is one at the next level."""
    above, below = (stage("scan", level) for level in ("nv_tileas", "nvgpu"))
    tokens = [value for value in values(above) if value.type is MEM_TOKEN]
    assert any(isinstance(token, BlockArgument) for token in tokens)
    assert not [value for value in values(below) if value.type is MEM_TOKEN]


@pytest.mark.requirement("R1-054")
def test_source_lines_are_in_ptx_on_request() -> None:
    text = ADD.replace("TOKEN", "").replace("BEFORE", "")
    with_lines = compile(text, arch="sm_90", emit="ptx", line_info=True).ptx
    assert re.search(r"\.loc\s+\d+ 11 ", with_lines)
    assert ".file" in with_lines
    assert ".loc" not in compile(text, arch="sm_90", emit="ptx").ptx


GEMMS = {"gemm": "nvgpu.mma.sync", "gemm_warpgroups": "cute_nvgpu.wgmma.issue"}
"""Two matmuls, and their mma operation at the nvgpu level on sm_90."""

LEVELS = {
    "cuda_tile": {"cuda_tile"},
    "nv_tileaa": {"nv_tileaa"},
    "nv_tileas": {"nv_tileaa", "nv_tileas"},
    "nvgpu": {"cute_nvgpu", "nvgpu", "nvvm", "llvm"},
    "nvvm": {"nvvm", "llvm"},
}
"""The level dialects that each level may contain."""


@pytest.mark.requirement("R1-063")
@pytest.mark.parametrize("name", GEMMS)
def test_levels_follow_each_other(name: str) -> None:
    """cute_nvgpu and nvgpu are one level."""
    stages = compiled(name).stages
    assert list(stages) == [*LEVELS, "llvm", "ptx"]
    leveled = set().union(*LEVELS.values())
    for level, allowed in LEVELS.items():
        counts = Counter(op.dialect for op in stage(name, level).walk())
        assert leveled & counts.keys() <= allowed, level
        assert counts[GEMMS[name].partition(".")[0] if level == "nvgpu" else level], level
        assert (GEMMS[name] in stages[level]) == (level == "nvgpu")
    assert "define" in stages["llvm"]


@pytest.mark.requirement("R3-071")
@pytest.mark.parametrize(
    ("name", "above", "below"),
    [
        ("gemm", "nvgpu.mma.sync", "nvvm.mma.sync"),
        ("gemm_warpgroups", "cute_nvgpu.wgmma.issue", "nvvm.wgmma.steps"),
    ],
)
def test_the_nvvm_conversion_lowers_cute_nvgpu_and_nvgpu(name: str, above: str, below: str) -> None:
    """Each mma has a counterpart one level below, and no op of either dialect is left."""
    threads, last = (stage(name, level) for level in ("nvgpu", "nvvm"))
    issued = [op for op in threads.walk() if op.name == above]
    assert issued
    assert len([op for op in last.walk() if op.name == below]) == len(issued)
    assert not {"cute_nvgpu", "nvgpu"} & {op.dialect for op in last.walk()}


TRANSPOSED = """cuda_tile.module @kernels {
  entry @turn(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %v = make_tensor_view %x, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
    %p = make_partition_view %v : partition_view<tile=(4096), tensor_view<4096xf32, strides=[1]>>
    %w = make_tensor_view %y, shape = [64, 64], strides = [64, 1]
        : tensor_view<64x64xf32, strides=[64,1]>
    %q = make_partition_view %w
        : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %i = constant <i32: 0> : tile<i32>
    %a, %t = load_view_tko weak %p[%i]
        : partition_view<tile=(4096), tensor_view<4096xf32, strides=[1]>>, tile<i32>
        -> tile<4096xf32>, token
    %b = reshape %a : tile<4096xf32> -> tile<64x64xf32>
    %c = permute %b [1, 0] : tile<64x64xf32> -> tile<64x64xf32>
    %u = store_view_tko weak %c, %q[%i, %i] token = %t
        : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>,
          tile<i32> -> token
    return
  }
}
"""


def tensor(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


@pytest.mark.requirement("R0-078")
def test_layouts_are_converted_between_producers_and_consumers() -> None:
    """In a matmul, for instance between a dot and the store of its result."""
    before, after = (stage("gemm_warpgroups", level) for level in ("nv_tileaa", "nv_tileas"))
    types = [value.type for value in values(before)]
    assert not [type for type in types if isinstance(type, TensorType) and type.encoding]
    views = [op for op in after.walk() if op.name == "nv_tileas.view"]
    assert len(views) >= len([op for op in before.walk() if op.name == "nv_tileaa.view"]) > 0
    assert all(tensor(view.operands[0]).encoding for view in views)
    assert all(tensor(view.results[0]).encoding for view in views)
    conversions = [op for op in after.walk() if op.name == "nv_tileas.convert_layout"]
    for op in conversions:
        source, target = tensor(op.operands[0]), tensor(op.results[0])
        assert (source.shape, source.element) == (target.shape, target.element)
        assert source.encoding is not target.encoding
    edges = {
        (producer.name, user.name)
        for op in conversions
        for producer in [op.operands[0].defining_op()]
        for user in op.results[0].users
        if producer is not None
    }
    assert ("nv_tileas.dot", "nv_tileas.tiled_store") in edges


@pytest.mark.requirement("R0-079")
def test_views_keep_memory_shape_and_order() -> None:
    """Memory, shape and dimension order of each access are those of the source program."""
    stages = compile(TRANSPOSED, arch="sm_90", emit="ptx").stages
    module = parse_text(stages["nv_tileas"], context())
    load, store = (
        next(op for op in module.walk() if op.name == f"nv_tileas.tiled_{name}")
        for name in ("load", "store")
    )
    for access, operand, argument, extents in (
        (load, 0, 0, "tile = [4096]"),
        (store, 1, 1, "tile = [64, 64]"),
    ):
        view = access.operands[operand]
        assert extents in str(view.type)
        tile = view.defining_op()
        assert tile is not None
        memory = tile.operands[0].defining_op()
        assert memory is not None
        assert memory.name == "nv_tileaa.make_memref"
        assert memory.operands[0].index == argument
    assert store.operands[-1] is load.results[1]


FAST = """
gpu.module @m attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @add(%a: !nv_tileaa.ptr<f32>)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %x, %t = nv_tileaa.load weak %a : !nv_tileaa.ptr<f32> -> f32
    %y = nv_tileaa.addf %x, %x {fastmath = #arith.fastmath<contract>} : f32
    %u = nv_tileaa.store weak %a, %y token = %t : !nv_tileaa.ptr<f32>, f32
    nv_tileaa.return
  }
}
"""


@pytest.mark.requirement("R0-057")
def test_fast_math_flags_are_converted_to_llvm() -> None:
    stages = compile(FAST, arch="sm_90", emit="ptx").stages
    assert "llvm.fastmath" not in stages["nv_tileaa"]
    assert "llvm.fastmath" not in stages["nv_tileas"]
    assert "fastmathFlags = #llvm.fastmath<contract>" in stages["nvvm"]
