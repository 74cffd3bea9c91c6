"""The writer: what it refuses, what it leaves out, and that it never hesitates."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import pytest
from each_case import each_case

from tilewright.bytecode.body_writer import encoder
from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.versions import KNOWN, Version, parse_version
from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.dialects.cuda_tile.conversion import ExtIOp
from tilewright.dialects.cuda_tile.enums import MemoryOrdering
from tilewright.dialects.cuda_tile.integer import NegIOp
from tilewright.dialects.cuda_tile.memory import StorePtrTkoOp
from tilewright.dialects.cuda_tile.structure import EntryOp, ModuleOp
from tilewright.dialects.cuda_tile.versions import version_problems
from tilewright.dialects.cuda_tile.view import LoadViewTkoOp
from tilewright.driver.assembly import parse_module
from tilewright.driver.disassembly import disassemble
from tilewright.ir.equivalence import equivalent
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import InvalidValue, UserError

PROGRAMS = sorted((Path(__file__).parents[2] / "programs").glob("*.mlir"))

OpT = TypeVar("OpT", bound=Operation)

FLOAT = "%f: tile<f32>, %i: tile<i32>, %p: tile<ptr<f32>>"


def module_of(body: str) -> ModuleOp:
    return parse_module(
        f"cuda_tile.module @m {{ entry @k({FLOAT}) {{ {body}\nreturn }} }}", "k.mlir"
    )


def refusal(module: ModuleOp, version: Version) -> str:
    with pytest.raises(UserError) as caught:
        write_bytecode(module, version)
    return str(caught.value)


@each_case("version", KNOWN)
def test_operations_are_written_from_their_version_on(version) -> None:
    for op in {op.name: op for op in CUDA_TILE.ops.values()}.values():
        if op.name in ("cuda_tile.module", "cuda_tile.entry", "cuda_tile.global"):
            with pytest.raises(InvalidValue, match="has no form in the bytecode of a function"):
                encoder(op, version)
        elif op.since is not None and op.since > version:
            module = module_of("")
            next(module.entries()).body.block.append(op((), (), {}, []))
            needs = f"'{op.name}' op needs version 13.{op.since[1]}, got 13.{version[1]}"
            assert needs in refusal(module, version)
        else:
            assert encoder(op, version).kind is op


# A line of text, the version that its newest part needs, and what is refused before.
NEWER = [
    ("%r = negi %i overflow<no_signed_wrap> : tile<i32>", (13, 2), "'overflow'"),
    ("%r = tanh %f rounding<approx> : tile<f32>", (13, 2), "'rounding_mode'"),
    ("%r = exp %f rounding<approx> : tile<f32>", (13, 3), "'rounding_mode'"),
    (
        "%r = ftoi %f signed saturating : tile<f32> -> tile<i32>",
        (13, 4),
        "'saturating'",
    ),
    ('%a = print_tko "x" -> token\n%b = join_tokens %a, %a : token', (13, 2), "'result_token'"),
    ('%a = make_token : token\n%b = print_tko "x" token=%a -> token', (13, 2), "'token'"),
    (
        "for unsigned %x in (%i to %i, step %i) : tile<i32> { continue }",
        (13, 2),
        "'unsignedCmp'",
    ),
]


@each_case(("line", "since", "what"), NEWER)
@each_case("version", KNOWN)
def test_newer_members_are_refused_unless_they_say_nothing(line, since, what, version) -> None:
    module = module_of(line)
    if version >= since:
        again = read_bytecode(write_bytecode(module, version))
        assert disassemble(again).splitlines()[1:] == disassemble(module).splitlines()[1:]
        return
    message = refusal(module, version)
    assert what in message
    assert f"needs version 13.{since[1]}, got 13.{version[1]}" in message
    assert message.startswith("k.mlir:1:") or message.startswith("k.mlir:2:")


@each_case(
    "line",
    [
        "%r = negi %i : tile<i32>",
        "%r = tanh %f : tile<f32>",
        "%r = exp %f : tile<f32>",
        '%a = print_tko "x" -> token',
        "for %x in (%i to %i, step %i) : tile<i32> { continue }",
    ],
)
def test_members_that_say_nothing_are_left_out(line: str) -> None:
    module = module_of(line)
    for version in KNOWN:
        assert equivalent(next(module.entries()), first_entry(module, version))


def first_entry(module: ModuleOp, version: Version) -> EntryOp:
    return next(read_bytecode(write_bytecode(module, version)).entries())


def first(op: Operation, kind: type[OpT]) -> OpT:
    return next(inner for inner in op.walk() if isinstance(inner, kind))


def test_bounded_assumptions_need_13_4() -> None:
    tensor = "tensor_view<64xf32, strides=[1]>"
    module = module_of(f"""%t = make_tensor_view %p, shape = [64], strides = [1] : {tensor}
    %v = make_partition_view %t : partition_view<tile=(8), {tensor}>
    %x, %k = load_view_tko weak %v[%i] : partition_view<tile=(8), {tensor}>, tile<i32>
        -> tile<8xf32>, token""")
    write_bytecode(module, (13, 1))
    first(module, LoadViewTkoOp).inbounds = (1,)
    assert "'inbounds' needs version 13.4, got 13.3" in refusal(module, (13, 3))
    assert first(first_entry(module, (13, 4)), LoadViewTkoOp).inbounds == (1,)


def test_members_of_enumerations_have_versions() -> None:
    line = "%r = ftof %f rounding<nearest_away> : tile<f32> -> tile<tf32>"
    module = module_of(line)
    write_bytecode(module, (13, 4))
    assert "'nearest_away' needs version 13.4, got 13.3" in refusal(module, (13, 3))


def test_members_that_only_the_text_has_are_refused() -> None:
    line = "%t = store_ptr_tko weak %p, %f : tile<ptr<f32>>, tile<f32> -> token"
    module = module_of(line)
    first(module, StorePtrTkoOp).ordering = MemoryOrdering.SEQ_CST
    assert "'seq_cst' has no form in bytecode" in refusal(module, (13, 4))


@pytest.mark.parametrize(
    ("flag", "attribute"), [("constant", "constant"), ("private", "symbol_visibility")]
)
def test_flags_of_globals_came_with_13_3(flag: str, attribute: str) -> None:
    text = f"cuda_tile.module @m {{ global {flag} @g <i8: [1, 2]> : tile<2xi8> }}"
    module = parse_module(text, "k.mlir")
    (kept,) = read_bytecode(write_bytecode(module, (13, 3))).globals()
    (origin,) = module.globals()
    assert kept.attributes == origin.attributes
    assert f"'{attribute}' needs version 13.3, got 13.2" in refusal(module, (13, 2))


def test_the_producer_is_dropped_before_13_3() -> None:
    module = parse_module('cuda_tile.module @m attributes {producer = "me"} {}', "k.mlir")
    assert read_bytecode(write_bytecode(module, (13, 3))).producer == "me"
    assert read_bytecode(write_bytecode(module, (13, 2))).producer is None


def test_other_operations_in_a_module_are_rejected() -> None:
    module = module_of("")
    stray = first(module_of("%r = negi %i : tile<i32>"), NegIOp)
    stray.drop_operands()
    module.body.block.append(stray.detach())
    assert "'cuda_tile.negi' op has no form in the bytecode of a module" in refusal(module, (13, 4))


def test_values_must_be_defined_before_their_use() -> None:
    module = module_of("%a = negi %i : tile<i32>\n%b = absi %a : tile<i32>")
    (entry,) = module.entries()
    first, second = list(entry.body.block)[:2]
    first.detach().insert_after(second)
    message = refusal(module, (13, 4))
    assert "'cuda_tile.absi' op uses a value that is not defined before it" in message


def test_required_attributes_must_be_there_and_of_their_kind() -> None:
    module = module_of("%a = exti %i signed : tile<i32> -> tile<i64>")
    op = first(module, ExtIOp)
    kept = op.attributes.pop("signedness")
    assert "needs attribute 'signedness'" in refusal(module, (13, 4))
    op.attributes["signedness"] = module.attributes["sym_name"]
    assert "expected attribute 'signedness' to be one of unsigned, signed" in refusal(
        module, (13, 4)
    )
    op.attributes["signedness"] = kept
    write_bytecode(module)


@each_case("path", PROGRAMS, ids=lambda path: path.stem)
@each_case("version", KNOWN)
def test_refusals_are_what_the_version_lacks(path: Path, version: Version) -> None:
    module = parse_module(path.read_text(), path.name)
    # The producer of a module is dropped, not refused.
    members = [*module.globals(), *module.entries()]
    lacks = any(True for op in members for _ in version_problems(op, version))
    if lacks:
        assert f", got 13.{version[1]}" in refusal(module, version)
    else:
        write_bytecode(module, version)


def test_unknown_versions_are_refused() -> None:
    assert "expected a bytecode version from 13.1 to 13.5, found 13.6" in refusal(
        module_of(""), (13, 6)
    )
    assert parse_version("13.2") == (13, 2)
    for wrong in ("13", "13.9", "x.y", ""):
        with pytest.raises(UserError, match="expected a bytecode version"):
            parse_version(wrong)


def test_sections_stand_in_the_order_of_the_public_writer() -> None:
    text = """cuda_tile.module @m attributes {producer = "me"} {
      global @g <i8: [1, 2]> : tile<2xi8>
      entry @k() { return }
    }"""
    data = write_bytecode(parse_module(text, "k.mlir"))
    assert section_numbers(data) == [6, 2, 4, 5, 7, 1]


def section_numbers(data: bytes) -> list[int]:
    """Walks the container by the format's definition; all lengths here take one byte."""
    at = 12
    numbers: list[int] = []
    while data[at]:
        numbers.append(data[at] & 0x7F)
        length, alignment = data[at + 1], data[at + 2] if data[at] & 0x80 else 1
        at += 3 if data[at] & 0x80 else 2
        at += -at % alignment + length
    return numbers


def test_the_same_module_gives_the_same_bytes(build) -> None:
    data = build.module(b"\x03\x01\x00\x00\x00" + build.RETURN, signature=4)
    once = write_bytecode(read_bytecode(data))
    assert write_bytecode(read_bytecode(data)) == once
    assert write_bytecode(read_bytecode(once)) == once


def test_a_producer_stays_in_its_comment() -> None:
    text = 'cuda_tile.module @m attributes {producer = "me\\0Aentry @injected() { return }\\0D"} {}'
    module = read_bytecode(write_bytecode(parse_module(text, "k.mlir"), (13, 3)))
    assert module.producer == "me\nentry @injected() { return }\r"
    assert disassemble(module) == "// Producer: me\\nentry @injected() { return }\\r\n"
