"""Programs that xDSL prints are read with the structure that xDSL gives them."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

from each_case import each_case
from xdsl.context import Context as XContext
from xdsl.dialects import get_all_dialects
from xdsl.ir import Operation as XOperation
from xdsl.parser import Parser as XParser
from xdsl.printer import Printer as XPrinter

from tilewright.ir.dialect import Context
from tilewright.ir.operation import Operation
from tilewright.text.attribute_printer import AttributePrinter
from tilewright.text.parser import parse_text

PROGRAMS = {
    "arithmetic": """
        func.func @f(%a: i32, %b: f32) -> (i32, f32) {
          %c = arith.constant 42 : i32
          %d = arith.addi %a, %c : i32
          %e = arith.constant 1.5 : f32
          %g = arith.mulf %b, %e fastmath<fast> : f32
          %h = arith.cmpi slt, %a, %d : i32
          %i = arith.select %h, %a, %d : i32
          func.return %i, %g : i32, f32
        }""",
    "structured control flow": """
        func.func @g(%n: index, %x: f32) -> f32 {
          %0 = arith.constant 0 : index
          %1 = arith.constant 1 : index
          %r = scf.for %i = %0 to %n step %1 iter_args(%acc = %x) -> (f32) {
            %p = arith.cmpi eq, %i, %0 : index
            %y = scf.if %p -> (f32) {
              scf.yield %acc : f32
            } else {
              %s = arith.addf %acc, %x : f32
              scf.yield %s : f32
            }
            scf.yield %y : f32
          }
          func.return %r : f32
        }""",
    "branches": """
        func.func @h(%c: i1, %a: i32) -> i32 {
          cf.cond_br %c, ^one(%a : i32), ^two
        ^one(%x: i32):
          cf.br ^three(%x : i32)
        ^two:
          %k = arith.constant -7 : i32
          cf.br ^three(%k : i32)
        ^three(%r: i32):
          func.return %r : i32
        }""",
    "memory": """
        func.func @m(%m: memref<4x?xf32>, %i: index) {
          %v = memref.load %m[%i, %i] : memref<4x?xf32>
          memref.store %v, %m[%i, %i] : memref<4x?xf32>
          %n = memref.alloca(%i) : memref<?x8xf64, strided<[8, 1], offset: ?>, 1 : i32>
          func.return
        }""",
    "attributes": """
        "test.op"() {
          a = [1 : i8, "two", @three::@four, unit],
          b = {x = 1.0 : f16, y = tensor<*xf32>},
          c = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>,
          d = dense<0.5> : vector<4xf32>,
          e = array<i32: 1, -2, 3>,
          f = affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 4)>,
          g = (i32, tuple<f32, index>) -> (),
          h = true, i = -5 : si16, j = 200 : ui8, k = 12 : index,
          l = complex<f64>, m = vector<[4]x2xbf16>, n = none
        } : () -> ()""",
    "unknown operations": """
        %0, %1:2 = "a.b"() ({
          ^bb0(%x: i32):
            "a.c"(%x) : (i32) -> ()
        }, {}) : () -> (i1, f80, !test.type<"x">)
        "a.d"(%1#1, %0) : (!test.type<"x">, i1) -> ()""",
}


def xdsl_module(text: str) -> XOperation:
    context = XContext(allow_unregistered=True)
    for name, load in get_all_dialects().items():
        context.register_dialect(name, load)
    return XParser(context, text).parse_module()


def outline(op: XOperation) -> Iterator[tuple[object, ...]]:
    """Names, types, attribute names and nesting, as xDSL sees them."""
    for each in op.walk():
        name = each.op_name.data if each.name == "builtin.unregistered" else each.name  # pyrefly: ignore[missing-attribute]
        names = {*each.attributes, *each.properties} - {"op_name__"}
        yield (
            name,
            [str(value.type) for value in each.operands],
            [str(value.type) for value in each.results],
            [[len(block.args) for block in region.blocks] for region in each.regions],
            len(each.successors),
            names,
        )


def our_outline(op: Operation) -> Iterator[tuple[object, ...]]:
    spell = AttributePrinter().type
    for each in op.walk():
        yield (
            each.name,
            [spell(value.type) for value in each.operands],
            [spell(value.type) for value in each.results],
            [[len(block.args) for block in region.blocks] for region in each.regions],
            len(each.successors),
            set(each.attributes),
        )


@each_case("name", PROGRAMS)
def test_generic_form_printed_by_xdsl(name: str, toy: Context) -> None:
    module = xdsl_module(PROGRAMS[name])
    out = StringIO()
    XPrinter(stream=out, print_generic_format=True).print_op(module)
    assert list(our_outline(parse_text(out.getvalue(), toy))) == list(outline(module))


def test_values_of_attributes(toy: Context) -> None:
    module = xdsl_module(PROGRAMS["attributes"])
    theirs = next(iter(module.body.block.ops)).attributes  # pyrefly: ignore[missing-attribute]
    ours = next(iter(parse_text(PROGRAMS["attributes"], toy).regions[0].block)).attributes
    for name in ("i", "j", "k"):
        assert ours[name].value == theirs[name].value.data, name  # pyrefly: ignore[missing-attribute]
    assert ours["c"].elements() == list(theirs["c"].get_values())  # pyrefly: ignore[missing-attribute]
    assert list(ours["e"].values) == list(theirs["e"].get_values())  # pyrefly: ignore[missing-attribute]
