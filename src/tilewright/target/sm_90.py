"""Hopper: asynchronous dots of warpgroups, copies by tensor maps, clusters."""

from __future__ import annotations

from typing import Final

from tilewright.target.arch import Arch, Limits
from tilewright.target.elements import WITH_FP8
from tilewright.target.engines import BULK, CP_ASYNC, REGISTERS, TMA
from tilewright.target.features import Feature
from tilewright.target.memories import KIB, shared_memory
from tilewright.target.rates import Board, Peak, Rates, tensor_rates
from tilewright.target.tensor_cores import MMA_SYNC, MMA_SYNC_F64, MMA_SYNC_FP8, WGMMA

RATES: Final = Rates(
    dots={
        "f16": 4096,
        "bf16": 4096,
        "tf32": 2048,
        "e4m3": 8192,
        "e5m2": 8192,
        "s8": 8192,
        "u8": 8192,
    },
    shared_bytes=128,
    fill_bytes=64,
    lanes=128,
    special_functions=16,
)
"""Of an H100 or H200. Dots: the data sheet's rate of the board, divided by 132 SMs and 1.83 GHz;
a GEMM on an H200 takes 0.92 of the clocks of f16, and one of fp8 twice its rate. The bytes of a
fill are for planning: a GEMM with tiles of 128x128x64 reaches 57. The others are those of the
throughput table of the CUDA programming guide, and the 32 banks of shared memory."""

H200: Final = Board("H200 SXM", sms=132, clock=1.98, bandwidth=4800)
"""From the data sheet; the clock is the highest that `nvidia-smi` reports."""

SM_90: Final = Arch(
    "sm_90",
    ptx_target="sm_90a",
    limits=Limits(warps=64, ctas=32),
    shared=shared_memory(228 * KIB, 227 * KIB),
    max_cluster=16,
    dots=(*WGMMA, *MMA_SYNC, MMA_SYNC_F64, MMA_SYNC_FP8),
    engines=(TMA, BULK, CP_ASYNC, REGISTERS),
    elements=WITH_FP8,
    features=(
        Feature.BF16_ATOMICS,
        Feature.CLUSTER,
        Feature.MULTIMEM,
        Feature.PROGRAMMATIC_LAUNCH,
        Feature.SETMAXNREG,
        Feature.STMATRIX,
        Feature.VECTOR_REDUCTIONS,
    ),
    peak=Peak("H100 SXM", 3350, {**tensor_rates(989, 67, f8=1979), "f64": 67}),
    rates=RATES,
    board=H200,
)

GPUS: Final = {SM_90.name: SM_90}
