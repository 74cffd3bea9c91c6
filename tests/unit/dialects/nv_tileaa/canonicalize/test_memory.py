"""Rules of pointer arithmetic, constant masks, and tokens."""

from __future__ import annotations

import pytest
from compiled_once import lowered_to
from each_case import each_case
from tileaa_programs import kernel, lines, run, same, simplified, stays, use

from tilewright.dialects.nv_tileaa.canonicalize.memory import canonicalize_masked_load
from tilewright.dialects.nv_tileaa.memory import AddPtrOp, LoadOp
from tilewright.driver.registry import context
from tilewright.ir.operation import Block
from tilewright.ir.rewriter import Rewriter
from tilewright.ir.types import F64, TensorType
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import parse_text

PTRS = "tensor<4x!aa.ptr<f32>>"
ARGUMENTS = (
    "%p: !aa.ptr<f32>, %ps: tensor<4x!aa.ptr<f32>>, %i: i32, %j: i32, %k: i64, %is: tensor<4xi32>, "
    "%o: tensor<4xf32>, %m: tensor<4xi1>, %t: !aa.mem_token"
)


def addptr(name: str, pointer: str, offset: str, flag: str = "", type: str = "i32") -> str:
    return f"%{name} = aa.addptr %{pointer}, %{offset} {flag} : !aa.ptr<f32>, {type}\n"


def wide(name: str, source: str) -> str:
    return f"%{name} = aa.exti %{source} signed : i32 to i64\n"


@pytest.mark.requirement("R2-009", "R2-001")
def test_nested_offsets_are_added_in_64_bits() -> None:
    body = addptr("a", "p", "i") + addptr("b", "a", "j") + use("%b : !aa.ptr<f32>")
    expected = wide("x", "i") + wide("y", "j") + "%z = aa.addi %x, %y : i64\n"
    expected += addptr("b", "p", "z", type="i64") + use("%b : !aa.ptr<f32>")
    assert same(body, expected, ARGUMENTS)


@pytest.mark.requirement("R2-009")
def test_a_chain_of_three_becomes_one() -> None:
    body = addptr("a", "p", "i") + addptr("b", "a", "j") + addptr("c", "b", "k", type="i64")
    function = run(kernel(body + use("%c : !aa.ptr<f32>"), ARGUMENTS))
    (left,) = [op for op in function.walk() if isinstance(op, AddPtrOp)]
    assert left.pointers is function.body.block.args[0]


@pytest.mark.requirement("R2-009")
def test_the_offsets_of_a_chain_are_added_up() -> None:
    numbers = "".join(f"%c{n} = arith.constant {10**n} : i32\n" for n in range(3))
    body = numbers + addptr("a", "p", "c0") + addptr("b", "a", "c1") + addptr("c", "b", "c2")
    expected = "%sum = arith.constant 111 : i64\n" + addptr("c", "p", "sum", type="i64")
    end = use("%c : !aa.ptr<f32>")
    assert same(body + end, expected + end, ARGUMENTS)


@pytest.mark.requirement("R2-009")
def test_offsets_of_tile_ir_become_one() -> None:
    """A chain of offsets of a kernel is a single addptr at layout assignment."""
    text = """cuda_tile.module @m { entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %j: tile<i32>) {
      %a = offset %p, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %b = offset %a, %j : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %c = offset %b, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %x, %t = load_ptr_tko weak %c : tile<ptr<f32>> -> tile<f32>, token
      %u = store_ptr_tko weak %p, %x token=%t : tile<ptr<f32>>, tile<f32> -> token
    } }"""
    module = parse_text(lowered_to("nv_tileaa", text), context())
    (address,) = [op for op in module.walk() if isinstance(op, AddPtrOp)]
    (load,) = [op for op in module.walk() if isinstance(op, LoadOp)]
    assert address.pointers.defining_op() is None
    assert load.operands[0] is address.result
    added = [op for op in module.walk() if op.name == "nv_tileaa.addi"]
    assert len(added) == 2
    assert address.offsets is added[-1].results[0]


@pytest.mark.requirement("R2-009")
def test_the_result_has_the_type_of_the_outer_one() -> None:
    body = f"%a = aa.addptr %ps, %is : {PTRS}, tensor<4xi32>\n"
    body += f"%b = aa.addptr %a, %is : {PTRS}, tensor<4xi32>\n" + use(f"%b : {PTRS}")
    assert lines(run(kernel(body, ARGUMENTS)))[-2].endswith(
        ": tensor<4x!nv_tileaa.ptr<f32>>, tensor<4xi64>"
    )


@pytest.mark.requirement("R2-009")
def test_offsets_that_overflow_32_bits_do_not_wrap() -> None:
    body = "%big = arith.constant 2147483647 : i32\n"
    body += addptr("a", "p", "big") + addptr("b", "a", "big") + use("%b : !aa.ptr<f32>")
    expected = "%sum = arith.constant 4294967294 : i64\n"
    expected += addptr("b", "p", "sum", type="i64") + use("%b : !aa.ptr<f32>")
    assert same(body, expected, ARGUMENTS)


@pytest.mark.requirement("R2-010")
@pytest.mark.parametrize(
    "between",
    [
        "%q = aa.bitcast %a : !aa.ptr<f32> to !aa.ptr<i8>\n",
        "%n = aa.ptr_to_int %a : !aa.ptr<f32> to i64\n"
        "%q = aa.int_to_ptr %n : i64 to !aa.ptr<i8, 3>\n",
    ],
)
def test_other_elements_or_another_space_in_between_stay(between: str) -> None:
    type = "!aa.ptr<i8, 3>" if "3>" in between else "!aa.ptr<i8>"
    body = addptr("a", "p", "i") + between + f"%b = aa.addptr %q, %j : {type}, i32\n"
    assert stays(body + use(f"%b : {type}"), ARGUMENTS)


@pytest.mark.requirement("R2-011", "R2-064")
@pytest.mark.parametrize(("first", "second"), [("", "bytes"), ("bytes", "")])
def test_mixed_units_are_bytes(first: str, second: str) -> None:
    body = "%three = arith.constant 3 : i32\n%five = arith.constant 5 : i32\n"
    body += addptr("a", "p", "three", first) + addptr("b", "a", "five", second)
    distance = 3 * (1 if first else 4) + 5 * (1 if second else 4)
    expected = f"%sum = arith.constant {distance} : i64\n"
    expected += addptr("b", "p", "sum", "bytes", "i64")
    assert same(body + use("%b : !aa.ptr<f32>"), expected + use("%b : !aa.ptr<f32>"), ARGUMENTS)


@pytest.mark.requirement("R2-011", "R2-064")
def test_bytes_stay_bytes() -> None:
    body = addptr("a", "p", "k", "bytes", "i64") + addptr("b", "a", "k", "bytes", "i64")
    expected = "%z = aa.addi %k, %k : i64\n" + addptr("b", "p", "z", "bytes", "i64")
    assert same(body + use("%b : !aa.ptr<f32>"), expected + use("%b : !aa.ptr<f32>"), ARGUMENTS)


@pytest.mark.requirement("R2-010")
def test_elements_that_share_a_byte_have_no_size_in_bytes() -> None:
    body = "%a = aa.addptr %h, %k : !aa.ptr<f4E2M1FN>, i64\n"
    body += "%b = aa.addptr %a, %k bytes : !aa.ptr<f4E2M1FN>, i64\n"
    assert stays(body + use("%b : !aa.ptr<f4E2M1FN>"), "%h: !aa.ptr<f4E2M1FN>, %k: i64")


def test_an_address_that_a_loop_starts_from_stays_outside_of_it() -> None:
    body = addptr("a", "p", "i") + "scf.for %n = %i to %j step %i : i32 {\n"
    body += addptr("b", "a", "n") + use("%b : !aa.ptr<f32>") + "}\n"
    assert stays(body, ARGUMENTS)


def test_a_zero_offset_is_dropped() -> None:
    body = "%z = arith.constant 0 : i32\n" + addptr("a", "p", "z")
    assert same(body + use("%a : !aa.ptr<f32>"), use("%p : !aa.ptr<f32>"), ARGUMENTS)


def mask(value: bool) -> str:
    return (
        f"%k0 = arith.constant {str(value).lower()}\n%known = aa.splat %k0 : i1 -> tensor<4xi1>\n"
    )


def load(operands: str, how: str = "weak", more: str = "") -> str:
    return f"%v, %u = aa.load {how} %ps {operands} {more} : {PTRS} -> tensor<4xf32>\n"


RESULTS = use("%v : tensor<4xf32>", "%u : !aa.mem_token")


@pytest.mark.requirement("R2-015")
def test_a_load_with_a_true_mask_needs_none() -> None:
    body = mask(True) + load("mask = %known other = %o token = %t") + RESULTS
    assert same(body, load("token = %t") + RESULTS, ARGUMENTS)


@pytest.mark.requirement("R2-015")
def test_a_volatile_ordered_load_with_a_true_mask_keeps_its_ordering() -> None:
    body = mask(True) + load("mask = %known", "acquire gpu", "{volatile}") + RESULTS
    assert same(body, load("", "acquire gpu", "{volatile}") + RESULTS, ARGUMENTS)


@pytest.mark.requirement("R2-016", "R2-041")
def test_a_load_with_a_false_mask_is_its_fallback() -> None:
    body = mask(False) + load("mask = %known other = %o token = %t") + RESULTS
    assert same(body, use("%o : tensor<4xf32>", "%t : !aa.mem_token"), ARGUMENTS)


@pytest.mark.requirement("R2-016", "R2-041")
def test_without_other_it_is_poison_and_without_token_a_new_token() -> None:
    body = mask(False) + load("mask = %known") + RESULTS
    expected = "%v = ub.poison : tensor<4xf32>\n%u = aa.create_mem_token : !aa.mem_token\n"
    assert same(body, expected + RESULTS, ARGUMENTS)


@pytest.mark.requirement("R2-017")
def test_a_fallback_of_another_type_is_not_taken() -> None:
    """The verifier rejects such a load; the rule would not apply either."""
    function = kernel(mask(False) + load("mask = %known other = %o") + RESULTS, ARGUMENTS)
    (op,) = [op for op in function.walk() if isinstance(op, LoadOp)]
    assert op.mask is not None
    strange = Block([TensorType((4,), F64)]).args[0]
    op.set_operands((op.pointers, op.mask, strange), (1, 1, 1, 0))
    assert canonicalize_masked_load.apply(op, Rewriter.at(op)) is None
    with pytest.raises(UserError, match="expected other of type 'tensor<4xf32>'"):
        verify(function)


@pytest.mark.requirement("R2-018")
def test_a_variable_mask_stays() -> None:
    assert stays(load("mask = %m other = %o token = %t") + RESULTS, ARGUMENTS)
    assert stays(store("mask = %m token = %t") + USED, ARGUMENTS)


@pytest.mark.requirement("R2-018")
def test_a_mask_that_is_true_in_some_elements_stays() -> None:
    known = "%known = arith.constant dense<[true, false, true, true]> : tensor<4xi1>\n"
    assert stays(known + load("mask = %known other = %o") + RESULTS, ARGUMENTS)


@pytest.mark.parametrize(("how", "more"), [("weak", "{volatile}"), ("acquire gpu", "")])
def test_a_load_that_nothing_needs_but_that_was_asked_for_stays(how: str, more: str) -> None:
    assert stays(mask(False) + load("mask = %known other = %o", how, more) + RESULTS, ARGUMENTS)


def store(operands: str, how: str = "weak", more: str = "") -> str:
    return f"%u = aa.store {how} %ps, %o {operands} {more} : {PTRS}, tensor<4xf32>\n"


USED = use("%u : !aa.mem_token")


@pytest.mark.requirement("R2-019")
def test_a_store_with_a_true_mask_needs_none() -> None:
    body = mask(True) + store("mask = %known token = %t", "release gpu", "{volatile}") + USED
    assert same(body, store("token = %t", "release gpu", "{volatile}") + USED, ARGUMENTS)


@pytest.mark.requirement("R2-020", "R2-041")
def test_a_store_with_a_false_mask_is_its_token() -> None:
    body = mask(False) + store("mask = %known token = %t") + USED
    assert same(body, use("%t : !aa.mem_token"), ARGUMENTS)
    body = mask(False) + store("mask = %known") + USED
    expected = "%u = aa.create_mem_token : !aa.mem_token\n" + USED
    assert same(body, expected, ARGUMENTS)


@pytest.mark.requirement("R2-021")
@pytest.mark.parametrize(("how", "more"), [("weak", "{volatile}"), ("release gpu", "")])
def test_a_store_with_another_effect_stays(how: str, more: str) -> None:
    assert stays(mask(False) + store("mask = %known token = %t", how, more) + USED, ARGUMENTS)


@pytest.mark.requirement("R2-002")
def test_a_shape_fold_exposes_a_memory_fold_in_one_run() -> None:
    body = "%k0 = arith.constant true\n%one = aa.splat %k0 : i1 -> tensor<1xi1>\n"
    body += "%known = aa.broadcast %one : tensor<1xi1> -> tensor<4xi1>\n"
    body += load("mask = %known other = %o") + RESULTS
    assert same(body, load("") + RESULTS, ARGUMENTS)


TOKENS = "%a: !aa.mem_token, %b: !aa.mem_token, %c: !aa.mem_token"
FRESH = "%f = aa.create_mem_token : !aa.mem_token\n%g = aa.create_mem_token : !aa.mem_token\n"


def join(name: str, *tokens: str) -> str:
    return f"%{name} = aa.join_mem_token [{', '.join(tokens)}] : !aa.mem_token\n"


@pytest.mark.requirement("R2-041")
@each_case(
    ("before", "tokens", "expected"),
    [
        ("", ("%a", "%a"), ("%a",)),
        (FRESH, ("%f", "%a"), ("%a",)),
        (FRESH, ("%f", "%a", "%g", "%b", "%a"), ("%a", "%b")),
        (join("i", "%b", "%a"), ("%i", "%c"), ("%b", "%a", "%c")),
        (join("i", "%a", "%b"), ("%c", "%i", "%a"), ("%c", "%a", "%b")),
        (join("h", "%a", "%b") + join("i", "%h", "%c"), ("%i", "%b"), ("%a", "%b", "%c")),
    ],
)
def test_a_join_waits_for_each_token_once_in_order(
    before: str, tokens: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    body = before + join("j", *tokens) + use("%j : !aa.mem_token")
    if len(expected) == 1:
        assert same(body, use(f"{expected[0]} : !aa.mem_token"), TOKENS)
    else:
        assert same(body, join("j", *expected) + use("%j : !aa.mem_token"), TOKENS)


def test_a_join_of_fresh_tokens_is_fresh() -> None:
    body = FRESH + join("j", "%f", "%g") + use("%j : !aa.mem_token")
    expected = "%f = aa.create_mem_token : !aa.mem_token\n" + use("%f : !aa.mem_token")
    assert same(body, expected, TOKENS)


def test_a_join_that_others_use_as_well_is_not_taken_apart() -> None:
    body = join("i", "%a", "%b") + join("j", "%i", "%c")
    assert stays(body + use("%i : !aa.mem_token", "%j : !aa.mem_token"), TOKENS)


def test_joins_in_a_row_grow_no_faster_than_the_program() -> None:
    count = 40
    arguments = ", ".join(f"%t{i}: !aa.mem_token" for i in range(count))
    body = join("j1", "%t0", "%t1")
    for i in range(2, count):
        body += join(f"j{i}", f"%j{i - 1}", f"%t{i}") + use(f"%j{i} : !aa.mem_token")
    lines = simplified(body, arguments)
    assert sum(line.count("%") for line in lines) < 10 * count
