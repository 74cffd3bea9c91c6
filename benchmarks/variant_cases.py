"""The GEMM variants with the shapes and tiles that are timed, and small ones to check results."""

from __future__ import annotations

from typing import Final

import variant_kernels as dense
import variant_launches as launches
import variant_operand_launches as operands
import variant_quantized as quantized
from variant_launches import persistent, simple, transposed, with_occupancy
from variant_sizes import variant

RAGGED: Final = "72x40x80 64x32x32"
LARGE: Final = "4096x4096x4096 128x128x64"
WIDE: Final = "4096x4096x4096 128x256x64"

DENSE: Final = (
    variant("raster", simple(dense.raster), "float16", RAGGED, LARGE, WIDE),
    variant(
        "raster-occupancy-2", with_occupancy(simple(dense.raster), 2), "bfloat16", RAGGED, LARGE
    ),
    variant(
        "small-tiles", simple(dense.plain, planar=True), "bfloat16", "40x40x40 32x32x32",
        "2048x2048x2048 64x64x64", "2048x2048x2048 64x128x64", "2048x2048x2048 128x64x32",
        "1024x1024x1024 32x32x32", "1024x1024x1024 64x64x32",
    ),
    variant(
        "decode", simple(dense.plain, planar=True), "float16", "16x40x80 16x32x32",
        "16x4096x4096 16x128x128", "16x4096x4096 16x64x128", "32x4096x4096 32x128x128",
    ),
    variant(
        "one-row", simple(dense.plain, planar=True), "bfloat16", "1x40x80 16x32x32",
        "1x4096x4096 16x64x128",
    ),
    variant(
        "f32-fma", simple(dense.plain, planar=True), "float32", "40x40x40 32x32x16",
        "1024x1024x1024 64x64x16", "1024x1024x1024 128x128x16",
    ),
    variant(
        "ragged", simple(dense.raster), "float16", RAGGED,
        "4000x4008x4104 128x128x64", "2047x2049x2045 128x128x64",
    ),
    variant("half-accumulator", simple(dense.half_accumulator), "float16", RAGGED, LARGE, WIDE),
    variant("matmul-and-add", simple(dense.matmul_and_add), "float16", RAGGED, LARGE, WIDE),
    variant("unrolled", simple(dense.unrolled), "float16", "72x40x128 64x32x32", LARGE),
    variant(
        "b-transposed", transposed(dense.transposed_tiles, of_a=False, of_b=True), "float16",
        RAGGED, LARGE, WIDE,
    ),
    variant(
        "a-transposed", transposed(dense.transposed_tiles, of_a=True, of_b=False), "float16",
        RAGGED, LARGE,
    ),
    variant(
        "both-transposed", transposed(dense.transposed_tiles, of_a=True, of_b=True), "bfloat16",
        RAGGED, LARGE,
    ),
    variant(
        "b-transposed-tf32", transposed(dense.transposed_tiles, of_a=False, of_b=True), "float32",
        "72x40x48 64x32x16", "4096x4096x2048 128x128x32",
    ),
    variant(
        "b-load-order", transposed(dense.transposed_loads, of_a=False, of_b=True), "float16",
        RAGGED, LARGE,
    ),
    variant(
        "both-load-order", transposed(dense.transposed_loads, of_a=True, of_b=True), "float16",
        RAGGED, LARGE,
    ),
    variant("gram", launches.gram, "bfloat16", "72x72x80 64x32x32", LARGE),
    variant(
        "batched", launches.batched, "float16", "3x72x40x48 1x64x32x32",
        "16x1024x1024x1024 1x128x128x64", "64x512x512x128 1x64x64x64",
    ),
    variant(
        "batched-pairs", launches.batched, "float16", "4x40x40x48 2x32x32x32",
        "64x512x512x128 2x64x64x32",
    ),
    variant(
        "persistent-for", persistent(dense.persistent_for, b_transposed=True), "bfloat16", RAGGED,
        LARGE, WIDE,
    ),
    variant(
        "persistent-while", persistent(dense.persistent_while, b_transposed=False), "bfloat16",
        RAGGED, LARGE,
    ),
    variant(
        "split-k", launches.split_k, "float16", "72x40x512 64x32x32",
        "512x512x8192 128x128x64", "64x4096x4096 64x128x64",
    ),
    variant(
        "stream-k", persistent(dense.stream_k, b_transposed=False, result="float32"), "float16",
        "72x40x160 64x32x32", "1536x1536x4096 128x128x64", "1536x1536x4096 128x256x64",
    ),
)  # fmt: skip

FUSED: Final = (
    variant("bias-gelu", launches.bias_gelu, "bfloat16", RAGGED, LARGE, WIDE),
    variant("residual", launches.residual, "bfloat16", RAGGED, LARGE, WIDE),
    variant("column-scale", launches.column_scale, "float16", RAGGED, LARGE),
    variant(
        "swiglu", launches.swiglu, "bfloat16", "72x40x80 64x32x32",
        "4096x4096x4096 128x128x64", "4096x4096x4096 128x64x64",
    ),
    variant(
        "softmax", launches.softmax, "float16", "72x32x80 64x32x32",
        "16384x256x1024 64x256x64", "16384x128x1024 128x128x64",
    ),
    variant("rms-norm", launches.rms_norm, "bfloat16", RAGGED, "4096x4096x2048 128x128x64"),
    variant(
        "chain", launches.chain, "float16", "2x72x80x32 64x32x32",
        "32x2048x2048x128 128x128x128", "32x2048x2048x64 64x64x64",
    ),
    variant(
        "lora", launches.lora, "bfloat16", "72x40x80x16 64x32x32",
        "4096x4096x4096x16 128x128x64", "4096x4096x4096x64 128x128x64",
    ),
)  # fmt: skip

QUANTIZED: Final = (
    variant(
        "fp8-block-scaled", operands.block_scaled, "float8_e4m3fn", "72x128x256 64x64x128",
        "4096x4096x4096 128x128x128", "4096x4096x4096 64x128x128",
        "4096x4096x4096 256x128x128",
    ),
    variant(
        "fp8-scaled", operands.scaled, "float8_e4m3fn", "72x40x80 64x32x64",
        "4096x4096x4096 128x128x128",
    ),
    variant(
        "int8-scaled", operands.scaled, "int8", "72x40x80 64x32x64",
        "4096x4096x4096 128x128x128", "4096x4096x4096 128x256x64",
    ),
    variant(
        "int8-weights", operands.converted("float16", "int8"), "float16", RAGGED,
        "4096x4096x4096 128x128x64", "16x4096x4096 16x128x128",
    ),
    variant(
        "fp8-weights", operands.converted("float16", "float8_e4m3fn"), "float16", RAGGED,
        "2048x4096x4096 128x128x64",
    ),
    variant(
        "f32-activations", operands.converted("float32", "bfloat16"), "bfloat16", RAGGED,
        "4096x4096x4096 128x128x64",
    ),
    variant(
        "int8-groups", operands.int8_groups, "float16", "72x40x128 64x32x64",
        "2048x4096x4096 128x128x128", "16x4096x4096 16x128x128",
    ),
    variant(
        "int4-concatenated", operands.int4(quantized.int4_concatenated), "float16",
        "72x40x128 64x32x64", "2048x4096x4096 128x128x64", "16x4096x4096 16x128x128",
    ),
    variant(
        "int4-two-dots", operands.int4(quantized.int4_two_dots), "float16",
        "72x40x128 64x32x64", "2048x4096x4096 128x128x64", "16x4096x4096 16x128x128",
    ),
)  # fmt: skip

INDEXED: Final = (
    variant("gather-scatter", operands.gather_scatter, "float16", RAGGED, LARGE),
    variant("gather-slices", operands.gather_slices, "float16", RAGGED, LARGE),
    variant(
        "grouped-k", operands.grouped_k, "bfloat16", "3x72x40x200 64x32x32",
        "8x2048x2048x4096 128x128x64",
    ),
    variant(
        "block-sparse", operands.block_sparse, "float16", "128x40x512 64x32x32",
        "4096x4096x4096 128x128x64",
    ),
    variant("triangular", operands.triangular, "float16", "72x40x72 64x32x32", LARGE),
    variant(
        "convolution-gather", operands.convolution, "float16", "2x6x8x40x32 64x32x16",
        "16x56x56x256x128 128x128x64",
    ),
    variant(
        "convolution-slices", operands.convolution, "float16", "2x6x8x40x32 4x16x32x16",
        "16x56x56x256x128 8x16x128x64",
    ),
    # Last, as lists of arrays may not be captured in graphs.
    variant(
        "grouped-arrays", operands.grouped_arrays, "float16", "3x200x40x200 64x32x32",
        "8x8192x2048x16384 128x128x64", "8x8200x2048x16392 128x128x64",
    ),
)  # fmt: skip

VARIANTS: Final = (*DENSE, *FUSED, *QUANTIZED, *INDEXED)
