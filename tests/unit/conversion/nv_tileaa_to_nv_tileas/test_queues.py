"""Tests of queues as pipelines, and of plugins as agents."""

from __future__ import annotations

import pytest
from each_case import each_case
from integrity import check_integrity

from tilewright.dialects.nv_tileas.agents import AgentSwitchOp, ExecuteOp
from tilewright.dialects.nv_tileas.attributes import LayoutAttr, layout_of
from tilewright.driver.compile import Compilation, Settings
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.layout.spread import spread
from tilewright.support.diagnostics import Unsupported, UserError
from tilewright.target.arch import ARCHES
from tilewright.text.attribute_printer import AttributePrinter
from tilewright.text.parser import parse_text

QUEUE = "!nv_tileaa.queue<[i32]>"
PIPE = "nv_tileas.async.pipeline."
CREATE = f"%q = nv_tileaa.create_queue {{depth = 2 : i32}} : {QUEUE}\n"
PUT = f"nv_tileaa.queue.put %q : {QUEUE} {{ nv_tileaa.queue.yield %n : i32 }}\n"
GET = f"""%r{{}} = nv_tileaa.queue.get %q : {QUEUE} -> i32 {{{{
^bb0(%x: i32):
  %y = nv_tileaa.addi %x, %n : i32
  nv_tileaa.queue.yield %y : i32
}}}}
"""
LOOP = """scf.for %i = %n to %m step %n : i32 {{
{}}}
"""


def lowered(body: str, symbols: str = "", gpu: str = "sm_90") -> Operation:
    """Lower a kernel to nv_tileas."""
    text = f"""gpu.module @kernels {{ {symbols}
      nv_tileaa.func @f(%n: i32, %m: i32, %c: i1, %a: !nv_tileaa.ptr<f32>)
          attributes {{kernel_spec = #nv_tileaa.kernel_spec<>}} {{
        {body}
        nv_tileaa.return
      }}
    }}"""
    module = parse_text(text, context())
    verify(module)
    compilation = Compilation(module, Settings(ARCHES[gpu]))
    compilation.lower("nv_tileas")
    check_integrity(compilation.module)
    verify(compilation.module)
    return compilation.module


def steps(module: Operation) -> list[str]:
    """Return the pipeline operations, in order."""
    names = [op.name for op in module.walk() if op.name.startswith(PIPE)]
    return [name.removeprefix(PIPE) for name in names]


def problem(body: str, symbols: str = "", gpu: str = "sm_90") -> str:
    with pytest.raises(UserError) as caught:
        lowered(body, symbols, gpu)
    return caught.value.diagnostics[0].message


@pytest.mark.requirement("R2-062")
def test_ends_of_queues_become_regions_of_pipelines() -> None:
    module = lowered(CREATE + PUT + GET.format(""))
    assert steps(module) == [
        "create_pipeline", "create_iterator",
        "producer_acquire", "inc_iter", "producer_write", "producer_commit",
        "consumer_wait", "inc_iter", "consumer_read", "consumer_release",
    ]  # fmt: skip
    names = [op.name for op in module.walk()]
    # The region of the consumer lies between its wait and its release.
    assert names.index(f"{PIPE}consumer_read") < names.index("nv_tileaa.addi")
    assert names.index("nv_tileaa.addi") < names.index(f"{PIPE}consumer_release")
    assert not any("queue" in name for name in names)
    (created,) = [op for op in module.walk() if op.name == f"{PIPE}create_pipeline"]
    assert str(created.results[0].type) == "!nv_tileas.pipeline<2, [i32]>"


@pytest.mark.requirement("R2-062")
def test_loops_carry_the_pipeline_iterators() -> None:
    """Iterators of producers and of consumers; an iteration continues the previous one."""
    module = lowered(CREATE + PUT + LOOP.format(PUT + GET.format("")) + GET.format("1"))
    (loop,) = [op for op in module.walk() if op.name == "scf.for"]
    assert [str(result.type) for result in loop.results] == ["!nv_tileas.pipeline_iterator<2>"] * 2
    acquired = [op for op in module.walk() if op.name == f"{PIPE}producer_acquire"]
    waited = [op for op in module.walk() if op.name == f"{PIPE}consumer_wait"]
    body = loop.regions[0].block
    assert acquired[1].operands[1] is body.args[-2]
    assert waited[0].operands[1] is body.args[-1]
    assert waited[1].operands[1] is loop.results[-1]


@pytest.mark.requirement("R2-063")
@each_case(
    ("body", "message"),
    [
        (CREATE + PUT * 3 + GET.format(""),
         "expected an empty slot of the pipeline, but all are full"),
        (CREATE + GET.format("") + PUT, "expected a full slot of the pipeline, but all are empty"),
        (
            CREATE + LOOP.format(PUT) + GET.format(""),
            "expected 0 full slots of the pipeline after each iteration, got 1",
        ),
        (
            CREATE + f"scf.if %c {{\n{PUT}}}\n" + GET.format(""),
            "expected as many full slots after both branches, got 1 and 0",
        ),
        (
            LOOP.format(CREATE + PUT + GET.format("")),
            "expected a queue outside of loops and branches, to have a pipeline",
        ),
        (
            f"%p = nv_tileaa.create_queue : {QUEUE}\n"
            f"%q = scf.if %c -> ({QUEUE}) {{\n scf.yield %p : {QUEUE}\n }} else {{\n"
            f" scf.yield %p : {QUEUE}\n }}\n" + PUT + GET.format(""),
            "expected a queue straight from its creation, to have a pipeline slot",
        ),
    ],
)  # fmt: skip
def test_an_end_without_a_slot_is_an_error(body: str, message: str) -> None:
    assert problem(body) == message


@pytest.mark.requirement("R0-076")
def test_a_token_of_nothing_is_the_pipelines_null_token() -> None:
    """A join of no tokens is the null token of a pipeline."""
    queue = "!nv_tileaa.queue<[!nv_tileaa.mem_token]>"
    body = f"""%q = nv_tileaa.create_queue : {queue}
      %none = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
      nv_tileaa.queue.put %q : {queue} {{ nv_tileaa.queue.yield %none : !nv_tileaa.mem_token }}
      %t = nv_tileaa.queue.get %q : {queue} -> !nv_tileaa.mem_token {{
      ^bb0(%x: !nv_tileaa.mem_token):
        nv_tileaa.queue.yield %x : !nv_tileaa.mem_token
      }}
      """
    module = lowered(body)
    (written,) = [op for op in module.walk() if op.name == f"{PIPE}producer_write"]
    source = written.operands[2].defining_op()
    assert source is not None
    assert source.name == f"{PIPE}create_null_token"
    # A token that orders an access stays what it is.
    store = "%none = nv_tileaa.store weak %a, %v : !nv_tileaa.ptr<f32>, f32"
    create = "%none = nv_tileaa.create_mem_token : !nv_tileaa.mem_token"
    value = "%v = arith.constant 1.0 : f32\n"
    assert "create_null_token" not in steps(lowered(value + body.replace(create, store)))


LAYOUT = spread((128,), 4, vector=2)
TILES = "%x = arith.constant dense<1.0> : tensor<128xf32>\n"
EXECUTE = "%y = nv_tileaa.execute @p(%x) : (tensor<128xf32>) -> tensor<128xf32>\n"


@pytest.mark.requirement("R2-061")
def test_a_plugin_runs_in_an_agent_with_its_layouts() -> None:
    layout = AttributePrinter().attribute(LayoutAttr(LAYOUT))
    plugin = (
        "nv_tileaa.plugin @p {max_registers = 96 : i32, named_barriers = 2 : i32, "
        "shared_memory_bytes = 1024 : i32, "
        f"input_layouts = [{layout}], output_layouts = [{layout}]}}"
    )
    module = lowered(TILES + EXECUTE, plugin)
    (agent,) = [op for op in module.walk() if isinstance(op, AgentSwitchOp)]
    granted = (agent.warps, agent.max_registers, agent.named_barriers, agent.shared_memory_bytes)
    assert granted == (4, 96, 2, 1024)
    wanted = (LayoutAttr(LAYOUT),)
    assert (agent.input_layouts, agent.output_layouts) == (wanted, wanted)
    (inside,) = [op for op in agent.walk() if isinstance(op, ExecuteOp)]
    assert layout_of(inside.inputs[0]) == layout_of(inside.outputs[0]) == LAYOUT
    assert layout_of(agent.outputs[0]) == LAYOUT


@pytest.mark.requirement("R2-061")
@each_case(
    ("resource", "amount", "what"),
    [
        ("max_registers", 256, "registers a thread"),
        ("named_barriers", 17, "named barriers"),
        ("shared_memory_bytes", 1 << 18, "bytes of shared memory"),
        ("tensor_memory_bytes", 1, "bytes of tensor memory"),
    ],
)
def test_no_agent_without_its_resources(resource: str, amount: int, what: str) -> None:
    message = problem(TILES + EXECUTE, f"nv_tileaa.plugin @p {{{resource} = {amount} : i32}}")
    assert f"asks for {amount} {what} for '@p', of which a block has" in message


def test_the_code_of_a_plugin_is_not_ours() -> None:
    module = lowered(TILES + EXECUTE, "nv_tileaa.plugin @p")
    with pytest.raises(Unsupported, match="the code of the plugin '@p'"):
        Compilation(module, Settings(ARCHES["sm_90"])).lower("nvgpu")
