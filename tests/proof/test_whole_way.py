"""Tile IR all the way to PTX: what each level is made of, and what reaches the end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tilewright.driver.compile import compile
from tilewright.driver.registry import context
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


def dialects(text: str) -> set[str]:
    return {op.dialect for op in parse_text(text, context()).walk()}


@pytest.mark.requirement("R1-001")
@pytest.mark.parametrize("name", ["add", "softmax", "gemm", "attention"])
def test_pure_tile_ir_compiles(name: str) -> None:
    files = [file for file in KERNELS.glob("*.mlir") if name in file.stem]
    assert files
    for file in files:
        text = file.read_text()
        assert dialects(text) <= {"cuda_tile", "builtin"}
        compiled = compile(text, arch="sm_90")
        assert compiled.cubin.startswith(b"\x7fELF")


@pytest.mark.requirement("R1-002")
def test_every_entry_is_a_kernel() -> None:
    entries = "".join([f"entry @k{n}(%x: tile<ptr<f32>>) {{ return }}\n" for n in range(3)])
    ptx = compile(f"cuda_tile.module @m {{ {entries} }}", arch="sm_90").ptx
    assert re.findall(r"\.visible \.entry (\w+)", ptx) == ["k0", "k1", "k2"]


@pytest.mark.requirement("R1-006", "R2-057")
def test_tokens_cost_nothing() -> None:
    """A load behind a token that nothing made is the same code as one without."""
    with_token = ADD.replace("TOKEN", "%s = make_token : token").replace("BEFORE", "token = %s")
    without = ADD.replace("TOKEN", "").replace("BEFORE", "")
    compiled = compile(with_token, arch="sm_90")
    assert compiled.ptx == compile(without, arch="sm_90").ptx
    assert "mem_token" in compiled.stages["nv_tileas"]
    assert "mem_token" not in compiled.stages["nvgpu"]


@pytest.mark.requirement("R1-054")
def test_lines_of_the_source_reach_ptx_if_asked_for() -> None:
    text = ADD.replace("TOKEN", "").replace("BEFORE", "")
    with_lines = compile(text, arch="sm_90", line_info=True).ptx
    assert re.search(r"\.loc\s+\d+ 11 ", with_lines)
    assert ".file" in with_lines
    assert ".loc" not in compile(text, arch="sm_90").ptx


@pytest.mark.requirement("R1-063")
def test_levels_follow_each_other() -> None:
    stages = compile(ADD.replace("TOKEN", "").replace("BEFORE", ""), arch="sm_90").stages
    assert list(stages) == ["cuda_tile", "nv_tileaa", "nv_tileas", "nvgpu", "nvvm", "llvm", "ptx"]
    assert "cuda_tile" in dialects(stages["cuda_tile"])
    assert "cuda_tile" not in dialects(stages["nv_tileaa"])
    assert "nv_tileas" in dialects(stages["nv_tileas"])
    assert dialects(stages["nvgpu"]) & {"nv_tileaa", "nv_tileas", "cuda_tile"} == set()
    assert dialects(stages["nvvm"]) <= {"llvm", "nvvm", "gpu", "builtin"}


TURNED = """cuda_tile.module @kernels {
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


@pytest.mark.requirement("R0-078")
def test_layouts_are_converted_between_producers_and_consumers() -> None:
    lowered = compile(TURNED, arch="sm_90").stages["nv_tileas"]
    assert "nv_tileas.view" in lowered
    assert "nv_tileas.convert_layout" in lowered


@pytest.mark.requirement("R0-079")
def test_views_keep_what_they_are_views_of() -> None:
    """Memory, shape and order of each access are those that the program began with."""
    stages = compile(TURNED, arch="sm_90").stages
    module = parse_text(stages["nv_tileas"], context())
    load, store = (
        next(op for op in module.walk() if op.name == f"nv_tileas.tiled_{name}")
        for name in ("load", "store")
    )
    for access, place, argument, extents in (
        (load, 0, 0, "tile = [4096]"),
        (store, 1, 1, "tile = [64, 64]"),
    ):
        view = access.operands[place]
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
def test_fast_math_becomes_that_of_llvm_at_the_end() -> None:
    stages = compile(FAST, arch="sm_90").stages
    assert "llvm.fastmath" not in stages["nv_tileaa"]
    assert "llvm.fastmath" not in stages["nv_tileas"]
    assert "fastmathFlags = #llvm.fastmath<contract>" in stages["nvvm"]
