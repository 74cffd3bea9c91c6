"""The set of rewrites as a whole."""

from __future__ import annotations

import pytest

from tilewright.dialects.nv_tileaa import misc, program, structure
from tilewright.dialects.nv_tileaa.canonicalize.simplifier import FOLDS, RULES
from tilewright.dialects.nv_tileaa.dialect import NV_TILEAA
from tilewright.dialects.nv_tileaa.memory import AccessOp, TokenOp

REWRITES = (
    "fold_constant_dot",
    "fuse_addptr_chain",
    "push_assume_through_splat",
    "push_select_through_splat",
    "canonicalize_masked_load",
    "canonicalize_masked_store",
    "fold_expand_dims_of_splat",
    "fold_view_chain",
    "fold_broadcast_of_splat",
    "hoist_extract_through_elementwise",
    "prune_queue_get_results",
    "prune_pragma_results",
    "fold_atomic_cas",
    "fold_atomic_rmw",
)


@pytest.mark.requirement("R2-002", "R2-001")
def test_all_fourteen_rewrites_run_in_one_driver() -> None:
    names = [rule.name for rule in NV_TILEAA.rules]
    assert len(REWRITES) == 14
    assert [name for name in REWRITES if names.count(name) != 1] == []


def test_every_rule_has_a_law_and_works_on_the_dialect() -> None:
    for rule in RULES:
        assert rule.documentation.splitlines()[0].endswith(".")
        assert all(root.name.startswith("nv_tileaa.") for root in rule.roots)


def test_every_fold_has_a_law() -> None:
    assert all(function.__doc__ for function in FOLDS.values())


@pytest.mark.requirement("R2-044")
def test_every_memory_effect_gives_a_token_and_takes_one() -> None:
    accesses = [
        op
        for op in NV_TILEAA.ops.values()
        if issubclass(op, AccessOp | TokenOp)
        or op in (misc.PrintOp, structure.LaunchFuncOp, program.CancelNextProgramIdOp)
    ]
    names = {op.name for op in accesses}
    assert {"nv_tileaa.load", "nv_tileaa.tiled_store", "nv_tileaa.atomic_cas"} <= names
    assert len(names) == 18
    for op in accesses:
        assert any(field.name == "result_token" for field in op.schema.results), op.name
        assert any(field.name == "token" for field in op.schema.operands), op.name


@pytest.mark.requirement("R2-044")
def test_what_gives_no_token_touches_no_memory_that_tokens_order() -> None:
    silent = {
        op.name.removeprefix("nv_tileaa.")
        for op in NV_TILEAA.ops.values()
        if op.effects.name == "UNKNOWN"
        and not any(field.name == "result_token" for field in op.schema.results)
    }
    # Memory of its own, code from elsewhere, queues with an order of their own, and remarks.
    assert silent == {
        "alloca", "assert", "call", "create_queue", "elementwise_inline_asm", "execute", "func",
        "global", "inject_ir", "mark_for_reuse", "message", "optimization_barrier", "plugin",
        "queue.get", "queue.put",
    }  # fmt: skip
