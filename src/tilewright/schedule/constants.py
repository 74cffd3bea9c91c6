"""The constants of the cost model that are no rates of a GPU, each with its source.

Measured: `benchmarks/results` has the table. Set: by hand, from what is named. Fitted to a range:
by fits on several sets of kernels, from which the value was chosen; only those of `FREE` may
be. `benchmarks/cost_model.py --fit` fits them anew: on kernels that were not used that orders plans
no better, so these values stay. All are of an H200.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Constants(NamedTuple):
    """What latencies and software cost, in clocks unless a field says otherwise."""

    lone_warp: float = 0.45
    """Instructions that one warp issues in a clock. Fitted to 0.3 to 0.45 on five sets of kernels:
    results of an instruction are there after four clocks, and most have some independent ones."""
    many_warps: float = 0.85
    """Instructions that a scheduler with many warps issues in a clock. Fitted to 0.6 to 0.88."""
    overlap_lost: float = 0.15
    """The part of the second resource that does not run beside the first. Fitted to 0.11 to
    0.33."""
    memory_latency: float = 1100.0
    """From a load to its use under load. Fitted to 630 to 1,230; idle it is 600 to 800."""
    cta_start: float = 1200.0
    """Start and end of a CTA. Fitted to 330 to 1,200."""
    barrier: float = 100.0
    """A barrier of a CTA, with the skew that it exposes. Fitted to 60 to 250."""
    map_start: float = 1500.0
    """More of it in a kernel that encodes tensor maps. Set: `attention-h200.md` has 3.7 µs for
    three maps."""
    own_map_start: float = 3000.0
    """The same where the maps of a block depend on it. Set: half of the 3.7 µs that
    `attention-h200.md` has for three maps, since lanes encode them at the same time."""
    dot_latency: float = 120.0
    """Until the result of a wgmma that is waited for. Set: microbenchmarks in the literature have
    about 130."""
    loop_instructions: float = 60.0
    """Of a warp in an iteration, besides work on tiles. Set: `main-loops.md` has 46 of PTX with TMA
    and 95 with cp.async in the loop of a GEMM."""
    lock_step: float = 0.9
    """The part of dots and other work of all warps that is serial where a barrier is in each
    iteration. Set: attention without agents in `plans-h200.json`."""
    lock_step_in_flight: float = 1.1
    """The same where dots are in flight: warpgroups wait for each other with the dots. Set: such
    plans take 1.0 to 1.4 of those that wait for each dot, in the same rows."""
    late_release: float = 0.25
    """Iterations by which a stage is released later where dots are in flight. Set: rings of 1 and
    1.5 iterations in the rows of attention."""
    spill_bytes: float = 20.0
    """Bytes of spills in a clock, of all threads of an SM. Set: 15 to 24 on other kernels."""
    sharpness: float = 8.0
    """How sharply tensor cores, shared memory and fills join. Set: a GEMM of 128x128x64 tiles,
    for which all three are equal, reaches 57 of 64 bytes in a clock."""
    reduction_instructions: float = 1.1
    """Of a lane for each reduced element. Set: one, and some copies in PTX."""
    row_lanes: float = 4.0
    """Lanes that hold a row at least: four in the layout of a dot's result."""
    load_instructions: float = 3.0
    """For each 16 bytes that no bulk engine copies: address, predicate, load. Set."""
    store_instructions: float = 4.0
    """For each 16 bytes: the same, and packing. Set."""
    address_instructions: float = 4.0
    """For each element that has an address of its own. Set."""
    atomic_clocks: float = 1.0
    """For each element of an atomic. Set: `scatter-add` updates about one in a clock on each SM."""
    unknown_trips: float = 32.0
    """Iterations of a loop with unknown bounds; only the ratios of its plans are a claim. Set: with
    16, GEMMs in fp8 would lose their producer, with which `gemm-h200.md` has 0.88 of the time in 20
    iterations, and 0.81 in 64."""
    tensor_slowdown: float = 0.35
    """How much longer a clock is when tensor cores are always busy. Measured: `pipelines-h200.md`
    has 1.45 to 1.5 of 1.98 GHz for random f16."""
    launch: float = 3.0
    """Microseconds of the first launch between two events. Measured: 4.06 with one block."""
    next_launch: float = 1.6
    """Microseconds of each further launch. Measured: 1.4 to 1.6."""
    bandwidth_reached: float = 0.87
    """Of the bandwidth of memory. Measured: `bandwidth-h200.md` has 4.0 to 4.3 of 4.8 TB/s."""
    bound_sharpness: float = 5.0
    """How sharply the bounds of SMs and of memory join. Set by hand: few kernels are near both."""

    def issue_rate(self, warps: float) -> float:
        """Instructions a clock of a scheduler, for the warps that it has."""
        return min(self.many_warps, self.lone_warp * max(1.0, warps))


FREE: Final = (
    "lone_warp", "many_warps", "overlap_lost", "memory_latency", "cta_start", "barrier",
)  # fmt: skip
"""The constants that no single measurement determines."""
CONSTANTS: Final = Constants()
