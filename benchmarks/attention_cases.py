"""The attention variants with the shapes and tiles that are timed, and small ones to check results.

Shapes of attention are batch, heads, heads of K and V, queries, keys and size of a head; tiles are
queries and keys.
"""

from __future__ import annotations

from typing import Final

import attention_launches as launches
from variant_sizes import variant

SMALL: Final = "2x2x1x80x80x64 64x32"
LONG: Final = "1x32x8x8192x8192x128"
MIDDLE: Final = "4x32x8x2048x2048x128"

FORWARD: Final = (
    variant(
        "causal", launches.forward(causal=True), "float16", SMALL,
        f"{LONG} 128x128", f"{LONG} 64x128", f"{MIDDLE} 128x128", f"{MIDDLE} 64x64",
        "1x32x32x8192x8192x64 128x128", "1x16x16x4096x4096x256 128x64",
        "1x16x16x4096x4096x256 64x64",
    ),
    variant(
        "full", launches.forward(causal=False), "bfloat16", SMALL,
        f"{LONG} 128x128", f"{MIDDLE} 128x64", "1x32x32x8192x8192x64 128x64",
        "1x16x16x4096x4096x256 128x128", "4x16x16x1000x1000x128 128x128",
    ),
    variant(
        "causal-padded-head", launches.forward(causal=True), "bfloat16", "1x2x2x80x80x48 64x32",
        "1x16x16x4096x4096x192 128x64", "1x16x16x4096x4096x192 64x64",
        "1x32x32x8192x8192x96 128x128",
    ),
    variant(
        "causal-occupancy-2", launches.forward(causal=True, occupancy=2), "float16", SMALL,
        f"{LONG} 64x128", f"{LONG} 64x64", "1x32x32x8192x8192x64 64x128",
    ),
    variant(
        "chunked-prefill", launches.forward(causal=True), "bfloat16", "1x2x1x40x104x64 64x32",
        "1x32x8x512x8192x128 128x128", "4x32x8x256x4096x128 64x128",
    ),
    variant(
        "two-loops", launches.two_loops, "float16", SMALL,
        f"{LONG} 128x128", f"{MIDDLE} 128x64", "1x32x32x8192x8192x64 128x128",
    ),
    variant(
        "natural", launches.natural, "bfloat16", SMALL,
        f"{LONG} 128x128", f"{MIDDLE} 64x64", "1x32x32x8192x8192x64 128x64",
    ),
    variant(
        "soft-cap", launches.soft_cap, "bfloat16", SMALL,
        f"{LONG} 128x128", f"{MIDDLE} 64x128",
    ),
    variant(
        "bias", launches.biased("bfloat16"), "bfloat16", SMALL,
        f"{MIDDLE} 128x128", f"{MIDDLE} 128x64",
    ),
    variant("bias-f32", launches.biased("float32"), "float16", SMALL, f"{MIDDLE} 128x64"),
    variant(
        "fp8", launches.fp8(v_transposed=False), "float8_e4m3fn", "1x2x2x80x80x64 64x64",
        "1x32x32x8192x8192x128 128x128",
    ),
    variant(
        "fp8-v-transposed", launches.fp8(v_transposed=True), "float8_e4m3fn",
        "1x2x2x80x80x64 64x64", "1x32x32x8192x8192x128 128x128", "4x32x32x2048x2048x64 128x128",
    ),
)  # fmt: skip

VARIANTS: Final = FORWARD
