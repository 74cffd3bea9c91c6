from __future__ import annotations

from dialect_text import read
from each_case import each_case

from tilewright.ir.passes import Pipeline
from tilewright.ir.verifier import verify
from tilewright.text.printer import print_op
from tilewright.transforms.generic.canonicalize import Canonicalize


def simplified(body: str, result: str) -> list[str]:
    """Simplify a body that returns an i32."""
    module = read(f"""
        func.func private @use(i32)
        func.func @f(%a: i32, %b: i32, %c: i1) -> i32 {{
          %true = arith.constant true
          %zero = arith.constant 0 : i32
          %one = arith.constant 1 : i32
          %five = arith.constant 5 : i32
          %minus = arith.constant -1 : i32
          {body}
          return {result} : i32
        }}""")
    Pipeline(Canonicalize()).run(module)
    verify(module)
    lines = print_op(module).splitlines()[3:-2]
    return [line.strip() for line in lines]


CALL = "func.call @use(%a) : (i32) -> ()"

CASES = {
    f"scf.if %true {{ {CALL} }}": ["call @use(%arg0) : (i32) -> ()", "return %arg0 : i32"],
    f"scf.for %i = %five to %one step %one : i32 {{ {CALL} }}": ["return %arg0 : i32"],
    f"scf.for %i = %a to %a step %one : i32 {{ {CALL} }}": ["return %arg0 : i32"],
    "scf.for %i = %five to %five step %one : i32 { func.call @use(%i) : (i32) -> () }": [
        "return %arg0 : i32"
    ],
    "scf.for %i = %zero to %one step %five : i32 { func.call @use(%i) : (i32) -> () }": [
        "%c0_i32 = arith.constant 0 : i32",
        "call @use(%c0_i32) : (i32) -> ()",
        "return %arg0 : i32",
    ],
    # As unsigned numbers, -1 is large.
    f"scf.for unsigned %i = %minus to %one step %one : i32 {{ {CALL} }}": ["return %arg0 : i32"],
}


@each_case("body", CASES)
def test_statements(body: str) -> None:
    assert simplified(body, "%a") == CASES[body]


def test_results() -> None:
    choice = "scf.if %c -> (i32) { scf.yield %a : i32 } else { scf.yield %a : i32 }"
    assert simplified(f"%r = {choice}", "%r") == ["return %arg0 : i32"]
    taken = "scf.if %true -> (i32) { scf.yield %a : i32 } else { scf.yield %b : i32 }"
    assert simplified(f"%r = {taken}", "%r") == ["return %arg0 : i32"]
    loop = "scf.for %i = %one to %zero step %one iter_args(%x = %b) -> (i32) : i32"
    assert simplified(f"%r = {loop} {{ scf.yield %i : i32 }}", "%r") == ["return %arg1 : i32"]


def test_loops_that_may_run_stay() -> None:
    loop = f"scf.for %i = %zero to %five step %one : i32 {{ {CALL} }}"
    assert any("scf.for" in line for line in simplified(loop, "%a"))
    unknown = f"scf.for %i = %minus to %b step %one : i32 {{ {CALL} }}"
    assert any("scf.for" in line for line in simplified(unknown, "%a"))
