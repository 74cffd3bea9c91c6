"""Rules of atomic operations that leave memory unchanged."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from each_case import each_case
from hypothesis import given
from hypothesis import strategies as st
from tileaa_programs import same, simplified, stays, use

PTRS = "tensor<2x!aa.ptr<{}>>"
ARGUMENTS = (
    "%pi: tensor<2x!aa.ptr<i32>>, %pf: tensor<2x!aa.ptr<f32>>, %x: tensor<2xi32>, "
    "%m: tensor<2xi1>, %t: !aa.mem_token"
)


def constant(name: str, number: str, type: str = "i32") -> str:
    return (
        f"%{name}0 = arith.constant {number} : {type}\n"
        f"%{name} = aa.splat %{name}0 : {type} -> tensor<2x{type}>\n"
    )


def rmw(mode: str, value: str, how: str = "relaxed gpu", more: str = "", type: str = "i32") -> str:
    pointers = "%pi" if type == "i32" else "%pf"
    return (
        f"%v, %u = aa.atomic_rmw {how} {mode} {pointers}, %{value} {more} "
        f": {PTRS.format(type)}, tensor<2x{type}>\n"
    )


def load(how: str, more: str = "", type: str = "i32") -> str:
    pointers = "%pi" if type == "i32" else "%pf"
    return f"%v, %u = aa.load {how} {pointers} {more} : {PTRS.format(type)} -> tensor<2x{type}>\n"


def results(type: str = "i32") -> str:
    return use(f"%v : tensor<2x{type}>", "%u : !aa.mem_token")


@pytest.mark.requirement("R2-036", "R2-037", "R2-041")
@each_case(
    ("mode", "identity"),
    [
        ("add", "0"), ("or", "0"), ("xor", "0"), ("and", "-1"),
        ("max", "-2147483648"), ("min", "2147483647"), ("umax", "0"), ("umin", "-1"),
    ],
)  # fmt: skip
def test_an_identity_makes_it_a_load(mode: str, identity: str) -> None:
    body = constant("k", identity) + rmw(mode, "k", more="token = %t") + results()
    assert same(body, load("relaxed gpu", "token = %t") + results(), ARGUMENTS)


@pytest.mark.requirement("R2-037", "R2-039", "R2-038")
@each_case(
    ("mode", "number"),
    [
        ("add", "1"), ("or", "-1"), ("xor", "1"), ("and", "0"), ("and", "1"), ("max", "0"),
        ("min", "0"), ("umax", "-1"), ("umin", "0"), ("xchg", "0"), ("xchg", "-1"),
    ],
)  # fmt: skip
def test_another_constant_does_not(mode: str, number: str) -> None:
    assert stays(constant("k", number) + rmw(mode, "k") + results(), ARGUMENTS)


@pytest.mark.requirement("R2-039")
def test_an_unknown_operand_does_not() -> None:
    assert stays(rmw("add", "x") + results(), ARGUMENTS)


@pytest.mark.requirement("R2-039")
def test_an_identity_in_some_elements_does_not() -> None:
    body = "%k = arith.constant dense<[0, 1]> : tensor<2xi32>\n"
    assert stays(body + rmw("add", "k") + results(), ARGUMENTS)


@pytest.mark.requirement("R2-040")
@pytest.mark.parametrize("zero", ["0.0", "-0.0"])
def test_no_float_is_an_identity(zero: str) -> None:
    body = constant("k", zero, "f32") + rmw("addf", "k", type="f32") + results("f32")
    assert stays(body, ARGUMENTS)


@pytest.mark.requirement("R2-042", "R2-036")
def test_ordering_scope_volatility_and_hints_stay() -> None:
    hints = "{cache_modifier = #aa.cache_modifier<cg>, latency = 3 : i64, volatile}"
    body = constant("k", "0") + rmw("add", "k", "acquire sys", f"token = %t {hints}") + results()
    assert same(body, load("acquire sys", f"token = %t {hints}") + results(), ARGUMENTS)


@pytest.mark.requirement("R2-042")
@pytest.mark.parametrize("how", ["release gpu", "acq_rel gpu"])
def test_a_release_cannot_become_a_load(how: str) -> None:
    assert stays(constant("k", "0") + rmw("add", "k", how, "token = %t") + results(), ARGUMENTS)
    assert stays(constant("k", "0") + cas("k", "k", how, "token = %t") + results(), ARGUMENTS)


@each_case(
    ("order", "token", "used", "relaxed"),
    [
        ("acq_rel", "token = %t", True, "acq_rel"),
        ("acq_rel", "token = %t", False, "release"),
        ("acq_rel", "token = %n", True, "acquire"),
        ("acq_rel", "", True, "acquire"),
        ("acq_rel", "", False, "relaxed"),
        ("acquire", "", True, "acquire"),
        ("acquire", "token = %t", False, "relaxed"),
        ("release", "token = %t", False, "release"),
        ("release", "", True, "relaxed"),
        ("seq_cst", "", False, "seq_cst"),
    ],
)
def test_an_order_of_nothing_is_relaxed(order: str, token: str, used: bool, relaxed: str) -> None:
    """Only tokens order the accesses of a block."""
    null = "%n = aa.create_mem_token : !aa.mem_token\n" if "%n" in token else ""
    after = results() if used else use("%v : tensor<2xi32>")
    for atomic in (partial(rmw, "add", "x"), partial(cas, "x", "x")):
        body = null + atomic(f"{order} gpu", token) + after
        assert same(body, null + atomic(f"{relaxed} gpu", token) + after, ARGUMENTS)


def test_masked_out_elements_are_zero_as_before() -> None:
    body = constant("k", "-1") + rmw("and", "k", more="mask = %m") + results()
    expected = constant("z", "0") + load("relaxed gpu", "mask = %m other = %z") + results()
    assert same(body, expected, ARGUMENTS)


def cas(
    compare: str, value: str, how: str = "relaxed gpu", more: str = "", type: str = "i32"
) -> str:
    pointers = "%pi" if type == "i32" else "%pf"
    return (
        f"%v, %u = aa.atomic_cas {how} {pointers}, %{compare}, %{value} {more} "
        f": {PTRS.format(type)}, tensor<2x{type}>\n"
    )


@pytest.mark.requirement("R2-033", "R2-042", "R2-041")
@each_case("how", ["relaxed tl_blk", "acquire gpu", "relaxed sys"])
def test_a_cas_that_changes_nothing_is_a_load(how: str) -> None:
    body = constant("k", "7") + cas("k", "k", how, "token = %t {volatile}") + results()
    assert same(body, load(how, "token = %t {volatile}") + results(), ARGUMENTS)


@pytest.mark.requirement("R2-033")
def test_floats_are_compared_by_their_bits() -> None:
    body = constant("k", "0x7FC00000", "f32") + cas("k", "k", type="f32") + results("f32")
    assert same(body, load("relaxed gpu", type="f32") + results("f32"), ARGUMENTS)
    zeros = constant("a", "0.0", "f32") + constant("b", "-0.0", "f32")
    lines = simplified(zeros + cas("a", "b", type="f32") + results("f32"), ARGUMENTS)
    assert any("atomic_cas" in line for line in lines)


@pytest.mark.requirement("R2-033")
def test_masked_out_elements_of_a_cas_are_those_of_compare() -> None:
    body = constant("k", "7") + cas("k", "k", more="mask = %m") + results()
    expected = constant("k", "7") + load("relaxed gpu", "mask = %m other = %k") + results()
    assert same(body, expected, ARGUMENTS)


@pytest.mark.requirement("R2-034", kind="behaviour")
def test_a_cas_of_different_constants_stays() -> None:
    body = "%o0 = arith.constant 5 : i32\n%o = aa.splat %o0 : i32 -> tensor<1xi32>\n"
    body += "%a = aa.broadcast %o : tensor<1xi32> -> tensor<2xi32>\n"
    body += "%b = aa.addi %a, %a : tensor<2xi32>\n" + cas("a", "b") + results()
    expected = "%b0 = arith.constant 10 : i32\n%a0 = arith.constant 5 : i32\n"
    expected += (
        "%a = aa.splat %a0 : i32 -> tensor<2xi32>\n%b = aa.splat %b0 : i32 -> tensor<2xi32>\n"
    )
    assert same(body, expected + cas("a", "b") + results(), ARGUMENTS)


@pytest.mark.requirement("R2-035")
@each_case(("compare", "value"), [("x", "k"), ("k", "x"), ("x", "x")])
def test_a_cas_with_an_unknown_operand_stays(compare: str, value: str) -> None:
    known = constant("k", "7") if "k" in (compare, value) else ""
    assert stays(known + cas(compare, value) + results(), ARGUMENTS)


VIEW = "!aa.tiled_view<tile = [2], source = !aa.memref<8xi32, strides = [1]>>"


def reduction(value: str, more: str = "") -> str:
    return (
        f"%u = aa.tiled_atomic_rmw relaxed gpu add %{value}, %w[%i] {more} "
        f": tensor<2xi32>, i32 of {VIEW}\n"
    )


@pytest.mark.requirement("R2-041")
def test_a_reduction_that_changes_nothing_is_its_token() -> None:
    arguments = f"%w: {VIEW}, %i: i32, %t: !aa.mem_token, %x: tensor<2xi32>"
    token = use("%u : !aa.mem_token")
    body = constant("k", "0") + reduction("k", "token = %t") + token
    assert same(body, use("%t : !aa.mem_token"), arguments)
    assert stays(constant("k", "1") + reduction("k", "token = %t") + token, arguments)
    assert stays(constant("k", "0") + reduction("k", "token = %t {volatile}") + token, arguments)
    assert stays(reduction("x", "token = %t") + token, arguments)


COMBINE = {
    "add": np.add, "or": np.bitwise_or, "xor": np.bitwise_xor, "and": np.bitwise_and,
    "max": np.maximum, "min": np.minimum,
}  # fmt: skip
IDENTITY = {"add": 0, "or": 0, "xor": 0, "and": -1, "max": -(2**31), "min": 2**31 - 1}


@pytest.mark.requirement("R2-040", "R2-036")
@given(st.sampled_from(sorted(COMBINE)), st.integers(-(2**31), 2**31 - 1))
def test_identities_leave_every_integer_as_it_is(mode: str, number: int) -> None:
    before = np.array([number], np.int32)
    after = COMBINE[mode](before, np.array([IDENTITY[mode]], np.int32))
    assert (after == before).all()
