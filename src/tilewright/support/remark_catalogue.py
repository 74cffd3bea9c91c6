"""The catalogue of remarks: every decision that the compiler reports, under a stable id.

A remark is created from an entry, so that no id can be emitted that is not documented here.
`docs/remarks.md` is printed from these entries.
"""

from __future__ import annotations

from typing import Final, NamedTuple

MEMORY: Final = "Memory"
TENSOR_CORE: Final = "Tensor-core"
RESOURCES: Final = "Resources"
COMPILER: Final = "Compiler"
HINTS: Final = "Hints"
CATEGORIES: Final = (MEMORY, TENSOR_CORE, RESOURCES, COMPILER, HINTS)

PASSED: Final = "passed"
MISSED: Final = "missed"
FAILED: Final = "failed"
ANALYSIS: Final = "analysis"
KINDS: Final = (PASSED, MISSED, FAILED, ANALYSIS)


class RemarkEntry(NamedTuple):
    """The declaration of a remark."""

    id: str
    """The name that people look up; it never changes its meaning."""
    name: str
    """The name in remark files: that of NVIDIA's compiler where it reports the same."""
    kind: str
    """`PASSED`, `MISSED`, `FAILED` or `ANALYSIS`."""
    category: str
    """One of `CATEGORIES`."""
    meaning: str
    """What the remark says."""
    why: str
    """Why the decision matters, and what it depends on."""
    remedy: str = ""
    """What to change in the program; empty where nothing is to be changed."""


CATALOGUE: Final[dict[str, RemarkEntry]] = {}
"""All entries by id, in the order of the documentation."""


def _declare(
    id: str, name: str, kind: str, category: str, meaning: str, why: str, remedy: str = ""
) -> RemarkEntry:
    assert id not in CATALOGUE, id
    entry = RemarkEntry(id, name, kind, category, meaning, why, remedy)
    CATALOGUE[id] = entry
    return entry


# Accesses to global memory.

LOAD_SELECTED: Final = _declare(
    "load-selected", "RemarkMemoryLoadInstructionSelected", PASSED, MEMORY,
    "The instruction that loads a tile, and how many elements it loads at once.",
    "`ld.global` loads to registers; `cp.async` and `cp.async.bulk.tensor` (TMA) copy to shared "
    "memory while the threads do something else.",
)  # fmt: skip
STORE_SELECTED: Final = _declare(
    "store-selected", "RemarkMemoryStoreInstructionSelected", PASSED, MEMORY,
    "The instruction that stores a tile, and how many elements it stores at once.",
    "`st.global` stores from registers; TMA stores boxes of a tile from shared memory.",
)  # fmt: skip
VECTOR_ALIGNMENT: Final = _declare(
    "vector-alignment", "RemarkVectorization", MISSED, MEMORY,
    "Accesses are narrower than 16 bytes, since the alignment of an address is not known.",
    "An instruction accesses up to 16 bytes, at an address that its size divides. An address that "
    "is an argument may be any multiple of the size of an element.",
    "If the address is aligned, say so: `assume div_by<16>` on the pointer in Tile IR. cuTile "
    "Python does this for arrays whose address is a multiple of 16.",
)  # fmt: skip
VECTOR_DIVISIBILITY: Final = _declare(
    "vector-divisibility", "RemarkVectorization", MISSED, MEMORY,
    "Accesses are narrower than 16 bytes, since nothing is known to divide a stride or an index.",
    "The address of each row, and of each tile, has to be a multiple of the size of an access. "
    "It is the base plus multiples of strides and indices.",
    "Make the stride a constant, or say what divides it: `assume div_by<8>` for elements of 16 "
    "bits. Pad rows to a multiple of 16 bytes. If an index is computed, assume what divides it.",
)  # fmt: skip
VECTOR_STRIDE: Final = _declare(
    "vector-stride", "RemarkVectorization", MISSED, MEMORY,
    "Elements are accessed one by one, since no dimension of the tile has stride one.",
    "Only elements that are contiguous in memory can be accessed together. A dynamic stride may "
    "be anything, and a gathered dimension has unrelated addresses.",
    "Make the innermost stride the constant 1, and gather along another dimension. If the tensor "
    "is transposed, load the tile as it is in memory and use `permute`.",
)  # fmt: skip
VECTOR_CONTIGUITY: Final = _declare(
    "vector-contiguity", "RemarkVectorization", MISSED, MEMORY,
    "Accesses through pointers are narrow, since neighbouring pointers are not known to be "
    "contiguous.",
    "The compiler follows `iota`, `offset`, addition and multiplication. What it cannot follow, "
    "such as indices that are loaded, may be any addresses.",
    "Compute the fastest dimension as a base plus `iota`, and add indices along other dimensions "
    "only. A view of the memory says more than pointers do.",
)  # fmt: skip
VECTOR_MASK: Final = _declare(
    "vector-mask", "RemarkVectorization", MISSED, MEMORY,
    "Accesses through pointers are narrow, since the mask may differ between the elements of one.",
    "One access has one predicate. A comparison with a bound that nothing is known to divide may "
    "change within any vector.",
    "Say what divides the bound (`assume div_by<16>`), or pad the data and drop the mask. Loads "
    "of views check bounds without it.",
)  # fmt: skip
VECTOR_BOUNDS: Final = _declare(
    "vector-bounds", "RemarkVectorization", MISSED, MEMORY,
    "Accesses are narrow, since a tile may be cut off within a vector at any element.",
    "Tiles that overlap, or that start anywhere, may end within a vector at both ends. Tiles "
    "that partition a view end at one, and stay vectorized.",
    "Make the extent of the view a constant, or assume what divides it.",
)  # fmt: skip
VECTOR_ORDER: Final = _declare(
    "vector-order", "RemarkVectorization", MISSED, MEMORY,
    "Elements are accessed one by one, since the access is not weak, or is volatile.",
    "Accesses with memory ordering are ordered one by one.",
    "Use `weak` unless other blocks access the same memory, and order by tokens.",
)  # fmt: skip
TMA_LOAD_REFUSED: Final = _declare(
    "tma-load-refused", "RemarkMemoryTmaLoadFailed", FAILED, MEMORY,
    "TMA cannot copy a tile of a pipelined loop, and why.",
    "TMA copies whole tiles without threads, and is needed for warp specialization and multicast. "
    "It needs a view with an address and strides that are multiples of 16 bytes, created before "
    "all loops, coordinates below 2^31, and a tile that its boxes cover.",
    "Give what the reason names: alignment by `assume div_by`, extents by `assume bounded` (and "
    "no array of cuTile that is `IndexedWithInt64`), padding of zero or nan, a view that is "
    "created outside of the loop, no cache hint, and no `allow_tma = false`.",
)  # fmt: skip
TMA_LOAD_UNUSED: Final = _declare(
    "tma-load-unused", "RemarkMemoryTmaLoadUnused", MISSED, MEMORY,
    "The program allows TMA for a load, which could be copied so but is not.",
    "Encoding a tensor map takes a microsecond at the start of a kernel. For short kernels "
    "without a specialized warp, `cp.async` is faster.",
    "`--schedule agents=1` forces warp specialization with TMA; measure both, or use "
    "`tilewright tune`. `--tensor-maps parameters` lets the launcher encode the maps.",
)  # fmt: skip
TMA_STORE_REFUSED: Final = _declare(
    "tma-store-refused", "RemarkMemoryTmaStoreFailed", FAILED, MEMORY,
    "TMA does not store a tile of a warp-specialized kernel, and why.",
    "TMA writes whole rows of multiples of 16 bytes, and needs a view that is created before all "
    "loops, and coordinates below 2^31.",
    "Give what the reason names: alignment of the address, the strides and the length of rows by "
    "`assume div_by`, extents by `assume bounded`, a weak store, and no `allow_tma = false`.",
)  # fmt: skip
TENSOR_MAPS_ENCODED: Final = _declare(
    "tensor-maps-encoded", "RemarkTensorMaps", MISSED, MEMORY,
    "The kernel encodes its tensor maps although the launcher was to do so.",
    "The launcher can encode a map if address, sizes and strides of the tensor are arguments or "
    "constants.",
    "Pass the address, sizes and strides as arguments instead of computing them.",
)  # fmt: skip
TILE_MULTICAST: Final = _declare(
    "multicast", "RemarkMulticast", PASSED, MEMORY,
    "One CTA of a cluster loads a tile for several of them.",
    "CTAs that split a dimension of a dot read the same tile of the other operand.",
)  # fmt: skip
MULTICAST_REFUSED: Final = _declare(
    "multicast-refused", "RemarkMulticast", MISSED, MEMORY,
    "CTAs of a cluster each load a tile that they share, and why.",
    "A tile is multicast by TMA into a pipeline that all CTAs fill in the same order.",
    "Give what the reason names; see `warps-not-specialized` and `tma-load-refused` if no "
    "producer copies the tile by TMA.",
)  # fmt: skip
EVICT_FIRST: Final = _declare(
    "evict-first", "RemarkEvictFirst", PASSED, MEMORY,
    "A tile that is read once is evicted from L2 before others.",
    "Tiles that others read again stay in L2 for longer.",
)  # fmt: skip
EVICT_FIRST_REFUSED: Final = _declare(
    "evict-first-refused", "RemarkEvictFirst", ANALYSIS, MEMORY,
    "A tile of a pipeline is kept in L2 as usual, and why.",
    "A tile that another block or iteration reads again is worth its space in L2.",
)  # fmt: skip
TILES_KEPT: Final = _declare(
    "tiles-kept", "RemarkKeptTiles", PASSED, MEMORY,
    "Tiles that several loops load are kept in shared memory for the later ones.",
    "Rows that are read twice, such as those of a layer norm, are loaded once.",
)  # fmt: skip
TILES_NOT_KEPT: Final = _declare(
    "tiles-not-kept", "RemarkKeptTiles", MISSED, MEMORY,
    "Later loops load the same tiles again, and why.",
    "Kept tiles take shared memory, of which each of the resident blocks has its share.",
    "Use smaller tiles, a constant step, or `--schedule kept-tiles=N` to trade resident blocks "
    "for kept tiles.",
)  # fmt: skip
SINGLE_TRIP: Final = _declare(
    "single-trip", "RemarkSingleTrip", PASSED, MEMORY,
    "Loops over a row have a second version for rows that are one tile.",
    "With one iteration, the row stays in registers between the loops.",
)  # fmt: skip
SINGLE_TRIP_REFUSED: Final = _declare(
    "single-trip-refused", "RemarkSingleTrip", MISSED, MEMORY,
    "Loops over a row have no version for rows that are one tile, and why.",
    "The row of such a version stays in registers between the loops.",
    "Use smaller tiles or more warps; `--schedule single-trip=1` builds it anyway.",
)  # fmt: skip
LAYOUT_CONVERSION_SHARED: Final = _declare(
    "layout-conversion-shared", "RemarkLayoutConversion", MISSED, MEMORY,
    "A tile passes through shared memory to other threads: its bytes, and between which "
    "operations.",
    "Each operation prefers an assignment of elements to threads: loads one that is coalesced, "
    "dots that of their instruction, reductions one with rows in a warp. Where two disagree, "
    "threads exchange elements, with barriers if other warps need them.",
    "Let operations agree: reduce along the contiguous dimension, avoid `reshape` and `permute` "
    "between a load and its use, and convert to a narrower type before rather than after. In "
    "the epilogue of a dot one conversion is usual: it makes the store coalesced.",
)  # fmt: skip
LAYOUT_CONVERSION_SHUFFLES: Final = _declare(
    "layout-conversion-shuffles", "RemarkLayoutConversion", ANALYSIS, MEMORY,
    "The lanes of a warp exchange a tile by shuffles: its bytes, and between which operations.",
    "The exchange stays in the warp, without memory or barriers.",
)  # fmt: skip
OPERAND_STORED: Final = _declare(
    "operand-stored", "RemarkLayoutConversion", MISSED, MEMORY,
    "An operand of a dot is written from registers to shared memory before the dot reads it.",
    "`wgmma` reads B, and often A, from shared memory. An operand that is copied there as it is "
    "in global memory needs no registers; a computed one does.",
    "Load the operand in the type that the dot takes, and in a loop, so that it is copied to its "
    "stage directly. Elementwise work on A is cheaper than on B.",
)  # fmt: skip

# Tensor cores.

MMA_TENSOR_CORE: Final = _declare(
    "mma-tensor-core", "RemarkTensorCoreMMA", PASSED, TENSOR_CORE,
    "The tensor core instruction of a dot.",
    "`wgmma` multiplies tiles of at least 64 rows from shared memory, asynchronously; `mma.sync` "
    "multiplies any from registers.",
)  # fmt: skip
MMA_FMA: Final = _declare(
    "mma-fma", "RemarkTensorCoreMMA", FAILED, TENSOR_CORE,
    "A dot is computed by FMA instructions, without tensor cores.",
    "Tensor cores multiply f16, bf16, tf32, fp8, int8 and f64, not f32.",
    "Convert the operands: `ftof` to tf32 keeps the range of f32 and 10 bits of its mantissa. "
    "f16 and bf16 run at twice the speed of tf32.",
)  # fmt: skip

# Resources.

PIPELINE: Final = _declare(
    "pipeline", "RemarkPipeline", ANALYSIS, RESOURCES,
    "How many stages the software pipeline of a loop has, and what bounds them.",
    "Each stage holds the tiles of one iteration in shared memory. More stages start copies "
    "earlier, and hide more latency, until memory is used up or nothing is gained.",
    "If shared memory is the bound: use smaller tiles along K, or fewer blocks on an SM. If the "
    "hint `occupancy` is: lower it. `--schedule stages=N` forces a number.",
)  # fmt: skip
SCHEDULE_CHOSEN: Final = _declare(
    "schedule-chosen", "RemarkSchedule", ANALYSIS, RESOURCES,
    "Which schedule of its loops a kernel has, what it is predicted to cost, and the next one.",
    "Clocks are those of a block while as many as fit share an SM. The model is right about most "
    "pairs of schedules that differ by more than 5 %; within that, a fixed order decides. Fewer "
    "stages, so that more blocks share an SM, have to be 15 % faster.",
    "`--schedule agents=0|1,stages=N` forces another one; `tilewright tune` measures them.",
)  # fmt: skip
PIPELINE_MEMORY: Final = _declare(
    "pipeline-memory", "RemarkPipelineMemory", PASSED, RESOURCES,
    "Why a pipeline has another share of shared memory than all that is free.",
    "Two blocks on an SM hide what one waits for, if each has half of the memory.",
)  # fmt: skip
PIPELINE_REFUSED: Final = _declare(
    "pipeline-refused", "RemarkPipeline", MISSED, RESOURCES,
    "A loop, or a load of a loop with dots, is not pipelined, and why.",
    "Without a pipeline each iteration waits for its loads. A load can be copied early if no token "
    "orders it after another access, and if its address can be computed from the loop counter.",
    "Use smaller tiles, or a lower `occupancy`, so that two stages fit into shared memory. Hoist "
    "loads that do not depend on the loop. Let a load depend on a token only if another access "
    "writes what it reads.",
)  # fmt: skip
OCCUPANCY_RELAXED: Final = _declare(
    "occupancy-relaxed", "RemarkOccupancyRelaxed", MISSED, RESOURCES,
    "The occupancy of a kernel, a hint or chosen, is lowered: a thread needs more registers.",
    "All blocks on an SM share its 65,536 registers. What does not fit is spilled to memory, which "
    "costs more than further blocks gain, and `wgmma` is then rejected by ptxas. Where ptxas "
    "reports spills, the kernel is compiled again with a lower occupancy, or without the hint.",
    "Lower the hint, or use smaller tiles.",
)  # fmt: skip
WARPS: Final = _declare(
    "warps", "RemarkWarps", PASSED, RESOURCES,
    "A block has more or fewer warps than its largest tile alone would have, and why.",
    "Tiles that are live together are divided by the number of threads: with few threads registers "
    "are spilled, or an SM has too few blocks to hide latency. `--schedule warps=N` and the hint "
    "`num_worker_warps_per_cta` force a number.",
)  # fmt: skip
KERNEL_RESOURCES: Final = _declare(
    "kernel-resources", "RemarkKernelResources", ANALYSIS, RESOURCES,
    "Threads, registers, spills, stack, shared memory and barriers of a kernel, and how many of "
    "its blocks an SM holds.",
    "They are what ptxas reports of the code it generated.",
)  # fmt: skip
REGISTER_SPILLS: Final = _declare(
    "register-spills", "RemarkRegisterSpills", MISSED, RESOURCES,
    "Registers are spilled to local memory: how many bytes a thread stores and loads.",
    "A thread has at most 255 registers, and less if several blocks share an SM. What does not "
    "fit is written to local memory and read back, in loops in each iteration.",
    "Use smaller tiles, more warps (`num_worker_warps_per_cta`), a lower `occupancy`, or narrower "
    "types for tiles that are live over a loop.",
)  # fmt: skip

# Decisions on whole kernels.

WARPS_SPECIALIZED: Final = _declare(
    "warps-specialized", "RemarkWarpSpecialization", PASSED, COMPILER,
    "One warp copies tiles by TMA, and the others compute.",
    "Copies and dots are in different warps, so that neither waits for the other's instructions.",
)  # fmt: skip
WARPS_NOT_SPECIALIZED: Final = _declare(
    "warps-not-specialized", "RemarkWarpSpecialization", MISSED, COMPILER,
    "All warps of a kernel with dots by `wgmma` copy and compute, and why.",
    "A specialized warp copies by TMA, so all tiles of its loops must allow TMA. It pays where "
    "warps wait for each other otherwise, and the loops are long beside encoding tensor maps.",
    "See `tma-load-refused` for tiles that TMA cannot copy. `--schedule agents=1` forces it.",
)  # fmt: skip
CLUSTER: Final = _declare(
    "cluster", "RemarkCluster", PASSED, COMPILER,
    "The CTAs of a cluster share the tiles of a block, and along which dimensions.",
    "The hint `num_cta_in_cga` asks for it.",
)  # fmt: skip
CLUSTER_REFUSED: Final = _declare(
    "cluster-refused", "RemarkCluster", MISSED, COMPILER,
    "The hint `num_cta_in_cga` is not met, or by fewer CTAs, and why.",
    "A tile is halved only if every operation that it depends on can be, and if all sizes are "
    "powers of two.",
    "Remove the hint, or change the operation that the remark points at.",
)  # fmt: skip
REQUEST_REFUSED: Final = _declare(
    "request-refused", "RemarkRequest", MISSED, COMPILER,
    "A request of a schedule, or a hint that a schedule overrides, is not followed, or not in all "
    "loops, and why.",
    "A schedule asks the passes for what they would not choose; they follow it where the program "
    "and the GPU allow it, from `-O2` on and without `--sanitize`.",
    "Leave the key out of `--schedule`, or change what the reason names. `--emit nv_tileas` shows "
    "all that was asked and refused, as attributes of the kernel.",
)  # fmt: skip
TILES_SHRUNK: Final = _declare(
    "tiles-shrunk", "RemarkShrink", PASSED, COMPILER,
    "Rows or columns of tiles that are out of bounds wherever they are stored are not computed.",
    "The extent of the view is constant and at most half of the tile.",
)  # fmt: skip
TUNED: Final = _declare(
    "tuned", "RemarkTuned", PASSED, COMPILER,
    "A kernel is compiled with the schedule that `tilewright tune` has chosen for it.",
    "The record is looked up by the contents of the kernel, the GPU and the options.",
    "To compile without it: `--no-tuned` ignores the record, and `tilewright cache clear` removes "
    "all records. For `tileiras` and cuTile Python, `TILEWRIGHT_CACHE=0` ignores them.",
)  # fmt: skip
TUNED_REFUSED: Final = _declare(
    "tuned-refused", "RemarkTuned", MISSED, COMPILER,
    "A kernel has a tuning record that is not used, and why.",
    "All kernels of a program are compiled with one schedule.",
    "Compile kernels with different schedules as separate programs, or tune again.",
)  # fmt: skip
ASSEMBLER_WARNING: Final = _declare(
    "assembler-warning", "RemarkAssembler", ANALYSIS, COMPILER,
    "A warning of ptxas.",
    "ptxas reports, for instance, that `wgmma` instructions are serialized.",
)  # fmt: skip

# Hints.

HINT_IGNORED: Final = _declare(
    "hint-ignored", "RemarkHint", MISSED, HINTS,
    "A hint has no effect, and why.",
    "A value out of range, or that the GPU does not support, is ignored and not an error. "
    "`latency` is always ignored: pipelines choose how early they copy.",
    "Correct the value, or remove the hint.",
)  # fmt: skip
HINT_RELAXED: Final = _declare(
    "hint-relaxed", "RemarkHint", MISSED, HINTS,
    "The value of a hint is replaced by one that suits the kernel.",
    "The registers of one or two warps do not hold the largest tile, and its elements would be "
    "spilled to memory.",
    "Use the value that the remark names, or smaller tiles.",
)  # fmt: skip
