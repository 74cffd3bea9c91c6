"""Lowering of scf loops and branches to basic blocks."""

from __future__ import annotations

import pytest
from lowering import convert

from tilewright.ir.legality import ConversionTarget
from tilewright.text.printer import print_op

PASS = "convert-scf-to-cf"


def lines(text: str) -> list[str]:
    """The blocks of the only function, without comments on predecessors."""
    printed = print_op(convert(text, PASS)).splitlines()
    return [line.split("  //")[0].strip() for line in printed[2:-2]]


def test_a_for_loop_has_a_header_and_a_back_edge() -> None:
    text = """
    func.func @f(%n: i32, %s: i32, %x: f32) -> f32 {
      %r = scf.for %i = %n to %s step %n iter_args(%a = %x) -> (f32) : i32 {
        %y = arith.addf %a, %a : f32
        scf.yield %y : f32
      }
      return %r : f32
    }
    """
    assert lines(f"builtin.module {{ {text} }}") == [
        "cf.br ^bb1(%arg0, %arg2 : i32, f32)",
        "^bb1(%0: i32, %1: f32):",
        "%2 = arith.cmpi slt, %0, %arg1 : i32",
        "cf.cond_br %2, ^bb2(%0, %1 : i32, f32), ^bb3",
        "^bb2(%3: i32, %4: f32):",
        "%5 = arith.addf %4, %4 : f32",
        "%6 = arith.addi %3, %arg0 : i32",
        "cf.br ^bb1(%6, %5 : i32, f32)",
        "^bb3:",
        "return %1 : f32",
    ]


def test_a_while_loop_exits_at_its_condition() -> None:
    text = """
    func.func @f(%x: i32) -> i32 {
      %r = scf.while (%a = %x) : (i32) -> (i32) {
        %c = arith.cmpi slt, %a, %x : i32
        scf.condition(%c) %a : i32
      } do {
      ^bb0(%b: i32):
        %y = arith.addi %b, %b : i32
        scf.yield %y : i32
      }
      return %r : i32
    }
    """
    assert lines(f"builtin.module {{ {text} }}") == [
        "cf.br ^bb1(%arg0 : i32)",
        "^bb1(%0: i32):",
        "%1 = arith.cmpi slt, %0, %arg0 : i32",
        "cf.cond_br %1, ^bb2(%0 : i32), ^bb4(%0 : i32)",
        "^bb2(%2: i32):",
        "cf.br ^bb3(%2 : i32)",
        "^bb3(%3: i32):",
        "%4 = arith.addi %3, %3 : i32",
        "cf.br ^bb1(%4 : i32)",
        "^bb4(%5: i32):",
        "return %5 : i32",
    ]


def test_branches_join() -> None:
    text = """
    func.func @f(%c: i1, %x: i32) -> i32 {
      %r = scf.if %c -> (i32) {
        %y = arith.addi %x, %x : i32
        scf.yield %y : i32
      } else {
        scf.yield %x : i32
      }
      scf.if %c {
        %z = arith.addi %r, %r : i32
      }
      return %r : i32
    }
    """
    assert lines(f"builtin.module {{ {text} }}") == [
        "cf.cond_br %arg0, ^bb1, ^bb2",
        "^bb1:",
        "%0 = arith.addi %arg1, %arg1 : i32",
        "cf.br ^bb3(%0 : i32)",
        "^bb2:",
        "cf.br ^bb3(%arg1 : i32)",
        "^bb3(%1: i32):",
        "cf.cond_br %arg0, ^bb4, ^bb5",
        "^bb4:",
        "%2 = arith.addi %1, %1 : i32",
        "cf.br ^bb5",
        "^bb5:",
        "return %1 : i32",
    ]


def test_weights_of_branches() -> None:
    text = """
    func.func @f(%c: i1) {
      scf.if %c { } {branch_weights = array<i32: 1, 9>}
      return
    }
    """
    assert (
        lines(f"builtin.module {{ {text} }}")[0] == "cf.cond_br %arg0 weights([1, 9]), ^bb1, ^bb2"
    )


@pytest.mark.parametrize("inner", ["scf.for %j = %a to %n step %n : i32 {", "scf.if %c {"])
def test_no_scf_is_left_in_nests(inner: str) -> None:
    module = convert(
        f"""builtin.module {{
        func.func @f(%c: i1, %n: i32) {{
          scf.for unsigned %a = %n to %n step %n : i32 {{
            {inner}
              scf.if %c {{ scf.for %k = %n to %a step %n : i32 {{ }} }}
            }}
          }}
          return
        }} }}""",
        PASS,
    )
    assert list(ConversionTarget(("arith", "cf", "func")).problems(module)) == []
    assert print_op(module).count("arith.cmpi ult") == 1
