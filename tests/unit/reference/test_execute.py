"""`tilewright.execute`: arguments, grids, errors, memory shared by arguments."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from each_case import each_case

import tilewright
from tilewright.reference.arguments import Table
from tilewright.reference.errors import ExecutionError, Fault
from tilewright.reference.launch import launch

Array = np.ndarray[Any, Any]


def program(body: str, parameters: str) -> str:
    return f"cuda_tile.module @m {{ entry @k({parameters}) {{ {body} return }} }}"


COPY = program(
    """
    %v, %t = load_ptr_tko weak %a : tile<ptr<f32>> -> tile<f32>, token
    %u = store_ptr_tko weak %b, %v : tile<ptr<f32>>, tile<f32> -> token
    """,
    "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>",
)


class Ambiguous:
    """An array as some libraries have it: a comparison with a number is an array again."""

    def __eq__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise RuntimeError("ambiguous")


def failure(source: str, args: list[Any], grid: Any = 1, **options: Any) -> ExecutionError:
    with pytest.raises(ExecutionError) as caught:
        tilewright.execute(source, None, grid, args, **options)
    return caught.value


def test_arrays_change_in_place() -> None:
    a, b = np.array([2.5], np.float32), np.zeros(1, np.float32)
    tilewright.execute(COPY, "k", 1, [a, b])
    assert b.tolist() == [2.5]


def test_a_view_of_an_array_keeps_its_offset_and_bounds() -> None:
    whole = np.arange(8, dtype=np.float32)
    tilewright.execute(COPY, "k", 1, [whole[5:], whole[2:4]])
    assert whole.tolist() == [0, 1, 5, 3, 4, 5, 6, 7]


def test_a_read_only_array_may_be_read_but_not_written() -> None:
    a, b = np.ones(1, np.float32), np.zeros(1, np.float32)
    a.flags.writeable = False
    tilewright.execute(COPY, "k", 1, [a, b])
    assert b[0] == 1
    assert failure(COPY, [b, a]).fault is Fault.READ_ONLY


@each_case(
    ("args", "gist"),
    [
        ([np.zeros(1, np.float32)], "expected 2 arguments, got 1"),
        ([np.zeros(1, np.float32), 3.5], "argument 1 of '@k': expected an array"),
        (
            [np.zeros(1, np.float64), np.zeros(1, np.float32)],
            "argument 0 of '@k': expected elements of 'f32', got an array of float64",
        ),
        ([np.zeros(1, ">i4"), None], "argument 0 of '@k': expected elements of 'f32', got"),
        ([Ambiguous(), None], "argument 0 of '@k': expected an array for"),
    ],
)
def test_arguments_that_do_not_fit(args: list[Any], gist: str) -> None:
    error = failure(COPY, args)
    assert error.fault is Fault.ARGUMENT
    assert gist in str(error)


@each_case(
    ("type", "number", "dtype"),
    [
        ("i8", -3, np.int8),
        ("i8", 253, np.int8),
        ("i64", -(1 << 63), np.int64),
        ("f16", 1.5, np.float16),
        ("bf16", 3, ml_dtypes.bfloat16),
        ("f32", np.float32(0.1), np.float32),
        ("f64", 1e300, np.float64),
        ("f64", 1 << 63, np.float64),
        ("f32", np.uint64(1 << 63), np.float32),
        ("i1", True, np.bool_),
    ],
)
def test_scalars_of_every_kind(type: str, number: Any, dtype: Any) -> None:
    source = program(
        f"%t = store_ptr_tko weak %p, %x : tile<ptr<{type}>>, tile<{type}> -> token",
        f"%x: tile<{type}>, %p: tile<ptr<{type}>>",
    )
    out = np.zeros(1, dtype)
    tilewright.execute(source, None, 1, [number, out])
    expected = number - 256 if number == 253 else number
    assert out[0] == np.array(expected).astype(dtype)


@pytest.mark.parametrize("on", ["cpu", "emulator"])
def test_fp4_is_packed(on: str) -> None:
    source = program("", "%x: tile<ptr<f4E2M1FN>>")
    tilewright.execute(source, None, 1, [np.zeros(4, np.uint8)], on)
    gist = r"argument 0 .*'f4E2M1FN' two to a byte, as uint8, got an array of float4_e2m1fn"
    with pytest.raises(tilewright.UserError, match=gist):
        tilewright.execute(source, None, 1, [np.zeros(4, ml_dtypes.float4_e2m1fn)], on)


def test_floats_of_another_kind_are_not_integers() -> None:
    source = program("", "%x: tile<ptr<f8E4M3FN>>")
    tilewright.execute(source, None, 1, [np.zeros(4, "V1")])
    error = failure(source, [np.zeros(4, ml_dtypes.float8_e5m2)])
    assert "expected elements of 'f8E4M3FN', got an array of float8_e5m2" in str(error)


def test_a_table_holds_the_addresses_of_arrays() -> None:
    source = program(
        """
        %one = constant <i32: 1> : tile<i32>
        %q = offset %table, %one : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
        %address, %t0 = load_ptr_tko weak %q : tile<ptr<i64>> -> tile<i64>, token
        %p = int_to_ptr %address : tile<i64> -> tile<ptr<i32>>
        %t1 = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
        """,
        "%table: tile<ptr<i64>>",
    )
    first, second = np.zeros(1, np.int32), np.zeros(1, np.int32)
    module = tilewright.read(source)
    launch(module, None, 1, [Table([[first], [second]])])
    assert (first[0], second[0]) == (0, 1)


def test_a_grid_numbers_its_blocks_with_x_first() -> None:
    source = program(
        """
        %x, %y, %z = get_tile_block_id : tile<i32>
        %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
        %zy = muli %z, %ny : tile<i32>
        %zyy = addi %zy, %y : tile<i32>
        %zyx = muli %zyy, %nx : tile<i32>
        %i = addi %zyx, %x : tile<i32>
        %p = offset %out, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %hundred = constant <i32: 100> : tile<i32>
        %ten = constant <i32: 10> : tile<i32>
        %a = muli %z, %hundred : tile<i32>
        %b = muli %y, %ten : tile<i32>
        %c = addi %a, %b : tile<i32>
        %d = addi %c, %x : tile<i32>
        %t = store_ptr_tko weak %p, %d : tile<ptr<i32>>, tile<i32> -> token
        """,
        "%out: tile<ptr<i32>>",
    )
    out = np.zeros((2, 3, 4), np.int32)
    tilewright.execute(source, None, (4, 3, 2), [out])
    z, y, x = np.indices(out.shape)
    assert np.array_equal(out, 100 * z + 10 * y + x)


def test_blocks_that_store_to_one_tile_leave_one_of_their_values() -> None:
    view = "partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>"
    source = program(
        f"""
        %x, %y, %z = get_tile_block_id : tile<i32>
        %zero = constant <i32: 0> : tile<i32>
        %r = reshape %x : tile<i32> -> tile<1xi32>
        %b = broadcast %r : tile<1xi32> -> tile<4xi32>
        %t = make_tensor_view %out, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
        %v = make_partition_view %t : {view}
        %u = store_view_tko weak %b, %v[%zero] : tile<4xi32>, {view}, tile<i32> -> token
        """,
        "%out: tile<ptr<i32>>",
    )
    out = np.full(4, -1, np.int32)
    tilewright.execute(source, None, 8, [out])
    assert out[0] in range(8)
    assert len(set(out.tolist())) == 1


@each_case("grid", [0, (1, 2, 3, 4), (), (2, -1), "4", 1.5, (1.5,), None, 1 << 31, (1, 65536)])
def test_invalid_grids(grid: Any) -> None:
    assert failure(COPY, [], grid).fault is Fault.ARGUMENT


@each_case(
    ("type", "number", "gist"),
    [
        ("i32", 1.5, "expected an integer for '!cuda_tile.tile<i32>', got 1.5"),
        ("i32", np.float32(2), "expected an integer for '!cuda_tile.tile<i32>', got 2.0"),
        ("i32", 1 << 32, "expected a number of 32 bits, got 4294967296"),
        ("i8", -129, "expected a number of 8 bits, got -129"),
        ("i1", 2, "expected a number of 1 bits, got 2"),
        ("f32", 1j, "expected a number for '!cuda_tile.tile<f32>', got complex 1j"),
        ("f32", np.datetime64("2020"), "expected a number for"),
        ("i32", np.zeros(1, np.int32), "got an array of int32"),
    ],
)
def test_numbers_that_do_not_fit(type: str, number: Any, gist: str) -> None:
    error = failure(program("", f"%x: tile<{type}>"), [number])
    assert error.fault is Fault.ARGUMENT
    assert gist in str(error)


def test_progress_reaches_all_blocks() -> None:
    a, b = np.zeros(1, np.float32), np.zeros(1, np.float32)
    seen: list[tuple[int, int]] = []
    tilewright.execute(
        COPY, None, 5000, [a, b], progress=lambda done, blocks: seen.append((done, blocks))
    )
    assert seen[-1] == (5000, 5000)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


def test_misaligned_and_null_pointers() -> None:
    source = program(
        """
        %one = constant <i32: 1> : tile<i32>
        %c = ptr_to_ptr %a : tile<ptr<f32>> -> tile<ptr<i8>>
        %d = offset %c, %one : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
        %e = ptr_to_ptr %d : tile<ptr<i8>> -> tile<ptr<f32>>
        %v, %t = load_ptr_tko weak %e : tile<ptr<f32>> -> tile<f32>, token
        """,
        "%a: tile<ptr<f32>>",
    )
    assert failure(source, [np.zeros(2, np.float32)]).fault is Fault.MISALIGNED
    error = failure(COPY, [None, np.zeros(1, np.float32)])
    assert error.fault is Fault.OUT_OF_BOUNDS
    assert "accesses 4 bytes at 0x0, where there is no memory" in str(error)


def test_a_store_to_a_constant_global_is_an_error() -> None:
    source = """cuda_tile.module @m {
      global constant @table <i32: [1, 2]> : tile<2xi32>
      entry @k() {
        %p = get_global @table : tile<ptr<i32>>
        %v, %t0 = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
        %t1 = store_ptr_tko weak %p, %v token=%t0 : tile<ptr<i32>>, tile<i32> -> token
        return
      }
    }"""
    error = failure(source, [])
    assert error.fault is Fault.READ_ONLY
    assert "global @table" in str(error)


def test_a_loop_that_counts_for_ever_stops_at_the_limit() -> None:
    source = program(
        """
        %one = constant <i32: 1> : tile<i32>
        %r = loop iter_values(%i = %one) : tile<i32> -> tile<i32> {
          %next = addi %i, %one : tile<i32>
          continue %next : tile<i32>
        }
        """,
        "",
    )
    error = failure(source, [], max_steps=100)
    assert error.fault is Fault.LIMIT
    assert "stopped at the limit of 100 steps, in block (0, 0, 0)" in str(error)


def test_unknown_execution_targets_list_the_valid_ones() -> None:
    with pytest.raises(tilewright.Unsupported, match="on 'moon': expected one of cpu, emulator"):
        tilewright.execute(COPY, None, 1, [], on="moon")
