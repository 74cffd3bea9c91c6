"""Attributes are unique values that cannot be changed."""

from __future__ import annotations

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from each_case import each_case
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir import attributes
from tilewright.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseElementsAttr,
    DictionaryAttr,
    EnumAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
)
from tilewright.ir.types import F32, I8, I32, FunctionType, IntegerType, TensorType, VectorType
from tilewright.support.diagnostics import InvalidValue


class Color(EnumAttr, mnemonic="toy.color"):
    RED = 0
    DARK_RED = 1


def leaves() -> st.SearchStrategy[Attribute]:
    return st.one_of(
        # An alphabet: Hypothesis would need seconds to make its table of all of Unicode.
        st.text('aA"\\\n\0\u00e9\u20ac\U0001d7d8', max_size=4).map(StringAttr),
        st.integers(-8, 7).map(lambda n: IntegerAttr(n, I32)),
        st.sampled_from([I32, F32]).map(TypeAttr),
        st.sampled_from(Color),
    )


def any_attribute() -> st.SearchStrategy[Attribute]:
    return st.recursive(
        leaves(), lambda inner: st.lists(inner, max_size=3).map(lambda e: ArrayAttr(tuple(e)))
    )


@settings(max_examples=50)
@given(any_attribute())
def test_copies_of_an_attribute_are_the_attribute(attribute: Attribute) -> None:
    assert copy.deepcopy(attribute) is attribute
    assert pickle.loads(pickle.dumps(attribute)) is attribute


def test_equal_parameters_give_the_same_object() -> None:
    assert IntegerType(32) is I32
    assert FunctionType((I32,), (F32,)) is FunctionType((I32,), (F32,))
    assert IntegerAttr(1, I32) is not IntegerAttr(1, I8)
    assert DictionaryAttr({"b": StringAttr("x"), "a": TypeAttr(I32)}) is DictionaryAttr(
        {"a": TypeAttr(I32), "b": StringAttr("x")}
    )


def test_classes_with_equal_parameters_differ() -> None:
    assert TypeAttr(I32) != ArrayAttr((I32,))
    assert VectorType((4,), F32) is not TensorType((4,), F32)


def test_attributes_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        StringAttr("a").value = "b"


def test_the_pool_drops_unreferenced_attributes() -> None:
    key = (StringAttr, "referenced for a short time")
    held = StringAttr("referenced for a short time")
    assert key in attributes._pool
    del held
    gc.collect()
    assert key not in attributes._pool


def test_threads_get_the_same_object() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: IntegerAttr(100_000 + n % 50, I32), range(2000)))
    assert len({id(attribute) for attribute in made}) == 50


def test_invalid_values_are_rejected() -> None:
    with pytest.raises(InvalidValue, match="integer width must be in 1 to 16777215, got 0"):
        IntegerType(0)
    with pytest.raises(InvalidValue, match="duplicate key 'a'"):
        DictionaryAttr((("a", TypeAttr(I32)), ("a", TypeAttr(F32))))
    with pytest.raises(InvalidValue, match="vector dimensions must be positive"):
        VectorType((0,), F32)


def test_splats_are_stored_once() -> None:
    vector = VectorType((4,), I8)
    assert DenseElementsAttr(b"\x01\x01\x01\x01", vector) is DenseElementsAttr(b"\x01", vector)
    assert DenseElementsAttr(b"\x01", vector).is_splat
    assert DenseElementsAttr(b"\x01\x02\x03\x04", vector).elements() == [1, 2, 3, 4]


def test_enumerations_are_attributes() -> None:
    assert Color.from_keyword("dark_red") is Color.DARK_RED
    assert Color.from_keyword("DARK_RED") is None
    assert Color.from_keyword("blue") is None
    assert Color.DARK_RED.keyword == "dark_red"


def test_symbol_references_keep_their_path() -> None:
    assert SymbolRefAttr("a", "b").path == ("a", "b")
    assert SymbolRefAttr("a", "b").leaf == "b"


@each_case(
    ("type", "text"),
    [
        (FunctionType((I32,), (F32,)), "(i32) -> f32"),
        (FunctionType((), ()), "() -> ()"),
        (FunctionType((), (FunctionType((), (I32,)),)), "() -> (() -> i32)"),
        (VectorType((4, 8), F32, (False, True)), "vector<4x[8]xf32>"),
        (TensorType((2, -(1 << 63)), F32), "tensor<2x?xf32>"),
        (TensorType(None, F32), "tensor<*xf32>"),
    ],
)
def test_types_are_spelt_as_mlir_does(type: object, text: str) -> None:
    assert str(type) == text
