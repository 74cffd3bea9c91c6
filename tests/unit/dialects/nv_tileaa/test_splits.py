"""The attribute of splits: its text, and what the verifier expects of it."""

from __future__ import annotations

import pickle
import re

import pytest
from split_gemm import passed, split_gemm, splits_in

from tilewright.dialects.nv_tileaa.splits import Split, SplitAttr, SplitForm
from tilewright.driver.registry import context
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op

LISTS = (
    "<0, 2, first>, <0, 4, cta, bit = 0>, <1, 2, cta, bit = 2>",
    "<1, 2, loop>, <1, 4, loop>",
    "<2, 4, k_loop>",
    "",
)


@pytest.mark.parametrize("splits", LISTS)
def test_they_print_as_they_parse(splits: str) -> None:
    text = split_gemm(256, 256)
    attribute = f"{{nv_tileaa.split = #nv_tileaa.split<[{splits}]>}}"
    text = text.replace("%x, %y, %acc", f"%x, %y, %acc {attribute}")
    printed = print_op(parse_text(text, context(), "kernel.mlir"))
    assert attribute in printed
    assert print_op(passed(printed, "cse")) == printed


def test_the_bit_is_the_lowest_by_default() -> None:
    assert splits_in(print_op(passed(split_gemm(dot="<0, 2, cta>"), "cse"))) == [
        "<0, 2, cta, bit = 0>"
    ]


def test_an_attribute_can_be_pickled() -> None:
    attribute = SplitAttr([Split(1, 4, SplitForm.CTA, 2), Split(0, 2, SplitForm.LOOP)])
    assert pickle.loads(pickle.dumps(attribute)) is attribute


@pytest.mark.parametrize(("splits", "problem"), [
    ("<0, 3, first>", "expected a power of two above 1 as the number of parts, found 3"),
    ("<0, 1, first>", "expected a power of two above 1 as the number of parts, found 1"),
    ("<-1, 2, first>", "expected no negative number, found -1"),
    ("<0, 2, cta, bit = -1>", "expected no negative number, found -1"),
    ("<0, 2, loop, bit = 1>", "expected a bit of the CTA rank with the form cta only, found loop"),
    ("<0, 2, last>", "expected one of first, cta, loop, k_loop, found 'last'"),
    ("<0, 2, loop>, <0, 2, first>", "expected splits in order first, cta, loop, k_loop"),
    ("<3, 2, loop>", "expected one of the dimensions 0, 1, 2 to split, found 3"),
    ("<0, 128, loop>", "expected at most 64 parts of dimension 0, found 128"),
    ("<0, 16, first>, <0, 8, loop>", "expected at most 64 parts of dimension 0, found 128"),
    ("<2, 2, loop>", "expected form k_loop along dimension 2, found loop"),
    ("<1, 2, k_loop>", "expected another form than k_loop along dimension 1, found k_loop"),
])  # fmt: skip
def test_invalid_splits_are_errors(splits: str, problem: str) -> None:
    with pytest.raises(UserError, match=re.escape(problem)):
        verify(parse_text(split_gemm(dot=splits), context(), "kernel.mlir"))


def test_a_store_has_the_dimensions_of_its_tile() -> None:
    problem = re.escape("expected one of the dimensions 0, 1 to split, found 2")
    with pytest.raises(UserError, match=problem):
        verify(parse_text(split_gemm(store="<2, 2, loop>"), context(), "kernel.mlir"))


def test_a_store_that_is_not_weak_has_no_splits() -> None:
    text = split_gemm(store="<0, 2, loop>").replace("tiled_store weak", "tiled_store relaxed gpu")
    with pytest.raises(UserError, match="expected no splits: it is not weak"):
        verify(parse_text(text, context(), "kernel.mlir"))


def test_it_is_a_list_of_splits() -> None:
    text = split_gemm(dot="<0, 2, loop>").replace("#nv_tileaa.split<[<0, 2, loop>]>", "2 : i32")
    with pytest.raises(UserError, match="to be a list of splits"):
        verify(parse_text(text, context(), "kernel.mlir"))
