"""One case or more for each operation of the NVVM dialect: its text, and its PTX.

The expected instructions and the first GPU that has them are those of the PTX ISA.
"""

from __future__ import annotations

from nvvm_cases.case import ARGUMENTS, HAVING, Case
from nvvm_cases.matrices import (
    dense_mmas,
    small_matrices,
    sparse_mmas,
    warpgroups,
)
from nvvm_cases.memory import accesses, copies, multimem, tensors
from nvvm_cases.numbers import arithmetic, conversions
from nvvm_cases.threads import barriers, mbarriers, mbarriers_of_clusters, registers, warps

__all__ = ["ARGUMENTS", "CASES", "HAVING", "Case"]

CASES = [
    *accesses(),
    *multimem(),
    *registers(),
    *barriers(),
    *warps(),
    *mbarriers(),
    *mbarriers_of_clusters(),
    *copies(),
    *tensors(),
    *small_matrices(),
    *dense_mmas(),
    *sparse_mmas(),
    *warpgroups(),
    *arithmetic(),
    *conversions(),
]
