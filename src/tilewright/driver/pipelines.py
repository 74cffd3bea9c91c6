"""Every pass by name, the way down as a list, and what the optimization levels stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.passes import Pipeline

PASSES: Final = {
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
    "convert-tileas-to-nvgpu": "tilewright.conversion.nv_tileas_to_nvgpu:ConvertTileASToNvgpu",
    "convert-scf-to-cf": "tilewright.conversion.scf_to_cf:ScfToCf",
    "cse": "tilewright.transforms.generic.cse:Cse",
    "dce": "tilewright.transforms.generic.dce:Dce",
    "expand-products": "tilewright.transforms.nv_tileaa.expand_products:ExpandProducts",
    "fold": "tilewright.transforms.generic.fold:Fold",
    "fuse-fma": "tilewright.transforms.cuda_tile.fuse_fma:FuseFma",
    "inline-calls": "tilewright.transforms.nv_tileaa.inline_calls:InlineCalls",
    "licm": "tilewright.transforms.generic.licm:Licm",
    "loop-invariant-code-motion": "tilewright.transforms.generic.licm:Licm",
    "loop-split": "tilewright.transforms.cuda_tile.loop_split:LoopSplit",
    "merge-loads": "tilewright.transforms.nv_tileaa.merge_loads:MergeLoads",
    "materialize-async": "tilewright.transforms.nv_tileas.materialize_async:MaterializeAsync",
    "name-values": "tilewright.transforms.generic.name_values:NameValues",
    "order-memory": "tilewright.transforms.nv_tileas.order_memory:OrderMemory",
    "plan-shared-memory": "tilewright.transforms.nv_tileas.plan_scratch:PlanScratch",
    "prefetch-loads": "tilewright.transforms.nv_tileaa.prefetch_loads:PrefetchLoads",
    "reconcile-unrealized-casts": (
        "tilewright.transforms.generic.reconcile_casts:ReconcileUnrealizedCasts"
    ),
    "stage-loads": "tilewright.transforms.nv_tileas.stage_loads:StageLoads",
    "slice-tiles": "tilewright.transforms.nv_tileaa.slice_tiles:SliceTiles",
    "structure-early-exits": "tilewright.transforms.cuda_tile.structure_exits:StructureEarlyExits",
    "synthesize-debug-info-scopes": (
        "tilewright.transforms.cuda_tile.synthesize_debug_scopes:SynthesizeDebugScopes"
    ),
    "unroll-loops": "tilewright.transforms.nv_tileaa.unroll_loops:UnrollLoops",
}
"""Where each pass is; it is imported when a pipeline first names it."""

LEVELS: Final = (
    "",
    "canonicalize,cse",
    "canonicalize,cse,licm",
    "canonicalize,cse,licm,cuda_tile.entry(loop-split),canonicalize,cse",
)
"""What -O0 to -O3 do to a Tile IR program: each level adds to the one before."""


def parse_pipeline(text: str) -> Pipeline:
    """The pipeline that a text spells, such as `canonicalize,cse`."""
    # Names of stages and of passes do not need what runs them.
    from tilewright.ir import pipeline_text  # noqa: PLC0415

    return pipeline_text.parse_pipeline(text, PASSES)


def level_pipeline(level: int) -> Pipeline | None:
    """The pipeline of an optimization level; none for -O0."""
    return parse_pipeline(LEVELS[level]) if LEVELS[level] else None


FIRST_LOWERING: Final = "convert-cuda-tile-to-tileaa"

OVERLAP: Final = "unroll-loops,merge-loads,prefetch-loads,"
"""What makes loads go on beside other work."""
STAGING: Final = ",stage-loads"
"""The same, where layouts are known."""
OVERLAP_LEVEL: Final = 2
"""The optimization level from which on it is done."""

WAY_DOWN: Final[tuple[tuple[str, str | None], ...]] = (
    ("cuda_tile", ""),
    (
        "nv_tileaa",
        "structure-early-exits,convert-cuda-tile-to-tileaa{compute-capability=$arch},"
        "reconcile-unrealized-casts,canonicalize,cse",
    ),
    (
        "nv_tileas",
        "inline-calls,check-resources,expand-products,slice-tiles,"
        f"{OVERLAP}convert-tileaa-to-tileas,order-memory,plan-shared-memory{STAGING}",
    ),
    ("nvgpu", "materialize-async,convert-tileas-to-nvgpu"),
    ("nvvm", "convert-gpu-nvgpu-to-nvvm"),
)
"""The levels, and the passes that lead to each from the one above; none where they are missing.

`$arch` stands for the name of the GPU."""

CHECKED: Final = ("cuda_tile", "nv_tileaa")
"""The levels whose programs can be checked while they run, the last of them as it is left."""

CHECKS: Final = "inline-calls,check-accesses,canonicalize,cse"
"""What puts the checks of `--sanitize=memcheck` into a program."""

EMITTED: Final = ("llvm", "ptx", "cubin")
"""What the last level is written as: LLVM IR, PTX, and what ptxas makes of it."""

STAGES: Final = (*(level for level, _ in WAY_DOWN), *EMITTED)
"""Everything that a compilation goes through, in order."""

_TILE_LEVELS: Final = ("cuda_tile", "nv_tileas", "nv_tileaa")
"""The levels of tiles as they are recognised: what nv_tileas has is partly of nv_tileaa."""
_LAST: Final = frozenset(("llvm", "nvvm"))
_CONTAINERS: Final = frozenset(("builtin.module", "gpu.module"))


def leaves_tile_ir(pipeline: Pipeline) -> bool:
    """Whether a pipeline lowers Tile IR, so that its module cannot stay what it is."""
    from tilewright.ir.passes import Pass  # noqa: PLC0415

    steps = [step for step in pipeline.steps if isinstance(step, Pass)]
    return any(step.name == FIRST_LOWERING for step in steps)


def level_of(module: Operation) -> str:
    """The level that a program is at: the highest that one of its operations belongs to."""
    found = {op.dialect for op in module.walk() if op.name not in _CONTAINERS}
    for level in _TILE_LEVELS:
        if level in found:
            return level
    return "nvvm" if found <= _LAST else "nvgpu"


def _plain(passes: str) -> str:
    return passes.replace(OVERLAP, "").replace(STAGING, "")


def levels_between(start: str, end: str, *, overlap: bool = True) -> list[tuple[str, str | None]]:
    """The levels below one down to another, and the passes that lead to each."""
    names = [level for level, _ in WAY_DOWN]
    last = names.index(end) if end in names else len(names) - 1
    found: list[tuple[str, str | None]] = list(WAY_DOWN[names.index(start) + 1 : last + 1])
    if overlap:
        return found
    return [(level, passes and _plain(passes)) for level, passes in found]
