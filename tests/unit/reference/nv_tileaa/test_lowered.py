"""Attributes of Tile IR ops keep their semantics in the lowering to nv_tileaa."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from each_case import each_case
from run_random import NV_TILEAA, changed

import tilewright
from tilewright.ir.operation import Operation

RELATIONS = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less_than": np.less,
    "less_than_or_equal": np.less_equal,
    "greater_than": np.greater,
    "greater_than_or_equal": np.greater_equal,
}
FLOATS = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 3.0], np.float32)
INTEGERS = np.array([0, 1, -1, 127, -128, 64, 3, -3], np.int8)


def lowered(parameters: str, body: str) -> list[Operation]:
    """Lower a kernel to nv_tileaa; return it before and after canonicalization."""
    text = f"cuda_tile.module @m {{ entry @k({parameters}) {{\n{body}\nreturn\n}} }}"
    return [changed(tilewright.read(text), passes) for passes in NV_TILEAA]


def mapped(body: str, source: str, target: str, given: list[Any], result: Any) -> None:
    """Run a body from tiles %a and %b of 64 elements to %r, and expect a result."""
    loads = [
        f"""%p{name} = reshape %{name}0 : tile<ptr<{kind}>> -> tile<1xptr<{kind}>>
        %q{name} = broadcast %p{name} : tile<1xptr<{kind}>> -> tile<64xptr<{kind}>>
        %s{name} = offset %q{name}, %i : tile<64xptr<{kind}>>, tile<64xi32> -> tile<64xptr<{kind}>>
        """
        for name, kind in (("a", source), ("b", source), ("r", target))
    ]
    reads = [
        f"%{name}, %t{name} = load_ptr_tko weak %s{name} : tile<64xptr<{source}>> "
        f"-> tile<64x{source}>, token"
        for name in ("a", "b")
    ]
    write = f"%t = store_ptr_tko weak %sr, %r : tile<64xptr<{target}>>, tile<64x{target}> -> token"
    parameters = f"%a0: tile<ptr<{source}>>, %b0: tile<ptr<{source}>>, %r0: tile<ptr<{target}>>"
    lines = "\n".join(["%i = iota : tile<64xi32>", *loads, *reads, body, write])
    for program in lowered(parameters, lines):
        out = np.zeros_like(result)
        tilewright.execute(program, "k", 1, [*[np.array(each) for each in given], out])
        np.testing.assert_array_equal(out, result)


def pairs(values: Any) -> list[Any]:
    """Return all 64 pairs of eight values."""
    columns = zip(*product(values, values), strict=True)
    return [np.array(column, values.dtype) for column in columns]


@pytest.mark.requirement("R1-049")
@each_case("ordering", ["ordered", "unordered"])
@each_case("name", RELATIONS)
def test_comparisons_of_floats(name: str, ordering: str) -> None:
    a, b = pairs(FLOATS)
    neither = np.isnan(a) | np.isnan(b)
    holds = RELATIONS[name](a, b)
    expected = holds | neither if ordering == "unordered" else holds & ~neither
    body = f"%r = cmpf {name} {ordering} %a, %b : tile<64xf32> -> tile<64xi1>"
    mapped(body, "f32", "i1", [a, b], expected)


@pytest.mark.requirement("R1-049")
@each_case("sign", ["signed", "unsigned"])
@each_case("name", RELATIONS)
def test_comparisons_of_integers(name: str, sign: str) -> None:
    a, b = pairs(INTEGERS)
    kind = np.int8 if sign == "signed" else np.uint8
    body = f"%r = cmpi {name} %a, %b, {sign} : tile<64xi8> -> tile<64xi1>"
    mapped(body, "i8", "i1", [a, b], RELATIONS[name](a.view(kind), b.view(kind)))


@pytest.mark.requirement("R1-050")
@pytest.mark.parametrize(("sign", "kind"), [("signed", np.int8), ("unsigned", np.uint8)])
def test_shifts_extensions_and_conversions_read_the_sign(sign: str, kind: Any) -> None:
    a, b = pairs(INTEGERS)
    two = "%two = constant <i8: 2> : tile<64xi8>\n"
    shifted = (a.view(kind) >> 2).view(np.int8)
    mapped(f"{two}%r = shri %a, %two {sign} : tile<64xi8>", "i8", "i8", [a, b], shifted)
    body = f"%r = exti %a {sign} : tile<64xi8> -> tile<64xi16>"
    mapped(body, "i8", "i16", [a, b], a.view(kind).astype(np.int16))
    body = f"%r = itof %a {sign} : tile<64xi8> -> tile<64xf32>"
    mapped(body, "i8", "f32", [a, b], a.view(kind).astype(np.float32))


@pytest.mark.requirement("R1-050")
@each_case(
    ("overflow", "flags"),
    [("", ""), ("overflow<no_signed_wrap>", " nsw"), ("overflow<no_unsigned_wrap>", " nuw")],
)
def test_overflow_flags_reach_llvm(overflow: str, flags: str) -> None:
    text = f"""cuda_tile.module @m {{ entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>) {{
      %s = addi %x, %y {overflow} : tile<i32>
      %t = store_ptr_tko weak %p, %s : tile<ptr<i32>>, tile<i32> -> token
      return
    }} }}"""
    compiled = tilewright.compile(text, "sm_90", 0, emit="ptx")
    assert f" = add{flags} i32 " in compiled.stages["llvm"]


@pytest.mark.requirement("R1-051")
@pytest.mark.parametrize("mode", ["nearest_even", "zero"])
def test_rounding_modes_of_ftof(mode: str) -> None:
    a, b = pairs(np.array([1 + 3 * 2.0**-11, -1 - 3 * 2.0**-11, 1, 2049, 2051, -0.1, 65519, 0]))
    a, b = a.astype(np.float32), b.astype(np.float32)
    expected = a.astype(np.float16)
    if mode == "zero":
        too_large = np.abs(expected.astype(np.float64)) > np.abs(a.astype(np.float64))
        expected = np.where(too_large, np.nextafter(expected, np.float16(0)), expected)
    body = f"%r = ftof %a rounding<{mode}> : tile<64xf32> -> tile<64xf16>"
    mapped(body, "f32", "f16", [a, b], expected)


PADDINGS = {"zero": 0.0, "neg_zero": -0.0, "nan": np.nan, "pos_inf": np.inf, "neg_inf": -np.inf}


@pytest.mark.requirement("R1-051")
@each_case("padding", PADDINGS)
def test_out_of_bounds_elements_read_as_the_padding(padding: str) -> None:
    tensor = "tensor_view<5xf32, strides=[1]>"
    view = f"partition_view<tile=(8), padding_value = {padding}, {tensor}>"
    whole = "partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>"
    body = f"""%zero = constant <i32: 0> : tile<i32>
    %t = make_tensor_view %a, shape = [5], strides = [1] : {tensor}
    %v = make_partition_view %t : {view}
    %x, %t0 = load_view_tko weak %v[%zero] : {view}, tile<i32> -> tile<8xf32>, token
    %u = make_tensor_view %r, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %w = make_partition_view %u : {whole}
    %t1 = store_view_tko weak %x, %w[%zero] : tile<8xf32>, {whole}, tile<i32> -> token"""
    for program in lowered("%a: tile<ptr<f32>>, %r: tile<ptr<f32>>", body):
        given, out = np.arange(1, 9, dtype=np.float32), np.zeros(8, np.float32)
        tilewright.execute(program, "k", 1, [given, out])
        np.testing.assert_array_equal(out, [1, 2, 3, 4, 5, *[PADDINGS[padding]] * 3])
        assert np.signbit(out[7]) == np.signbit(PADDINGS[padding])
