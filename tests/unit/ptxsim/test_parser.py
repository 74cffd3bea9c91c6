from __future__ import annotations

import time

import pytest
from each_case import each_case

from tilewright.ptxsim.operands import parse_operand
from tilewright.ptxsim.parser import parse
from tilewright.ptxsim.syntax import (
    Address,
    Arguments,
    Float,
    Integer,
    Label,
    Name,
    NameTable,
    Not,
    Pair,
    Prototype,
    RegisterDeclaration,
    SymbolOffset,
    Vector,
)
from tilewright.support.diagnostics import Unsupported, UserError
from tilewright.support.source_location import call_sites

HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"


@each_case(
    ("text", "operand"),
    [
        ("%r1", Name("%r1")),
        ("%tid.x", Name("%tid.x")),
        ("_", Name("_")),
        ("-1", Integer(-1)),
        ("0x10U", Integer(16)),
        ("010", Integer(8)),
        ("0b101", Integer(5)),
        ("WARP_SZ", Integer(32)),
        ("0f3F800000", Float(0x3F800000, 32)),
        ("0d3FF0000000000000", Float(0x3FF0000000000000, 64)),
        ("0D3FF0000000000000", Float(0x3FF0000000000000, 64)),
        ("1.5", Float(0x3FF8000000000000, 64)),
        ("table+8", SymbolOffset("table", 8)),
        ("[%rd1]", Address(Name("%rd1"), 0)),
        ("[%rd1+-4]", Address(Name("%rd1"), -4)),
        ("[ %rd1 + 4 ]", Address(Name("%rd1"), 4)),
        ("[table+4+8]", Address(Name("table"), 12)),
        ("[64]", Address(Integer(64), 0)),
        ("{%f1, _}", Vector((Name("%f1"), Name("_")))),
        ("!%p1", Not(Name("%p1"))),
        ("%p1|%p2", Pair(Name("%p1"), Name("%p2"))),
        ("(a, b)", Arguments((Name("a"), Name("b")))),
        (
            "[%rd1, {%r1, %r2}]",
            Address(Name("%rd1"), 0, (Vector((Name("%r1"), Name("%r2"))),)),
        ),
    ],
)
def test_operands(text: str, operand: object) -> None:
    assert parse_operand(text) == operand


def test_header() -> None:
    module = parse(".version 8.7\n.target sm_90a, debug\n.address_size 64\n")
    assert module.version == (8, 7)
    assert module.target == ("sm_90a", "debug")


def test_entry_with_directives() -> None:
    module = parse(
        HEADER
        + """.visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 64 .b8 m[128])
        .reqntid 384, 1, 1
        .minnctapersm 1
        .explicitcluster
        .reqnctapercluster 2, 1, 1
        { ret; }"""
    )
    entry = module.functions["k"]
    assert entry.is_entry
    assert entry.directives == {
        "reqntid": (384, 1, 1),
        "minnctapersm": (1,),
        "explicitcluster": (),
        "reqnctapercluster": (2, 1, 1),
    }
    pointer, map_ = entry.parameters
    assert (pointer.size, pointer.alignment) == (8, 8)
    assert (map_.size, map_.alignment) == (128, 64)


def test_variables_with_initializers() -> None:
    module = parse(
        HEADER
        + """
        .const .align 4 .b8 c[8] = {0, 0, 128, 63};
        .global .u32 n = 7;
        .global .f32 pi = 0f40490FDB;
        .global .f64 e = 2.5;
        .global .u64 where[2] = {n, generic(c)+4};
        .global .s16 grid[2][2] = {{1, -2}, {3, 4}};
        .extern .shared .align 16 .b8 dynamic[];
        """
    )
    declared = {variable.name: variable for variable in module.variables}
    assert (declared["c"].size, declared["c"].contents) == (8, bytes([0, 0, 128, 63]))
    assert declared["n"].contents == bytes([7, 0, 0, 0])
    assert declared["pi"].contents == bytes.fromhex("db0f4940")
    assert declared["e"].contents == bytes.fromhex("0000000000000440")
    assert [(r.offset, r.symbol, r.addend) for r in declared["where"].relocations] == [
        (0, "n", 0),
        (8, "c", 4),
    ]
    assert declared["grid"].contents == bytes.fromhex("0100feff03000400")
    assert declared["dynamic"].external
    assert declared["dynamic"].alignment == 16


def test_registers_come_in_banks() -> None:
    module = parse(HEADER + ".entry k() { .reg .b32 %r<3>, %x; .reg .pred p; ret; }")
    scope = module.functions["k"].scope
    declared = scope.find("%r2")
    assert isinstance(declared, RegisterDeclaration)
    assert declared.type == "b32"
    assert scope.find("%r2") is declared
    assert scope.find("%r3") is None
    assert scope.find("%x") is not None
    assert scope.find("p") is not None


def test_names_of_numbered_registers() -> None:
    body = "{ .reg .b32 %r<11>; .reg .b64 %r0<3>; .reg .b16 a1b<2>; ret; }"
    scope = parse(f"{HEADER}.entry k() {body}").functions["k"].scope
    # A number has no leading zeros: what precedes it belongs to the name of the bank.
    types = {"%r0": "b32", "%r10": "b32", "%r00": "b64", "%r02": "b64", "a1b1": "b16"}
    for name, type in types.items():
        declared = scope.find(name)
        assert isinstance(declared, RegisterDeclaration)
        assert (declared.name, declared.type) == (name, type)
    for name in ("%r", "%r11", "%r03", "%r000", "%r010", "a1b", "a1b2", "10", ""):
        assert scope.find(name) is None


def test_inner_scopes_hide_outer_ones() -> None:
    module = parse(
        HEADER
        + """.entry k() {
            .reg .b32 t;
            mov.b32 t, 1;
            { .reg .b64 t; mov.b64 t, 2; L: bra L; }
            { .reg .b16 t; mov.b16 t, 3; L: bra L; }
        }"""
    )
    body = module.functions["k"].body
    assert body is not None
    types = [site.scope.find("t") for site in body if site.opcode.startswith("mov")]
    assert [getattr(each, "type", None) for each in types] == ["b32", "b64", "b16"]
    labels = [site.scope.find("L") for site in body if site.opcode == "bra"]
    assert labels == [Label(2), Label(4)]


def test_guards_and_modifiers() -> None:
    module = parse(
        HEADER + ".entry k() { @!%p1 cp.async.bulk.shared::cluster.global [a], [b], 16; }"
    )
    body = module.functions["k"].body
    assert body is not None
    site = body[0]
    assert site.opcode == "cp.async.bulk.shared::cluster.global"
    assert site.guard == Name("%p1")
    assert site.guard_negated


def test_tables_and_prototypes() -> None:
    module = parse(
        HEADER
        + """.entry k() {
            ts: .branchtargets A, B;
            brx.idx %r1, ts;
            A: B: ret;
            proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);
            call (a), %rd1, (b, c), proto;
        }"""
    )
    scope = module.functions["k"].scope
    assert scope.find("ts") == NameTable(("A", "B"))
    prototype = scope.find("proto")
    assert isinstance(prototype, Prototype)
    assert [parameter.size for parameter in prototype.parameters] == [8, 4]


def test_source_lines() -> None:
    module = parse(
        HEADER
        + """.entry k() {
            .loc 1 7 3
            mov.b32 %r1, 1;
            .loc 2 9 1, function_name $L__info_string0, inlined_at 1 15 3
            ret;
        }
        .file 1 "a.cu"
        .file 2 "b.cuh"
        .section .debug_str
        {
        $L__info_string0:
        .b8 95, 90
        }
        """
    )
    body = module.functions["k"].body
    assert body is not None
    assert [str(site.source_line) for site in body] == ["a.cu:7:3", "b.cuh:9:1"]


def test_inlined_source_lines_have_their_calls() -> None:
    module = parse(
        HEADER
        + """.entry k() {
            .loc 1 15 3
            mov.b32 %r1, 1;
            .loc 2 9 1, function_name $L__info_string0, inlined_at 1 15 3
            mov.b32 %r1, 2;
            .loc 2 30 5, function_name $L__info_string1, inlined_at 2 9 1
            ret;
        }
        .file 1 "a.py"
        .file 2 "b.py"
        """
    )
    body = module.functions["k"].body
    assert body is not None
    lines = [site.source_line for site in body]
    calls = [call_sites(line.location) for line in lines if line is not None]
    assert [[str(call.caller) for call in each] for each in calls] == [
        [],
        ["a.py:15:4"],
        ["a.py:15:4", "b.py:9:2"],
    ]


def test_source_lines_that_call_each_other_are_finite() -> None:
    directives = """
        .loc 1 1 1, function_name $L, inlined_at 1 2 1
        .loc 1 2 1, function_name $L, inlined_at 1 1 1
    """
    module = parse(HEADER + f".entry k() {{ {directives * 500} ret; }}")
    body = module.functions["k"].body
    assert body is not None
    line = body[0].source_line
    assert line is not None
    assert line.call_count <= 64


def test_comments_keep_positions() -> None:
    text = HEADER + ".entry k() { /* one\n two */ ret; // end }\n }"
    body = parse(text).functions["k"].body
    assert body is not None
    assert str(body[0].location) == "<ptx>:5:9"


@each_case(
    ("text", "message"),
    [
        (".target sm_90\n", "<ptx>:1:1: error: expected the directive '.version'"),
        (HEADER + "hello", "<ptx>:4:1: error: expected a directive, got 'hello'"),
        (HEADER + ".entry k() { mov.b32 %r1, 0fxyz; }", "<ptx>:4:22: error: expected an operand"),
        (HEADER + ".entry k() { 5; }", "<ptx>:4:14: error: expected an instruction, got '5'"),
        (HEADER + ".entry k() { mov.b32 %r1, 1;", "expected an instruction, got the end"),
        (HEADER + ".global .u32 a;\n.global .u32 a;", "<ptx>:5:14: error: 'a' is declared twice"),
        (HEADER + ".entry k() { add.f32 %f1, {%f2; }", "expected balanced brackets"),
        (HEADER + ".entry k() { mov.f32 %f1, 0f3F8; }", "expected a float with 8 digits"),
        (HEADER + ".global .u32 a = ;", "<ptx>:4:18: error: expected a value, got ';'"),
        (HEADER + ".func f(.local .b32 a);", "<ptx>:4:9: error: expected '.param'"),
    ],
)
def test_errors_have_a_location(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(text)
    assert message in str(caught.value)


@each_case(
    ("text", "feature"),
    [
        (".version 9.0\n.target sm_90\n.address_size 32\n", "addresses of 32 bits"),
        (HEADER + ".global .texref t;", "type .texref"),
        (HEADER + ".entry k() { .reg .v4 .f32 v; }", "registers of type .v4"),
    ],
)
def test_unsupported_features_are_named(text: str, feature: str) -> None:
    with pytest.raises(Unsupported) as caught:
        parse(text)
    assert caught.value.feature == feature


def test_long_texts_are_quick() -> None:
    lines = "\n".join(
        f"ld.global.f32 %f{at}, [%rd{at % 50}+{4 * at}];\nfma.rn.f32 %f{at}, %f{at}, %f1, %f2;"
        for at in range(5000)
    )
    text = HEADER + ".entry k() { .reg .f32 %f<9999>; .reg .b64 %rd<50>; " + lines + " ret; }"
    start = time.process_time()
    parse(text)
    assert time.process_time() - start < 1.0
