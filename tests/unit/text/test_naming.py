"""Names of values: what MLIR's printer calls them."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.ir.operation import Block, Operation, Region
from tilewright.ir.types import I32
from tilewright.ir.values import BlockArgument
from tilewright.text.naming import Names


class NamedOp(Operation):
    """Names its results by the given hints."""

    __slots__ = ("hints",)
    name = "toy.named"
    hints: dict[int, str]

    def result_names(self, style: str) -> Iterator[tuple[int, str]]:
        for index, hint in self.hints.items():
            yield index, hint if style == "public" else f"other_{hint}"

    def block_argument_names(
        self, region: Region, style: str
    ) -> Iterator[tuple[BlockArgument, str]]:
        if "args" in self.attributes:
            yield region.blocks[0].args[0], "first"


class PlainOp(Operation):
    name = "toy.plain"


def named(results: int, *regions: Region, **hints: str) -> NamedOp:
    op = NamedOp((), [I32] * results, {}, regions)
    op.hints = {int(index[1:]): hint for index, hint in hints.items()}
    return op


def plain(results: int = 1, *regions: Region) -> PlainOp:
    return PlainOp((), [I32] * results, {}, regions)


def region(*ops: Operation, args: int = 0) -> Region:
    block = Block([I32] * args)
    for op in ops:
        block.append(op)
    return Region([block])


def names(op: Operation, style: str = "public", hinted: bool = True) -> Names:
    return Names(plain(0, region(op)), style, hinted)


def name(op: Operation, *others: Operation, style: str = "public") -> list[str]:
    value_names = Names(plain(0, region(op, *others)), style, True)
    return [value_names.of[value] for each in (op, *others) for value in each.results]


def test_results_are_numbered_in_order():
    assert name(plain(), plain(), plain()) == ["%0", "%1", "%2"]


def test_several_results_without_names_share_a_number():
    ops = plain(2), plain()
    value_names = Names(plain(0, region(*ops)), "public", True)
    assert [value_names.of[value] for value in ops[0].results] == ["%0#0", "%0#1"]
    assert value_names.lefts[ops[0]] == "%0:2"
    assert value_names.of[ops[1].results[0]] == "%1"


def test_named_results_use_no_number():
    assert name(named(1, _0="x"), plain()) == ["%x", "%0"]


def test_conflicts_get_a_suffix_that_counts_over_all_names():
    ops = [named(1, _0=hint) for hint in ("x", "x", "y", "y", "x")]
    assert name(*ops) == ["%x", "%x_0", "%y", "%y_1", "%x_2"]


def test_a_suffix_that_is_taken_is_skipped():
    assert name(named(1, _0="x"), named(1, _0="x_0"), named(1, _0="x")) == ["%x", "%x_0", "%x_1"]


def test_each_named_result_starts_a_group():
    op = named(3, _0="a", _1="b", _2="c")
    value_names = names(op)
    assert value_names.lefts[op] == "%a, %b, %c"
    assert [value_names.of[value] for value in op.results] == ["%a", "%b", "%c"]


def test_results_after_a_named_one_belong_to_its_group():
    op = named(4, _0="a", _2="c")
    value_names = names(op)
    assert value_names.lefts[op] == "%a:2, %c:2"
    assert [value_names.of[value] for value in op.results] == ["%a#0", "%a#1", "%c#0", "%c#1"]


def test_a_first_result_without_name_gets_a_number():
    op = named(2, _1="b")
    value_names = names(op)
    assert value_names.lefts[op] == "%0, %b"
    assert [value_names.of[value] for value in op.results] == ["%0", "%b"]


def test_only_the_first_named_makes_a_pack():
    op = named(3, _0="for")
    value_names = names(op)
    assert value_names.lefts[op] == "%for:3"
    assert value_names.of[op.results[2]] == "%for#2"


def test_an_empty_hint_is_a_number():
    assert name(named(1, _0=""), plain()) == ["%0", "%1"]


def test_names_become_identifiers():
    hints = ("1x", "a b", "a+b", "cst_-1", "é")
    assert name(*[named(1, _0=hint) for hint in hints]) == [
        "%_1x", "%a_b", "%a2Bb", "%cst_-1", "%_C3A9",
    ]  # fmt: skip


def test_entry_arguments_count_on_inside_nested_regions():
    inner = region(plain(), args=1)
    outer = region(plain(0, inner), args=2)
    value_names = Names(plain(0, outer), "public", True)
    assert [value_names.of[arg] for arg in outer.block.args] == ["%arg0", "%arg1"]
    assert value_names.of[inner.block.args[0]] == "%arg2"


def test_numbers_count_on_inside_and_start_again_in_the_next_region():
    inner = [plain(), plain()]
    outer = [plain(), plain(0, region(inner[0]), region(inner[1])), plain()]
    value_names = Names(plain(0, region(*outer)), "public", True)
    # All of the outer region is numbered before anything inside.
    assert value_names.of[outer[2].results[0]] == "%1"
    assert [value_names.of[op.results[0]] for op in inner] == ["%2", "%2"]


def test_a_name_is_free_again_in_the_next_region():
    first, second = named(1, _0="x"), named(1, _0="x")
    top = plain(0, region(plain(0, region(first)), plain(0, region(second))))
    value_names = Names(top, "public", True)
    assert [value_names.of[op.results[0]] for op in (first, second)] == ["%x", "%x"]


def test_a_name_of_an_outer_region_is_taken_inside_even_if_defined_later():
    inner = named(1, _0="x")
    top = plain(0, region(plain(0, region(inner)), named(1, _0="x")))
    assert Names(top, "public", True).of[inner.results[0]] == "%x_0"


def test_arguments_of_other_blocks_are_numbered():
    blocks = [Block([I32]), Block([I32])]
    value_names = Names(plain(0, Region(blocks)), "public", True)
    assert [value_names.of[block.args[0]] for block in blocks] == ["%arg0", "%0"]


def test_hints_for_block_arguments():
    body = region(args=2)
    op = named(0, body)
    op.attributes["args"] = None  # pyrefly: ignore[unsupported-operation]
    value_names = names(op)
    assert [value_names.of[arg] for arg in body.block.args] == ["%first", "%arg0"]


def test_the_generic_form_takes_no_hints():
    op = named(2, _0="a", _1="b")
    value_names = names(op, hinted=False)
    assert value_names.lefts[op] == "%0:2"


def test_hints_know_the_style():
    assert name(named(1, _0="x"), style="tileiras") == ["%other_x"]


def test_a_value_from_elsewhere_has_no_name():
    assert names(plain()).of[plain().results[0]] == "<<UNKNOWN SSA VALUE>>"
