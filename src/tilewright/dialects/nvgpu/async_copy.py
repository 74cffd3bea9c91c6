"""Asynchronous copies of single threads from global to shared memory (`cp.async`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from tilewright.dialects.elements import INDEX_TYPE, RANKED_MEMREF, memref
from tilewright.dialects.gpu.attributes import in_shared_memory, is_global
from tilewright.dialects.memref.access import index_count_problems
from tilewright.dialects.memref.layout import is_unit_stride
from tilewright.dialects.nvgpu.constraints import ASYNC_TOKEN, bits_of
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ATTR, INDEX_ATTR
from tilewright.ir.operation import Operation
from tilewright.text.syntax import Directive

if TYPE_CHECKING:
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer
    from tilewright.text.syntax import ParseState


class ThreadCopy(Operation):
    """Base of the copies of 4, 8 or 16 bytes; elements beyond `src_elements` are zero-filled."""

    dst = d.operand(RANKED_MEMREF)
    dst_indices = d.operands(INDEX_TYPE)
    src = d.operand(RANKED_MEMREF)
    src_indices = d.operands(INDEX_TYPE)
    dst_elements = d.attribute(INDEX_ATTR, spelling="dstElements")
    src_elements = d.optional_operand(INDEX_TYPE)
    bypass_l1 = d.flag(spelling="bypassL1")
    async_token = d.result(ASYNC_TOKEN)

    def verify(self) -> Iterator[str]:
        source, target = memref(self.src), memref(self.dst)
        for role, type in (("source", source), ("destination", target)):
            if not is_unit_stride(type):
                yield f"expected a {role} whose last stride is 1, got '{type}'"
        if not is_global(source.space):
            yield f"expected a source in global memory, got '{source}'"
        if not in_shared_memory(target):
            yield f"expected a destination in shared memory, got '{target}'"
        if source.element is not target.element:
            yield f"expected elements of type '{source.element}', got '{target.element}'"
        yield from index_count_problems(source, self.src_indices)
        yield from index_count_problems(target, self.dst_indices)
        bits = self.dst_elements * (bits_of(target.element) or 0)
        if bits not in (32, 64, 128):
            size = f"{self.dst_elements} of '{target.element}'"
            yield f"expected elements of 4, 8 or 16 bytes together, got {size}"
        elif self.bypass_l1 and bits != 128:
            yield f"expected 16 bytes to go around the L1 cache, got {bits // 8}"


class DeviceAsyncCopyOp(ThreadCopy):
    """Start a copy of 4, 8 or 16 bytes; elements beyond `src_elements` are zero-filled."""

    name = "nvgpu.device_async_copy"
    syntax = (
        "$src `[` $src_indices `]` `,` $dst `[` $dst_indices `]` `,` $dst_elements "
        "(`,` $src_elements^)? attr-dict `:` type($src) `to` type($dst)"
    )


def _parse_tokens(parser: Parser, state: ParseState, tokens: str) -> None:
    """Parse operands; no delimiter ends the list, so results of the next operation are undone."""
    start = parser.at
    operands = parser.operand_list()
    if parser.peek() in ("=", ":"):
        parser.at = start
        operands.clear()
    state.operands[tokens] = operands


def _print_tokens(printer: Printer, op: Operation, tokens: str) -> None:
    if op.operands:
        printer.emit(", ".join(map(printer.value, op.operands)))


class DeviceAsyncCreateGroupOp(Operation):
    """Commit all copies that this thread started since the last group as a group."""

    name = "nvgpu.device_async_create_group"
    directives: ClassVar[Mapping[str, Directive]] = {
        "Tokens": Directive(_parse_tokens, _print_tokens)
    }
    syntax = "custom<Tokens>($input_tokens) attr-dict"

    input_tokens = d.operands(ASYNC_TOKEN)
    async_token = d.result(ASYNC_TOKEN)


class DeviceAsyncWaitOp(Operation):
    """Wait until at most `numGroups` groups of this thread are pending, by default none."""

    name = "nvgpu.device_async_wait"
    syntax = "$async_dependencies attr-dict"

    async_dependencies = d.operand(ASYNC_TOKEN)
    num_groups = d.optional_attribute(I32_ATTR, spelling="numGroups")

    def verify(self) -> Iterator[str]:
        if self.num_groups is not None and self.num_groups < 0:
            yield f"expected a number of groups, got {self.num_groups}"
