from __future__ import annotations

from dialect_text import errors
from each_case import each_case

SIGNATURE = (
    "%i: i32, %j: i8, %f: f32, %h: f16, %v: vector<4xf32>, %w: vector<4xi1>, %n: index, %b: i1"
)

WRONG = {
    '"arith.addi"(%i, %j) : (i32, i8) -> i32': (
        "'arith.addi' op expected lhs, rhs and result to have the same type"
    ),
    '"arith.addi"(%f, %f) : (f32, f32) -> f32': (
        "'arith.addi' op operand #0 must be signless-integer-like, but got 'f32'"
    ),
    '"arith.addf"(%i, %i) : (i32, i32) -> i32': (
        "'arith.addf' op operand #0 must be floating-point-like, but got 'i32'"
    ),
    '"arith.addi"(%i, %i) <{overflowFlags = 1 : i32}> : (i32, i32) -> i32': (
        "'arith.addi' op attribute 'overflowFlags' failed to satisfy constraint: overflow flags"
    ),
    '"arith.constant"() <{value = 1 : i32}> : () -> i64': (
        "'arith.constant' op expected a value of type 'i64', got 'i32'"
    ),
    '"arith.constant"() : () -> i64': "'arith.constant' op requires attribute 'value'",
    '"arith.constant"() <{value = 1 : si32}> : () -> si32': (
        "'arith.constant' op expected an integer without a sign, got 'si32'"
    ),
    '"arith.constant"() <{value = "x"}> : () -> i64': (
        "'arith.constant' op attribute 'value' failed to satisfy constraint: "
        "a number or dense elements"
    ),
    '"arith.cmpi"(%i, %i) <{predicate = 10 : i64}> : (i32, i32) -> i1': (
        "'arith.cmpi' op attribute 'predicate' failed to satisfy constraint: "
        "one of eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge"
    ),
    '"arith.cmpf"(%v, %v) <{predicate = 1 : i64}> : (vector<4xf32>, vector<4xf32>) -> i1': (
        "'arith.cmpf' op expected results of types ('vector<4xi1>'), got ('i1')"
    ),
    "arith.select %w, %f, %f : vector<4xi1>, f32": (
        "'arith.select' op expected a condition of i1 or of the shape of 'f32', got 'vector<4xi1>'"
    ),
    "arith.extsi %i : i32 to i32": (
        "'arith.extsi' op expected a result wider than 'i32', got 'i32'"
    ),
    "arith.trunci %j : i8 to i32": (
        "'arith.trunci' op expected a result narrower than 'i8', got 'i32'"
    ),
    "arith.truncf %h : f16 to f32": (
        "'arith.truncf' op expected a result narrower than 'f16', got 'f32'"
    ),
    "arith.convertf %h : f16 to f32": (
        "'arith.convertf' op expected another type of the width of 'f16', got 'f32'"
    ),
    "arith.extf %v : vector<4xf32> to f64": (
        "'arith.extf' op expected source and result to have the same shape, "
        "got ('vector<4xf32>', 'f64')"
    ),
    "arith.sitofp %n : index to f32": (
        "'arith.sitofp' op operand #0 must be signless-fixed-width-integer-like, but got 'index'"
    ),
    "arith.index_cast %i : i32 to i64": (
        "'arith.index_cast' op expected one of the types to be index, got 'i32' and 'i64'"
    ),
    "arith.bitcast %h : f16 to i32": (
        "'arith.bitcast' op expected a result of 16 bits like 'f16', got 'i32'"
    ),
    "arith.mulf %f, %f fastmath<quick> : f32": (
        "expected one of none, reassoc, nnan, ninf, nsz, arcp, contract, afn, fast, got 'quick'"
    ),
    "arith.cmpi lt, %i, %i : i32": (
        "expected one of 'eq', 'ne', 'slt', 'sle', 'sgt', 'sge', 'ult', 'ule', 'ugt', 'uge', "
        "got 'lt'"
    ),
    "arith.constant i32": "expected a number or dense elements",
}


@each_case("line", WRONG)
def test_wrong(line: str) -> None:
    assert errors(f"func.func @f({SIGNATURE}) {{ %r = {line}\n return }}") == [WRONG[line]]
