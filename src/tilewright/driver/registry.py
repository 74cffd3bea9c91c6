"""The dialects we know, each loaded when a program first names it."""

from __future__ import annotations

from typing import Final

from tilewright.ir.dialect import Context

DIALECTS: Final = {
    "arith": "tilewright.dialects.arith.dialect:ARITH",
    "builtin": "tilewright.dialects.builtin:BUILTIN",
    "cuda_tile": "tilewright.dialects.cuda_tile:CUDA_TILE",
    "cf": "tilewright.dialects.cf:CF",
    "func": "tilewright.dialects.func:FUNC",
    "math": "tilewright.dialects.math.dialect:MATH",
    "scf": "tilewright.dialects.scf:SCF",
    "ub": "tilewright.dialects.ub:UB",
    "memref": "tilewright.dialects.memref.dialect:MEMREF",
    "vector": "tilewright.dialects.vector.dialect:VECTOR",
    "gpu": "tilewright.dialects.gpu.dialect:GPU",
    "nvgpu": "tilewright.dialects.nvgpu.dialect:NVGPU",
    "cute_nvgpu": "tilewright.dialects.cute_nvgpu.dialect:CUTE_NVGPU",
    "cute": "tilewright.dialects.cute:CUTE",
    "llvm": "tilewright.dialects.llvm:LLVM",
    "nvvm": "tilewright.dialects.nvvm:NVVM",
}


_contexts: dict[bool, Context] = {}


def context(allow_unregistered: bool = False) -> Context:
    """The context that finds these dialects; others only as text, and only if allowed."""
    found = _contexts.get(allow_unregistered)
    if found is None:
        found = _contexts[allow_unregistered] = Context(DIALECTS, allow_unregistered)
    return found
