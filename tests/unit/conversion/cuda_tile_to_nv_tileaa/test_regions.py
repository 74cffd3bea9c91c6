"""Lowering of regions, dots, reductions, scans, flags and tokens."""

from __future__ import annotations

import pytest
from each_case import each_case
from tile_lowering import converted, failures, kernel, lines, parsed, tile_module

from tilewright.dialects.arith.attributes import FastMathAttr
from tilewright.dialects.cuda_tile.aggregate import ReduceOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.ir.types import TensorType
from tilewright.text.printer import print_op

REDUCE = """
%x = constant <f32: 1.0> : tile<8x64xf32>
%sum = reduce %x {axis = 1 : i32, identities = [0.0 : f32]} : tile<8x64xf32> -> tile<8xf32> {
^bb0(%acc: !cuda_tile.tile<f32>, %val: !cuda_tile.tile<f32>):
  %s = addf %acc, %val : tile<f32>
  yield %s : tile<f32>
}
"""
SCAN = """
%x = constant <f32: 1.0> : tile<8x64xf32>
%prefix = scan %x {axis = 1 : i32, inclusive = true, identities = [0.0 : f32]}
    : tile<8x64xf32> -> tile<8x64xf32> {
^bb0(%acc: !cuda_tile.tile<f32>, %elem: !cuda_tile.tile<f32>):
  %s = addf %acc, %elem : tile<f32>
  yield %s : tile<f32>
}
"""
STRUCTURED = "structure-early-exits,convert-cuda-tile-to-tileaa{compute-capability=sm_90}"


def find(root: Operation, name: str) -> Operation:
    (match,) = [op for op in root.walk() if op.name == name]
    return match


def after_exits(body: str, arguments: str) -> Operation:
    module = parsed(tile_module(body, arguments))
    parse_pipeline(STRUCTURED).run(module)
    return module


@pytest.mark.requirement("R0-058", "R0-066", "R0-067", "R0-030")
def test_reduce_is_the_example_of_the_notes() -> None:
    assert lines(REDUCE)[2:] == [
        "%1 = nv_tileaa.reduce %0 {axis = 1 : i32, identities = [0.000000e+00 : f32]} "
        ": tensor<8x64xf32> -> tensor<8xf32> {",
        "^bb0(%arg0: f32, %arg1: f32):",
        "%2 = nv_tileaa.addf %arg0, %arg1 : f32",
        "nv_tileaa.yield %2 : f32",
        "}",
    ]


@pytest.mark.requirement("R0-058", "R0-068", "R0-069")
def test_scan_is_the_example_of_the_notes() -> None:
    assert lines(SCAN)[2:] == [
        "%1 = nv_tileaa.scan %0 {axis = 1 : i32, identities = [0.000000e+00 : f32], "
        "inclusive = true} : tensor<8x64xf32> -> tensor<8x64xf32> {",
        "^bb0(%arg0: f32, %arg1: f32):",
        "%2 = nv_tileaa.addf %arg0, %arg1 : f32",
        "nv_tileaa.yield %2 : f32",
        "}",
    ]


@pytest.mark.requirement("R0-069")
def test_reverse_scans() -> None:
    body = SCAN.replace("inclusive = true", "reverse = true")
    scan = find(kernel(body), "nv_tileaa.scan")
    assert {"axis", "inclusive", "reverse", "identities"} == scan.attributes.keys()


def test_a_reduction_to_a_scalar_is_a_scalar() -> None:
    body = """
    %x = iota : tile<8xi32>
    %sum = reduce %x dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32>
    (%a: tile<i32>, %b: tile<i32>) {
      %s = addi %a, %b : tile<i32>
      yield %s : tile<i32>
    }
    """
    assert str(find(kernel(body), "nv_tileaa.reduce").results[0].type) == "i32"


@pytest.mark.requirement("R0-014", "R0-058", "R0-062")
def test_loops_and_branches() -> None:
    body = """
    %r = for unsigned %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
      %c = cmpi less_than %i, %n, unsigned : tile<i32> -> tile<i1>
      %y = if %c -> (tile<f32>) {
        yield %a : tile<f32>
      } else {
        %d = addf %a, %a : tile<f32>
        yield %d : tile<f32>
      }
      if %c {
        assert %c, "never" : tile<i1>
      }
      continue %y : tile<f32>
    }
    %s = absf %r : tile<f32>
    """
    assert lines(body, "%n: tile<i32>, %x: tile<f32>") == [
        "%0 = scf.for unsigned %arg2 = %arg0 to %arg0 step %arg0 iter_args(%arg3 = %arg1) "
        "-> (f32) : i32 {",
        "%2 = nv_tileaa.cmpi ult, %arg2, %arg0 : i32",
        "%3 = scf.if %2 -> (f32) {",
        "scf.yield %arg3 : f32",
        "} else {",
        "%4 = nv_tileaa.addf %arg3, %arg3 : f32",
        "scf.yield %4 : f32",
        "}",
        "scf.if %2 {",
        'nv_tileaa.assert %2, "never" : i1',
        "}",
        "scf.yield %3 : f32",
        "}",
        "%1 = nv_tileaa.absf %0 : f32",
    ]


WHILE = """
%zero = constant <i32: 0> : tile<i32>
%r = loop iter_values(%i = %zero, %a = %x) : tile<i32>, tile<f32> -> tile<f32> {
  %one = constant <i32: 1> : tile<i32>
  %b = addf %a, %x : tile<f32>
  %stop = cmpi greater_than_or_equal %i, %n, signed : tile<i32> -> tile<i1>
  if %stop {
    break %b : tile<f32>
  }
  %j = addi %i, %one : tile<i32>
  continue %j, %b : tile<i32>, tile<f32>
}
%s = absf %r : tile<f32>
"""


@pytest.mark.requirement("R0-058")
def test_a_loop_with_a_test_is_a_while() -> None:
    """Values of `before` that `after` uses pass through the condition; constants are cloned."""
    assert lines(WHILE, "%n: tile<i32>, %x: tile<f32>") == [
        "%c0_i32 = arith.constant 0 : i32",
        "%0:3 = scf.while (%arg2 = %c0_i32, %arg3 = %arg1) : (i32, f32) -> (f32, i32, f32) {",
        "%c1_i32 = arith.constant 1 : i32",
        "%2 = nv_tileaa.addf %arg3, %arg1 : f32",
        "%3 = nv_tileaa.cmpi sge, %arg2, %arg0 : i32",
        "%true = arith.constant true",
        "%4 = nv_tileaa.xori %3, %true : i1",
        "scf.condition(%4) %2, %arg2, %2 : f32, i32, f32",
        "} do {",
        "^bb0(%arg2: f32, %arg3: i32, %arg4: f32):",
        "%c1_i32 = arith.constant 1 : i32",
        "%2 = nv_tileaa.addi %arg3, %c1_i32 : i32",
        "scf.yield %2, %arg4 : i32, f32",
        "}",
        "%1 = nv_tileaa.absf %0#0 : f32",
    ]


def test_loops_with_early_exits_convert_after_structuring() -> None:
    body = """
    %zero = constant <i32: 0> : tile<i32>
    %r = loop iter_values(%i = %zero) : tile<i32> -> tile<i32> {
      %c = cmpi less_than %i, %n, signed : tile<i32> -> tile<i1>
      if %c {
        %d = cmpi equal %i, %n, signed : tile<i32> -> tile<i1>
        if %d {
          return
        } else {
          break %i : tile<i32>
        }
      }
      %j = addi %i, %n : tile<i32>
      continue %j : tile<i32>
    }
    %s = absi %r : tile<i32>
    """
    module = parsed(tile_module(body, "%n: tile<i32>"))
    assert [error.message for error in failures(module)] == [
        "failed to convert cuda_tile to nv_tileaa"
    ]
    assert "scf.while" in print_op(after_exits(body, "%n: tile<i32>"))


@pytest.mark.requirement("R0-059")
def test_a_type_that_cannot_be_converted_leaves_the_operation_alone() -> None:
    body = """
    %zero = constant <i32: 0> : tile<i32>
    %s = "other.make"() : () -> !cuda_tile.string
    %r = for %i in (%zero to %zero, step %zero) : tile<i32> iter_values(%a = %s) -> (string) {
      continue %a : string
    }
    """
    module = parsed(tile_module(body))
    before = print_op(module, generic=True)
    (error,) = failures(module)
    assert "cuda_tile.for" in " ".join(note.message for note in error.notes)
    assert print_op(module, generic=True) == before


@pytest.mark.requirement("R0-060")
def test_replacements_have_all_attributes() -> None:
    body = REDUCE.replace("{axis = 1 : i32,", '{axis = 1 : i32, note = "mine", count = 3 : i64,')
    module = parsed(tile_module(body))
    (old,) = [op for op in module.walk() if isinstance(op, ReduceOp)]
    expected = {"axis" if name == "dim" else name: a for name, a in old.attributes.items()}
    assert find(kernel(body), "nv_tileaa.reduce").attributes == expected


@pytest.mark.requirement("R0-061")
def test_all_block_arguments_are_converted() -> None:
    body = """
    %r, %s = if %c -> (tile<f32>, tile<f32>) {
      %a, %b = if %c -> (tile<f32>, tile<f32>) {
        yield %x, %x : tile<f32>, tile<f32>
      } else {
        yield %x, %x : tile<f32>, tile<f32>
      }
      yield %a, %b : tile<f32>, tile<f32>
    } else {
      %zero = constant <i32: 0> : tile<i32>
      %l = for %i in (%zero to %zero, step %zero) : tile<i32> iter_values(%k = %x) -> (tile<f32>) {
        continue %k : tile<f32>
      }
      yield %l, %x : tile<f32>, tile<f32>
    }
    """
    function = kernel(body, "%c: tile<i1>, %x: tile<f32>")
    blocks = [b for op in function.walk() for region in op.regions for b in region.blocks]
    types = [argument.type for block in blocks for argument in block.args]
    types += [result.type for op in function.walk() for result in op.results]
    assert len(blocks) == 6
    assert {str(type) for type in types} == {"i1", "f32", "i32"}


@pytest.mark.requirement("R0-063")
@each_case(
    ("element", "accumulator"),
    [("f16", "f32"), ("bf16", "f32"), ("tf32", "f32"), ("f8E4M3FN", "f16"), ("f64", "f64")],
)
def test_float_dots(element: str, accumulator: str) -> None:
    body = f"""
    %a = constant <{element}: 1.0> : tile<16x8x{element}>
    %b = constant <{element}: 1.0> : tile<8x16x{element}>
    %c = constant <{accumulator}: 0.0> : tile<16x16x{accumulator}>
    %r = mmaf %a, %b, %c : tile<16x8x{element}>, tile<8x16x{element}>, tile<16x16x{accumulator}>
    """
    dot = find(kernel(body), "nv_tileaa.dot")
    assert [str(value.type) for value in (*dot.operands, *dot.results)] == [
        f"tensor<16x8x{element}>",
        f"tensor<8x16x{element}>",
        *[f"tensor<16x16x{accumulator}>"] * 2,
    ]
    assert {"signedness_a", "signedness_b"}.isdisjoint(dot.attributes)


INTEGER_DOT = """
%a = constant <i8: 1> : tile<16x8xi8>
%b = constant <i8: 1> : tile<8x16xi8>
%c = constant <i32: 0> : tile<16x16xi32>
%r = mmai %a, %b, %c {} {} : tile<16x8xi8>, tile<8x16xi8>, tile<16x16xi32>
"""


@pytest.mark.requirement("R0-063", "R0-064")
@each_case("left", ["signed", "unsigned"])
@each_case("right", ["signed", "unsigned"])
def test_integer_dots(left: str, right: str) -> None:
    dot = find(kernel(INTEGER_DOT.format(left, right)), "nv_tileaa.dot")
    assert str(dot.attributes["signedness_a"]) == f"#nv_tileaa.signedness<{left}>"
    assert str(dot.attributes["signedness_b"]) == f"#nv_tileaa.signedness<{right}>"
    assert "input_precision" not in dot.attributes


DOT = """
%a = constant <{0}: 1.0> : tile<128x64x{0}>
%b = constant <{0}: 1.0> : tile<64x128x{0}>
%c = constant <f32: 0.0> : tile<128x128xf32>
%r = mmaf %a, %b, %c {1} : tile<128x64x{0}>, tile<64x128x{0}>, tile<128x128xf32>
"""


@pytest.mark.requirement("R0-064")
def test_fast_acc_is_kept() -> None:
    fast = find(kernel(DOT.format("f8E4M3FN", "fast_acc")), "nv_tileaa.dot")
    plain = find(kernel(DOT.format("f8E4M3FN", "")), "nv_tileaa.dot")
    assert "fast_acc" in fast.attributes
    assert "fast_acc" not in plain.attributes


@pytest.mark.requirement("R0-064")
def test_other_attributes_of_dots_are_kept() -> None:
    dot = find(kernel(DOT.format("f16", '{rounding = "zero"}')), "nv_tileaa.dot")
    assert print_op(dot).strip().count('rounding = "zero"') == 1


@pytest.mark.requirement("R0-065")
def test_dot_is_the_example_of_the_notes() -> None:
    dot = find(kernel(DOT.format("f16", '{fastmath = "contract"}')), "nv_tileaa.dot")
    assert dot.attributes["fastmath"] is FastMathAttr("contract")
    assert (
        print_op(dot)
        .strip()
        .endswith(
            '{fastmath = #arith.fastmath<contract>, input_precision = "tf32"} '
            ": tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>"
        )
    )


def test_f32_operands_have_ieee_precision() -> None:
    dot = find(kernel(DOT.format("f32", "")), "nv_tileaa.dot")
    assert 'input_precision = "ieee"' in print_op(dot)


@pytest.mark.requirement("R0-070")
@each_case("name", ["exp2", "log2", "sin", "cos", "tanh"])
@each_case("flags", ["none", "afn", "nnan,contract"])
def test_functions_carry_flags(name: str, flags: str) -> None:
    given = "" if flags == "none" else f" {{fastmath = #arith.fastmath<{flags}>}}"
    assert lines(f"%y = {name} %x{given} : tile<f32>", "%x: tile<f32>") == [
        f"%0 = nv_tileaa.{name} %arg0{given} : f32"
    ]


@pytest.mark.requirement("R0-070")
@pytest.mark.parametrize("name", ["tanh", "exp"])
def test_approximation_is_a_flag(name: str) -> None:
    assert lines(f"%y = {name} %x rounding<approx> : tile<f32>", "%x: tile<f32>") == [
        f"%0 = nv_tileaa.{name} %arg0 {{fastmath = #arith.fastmath<afn>}} : f32"
    ]
    assert lines(f"%y = {name} %x rounding<full> : tile<f32>", "%x: tile<f32>") == [
        f"%0 = nv_tileaa.{name} %arg0 : f32"
    ]


@pytest.mark.requirement("R0-072")
def test_memory_operations_keep_their_tokens() -> None:
    body = """
    %t = make_token : token
    %a, %t1 = load_ptr_tko acquire device %p token=%t : tile<ptr<i32>> -> tile<i32>, token
    %t2 = store_ptr_tko release sys %p, %a token=%t1 : tile<ptr<i32>>, tile<i32> -> token
    %b, %t3 = atomic_rmw_tko acq_rel device %p, add, %a token=%t2
        : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %c, %t4 = atomic_cas_tko relaxed tl_blk %p, %a, %b token=%t3
        : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    """
    assert lines(body, "%p: tile<ptr<i32>>") == [
        "%0 = nv_tileaa.create_mem_token : !nv_tileaa.mem_token",
        "%1:2 = nv_tileaa.load acquire gpu %arg0 token = %0 : !nv_tileaa.ptr<i32> -> i32",
        "%2 = nv_tileaa.store release sys %arg0, %1#0 token = %1#1 : !nv_tileaa.ptr<i32>, i32",
        "%3:2 = nv_tileaa.atomic_rmw acq_rel gpu add %arg0, %1#0 token = %2 "
        ": !nv_tileaa.ptr<i32>, i32",
        "%4:2 = nv_tileaa.atomic_cas relaxed tl_blk %arg0, %1#0, %3#0 token = %3#1 "
        ": !nv_tileaa.ptr<i32>, i32",
    ]


TOKENS = "%t0 = make_token : token\n%t1 = make_token : token\n%t2 = make_token : token\n"


@pytest.mark.requirement("R0-073", "R2-052")
@pytest.mark.parametrize("spelling", ["join_tokens %t0, %t1, %t2", "token.join [%t0, %t1, %t2]"])
def test_a_join_of_three(spelling: str) -> None:
    assert lines(f"{TOKENS}%t = {spelling} : token") == [
        "%0 = nv_tileaa.create_mem_token : !nv_tileaa.mem_token",
        "%1 = nv_tileaa.create_mem_token : !nv_tileaa.mem_token",
        "%2 = nv_tileaa.create_mem_token : !nv_tileaa.mem_token",
        "%3 = nv_tileaa.join_mem_token [%0, %1, %2] : !nv_tileaa.mem_token",
    ]


def joins(operands: str) -> Operation:
    """A kernel whose join has a number of operands that the verifier rejects."""
    text = (
        f'{TOKENS}%t = "cuda_tile.join_tokens"({operands}) : '
        f"({', '.join('!cuda_tile.token' for _ in operands.split())}) -> !cuda_tile.token\n"
        "%u = gdc_wait_tko token = %t -> token"
    )
    module = parsed(tile_module(text))
    assert failures(module) == []
    return module


@pytest.mark.requirement("R0-074")
def test_a_join_of_one_token_folds() -> None:
    module = joins("%t1")
    created = [op for op in module.walk() if op.name == "nv_tileaa.create_mem_token"]
    assert find(module, "nv_tileaa.wait_on_dependencies").operands == created[1].results
    assert not any(op.name == "nv_tileaa.join_mem_token" for op in module.walk())


@pytest.mark.requirement("R0-075")
def test_a_join_of_no_tokens_creates_one() -> None:
    module = joins("")
    (token,) = find(module, "nv_tileaa.wait_on_dependencies").operands
    created = token.defining_op()
    assert created is not None
    assert created.name == "nv_tileaa.create_mem_token"
    assert created.operands == ()
    assert sum(op.name == created.name for op in module.walk()) == 4


@pytest.mark.requirement("R0-077")
@each_case("body", [REDUCE, SCAN, DOT.format("f16", "")])
def test_no_layout_is_assigned(body: str) -> None:
    module = converted(tile_module(body))
    types = [result.type for op in module.walk() for result in op.results]
    tensors = [type for type in types if isinstance(type, TensorType)]
    assert tensors
    assert all(type.encoding is None for type in tensors)
    assert not any("layout" in name for op in module.walk() for name in op.attributes)


@pytest.mark.requirement("R0-080")
def test_a_body_that_yields_something_else_fails() -> None:
    body = REDUCE.replace("yield %s : tile<f32>", "break")
    module = parsed(tile_module(body))
    before = print_op(module, generic=True)
    (error,) = failures(module)
    assert error.message == "failed to convert cuda_tile to nv_tileaa"
    assert print_op(module, generic=True) == before


MISMATCHED = {
    "an argument of a reduction": (
        REDUCE.replace("%val: !cuda_tile.tile<f32>", "%val: !cuda_tile.tile<i32>").replace(
            "addf %acc, %val", "addf %acc, %acc"
        ),
        "'nv_tileaa.reduce' op expected block arguments of types ('f32', 'f32'), "
        "got ('f32', 'i32')",
    ),
    "too many arguments of a scan": (
        SCAN.replace("%acc: !", "%more: !cuda_tile.tile<f32>, %acc: !"),
        "'nv_tileaa.scan' op expected block arguments of types ('f32', 'f32'), "
        "got ('f32', 'f32', 'f32')",
    ),
    "what a scan yields": (
        SCAN.replace("yield %s : tile<f32>", "%c = exti %n signed : tile<i1> -> tile<i32>\n"
        "yield %c : tile<i32>"),
        "'nv_tileaa.scan' op expected the body to yield ('f32'), got ('i32')",
    ),
    "what a branch yields": (
        "%r = if %n -> (tile<f32>) { yield %y : tile<f32> } else { yield %n : tile<i1> }",
        "'scf.if' op expected the else branch to yield ('f32'), got ('i1')",
    ),
    "what a loop continues with": (
        "%r = for %i in (%k to %k, step %k) : tile<i32> iter_values(%a = %y) -> (tile<f32>) {\n"
        "continue %i : tile<i32>\n}",
        "'scf.for' op expected the body to yield ('f32'), got ('i32')",
    ),
}  # fmt: skip


@pytest.mark.requirement("R0-080")
@each_case("case", MISMATCHED)
def test_a_mismatched_region_fails(case: str) -> None:
    """The input is not verified before the pass, and the pass itself reports the mismatch."""
    body, problem = MISMATCHED[case]
    module = parsed(tile_module(body, "%n: tile<i1>, %y: tile<f32>, %k: tile<i32>"))
    before = print_op(module, generic=True)
    (error,) = failures(module)
    assert error.message == "failed to convert cuda_tile to nv_tileaa"
    assert problem in [note.message for note in error.notes]
    assert print_op(module, generic=True) == before
