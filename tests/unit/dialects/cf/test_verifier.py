from __future__ import annotations

from dialect_text import errors
from each_case import each_case

WRONG = {
    "cf.br ^one(%f : f32)": "expected values of types ('i32') for the target, got ('f32')",
    "cf.br ^one": "expected values of types ('i32') for the target, got ()",
    "cf.cond_br %c, ^one(%f : f32), ^two": (
        "expected values of types ('i32') for the target, got ('f32')"
    ),
    "cf.cond_br %c, ^two, ^two(%i : i32)": (
        "expected values of types () for the target, got ('i32')"
    ),
    "cf.cond_br %c weights([1, 2, 3]), ^two, ^two": "expected 2 branch weights, got 3",
    "cf.switch %i : i32, [default: ^one(%f : f32), 1: ^two]": (
        "expected values of types ('i32') for the target, got ('f32')"
    ),
    "cf.switch %i : i32, [default: ^two, 1: ^one]": (
        "expected values of types ('i32') for the target, got ()"
    ),
    '"cf.switch"(%i)[^two, ^two] <{case_operand_segments = array<i32: 0>, '
    "operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()": (
        "expected 1 case values, got none"
    ),
    '"cf.br"()[^two, ^two] : () -> ()': "expected 1 successors, got 2",
}


@each_case("line", WRONG)
def test_wrong(line: str) -> None:
    text = (
        f"func.func @f(%c: i1, %i: i32, %f: f32) {{ {line}\n"
        "^one(%x: i32): cf.br ^two\n^two: return }"
    )
    (message,) = errors(text)
    assert message.endswith(f" op {WRONG[line]}")


def test_types_for_every_value() -> None:
    text = "func.func @f(%i: i32) { cf.br ^one(%i, %i : i32)\n^one: return }"
    assert errors(text) == ["expected 2 types, got 1"]
