"""The attention variants with the shapes and tiles that are timed, and small ones to check results.

Shapes of attention are batch, heads, heads of K and V, queries, keys and size of a head; tiles are
queries and keys.
"""

from __future__ import annotations

from typing import Final

import attention_decode_launches as decode
import attention_gradient_launches as gradients
import attention_indexed as indexed_kernels
import attention_indexed_launches as indexed
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

SMALL_WINDOW: Final = "1x2x1x168x168x64x40 64x32"
WINDOW: Final = f"{LONG}x1024"

INDEXED: Final = (
    variant(
        "sliding-window", indexed.sliding_window(branch=True), "bfloat16", SMALL_WINDOW,
        f"{WINDOW} 128x128", f"{WINDOW} 64x64", f"{WINDOW} 128x64",
    ),
    variant(
        "sliding-window-masked", indexed.sliding_window(branch=False), "float16", SMALL_WINDOW,
        f"{WINDOW} 128x128", f"{WINDOW} 64x128",
    ),
    variant(
        "padded", indexed.padded, "bfloat16", "2x2x1x40x80x64 64x32",
        "8x16x16x2048x2048x128 128x128", "32x16x16x512x512x64 64x64",
    ),
    variant(
        "varlen", indexed.varlen, "bfloat16", "2x1x1x136x128 128x64",
        "8x32x8x2048x128 128x128", "32x32x8x512x128 64x64",
    ),
    variant(
        "paged-decode", indexed.paged(indexed_kernels.paged), "float16",
        "2x8x1x72x32x64 16x32",
        "64x32x8x4096x64x128 16x64", "64x32x8x4096x128x128 16x128", "256x64x8x2048x16x128 16x16",
    ),
    variant(
        "paged-gather", indexed.paged(indexed_kernels.paged_gather), "float16",
        "2x8x1x72x16x64 16x32", "64x32x8x4096x16x128 16x64", "64x32x8x4096x16x128 16x128",
    ),
    variant(
        "paged-prefill", indexed.paged_prefill, "bfloat16", SMALL,
        f"{MIDDLE} 128x128", f"{MIDDLE} 128x64",
    ),
    variant(
        "persistent", indexed.persistent, "float16", SMALL,
        f"{LONG} 128x128", f"{MIDDLE} 128x128", f"{MIDDLE} 64x128", f"{MIDDLE} 64x64",
    ),
)  # fmt: skip

DECODE: Final = (
    variant(
        "gqa-decode", decode.grouped, "bfloat16", "2x8x1x72x64 16x32x1",
        "64x64x8x4096x128 16x64x1", "64x64x8x4096x128 16x128x1", "64x32x2x4096x128 16x128x1",
    ),
    variant(
        "gqa-decode-parts", decode.grouped, "bfloat16", "1x8x2x136x64 16x32x4",
        "4x32x8x16384x128 16x128x16", "1x64x8x65536x128 16x128x32", "4x32x8x16384x64 16x64x16",
    ),
    variant(
        "mla-decode", decode.latent, "bfloat16", "1x64x72x128x32 64x32x1",
        "64x128x4096x512x64 64x64x1", "64x128x4096x512x64 64x32x1",
    ),
    variant(
        "mla-decode-16-heads", decode.latent, "bfloat16", "2x16x40x128x32 16x32x1",
        "128x16x4096x512x64 16x64x1", "128x16x4096x512x64 16x32x1",
    ),
    variant(
        "mla-decode-parts", decode.latent, "bfloat16", "1x16x104x128x32 16x32x4",
        "1x128x32768x512x64 64x64x64", "16x128x4096x512x64 64x64x4", "8x16x8192x512x64 16x64x16",
    ),
)  # fmt: skip

SMALL_CHUNKS: Final = "2x96x64x64 32x32"
STATES: Final = "128x4096x128x128"
"""Heads of all sequences, tokens, elements of a key and of a value."""

LINEAR: Final = (
    variant(
        "retention", gradients.retention, "bfloat16", SMALL_CHUNKS,
        f"{STATES} 64x128", f"{STATES} 128x128", f"{STATES} 64x64",
    ),
    variant(
        "gated-linear", gradients.gated, "bfloat16", SMALL_CHUNKS,
        f"{STATES} 64x128", f"{STATES} 128x128", f"{STATES} 128x64",
    ),
    variant(
        "gated-linear-parallel", gradients.gated_parallel, "bfloat16", SMALL_CHUNKS,
        f"{STATES} 64x128", f"{STATES} 128x128", "32x16384x128x128 64x64",
    ),
)  # fmt: skip

SMALL_GRADIENTS: Final = "1x2x96x64 32x64x64x32"

GRADIENTS: Final = (
    variant(
        "gradients-causal", gradients.attention_gradients(causal=True), "bfloat16",
        SMALL_GRADIENTS,
        "1x32x8192x128 64x128x128x64", "1x32x8192x128 64x64x64x64",
        "1x32x8192x64 64x128x128x64", "1x32x8192x64 128x128x128x128",
    ),
    variant(
        "gradients", gradients.attention_gradients(causal=False), "float16", SMALL_GRADIENTS,
        "4x32x2048x128 64x128x128x64", "4x32x2048x128 32x128x128x64",
        "4x32x2048x64 64x128x128x64",
    ),
)  # fmt: skip

VARIANTS: Final = (*FORWARD, *INDEXED, *DECODE, *LINEAR, *GRADIENTS)
