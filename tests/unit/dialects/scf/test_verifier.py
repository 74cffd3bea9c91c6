from __future__ import annotations

from dialect_text import errors
from each_case import each_case

WRONG = {
    "%r = scf.if %c -> (i32) { scf.yield %i : i32 }": [
        "'scf.if' op expected an else branch, since there are results"
    ],
    "%r = scf.if %c -> (i32) { scf.yield %i : i32 } else { scf.yield %f : f32 }": [
        "'scf.if' op expected the else branch to yield ('i32'), got ('f32')"
    ],
    '"scf.if"(%c) ({ ^bb0(%x: i32): "scf.yield"() : () -> () }, {}) : (i1) -> ()': [
        "'scf.if' op expected the then branch to have no arguments"
    ],
    "scf.for %k = %n to %n step %n iter_args(%x = %i) -> (i32) { scf.yield %f : f32 }": [
        "'scf.for' op expected the body to yield ('i32'), got ('f32')"
    ],
    '"scf.for"(%n, %n, %n, %i) ({ ^bb0(%k: index, %x: f32): "scf.yield"(%i) : (i32) -> () }) '
    ": (index, index, index, i32) -> i32": [
        "'scf.for' op expected block arguments of types ('index', 'i32'), got ('index', 'f32')"
    ],
    '"scf.for"(%n, %n, %i) ({ ^bb0(%k: index): "scf.yield"() : () -> () }) '
    ": (index, index, i32) -> ()": [
        "'scf.for' op expected lower_bound, upper_bound and step to have the same type"
    ],
    "scf.for %k = %n to %n step %n iter_args(%x = %i) -> (i32, f32) { }": [
        "expected 1 types of carried values, got 2"
    ],
    "scf.while (%x = %i) : (i32) -> i32 { scf.condition(%c) %f : f32 } do { ^bb0(%y: i32): "
    "scf.yield %y : i32 }": ["'scf.condition' op expected values of types ('i32'), got ('f32')"],
    "scf.while (%x = %i) : (i32) -> i32 { scf.condition(%c) %x : i32 } do { ^bb0(%y: f32): "
    "scf.yield %i : i32 }": [
        "'scf.while' op expected arguments of the 'after' region of types ('i32'), got ('f32')"
    ],
    "scf.while (%x = %i) : (i32) -> i32 { scf.yield %x : i32 } do { ^bb0(%y: i32): "
    "scf.yield %y : i32 }": [
        "'scf.while' op expected the 'before' region to end in 'scf.condition'"
    ],
    "scf.while (%x = %i) : (i32, i32) -> i32 { }": ["expected 1 types of initial values, got 2"],
    "scf.yield": [
        "'scf.yield' op must be the last operation in its block",
        "'scf.yield' op expected parent op 'scf.if', 'scf.for' or 'scf.while', got 'func.func'",
    ],
}


@each_case("line", WRONG)
def test_wrong(line: str) -> None:
    text = f"func.func @f(%c: i1, %i: i32, %f: f32, %n: index) {{ {line}\n return }}"
    assert errors(text) == WRONG[line]
