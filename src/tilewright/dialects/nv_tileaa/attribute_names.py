"""Names of the discardable attributes of nv_tileaa."""

from __future__ import annotations

from typing import Final

CLUSTER_SHARED: Final = "nv_tileaa.cluster_shared"
"""On a load of a kernel that CTAs of a cluster share: a mask of bits of the CTA rank.

CTAs whose ranks differ in these bits alone load the same tile, as often and in the same order.
"""
AT: Final = "nv_tileaa.at"
"""On an operation of a loop that is pipelined: its stage and order, an `AtAttr`."""
CONTINUES: Final = "nv_tileaa.continues"
"""On a pipelined loop that takes over the pipeline of the one before it in its block."""
