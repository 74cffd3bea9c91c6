"""Buffers, and asynchronous copies into them.

A copy takes a token and returns the next one: it starts after the accesses of the first, and is
complete after a wait for the second. `producers` of `create_mem_token` is the number of copies
that take the token; together they are one phase of an mbarrier. `materialize-async` lowers the
creation of such a token to `async.create_token`, and waits to `async.wait`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.nv_tileaa.constraints import (
    ANY_TENSOR,
    SCALAR_I32,
    SCALAR_PTR,
    TOKEN,
    element_problems,
    pointer,
    shape_problems,
)
from tilewright.dialects.nv_tileaa.memory import PRODUCERS
from tilewright.dialects.nv_tileas.attributes import Residency
from tilewright.dialects.nv_tileas.residency import LAID_OUT
from tilewright.dialects.nv_tileas.types import (
    ANY_TOKEN,
    BUFFER,
    PHASE,
    BufferType,
    buffer,
)
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ATTR, IntegerKind
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import I32
from tilewright.target.engines import BULK
from tilewright.target.resources import BARRIER_SLOTS

SLOT: Final = IntegerKind(I32, minimum=0)
COPIED_AT_ONCE: Final = BULK.alignment
"""Granularity of a copy in bytes, and the alignment of its addresses."""


def residency_problems(name: str, type: BufferType) -> Iterator[str]:
    """Check that threads and copies can access a buffer."""
    if type.residency is not Residency.SHARED:
        yield f"expected {name} in shared memory, got '{type}'"


def copied_bytes_problems(bytes: int) -> Iterator[str]:
    """Check that copies can fill a stage."""
    if not bytes or bytes % COPIED_AT_ONCE:
        yield f"expected stages of a multiple of {COPIED_AT_ONCE} bytes, got {bytes}"


class AllocTensorOp(Operation):
    """Allocate a multi-stage buffer that lives as long as the block; idempotent."""

    name = "nv_tileas.alloc_tensor"
    effects = Effects.NONE
    syntax = "attr-dict `:` type($result)"

    scratch = d.optional_attribute(I64_ATTR)
    result = d.result(BUFFER)


class AsyncCopyOp(Operation):
    """Start an asynchronous copy of one stage from a global address.

    The address is a multiple of 16.
    """

    name = "nv_tileas.async.copy"
    traits = (SameType("token", "result_token"),)
    syntax = (
        "$source `,` $target `[` $stage `]` `token` `=` $token attr-dict "
        "`:` type($source) `,` type($target) `,` type($token)"
    )

    source = d.operand(SCALAR_PTR)
    target = d.operand(BUFFER)
    stage = d.operand(SCALAR_I32)
    token = d.operand(ANY_TOKEN)
    result_token = d.result(ANY_TOKEN)

    def verify(self) -> Iterator[str]:
        type = buffer(self.target)
        yield from residency_problems("a target", type)
        yield from element_problems("a source", type.element, pointer(self.source).pointee)
        yield from copied_bytes_problems(type.stage_bytes)


class ReadBufferOp(Operation):
    """Read the tile in a stage of a buffer."""

    name = "nv_tileas.read_buffer"
    traits = (LAID_OUT,)
    syntax = (
        "$source `[` $stage `]` (`token` `=` $token^ `:` type($token))? attr-dict "
        "`:` type($source) `->` type($result)"
    )

    source = d.operand(BUFFER)
    stage = d.operand(SCALAR_I32)
    token = d.optional_operand(ANY_TOKEN)
    result = d.result(ANY_TENSOR)
    result_token = d.result(TOKEN)

    def verify(self) -> Iterator[str]:
        type = buffer(self.source)
        yield from residency_problems("a source", type)
        yield from shape_problems("a tile", type.shape, self.result.type)
        yield from element_problems("a tile", type.element, self.result.type)


class AsyncWaitOp(Operation):
    """Wait for the phases of tokens."""

    name = "nv_tileas.async.wait"
    syntax = "$tokens attr-dict `:` type($tokens)"

    tokens = d.operands(ANY_TOKEN)


class CreateTokenOp(Operation):
    """Initialize the mbarrier of a slot for a number of copies per phase."""

    name = "nv_tileas.async.create_token"
    syntax = "attr-dict `:` type($result)"

    slot = d.attribute(SLOT)
    producers = d.attribute(PRODUCERS, default=1)
    again = d.flag()
    """Whether the slot may hold an mbarrier already."""
    result = d.result(PHASE)

    def verify(self) -> Iterator[str]:
        if self.slot >= BARRIER_SLOTS:
            yield f"expected one of {BARRIER_SLOTS} slots, got {self.slot}"
