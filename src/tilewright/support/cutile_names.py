"""The cuTile functions that emit operations, by the name of the operation.

Where the source is at hand, `tilewright.cutile` shows the spelling of the program instead.
"""

from __future__ import annotations

from typing import Final

CUTILE_FUNCTIONS: Final = {
    "cuda_tile.assert": "ct.assert_",
    "cuda_tile.atomic_cas_tko": "ct.atomic_cas",
    "cuda_tile.load_ptr_tko": "ct.gather",
    "cuda_tile.load_view_tko": "ct.load",
    "cuda_tile.mmaf": "ct.mma",
    "cuda_tile.mmaf_scaled": "ct.mma_scaled",
    "cuda_tile.mmai": "ct.mma",
    "cuda_tile.print_tko": "ct.printf",
    "cuda_tile.reduce": "ct.reduce",
    "cuda_tile.scan": "ct.scan",
    "cuda_tile.store_ptr_tko": "ct.scatter",
    "cuda_tile.store_view_tko": "ct.store",
    "nv_tileaa.gather_load": "ct.load",
    "nv_tileaa.load": "ct.gather",
    "nv_tileaa.scatter_store": "ct.store",
    "nv_tileaa.store": "ct.scatter",
    "nv_tileaa.tiled_load": "ct.load",
    "nv_tileaa.tiled_store": "ct.store",
}
"""The most frequent one of several related ones."""

_ATOMIC_OPS: Final = frozenset(
    {
        "cuda_tile.atomic_red_view_tko",
        "cuda_tile.atomic_rmw_tko",
        "nv_tileaa.atomic_rmw",
        "nv_tileaa.tiled_atomic_rmw",
    }
)


def cutile_function(op: str) -> str | None:
    """The function of cuTile that emits an operation; None if several unrelated ones do."""
    return "atomic operation" if op in _ATOMIC_OPS else CUTILE_FUNCTIONS.get(op)
