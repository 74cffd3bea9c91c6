"""The attributes of cuda_tile: enumerations, assumptions and hints."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.dialects.cuda_tile.attributes import (
    AssumePredicate,
    BoundedAttr,
    DivByAttr,
    OptimizationHintsAttr,
    SameElementsAttr,
)
from tilewright.dialects.cuda_tile.enums import (
    AtomicMode,
    ComparisonOrdering,
    ComparisonPredicate,
    MemoryOrdering,
    MemoryScope,
    Overflow,
    PaddingValue,
    PtrAttr,
    Rounding,
    Signedness,
    SymbolVisibility,
    TileEnum,
)
from tilewright.dialects.cuda_tile.hints import hint, hint_problems
from tilewright.dialects.cuda_tile.types import PtrType, TensorViewType, TileType
from tilewright.driver.registry import context
from tilewright.ir.attributes import Attribute, DictionaryAttr, IntegerAttr, Type
from tilewright.ir.types import F32, I1, I8, I32, I64
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import InvalidValue, UserError
from tilewright.text.attribute_printer import attribute_text
from tilewright.text.parser import Parser, parse_text


def parse(text: str) -> Attribute:
    parser = Parser(text, context())
    parsed = parser.attribute()
    assert parser.peek() == ""
    return parsed


def problem(text: str) -> str:
    with pytest.raises(UserError) as raised:
        parse(text)
    (diagnostic,) = raised.value.diagnostics
    return diagnostic.message


# Keywords in the order of their numbers in bytecode, from the published tables.
KEYWORDS: dict[type[TileEnum], str] = {
    Signedness: "unsigned signed",
    Overflow: "none no_signed_wrap no_unsigned_wrap no_wrap",
    Rounding: "nearest_even zero negative_inf positive_inf approx full nearest_int_to_zero"
    " nearest_away",
    ComparisonPredicate: "equal not_equal less_than less_than_or_equal greater_than"
    " greater_than_or_equal",
    ComparisonOrdering: "unordered ordered",
    AtomicMode: "and or xor add addf max min umax umin xchg",
    MemoryScope: "tl_blk device sys",
    MemoryOrdering: "weak relaxed acquire release acq_rel",
    PaddingValue: "zero neg_zero nan pos_inf neg_inf",
    SymbolVisibility: "public private",
    PtrAttr: "none",
}


@each_case("kind", KEYWORDS)
def test_numbers_and_keywords(kind: type[TileEnum]) -> None:
    numbered = {member.value: member for member in kind if member.has_number}
    assert [numbered[number].keyword for number in sorted(numbered)] == KEYWORDS[kind].split()
    assert sorted(numbered) == list(range(len(numbered)))


@pytest.mark.requirement("R4-020", "R4-021")
@each_case("kind", [kind for kind in KEYWORDS if kind.mnemonic], ids=lambda kind: kind.__name__)
def test_enumerations_with_a_name_of_their_own(kind: type[TileEnum]) -> None:
    for keyword in KEYWORDS[kind].split():
        text = f"#{kind.mnemonic}<{keyword}>"
        assert attribute_text(parse(text)) == text


# The keywords of note 5, which NVIDIA's compiler prints.
NOTED: dict[type[TileEnum], str] = {
    MemoryOrdering: "weak relaxed acquire release acq_rel seq_cst",
    MemoryScope: "tl_blk cluster gpu sys",
    AtomicMode: "add addf addu and or xor xchg min umin max umax cmpxchg",
    Signedness: "signed unsigned",
    Rounding: "nearest_even zero negative_inf positive_inf approx full",
}


@pytest.mark.requirement("R4-017", "R4-018", "R4-019", "R4-020", "R4-021")
@each_case(
    ("kind", "keyword"), [(kind, word) for kind, words in NOTED.items() for word in words.split()]
)
def test_keywords_of_the_compiler(kind: type[TileEnum], keyword: str) -> None:
    member = kind.from_keyword(keyword)
    assert member is not None
    assert member.keyword_in("tileiras") == keyword


@pytest.mark.requirement("R4-022")
def test_a_second_spelling_prints_as_the_first() -> None:
    assert MemoryScope.from_keyword("gpu") is MemoryScope.from_keyword("device")
    assert MemoryScope.DEVICE.keyword_in("public") == "device"
    assert MemoryScope.from_keyword("DEVICE") is None


def test_members_only_in_text_have_no_encoding() -> None:
    textual = [member for kind in KEYWORDS for member in kind if not member.has_number]
    assert textual == [
        AtomicMode.ADDU,
        AtomicMode.CMPXCHG,
        MemoryScope.CLUSTER,
        MemoryOrdering.SEQ_CST,
    ]


@pytest.mark.requirement("R1-053")
@each_case(
    ("text", "attribute"),
    [
        ("#cuda_tile.div_by<16>", DivByAttr(16)),
        ("#cuda_tile.div_by<16, every 4 along 1>", DivByAttr(16, 4, 1)),
        ("#cuda_tile.same_elements<[1, 4]>", SameElementsAttr((1, 4))),
        ("#cuda_tile.bounded<0, ?>", BoundedAttr(0, None)),
        ("#cuda_tile.bounded<?, ?>", BoundedAttr(None, None)),
        ("#cuda_tile.bounded<-5, 7>", BoundedAttr(-5, 7)),
    ],
)
def test_predicates(text: str, attribute: AssumePredicate) -> None:
    assert parse(text) is attribute
    assert attribute_text(attribute) == text


INTS = TileType((4, 8), I32)
SCALAR = TileType((), I32)
POINTERS = TileType((8,), PtrType(F32))
FLOATS = TileType((8,), F32)
TENSOR = TensorViewType((8,), F32, (1,))


@pytest.mark.requirement("R1-053")
@each_case(
    ("predicate", "type"),
    [
        (DivByAttr(1 << 62), INTS),
        (DivByAttr(1), TENSOR),
        (DivByAttr(16), SCALAR),
        (DivByAttr(4, 8, 1), INTS),
        (DivByAttr(4, 0, 0), POINTERS),
        (SameElementsAttr((0, 8)), INTS),
        (SameElementsAttr(()), SCALAR),
        (BoundedAttr(-128, 127), TileType((), I8)),
        (BoundedAttr(-(1 << 63), (1 << 63) - 1), TileType((), I64)),
        (BoundedAttr(3, 3), INTS),
    ],
)
def test_valid_assumptions(predicate: AssumePredicate, type: Type) -> None:
    assert predicate.value_problem(type) is None


@pytest.mark.requirement("R1-053")
@each_case(
    ("predicate", "type", "expected"),
    [
        (DivByAttr(3), INTS, "expects a power of two up to 2^62, got 3"),
        (DivByAttr(0), INTS, "got 0"),
        (DivByAttr(1 << 63), INTS, "got 9223372036854775808"),
        (DivByAttr(4, 2), INTS, "'every' and 'along' together"),
        (DivByAttr(4, 2, 0), TENSOR, "no 'every' for a tensor_view"),
        (DivByAttr(4, 2, 0), SCALAR, "no 'every' for a scalar"),
        (DivByAttr(4, 2, 2), INTS, "'along' below the rank 2, got 2"),
        (DivByAttr(4, 2, -1), INTS, "got -1"),
        (DivByAttr(4, 9, 1), INTS, "'every' from 0 to the extent 8, got 9"),
        (DivByAttr(4), FLOATS, "a tile of integers or pointers or a tensor_view"),
        (SameElementsAttr((1,)), INTS, "expects 2 values, got 1"),
        (SameElementsAttr((5, 1)), INTS, "expects a value from 0 to 4, got 5"),
        (SameElementsAttr((1,)), FLOATS, "a tile of integers or pointers"),
        (SameElementsAttr((1,)), TENSOR, "a tile of integers or pointers"),
        (BoundedAttr(-129, None), TileType((), I8), "bounds from -128 to 127, got -129"),
        (BoundedAttr(None, 128), TileType((), I8), "bounds from -128 to 127, got 128"),
        (BoundedAttr(2, 1), INTS, "expects 2 not to be above 1"),
        (BoundedAttr(0, 1), POINTERS, "a tile of integers"),
    ],
)
def test_invalid_assumptions(predicate: AssumePredicate, type: Type, expected: str) -> None:
    actual = predicate.value_problem(type)
    assert actual is not None
    assert expected in actual


HINTS = "#cuda_tile.optimization_hints"


@pytest.mark.requirement("R1-052")
@each_case(
    ("text", "printed"),
    [
        ("<>", "<>"),
        ("<default = {}>", "<default = {}>"),
        (
            "<sm_90 = {occupancy = 2, latency = 3 : i32}, default = {allow_tma = false}>",
            "<default = {allow_tma = false}, sm_90 = {latency = 3, occupancy = 2}>",
        ),
        ('<"sm_90" = {latency = 0x3}>', "<sm_90 = {latency = 3}>"),
    ],
)
def test_hints_are_sorted_and_without_types(text: str, printed: str) -> None:
    assert attribute_text(parse(HINTS + text)) == HINTS + printed


@pytest.mark.requirement("R1-052")
def test_malformed_hints() -> None:
    assert problem(f"{HINTS}<sm_90 = 3>") == "expected a dictionary for optimization hint 'sm_90'"
    assert problem(f"{HINTS}<a = {{}}, a = {{}}>") == "expected one entry for 'a', got another"
    with pytest.raises(InvalidValue, match="'sm_90'"):
        OptimizationHintsAttr({"sm_90": IntegerAttr(3, I64)})


def number(value: int) -> Attribute:
    return IntegerAttr(value, I64)


@pytest.mark.requirement("R1-052")
@each_case(
    ("name", "value", "arch", "expected"),
    [
        ("latency", 10, "sm_90", 10),
        ("latency", 11, "sm_90", None),
        ("latency", 0, "sm_90", None),
        ("num_cta_in_cga", 16, "sm_100", 16),
        ("num_cta_in_cga", 3, "sm_100", None),
        ("num_cta_in_cga", 2, "sm_80", None),
        ("num_cta_in_cga", 1, "sm_80", 1),
        *[("num_worker_warps_per_cta", warps, "sm_90", warps) for warps in (1, 2, 4, 8, 16, 32)],
        ("num_worker_warps_per_cta", 6, "sm_90", None),
        ("num_worker_warps_per_cta", 64, "sm_90", None),
        ("occupancy", 32, "sm_90", 32),
        ("occupancy", 33, "sm_90", None),
    ],
)
def test_values_out_of_range_count_as_absent(
    name: str, value: int, arch: str, expected: int | None
) -> None:
    hints = OptimizationHintsAttr({arch: DictionaryAttr({name: number(value)})})
    assert hint(hints, arch, name) == expected


@pytest.mark.requirement("R1-052")
def test_the_architecture_takes_precedence_over_the_default() -> None:
    entries = {"sm_90": DictionaryAttr({"latency": number(3)})}
    entries["default"] = DictionaryAttr({"latency": number(5), "allow_tma": IntegerAttr(0, I1)})
    hints = OptimizationHintsAttr({**entries})
    assert hint(hints, "sm_90", "latency") == 3
    assert hint(hints, "sm_100", "latency") == 5
    assert hint(hints, "sm_90", "allow_tma") == 0
    assert hint(hints, "sm_90", "occupancy") is None
    assert hint(None, "sm_90", "latency") is None


def hinted(entry: str, load: str) -> list[str]:
    module = parse_text(
        f"""
        cuda_tile.module @m {{
          entry @k(%p: tile<ptr<f32>>) optimization_hints=<{entry}> {{
            %x, %t = load_ptr_tko weak %p optimization_hints = <{load}>
              : tile<ptr<f32>> -> tile<f32>, token
            return
          }}
        }}
        """,
        context(),
    )
    verify(module)
    return [problem for op in module.walk() for problem in hint_problems(op)]


@pytest.mark.requirement("R1-052")
def test_hints_on_entries_and_memory_operations() -> None:
    assert hinted("sm_90 = {num_cta_in_cga = 2, occupancy = 4}", "default = {latency = 3}") == []


@pytest.mark.requirement("R1-052")
@each_case(
    ("entry", "load", "expected"),
    [
        ("foo = {}", "", "unknown architecture 'foo' in optimization hints"),
        ("sm_90 = {latency = 3}", "", "unknown optimization hint 'latency' for sm_90"),
        ("", "sm_90 = {allow_tma = true}", "unknown optimization hint 'allow_tma' for sm_90"),
        (
            "",
            "sm_90 = {latency = 20}",
            "optimization hint 'latency' for sm_90: expected 1 to 10, got 20",
        ),
        (
            "sm_80 = {num_cta_in_cga = 2}",
            "",
            "optimization hint 'num_cta_in_cga' for sm_80: expected 1, got 2",
        ),
        (
            'default = {occupancy = "all"}',
            "",
            "optimization hint 'occupancy' for default: expected an integer",
        ),
    ],
)
def test_wrong_hints_are_reported_on_request_only(entry: str, load: str, expected: str) -> None:
    assert hinted(entry, load) == [expected]
