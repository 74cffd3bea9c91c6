"""The three parts of the pattern set, and the patterns that can be added one by one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from each_case import each_case
from tile_lowering import converted, kernel, lines, parsed, tile_module

from tilewright.conversion.cuda_tile_to_nv_tileaa import (
    LEGAL,
    TARGET,
    TYPES,
    adders,
    all_patterns,
    populate_part_a,
    populate_part_b,
    populate_part_c,
)
from tilewright.conversion.cuda_tile_to_nv_tileaa.pattern_set import PatternSet, Renaming
from tilewright.conversion.cuda_tile_to_nv_tileaa.types import tileaa_types
from tilewright.dialects.arith.attributes import FastMathAttr
from tilewright.dialects.builtin import UnrealizedConversionCastOp, unrealized_cast
from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.ub import PoisonOp
from tilewright.ir.conversion import convert
from tilewright.ir.conversion_pattern import ConversionPattern
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import Sink
from tilewright.target.arch import ARCHES
from tilewright.text.printer import print_op

ARCH = ARCHES["sm_90"]

FAMILIES_OF_A = {
    "absf", "absi", "addf", "addi", "andi", "atan2", "bitcast", "broadcast", "cat", "ceil", "cmpf",
    "cmpi", "continue", "cos", "cosh", "divf", "divi", "exp", "exp2", "exti", "extract", "floor",
    "for", "fpowf", "fpowi", "ftof", "ftoi", "get_num_tile_blocks", "get_tile_block_id", "if",
    "insert", "int_to_ptr", "iota", "log", "log2", "loop", "maxf", "minf", "mini", "mulf",
    "mulhii", "muli", "negf", "negi", "ori", "pack", "permute", "ptr_to_int", "ptr_to_ptr",
    "remf", "remi", "reshape", "select", "shli", "shri", "sin", "sinh", "sqrt", "subf", "subi",
    "tan", "tanh", "unpack", "xori", "yield",
}  # fmt: skip
FAMILIES_OF_B = {
    "alloca", "assert", "atomic_cas_tko", "atomic_red_view_tko", "atomic_rmw_tko", "entry",
    "gdc_launch_dependents_tko", "gdc_wait_tko", "get_global", "get_index_space_shape",
    "get_tensor_shape", "join_tokens", "load_ptr_tko", "load_view_tko",
    "make_gather_scatter_view", "make_partition_view", "make_strided_view", "make_tensor_view",
    "make_token", "memory_fence_alias_tko", "module", "multimem_load_reduce_view_tko",
    "multimem_reduce_view_tko", "multimem_store_view_tko", "offset", "print_tko", "return",
    "store_ptr_tko", "store_view_tko",
}  # fmt: skip
ONE_BY_ONE = {"trunci", "rsqrt", "maxi", "itof", "global", "fma", "constant", "assume"}

BODY = """
%t = make_token : token
%c = constant <f32: 1.0> : tile<4x4xf32>
%m = mmaf %c, %c, %c : tile<4x4xf32>, tile<4x4xf32>, tile<4x4xf32>
%r = reduce %m dim=1 identities=[0.0 : f32] : tile<4x4xf32> -> tile<4xf32>
(%u: tile<f32>, %v: tile<f32>) {
  %w = addf %u, %v : tile<f32>
  yield %w : tile<f32>
}
%x, %k = load_ptr_tko weak %p token=%t : tile<ptr<f32>> -> tile<f32>, token
"""
ARGUMENTS = "%p: tile<ptr<f32>>"


def names(patterns: PatternSet) -> set[str]:
    """The source operations of patterns."""
    roots = [root for root in patterns.roots() if issubclass(root, TileOp)]
    return {root.name.removeprefix("cuda_tile.") for root in roots}


def part(letter: str) -> PatternSet:
    patterns = PatternSet()
    match letter:
        case "a":
            populate_part_a(patterns)
        case "b":
            populate_part_b(patterns, ARCH)
        case _:
            populate_part_c(patterns)
    return patterns


def joined(*sets: PatternSet) -> PatternSet:
    patterns = PatternSet()
    for each in sets:
        patterns.add(*each)
    for add in adders.ADDERS:
        add(patterns)
    return patterns


def attempt(patterns: PatternSet) -> tuple[bool, str]:
    """Return whether patterns convert a whole program, and the result."""
    module = parsed(tile_module(BODY, ARGUMENTS))
    done = convert(module, TARGET, patterns.compiled(), TYPES, partial=True, sink=Sink())
    return done, print_op(module)


@pytest.mark.requirement("R0-036")
def test_group_a() -> None:
    assert names(part("a")) == FAMILIES_OF_A


@pytest.mark.requirement("R0-037", "R2-052")
def test_group_b() -> None:
    patterns = part("b")
    assert names(patterns) == FAMILIES_OF_B
    others = {root for root in patterns.roots() if not issubclass(root, TileOp)}
    assert others == {PoisonOp, UnrealizedConversionCastOp}


@pytest.mark.requirement("R0-038")
def test_group_c() -> None:
    patterns = part("c")
    assert len(patterns) == 4
    # The scaled mma was added in 13.3, and shares the pattern of the plain one.
    assert names(patterns) == {"mmaf", "mmaf_scaled", "mmai", "reduce", "scan"}


@pytest.mark.requirement("R1-060")
def test_every_operation_has_a_pattern() -> None:
    expected = {op.name.removeprefix("cuda_tile.") for op in CUDA_TILE.ops.values()}
    # A break is lowered by the pattern of its loop.
    assert names(all_patterns(ARCH)) | {"break"} == expected


@pytest.mark.requirement("R0-039")
def test_the_pattern_list_is_deterministic() -> None:
    first, second = all_patterns(ARCH), all_patterns(ARCH)
    assert first.roots() == second.roots()
    in_order = [*part("a").roots(), *part("b").roots(), *part("c").roots()]
    assert first.roots()[: len(in_order)] == in_order


@pytest.mark.requirement("R0-040")
def test_groups_a_and_b_commute() -> None:
    one = attempt(joined(part("a"), part("b"), part("c")))
    other = attempt(joined(part("b"), part("a"), part("c")))
    assert one == other
    assert one[0]


SPECIALISTS = {
    "mmaf": "%r = mmaf %x, %x, %x : tile<4x4xf32>, tile<4x4xf32>, tile<4x4xf32>",
    "mmai": "%r = mmai %n, %n, %i signed signed : tile<4x4xi8>, tile<4x4xi8>, tile<4x4xi32>",
    "reduce": "%r = reduce %x dim=1 identities=[0.0 : f32] : tile<4x4xf32> -> tile<4xf32>\n"
    "(%u: tile<f32>, %v: tile<f32>) { yield %u : tile<f32> }",
    "scan": "%r = scan %x dim=1 reverse=false identities=[0.0 : f32] "
    ": tile<4x4xf32> -> tile<4x4xf32>\n(%u: tile<f32>, %v: tile<f32>) { yield %u : tile<f32> }",
}
OPERANDS = {
    "a": "%x = negf %f : tile<4x4xf32>\n%i = negi %j : tile<4x4xi32>\n",
    "b": "%x, %t = load_ptr_tko weak %p : tile<4x4xptr<f32>> -> tile<4x4xf32>, token\n"
    "%i, %s = load_ptr_tko weak %q : tile<4x4xptr<i32>> -> tile<4x4xi32>, token\n",
}
"""Operands of the specialists that a pattern of one part produces."""


@pytest.mark.requirement("R0-041", kind="behaviour")
@each_case("missing", ["a", "b"])
@each_case("name", SPECIALISTS)
def test_group_c_needs_the_others(name: str, missing: str) -> None:
    """A specialist takes what A and B converted, not a cast of what they left.

    Only the operations of C are illegal, so that no failure of A or B hides whether C applies.
    """
    made = '"other.make"() : () -> !cuda_tile.tile<4x4x'
    sources = {"f": "f32", "j": "i32", "p": "ptr<f32>", "q": "ptr<i32>"}
    body = "".join(f"%{name} = {made}{element}>\n" for name, element in sources.items())
    body += OPERANDS[missing] + "%n = trunci %i : tile<4x4xi32> -> tile<4x4xi8>\n"
    text = tile_module(body + SPECIALISTS[name])
    target = ConversionTarget(LEGAL, part("c").roots())
    rest = [part(letter) for letter in "abc" if letter != missing]
    types = tileaa_types()
    types.add_source(unrealized_cast)

    everything, without = parsed(text), parsed(text)
    patterns = joined(part("a"), part("b"), part("c")).compiled()
    assert convert(everything, target, patterns, types, partial=True)
    sink = Sink()
    assert not convert(without, target, joined(*rest).compiled(), types, partial=True, sink=sink)
    (error,) = sink.errors
    assert f"'cuda_tile.{name}'" in error.message
    assert any("expected operands that were converted" in note.message for note in error.notes)


@pytest.mark.requirement("R0-042", kind="behaviour")
def test_group_b_has_both_kinds_of_patterns() -> None:
    kinds = {type(entry) for entry in part("b")}
    assert kinds == {Renaming, ConversionPattern}


@pytest.mark.requirement("R0-043")
@each_case("add", adders.ADDERS)
def test_an_adder_adds_one_pattern(add: Callable[[PatternSet], object]) -> None:
    patterns = PatternSet()
    add(patterns)
    assert len(patterns) == len(patterns.roots()) == 1


@pytest.mark.requirement("R0-043", "R0-053")
def test_the_eight_are_in_no_group() -> None:
    patterns = PatternSet()
    for add in adders.ADDERS:
        add(patterns)
    assert names(patterns) == ONE_BY_ONE
    for letter in "abc":
        assert not names(part(letter)) & ONE_BY_ONE


@pytest.mark.requirement("R0-044")
def test_adders_work_alone() -> None:
    patterns = PatternSet()
    adders.add_rsqrt(patterns)
    adders.add_fma(patterns)
    body = "%y = rsqrt %x : tile<f32>\n%z = fma %y, %y, %x : tile<f32>\n%w = absf %z : tile<f32>"
    module = parsed(tile_module(body, "%x: tile<f32>"))
    target = ConversionTarget(("nv_tileaa",), patterns.roots())
    types = tileaa_types()
    types.add_source(unrealized_cast)
    convert(module, target, patterns.compiled(), types, partial=True)
    names = [op.name for op in module.walk() if op.name.count("cast") == 0]
    assert names[3:] == ["nv_tileaa.rsqrt", "nv_tileaa.fma", "cuda_tile.absf", "cuda_tile.return"]


@pytest.mark.requirement("R0-046", "R0-054")
def test_rsqrt() -> None:
    body = "%x = constant <f32: 4.0> : tile<8x64xf32>\n%r = rsqrt %x : tile<8x64xf32>"
    assert lines(body)[2] == "%1 = nv_tileaa.rsqrt %0 : tensor<8x64xf32>"
    assert lines("%r = rsqrt %x flush_to_zero : tile<f32>", "%x: tile<f32>") == [
        "%0 = nv_tileaa.rsqrt %arg0 flush_to_zero : f32"
    ]


@pytest.mark.requirement("R0-047")
@pytest.mark.parametrize(("sign", "name"), [("signed", "maxsi"), ("unsigned", "maxui")])
def test_maxi(sign: str, name: str) -> None:
    assert lines(f"%r = maxi %x, %x {sign} : tile<i32>", "%x: tile<i32>") == [
        f"%0 = arith.{name} %arg0, %arg0 : i32"
    ]


@pytest.mark.parametrize(("sign", "name"), [("signed", "minsi"), ("unsigned", "minui")])
def test_mini(sign: str, name: str) -> None:
    assert lines(f"%r = mini %x, %x {sign} : tile<i32>", "%x: tile<i32>") == [
        f"%0 = arith.{name} %arg0, %arg0 : i32"
    ]


@pytest.mark.requirement("R0-048")
@pytest.mark.parametrize(("sign", "name"), [("signed", "sitofp"), ("unsigned", "uitofp")])
def test_itof(sign: str, name: str) -> None:
    assert lines(f"%r = itof %x {sign} : tile<i32> -> tile<f16>", "%x: tile<i32>") == [
        f"%0 = arith.{name} %arg0 : i32 to f16"
    ]


@pytest.mark.requirement("R0-049")
def test_global() -> None:
    around = (
        "global @plain <f32: [1.0, 2.0]> : tile<2xf32>\n"
        "global private constant @hidden alignment = 16 <i32: [1, 2]> : tile<2xi32>"
    )
    module = converted(tile_module("", "", around))
    globals = [print_op(op).strip() for op in module.walk() if op.name == "nv_tileaa.global"]
    assert globals == [
        "nv_tileaa.global @plain = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>",
        'nv_tileaa.global constant @hidden align 16 {sym_visibility = "private"} '
        "= dense<[1, 2]> : tensor<2xi32>",
    ]


@pytest.mark.requirement("R0-050", "R0-055", "R0-056", "R0-015")
def test_fma() -> None:
    body = """
    %a = constant <f32: 1.0> : tile<8x64xf32>
    %r = fma %a, %a, %a {fastmath = #arith.fastmath<contract>} : tile<8x64xf32>
    """
    assert lines(body)[2] == (
        "%1 = nv_tileaa.fma %0, %0, %0 {fastmath = #arith.fastmath<contract>} : tensor<8x64xf32>"
    )
    module = parsed(tile_module(body))
    before = next(op for op in module.walk() if op.name == "cuda_tile.fma")
    after = next(op for op in kernel(body).walk() if op.name == "nv_tileaa.fma")
    assert before.attributes["fastmath"] is after.attributes["fastmath"]


@pytest.mark.requirement("R0-015", "R0-056")
@each_case("flags", [(), ("nnan",), ("nnan", "contract"), ("fast",)])
@each_case("name", ["addf", "mulf", "divf"])
def test_fast_math_flags_are_unchanged(flags: tuple[str, ...], name: str) -> None:
    text = ",".join(flags) or "none"
    body = f"%r = {name} %x, %x {{fastmath = #arith.fastmath<{text}>}} : tile<f32>"
    made = next(op for op in kernel(body, "%x: tile<f32>").walk() if op.name.endswith(name))
    assert made.attributes["fastmath"] is FastMathAttr(*flags)


@pytest.mark.requirement("R0-015")
def test_fast_math_flags_may_be_a_string() -> None:
    body = '%r = addf %x, %x {fastmath = "contract"} : tile<f32>'
    made = next(op for op in kernel(body, "%x: tile<f32>").walk() if op.name.endswith("addf"))
    assert made.attributes["fastmath"] is FastMathAttr("contract")


@pytest.mark.requirement("R0-051")
def test_constants() -> None:
    body = """
    %a = constant <f32: 1.5> : tile<f32>
    %b = constant <i8: -1> : tile<4x4xi8>
    %c = constant <i32: [1, 2]> : tile<2xi32>
    %d = constant <i1: true> : tile<i1>
    """
    assert lines(body) == [
        "%cst = arith.constant 1.500000e+00 : f32",
        "%c-1_i8 = arith.constant -1 : i8",
        "%0 = nv_tileaa.splat %c-1_i8 : i8 -> tensor<4x4xi8>",
        "%cst_0 = arith.constant dense<[1, 2]> : tensor<2xi32>",
        "%true = arith.constant true",
    ]


@pytest.mark.requirement("R0-052")
@each_case(
    "predicate", ["div_by<16>", "bounded<0, 42>", "bounded<?, 7>", "div_by<4, every 2 along 0>"]
)
def test_assume(predicate: str) -> None:
    body = f"%i = iota : tile<8xi32>\n%r = assume {predicate}, %i : tile<8xi32>"
    assert lines(body)[1] == f"%1 = nv_tileaa.assume #nv_tileaa.{predicate}, %0 : tensor<8xi32>"


@pytest.mark.requirement("R0-057")
def test_no_attribute_of_llvm_appears() -> None:
    def attributes(root: Operation) -> set[str]:
        values = [value for op in root.walk() for value in op.attributes.values()]
        return {type(value).mnemonic.partition(".")[0] for value in values}

    body = "%r = addf %x, %x {fastmath = #arith.fastmath<fast>} : tile<f32>"
    assert "llvm" not in attributes(converted(tile_module(body, "%x: tile<f32>")))
