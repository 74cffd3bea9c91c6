"""Rules of shape operations, splats, `extract` and `assume`."""

from __future__ import annotations

import numpy as np
import pytest
from each_case import each_case
from hypothesis import given, settings
from hypothesis import strategies as st
from tileaa_programs import kernel, run, same, simplified, stays, use

from tilewright.ir.attributes import DenseElementsAttr
from tilewright.ir.rules import constant_of

SCALARS = "%x: f32, %y: f32, %c: i1, %n: i32, %i: i32, %j: i32"


def splat(name: str, type: str, source: str = "x") -> str:
    return f"%{name} = aa.splat %{source} : f32 -> {type}\n"


@pytest.mark.requirement("R2-023", "R2-024", "R2-025", "R2-026")
@each_case(
    ("wrapper", "type"),
    [
        ("%r = aa.view %s : tensor<4x1xf32> -> tensor<2x2xf32>", "tensor<2x2xf32>"),
        ("%r = aa.broadcast %s : tensor<4x1xf32> -> tensor<4x8xf32>", "tensor<4x8xf32>"),
        (
            "%r = aa.expand_dims %s {axis = 1 : i64} : tensor<4x1xf32> -> tensor<4x1x1xf32>",
            "tensor<4x1x1xf32>",
        ),
        ("%r = aa.permute %s [1, 0] : tensor<4x1xf32> -> tensor<1x4xf32>", "tensor<1x4xf32>"),
        (
            "%r = aa.extract_slice %s[%n, %n] : tensor<4x1xf32> -> tensor<2x1xf32>",
            "tensor<2x1xf32>",
        ),
    ],
)
def test_a_wrapped_splat_is_a_splat(wrapper: str, type: str) -> None:
    body = splat("s", "tensor<4x1xf32>") + f"{wrapper}\n" + use(f"%r : {type}")
    assert same(body, splat("r", type) + use(f"%r : {type}"), SCALARS)


@pytest.mark.requirement("R2-022", "R2-026")
def test_a_chain_of_views_becomes_one() -> None:
    body = "%a = aa.view %t : tensor<8x4xf32> -> tensor<32xf32>\n"
    body += "%b = aa.view %a : tensor<32xf32> -> tensor<2x16xf32>\n"
    body += "%r = aa.view %b : tensor<2x16xf32> -> tensor<4x8xf32>\n"
    expected = "%r = aa.view %t : tensor<8x4xf32> -> tensor<4x8xf32>\n"
    result = use("%r : tensor<4x8xf32>")
    assert same(body + result, expected + result, "%t: tensor<8x4xf32>")


@pytest.mark.requirement("R2-022", "R2-026")
def test_a_view_that_undoes_another_is_dropped() -> None:
    body = "%a = aa.view %t : tensor<8x4xf32> -> tensor<32xf32>\n"
    body += "%r = aa.view %a : tensor<32xf32> -> tensor<8x4xf32>\n" + use("%r : tensor<8x4xf32>")
    assert same(body, use("%t : tensor<8x4xf32>"), "%t: tensor<8x4xf32>")


@pytest.mark.requirement("R2-022")
@pytest.mark.parametrize(
    "between",
    [
        "%a = aa.permute %t [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>",
        "%a = aa.negf %v : tensor<4x8xf32>",
    ],
)
def test_a_view_of_something_else_stays(between: str) -> None:
    body = f"{between}\n%r = aa.view %a : tensor<4x8xf32> -> tensor<32xf32>\n"
    assert stays(body + use("%r : tensor<32xf32>"), "%t: tensor<8x4xf32>, %v: tensor<4x8xf32>")


@pytest.mark.requirement("R2-024", "R2-025")
def test_wrappers_of_other_tiles_stay() -> None:
    body = "%a = aa.expand_dims %t {axis = 1 : i64} : tensor<4xf32> -> tensor<4x1xf32>\n"
    body += "%b = aa.broadcast %a : tensor<4x1xf32> -> tensor<4x8xf32>\n"
    assert stays(body + use("%b : tensor<4x8xf32>"), "%t: tensor<4xf32>")


@pytest.mark.requirement("R2-014")
def test_a_splat_of_a_select_is_a_select_of_splats() -> None:
    body = "%s = aa.select %c, %x, %y : i1, f32\n" + splat("r", "tensor<4x8xf32>", "s")
    expected = "%a = aa.splat %c : i1 -> tensor<4x8xi1>\n" + splat("b", "tensor<4x8xf32>")
    expected += splat("d", "tensor<4x8xf32>", "y")
    expected += "%r = aa.select %a, %b, %d : tensor<4x8xi1>, tensor<4x8xf32>\n"
    result = use("%r : tensor<4x8xf32>")
    assert same(body + result, expected + result, SCALARS)


@pytest.mark.requirement("R2-014")
def test_splats_of_unequal_shapes_make_no_choice() -> None:
    text = "%a = aa.splat %c : i1 -> tensor<4xi1>\n" + splat("b", "tensor<4x8xf32>")
    text += "%r = aa.select %a, %b, %b : tensor<4xi1>, tensor<4x8xf32>\n"
    with pytest.raises(Exception, match="same shape"):
        kernel(text, SCALARS)
    body = "%s = aa.addf %x, %y : f32\n" + splat("r", "tensor<4xf32>", "s")
    assert stays(body + use("%r : tensor<4xf32>"), SCALARS)


@pytest.mark.requirement("R2-012")
@pytest.mark.parametrize("predicate", ["#aa.div_by<16>", "#aa.bounded<0, ?>"])
def test_an_elementwise_assumption_is_hoisted_through_the_splat(predicate: str) -> None:
    body = "%s = aa.splat %n : i32 -> tensor<4xi32>\n"
    body += f"%r = aa.assume {predicate}, %s : tensor<4xi32>\n"
    expected = f"%a = aa.assume {predicate}, %n : i32\n%r = aa.splat %a : i32 -> tensor<4xi32>\n"
    result = use("%r : tensor<4xi32>")
    assert same(body + result, expected + result, SCALARS)


@pytest.mark.requirement("R2-013")
@pytest.mark.parametrize("predicate", ["#aa.div_by<16, every 4 along 0>", "#aa.same_elements<[2]>"])
def test_an_assumption_about_indices_stays(predicate: str) -> None:
    body = "%s = aa.splat %n : i32 -> tensor<4xi32>\n"
    body += f"%r = aa.assume {predicate}, %s : tensor<4xi32>\n"
    assert stays(body + use("%r : tensor<4xi32>"), SCALARS)


@pytest.mark.requirement("R2-012")
def test_an_assumption_about_another_tile_stays() -> None:
    body = "%s = aa.addi %t, %t : tensor<4xi32>\n%r = aa.assume #aa.div_by<2>, %s : tensor<4xi32>\n"
    assert stays(body + use("%r : tensor<4xi32>"), "%t: tensor<4xi32>")


def test_repeated_assumptions_and_those_about_constants_are_dropped() -> None:
    body = "%k = arith.constant 32 : i32\n%a = aa.assume #aa.div_by<16>, %k : i32\n"
    body += "%b = aa.assume #aa.div_by<8>, %n : i32\n%d = aa.assume #aa.div_by<8>, %b : i32\n"
    expected = "%k = arith.constant 32 : i32\n%b = aa.assume #aa.div_by<8>, %n : i32\n"
    text = body + use("%a : i32", "%d : i32")
    assert same(text, expected + use("%k : i32", "%b : i32"), SCALARS)


def test_an_assumption_repeated_in_a_chain_is_dropped() -> None:
    body = "%a = aa.assume #aa.div_by<8>, %n : i32\n%b = aa.assume #aa.bounded<0, ?>, %a : i32\n"
    again = "%d = aa.assume #aa.div_by<8>, %b : i32\n"
    assert same(body + again + use("%d : i32"), body + use("%b : i32"), SCALARS)
    other = "%d = aa.assume #aa.div_by<16>, %b : i32\n"
    assert stays(body + other + use("%d : i32"), SCALARS)


TILES = "%t: tensor<4x8xf32>, %u: tensor<4x8xf32>, %q: tensor<8xf32>, %i: i32, %j: i32"


def extract(name: str, source: str, type: str, indices: str = "%i, %j") -> str:
    return f"%{name} = aa.extract %{source}[{indices}] : {type} -> f32\n"


@pytest.mark.requirement("R2-027")
def test_an_element_of_a_sum_is_the_sum_of_elements() -> None:
    body = "%s = aa.addf %t, %u : tensor<4x8xf32>\n" + extract("r", "s", "tensor<4x8xf32>")
    expected = extract("a", "t", "tensor<4x8xf32>") + extract("b", "u", "tensor<4x8xf32>")
    expected += "%r = aa.addf %a, %b : f32\n"
    assert same(body + use("%r : f32"), expected + use("%r : f32"), TILES)


@pytest.mark.requirement("R2-027")
def test_attributes_of_the_operation_stay() -> None:
    body = "%s = aa.mulf %t, %u rounding<zero> flush_to_zero : tensor<4x8xf32>\n"
    body += extract("r", "s", "tensor<4x8xf32>") + use("%r : f32")
    lines = simplified(body, TILES)
    assert lines[2] == "%2 = nv_tileaa.mulf %0, %1 rounding<zero> flush_to_zero : f32"


@pytest.mark.requirement("R2-027")
def test_conversions_of_arith_are_passed_too() -> None:
    body = "%s = arith.sitofp %n : tensor<4xi32> to tensor<4xf32>\n"
    body += extract("r", "s", "tensor<4xf32>", "%i") + use("%r : f32")
    expected = "%a = aa.extract %n[%i] : tensor<4xi32> -> i32\n"
    expected += "%r = arith.sitofp %a : i32 to f32\n" + use("%r : f32")
    assert same(body, expected, "%n: tensor<4xi32>, %i: i32")


@pytest.mark.requirement("R2-027")
def test_an_added_dimension_has_no_index() -> None:
    body = "%s = aa.expand_dims %q {axis = 0 : i64} : tensor<8xf32> -> tensor<1x8xf32>\n"
    body += extract("r", "s", "tensor<1x8xf32>") + use("%r : f32")
    assert same(body, extract("r", "q", "tensor<8xf32>", "%j") + use("%r : f32"), TILES)


@pytest.mark.requirement("R2-027")
@each_case(
    "maker",
    [
        "%w = aa.expand_dims %q {axis = 0 : i64} : tensor<8xf32> -> tensor<1x8xf32>\n"
        "%s = aa.broadcast %w : tensor<1x8xf32> -> tensor<4x8xf32>\n",
        '%s = aa.elementwise_inline_asm "add", "=r,r"(%t) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n',
        "%s = aa.permute %p [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>\n",
    ],
)
def test_operations_that_are_not_elementwise_stay(maker: str) -> None:
    body = maker + extract("r", "s", "tensor<4x8xf32>") + use("%r : f32")
    assert stays(body, f"{TILES}, %p: tensor<8x4xf32>")


def test_a_tile_that_is_needed_as_a_whole_is_not_computed_twice() -> None:
    body = "%s = aa.addf %t, %u : tensor<4x8xf32>\n" + extract("r", "s", "tensor<4x8xf32>")
    assert stays(body + use("%r : f32", "%s : tensor<4x8xf32>"), TILES)


def test_an_element_of_a_view_has_the_same_linear_index() -> None:
    body = "%k1 = arith.constant 1 : i32\n%k3 = arith.constant 3 : i32\n"
    body += "%v = aa.view %q : tensor<8xf32> -> tensor<2x4xf32>\n"
    body += extract("r", "v", "tensor<2x4xf32>", "%k1, %k3") + use("%r : f32")
    expected = "%k7 = arith.constant 7 : i32\n" + extract("r", "q", "tensor<8xf32>", "%k7")
    assert same(body, expected + use("%r : f32"), TILES)
    unknown = "%v = aa.view %q : tensor<8xf32> -> tensor<2x4xf32>\n"
    assert stays(unknown + extract("r", "v", "tensor<2x4xf32>") + use("%r : f32"), TILES)


def test_an_element_of_a_splat_is_its_scalar() -> None:
    body = splat("s", "tensor<4x8xf32>") + extract("r", "s", "tensor<4x8xf32>") + use("%r : f32")
    assert same(body, use("%x : f32"), SCALARS)


def folded(body: str, type: str) -> np.ndarray:
    """The elements of the i32 constant that a program folds to, in row-major order."""
    function = run(kernel(body + use(f"%r : {type}")))
    (value,) = next(op for op in function.walk() if op.name.endswith("barrier")).operands
    constant = constant_of(value)
    assert isinstance(constant, DenseElementsAttr)
    assert str(constant.type) == type
    count = int(np.prod([int(extent) for extent in type[7:-1].split("x")[:-1]]))
    elements = np.frombuffer(constant.data, np.int32)
    return np.broadcast_to(elements, count) if len(elements) == 1 else elements


def literal(name: str, values: np.ndarray) -> str:
    shape = "x".join(map(str, values.shape))
    return f"%{name} = arith.constant dense<{values.tolist()}> : tensor<{shape}xi32>\n"


@pytest.mark.requirement("R2-026")
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_shape_operations_on_constants_match_numpy(seed: int, equal: bool) -> None:
    rng = np.random.default_rng(seed)
    low = 1000 if equal else 0
    a, b = (rng.integers(low, 1001, shape).astype(np.int32) for shape in ((4, 2, 8), (4, 6, 8)))
    one = rng.integers(low, 1001, (4, 1, 8)).astype(np.int32)
    order = [int(dim) for dim in rng.permutation(3)]
    turned = "x".join(str(a.shape[dim]) for dim in order)
    row, column = int(rng.integers(2)), int(rng.integers(4))
    at = f"%zr = arith.constant {row} : i32\n%zc = arith.constant {column} : i32\n"
    at += "%z0 = arith.constant 0 : i32\n"
    part = a[2 * row : 2 * row + 2, :, 2 * column : 2 * column + 2]
    inserted = a.copy()
    inserted[2 * row : 2 * row + 2, :, 2 * column : 2 * column + 2] = 7
    seven = "%s7 = arith.constant 7 : i32\n%s = aa.splat %s7 : i32 -> tensor<2x2x2xi32>\n"
    whole = "tensor<4x2x8xi32>"
    cases = [
        (f"%r = aa.view %a : {whole} -> tensor<8x8xi32>\n", "tensor<8x8xi32>", a),
        (
            f"%r = aa.permute %a {order} : {whole} -> tensor<{turned}xi32>\n",
            f"tensor<{turned}xi32>",
            a.transpose(order),
        ),
        (
            "%r = aa.broadcast %o : tensor<4x1x8xi32> -> tensor<4x2x8xi32>\n",
            whole,
            np.broadcast_to(one, a.shape),
        ),
        (
            f"%r = aa.cat %a, %b axis = 1 : {whole}, tensor<4x6x8xi32> -> tensor<4x8x8xi32>\n",
            "tensor<4x8x8xi32>",
            np.concatenate([a, b], 1),
        ),
        (
            f"{at}%r = aa.extract_slice %a[%zr, %z0, %zc] : {whole} -> tensor<2x2x2xi32>\n",
            "tensor<2x2x2xi32>",
            part,
        ),
        (
            f"{at}{seven}%r = aa.insert_slice %s, %a[%zr, %z0, %zc] : tensor<2x2x2xi32>, {whole}\n",
            whole,
            inserted,
        ),
    ]
    known = literal("a", a) + literal("b", b) + literal("o", one)
    for text, type, expected in cases:
        np.testing.assert_array_equal(folded(known + text, type), expected.ravel())


@pytest.mark.parametrize("index", ["4", "-1"])
def test_a_slice_out_of_bounds_of_a_constant_is_not_folded(index: str) -> None:
    body = literal("a", np.arange(8, dtype=np.int32)) + f"%z = arith.constant {index} : i32\n"
    body += "%r = aa.extract_slice %a[%z] : tensor<8xi32> -> tensor<2xi32>\n"
    lines = simplified(body + use("%r : tensor<2xi32>"))
    assert any("extract_slice" in line for line in lines)


def test_bytes_of_constants_are_read_and_written() -> None:
    numbers = np.array([0x04030201, 0x08070605], np.int32)
    body = literal("a", numbers) + "%p = aa.pack %a : tensor<2xi32> -> tensor<8xi8>\n"
    body += "%r = aa.unpack %p : tensor<8xi8> -> tensor<2xi32>\n"
    np.testing.assert_array_equal(folded(body, "tensor<2xi32>"), numbers)


def test_elements_of_ranges_and_constants_are_known() -> None:
    body = "%k2 = arith.constant 2 : i32\n%m = aa.make_range {start = 5 : i64} : tensor<4xi32>\n"
    body += "%a = aa.extract %m[%k2] : tensor<4xi32> -> i32\n"
    body += literal("c", np.array([9, 8, 7, 6], np.int32))
    body += "%b = aa.extract %c[%k2] : tensor<4xi32> -> i32\n" + use("%a : i32", "%b : i32")
    expected = "%k = arith.constant 7 : i32\n" + use("%k : i32", "%k : i32")
    assert same(body, expected)


def test_a_constant_select_is_folded() -> None:
    body = "%k = arith.constant true\n%a = aa.select %k, %x, %y : i1, f32\n"
    body += "%b = aa.select %c, %y, %y : i1, f32\n" + use("%a : f32", "%b : f32")
    assert same(body, use("%x : f32", "%y : f32"), SCALARS)
    mask = "%m = arith.constant dense<[true, false]> : tensor<2xi1>\n"
    body = mask + literal("a", np.array([1, 2])) + literal("b", np.array([3, 4]))
    body += "%r = aa.select %m, %a, %b : tensor<2xi1>, tensor<2xi32>\n"
    np.testing.assert_array_equal(folded(body, "tensor<2xi32>"), [1, 4])


@pytest.mark.parametrize(("type", "number"), [("i32", "64"), ("i64", "64")])
def test_static_extents_are_known(type: str, number: str) -> None:
    memref = "!aa.memref<?x64xf32, strides = [64, 1]>"
    body = f"%r = aa.get_dim_size %m 1 : {memref} -> {type}\n" + use(f"%r : {type}")
    expected = f"%r = arith.constant {number} : {type}\n" + use(f"%r : {type}")
    assert same(body, expected, f"%m: {memref}")
    body = f"%r = aa.get_dim_size %m 0 : {memref} -> {type}\n" + use(f"%r : {type}")
    assert stays(body, f"%m: {memref}")
