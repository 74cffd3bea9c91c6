"""The validation kernels, each with one shape and four tiles that are timed, and a small size.

The compiler was not tuned for them: they measure whether its choices generalize. They never change.
"""

from __future__ import annotations

from typing import Final

import validation_attention_launches as attention
import validation_decode_launches as decode
import validation_gemm_launches as gemm
import validation_indexed_launches as indexed
import validation_rows_launches as rows
import validation_scans_launches as scans
from variant_sizes import Build, Variant, size


def validation(name: str, build: Build, dtype: str, small: str, shape: str, *tiles: str) -> Variant:
    """A variant with sizes of one shape."""
    return Variant(
        name, build, dtype, size(small), tuple(size(f"{shape} {each}") for each in tiles)
    )


SQUARES: Final = ("128x128", "128x64", "64x128", "64x64")

ATTENTION: Final = (
    validation(
        "packed-odd-length", attention.packed, "bfloat16", "1x2x70x32 64x32",
        "4x16x1537x128", *SQUARES,
    ),
    validation(
        "causal-96", attention.two_widths, "float16", "1x2x72x96 64x32", "1x24x4096x96", *SQUARES
    ),
    validation(
        "causal-192-128", attention.shared_rope, "bfloat16", "1x2x72x32x16 32x32",
        "1x16x4096x128x64", *SQUARES,
    ),
    validation(
        "latent-prefill", attention.latent_prefill, "bfloat16", "4x20x64x16 32x16",
        "16x2000x512x64", "64x64", "64x32", "32x64", "32x32",
    ),
    validation(
        "window-soft-cap", attention.window_soft_cap, "bfloat16", "1x2x1x104x32x40 32x16",
        "1x16x4x8192x128x1000", *SQUARES,
    ),
    validation(
        "block-mask", attention.block_mask, "float16", "2x128x32x32 32x32",
        "16x4096x128x128", *SQUARES,
    ),
    validation(
        "sink-logits", attention.sinks, "bfloat16", "1x2x1x72x32x20 32x16",
        "1x64x8x4096x64x128", *SQUARES,
    ),
    validation(
        "documents", attention.documents, "bfloat16", "2x1x72x32x5 32x16",
        "32x8x8192x128x10", *SQUARES,
    ),
    validation(
        "cross-short-keys", attention.short_keys, "float16", "2x2x40x13x24 32x16",
        "16x8x4096x77x40", "32x128", "64x128", "128x128", "256x128",
    ),
    validation(
        "gradients-grouped", attention.grouped_gradients, "bfloat16", "1x4x2x72x32 32x16",
        "2x32x8x2048x128", "128x64", "64x64", "64x128", "128x32",
    ),
)  # fmt: skip

DECODE: Final = (
    validation(
        "window-decode", decode.window, "bfloat16", "2x8x2x72x32x20 16x16",
        "128x64x8x2048x128x1000", "16x32", "16x64", "16x128", "8x128",
    ),
    validation(
        "five-query-decode", decode.transposed_parts, "float16", "1x10x2x72x32 8x16x2",
        "8x40x8x10000x128", "8x64x16", "8x128x16", "16x64x16", "16x128x32",
    ),
    validation(
        "latent-decode-fp8", decode.latent_fp8_parts, "bfloat16", "1x16x40x64x16 16x16x2",
        "64x16x5000x512x64", "16x32x4", "16x64x4", "16x64x8", "16x128x4",
    ),
    validation(
        "seven-by-four-decode", decode.drafts, "bfloat16", "2x1x7x4x72x32 32x16",
        "64x4x7x4x4000x128", "32x32", "32x64", "32x128", "64x64",
    ),
)  # fmt: skip

GEMM: Final = (
    validation(
        "gemv", gemm.gemv, "float16", "20x72 8x32",
        "28672x8200", "4x2048", "8x1024", "16x512", "32x256",
    ),
    validation(
        "gemv-batched", gemm.gemv_batched, "bfloat16", "2x40x40 16x32",
        "64x2000x1024", "16x512", "32x256", "64x128", "128x64",
    ),
    validation(
        "gemv-int8", gemm.gemv_int8, "int8", "20x384 8x256",
        "16384x8192", "4x2048", "8x1024", "16x512", "32x256",
    ),
    validation(
        "skinny-odd", gemm.skinny, "bfloat16", "8x45x72 8x32x32",
        "8x32003x5120", "8x64x128", "8x64x256", "8x128x64", "8x128x128",
    ),
    validation(
        "grouped-fp8", gemm.grouped_fp8, "float8_e4m3fn", "3x40x128x256 16x64x128",
        "16x8192x2048x4096", "64x64x128", "64x128x128", "128x64x128", "128x128x128",
    ),
    validation(
        "gate-int8", gemm.gate_int8, "float16", "40x40x72 32x32x32",
        "512x11008x4096", "64x64x64", "64x128x64", "128x64x64", "128x128x64",
    ),
    validation(
        "k-means", gemm.k_means, "float16", "72x45x32 64x32",
        "65536x1000x128", "64x64", "64x128", "128x64", "128x128",
    ),
    validation(
        "sinkhorn", gemm.sinkhorn, "float32", "5x16x4 2", "32768x32x20", "1", "2", "4", "8"
    ),
)  # fmt: skip

ROWS: Final = (
    validation(
        "layer-norm-backward", rows.layer_norm_backward, "bfloat16", "13x40 2",
        "32768x1600", "1", "2", "4", "8",
    ),
    validation(
        "rms-norm-backward", rows.rms_norm_backward, "bfloat16", "5x72 2x32",
        "4096x13000", "1x2048", "1x4096", "2x2048", "4x1024",
    ),
    validation(
        "group-norm", rows.group_norm, "float16", "2x3x5x72 8x32",
        "32x32x10x4096", "16x128", "16x256", "16x512", "16x1024",
    ),
    validation(
        "cross-entropy", rows.cross_entropy, "bfloat16", "5x77 2x32",
        "2048x50257", "1x1024", "1x4096", "1x8192", "2x2048",
    ),
    validation("top-2", rows.top_2, "float32", "21x20 8", "100000x160", "8", "16", "32", "64"),
    validation(
        "one-pass-moments", rows.moments, "float32", "5x77 2x32",
        "8192x10000", "1x1024", "1x2048", "2x1024", "4x512",
    ),
)  # fmt: skip

SCANS: Final = (
    validation(
        "cumulative-rows", scans.cumulative_rows, "float32", "5x77 2x32",
        "2048x40000", "1x1024", "1x4096", "2x2048", "4x1024",
    ),
    validation(
        "segments", scans.segments, "int32", "300 64",
        "20000000", "1024", "2048", "4096", "8192",
    ),
    validation(
        "linear-recurrence", scans.linear_recurrence, "bfloat16", "2x37x40 16x32",
        "8x4000x2048", "16x128", "32x64", "64x32", "128x32",
    ),
    validation(
        "selective-scan", scans.selective_scan, "bfloat16", "2x9x40 32",
        "8x1000x4096", "32", "64", "128", "256",
    ),
    validation(
        "delta-rule", scans.delta_rule, "bfloat16", "2x40x32x32 16x16",
        "64x2000x128x128", "16x64", "32x64", "32x128", "64x64",
    ),
)  # fmt: skip

INDEXED: Final = (
    validation(
        "embedding-bag", indexed.embedding_bag, "float16", "50x9x7x32 4",
        "500000x32768x64x128", "4", "8", "16", "32",
    ),
    validation(
        "scatter-add", indexed.scatter_add, "float32", "3x7x40 8x32",
        "16x16384x128", "16x128", "32x128", "64x64", "128x32",
    ),
    validation(
        "histogram", indexed.histogram, "int32", "300x20 64",
        "16000000x65536", "512", "1024", "2048", "4096",
    ),
    validation(
        "row-histograms", indexed.row_histograms, "uint8", "3x77x16 32",
        "4096x8000x64", "64", "128", "256", "512",
    ),
    validation(
        "causal-convolution", indexed.causal_convolution, "bfloat16", "2x21x40 8x32",
        "8x4000x4096", "16x256", "32x128", "64x64", "128x64",
    ),
    validation(
        "stem-convolution", indexed.stem_convolution, "float16", "2x12x3x16 32x16x32",
        "32x224x3x64", "64x64x32", "64x64x64", "128x64x16", "128x64x32",
    ),
    validation(
        "depthwise-convolution", indexed.depthwise_convolution, "float16", "2x6x7x20 4x4x16",
        "32x56x56x192", "2x16x64", "4x4x128", "4x8x64", "8x8x32",
    ),
)  # fmt: skip

VARIANTS: Final = (*ATTENTION, *DECODE, *GEMM, *ROWS, *SCANS, *INDEXED)
