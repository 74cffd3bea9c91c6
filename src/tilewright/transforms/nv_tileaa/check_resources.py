"""Resource checks of plugins and queues: what they require exists, and no queue deadlocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tilewright.analysis.targets import target_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileaa.queue import (
    CreateQueueOp,
    ExecuteOp,
    PluginOp,
    QueueGetOp,
    QueuePutOp,
    ResourceOp,
    queue,
)
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.types import PtrType
from tilewright.ir.attributes import SymbolRefAttr
from tilewright.ir.passes import Pass, option
from tilewright.ir.symbol_table import resolve
from tilewright.ir.types import FloatType, IntegerType
from tilewright.support.diagnostics import Diagnostic, note
from tilewright.target.arch import find_arch
from tilewright.target.resources import Resources

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink


def _gpu(text: str) -> str:
    if find_arch(text) is None:
        raise ValueError("expected the name of a GPU")
    return text


class CheckResources(Pass):
    """Reject plugins that require more than the GPU has, and queues that cannot work.

    The GPU is that of the option, else the target of the module.
    """

    name = "check-resources"
    is_required = True
    arch: str = option(default="", doc="the GPU, such as sm_90", parse=_gpu)

    def run(self, op: Operation, sink: Sink) -> None:
        for inner in op.walk():
            match inner:
                case ExecuteOp():
                    problems = _execution_problems(inner, self._resources(inner))
                case CreateQueueOp():
                    problems = _queue_problems(inner)
                case FuncOp():
                    problems = _storage_problems(inner, self._resources(inner))
                case _:
                    continue
            for problem in problems:
                sink.add(problem)

    def _resources(self, op: Operation) -> Resources | None:
        arch = find_arch(self.arch) if self.arch else target_of(op)
        return None if arch is None else Resources.of(arch)


def _required(op: ResourceOp) -> Resources:
    return Resources(
        registers=op.max_registers,
        named_barriers=op.named_barriers,
        shared_memory=op.shared_memory_bytes,
        tensor_memory=op.tensor_memory_bytes,
    )


def _execution_problems(op: ExecuteOp, available: Resources | None) -> Iterator[Diagnostic]:
    """A plugin requires what it declares; an execution may grant another amount."""
    plugin = resolve(SymbolRefAttr(op.plugin), op)
    assert isinstance(plugin, PluginOp)
    if available is None:
        yield op.error("expected a module with a target, or the option 'arch', to run a plugin")
        return
    pairs = zip(
        _required(op).amounts(), _required(plugin).amounts(), available.amounts(), strict=True
    )
    for (what, granted), (_, needed), (_, limit) in pairs:
        if granted and granted < needed:
            yield op.error(f"expected at least {needed} {what} for '@{op.plugin}', got {granted}")
        elif max(granted, needed) > limit:
            gist = f"{max(granted, needed)} {what} for '@{op.plugin}'"
            yield op.error(f"asks for {gist}, of which a block has {limit}")
    yield from _layout_problems(op, plugin)


def _layout_problems(op: ExecuteOp, plugin: PluginOp) -> Iterator[Diagnostic]:
    for what, wanted, given, values in (
        ("input", plugin.input_layouts, op.input_layouts, op.inputs),
        ("output", plugin.output_layouts, op.output_layouts, op.outputs),
    ):
        if wanted is None:
            continue
        if len(wanted) != len(values):
            yield op.error(f"expected {len(wanted)} {what}s for '@{op.plugin}', got {len(values)}")
        elif given is not None and tuple(given) != tuple(wanted):
            yield op.error(f"expected the {what} layouts that '@{op.plugin}' declares, got others")


def _queue_problems(op: CreateQueueOp) -> Iterator[Diagnostic]:
    """A queue with one end alone blocks the other for ever."""
    users = tuple(op.result.users)
    ends = [kind for kind in (QueuePutOp, QueueGetOp) if any(isinstance(u, kind) for u in users)]
    if len(ends) != 1 or not all(isinstance(user, QueuePutOp | QueueGetOp) for user in users):
        return
    missing = "queue.get" if ends == [QueuePutOp] else "queue.put"
    yield op.error(
        f"expected a '{missing}' at the other end of the queue, got none",
        note("one end is here", users[0].location),
    )


def _storage_problems(op: FuncOp, available: Resources | None) -> Iterator[Diagnostic]:
    """All queues of a function fit into shared memory together."""
    queues = [inner for inner in op.walk() if isinstance(inner, CreateQueueOp)]
    required = sum(_bytes(inner) for inner in queues)
    if available is not None and required > available.shared_memory:
        gist = f"{required} bytes of shared memory for all queues of '@{op.sym_name}'"
        yield queues[-1].error(f"asks for {gist}, of which a block has {available.shared_memory}")


def _bytes(op: CreateQueueOp) -> int:
    return op.depth * sum(_size(type) for type in queue(op.result).elements)


def _size(type: Type) -> int:
    """The size of a value in bytes; tokens and the like take none."""
    match element_of(type):
        case PtrType():
            return 8 * count(type)
        case IntegerType(width=width) | FloatType(width=width):
            return -(-count(type) * width // 8)
        case _:
            return 0
