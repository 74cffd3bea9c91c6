"""Names of values and blocks: where they hold, and how they may be used."""

from __future__ import annotations

from typing import Protocol

from each_case import each_case

from tilewright.ir.operation import Operation
from tilewright.ir.types import F32, I32
from tilewright.support.diagnostics import Diagnostic


class Reading(Protocol):
    def __call__(self, text: str) -> Operation: ...
    def ops(self, text: str) -> list[Operation]: ...
    def error(self, text: str) -> tuple[int, int, str]: ...
    def diagnostic(self, text: str) -> Diagnostic: ...


def test_results_are_used_by_name(read: Reading) -> None:
    make, use = read.ops('%a = "x.make"() : () -> i32\n"x.use"(%a, %a#0) : (i32, i32) -> ()')
    assert use.operands == (make.results[0], make.results[0])
    assert make.results[0].users == {use: 2}


def test_several_results_have_a_name_each_or_one_together(read: Reading) -> None:
    make, use = read.ops(
        '%a:2, %b = "x.make"() : () -> (i32, f32, i1)\n'
        '"x.use"(%b, %a#1, %a, %a#0) : (i1, f32, i32, i32) -> ()'
    )
    first, second, third = make.results
    assert use.operands == (third, second, first, first)


def test_uses_may_come_before_the_definition(read: Reading) -> None:
    use, make = read.ops(
        '"x.use"(%a#1, %a, %a#1) : (f32, i32, f32) -> ()\n%a:2 = "x.make"() : () -> (i32, f32)'
    )
    first, second = make.results
    assert use.operands == (second, first, second)
    assert (first.users, second.users) == ({use: 1}, {use: 2})


def test_inner_regions_see_outer_names_even_later_ones(read: Reading) -> None:
    outer, inner, later = read.ops(
        '"x.outer"() ({ "x.use"(%a) : (i32) -> () }) : () -> ()\n%a = "x.make"() : () -> i32'
    )
    assert inner.parent_op is outer
    assert inner.operands == later.results


def test_names_of_a_region_end_with_it(read: Reading) -> None:
    region = '({ %a = "x.make"() : () -> i32 })'
    ops = read.ops(f'"x.two"() ({region[1:-1]}, {region[1:-1]}) : () -> ()')
    assert [op.name for op in ops] == ["x.two", "x.make", "x.make"]
    text = f'"x.one"() {region} : () -> ()\n"x.use"(%a) : (i32) -> ()'
    assert read.error(text) == (2, 9, "use of undefined value '%a'")


def test_isolated_regions_reuse_outer_names(read: Reading) -> None:
    text = '%a = "x.make"() : () -> i32\ntoy.func(%a: f32) { "x.use"(%a) : (f32) -> () }'
    make, func, use, end = read.ops(text)
    (argument,) = func.regions[0].block.args
    assert list(use.operands) == [argument]
    assert argument.type is F32
    assert (make.results[0].is_used, end.name) == (False, "toy.end")


def test_isolated_regions_do_not_see_outer_names(read: Reading) -> None:
    text = '%a = "x.make"() : () -> i32\ntoy.func() {\n  "x.use"(%a) : (i32) -> ()\n}'
    assert read.error(text) == (3, 11, "use of undefined value '%a'")


def test_the_first_undefined_use_is_reported(read: Reading) -> None:
    text = '"x.use"(%b) : (i32) -> ()\n"x.use"(%a, %b) : (i32, i32) -> ()'
    assert read.error(text) == (1, 9, "use of undefined value '%b'")


def test_redefinition(read: Reading) -> None:
    text = '%a = "x.make"() : () -> i32\n"x.in"() ({ %a = "x.make"() : () -> i32 }) : () -> ()'
    error = read.diagnostic(text)
    assert error.headline() == "in.mlir:2:13: error: redefinition of value '%a'"
    assert [note.headline() for note in error.notes] == ["in.mlir:1:6: note: defined here before"]


def test_value_of_another_type(read: Reading) -> None:
    text = '%a = "x.make"() : () -> i32\n"x.use"(%a) : (f32) -> ()'
    error = read.diagnostic(text)
    assert error.message == "value '%a' has type i32, but is used as f32"
    assert str(error.location) == "in.mlir:2:9"
    assert [str(note.location) for note in error.notes] == ["in.mlir:1:6"]


def test_forward_use_with_another_type_than_the_definition(read: Reading) -> None:
    text = '"x.use"(%a) : (f32) -> ()\n%a = "x.make"() : () -> i32'
    assert read.error(text) == (1, 9, "value '%a' has type i32, but is used as f32")


def test_forward_uses_with_two_types(read: Reading) -> None:
    text = '"x.use"(%a) : (f32) -> ()\n"x.use"(%a) : (i32) -> ()'
    assert read.error(text) == (2, 9, "value '%a' is used as i32")


@each_case(
    ("left", "types", "count"),
    [("%a", "()", "0 results, but 1 are"), ("%a, %b", "i32", "1 results, but 2 are"),
     ("%a:2", "(i1, i1, i1)", "3 results, but 2 are"),
     ("%a:1000000000", "i1", "1 results, but 1000000000 are")],
)  # fmt: skip
def test_number_of_results(left: str, types: str, count: str, read: Reading) -> None:
    text = f'{left} = "x.make"() : () -> {types}'
    assert read.error(text) == (1, 1, f"'x.make' has {count} named")


def test_results_need_no_names(read: Reading) -> None:
    assert [r.type for r in read.ops('"x.make"() : () -> (i32, f32)')[0].results] == [I32, F32]


@each_case(
    ("text", "column", "message"),
    [
        ('%a#1 = "x.make"() : () -> i32', 1, "expected a name to define, got '%a#1'"),
        ('%a:0 = "x.make"() : () -> ()', 4, "expected a positive number of results"),
        ('%a "x.make"() : () -> i32', 4, "expected '=', got '\"x.make\"'"),
        ('%, %b = "x.make"() : () -> i32', 1, "expected an SSA value, got '%'"),
        ('"x.use"(%a#2) : (i32) -> ()', 9, "use of undefined value '%a#2'"),
    ],
)
def test_wrong_names(text: str, column: int, message: str, read: Reading) -> None:
    assert read.error(text) == (1, column, message)


CFG = """"x.func"() ({
^entry(%c: i1):
  "x.br"(%late)[^left, ^right] : (i32) -> ()
^right:
  "x.end"() : () -> ()
^left(%a: i32, %b: f32):
  %late = "x.make"() : () -> i32
  "x.br"()[^left] : () -> ()
}) : () -> ()"""


def test_blocks_with_forward_labels_and_values(read: Reading) -> None:
    func, br, *_, back = read.ops(CFG)
    entry, right, left = func.regions[0].blocks
    assert br.successors == (left, right)
    assert back.successors == (left,)
    assert [arg.type for arg in left.args] == [I32, F32]
    assert [value.defining_op() for value in br.operands] == [left.first]
    assert left.predecessors() == [entry, left]


def test_labels_belong_to_their_region(read: Reading) -> None:
    inner = '({^a: "x.in"()[^a] : () -> ()})'
    body = f'"x.br"()[^a] : () -> ()\n "x.in"() {inner} : () -> ()'
    text = f'"x.out"() ({{\n^a:\n {body}\n}}) : () -> ()'
    out, br, owner, inside = read.ops(text)
    assert br.successors == (out.regions[0].block,)
    assert inside.successors == (owner.regions[0].block,)


@each_case(
    ("old", "new", "position", "message"),
    [
        ("[^left, ^right]", "[^left, ^wrong]", (3, 24), "reference to undefined block '^wrong'"),
        ("^right:", "^left:", (6, 1), "redefinition of block '^left'"),
        ("^right:", "^right", (4, 7), "expected ':', got '\"x.end\"'"),
        ("[^left, ^right]", "[left]", (3, 17), "expected a block label, got 'left'"),
    ],
)
def test_wrong_labels(
    old: str, new: str, position: tuple[int, int], message: str, read: Reading
) -> None:
    assert read.error(CFG.replace(old, new, 1)) == (*position, message)


def test_missing_terminators_are_added_where_the_declaration_says_so(read: Reading) -> None:
    ops = read.ops("toy.func() { scope { } scope { end } }")
    assert [op.name for op in ops] == [
        "toy.func", "toy.scope", "toy.end", "toy.scope", "toy.end", "toy.end"
    ]  # fmt: skip


def test_the_generic_form_stays_as_it_is(read: Reading) -> None:
    (scope,) = read.ops('"toy.scope"() ({}) : () -> ()')
    assert scope.regions[0].blocks == []
