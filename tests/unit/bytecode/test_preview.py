"""Bytecode 13.5, the version under development: what cuTile Python 1.7 writes, we read and write.

The bytes come from the encoder of cuTile Python. NVIDIA's tools do not read the version yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from each_case import each_case
from preview_modules import (
    Body,
    Kernel,
    atomic,
    attribute,
    bc,
    chained,
    e,
    foreign_call,
    load,
    module,
    reduce,
    store,
    weak_load,
)

from tilewright.bytecode.annotation import annotate
from tilewright.bytecode.reader import read_bytecode
from tilewright.bytecode.writer import write_bytecode
from tilewright.driver.disassembly import disassemble
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Unsupported, UserError

PREVIEW = (13, 5)
VIEW = "partition_view<tile=(16), padding_value = zero, tensor_view<100x{}, strides=[1]>>"
REDUCTIONS = ("ADD", "MIN", "MAX", "AND", "OR", "XOR", "UMIN", "UMAX")


def lines(data: bytes) -> list[str]:
    """The accesses of a valid module."""
    program = read_bytecode(data, "k.tileirbc")
    verify(program)
    return [line.strip() for line in disassemble(program).splitlines() if "_view_tko" in line]


def ranges(data: bytes) -> list[tuple[int, str]]:
    """The length and the meaning of the bytes of each operation; indices of types may differ."""
    return [
        (each.stop - each.start, each.meaning)
        for each in annotate(data)
        if each.section == "Func" and each.meaning.startswith(("%", "multimem", "return"))
    ]


def reduction(kind: str) -> Body:
    """Load a tile, and reduce it into the view."""

    def body(kernel: Kernel) -> None:
        tile, token = load(kernel, kind)
        reduce(kernel, tile, token, kind)

    return body


BODIES: dict[str, tuple[str, Body]] = {
    "chained": ("F32", chained),
    "weak": ("F32", weak_load),
    **{
        f"{kind.lower()} {element}": (element, reduction(kind))
        for kind in REDUCTIONS
        for element in ("I32", "I64")
    },
    "half": ("F16", lambda k: store(k, *load(k, "MAX"))),
}


@each_case("name", BODIES)
def test_operations_are_read_and_written(name: str) -> None:
    element, body = BODIES[name]
    data = module(body, element=element)
    again = write_bytecode(read_bytecode(data), PREVIEW)
    assert lines(again) == lines(data)
    assert ranges(again) == ranges(data)


def test_the_text_of_the_operations() -> None:
    view = VIEW.format("f32")
    assert lines(module(chained)) == [
        "%tile, %result_token = multimem_load_reduce_view_tko relaxed sys %pview[%arg1], add "
        f"inbounds = [true] : {view}, tile<i32> -> tile<16xf32>, token",
        "%0 = multimem_reduce_view_tko release sys %pview[%arg1], add, %tile "
        f"token = %result_token : tile<16xf32>, {view}, tile<i32> -> token",
        "%1 = multimem_store_view_tko weak %tile, %pview[%arg1] token = %0 "
        f"inbounds = [true] : tile<16xf32>, {view}, tile<i32> -> token",
    ]


@each_case("kind", REDUCTIONS)
def test_the_numbers_of_the_reductions(kind: str) -> None:
    (line,) = lines(module(lambda k: load(k, kind), element="I32"))
    assert f"%pview[%arg1], {kind.lower()} : " in line


@pytest.mark.parametrize("version", ["V_13_4", "V_13_5"])
def test_atomic_reductions_know_what_is_in_bounds(version: str) -> None:
    body = lambda k: atomic(k, constant(k), version == "V_13_5")  # noqa: E731
    program = read_bytecode(module(body, version))
    (line,) = [each for each in disassemble(program).splitlines() if "atomic" in each]
    assert ("inbounds = [true]" in line) == (version == "V_13_5")
    written = write_bytecode(program, (13, int(version[-1])))
    assert disassemble(read_bytecode(written)) == disassemble(program)


def constant(k: Kernel) -> object:
    """A constant tile."""
    return e.encode_ConstantOp(k.builder, k.tile, b"\0" * 4)


def test_debug_information_has_flags() -> None:
    program = read_bytecode(module(chained))
    text = disassemble(program, debug=True)
    assert '"kernel.py":3:' in text
    again = read_bytecode(write_bytecode(program, PREVIEW))
    assert disassemble(again, debug=True) == text


@each_case("warps", [1, 2, 4, 8, 16, 32])
def test_hints_need_no_flag(warps: int) -> None:
    hints = {"default": bc.EntryHints(num_worker_warps_per_cta=warps)}
    program = read_bytecode(module(chained, hints=hints))
    wanted = f"optimization_hints=<default = {{num_worker_warps_per_cta = {warps}}}>"
    assert wanted in disassemble(program)
    assert wanted in disassemble(read_bytecode(write_bytecode(program, PREVIEW)))


def attributed(*each: list[tuple[str, Any]]) -> Callable[[object], object]:
    """Make an array of dictionaries, one for each argument."""
    return lambda table: attribute.AttributeArray([attribute.Dictionary(one) for one in each])


def test_attributes_of_arguments() -> None:
    attributes = attributed([("cuda_tile.div_by", attribute.DivBy(16))], [])
    program = read_bytecode(module(chained, arguments=attributes))
    verify(program)
    head = disassemble(program).splitlines()[0]
    assert head.startswith(
        "entry @k(%arg0: tile<ptr<f32>> {cuda_tile.div_by = #cuda_tile.div_by<16>}, "
        "%arg1: tile<i32>) {"
    )
    assert disassemble(read_bytecode(write_bytecode(program, PREVIEW))).splitlines()[0] == head


def test_empty_attributes_of_arguments_are_none() -> None:
    program = read_bytecode(module(chained, arguments=attributed([], [])))
    assert next(program.entries()).arg_attrs is None


@each_case(
    ("attributes", "message"),
    [
        (attributed([]), "expected attributes of 2 arguments, found 1"),
        (lambda table: attribute.DivBy(16), "expected an array of argument attributes"),
        (
            lambda table: attribute.AttributeArray([attribute.DivBy(16), attribute.DivBy(16)]),
            "expected dictionaries as attributes of arguments",
        ),
    ],
    ids=["count", "kind", "element"],
)
def test_wrong_attributes_of_arguments(attributes: object, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_bytecode(module(chained, arguments=attributes))


def test_older_versions_refuse_the_operations() -> None:
    data = bytearray(module(chained))
    program = read_bytecode(bytes(data))
    with pytest.raises(UserError, match=r"needs version 13\.5, got 13\.4"):
        write_bytecode(program)


def test_the_flag_of_hints_is_gone(build) -> None:
    with pytest.raises(UserError, match="expected the flags of a function, 0 to 3, found 6"):
        read_bytecode(build.module(version=PREVIEW, flags=6))


def test_flags_of_subprograms_must_be_known(build) -> None:
    records = [
        b"\x02\x00\x00",
        b"\x01\x01",
        b"\x05\x01\x01\x00\x00\x02\x01\x01",
        b"\x04\x03\x00\x01\x01",
    ]
    data = build.module(
        version=PREVIEW, location=1, hints=b"\x0b\x00\x06\x00",
        debug=build.debug([0], [4, 4], records),
    )  # fmt: skip
    with pytest.raises(UserError, match="expected 0 as the flags of a subprogram, found 1"):
        read_bytecode(data)


@pytest.mark.parametrize("preview", [False, True])
def test_foreign_calls_are_named(preview: bool) -> None:
    data = module(foreign_call, preview=preview)
    with pytest.raises(Unsupported, match="call of foreign function 'nvshmem_quiet'"):
        read_bytecode(data)


def test_the_preview_flag_alone_changes_nothing() -> None:
    assert lines(module(chained, preview=True)) == lines(module(chained))
