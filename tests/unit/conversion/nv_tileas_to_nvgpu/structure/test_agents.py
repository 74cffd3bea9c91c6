"""Tests of agents lowered to warps: thread ids, named barriers, restrictions."""

from __future__ import annotations

import pytest
from dialect_text import errors, read

from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Unsupported

LINE = "#nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>"
BACK = "#nv_tileas.layout<[32], register = [], lane = [[16], [8], [4], [2], [1]], warp = []>"
SWITCH = "nv_tileas.async.pipeline.agent_switch attributes"
END = "nv_tileas.async.pipeline.yield"


def agent(first: int, warps: int, body: str) -> str:
    return f"{SWITCH} {{first = {first} : i32, warps = {warps} : i32}} {{\n{body}\n{END}\n}}\n"


def program(body: str) -> str:
    """The text of a kernel of four warps."""
    return f"""gpu.module @kernels {{
      nv_tileaa.func @f(%x: f32)
          attributes {{kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>}} {{
        {body}
        nv_tileaa.return
      }}
    }}"""


def lowered(body: str) -> Operation:
    """Lower a kernel to nvgpu."""
    module = read(program(body))
    parse_pipeline("convert-tileas-to-nvgpu").run(module)
    verify(module)
    return module


def constants(op: Operation) -> list[int]:
    sources = [value.defining_op() for value in op.operands]
    return [source.attributes["value"].value for source in sources]  # type: ignore[union-attr]


def test_agents_synchronize_at_barriers_of_their_own() -> None:
    """The first barrier is that of the block; warps count."""
    barrier = "nv_tileas.barrier"
    module = lowered(agent(0, 1, barrier) + agent(1, 2, barrier) + barrier)
    named = [op for op in module.walk() if op.name == "cute_nvgpu.named_barrier.sync"]
    assert [constants(op) for op in named] == [[1, 32], [2, 64]]
    assert sum(op.name == "gpu.barrier" for op in module.walk()) == 1


def test_an_agent_of_all_warps_needs_no_branch() -> None:
    module = lowered(agent(0, 4, "nv_tileas.barrier"))
    assert not any(op.name == "scf.if" for op in module.walk())


def test_an_agent_has_warps_of_the_kernel() -> None:
    (message,) = errors(program(agent(3, 2, "")))
    assert "expected warps out of the 4 of the kernel, got 2 from number 3 on" in message
    gives = agent(0, 2, "").replace(SWITCH, f"%y = {SWITCH[:-11]} -> f32 attributes")
    (message,) = errors(program(gives.replace(END, f"{END} %x : f32")))
    assert "expected all 4 warps, since the agent gives values, got 2" in message


def test_agents_do_not_share_the_scratch_memory_of_the_block() -> None:
    body = f"""%r = nv_tileas.make_range : tensor<32xi32, {LINE}>
      %b = nv_tileas.convert_layout %r {{scratch = 0 : i64}}
          : tensor<32xi32, {LINE}> -> tensor<32xi32, {BACK}>"""
    with pytest.raises(Unsupported, match=r"'nv_tileas\.convert_layout' through shared memory"):
        lowered(agent(0, 1, body))
