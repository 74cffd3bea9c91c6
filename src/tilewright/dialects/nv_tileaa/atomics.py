"""Atomic operations through pointers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import SameShape, element_of
from tilewright.dialects.nv_tileaa.attributes import RMW_MODE, MemSemantic, RmwMode
from tilewright.dialects.nv_tileaa.constraints import (
    ANY_TILE,
    BOOL_TILE,
    PTR_TILE,
    TOKEN,
    element_problems,
    pointer,
)
from tilewright.dialects.nv_tileaa.memory import AccessOp, masks
from tilewright.dialects.nv_tileaa.splits import SPLIT_SEED
from tilewright.ir import declare as d
from tilewright.ir.tiling import Way, alike
from tilewright.ir.traits import SameType
from tilewright.ir.types import BF16, F16, F32, F64, I32, I64

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.text.syntax import ParseState

ADDED: Final = (F16, BF16, F32, F64)
COUNTED: Final = (I32, I64)
EXCHANGED: Final = (I32, I64, F32, F64)


def mode_problems(mode: RmwMode, element: Type) -> Iterator[str]:
    """Check the element type of a read-modify-write."""
    allowed = {RmwMode.ADDF: ADDED, RmwMode.XCHG: EXCHANGED}.get(mode, COUNTED)
    if element not in allowed:
        expected = ", ".join(type.spell() for type in allowed)
        yield f"'{mode.keyword}' works on {expected}, got '{element}'"


class AtomicOp(AccessOp):
    """Base of the atomic operations; they return the old values in memory."""

    needs_whole = "an atomic that orders accesses happens once"

    pointers = d.operand(PTR_TILE)
    result = d.result(ANY_TILE)
    result_token = d.result(TOKEN)

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the type of the mask from that of the pointers."""
        state.operand_types["mask"] = masks(state, "pointers", "mask")

    def verify(self) -> Iterator[str]:
        pointee = pointer(self.pointers).pointee
        yield from element_problems("result", pointee, self.result.type)
        if self.semantic is MemSemantic.WEAK:
            yield "expected a memory ordering out of relaxed, acquire, release, acq_rel, got weak"
        elif self.scope is None:
            yield f"expected a memory scope, since the ordering is {self.semantic.keyword}"

    def ways(self) -> Iterator[Way]:
        return alike(self) if self.semantic is MemSemantic.RELAXED else iter(())


class AtomicCasOp(AtomicOp):
    """Compare and swap: store `value` if memory holds the bits of `compare`.

    Masked-off elements are not accessed; their results are those of `compare`.
    """

    name = "nv_tileaa.atomic_cas"
    traits = (
        SameType("compare", "value", "result"),
        SameShape("pointers", "compare", "mask"),
        SPLIT_SEED,
    )
    syntax = (
        "custom<Ordering>($semantic, $scope) $pointers `,` $compare `,` $value "
        "(`mask` `=` $mask^)? (`token` `=` $token^)? attr-dict "
        "`:` type($pointers) `,` type($result)"
    )

    compare = d.operand(ANY_TILE)
    value = d.operand(ANY_TILE)
    mask = d.optional_operand(BOOL_TILE)
    token = d.optional_operand(TOKEN)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        element = element_of(self.value.type)
        if element not in EXCHANGED:
            expected = ", ".join(type.spell() for type in EXCHANGED)
            yield f"works on {expected}, got '{element}'"


class AtomicRmwOp(AtomicOp):
    """Combine each element in memory with one of `value` by the operation `mode`."""

    name = "nv_tileaa.atomic_rmw"
    traits = (SameType("value", "result"), SameShape("pointers", "value", "mask"), SPLIT_SEED)
    syntax = (
        "custom<Ordering>($semantic, $scope) $mode $pointers `,` $value "
        "(`mask` `=` $mask^)? (`token` `=` $token^)? attr-dict "
        "`:` type($pointers) `,` type($result)"
    )

    mode = d.attribute(RMW_MODE, spelling="rmw_mode")
    value = d.operand(ANY_TILE)
    mask = d.optional_operand(BOOL_TILE)
    token = d.optional_operand(TOKEN)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from mode_problems(self.mode, element_of(self.value.type))
