"""Cases of multimem accesses: those of one GPU are accesses of its memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from op_cases.atomics import reduction_case
from op_cases.kernel import Case
from op_cases.layout import KINDS
from op_cases.memory import SCOPES
from op_cases.values import NUMBERS, Effort
from op_cases.view import load_case, store_case, variants
from tilewright.dialects.multimem import LOADED, UPDATED
from tilewright.ir.types import I32, I64, FloatType

LOADS = ["weak", *map(" ".join, product(("relaxed", "acquire"), SCOPES))]
STORES = ["weak", *map(" ".join, product(("relaxed", "release"), SCOPES))]
REDUCTIONS = ("add", "min", "max", "and", "or", "xor", "umin", "umax")


def loads(effort: Effort) -> Iterator[Case]:
    """`multimem_load_reduce_view_tko`: one GPU has nothing to combine a value with."""
    op = "multimem_load_reduce_view_tko"
    for kind, reduction in product(KINDS, REDUCTIONS):
        for element in LOADED.get(reduction, (I32, I64)):
            for variant in variants(element, LOADS):
                padding, about = variant.pop("padding"), (reduction, variant)
                more: dict[str, Any] = {"op": op, "reduction": f", {reduction}"}
                yield load_case(effort, kind, element, padding, *about, **variant, **more)


def stores(effort: Effort) -> Iterator[Case]:
    """`multimem_store_view_tko`."""
    for kind, element in product(KINDS, NUMBERS):
        for variant in variants(element, STORES):
            op = "multimem_store_view_tko"
            yield store_case(effort, kind, element, variant, **variant, op=op)


def reductions(effort: Effort) -> Iterator[Case]:
    """`multimem_reduce_view_tko`: elements out of bounds are unchanged."""
    for kind, reduction in product(KINDS, REDUCTIONS):
        for element in UPDATED.get(reduction, (I32, I64)):
            adds_floats = reduction == "add" and isinstance(element, FloatType)
            mode = "addf" if adds_floats else reduction
            for variant in variants(element, STORES[1:]):
                more: dict[str, Any] = {"op": "multimem_reduce_view_tko", "reduction": reduction}
                yield reduction_case(effort, kind, mode, element, **variant, **more)


def cases(effort: Effort) -> Iterator[Case]:
    """All cases of this file."""
    for group in (loads, stores, reductions):
        yield from group(effort)
