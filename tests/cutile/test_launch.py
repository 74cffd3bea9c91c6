"""Kernels of cuTile Python on the CPU: arguments of every kind, against NumPy."""

from __future__ import annotations

import gc
import weakref
from typing import Annotated, Any

import ml_dtypes
import numpy as np
import pytest

import tilewright
from tilewright.reference.errors import ExecutionError, Fault

ct = pytest.importorskip("cuda.tile", reason="cuTile Python is not installed (PyPI: cuda-tile)")
cutile = pytest.importorskip("tilewright.cutile")

ConstInt = ct.Constant[int]
ConstAny = ct.Constant[Any]
Long = ct.ScalarInt64
StaticRows = Annotated[Any, ct.ArrayAnnotation(static_shape_dims=(0,))]
ELEMENTS = [
    np.float16,
    np.float32,
    np.float64,
    ml_dtypes.bfloat16,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
]


@ct.kernel
def add(a, b, c, size: ConstInt):
    at = ct.bid(0)
    result = ct.load(a, (at,), (size,)) + ct.load(b, (at,), (size,))
    ct.store(c, (at,), result)


@ct.kernel
def copy(x, y, rows: ConstInt, columns: ConstInt):
    at = (ct.bid(0), ct.bid(1))
    ct.store(y, at, ct.load(x, at, (rows, columns)))


@ct.kernel
def widen(x, y, size: ConstInt):
    ct.store(y, (0,), ct.astype(ct.load(x, (0,), (size,)), ct.float32))


@ct.kernel
def scalars(y, whole, part, flag):
    ct.scatter(y, 0, ct.astype(whole, ct.float32))
    ct.scatter(y, 1, part)
    ct.scatter(y, 2, ct.astype(flag, ct.float32))


@ct.kernel
def long_scalar(y, number: Long):
    ct.scatter(y, 0, number)


@ct.kernel
def pairs(y, pair: tuple[ConstInt, Any]):
    ct.scatter(y, pair[0], pair[1])


@ct.kernel
def add_arrays(arrays, y, size: ConstInt):
    result = ct.zeros((size,), dtype=ct.float32)
    for index in range(len(arrays)):
        result = result + ct.load(arrays[index], (0,), (size,), padding_mode=ct.PaddingMode.ZERO)
    ct.store(y, (0,), result)


@ct.kernel
def static_shape(x: StaticRows, y):
    ct.scatter(y, 0, ct.sum(ct.full((x.shape[0],), 2, dtype=ct.int32)))


@ct.kernel
def shows(x):
    ct.printf("%d\n", ct.gather(x, 0))


@ct.kernel
def races(y):
    ct.scatter(y, 0, ct.bid(0))


def normal(seed: int, *shape: int, dtype: Any = np.float32) -> Any:
    return (8 * np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


@pytest.mark.parametrize("dtype", ELEMENTS)
def test_every_element_type_adds_as_numpy_does(dtype: Any) -> None:
    a, b, c = np.arange(100).astype(dtype), np.full(100, 3, dtype), np.zeros(100, dtype)
    cutile.launch((7,), add, (a, b, c, 16))
    assert np.array_equal(c, a + b)


@pytest.mark.parametrize(
    "dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu]
)
def test_fp8_is_read_as_numbers(dtype: Any) -> None:
    x, y = np.abs(normal(1, 64)).astype(dtype), np.zeros(64, np.float32)
    cutile.launch(1, widen, (x, y, 64))
    assert np.array_equal(y, x.astype(np.float32))


VIEWS = {
    "contiguous": lambda x: x[:48, :32],
    "ragged": lambda x: x[:45, :31],
    "transposed": lambda x: x.T[:48, :32],
    "stepped": lambda x: x[::2, ::3][:20, :20],
    "shifted": lambda x: x[3:, 5:][:40, :20],
    "one row": lambda x: x[7:8, :32],
    "one column": lambda x: x[:48, 9:10],
    "repeated": lambda x: np.broadcast_to(x[0], (48, 64)),
}


@pytest.mark.parametrize("view", VIEWS)
def test_views_are_read_in_place(view: str) -> None:
    x = VIEWS[view](normal(1, 64, 64))
    y = np.zeros((48, 64), np.float32)
    cutile.launch((3, 4), copy, (x, y, 16, 16))
    rows, columns = x.shape
    assert np.array_equal(y[:rows, :columns], x)


@pytest.mark.parametrize("view", [view for view in VIEWS if view != "repeated"])
def test_writes_to_a_view_change_nothing_else(view: str) -> None:
    whole = np.full((64, 64), 7, np.float32)
    wanted = whole.copy()
    y, expected = VIEWS[view](whole), VIEWS[view](wanted)
    x = normal(1, *y.shape)
    expected[...] = x
    cutile.launch((3, 4), copy, (x, y, 16, 16))
    assert np.array_equal(whole, wanted)


def test_scalars_are_32_bits_wide() -> None:
    y = np.zeros(3, np.float32)
    cutile.launch(1, scalars, (y, -5, 0.1, True))
    assert np.array_equal(y, np.array([-5, 0.1, 1], np.float32))


def test_annotated_integers_are_64_bits_wide() -> None:
    y = np.zeros(1, np.int64)
    cutile.launch(1, long_scalar, (y, -(1 << 40)))
    assert y[0] == -(1 << 40)


def test_items_of_tuples_are_constants_where_annotated() -> None:
    y = np.zeros(4, np.int32)
    cutile.launch(1, pairs, (y, (2, 9)))
    assert y.tolist() == [0, 0, 9, 0]


def test_lists_of_arrays() -> None:
    arrays = [normal(seed, 10 + seed) for seed in range(4)]
    y = np.zeros(16, np.float32)
    cutile.launch(1, add_arrays, (arrays, y, 16))
    expected = np.zeros(16, np.float32)
    for array in arrays:
        expected[: len(array)] += array
    assert np.array_equal(y, expected)


def test_static_shapes_are_constants() -> None:
    y = np.zeros(1, np.int32)
    cutile.launch(1, static_shape, (np.zeros(32, np.int8), y))
    assert y[0] == 64


def test_prints_go_to_the_given_function() -> None:
    printed: list[str] = []
    cutile.launch(1, shows, (np.array([42], np.int32),), write=printed.append)
    assert "".join(printed) == "42\n"


def test_1_true_and_1_0_are_different_constants() -> None:
    @ct.kernel
    def store_f16(y, number: ConstAny):
        ct.scatter(y, 0, number / 2)

    y = np.zeros(1, np.float32)
    for number in (3, 3.0):
        y[0] = 0
        cutile.launch(1, store_f16, (y, number))
        assert y[0] == 1.5


def test_kernels_are_forgotten_with_their_modules() -> None:
    @ct.kernel
    def passing(y):
        ct.scatter(y, 0, 1)

    cutile.launch(1, passing, (np.zeros(1, np.int32),))
    alive = weakref.ref(passing)
    del passing
    gc.collect()
    assert alive() is None


def test_races_are_reported_at_the_line_of_the_kernel() -> None:
    y = np.zeros(1, np.int32)
    cutile.launch(2, races, (y,))
    with pytest.raises(ExecutionError) as caught:
        cutile.launch(2, races, (y,), check=True)
    assert caught.value.fault is Fault.RACE
    line = races._pyfunc.__code__.co_firstlineno + 2
    assert f"test_launch.py:{line}:" in str(caught.value.location)


WRONG = [
    ((np.zeros(4, np.int32),), "expected 4 arguments, got 1"),
    ((np.zeros(4, np.float32), 1 << 31, 0.5, True), "2147483648 does not fit into 32 bits"),
    ((None, 1, 0.5, True), "argument 'y' of kernel 'scalars': expected an array"),
    ((np.zeros(4, np.complex64), 1, 0.5, True), "cuTile has no arrays of complex64"),
    (([], 1, 0.5, True), "expected arrays in the list, got an empty one"),
    (([np.zeros(4), 3], 1, 0.5, True), "item 1 of argument 'y'"),
    (([np.zeros(4), np.zeros((4, 4))], 1, 0.5, True), "of one element type and rank"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_arguments_are_rejected(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(tilewright.UserError) as caught:
        cutile.launch(1, scalars, arguments)
    assert message in str(caught.value)


def test_strides_must_be_whole_elements() -> None:
    fields = np.zeros(4, [("a", np.int8), ("b", np.float32)])["b"]
    with pytest.raises(tilewright.UserError, match="strides of whole elements"):
        cutile.launch(1, add, (fields, fields, fields, 4))


def test_foreign_byte_order_is_rejected() -> None:
    x = np.zeros(4, np.dtype(np.int32).newbyteorder())
    with pytest.raises(tilewright.UserError, match="byte order of this machine"):
        cutile.launch(1, add, (x, x, x, 4))


NEGATIVE = {
    "one axis": (
        lambda x: x[::-1],
        "argument 'a' of kernel 'add': expected strides",
        "-1 in axis 0",
    ),
    "rows": (lambda x: x.reshape(4, 4)[::-1], "argument 'a' of kernel 'add'", "-4 in axis 0"),
}


@pytest.mark.parametrize("view", NEGATIVE)
def test_negative_strides_are_rejected_by_the_name_of_the_argument(view: str) -> None:
    make, *parts = NEGATIVE[view]
    x, y = np.zeros(16, np.float32), np.zeros(16, np.float32)
    with pytest.raises(tilewright.UserError) as caught:
        cutile.launch(1, add, (make(x), x, y, 16))
    assert all(part in str(caught.value) for part in parts)


def test_negative_strides_in_a_list_are_rejected_by_name() -> None:
    x = np.zeros(16, np.float32)
    with pytest.raises(tilewright.UserError, match="argument 'arrays' of kernel 'add_arrays'"):
        cutile.launch(1, add_arrays, ([x, x[::-1]], np.zeros_like(x), 16))


UNIT_AXES = {
    "a row of 30": (1, 30, 30, 1),
    "a row of a wider array": (1, 30, 33, 1),
    "a row with a negative stride": (1, 30, -32, 1),
    "a column": (48, 1, 1, 1),
    "a column of a wider array": (48, 1, 3, 7),
    "one element": (1, 1, 5, 3),
}
"""Rows, columns, and the strides of both in elements."""


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
@pytest.mark.parametrize("view", UNIT_AXES)
def test_the_stride_of_a_unit_axis_does_not_matter(view: str, dtype: Any) -> None:
    rows, columns, *strides = UNIT_AXES[view]
    whole = np.arange(1, 5001).astype(dtype)
    steps = tuple(stride * whole.itemsize for stride in strides)
    x = np.lib.stride_tricks.as_strided(whole[64:], (rows, columns), steps)
    y = np.zeros((rows, columns), dtype)
    cutile.launch((3, 2), copy, (x, y, 16, 16))
    assert np.array_equal(y, x)


def test_lists_may_mix_unit_axes_of_any_stride() -> None:
    whole = normal(1, 64, 33)
    arrays = [whole[:1, 3], whole[4:5, 7], normal(2, 1)]
    y = np.zeros(16, np.float32)
    cutile.launch(1, add_arrays, (arrays, y, 16))
    expected = arrays[0] + arrays[1] + arrays[2]
    assert np.array_equal(y[:1], expected)
    assert not y[1:].any()


@pytest.mark.parametrize("size", [np.int8(16), np.uint8(16), np.int32(16), np.int64(16)], ids=repr)
def test_numpy_scalars_are_constants(size: Any) -> None:
    a, c = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    cutile.launch((7,), add, (a, a, c, size))
    assert np.array_equal(c, a + a)


def test_numpy_constants_keep_their_kind() -> None:
    @ct.kernel
    def store(y, number: ConstAny):
        ct.scatter(y, 0, number / 2)

    y = np.zeros(1, np.float32)
    for number in (np.int16(3), np.float16(3), np.float32(3), np.float64(3), ml_dtypes.bfloat16(3)):
        y[0] = 0
        cutile.launch(1, store, (y, number))
        assert y[0] == 1.5


def test_numpy_scalars_are_numbers() -> None:
    y = np.zeros(3, np.float32)
    cutile.launch(1, scalars, (y, np.int64(-5), np.float32(0.1), np.bool_(True)))
    assert np.array_equal(y, np.array([-5, 0.1, 1], np.float32))
    with pytest.raises(tilewright.UserError, match="4294967296 does not fit into 32 bits"):
        cutile.launch(1, scalars, (y, np.int64(1 << 32), 0.5, True))


@pytest.mark.parametrize(
    "number", [np.complex64(1), np.datetime64("2020"), np.str_("16")], ids=repr
)
def test_other_numpy_scalars_are_not_constants(number: Any) -> None:
    x = np.zeros(4, np.float32)
    with pytest.raises(tilewright.UserError, match="argument 'size' of kernel 'add': expected a"):
        cutile.launch(1, add, (x, x, x, number))


def test_an_array_may_be_empty_or_be_passed_twice() -> None:
    empty, x = np.zeros(0, np.float32), np.ones(16, np.float32)
    cutile.launch(1, add, (empty, x, x.copy(), 16))
    cutile.launch(1, add, (x, x, x, 16))
    assert x.tolist() == [2.0] * 16


def test_constants_must_be_numbers() -> None:
    x = np.zeros(4, np.float32)
    with pytest.raises(tilewright.UserError, match="expected a constant number"):
        cutile.launch(1, add, (x, x, x, "16"))


def test_only_kernels_can_be_launched() -> None:
    with pytest.raises(tilewright.UserError, match=r"expected a function with @ct\.kernel"):
        cutile.launch(1, print, ())


def test_grids_must_be_positive() -> None:
    x = np.zeros(4, np.float32)
    with pytest.raises(tilewright.UserError, match="positive extents"):
        cutile.launch((0,), add, (x, x, x, 4))


def test_errors_of_cutile_stay_its_own() -> None:
    with pytest.raises(ct.TileError):
        cutile.launch(1, copy, (np.zeros(4, np.float32), np.zeros(4, np.float32), 2, 2))


def test_read_only_arrays_cannot_be_written() -> None:
    x = np.zeros(4, np.float32)
    y = np.zeros(4, np.float32)
    y.flags.writeable = False
    with pytest.raises(ExecutionError):
        cutile.launch(1, add, (x, x, y, 4))


def test_read_only_arrays_can_be_read() -> None:
    x = np.broadcast_to(np.float32(2), (16,))
    y = np.frombuffer(np.arange(16, dtype=np.float32).tobytes(), np.float32)
    result = np.zeros(16, np.float32)
    cutile.launch(1, add, (x, y, result, 16))
    assert result.tolist() == [2.0 + index for index in range(16)]


def test_limits_hold_for_kernels_of_cutile() -> None:
    x, y = np.zeros(1600, np.float32), np.zeros(1600, np.float32)
    with pytest.raises(ExecutionError, match="stopped at the limit of 3 steps") as caught:
        cutile.launch(100, add, (x, x, y, 16), max_steps=3)
    assert caught.value.fault is Fault.LIMIT
    cutile.launch(100, add, (x, x, y, 16), max_steps=1000, timeout=600)
