"""The attributes of what is asked of a kernel, and of what is refused."""

from __future__ import annotations

import pickle
import re

import pytest

from tilewright.dialects.nv_tileaa.requests import AskedAttr, Refusal, RefusedAttr, Request
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import parse_text
from tilewright.text.printer import print_op

KEYS = (
    "num_ctas, warps, occupancy, stages, in_flight, k_parts, agents, multicast, tma_stores, "
    "evict_first, rotate, kept_tiles, single_trip, prefetch, level, sanitize"
)


def read(attributes: str) -> Operation:
    """A module with a kernel that has some attributes."""
    text = (
        "gpu.module @m { nv_tileaa.func @k() attributes {kernel_spec = #nv_tileaa.kernel_spec<>, "
        f"{attributes}}} {{ nv_tileaa.return }} }}"
    )
    module = parse_text(text, context(), "kernel.mlir")
    verify(module)
    return module


def kernel(attributes: str) -> FuncOp:
    (function,) = (op for op in read(attributes).walk() if isinstance(op, FuncOp))
    return function


@pytest.mark.parametrize("attribute", [
    "nv_tileaa.asked = #nv_tileaa.asked<>",
    "nv_tileaa.asked = #nv_tileaa.asked<warps = <8, schedule>>",
    "nv_tileaa.asked = #nv_tileaa.asked<num_ctas = <2, entry>, stages = <1, environment>, "
    "kept_tiles = <32, record>>",
    "nv_tileaa.asked = #nv_tileaa.asked<level = <0, options>, sanitize = <1, options>>",
    "nv_tileaa.refused = #nv_tileaa.refused<[]>",
    'nv_tileaa.refused = #nv_tileaa.refused<[<stages, "a \\22stage\\22 takes 1 byte">, '
    '<stages, "">]>',
])  # fmt: skip
def test_they_print_as_they_parse(attribute: str) -> None:
    module = read(attribute)
    text = print_op(module)
    assert attribute in text
    assert print_op(parse_text(text, context(), "again.mlir")) == text


def test_a_kernel_has_requests_and_reasons() -> None:
    requests = "warps = <8, entry>, agents = <0, record>"
    function = kernel(f"nv_tileaa.asked = #nv_tileaa.asked<{requests}>")
    assert [function.asks(key) for key in ("warps", "agents", "stages")] == [8, 0, None]
    assert not function.has_refused("warps")
    function.refuse("warps", "too many")
    function.refuse("warps", "too many")
    assert function.has_refused("warps")
    assert function.refused is RefusedAttr([Refusal("warps", "too many")])


def test_requests_are_values() -> None:
    asked = AskedAttr([Request("warps", 8, "entry"), Request("stages", 3, "schedule")])
    assert pickle.loads(pickle.dumps(asked)) is asked
    assert asked.without("stages") is AskedAttr([Request("warps", 8, "entry")])
    replaced = asked.with_request(Request("warps", 4, "schedule"))
    assert replaced.get("warps") == Request("warps", 4, "schedule")
    assert asked.get("agents") is None


@pytest.mark.parametrize(("attribute", "message"), [
    ("asked<speed = <1, entry>>", f"expected one of {KEYS}, found 'speed'"),
    ("asked<in-flight = <1, entry>>", "expected '=', got '-'"),
    ("asked<warps = <0, entry>>", "expected a positive number for 'warps', found 0"),
    ("asked<stages = <9, schedule>>", "expected 1 to 8 for 'stages', found 9"),
        ("asked<k_parts = <0, schedule>>", "expected 1 to 8 for 'k_parts', found 0"),
    ("asked<agents = <2, schedule>>", "expected 0 to 1 for 'agents', found 2"),
    ("asked<stages = <3, guess>>",
     "expected one of options, schedule, environment, record, entry, found 'guess'"),
    ("asked<stages = <3, entry>, stages = <4, record>>",
     "expected one request for 'stages', found several"),
    ("refused<[<speed, \"\">]>", f"expected one of {KEYS}, found 'speed'"),
])  # fmt: skip
def test_others_are_errors(attribute: str, message: str) -> None:
    name = attribute.partition("<")[0]
    with pytest.raises(UserError, match=re.escape(message)):
        read(f"nv_tileaa.{name} = #nv_tileaa.{attribute}")


@pytest.mark.parametrize("name", ["asked", "refused"])
def test_the_verifier_rejects_other_kinds(name: str) -> None:
    with pytest.raises(UserError, match=f"nv_tileaa.{name}"):
        read(f"nv_tileaa.{name} = 3 : i32")
