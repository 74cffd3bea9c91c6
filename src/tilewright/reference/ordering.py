"""Memory ordering and scope of operations, in Tile IR's terms."""

from __future__ import annotations

from typing import Any, Final

from tilewright.dialects.cuda_tile.enums import MemoryOrdering, MemoryScope
from tilewright.dialects.nv_tileaa.attributes import MemScope, MemSemantic
from tilewright.dialects.nv_tileaa.memory import AccessOp

ORDERINGS: Final = {semantic: MemoryOrdering[semantic.name] for semantic in MemSemantic}
SCOPES: Final = {
    MemScope.TL_BLK: MemoryScope.TL_BLK,
    # There are no clusters of blocks here, so that cluster scope is device scope.
    MemScope.CLUSTER: MemoryScope.DEVICE,
    MemScope.GPU: MemoryScope.DEVICE,
    MemScope.SYS: MemoryScope.SYS,
    None: None,
}


def ordering_of(op: Any) -> MemoryOrdering:
    """The memory ordering of an operation; weak if it has none."""
    if isinstance(op, AccessOp):
        return ORDERINGS[op.semantic]
    return getattr(op, "ordering", MemoryOrdering.WEAK)


def scope_of(op: Any) -> MemoryScope | None:
    """The memory scope of an operation."""
    return SCOPES[op.scope] if isinstance(op, AccessOp) else op.scope
