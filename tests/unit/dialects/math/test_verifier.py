from __future__ import annotations

from dialect_text import errors
from each_case import each_case

WRONG = {
    '"math.exp"(%i) : (i32) -> i32': (
        "'math.exp' op operand #0 must be floating-point-like, but got 'i32'"
    ),
    '"math.exp"(%f) : (f32) -> f64': (
        "'math.exp' op expected operand and result to have the same type"
    ),
    "math.fpowi %f, %v : f32, vector<4xi32>": (
        "'math.fpowi' op expected lhs and rhs to have the same shape, got ('f32', 'vector<4xi32>')"
    ),
    '"math.isnan"(%f) : (f32) -> vector<4xi1>': (
        "'math.isnan' op expected results of types ('i1'), got ('vector<4xi1>')"
    ),
    '"math.absi"(%f) : (f32) -> f32': (
        "'math.absi' op operand #0 must be signless-integer-like, but got 'f32'"
    ),
}


@each_case("line", WRONG)
def test_wrong(line: str) -> None:
    text = f"func.func @f(%i: i32, %f: f32, %v: vector<4xi32>) {{ %r = {line}\n return }}"
    assert errors(text) == [WRONG[line]]
