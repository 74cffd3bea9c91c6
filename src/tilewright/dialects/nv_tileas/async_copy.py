"""Buffers, and copies into them that go on while threads do something else.

A copy takes a token and gives the next one: it starts when what the first stands for is over, and
is over when the second is waited for. `producers` of the token's creation says how many copies
take it; they are one phase of a barrier. `async.create_token` is what the creation of such a token
becomes once it has its barrier; from then on `async.wait` alone waits.
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
from tilewright.ir.attribute_kinds import IntegerKind
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import I32
from tilewright.target.resources import BARRIER_SLOTS

SLOT: Final = IntegerKind(I32, minimum=0)
COPIED_AT_ONCE: Final = 16
"""Copies move so many bytes at a time, from addresses that are multiples of it."""


def residency_problems(name: str, type: BufferType) -> Iterator[str]:
    """Complaints about a buffer that threads and copies cannot reach."""
    if type.residency is not Residency.SHARED:
        yield f"expected {name} in shared memory, got '{type}'"


def copied_bytes_problems(bytes: int) -> Iterator[str]:
    """Complaints about a stage that copies cannot fill."""
    if not bytes or bytes % COPIED_AT_ONCE:
        yield f"expected stages of a multiple of {COPIED_AT_ONCE} bytes, got {bytes}"


class AllocTensorOp(Operation):
    """Memory for tiles, as long as the block runs; every execution gives the same."""

    name = "nv_tileas.alloc_tensor"
    effects = Effects.NONE
    syntax = "attr-dict `:` type($result)"

    result = d.result(BUFFER)


class AsyncCopyOp(Operation):
    """Starts to copy what lies at an address, as much as a stage holds, into a stage.

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
    """The tile in a stage of a buffer."""

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
    """Waits until what the tokens stand for is over."""

    name = "nv_tileas.async.wait"
    syntax = "$tokens attr-dict `:` type($tokens)"

    tokens = d.operands(ANY_TOKEN)


class CreateTokenOp(Operation):
    """A fresh barrier in a slot, which waits for so many copies in each phase."""

    name = "nv_tileas.async.create_token"
    syntax = "attr-dict `:` type($result)"

    slot = d.attribute(SLOT)
    producers = d.attribute(PRODUCERS, default=1)
    again = d.flag()
    """Whether a barrier may have been in the slot before."""
    result = d.result(PHASE)

    def verify(self) -> Iterator[str]:
        if self.slot >= BARRIER_SLOTS:
            yield f"expected one of {BARRIER_SLOTS} slots, got {self.slot}"
