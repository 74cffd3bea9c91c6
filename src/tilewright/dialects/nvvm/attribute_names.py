"""Discardable attributes of nvvm, on functions and parameters of the llvm dialect, by name."""

from __future__ import annotations

from typing import Final

REQNTID: Final = "nvvm.reqntid"
"""On a kernel: the extents of a thread block."""
MAXNTID: Final = "nvvm.maxntid"
"""On a kernel: bounds of the extents of a thread block."""
MINCTASM: Final = "nvvm.minctasm"
"""On a kernel: the CTAs that an SM must be able to hold at once."""
MAXNREG: Final = "nvvm.maxnreg"
"""On a kernel: the maximum number of registers of a thread."""
CLUSTER_DIM: Final = "nvvm.cluster_dim"
"""On a kernel: the extents of a cluster."""
CLUSTER_MAX_BLOCKS: Final = "nvvm.cluster_max_blocks"
"""On a kernel: the maximum number of CTAs of a cluster."""
BLOCKS_ARE_CLUSTERS: Final = "nvvm.blocksareclusters"
"""On a kernel: launch dimensions are in clusters."""
GRID_CONSTANT: Final = "nvvm.grid_constant"
"""On a parameter: no thread writes it, and its address may be taken."""
