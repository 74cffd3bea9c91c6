"""Instructions that only some GPUs have: the emission table states which of them a row requires.

Other modules ask an `Arch` for atoms, engines and capacities instead.
"""

from __future__ import annotations

from enum import Enum


class Feature(Enum):
    """A group of instructions; its value describes it in diagnostics."""

    BASE = "what every target has"
    FP8 = "conversions and mma.sync of 8-bit floats"
    BF16_ATOMICS = "atomic arithmetic on bf16"
    CLUSTER = "clusters of thread blocks"
    PROGRAMMATIC_LAUNCH = "programmatic dependent launch of grids"
    TMA = "bulk and tensor copies that complete on a barrier"
    STMATRIX = "matrix stores of a warp"
    F64_MMA = "mma.sync of f64 beyond m8n8k4"
    VECTOR_REDUCTIONS = "reductions of several elements in one access"
    MULTIMEM = "accesses of memory of several GPUs through multimem addresses"
    SETMAXNREG = "registers that move between warps"
    WGMMA = "wgmma, the mma of a warpgroup"
    PACKED_F32 = "arithmetic on pairs of f32"
    WIDE_ACCESS = "256-bit accesses to global memory"
    BULK_STORE = "bulk zero fill of shared memory"
    NARROW_FLOATS = "conversions of 4- and 6-bit floats and of scales"
    F32_REDUX = "warp reductions of f32"
    RANDOM_ROUNDING = "conversions that round at random"
    TMA_EXTENDED = "gather, scatter and wide modes of tensor copies"
    TENSORMAP_FIELDS = "4- and 6-bit types and the atomicity of swizzles in tensor maps"
    TENSOR_MEMORY = "tensor memory and tcgen05"
    NARROW_MMA = "mma.sync of 4- and 6-bit floats, with scales"
