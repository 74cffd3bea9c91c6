"""Forms that only NVIDIA's compiler prints: read anywhere, printed in style "tileiras"."""

from __future__ import annotations

import re
from typing import Any

import pytest
from each_case import each_case

from tilewright.bytecode.writer import write_bytecode
from tilewright.dialects.cuda_tile import CUDA_TILE
from tilewright.dialects.cuda_tile.enums import AtomicMode, MemoryOrdering, MemoryScope
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.registry import context
from tilewright.ir.attributes import UNIT, EnumAttr, IntegerAttr, StringAttr
from tilewright.ir.equivalence import equivalent
from tilewright.ir.operation import Operation
from tilewright.ir.types import I32, I64
from tilewright.ir.verifier import verify
from tilewright.support.diagnostics import Sink, UserError
from tilewright.text.parser import parse_text
from tilewright.text.printer import Style, print_op

TV = "tensor_view<?xf32, strides=[1]>"
PV = f"partition_view<tile=(8), {TV}>"
ATOMIC_TYPES = "tile<ptr<i32>>, tile<i32> -> tile<i32>, token"
MASKED_TYPES = "tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token"
PARAMETERS = "%p: tile<ptr<f32>>, %q: tile<ptr<i32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>"
PRELUDE = f"""
    %t = make_token : token
    %yes = constant <i1: true> : tile<8xi1>
    %some = constant <i1: [1, 1, 1, 0, 1, 1, 1, 1]> : tile<8xi1>
    %w = constant <f32: 1.0> : tile<8xf32>
    %tv = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> {TV}
    %v = make_partition_view %tv : {PV}
"""


def read(body: str) -> Operation:
    text = f"cuda_tile.module @m {{ entry @k({PARAMETERS}) {{ {PRELUDE} {body} }} }}"
    module = parse_text(text, context())
    verify(module)
    return module


def lines(module: Operation, style: Style = Style.PUBLIC) -> list[str]:
    """The printed lines after the prelude, without indentation."""
    printed = [line.strip() for line in print_op(module, style=style).splitlines()]
    start = next(at for at, line in enumerate(printed) if "make_partition_view" in line)
    return printed[start + 1 : -3]


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
@each_case(
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
@each_case("type", ["tile<4xptr>", "tile<8x8xptr>", "tensor<8xptr>"])
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
@each_case(
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


MASKED = {
    "load_view_tko": "load_view_tko weak %v[%n], {} : {} -> tile<8xf32>, token",
    "store_view_tko": "store_view_tko weak %v[%n], %w, {} : {}, tile<8xf32> -> token",
}


@pytest.mark.requirement("R4-005", "R4-011", "R4-042")
@each_case("style", Style)
@each_case("name", MASKED)
def test_masks_on_views_survive_a_round_trip(name, style):
    module = read(MASKED[name].format("%some", PV))
    again = parse_text(print_op(module, style=style), context())
    assert equivalent(module, again)
    access: Any = token_ordered(again, name)
    constant = access.mask.defining_op()
    assert constant.value.elements() == [1, 1, 1, 0, 1, 1, 1, 1]


@pytest.mark.requirement("R4-011")
@pytest.mark.parametrize("name", MASKED)
def test_a_mask_has_the_shape_of_the_tile(name):
    message = "expected a mask of type '!cuda_tile.tile<8xi1>', got '!cuda_tile.tile<i1>'"
    with pytest.raises(UserError, match=re.escape(message)):
        read(MASKED[name].format("%c", PV))


@pytest.mark.parametrize("name", MASKED)
def test_masks_on_views_have_no_bytecode(name):
    module = read(MASKED[name].format("%some", PV))
    (tiles,) = [op for op in module.walk() if isinstance(op, ModuleOp)]
    with pytest.raises(UserError, match="'mask' has no form in the bytecode"):
        write_bytecode(tiles)


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
@each_case(
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


TOKEN_ORDERED = {
    "load_ptr_tko": "%a, %b = load_ptr_tko acquire device %q, %c, %n token=%t : "
    "tile<ptr<i32>>, tile<i1>, tile<i32> -> tile<i32>, token",
    "store_ptr_tko": "%b = store_ptr_tko release sys %q, %n, %c token=%t : "
    "tile<ptr<i32>>, tile<i32>, tile<i1> -> token",
    "load_view_tko": "%a, %b = load_view_tko acquire device %v[%n], %some token=%t : "
    f"{PV}, tile<i32> -> tile<8xf32>, token",
    "store_view_tko": "%b = store_view_tko release sys %w, %v[%n], %some token=%t : "
    f"tile<8xf32>, {PV}, tile<i32> -> token",
    "atomic_cas_tko": "%a, %b = atomic_cas_tko acq_rel device %q, %n, %n, %c token=%t : "
    f"{MASKED_TYPES}",
    "atomic_rmw_tko": "%a, %b = atomic_rmw_tko relaxed tl_blk %q, umax, %n, %c token=%t : "
    f"{MASKED_TYPES}",
    "atomic_red_view_tko": "%b = atomic_red_view_tko relaxed device %v[%n], addf, %w token=%t : "
    f"tile<8xf32>, {PV}, tile<i32> -> token",
    "multimem_load_reduce_view_tko": "%a, %b = multimem_load_reduce_view_tko acquire sys %v[%n], "
    f"add token=%t : {PV}, tile<i32> -> tile<8xf32>, token",
    "multimem_reduce_view_tko": "%b = multimem_reduce_view_tko release device %v[%n], add, %w "
    f"token=%t : tile<8xf32>, {PV}, tile<i32> -> token",
    "multimem_store_view_tko": "%b = multimem_store_view_tko relaxed sys %w, %v[%n] token=%t : "
    f"tile<8xf32>, {PV}, tile<i32> -> token",
}
"""Every operation with a memory ordering, with every optional operand."""

ATTRIBUTES = {
    "load_ptr_tko": {"memory_ordering_semantics": "acquire", "memory_scope": "device"},
    "store_ptr_tko": {"memory_ordering_semantics": "release", "memory_scope": "sys"},
    "load_view_tko": {"memory_ordering_semantics": "acquire", "memory_scope": "device"},
    "store_view_tko": {"memory_ordering_semantics": "release", "memory_scope": "sys"},
    "atomic_cas_tko": {"memory_ordering_semantics": "acq_rel", "memory_scope": "device"},
    "atomic_rmw_tko": {
        "memory_ordering_semantics": "relaxed", "memory_scope": "tl_blk", "mode": "umax"
    },
    "atomic_red_view_tko": {
        "memory_ordering_semantics": "relaxed", "memory_scope": "device", "mode": "addf"
    },
    "multimem_load_reduce_view_tko": {
        "memory_ordering_semantics": "acquire", "memory_scope": "sys", "reduction": "add"
    },
    "multimem_reduce_view_tko": {
        "memory_ordering_semantics": "release", "memory_scope": "device", "reduction": "add"
    },
    "multimem_store_view_tko": {"memory_ordering_semantics": "relaxed", "memory_scope": "sys"},
}  # fmt: skip
"""The attributes that each of them prints as keywords."""


def token_ordered(module: Operation, name: str) -> Operation:
    (op,) = [op for op in module.walk() if op.name == f"cuda_tile.{name}"]
    return op


def word(op: Operation, key: str, style: Style = Style.PUBLIC) -> str:
    """The keyword of an attribute in a style."""
    member = op.attributes[key]
    assert isinstance(member, EnumAttr)
    return member.keyword_in(style.value)


def test_every_ordered_operation_is_there():
    ordered = [n for n, k in CUDA_TILE.ops.items() if "ordering" in k.schema.by_name]
    assert {name.removeprefix("cuda_tile.") for name in ordered} == TOKEN_ORDERED.keys()


@pytest.mark.requirement("R4-005")
@each_case("style", Style)
@each_case("name", TOKEN_ORDERED)
def test_ordering_scope_mode_mask_and_tokens_are_visible(name, style):
    module = read(TOKEN_ORDERED[name])
    op = token_ordered(module, name)
    (line,) = lines(module, style)
    ordering, scope, *mode = (word(op, key, style) for key in ATTRIBUTES[name])
    assert re.search(rf"{name} {ordering} {scope} ", line)
    assert all(re.search(rf" {each}[, ]", line) for each in mode)
    operands, _, types = line.partition(" : ")
    if "mask" in op.schema.by_name:
        assert re.search(rf", {'%cst_i1' if 'view' in name else '%arg4'}\b", operands)
        # The mask of a view has the shape of its tiles, which the type of the view contains.
        assert "view" in name or "tile<i1>" in types.partition("->")[0]
    assert re.search(r"token ?= ?%0$", operands)
    assert types.partition("->")[2].rpartition(" ")[2] == "token"


ELIDED = {
    "load_view_tko": ("addr_space", "align", "token"),
    "store_view_tko": ("addr_space", "align", "token"),
    "atomic_cas_tko": ("success_ordering", "failure_ordering", "token"),
    "atomic_rmw_tko": ("ordering", "kind", "token"),
}
KEYS = (
    "memory_ordering_semantics", "memory_scope", "operandSegmentSizes", "mode", "optimization_hints"
)  # fmt: skip
"""The attributes that no printed dictionary of these operations contains."""


@pytest.mark.requirement("R4-015", "R4-038", "R4-039", "R4-040")
@each_case("name", ELIDED)
def test_keys_left_out_of_dictionaries(name):
    module = read(TOKEN_ORDERED[name])
    op = token_ordered(module, name)
    plain = {style: lines(module, style) for style in Style}
    remarks = {*ELIDED[name], *KEYS} - {field.spelling for field in op.schema.attributes}
    for key in remarks:
        op.attributes[key] = StringAttr("remark")
    assert all("{" not in line for line in lines(module, Style.TILEIRAS))
    assert all(f'{key} = "remark"' in lines(module)[0] for key in remarks)
    op.attributes["other"] = StringAttr("remark")
    assert '{other = "remark"}' in lines(module, Style.TILEIRAS)[0]
    for printed in (*plain[Style.PUBLIC], *plain[Style.TILEIRAS]):
        assert "{" not in printed


@pytest.mark.requirement("R4-042", "R4-016")
@each_case("style", Style)
@each_case("name", TOKEN_ORDERED)
def test_left_out_attributes_are_rebuilt_from_the_fields(name, style):
    """Ordering, scope and mode from keywords, the sizes of operand groups from the operands."""
    module = read(TOKEN_ORDERED[name])
    text = print_op(module, style=style)
    again = token_ordered(parse_text(text, context()), name)
    assert {key: word(again, key) for key in ATTRIBUTES[name]} == ATTRIBUTES[name]
    op = token_ordered(module, name)
    assert again.attributes == op.attributes
    assert again.segments == op.segments
    assert [value.type for value in again.operands] == [value.type for value in op.operands]


@pytest.mark.requirement("R4-042")
@each_case("style", Style)
@each_case("name", ELIDED)
def test_attributes_left_out_of_dictionaries_survive_the_round_trip(name, style):
    """Also those that the operation does not declare, with values of any type."""
    module = read(TOKEN_ORDERED[name])
    op = token_ordered(module, name)
    keys = [*ELIDED[name], "operandSegmentSizes", "mode", "other"]
    values = [StringAttr("acquire"), IntegerAttr(16, I32), UNIT, IntegerAttr(7, I64), *[UNIT] * 2]
    undeclared = [key for key in keys if key not in op.schema.inherent]
    op.attributes.update(zip(undeclared, values, strict=False))
    again = token_ordered(parse_text(print_op(module, style=style), context()), name)
    assert again.attributes == op.attributes
    assert undeclared[0] in again.attributes


@pytest.mark.requirement("R4-017", "R4-016")
@each_case("word", ["weak", "relaxed", "acquire", "release", "acq_rel", "seq_cst"])
def test_orderings(word):
    scope = "" if word == "weak" else " device"
    kind = "store_ptr_tko" if word == "release" else "load_ptr_tko"
    types = {
        "load_ptr_tko": ("%q", ": tile<ptr<i32>> -> tile<i32>, token"),
        "store_ptr_tko": ("%q, %n", ": tile<ptr<i32>>, tile<i32> -> token"),
    }
    if word == "acq_rel":
        kind, form = (
            "atomic_rmw_tko",
            ("%q, add, %n", ": tile<ptr<i32>>, tile<i32> -> tile<i32>, token"),
        )
    else:
        form = types[kind]
    module = read(f"{kind} {word}{scope} {form[0]} {form[1]}")
    (op,) = [op for op in module.walk() if op.name == f"cuda_tile.{kind}"]
    assert op.attributes["memory_ordering_semantics"] is MemoryOrdering.from_keyword(word)
    assert f"{kind} {word}{scope} %arg1" in lines(module)[0]


@pytest.mark.requirement("R4-018")
@each_case("word", ["tl_blk", "cluster", "gpu", "sys"])
def test_scopes(word):
    module = read(f"load_ptr_tko relaxed {word} %q : tile<ptr<i32>> -> tile<i32>, token")
    (op,) = [op for op in module.walk() if op.name == "cuda_tile.load_ptr_tko"]
    assert op.attributes["memory_scope"] is MemoryScope.from_keyword(word)
    assert f"load_ptr_tko relaxed {word} %arg1" in lines(module, Style.TILEIRAS)[0]


@pytest.mark.requirement("R4-019")
@each_case("mode", AtomicMode)
def test_modes(mode):
    operands = (
        "%p, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>"
        if mode is AtomicMode.ADDF
        else "%q, %n : tile<ptr<i32>>, tile<i32> -> tile<i32>"
    )
    body = f"atomic_rmw_tko relaxed sys {mode.keyword} {operands}, token"
    text = f"cuda_tile.module @m {{ entry @k({PARAMETERS}) {{ {body} }} }}"
    module = parse_text(text, context())
    assert f"sys {mode.keyword} %arg" in print_op(module, style=Style.TILEIRAS)
    assert f", {mode.keyword}, %arg" in print_op(module)
    sink = Sink()
    verify(module, sink)
    # An exchange that compares takes two values, and this operation has one.
    assert [error.message for error in sink.errors] == (
        [
            "'cuda_tile.atomic_rmw_tko' op expected a mode of one value, got cmpxchg: "
            "'cuda_tile.atomic_cas_tko' takes two"
        ]
        if mode is AtomicMode.CMPXCHG
        else []
    )


@pytest.mark.requirement("R4-035")
def test_names_of_views():
    module = read("")
    printed = print_op(module, style=Style.TILEIRAS)
    assert "%view = make_tensor_view" in printed
    assert "%view_0 = make_partition_view" in printed
