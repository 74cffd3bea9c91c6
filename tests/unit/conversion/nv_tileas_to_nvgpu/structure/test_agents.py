"""Tests of agents lowered to warps: thread ids, named barriers, registers, scratch memory."""

from __future__ import annotations

import pytest
from dialect_text import errors, read

from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify

LINE = "#nv_tileas.layout<[64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>"
BACK = "#nv_tileas.layout<[64], register = [], lane = [[32], [16], [8], [4], [2]], warp = [[1]]>"
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
    return [source.attributes["value"].value for source in sources]  # pyrefly: ignore[missing-attribute]


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


def test_agents_exchange_data_in_memory_of_their_own() -> None:
    """Each waits for its own 64 threads; two areas of 256 bytes precede that of the second."""
    body = f"""%r = nv_tileas.make_range : tensor<64xi32, {LINE}>
      %b = nv_tileas.convert_layout %r : tensor<64xi32, {LINE}> -> tensor<64xi32, {BACK}>"""
    module = read(program(agent(0, 2, body) + agent(2, 2, body)))
    parse_pipeline("allocate,synchronize").run(module)
    scratch = [op.scratch for op in module.walk() if isinstance(op, ConvertLayoutOp)]
    assert scratch == [0, 512]
    parse_pipeline("convert-tileas-to-nvgpu").run(module)
    verify(module)
    named = [op for op in module.walk() if op.name == "cute_nvgpu.named_barrier.sync"]
    assert [constants(op) for op in named] == [[1, 64], [2, 64]]
    assert not any(op.name == "gpu.barrier" for op in module.walk())


@pytest.mark.parametrize(("warps", "branches"), [(1, 2), (4, 1)])
def test_whole_warpgroups_set_their_registers(warps: int, branches: int) -> None:
    """One warp of four produces: all four set them, and a branch inside chooses the one."""
    text = program(agent(0, warps, "nv_tileas.barrier")).replace("num_warps = 4", "num_warps = 8")
    target = "nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>"
    text = text.replace("@kernels {", f"@kernels attributes {{{target}}} {{")
    module = read(text.replace("first = 0 : i32,", "first = 0 : i32, max_registers = 40 : i32,"))
    parse_pipeline("convert-tileas-to-nvgpu").run(module)
    verify(module)
    (registers,) = (op for op in module.walk() if op.name == "cute_nvgpu.set_max_registers")
    assert sum(op.name == "scf.if" for op in registers.ancestors()) == 1
    (barrier,) = (op for op in module.walk() if op.name == "cute_nvgpu.named_barrier.sync")
    assert sum(op.name == "scf.if" for op in barrier.ancestors()) == branches
