"""Plugins run in agents of their own, with the resources and layouts that they asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.queue import PluginOp
from tilewright.dialects.nv_tileas.pipeline import AgentSwitchOp, ExecuteOp, YieldOp
from tilewright.ir.attributes import SymbolRefAttr
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block
from tilewright.ir.symbol_table import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.queue import ExecuteOp as TileaaExecuteOp
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.attributes import Attribute


def plugin_of(op: TileaaExecuteOp) -> PluginOp:
    """What an operation runs."""
    plugin = resolve(SymbolRefAttr(op.plugin), op)
    assert isinstance(plugin, PluginOp)
    return plugin


def plugin_layouts(op: TileaaExecuteOp) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    """The layouts of what goes in and out: those of the execution, else those of the plugin."""
    plugin = plugin_of(op)
    inputs = op.input_layouts if op.input_layouts is not None else plugin.input_layouts
    outputs = op.output_layouts if op.output_layouts is not None else plugin.output_layouts
    return inputs or (), outputs or ()


def make_agents(function: FuncOp, warps: int) -> None:
    """Put each execution of a plugin into an agent of all warps, with what it was granted."""
    for op in [inner for inner in function.walk() if isinstance(inner, ExecuteOp)]:
        plugin, block = plugin_of(op), Block()
        inputs, outputs = plugin_layouts(op)
        agent = create_op(
            AgentSwitchOp,
            warps=warps,
            max_registers=op.max_registers or plugin.max_registers,
            named_barriers=op.named_barriers or plugin.named_barriers,
            shared_memory_bytes=op.shared_memory_bytes or plugin.shared_memory_bytes,
            tensor_memory_bytes=op.tensor_memory_bytes or plugin.tensor_memory_bytes,
            input_layouts=tuple(inputs) or None,
            output_layouts=tuple(outputs) or None,
            types=[result.type for result in op.outputs],
            body=block,
            location=op.location,
        )
        agent.insert_before(op)
        for old, new in zip(op.outputs, agent.outputs, strict=True):
            old.replace_all_uses_with(new)
        block.append(op.detach())
        block.append(create_op(YieldOp, values=op.outputs, location=op.location))
