"""The registered dialects, each loaded when a program first uses it."""

from __future__ import annotations

from typing import Final

from tilewright.ir.dialect import Context

DIALECTS: Final = {
    "arith": "tilewright.dialects.arith.dialect:ARITH",
    "builtin": "tilewright.dialects.builtin:BUILTIN",
    "cf": "tilewright.dialects.cf:CF",
    "cuda_tile": "tilewright.dialects.cuda_tile:CUDA_TILE",
    "cute": "tilewright.dialects.cute:CUTE",
    "cute_nvgpu": "tilewright.dialects.cute_nvgpu.dialect:CUTE_NVGPU",
    "func": "tilewright.dialects.func:FUNC",
    "gpu": "tilewright.dialects.gpu.dialect:GPU",
    "llvm": "tilewright.dialects.llvm:LLVM",
    "math": "tilewright.dialects.math.dialect:MATH",
    "memref": "tilewright.dialects.memref.dialect:MEMREF",
    "nv_tileaa": "tilewright.dialects.nv_tileaa.dialect:NV_TILEAA",
    "nv_tileas": "tilewright.dialects.nv_tileas.dialect:NV_TILEAS",
    "nvgpu": "tilewright.dialects.nvgpu.dialect:NVGPU",
    "nvvm": "tilewright.dialects.nvvm:NVVM",
    "scf": "tilewright.dialects.scf:SCF",
    "ub": "tilewright.dialects.ub:UB",
    "vector": "tilewright.dialects.vector.dialect:VECTOR",
}


_contexts: dict[bool, Context] = {}


def context(allow_unregistered: bool = False) -> Context:
    """Return the context of the registered dialects; unregistered ones are optional."""
    shared = _contexts.get(allow_unregistered)
    if shared is None:
        shared = _contexts[allow_unregistered] = Context(DIALECTS, allow_unregistered)
    return shared
