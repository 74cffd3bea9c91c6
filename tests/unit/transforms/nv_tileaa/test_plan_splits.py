"""plan-splits: what it writes into a program, at which level, and what it copies for that."""

from __future__ import annotations

import pytest
from split_gemm import check_result, operands_of, passed, split_gemm, splits_in

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.pipelines import OPT_LEVELS, PLAN, parse_pipeline, passes_to
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import Sink, UserError
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op


def planned(text: str, options: str = "") -> tuple[Operation, int]:
    """A program after the pass, and how many kernels were copied."""
    root, sink = parse_text(text, context(), "kernel.mlir"), Sink()
    parse_pipeline(f"plan-splits{options}").run(root, sink)
    return root, sink.counts["plan-splits", "copies"]


def splits(text: str, options: str = "") -> list[str]:
    return splits_in(print_op(planned(text, options)[0]))


BOTH = "num_ctas = <2, entry>, k_parts = <2, schedule>"


def test_a_kernel_without_splits_stays_and_is_not_copied() -> None:
    text = split_gemm()
    before = print_op(parse_text(text, context(), "kernel.mlir"))
    root, copied = planned(text)
    assert (print_op(root), copied) == (before, 0)


@pytest.mark.parametrize("asked", ["num_ctas = <2, entry>", "k_parts = <2, schedule>"])
def test_one_split_needs_no_copy_unless_another_rule_looks_at_it(asked: str) -> None:
    """K is the last to be split; after CTAs, the loop is looked at again."""
    root, copied = planned(split_gemm(asked=asked))
    assert len(splits_in(print_op(root))) == 1
    assert copied == ("num_ctas" in asked)


def test_a_copy_leaves_no_trace() -> None:
    text = split_gemm(asked=BOTH)
    root, copied = planned(text)
    assert copied == 1
    before = print_op(parse_text(text, context(), "kernel.mlir"))
    chosen = "#nv_tileaa.split<[<1, 2, cta, bit = 0>, <2, 2, k_loop>]>"
    assert print_op(root).replace(f" {{nv_tileaa.split = {chosen}}}", "") == before


def test_later_rules_see_what_earlier_splits_leave() -> None:
    """128×512 accumulators fit into the registers of each of two CTAs, and not of one."""
    assert splits(split_gemm(128, 512)) == ["<1, 2, loop>"]
    text = split_gemm(128, 512, asked="num_ctas = <2, entry>")
    assert splits(text) == ["<1, 2, cta, bit = 0>"]


def test_every_bit_is_chosen_on_the_tiles_that_the_one_before_leaves() -> None:
    """A square tile is halved along M and then N, so that the parts are square again."""
    text = split_gemm(256, 256, asked="num_ctas = <4, entry>")
    chosen = ["<0, 2, cta, bit = 0>", "<1, 2, cta, bit = 1>"]
    assert splits(text) == chosen
    root = passed(print_op(planned(text)[0]), "tile")
    assert operands_of(root) == ((128, 64), (64, 128))
    check_result(root, 256, 256)


def test_rows_are_kept_down_to_those_of_an_instruction() -> None:
    assert splits(split_gemm(128, 128, 16)) == 3 * ["<0, 2, first>"]
    assert splits(split_gemm(128, 128, 32)) == 2 * ["<0, 2, first>"]
    assert splits(split_gemm(128, 128, 48)) == ["<0, 2, first>"]
    assert splits(split_gemm(128, 128, 65)) == []


def kernel_of(root: Operation) -> FuncOp:
    (kernel,) = (op for op in root.walk() if isinstance(op, FuncOp))
    return kernel


def test_requests_that_no_split_follows_have_a_reason() -> None:
    text = split_gemm(asked="num_ctas = <2, entry>, k_parts = <8, schedule>", capability=80)
    refused = kernel_of(planned(text)[0]).refused
    assert refused is not None
    assert dict(refused.refusals) == {
        "num_ctas": "the GPU has no clusters",
        "k_parts": "K of a tile can be split into 4 parts only",
    }


@pytest.mark.parametrize(("opt_level", "checked", "expected"), [
    (0, False, []),
    (1, False, ["<1, 2, cta, bit = 0>"]),
    (2, False, ["<1, 2, cta, bit = 0>", "<2, 2, k_loop>"]),
    (3, False, ["<1, 2, cta, bit = 0>", "<2, 2, k_loop>"]),
    (3, True, []),
])  # fmt: skip
def test_levels_limit_the_forms(opt_level: int, checked: bool, expected: list[str]) -> None:
    """With checks of accesses, no split separates an access from its check."""
    steps = passes_to(PLAN, "sm_90", opt_level, checked=checked).split(",")
    wanted = [each for each in steps if each.startswith("plan-splits")]
    (recorded,) = (each for each in steps if each.startswith("record-requests"))
    texts = [print_op(passed(split_gemm(asked=BOTH), f"{recorded},{each}")) for each in wanted]
    assert [split for text in texts for split in splits_in(text)] == expected


@pytest.mark.parametrize("opt_level", OPT_LEVELS)
def test_splits_are_applied_at_all_levels(opt_level: int) -> None:
    for step in (PLAN, "nv_tileas"):
        assert "tile" in passes_to(step, "sm_90", opt_level, checked=True).split(",")


def test_forms_are_known() -> None:
    with pytest.raises(UserError, match=r"expected some of first\+cta\+loop\+k_loop"):
        parse_pipeline("plan-splits{forms=cta+last}")
