from __future__ import annotations

from dialect_text import errors
from each_case import each_case

WRONG = {
    "func.func @f(%i: i32) -> f32 { return %i : i32 }": [
        "'func.return' op expected operands of types ('f32'), got ('i32')"
    ],
    "func.func @f() { call @g() : () -> ()\n return }": [
        "'func.call' op expected '@g' to name a function"
    ],
    "func.func private @g(i32)\nfunc.func @f() { call @g() : () -> ()\n return }": [
        "'func.call' op expected the type '(i32) -> ()' of '@g', got '() -> ()'"
    ],
    "func.func private @g(i32)\nfunc.func @f() { %0 = constant @g : () -> ()\n return }": [
        "'func.constant' op expected the type '(i32) -> ()' of '@g', got '() -> ()'"
    ],
    "func.func @f() { %0 = constant @g : () -> ()\n return }": [
        "'func.constant' op expected '@g' to name a function"
    ],
    '"func.func"() <{function_type = i32, sym_name = "f"}> ({}) : () -> ()': [
        "'func.func' op expected a function type, got 'i32'"
    ],
    '"func.func"() <{function_type = (i32) -> (), sym_name = "f"}> ({ ^bb0(%x: f32): '
    '"func.return"() : () -> () }) : () -> ()': [
        "'func.func' op expected block arguments of types ('i32'), got ('f32')"
    ],
    '"func.func"() <{function_type = (i32) -> (), sym_name = "f", arg_attrs = []}> ({}) '
    ": () -> ()": ["'func.func' op expected attributes for 1 arguments, got 0"],
    '"func.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "odd"}> ({}) '
    ": () -> ()": [
        "'func.func' op expected the visibility private, public, nested or none, got 'odd'"
    ],
    "func.func private @f()\nfunc.func private @f()": ["'func.func' op redefinition of symbol 'f'"],
    "func.func @f(%i: i32, f32) { return }": ["expected an SSA value, got 'f32'"],
}


@each_case("text", WRONG)
def test_wrong(text: str) -> None:
    assert errors(text) == WRONG[text]
