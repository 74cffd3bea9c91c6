"""Plugins: each execution becomes an agent with the resources and layouts that it declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.queue import PluginOp
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp, ExecuteOp, YieldOp
from tilewright.ir.attributes import SymbolRefAttr
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block
from tilewright.ir.symbol_table import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.queue import ExecuteOp as TileaaExecuteOp
    from tilewright.ir.attributes import Attribute
    from tilewright.ir.builder import Builder


def plugin_of(op: TileaaExecuteOp) -> PluginOp:
    """The plugin that an operation executes."""
    plugin = resolve(SymbolRefAttr(op.plugin), op)
    assert isinstance(plugin, PluginOp)
    return plugin


def plugin_layouts(op: TileaaExecuteOp) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    """The layouts of inputs and outputs: those of the execution, else those of the plugin."""
    plugin = plugin_of(op)
    inputs = op.input_layouts if op.input_layouts is not None else plugin.input_layouts
    outputs = op.output_layouts if op.output_layouts is not None else plugin.output_layouts
    return inputs or (), outputs or ()


def create_agent(
    op: TileaaExecuteOp, execute: ExecuteOp, warps: int, build: Builder
) -> AgentSwitchOp:
    """Create an agent of all warps that runs a plugin, with the resources that it is granted."""
    plugin, (inputs, outputs) = plugin_of(op), plugin_layouts(op)
    body = Block()
    body.append(execute)
    body.append(create_op(YieldOp, values=execute.outputs, location=op.location))
    return build.create(
        AgentSwitchOp,
        warps=warps,
        max_registers=op.max_registers or plugin.max_registers,
        named_barriers=op.named_barriers or plugin.named_barriers,
        shared_memory_bytes=op.shared_memory_bytes or plugin.shared_memory_bytes,
        tensor_memory_bytes=op.tensor_memory_bytes or plugin.tensor_memory_bytes,
        input_layouts=tuple(inputs) or None,
        output_layouts=tuple(outputs) or None,
        types=[result.type for result in execute.outputs],
        body=body,
        location=op.location,
    )
