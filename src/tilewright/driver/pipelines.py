"""Every pass by name, and the pipelines that the optimization levels stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.ir import pipeline_text

if TYPE_CHECKING:
    from tilewright.ir.passes import Pipeline

PASSES: Final = {
    "canonicalize": "tilewright.transforms.generic.canonicalize:Canonicalize",
    "convert-gpu-nvgpu-to-nvvm": ("tilewright.conversion.nvgpu_to_nvvm:ConvertGpuNvgpuToNvvm"),
    "convert-scf-to-cf": "tilewright.conversion.scf_to_cf:ScfToCf",
    "cse": "tilewright.transforms.generic.cse:Cse",
    "dce": "tilewright.transforms.generic.dce:Dce",
    "fold": "tilewright.transforms.generic.fold:Fold",
    "fuse-fma": "tilewright.transforms.cuda_tile.fuse_fma:FuseFma",
    "licm": "tilewright.transforms.generic.licm:Licm",
    "loop-invariant-code-motion": "tilewright.transforms.generic.licm:Licm",
    "loop-split": "tilewright.transforms.cuda_tile.loop_split:LoopSplit",
    "reconcile-unrealized-casts": (
        "tilewright.transforms.generic.reconcile_casts:ReconcileUnrealizedCasts"
    ),
    "synthesize-debug-info-scopes": (
        "tilewright.transforms.cuda_tile.synthesize_debug_scopes:SynthesizeDebugScopes"
    ),
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
    return pipeline_text.parse_pipeline(text, PASSES)


def level_pipeline(level: int) -> Pipeline | None:
    """The pipeline of an optimization level; none for -O0."""
    return parse_pipeline(LEVELS[level]) if LEVELS[level] else None
