"""Attributes of arguments that are predicates: facts about the arguments, as of `assume`."""

from __future__ import annotations

import numpy as np
import pytest
from each_case import each_case

import tilewright
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import parse_pipeline, passes_to
from tilewright.driver.signatures import signature_of
from tilewright.reference.errors import ExecutionError
from tilewright.text.printer import print_op

POINTER = "%x: tile<ptr<i32>> {a.p = #cuda_tile.div_by<16>, a.other = 3 : i32}"
NUMBER = "%n: tile<i32> {a.low = #cuda_tile.bounded<1, ?>, a.step = #cuda_tile.div_by<4>}"


def module(arguments: str = f"{POINTER}, {NUMBER}") -> str:
    return f"""cuda_tile.module @m {{ entry @k({arguments}) {{
      %t = store_ptr_tko weak %x, %n : tile<ptr<i32>>, tile<i32> -> token
      return
    }} }}"""


def test_predicates_become_operations() -> None:
    root = wrap_in_module(tilewright.read(module()))
    parse_pipeline(passes_to("nv_tileaa", "sm_90")).run(root)
    text = print_op(root)
    assert "(%arg0: !nv_tileaa.ptr<i32> {a.other = 3 : i32}, %arg1: i32)" in text
    lines = [line.strip() for line in text.splitlines() if "= nv_tileaa.assume" in line]
    assert lines == [
        "%0 = nv_tileaa.assume #nv_tileaa.div_by<16>, %arg0 : !nv_tileaa.ptr<i32>",
        "%1 = nv_tileaa.assume #nv_tileaa.bounded<1, ?>, %arg1 : i32",
        "%2 = nv_tileaa.assume #nv_tileaa.div_by<4>, %1 : i32",
    ]
    assert "nv_tileaa.store weak %0, %2 " in text


def test_they_are_compiled() -> None:
    assert tilewright.compile(module(), "sm_90").cubin


@each_case(
    ("number", "message"),
    [(8, None), (0, "assumes that bounded<1, ?>"), (6, "assumes that div_by<4>")],
)
def test_the_executor_checks_them(number: int, message: str | None) -> None:
    x = np.zeros(4, np.int32)
    if message is None:
        tilewright.execute(tilewright.read(module()), "k", (1,), [x, number])
        assert x[0] == number
        return
    with pytest.raises(ExecutionError, match="which does not hold") as caught:
        tilewright.execute(tilewright.read(module()), "k", (1,), [x, number])
    assert message in str(caught.value)


def test_the_signature_has_them() -> None:
    pointer, number = signature_of(tilewright.read(module()), "k").parameters
    assert pointer.divisor == 16
    assert (number.divisor, number.lower, number.upper) == (4, 1, None)


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("#cuda_tile.div_by<3>", "argument #1: 'div_by'"),
        ("#cuda_tile.same_elements<[1]>", "argument #1: "),
    ],
)
def test_predicates_must_suit_the_argument(attribute: str, message: str) -> None:
    wrong = module(f"{POINTER}, %n: tile<i32> {{a.b = {attribute}}}")
    with pytest.raises(tilewright.UserError) as caught:
        tilewright.compile(wrong, "sm_90", emit="ptx")
    assert message in str(caught.value)


def test_there_is_one_dictionary_for_each_argument() -> None:
    wrong = """"cuda_tile.module"() <{sym_name = "m"}> ({
      "cuda_tile.entry"() <{sym_name = "k", function_type = (!cuda_tile.tile<i32>) -> (), arg_attrs = [{}, {}]}> ({
      ^bb0(%n: !cuda_tile.tile<i32>):
        "cuda_tile.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()"""  # noqa: E501
    with pytest.raises(tilewright.UserError, match="expected attributes for 1 arguments, got 2"):
        tilewright.compile(wrong, "sm_90", emit="ptx")
