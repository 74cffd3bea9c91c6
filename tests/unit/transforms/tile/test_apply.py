"""Splits that the text of a program names: what the pass `tile` makes of them, and refuses."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import pytest
from split_gemm import check_result, operands_of, passed, split_gemm, splits_in

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import UserError
from tilewright.text.printer import print_op


class Edit(NamedTuple):
    """A kernel for which a split is chosen, and the split that replaces it."""

    m: int
    n: int
    stored: int | None
    asked: str
    chosen: str
    edited: str
    operands: tuple[tuple[int, int], tuple[int, int]]
    """The shapes of A and B after the edited split."""


EDITS: Final = {
    "first": Edit(
        64, 128, 4, "", "<0, 2, first>, <0, 2, first>", "<0, 8, first>", ((8, 64), (64, 128))
    ),
    "cta": Edit(
        128, 128, None, "num_ctas = <2, entry>",
        "<0, 2, cta, bit = 0>", "<0, 4, cta, bit = 0>", ((32, 64), (64, 128)),
    ),
    "loop": Edit(
        256, 256, None, "", "<1, 2, loop>", "<1, 4, loop>", ((256, 64), (64, 64))
    ),
    "k_loop": Edit(
        64, 128, None, "k_parts = <2, schedule>",
        "<2, 2, k_loop>", "<2, 4, k_loop>", ((64, 16), (16, 128)),
    ),
}  # fmt: skip


def kernel_of(root: Operation) -> FuncOp:
    (kernel,) = (op for op in root.walk() if isinstance(op, FuncOp))
    return kernel


@pytest.mark.parametrize("form", EDITS)
def test_edited_parts_change_the_kernel_and_not_its_result(form: str) -> None:
    edit = EDITS[form]
    text = split_gemm(edit.m, edit.n, edit.stored, asked=edit.asked)
    planned = print_op(passed(text, "plan-splits"))
    assert ", ".join(splits_in(planned)) == edit.chosen
    tiled = passed(planned.replace(edit.chosen, edit.edited), "tile")
    assert operands_of(tiled) == edit.operands != operands_of(passed(planned, "tile"))
    assert splits_in(print_op(tiled)) == []
    check_result(tiled, edit.m, edit.n, edit.stored)


def test_forms_are_applied_one_after_the_other() -> None:
    """The rows that nothing observes go first; a loop over columns is around that over K."""
    text = split_gemm(
        64, 128, 4, dot="<1, 2, cta, bit = 0>, <1, 2, loop>, <2, 2, k_loop>", store="<0, 2, first>"
    )
    root = passed(text, "tile")
    assert operands_of(root) == ((32, 32), (32, 32))
    outer, inner = (op for op in root.walk() if isinstance(op, ForOp))
    assert inner.parent_op is outer
    assert kernel_of(root).cluster_size == 2
    check_result(root, 64, 128, 4)


def test_bits_of_the_rank_may_split_different_operations() -> None:
    """The dot is halved by the lower bit, and the store with it; both again by the upper one."""
    text = split_gemm(dot="<0, 2, cta, bit = 0>", store="<1, 2, cta, bit = 1>")
    root = passed(text, "tile")
    assert operands_of(root) == ((32, 64), (64, 64))
    assert kernel_of(root).cluster_size == 4
    check_result(root, 64, 128)


def test_a_kernel_that_names_splits_keeps_them() -> None:
    """Nothing is chosen beside them, whatever is asked."""
    text = split_gemm(dot="<1, 4, loop>", asked="k_parts = <2, schedule>, num_ctas = <2, entry>")
    assert splits_in(print_op(passed(text, "plan-splits"))) == ["<1, 4, loop>"]


def test_the_whole_pipeline_applies_splits_of_the_text() -> None:
    """At every level: also where none would be chosen."""
    root = passed(split_gemm(dot="<1, 2, loop>"), "record-requests{level=0},plan-splits,tile")
    assert operands_of(root) == ((64, 64), (64, 64))


REFUSED: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "rows that are stored": (
        {"stored": 4, "store": "<0, 32, first>"},
        "other parts than the first one are observed",
    ),
    "a bit is missing": (
        {"dot": "<0, 2, cta, bit = 1>"},
        "bit 1 of the rank is not the next one of 1 CTAs",
    ),
    "too many CTAs": ({"dot": "<0, 16, cta>"}, "a cluster has at most 8 CTAs"),
    "no clusters": ({"dot": "<0, 2, cta>", "capability": 80}, "the GPU has no clusters"),
    "different numbers of parts": (
        {"dot": "<0, 2, cta>", "store": "<0, 4, cta>"},
        "it has 4 parts, what is split with it 2",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_split_that_cannot_be_applied_is_an_error(name: str) -> None:
    arguments, reason = REFUSED[name]
    with pytest.raises(UserError, match=f"expected a split that can be applied: {reason}"):
        passed(split_gemm(**arguments), "tile")


LOAD: Final = "%x, %t0 = nv_tileaa.tiled_load weak %av[%c0, %i]"


def test_a_load_seeds_no_split() -> None:
    text = split_gemm()
    assert LOAD in text
    text = text.replace(LOAD, LOAD + " {nv_tileaa.split = #nv_tileaa.split<[<0, 2, loop>]>}")
    with pytest.raises(UserError, match="belongs to a dot, a store or an atomic"):
        passed(text, "tile")


def test_a_loop_that_does_more_than_accumulate_keeps_its_iterations() -> None:
    text = split_gemm(dot="<2, 2, k_loop>").replace(
        "scf.yield %d", "%e = nv_tileaa.addf %d, %acc : !acc\nscf.yield %e"
    )
    with pytest.raises(UserError, match="it carries other values than accumulators of dots"):
        passed(text, "tile")


def test_k_is_split_in_a_loop_only() -> None:
    text = split_gemm(dot="<2, 2, k_loop>")
    start, end = text.index("%sum = scf.for"), text.index("scf.yield")
    body = text[start:end].partition("{\n")[2].replace("%i", "%c0").replace("%acc", "%none")
    text = text[:start] + body.replace("%d =", "%sum =") + text[end:].partition("}\n")[2]
    with pytest.raises(UserError, match="there is no loop over K around it"):
        passed(text, "tile")
