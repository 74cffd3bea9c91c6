"""Producer-consumer queues, plugins, and pragma regions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from tilewright.dialects.elements import listed, types_of
from tilewright.dialects.nv_tileaa.aggregate import YieldOp
from tilewright.dialects.nv_tileaa.constraints import QUEUE
from tilewright.dialects.nv_tileaa.types import QueueType
from tilewright.dialects.type_syntax import FUNCTION_TYPE
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import (
    ARRAY_ATTR,
    DICTIONARY_ATTR,
    STRING_ATTR,
    SYMBOL_ATTR,
    IntegerKind,
)
from tilewright.ir.attributes import SymbolRefAttr
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.operation import Operation
from tilewright.ir.symbol_table import resolve
from tilewright.ir.traits import SYMBOL, TERMINATOR, Effects, HasParent
from tilewright.ir.types import I32

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Region
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Diagnostic
    from tilewright.text.syntax import Directive

AMOUNT = IntegerKind(I32, minimum=0)
DEPTH = IntegerKind(I32, minimum=1)


def queue(value: Value) -> QueueType:
    """The queue type of a value."""
    assert isinstance(value.type, QueueType)
    return value.type


class CreateQueueOp(Operation):
    """Create a queue with a capacity of `depth` entries."""

    name = "nv_tileaa.create_queue"
    syntax = "attr-dict `:` type($result)"

    depth = d.attribute(DEPTH, default=1)
    result = d.result(QUEUE)


class QueueYieldOp(Operation):
    """Terminate the region of `queue.put` or `queue.get`, yielding its values."""

    name = "nv_tileaa.queue.yield"
    needs_whole = "an entry of a queue has whole tiles"
    effects = Effects.PURE
    traits = (TERMINATOR, HasParent("nv_tileaa.queue.put", "nv_tileaa.queue.get"))
    syntax = "attr-dict ($values^ `:` type($values))?"

    values = d.operands(ANY_TYPE)


class QueuePutOp(Operation):
    """Wait for a free slot of a queue, and enqueue the values that the region yields."""

    name = "nv_tileaa.queue.put"
    syntax = "$queue attr-dict `:` type($queue) $body"

    queue = d.operand(QUEUE)
    body = d.region()

    def verify_context(self) -> Iterator[str | Diagnostic]:
        yield from _region_problems(self.body, (), queue(self.queue).elements)
        yield from _isolation_problems(self, self.queue, self.body)


class QueueGetOp(Operation):
    """Wait for an entry of a queue, dequeue it, and return what the region computes from it."""

    name = "nv_tileaa.queue.get"
    needs_whole = "an entry of a queue has whole tiles"
    syntax = "$queue attr-dict `:` type($queue) (`->` type($outputs)^)? $body"

    queue = d.operand(QUEUE)
    outputs = d.results(ANY_TYPE)
    body = d.region()

    def verify_context(self) -> Iterator[str | Diagnostic]:
        yield from _region_problems(self.body, queue(self.queue).elements, types_of(self.outputs))
        yield from _isolation_problems(self, self.queue, self.body)


def _region_problems(
    body: Region, arguments: tuple[Type, ...], results: tuple[Type, ...]
) -> Iterator[str]:
    block = body.block
    actual = types_of(block.args)
    if actual != arguments:
        yield f"expected block arguments of types {listed(arguments)}, got {listed(actual)}"
    if not isinstance(block.last, QueueYieldOp):
        yield "expected the region to end in 'nv_tileaa.queue.yield'"
        return
    yielded = types_of(block.last.values)
    if yielded != results:
        yield f"expected the region to yield {listed(results)}, got {listed(yielded)}"


def _isolation_problems(op: Operation, source: Value, body: Region) -> Iterator[Diagnostic]:
    if not queue(source).isolated:
        return
    for inner in body.walk():
        for value in inner.operands:
            block = value.parent_block
            owner = None if block is None else block.parent_op
            if owner is None or not op.is_ancestor_of(owner):
                yield inner.error(
                    f"uses a value from outside, but the queue of '{op.name}' is isolated"
                )


class ResourceOp(Operation):
    """Base of the operations that declare SM resources."""

    max_registers = d.attribute(AMOUNT, default=0)
    named_barriers = d.attribute(AMOUNT, default=0)
    shared_memory_bytes = d.attribute(AMOUNT, default=0)
    tensor_memory_bytes = d.attribute(AMOUNT, default=0)
    input_layouts = d.optional_attribute(ARRAY_ATTR)
    output_layouts = d.optional_attribute(ARRAY_ATTR)


class PluginOp(ResourceOp):
    """Declare foreign code that `execute` runs, and the resources it needs."""

    name = "nv_tileaa.plugin"
    traits = (SYMBOL,)
    syntax = "$sym_name attr-dict"

    sym_name = d.attribute(STRING_ATTR)


class ExecuteOp(ResourceOp):
    """Run a plugin with the given resources."""

    name = "nv_tileaa.execute"
    needs_whole = "foreign code takes whole tiles"
    directives: ClassVar[Mapping[str, Directive]] = {"FunctionType": FUNCTION_TYPE}
    syntax = (
        "$plugin `(` $inputs `)` attr-dict `:` custom<FunctionType>(type($inputs), type($outputs))"
    )

    plugin = d.attribute(SYMBOL_ATTR)
    inputs = d.operands(ANY_TYPE)
    outputs = d.results(ANY_TYPE)

    def verify(self) -> Iterator[str]:
        for side, layouts, values in (
            ("input", self.input_layouts, self.inputs),
            ("output", self.output_layouts, self.outputs),
        ):
            if layouts is not None and len(layouts) != len(values):
                yield f"expected {len(values)} {side} layouts, got {len(layouts)}"

    def verify_context(self) -> Iterator[str]:
        if not isinstance(resolve(SymbolRefAttr(self.plugin), self), PluginOp):
            yield f"expected '@{self.plugin}' to name a plugin"


class PragmaOp(Operation):
    """Attach compiler directives to a region; returns the values that the region yields."""

    name = "nv_tileaa.pragma"
    needs_whole = "a region with directives yields whole tiles"
    effects = Effects.RECURSIVE
    syntax = "$payload (`->` type($outputs)^)? attr-dict-with-keyword $body"

    payload = d.attribute(DICTIONARY_ATTR, spelling="directives")
    outputs = d.results(ANY_TYPE)
    body = d.region()

    def verify_context(self) -> Iterator[str]:
        block = self.body.block
        if block.args:
            yield "expected a region without arguments"
        if not isinstance(block.last, YieldOp):
            yield "expected the region to end in 'nv_tileaa.yield'"
            return
        expected, actual = types_of(self.outputs), types_of(block.last.values)
        if actual != expected:
            yield f"expected the region to yield {listed(expected)}, got {listed(actual)}"
