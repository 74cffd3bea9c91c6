"""Passes by name, the lowering pipeline, and the passes of each optimization level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.driver.schedules import LEAST_LEVEL
from tilewright.support.schedule_keys import SCHEDULE

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.passes import Pipeline
    from tilewright.support.diagnostics import Sink
    from tilewright.target.arch import Arch

PASSES: Final = {
    "allocate": "tilewright.transforms.nv_tileas.allocate:Allocate",
    "back-off-spins": "tilewright.transforms.nv_tileas.back_off_spins:BackOffSpins",
    "canonicalize": "tilewright.transforms.generic.canonicalize:Canonicalize",
    "check-accesses": "tilewright.transforms.nv_tileaa.check_accesses:CheckAccesses",
    "check-resources": "tilewright.transforms.nv_tileaa.check_resources:CheckResources",
    "convert-cuda-tile-to-tileaa": (
        "tilewright.conversion.cuda_tile_to_nv_tileaa:ConvertCudaTileToTileAA"
    ),
    "convert-gpu-nvgpu-to-nvvm": ("tilewright.conversion.nvgpu_to_nvvm:ConvertGpuNvgpuToNvvm"),
    "convert-tileaa-to-tileas": (
        "tilewright.conversion.nv_tileaa_to_nv_tileas:ConvertTileAAToTileAS"
    ),
    "convert-queues-to-pipelines": (
        "tilewright.conversion.queues_to_pipelines:ConvertQueuesToPipelines"
    ),
    "convert-tileas-to-nvgpu": "tilewright.conversion.nv_tileas_to_nvgpu:ConvertTileASToNvgpu",
    "convert-scf-to-cf": "tilewright.conversion.scf_to_cf:ScfToCf",
    "cse": "tilewright.transforms.generic.cse:Cse",
    "dce": "tilewright.transforms.generic.dce:Dce",
    "expand-dots": "tilewright.transforms.nv_tileaa.expand_dots:ExpandDots",
    "fold": "tilewright.transforms.generic.fold:Fold",
    "fuse-fma": "tilewright.transforms.cuda_tile.fuse_fma:FuseFma",
    "inline-calls": "tilewright.transforms.nv_tileaa.inline_calls:InlineCalls",
    "keep-tiles": "tilewright.transforms.nv_tileas.keep_tiles:KeepTiles",
    "licm": "tilewright.transforms.generic.licm:Licm",
    "loop-invariant-code-motion": "tilewright.transforms.generic.licm:Licm",
    "loop-split": "tilewright.transforms.cuda_tile.loop_split:LoopSplit",
    "merge-loads": "tilewright.transforms.nv_tileaa.merge_loads:MergeLoads",
    "materialize-schedule": (
        "tilewright.transforms.nv_tileas.materialize_schedule:MaterializeSchedule"
    ),
    "materialize-async": "tilewright.transforms.nv_tileas.materialize_async:MaterializeAsync",
    "move-conversions": "tilewright.transforms.nv_tileas.move_conversions:MoveConversions",
    "name-values": "tilewright.transforms.generic.name_values:NameValues",
    "order-warpgroups": "tilewright.transforms.nv_tileas.order_warpgroups:OrderWarpgroups",
    "order-blocks": "tilewright.transforms.nv_tileaa.order_blocks:OrderBlocks",
    "pipeline-loops": "tilewright.transforms.pipeline.pipeline_loops:PipelineLoops",
    "pack-int4": "tilewright.transforms.nv_tileaa.pack_int4:PackInt4",
    "plan-kernel": "tilewright.transforms.nv_tileaa.plan_kernel:PlanKernel",
    "plan-splits": "tilewright.transforms.nv_tileaa.plan_splits:PlanSplits",
    "prefetch-loads": "tilewright.transforms.nv_tileaa.prefetch_loads:PrefetchLoads",
    "record-requests": "tilewright.transforms.nv_tileaa.record_requests:RecordRequests",
    "recompute-tiles": "tilewright.transforms.nv_tileas.recompute_tiles:RecomputeTiles",
    "reconcile-unrealized-casts": (
        "tilewright.transforms.generic.reconcile_casts:ReconcileUnrealizedCasts"
    ),
    "promote-dots": "tilewright.transforms.nv_tileas.promote_dots:PromoteDots",
    "rotate-dots": "tilewright.transforms.nv_tileaa.rotate_dots:RotateDots",
    "schedule-loops": "tilewright.transforms.nv_tileas.schedule_loops:ScheduleLoops",
    "schedule-operations": (
        "tilewright.transforms.nv_tileas.schedule_operations:ScheduleOperations"
    ),
    "specialize-warps": "tilewright.transforms.nv_tileas.specialize_warps:SpecializeWarps",
    "swap-dot-operands": "tilewright.transforms.nv_tileaa.swap_dot_operands:SwapDotOperands",
    "slice-dots": "tilewright.transforms.nv_tileas.slice_dots:SliceDots",
    "slice-tiles": "tilewright.transforms.nv_tileaa.slice_tiles:SliceTiles",
    "structure-early-exits": "tilewright.transforms.cuda_tile.structure_exits:StructureEarlyExits",
    "synchronize": "tilewright.transforms.nv_tileas.synchronize:Synchronize",
    "synthesize-debug-info-scopes": (
        "tilewright.transforms.cuda_tile.synthesize_debug_scopes:SynthesizeDebugScopes"
    ),
    "tile": "tilewright.transforms.tile.apply:Tile",
    "tensor-maps-to-parameters": (
        "tilewright.transforms.nv_tileas.tensor_maps_to_parameters:TensorMapsToParameters"
    ),
    "unroll-loops": "tilewright.transforms.nv_tileaa.unroll_loops:UnrollLoops",
    "version-single-trip": (
        "tilewright.transforms.nv_tileaa.version_single_trip:VersionSingleTrip"
    ),
}
"""The class of each pass, imported when a pipeline first uses it."""


DEPRECATED_PASSES: Final = {
    "distribute-over-cluster": "plan-splits{forms=cta},tile",
    "expand-products": "expand-dots",
    "hoist-conversions": "move-conversions",
    "hoist-loads": "schedule-operations",
    "insert-barriers": "synchronize",
    "localize-stores": "move-conversions",
    "order-memory": "synchronize",
    "override-warps": "record-requests",
    "overlap-dots": "schedule-loops",
    "pack-nibbles": "pack-int4",
    "plan-shared-memory": "allocate",
    "refine-k-loops": "plan-splits{forms=k_loop},tile",
    "relax-occupancy": "plan-kernel",
    "shrink-tiles": "plan-splits{forms=first},tile",
    "sink-reductions": "schedule-operations",
    "slice-dot-results": "slice-dots",
    "split-accumulators": "plan-splits{forms=loop},tile",
    "start-copies": "schedule-operations",
}
"""Former names of passes, and the pipelines that do the same: accepted with a warning in this
release, gone in the next."""


def parse_pipeline(text: str, sink: Sink | None = None) -> Pipeline:
    """Parse a textual pipeline, such as `canonicalize,cse`.

    A deprecated pass name adds a warning to `sink`; without one it is a `DeprecationWarning`.
    """
    # Listing stages and passes does not load the pass manager.
    from tilewright.ir import pipeline_text  # noqa: PLC0415
    from tilewright.support.diagnostics import Sink  # noqa: PLC0415

    reports = Sink() if sink is None else sink
    pipeline = pipeline_text.parse_pipeline(text, PASSES, DEPRECATED_PASSES, reports)
    if sink is None and reports.diagnostics:
        import warnings  # noqa: PLC0415

        for diagnostic in reports.diagnostics:
            warnings.warn(diagnostic.message, DeprecationWarning, stacklevel=2)
    return pipeline


def pipeline_lines(pipeline: Pipeline) -> str:
    """The text of a pipeline, one step a line, as `parse_pipeline` reads it."""
    return ",\n".join(map(str, pipeline.steps))


FIRST_LOWERING: Final = "convert-cuda-tile-to-tileaa"


class Step:
    """A pass of the lowering pipeline, and the conditions under which it runs."""

    __slots__ = ("keeps_plans", "passes_maps", "since", "text")

    def __init__(
        self, text: str, since: int = 0, *, passes_maps: bool = False, keeps_plans: bool = False
    ) -> None:
        self.text = text
        """The pass in a textual pipeline; `$arch` is replaced by the target, and `{$requests}` by
        what is asked as options."""
        self.since = since
        """The lowest optimization level at which it runs, of passes on Tile IR. Later ones run at
        all levels: `record-requests` records what a level leaves to them."""
        self.passes_maps = passes_maps
        """Whether it is only for kernels to which the launcher passes tensor maps."""
        self.keeps_plans = keeps_plans
        """Whether it also runs on programs that have a plan, of the passes that make one."""

    def runs(self, opt_level: int, *, map_parameters: bool) -> bool:
        """Whether it runs at an optimization level."""
        return self.since <= opt_level and (map_parameters or not self.passes_maps)


PLAN: Final = "plan"
"""The passes that plan a kernel, on nv_tileaa; `--emit nv_tileaa` prints the program after them."""

LOWERING_PIPELINE: Final = {
    "cuda_tile": (
        Step("canonicalize", since=1),
        Step("cse", since=1),
        Step("licm", since=2),
        Step("cuda_tile.entry(loop-split)", since=3),
        Step("canonicalize", since=3),
        Step("cse", since=3),
    ),
    "nv_tileaa": (
        Step("structure-early-exits"),
        Step(FIRST_LOWERING + "{compute-capability=$arch}"),
        Step("reconcile-unrealized-casts"),
        Step("canonicalize"),
        Step("cse"),
    ),
    PLAN: (
        Step("inline-calls"),
        Step("check-resources"),
        Step("record-requests{$requests}", keeps_plans=True),
        Step("expand-dots"),
        Step("order-blocks"),
        Step("plan-splits{forms=first+cta+loop}"),
        Step("tile"),
        Step("unroll-loops"),
        Step("merge-loads"),
        Step("plan-kernel"),
        # Tiles are cut for the warps that are chosen, which may be fewer than hold the largest one.
        Step("slice-tiles"),
        Step("pack-int4"),
        # How much of K is in shared memory at once depends on the threads of a block.
        Step("plan-splits{forms=k_loop}"),
    ),
    "nv_tileas": (
        Step("tile"),
        Step("version-single-trip"),
        Step("merge-loads"),
        Step("prefetch-loads"),
        # What is chosen next looks at the tiles that loops carry, and at the loads that are left.
        Step("pipeline-loops"),
        Step("swap-dot-operands"),
        Step("rotate-dots"),
        Step("pipeline-loops"),
        Step("convert-queues-to-pipelines"),
        Step("convert-tileaa-to-tileas"),
        Step("promote-dots"),
        Step("move-conversions"),
        Step("keep-tiles"),
        Step("schedule-loops"),
        Step("pipeline-loops"),
        Step("specialize-warps"),
        Step("materialize-schedule"),
        Step("slice-dots"),
        Step("schedule-operations"),
        Step("recompute-tiles"),
        Step("back-off-spins"),
        Step("allocate"),
        Step("synchronize"),
        Step("order-warpgroups"),
    ),
    "nvgpu": (
        Step("tensor-maps-to-parameters", passes_maps=True),
        # Programs may begin at nv_tileas; what is allocated and synchronized stays as it is.
        Step("allocate"),
        Step("synchronize"),
        Step("materialize-async"),
        Step("convert-tileas-to-nvgpu"),
    ),
    "nvvm": (Step("convert-gpu-nvgpu-to-nvvm"),),
}
"""The levels, and the passes that lower to each from the one above; the first: on the input.

Between two levels stand the passes that plan a kernel.
"""

OPT_LEVELS: Final = range(4)
"""The optimization levels: -O0 to -O3."""


def passes_to(
    level: str,
    arch: str,
    opt_level: int = OPT_LEVELS[-1],
    *,
    checked: bool = False,
    schedule: str = "",
    source: str = SCHEDULE,
    map_parameters: bool = False,
    is_planned: bool = False,
) -> str:
    """Return the textual pipeline that lowers to a level from the one above; may be empty.

    `source` is what asks for the schedule. A program that `is_planned` keeps its plan.
    """
    steps = (
        step
        for step in LOWERING_PIPELINE[level]
        if step.runs(opt_level, map_parameters=map_parameters)
        and (step.keeps_plans or not is_planned)
    )
    requests = _requests(schedule, source, opt_level, checked=checked)
    return (
        ",".join(step.text for step in steps)
        .replace("{$requests}", requests)
        .replace("$arch", arch)
    )


def _requests(schedule: str, source: str, opt_level: int, *, checked: bool) -> str:
    """The options of the pass that records what is asked, in braces."""
    options = [schedule] if schedule else []
    if schedule and source != SCHEDULE:
        options.append(f"source={source}")
    if opt_level < LEAST_LEVEL:
        options.append(f"level={opt_level}")
    if checked:
        options.append("sanitize=1")
    return f"{{{' '.join(options)}}}" if options else ""


def level_pipeline(opt_level: int) -> Pipeline | None:
    """Return the Tile IR pipeline of an optimization level; None for -O0."""
    return parse_pipeline(LEVELS[opt_level]) if LEVELS[opt_level] else None


def levels_between(start: str, end: str) -> list[str]:
    """List the levels after `start` up to `end`, with the plan after nv_tileaa.

    If `end` is an emitted stage, it lists them up to the last level.
    """
    names = list(LOWERING_PIPELINE)
    end = PLAN if end == "nv_tileaa" else end
    last = names.index(end) if end in names else len(names) - 1
    return names[names.index(start) + 1 : last + 1]


LEVELS: Final = tuple(passes_to("cuda_tile", "", opt_level) for opt_level in OPT_LEVELS)
"""The Tile IR pipelines of -O0 to -O3."""

CHECKED: Final = ("cuda_tile", "nv_tileaa")
"""The levels that `--sanitize` supports; the checks are inserted at the last of them."""

CHECKS: Final = "inline-calls,check-accesses,canonicalize,cse"
"""The pipeline that inserts the bounds checks of `--sanitize=memcheck`."""

EMITTED: Final = ("llvm", "ptx", "cubin", "sass")
"""The output formats after the last level."""

STAGES: Final = (*(level for level in LOWERING_PIPELINE if level != PLAN), *EMITTED)
"""All stages of a compilation, in order."""

_TILE_LEVELS: Final = ("cuda_tile", "nv_tileas", "nv_tileaa")
"""The tile levels in order of detection: nv_tileas programs also contain nv_tileaa ops."""
_LAST: Final = frozenset(("llvm", "nvvm"))
_CONTAINERS: Final = frozenset(("builtin.module", "gpu.module"))


def leaves_tile_ir(pipeline: Pipeline) -> bool:
    """Whether a pipeline lowers Tile IR, so that the cuda_tile module is replaced."""
    from tilewright.ir.passes import Pass  # noqa: PLC0415

    steps = [step for step in pipeline.steps if isinstance(step, Pass)]
    return any(step.name == FIRST_LOWERING for step in steps)


def level_of(module: Operation) -> str:
    """Return the level of a program: the highest level of its operations."""
    dialects = {op.dialect for op in module.walk() if op.name not in _CONTAINERS}
    for level in _TILE_LEVELS:
        if level in dialects:
            return level
    return "nvvm" if dialects <= _LAST else "nvgpu"


def has_plan(program: Operation, arch: Arch) -> bool:
    """Whether the kernels of a program on nv_tileaa have a plan, for this GPU: all or none."""
    from tilewright.dialects.nv_tileaa.attributes import (  # noqa: PLC0415
        TARGET_SPEC_NAME,
        TargetSpecAttr,
    )
    from tilewright.dialects.nv_tileaa.structure import FuncOp  # noqa: PLC0415
    from tilewright.support.diagnostics import fail  # noqa: PLC0415

    kernels = [op for op in program.walk() if isinstance(op, FuncOp) and op.is_kernel]
    rest = [kernel for kernel in kernels if not kernel.planned]
    if rest and len(rest) < len(kernels):
        fail("expected a plan of all kernels or of none, found a kernel without", rest[0].location)
    is_planned = bool(kernels) and not rest
    for op in program.walk() if is_planned else ():
        spec = op.attributes.get(TARGET_SPEC_NAME)
        if isinstance(spec, TargetSpecAttr) and spec.compute_capability != arch.number:
            fail(f"expected a plan for {arch.name}, got one for another GPU", op.location)
    return is_planned
