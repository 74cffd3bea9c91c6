"""The limits of each move: how much of a thread, a block or an SM it may take, and when it pays.

Each says how it was set; "not measured" says that it was not by itself. Where the cost model sees a
difference, it decides, within these. What code takes beside tiles is in `registers.py`, the
constants of the cost model in `constants.py`, what a GPU has in `target`. Numbers that follow from
an instruction, a format or a definition stand where they are used. A share is in registers of a
thread.
"""

from __future__ import annotations

from typing import Final, NamedTuple

# Stages of software pipelines.

LEAST_STAGES: Final = 2
"""Of a pipeline whose tiles several threads read: one that they use, one that is copied."""
OVERLAPPED_STAGES: Final = 3
"""Where a dot is in flight, another block multiplies meanwhile, or a producer copies alone: one
that is read, one that arrived, one that is copied."""
HELD_STAGES: Final = 3
"""Of loops whose tiles all pass through registers: an iteration hides the latency of the loads. Not
measured."""
PRIVATE_STAGES: Final = 4
"""Of loops whose threads read only what they copied themselves. Not measured."""
MAX_STAGES: Final = 6
"""Of pipelines with dots, unless it is forced: more were slower on an H200 (decision 0015)."""
FORCED_STAGES: Final = 8
"""Of a pipeline, as many as can be forced."""
STAGES_OF_STORES: Final = 2
"""While TMA reads one box of a warp, the warp writes the next."""
CONSUMER_GROUPS: Final = 2
"""While one warpgroup waits for its dots, another keeps the tensor cores busy."""


class Limits(NamedTuple):
    """Limits on the shared memory of a block, in bytes."""

    block: int
    """For the whole block, so that others can be resident beside it."""
    iteration: int
    """For one iteration: larger loads saturate memory bandwidth without prefetching."""


PLAIN: Final = Limits(block=48 * 1024, iteration=32 * 1024)
"""Of loops whose threads read only what they loaded themselves. Not measured."""
DOTS: Final = Limits(block=112 * 1024, iteration=64 * 1024)
"""Of such loops with dots: two blocks fit on an SM, their registers do not allow more."""

# The choice among pipelines.

MARGIN: Final = 0.05
"""How much faster a candidate has to be than the best of those before it, relative to its clocks.
Set with the 160 tiles of `benchmarks/results/cost-model.md` in view: among 0, 0.02, 0.05, 0.1, 0.15
and 0.2, it had the least mean loss in a prototype of this choice."""
FEWER_STAGES_MARGIN: Final = 0.15
"""The same with fewer stages than fit, so that more blocks share an SM: registers, which decide it
as well, are an estimate, and small grids have no second block for an SM. GEMMs of one wave take up
to 1.4 of the time with two stages instead of three. No margin for four stages or more where threads
wait for their dots: while they compute the next operands, only other blocks multiply. GEMMs in fp8
and int8 that scale or convert operands then take 0.92 and 0.84 of the time, a chain of GEMMs
1.03."""

# Registers of a thread for tiles.

TILE_SHARE: Final = 32
"""For one tile, without dots: larger ones have more warps, and tiles of which the chosen warps
would hold more are cut. If tiles of 64 registers are, a search of the largest two takes 0.62 of the
time."""
WARPS_OF_PARTS: Final = 8
"""At most, where `slice-tiles` has large tiles computed part by part: without loops, reductions,
scans and atomics. A causal convolution whose tile would have sixteen takes 0.71 of the time."""
LIVE_SHARE: Final = 140
"""For tiles that are live together in a loop or a reduction without dots, above which warps double:
with 28 others, an SM has registers for three blocks of four warps. On an H200, backward passes of
RMS norm with 136, 144 and 160 take 1.09, 0.85 and 0.61 of the time with eight warps, a selective
scan with 128 takes 0.99 (`benchmarks/results/plans-h200.json`)."""
FEW_LIVE_SHARE: Final = 104
"""For tiles that are live together where fewer warps suffice: with 24 others, an SM has registers
for 16 warps. With 66 a Sinkhorn iteration takes 0.79 of the time with half of the warps, with 97 a
search of the largest two 0.75 and 0.59; a group norm with 192 takes 1.32."""
SCAN_SHARE: Final = 16
"""For a scanned tile of four warps, above which there are eight: a thread scans its elements one
after the other. With 32, a linear recurrence takes 0.52 of the time, a segmented scan 0.75; with
16, they take 0.71 to 1.09, the most for the fastest tile."""
ROW_SHARE: Final = 32
"""For tiles that are live together in a kernel of one row, at most, if a block has fewer warps."""
DOT_SHARES: Final = {4: 64, 8: 128}
"""By number of warps, for the largest tile of a kernel with dots, above which warps double:
accumulators stay in registers, and larger ones need fewer operand loads for each element. A thread
of 16 warps has at most 128 registers."""
LIVE_DOT_SHARE: Final = 160
"""Of one warpgroup, above which accumulators that are live together, as those of the gradients of
attention, are divided between two: operands are in registers beside them."""
LARGE_TILE: Final = 16
"""For a large tile, at least: software pipelines copy it, prefetching leaves it to them."""
EARLY_SHARE: Final = 32
"""For tiles on their way through registers: those that are prefetched, that pass to a stage in an
iteration, or that a version for one iteration loads once. Not measured."""
SINGLE_TRIP_SHARE: Final = 24
"""In a version for one iteration, with the tiles that are loaded early. More, and ptxas takes
registers from resident blocks (RMS norm of f16, 16 elements of a thread: 45 registers instead of
40, 10 blocks of 12)."""
INDEX_SHARE: Final = 8
"""For a tile of indices that a loop carries. Not measured."""
RECOMPUTED_SHARE: Final = 8
"""For a tile that is computed anew, at least. Not measured."""

# Bytes and threads of an SM.

RESIDENT_WARPS: Final = 32
"""Warps of an SM that are to be resident: eight of a scheduler hide the latency of instructions,
and rows of 32 registers of each thread are 64 KiB in flight in f16."""
BYTES_IN_FLIGHT: Final = 36 * 1024
"""Of an SM, with which loads take the bandwidth of device memory. RMS norm on an H200 runs at 0.88
of a copy with 20 KiB, 0.92 with 24, 0.94 to 0.98 with 32, and 0.97 to 0.99 with 36 and 40."""
PREFETCHED_BYTES: Final = 32 * 1024
"""Of a block that are prefetched: one that loads more at a time keeps memory busy anyway."""

# Tiles that stay in shared memory for later loops.

KEPT_IN_FLIGHT: Final = 24 * 1024
"""Bytes that the blocks of an SM load at the same time, also if each has only one tile."""
KEPT_LEAST_THREADS: Final = 640
"""Threads of an SM that kept tiles leave shared memory for: they hide latencies of computation."""
KEPT_MOST_THREADS: Final = 1152
"""More threads have too few registers to be resident together."""
KEPT_BYTES: Final = 16
"""Of a thread, from which on a tile is worth keeping: one access of the full width."""
FEWEST_KEPT: Final = 2
"""Tiles below which a loop is left alone: split, it would take longer to start than it saves."""
MOST_KEPT: Final = 16
"""Tiles that are kept of a loop: longer loops are rare, and shared memory is taken from all."""
MERGED_TILES: Final = 2
"""How many times what a block may hold the tiles may take that are kept for a second use. Not
measured."""

# Copies of code.

UNROLLED_TRIPS: Final = 4
"""The largest trip count of a loop that is unrolled. Not measured."""
COPIED_OPS: Final = 256
"""Operations of an unrolled loop, or of a version for one iteration. Not measured."""
DOT_SLICES: Final = 8
"""Of a dot: more take longer to compile, and few registers less."""
RESULT_SLICES: Final = 4
"""Of what is computed from the result of a dot. Not measured."""
LEAST_COLUMNS: Final = 64
"""Of a part of accumulators that exceed the registers. Not measured."""
RECOMPUTED_OPS: Final = 16
"""Element-wise operations that compute a tile anew. Not measured."""
CHEAP: Final = 2
"""Instructions for an element of an operation that may follow the read of a stage."""

# Layouts.

ASSUMED_TRIPS: Final = 8
"""Iterations of a loop, by which what is in it counts more. Not measured."""
DOT_WEIGHT: Final = 64
"""The weight of an access is its size in bytes; a dot in another layout than its own would convert
its accumulator in each iteration. Not measured."""
EXCHANGE_COST: Final = 128
"""What threads wait for each other in a layout conversion, in accesses of a warp to a line. Not
measured."""
MATRIX_BYTES: Final = 16 * 1024
"""Of shared memory for all matrices that threads multiply with lines they hold. Not measured."""
HOISTED_GAIN: Final = 4
"""How many times more bytes a conversion must move than those that replace it. Not measured."""
HOISTED_WORK: Final = 4
"""Instructions for an element that may be repeated in other threads. Not measured."""

# Blocks that wait for each other.

SHORTEST_SLEEP: Final = 32
"""Nanoseconds after the first failed attempt: an attempt itself takes twenty times as long."""
LONGEST_SLEEP: Final = 1024
"""Nanoseconds, about as long as a critical section that updates a tile; four times as long made the
layer norms of few rows a third slower than no sleep."""
LOG2_BLOCKS_OF_SLEEP: Final = 2
"""Of the blocks that add a nanosecond to the limit. With `LONGEST_SLEEP` for any number of them,
GEMMs that split K over 32 or 128 blocks were 6 to 10 % slower."""
