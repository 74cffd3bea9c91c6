"""The contract of plugins and queues."""

from __future__ import annotations

import pytest
from tileaa_programs import module

from tilewright.dialects.nv_tileaa.queue import ExecuteOp, PluginOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.support.diagnostics import UserError

TARGET = "attributes {aa.target_spec = #aa.target_spec<compute_capability = %d>}"


def errors(symbols: str, body: str, passes: str = "check-resources", gpu: int = 90) -> list[str]:
    """Check a kernel and its symbols; return the errors."""
    target = TARGET % gpu if gpu else ""
    function = f"aa.func @f() {{\n{body}\naa.return\n}}"
    text = f"module {{ gpu.module @m {target} {{ {symbols}\n{function} }} }}"
    try:
        parse_pipeline(passes).run(module(text))
    except UserError as error:
        return [diagnostic.message for diagnostic in error.diagnostics]
    return []


def execute(attributes: str = "") -> str:
    return f"aa.execute @p() {attributes} : () -> ()\n"


NEEDS = {
    "max_registers": ("registers a thread", 255),
    "named_barriers": ("named barriers", 16),
    "shared_memory_bytes": ("bytes of shared memory", 227 * 1024),
    "tensor_memory_bytes": ("bytes of tensor memory", 0),
}


@pytest.mark.requirement("R2-060")
@pytest.mark.parametrize("kind", [PluginOp, ExecuteOp])
def test_plugins_declare_their_resources(kind: type) -> None:
    names = {field.name for field in kind.schema.attributes}
    assert names >= {*NEEDS, "input_layouts", "output_layouts"}


@pytest.mark.parametrize("owner", ["plugin", "execute"])
@pytest.mark.parametrize("name", NEEDS)
def test_each_resource_is_checked(name: str, owner: str) -> None:
    what, available = NEEDS[name]
    for amount, fits in ((available, True), (available + 1, False)):
        need = f"{{{name} = {amount} : i32}}"
        plugin = f"aa.plugin @p {need if owner == 'plugin' else ''}"
        messages = errors(plugin, execute(need if owner == "execute" else ""))
        message = (
            f"'nv_tileaa.execute' op asks for {amount} {what} for '@p', "
            f"of which a block has {available}"
        )
        assert messages == ([] if fits else [message])


def test_tensor_memory_is_there_on_some_gpus() -> None:
    plugin = "aa.plugin @p {tensor_memory_bytes = 262144 : i32}"
    assert errors(plugin, execute(), gpu=100) == []
    assert len(errors(plugin, execute(), gpu=90)) == 1
    assert errors(plugin, execute(), "check-resources{arch=sm_100}", gpu=90) == []


def test_an_execution_must_grant_the_plugin_its_resources() -> None:
    plugin = "aa.plugin @p {max_registers = 128 : i32}"
    assert errors(plugin, execute("{max_registers = 64 : i32}")) == [
        "'nv_tileaa.execute' op expected at least 128 registers a thread for '@p', got 64"
    ]
    assert errors(plugin, execute("{max_registers = 200 : i32}")) == []


def test_layouts_are_those_that_the_plugin_declares() -> None:
    plugin = 'aa.plugin @p {input_layouts = ["rows"], output_layouts = []}'
    call = "%k = arith.constant 1 : i32\naa.execute @p(%k) {input_layouts = [{}]} : (i32) -> ()\n"
    assert errors(plugin, call.replace("{}", '"rows"')) == []
    assert errors(plugin, call.replace("{}", '"columns"')) == [
        "'nv_tileaa.execute' op expected the input layouts that '@p' declares, got others"
    ]
    assert errors(plugin, execute()) == ["'nv_tileaa.execute' op expected 1 inputs for '@p', got 0"]


def test_without_a_target_nothing_is_assumed() -> None:
    assert errors("aa.plugin @p", execute(), gpu=0) == [
        "'nv_tileaa.execute' op expected a module with a target, or the option 'arch', "
        "to run a plugin"
    ]


QUEUE = "!aa.queue<[tensor<64x64xf32>]>"


def create(depth: int) -> str:
    return f"%q = aa.create_queue {{depth = {depth} : i32}} : {QUEUE}\n"


PUT = (
    f"aa.queue.put %q : {QUEUE} {{\n%z = arith.constant 0.0 : f32\n"
    "%s = aa.splat %z : f32 -> tensor<64x64xf32>\naa.queue.yield %s : tensor<64x64xf32>\n}\n"
)
GET = f"aa.queue.get %q : {QUEUE} {{\n^bb0(%a: tensor<64x64xf32>):\naa.queue.yield\n}}\n"


def test_a_queue_needs_both_ends() -> None:
    assert errors("", create(1) + PUT + GET) == []
    for end, missing in ((PUT, "queue.get"), (GET, "queue.put")):
        assert errors("", create(1) + end) == [
            f"'nv_tileaa.create_queue' op expected a '{missing}' at the other end of the queue, "
            "got none"
        ]


@pytest.mark.parametrize(("depth", "fits"), [(14, True), (15, False)])
def test_queues_fit_into_shared_memory(depth: int, fits: bool) -> None:
    messages = errors("", create(depth) + PUT + GET)
    message = (
        f"'nv_tileaa.create_queue' op asks for {depth * 64 * 64 * 4} bytes of shared memory "
        "for all queues of '@f', of which a block has 232448"
    )
    assert messages == ([] if fits else [message])
