"""Forms that only NVIDIA's compiler prints: read anywhere, printed in style "tileiras"."""

from __future__ import annotations

import re

import pytest
from access_bodies import MASKED_TYPES, PV, lines, read

from tilewright.driver.registry import context
from tilewright.support.diagnostics import UserError
from tilewright.text.parser import parse_text
from tilewright.text.printer import Style, print_op


def public(body: str) -> str:
    return "\n".join(lines(read(body)))


def tileiras(body: str) -> str:
    return "\n".join(lines(read(body), Style.TILEIRAS))


STORED = (
    "%1 = store_view_tko release device %cst_1_f32, %pview[%arg2] token = %0 : "
    f"tile<8xf32>, {PV}, tile<i32> -> token"
)
LOADED = (
    "%tile, %result_token = load_view_tko acquire device %pview[%arg2] token = %0 : "
    f"{PV}, tile<i32> -> tile<8xf32>, token"
)
ADDED = (
    "%result, %result_token = atomic_rmw_tko acquire device %arg1, add, %arg2, %arg4 token=%0 : "
    f"{MASKED_TYPES}"
)
SWAPPED = (
    "%result, %result_token = atomic_cas_tko acq_rel device %arg1, %arg2, %arg2, %arg4 token=%0 : "
    f"{MASKED_TYPES}"
)
TO_TILE = "-> tile<8xf32>, token"
ARGUMENTS = "(%a: tile<f32>, %b: tile<f32>)"
LABEL = "^bb0(%a: !cuda_tile.tile<f32>, %b: !cuda_tile.tile<f32>):"


@pytest.mark.requirement("R4-008", "R4-009", "R4-010", "R4-011", "R4-018", "R4-022")
@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (
            f"%a, %b = cuda_tile.load_view_tko acquire gpu %v[%n] token=%t : !cuda_tile.{PV} "
            "-> !cuda_tile.tile<8xf32>, !cuda_tile.token",
            LOADED,
        ),
        (
            f"%a, %b = load_view_tko acquire gpu %v[%n], %some token=%t : {PV} {TO_TILE}",
            LOADED.replace("%pview[%arg2]", "%pview[%arg2], %cst_i1"),
        ),
        (
            "%b = cuda_tile.store_view_tko release gpu %v[%n], %w, %some token=%t : "
            f"!cuda_tile.{PV}, !cuda_tile.tile<8xf32> -> !cuda_tile.token",
            STORED.replace("%pview[%arg2]", "%pview[%arg2], %cst_i1"),
        ),
        (
            "%b = store_view_tko release device %w, %v[%n], %some token=%t : "
            f"tile<8xf32>, {PV} -> token",
            STORED.replace("%pview[%arg2]", "%pview[%arg2], %cst_i1"),
        ),
        (
            "%b = store_view_tko release gpu %v[%n], %w token=%t : "
            f"{PV}, tile<8xf32>, tile<i32> -> token",
            STORED,
        ),
        (
            "%a, %b = cuda_tile.atomic_rmw_tko acquire gpu add %q, %n, %c token=%t : "
            "!cuda_tile.tile<ptr<i32>>, !cuda_tile.tile<i32>, !cuda_tile.tile<i1> "
            "-> !cuda_tile.tile<i32>, !cuda_tile.token",
            ADDED,
        ),
        (
            "%a, %b = cuda_tile.atomic_cas_tko acq_rel gpu %q, %n, %n, %c token=%t : "
            "!cuda_tile.tile<ptr<i32>>, !cuda_tile.tile<i32>, !cuda_tile.tile<i1> "
            "-> !cuda_tile.tile<i32>, !cuda_tile.token",
            SWAPPED,
        ),
        (
            "%a, %b = cuda_tile.atomic_cas_tko acq_rel gpu %q, %n, %n, %c token=%t : "
            "!cuda_tile.tile<ptr>, !cuda_tile.tile<i32>, !cuda_tile.tile<i1> "
            "-> !cuda_tile.tile<i32>, !cuda_tile.token",
            SWAPPED,
        ),
        (
            "%a, %b = cuda_tile.atomic_rmw_tko acquire gpu add %q, %n, %c token=%t : "
            "!cuda_tile.tile<ptr>, !cuda_tile.tile<i32>, !cuda_tile.tile<i1> "
            "-> !cuda_tile.tile<i32>, !cuda_tile.token",
            ADDED,
        ),
    ],
)
def test_compiler_form_is_read(written, printed):
    assert public(written) == printed


@pytest.mark.requirement("R4-009", "R4-010")
@pytest.mark.parametrize("type", ["tile<4xptr>", "tile<8x8xptr>", "tensor<8xptr>"])
def test_a_pointer_type_without_pointee_has_the_shape_of_the_definition(type):
    body = """
        %ps = broadcast %r : tile<1xptr<i32>> -> tile<8xptr<i32>>
        %ns = constant <i32: 1> : tile<8xi32>
        %a, %b = atomic_cas_tko relaxed gpu %ps, %ns, %ns : {}, tile<8xi32> -> tile<8xi32>, token
    """
    shaped = f"%r = reshape %q : tile<ptr<i32>> -> tile<1xptr<i32>> {body}"
    assert ": tile<8xptr<i32>>, tile<8xi32> ->" in public(shaped.format("tile<8xptr>"))
    with pytest.raises(UserError, match=r"expected '!cuda_tile\.tile<8xptr<i32>>' as"):
        read(shaped.format(type))


@pytest.mark.requirement("R4-008", "R4-009", "R4-010", "R4-011", "R4-037")
@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (
            LOADED,
            "%tile, %result_token = load_view_tko acquire gpu %view_0[%arg2] token = %0 : "
            f"{PV} {TO_TILE}",
        ),
        (
            STORED,
            "%1 = store_view_tko release gpu %view_0[%arg2], %cst token = %0 : "
            f"{PV}, tile<8xf32> -> token",
        ),
        (ADDED, ADDED.replace("device %arg1, add,", "gpu add %arg1,")),
        (SWAPPED, SWAPPED.replace("device", "gpu")),
    ],
)
def test_compiler_form_is_printed(written, printed):
    names = {"%0": "%t", "%pview": "%v", "%cst_1_f32": "%w"}
    for number, name in enumerate(("%p", "%q", "%n", "%x", "%c")):
        names[f"%arg{number}"] = name
    body = re.sub(r"%\w+", lambda match: names.get(match[0], match[0]), written)
    assert tileiras(body) == printed


@pytest.mark.requirement("R4-007", "R4-041")
def test_make_token():
    module = parse_text("%t = cuda_tile.make_token {a} : !cuda_tile.token", context())
    for style in Style:
        assert "%0 = cuda_tile.make_token {a} : token" in print_op(module, style=style)


@pytest.mark.requirement("R4-014")
def test_token_join():
    expected = "%1 = make_token : token\n%2 = join_tokens %0, %1 : token"
    assert public("%u = make_token : token %j = cuda_tile.token.join [%t, %u] : token") == expected
    assert public("%u = make_token : token %j = join_tokens %t, %u : token") == expected


@pytest.mark.requirement("R1-017", "R4-022")
def test_print():
    expected = '%1 = print_tko "%d", %arg2 : tile<i32> -> token'
    assert public('print "%d", %n : tile<i32>') == expected
    assert public('%u = print_tko "%d", %n : tile<i32> -> token') == expected
    assert tileiras('print "%d", %n : tile<i32>') == '%1 = print "%d", %arg2 : tile<i32> -> token'


REDUCED = "\n".join(
    [
        "%reduce = reduce %cst_1_f32 dim=0 identities=[0.000000e+00 : f32] : "
        "tile<8xf32> -> tile<f32>",
        "(%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {",
        "yield %reduce_rhs : tile<f32>",
        "}",
    ]
)


@pytest.mark.requirement("R1-013")
@pytest.mark.parametrize(
    "written",
    [
        "dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32> "
        f"{ARGUMENTS} {{ yield %b : tile<f32> }}",
        "{axis = 0 : i32, identities = [0.0 : f32]} : tile<8xf32> -> tile<f32> "
        f"{{ {LABEL} yield %b : tile<f32> }}",
        "{axis = 0 : i32} identities=[0.0 : f32] : tile<8xf32> -> tile<f32> "
        f"{ARGUMENTS} {{ ^body: yield %b : tile<f32> }}",
    ],
)
def test_reduce(written):
    assert public(f"%r = reduce %w {written}") == REDUCED


@pytest.mark.requirement("R1-013")
def test_scan():
    body = f": tile<8xf32> -> tile<8xf32> {{ {LABEL} yield %b : tile<f32> }}"
    printed = public(
        f"%r = scan %w {{axis = 0 : i32, inclusive = true, identities = [0.0 : f32]}} {body}"
    )
    assert printed.startswith(
        "%1 = scan %cst_1_f32 dim=0 reverse=false identities=[0.000000e+00 : f32] :"
    )
    exclusive = public(
        f"%r = scan %w {{axis = 0 : i32, inclusive = false, identities = [0.0 : f32]}} {body}"
    )
    assert exclusive.startswith(
        "%1 = scan %cst_1_f32 dim=0 reverse=false inclusive=false identities=[0.000000e+00 : f32] :"
    )
    with pytest.raises(UserError, match="requires attribute 'identities'"):
        read(f"%r = scan %w {{axis = 0 : i32, inclusive = true}} {body}")


@pytest.mark.requirement("R4-045", "R4-046", "R4-035")
def test_blocks_have_names():
    body = f"""
        %i = if %c -> (tile<i32>) {{ yield %n : tile<i32> }} else {{ yield %n : tile<i32> }}
        if %c {{ }}
        for %k in (%n to %n, step %n) : tile<i32> {{ }}
        %l = loop iter_values(%s = %n) : tile<i32> -> tile<i32> {{ break %s : tile<i32> }}
        %r = reduce %w dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
        {ARGUMENTS} {{ yield %b : tile<f32> }}
    """
    assert tileiras(body).splitlines() == [
        "%1 = if %arg4 -> (tile<i32>) {",
        "^then:",
        "yield %arg2 : tile<i32>",
        "} else {",
        "^else:",
        "yield %arg2 : tile<i32>",
        "}",
        "if %arg4 {",
        "^then:",
        "yield",
        "}",
        "for %loopIdx in (%arg2 to %arg2, step %arg2) : tile<i32> {",
        "^body:",
        "continue",
        "}",
        "%2 = loop iter_values(%arg5 = %arg2) : tile<i32> -> tile<i32> {",
        "^body:",
        "break %arg5 : tile<i32>",
        "}",
        "%red = reduce %cst dim=0 identities=[0.000000e+00 : f32] : tile<8xf32> -> tile<f32>",
        "(%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {",
        "^body:",
        "yield %reduce_rhs : tile<f32>",
        "}",
    ]


@pytest.mark.requirement("R4-035")
def test_names_of_views():
    module = read("")
    printed = print_op(module, style=Style.TILEIRAS)
    assert "%view = make_tensor_view" in printed
    assert "%view_0 = make_partition_view" in printed
