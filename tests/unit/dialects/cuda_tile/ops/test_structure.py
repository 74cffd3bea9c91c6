"""Modules, kernels and globals: verifier diagnostics and allowed operations."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.dialects.cuda_tile.enums import SymbolVisibility
from tilewright.dialects.cuda_tile.structure import EntryOp, GlobalOp, ModuleOp
from tilewright.driver.registry import context
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.builder import create_op
from tilewright.ir.operation import Block, Operation
from tilewright.ir.types import I32, FunctionType
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink, UserError
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op


def read(text: str) -> Operation:
    return parse_text(text, context(allow_unregistered=True))


def complaints(op: Operation) -> list[str]:
    sink = Sink()
    verify(op, sink)
    return [error.message for error in sink.errors]


@pytest.mark.requirement("R1-002", kind="behaviour")
def test_a_module_holds_kernels():
    module = read("""cuda_tile.module @m attributes {producer = "acme 1.0"} {
      entry @a() { }
      global @g <i32: 0> : tile<2xi32>
      entry @b(%x: tile<i32>) { return }
      entry @c() { }
    }""")
    assert complaints(module) == []
    assert isinstance(module, ModuleOp)
    assert [entry.sym_name for entry in module.entries()] == ["a", "b", "c"]
    assert [op.sym_name for op in module.globals()] == ["g"]
    assert module.producer == "acme 1.0"
    assert [argument.index for argument in list(module.entries())[1].arguments] == [0]


def test_a_module_prints_its_producer():
    text = 'cuda_tile.module @m attributes {producer = "acme 1.0"} {\n}\n'
    assert print_op(read(text)) == text


@pytest.mark.requirement("R4-002", "R4-003")
def test_prefixes_stand_at_the_boundary():
    text = print_op(
        read('module { cuda_tile.module @"a b" { cuda_tile.entry @k() { cuda_tile.return } } }')
    )
    assert text == (
        'module {\n  cuda_tile.module @"a b" {\n    entry @k() {\n      return\n    }\n  }\n}\n'
    )


def test_symbols_have_one_meaning():
    module = read("cuda_tile.module @m { entry @k() { } global @k <i8: 1> : tile<1xi8> }")
    assert complaints(module) == ["'cuda_tile.global' op redefinition of symbol 'k'"]


def test_a_module_has_no_arguments():
    module = create_op(ModuleOp, sym_name="m", body=Block([I32]))
    assert complaints(module) == ["'cuda_tile.module' op expected a body without arguments"]


def test_only_symbols_stand_in_a_module():
    module = read("cuda_tile.module @m { %t = make_token : token }")
    assert complaints(module) == [
        "'cuda_tile.make_token' op cannot stand directly in 'cuda_tile.module'"
    ]


@pytest.mark.requirement("R1-057", kind="behaviour")
@each_case(
    "name", ["nv_tileaa.addi", "nvvm.barrier0", "llvm.mlir.undef", "arith.addi", "scf.yield"]
)
def test_other_dialects_are_rejected(name):
    module = read(
        f'cuda_tile.module @m {{ entry @k(%c: tile<i1>) {{ if %c {{ "{name}"() : () -> () }} }} }}'
    )
    rejection = f"'{name}' op is not of a public dialect, and cannot stand in a program"
    assert rejection in complaints(module)


@pytest.mark.requirement("R1-057", kind="behaviour")
@each_case(
    "line",
    [
        '%0 = "arith.constant"() <{value = 1 : i32}> : () -> i32',
        '%0 = "func.constant"() <{value = @k}> : () -> (() -> ())',
        '%0 = "builtin.unrealized_conversion_cast"() : () -> i32',
    ],
)
def test_a_few_operations_of_others_may_stand_in_a_kernel(line):
    assert complaints(read(f"cuda_tile.module @m {{ entry @k() {{ {line} }} }}")) == []


def test_kernels_take_scalars():
    module = read("cuda_tile.module @m { entry @k(%a: tile<i32>, %b: tile<4xi32>) { } }")
    assert complaints(module) == [
        "'cuda_tile.entry' op argument #1 must be a scalar tile, got '!cuda_tile.tile<4xi32>'"
    ]


def test_kernels_return_nothing():
    module = read("cuda_tile.module @m { entry @k() -> tile<i32> { } }")
    assert complaints(module) == [
        "'cuda_tile.entry' op must not return values, got ('!cuda_tile.tile<i32>')"
    ]
    assert "entry @k() -> tile<i32> {" in print_op(module)


def test_arguments_are_those_of_the_signature():
    entry = create_op(EntryOp, sym_name="k", function_type=FunctionType((I32,)), body=Block())
    assert complaints(entry)[0] == (
        "'cuda_tile.entry' op region #0 has an empty block: expected a terminator"
    )
    module = read(
        '"cuda_tile.entry"() <{sym_name = "k", function_type = (i32) -> ()}> '
        '({ "cuda_tile.return"() : () -> () }) : () -> ()'
    )
    assert complaints(module) == [
        "'cuda_tile.entry' op expected block arguments of types ('i32'), got ()"
    ]


def test_a_signature_is_a_function_type():
    module = read(
        '"cuda_tile.entry"() <{sym_name = "k", function_type = i32}> '
        '({ "cuda_tile.return"() : () -> () }) : () -> ()'
    )
    assert complaints(module) == ["'cuda_tile.entry' op expected a function type, got 'i32'"]


def test_arguments_may_have_attributes():
    text = "cuda_tile.entry @k(%arg0: tile<i32> {a = 1 : i8}, %arg1: tile<i1>) {\n  return\n} {b}\n"
    module = read(text)
    assert (
        print_op(module)
        == "module {\n" + "".join(f"  {line}\n" for line in text.splitlines()) + "}\n"
    )


@pytest.mark.requirement("R1-052")
def test_hints_are_kept_by_architecture():
    module = read(
        "cuda_tile.entry @k() "
        "optimization_hints=<sm_90 = {occupancy = 2}, sm_100 = {unknown = 7}> { }"
    )
    (entry,) = [op for op in module.walk() if isinstance(op, EntryOp)]
    assert entry.hints is not None
    keys = [key for key, _ in entry.hints.entries.entries]
    assert keys == ["sm_100", "sm_90"]
    assert complaints(module) == []
    with pytest.raises(UserError, match="expected a dictionary"):
        read("cuda_tile.entry @k() optimization_hints=<sm_90 = 3> { }")


def test_globals_have_rank_one(tile):
    value = DenseElementsAttr(bytes(4), tile("i32"))
    op = create_op(GlobalOp, sym_name="g", value=value)
    assert complaints(op) == [
        "'cuda_tile.global' op expected a value of rank 1, got '!cuda_tile.tile<i32>'"
    ]


@each_case("word", ["", "public ", "private "])
def test_visibility_of_globals(word):
    module = read(f"cuda_tile.global {word}constant @g alignment = 8 <i32: 0> : tile<2xi32>")
    (op,) = [op for op in module.walk() if isinstance(op, GlobalOp)]
    expected = SymbolVisibility.PRIVATE if word == "private " else SymbolVisibility.PUBLIC
    assert (op.symbol_visibility, op.constant, op.alignment) == (expected, True, 8)


DEBUG = """
#file = #cuda_tile.di_file<"k.py" in "/home">
#unit = #cuda_tile.di_compile_unit<file = #file>
#k = #cuda_tile.di_subprogram<
  file = #file, line = 1, name = "k", linkageName = "k", compileUnit = #unit>
#other = #cuda_tile.di_subprogram<
  file = #file, line = 9, name = "o", linkageName = "o", compileUnit = #unit>
#block = #cuda_tile.di_lexical_block<scope = #k, file = #file, line = 2>
#loc_k = loc("k.py":3:4)
"""
IN_K = "loc(#cuda_tile.di_loc<#loc_k in #k>)"
IN_OTHER = "loc(#cuda_tile.di_loc<#loc_k in #other>)"
IN_BLOCK = "loc(#cuda_tile.di_loc<#loc_k in #block>)"


@each_case(
    ("program", "expected"),
    [
        (f"entry @k() {{ return {IN_BLOCK} }} {IN_K}", []),
        (f"entry @k() {{ return }} {IN_K}", []),
        (
            f"entry @k() {{ return }} {IN_OTHER}",
            ["'cuda_tile.entry' op debug scope is that of another function, 'o'"],
        ),
        (
            f"entry @k() {{ return }} {IN_BLOCK}",
            ["'cuda_tile.entry' op debug scope of a function must be a di_subprogram"],
        ),
        (
            "entry @k() { return } loc(callsite(#loc_k at #loc_k))",
            ["'cuda_tile.entry' op location of a function must not be a call site"],
        ),
        (
            f"entry @k() {{ return {IN_K} }}",
            ["'cuda_tile.return' op has a debug scope, but its function has none"],
        ),
        (
            f"entry @k() {{ return {IN_OTHER} }} {IN_K}",
            ["'cuda_tile.return' op debug scope must be in 'k', got 'o'"],
        ),
        (
            f"global @g <i8: 1> : tile<1xi8> {IN_K}",
            ["'cuda_tile.global' op must not have a debug scope outside of a function"],
        ),
    ],
)
def test_debug_scopes(program, expected):
    module = read(f"{DEBUG}\ncuda_tile.module @m {{ {program} }}")
    assert complaints(module) == expected
