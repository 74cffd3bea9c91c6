"""How strong a memory operation is, in the words of Tile IR."""

from __future__ import annotations

from typing import Any, Final

from tilewright.dialects.cuda_tile.enums import MemoryOrdering, MemoryScope
from tilewright.dialects.nv_tileaa.attributes import MemScope, MemSemantic
from tilewright.dialects.nv_tileaa.memory import AccessOp

ORDERINGS: Final = {semantic: MemoryOrdering[semantic.name] for semantic in MemSemantic}
SCOPES: Final = {
    MemScope.TL_BLK: MemoryScope.TL_BLK,
    # Clusters have no blocks of their own here: whoever is in one may be anywhere on the device.
    MemScope.CLUSTER: MemoryScope.DEVICE,
    MemScope.GPU: MemoryScope.DEVICE,
    MemScope.SYS: MemoryScope.SYS,
    None: None,
}


def ordering_of(op: Any) -> MemoryOrdering:
    """What an operation orders besides what its tokens say; weak if it is none of memory."""
    if isinstance(op, AccessOp):
        return ORDERINGS[op.semantic]
    return getattr(op, "ordering", MemoryOrdering.WEAK)


def scope_of(op: Any) -> MemoryScope | None:
    """Among whom an ordering holds."""
    return SCOPES[op.scope] if isinstance(op, AccessOp) else op.scope
