"""Diagnostics of compiled code that checks its accesses, and their limits for pointers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import tilewright
from tilewright.dialects.cuda_tile.structure import ModuleOp
from tilewright.driver.emulate import compile_kernel, run_ptx
from tilewright.support.location import ByteLoc

VIEW = """
!view = !cuda_tile.tensor_view<?x8xi32, strides=[8,1]>
!tiles = !cuda_tile.partition_view<tile=(2x8), tensor_view<?x8xi32, strides=[8,1]>>
cuda_tile.module @kernels {
  entry @kernel(%x: tile<ptr<i32>>, %n: tile<i32>, %index: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<2x8xi32>
    %xt = make_tensor_view %x, shape = [%n, 8], strides = [8, 1] : tile<i32> -> !view
    %xv = make_partition_view %xt : !tiles
    %t = store_view_tko weak %one, %xv[%index, %zero] : tile<2x8xi32>, !tiles, tile<i32> -> token
    return
  }
}
"""

POINTERS = """
!view = !cuda_tile.tensor_view<?xi32, strides=[1]>
!tiles = !cuda_tile.partition_view<tile=(4), tensor_view<?xi32, strides=[1]>>
cuda_tile.module @kernels {
  global @table <i32: [1, 2, 3, 4]> : tile<4xi32>
  // The array has a view, and is read through pointers as well.
  entry @viewed(%x: tile<ptr<i32>>, %n: tile<i32>, %first: tile<i32>, %limit: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> !view
    %xv = make_partition_view %xt : !tiles
    %i = iota : tile<4xi32>
    %f1 = reshape %first : tile<i32> -> tile<1xi32>
    %f4 = broadcast %f1 : tile<1xi32> -> tile<4xi32>
    %l1 = reshape %limit : tile<i32> -> tile<1xi32>
    %l4 = broadcast %l1 : tile<1xi32> -> tile<4xi32>
    %which = addi %f4, %i : tile<4xi32>
    %mask = cmpi less_than %which, %l4, signed : tile<4xi32> -> tile<4xi1>
    %x1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %x4 = broadcast %x1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %p = offset %x4, %which : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %none = constant <i32: 0> : tile<4xi32>
    %v, %t0 = load_ptr_tko weak %p, %mask, %none
      : tile<4xptr<i32>>, tile<4xi1>, tile<4xi32> -> tile<4xi32>, token
    %t1 = store_view_tko weak %v, %xv[%zero] token=%t0 : tile<4xi32>, !tiles, tile<i32> -> token
    return
  }
  entry @null(%x: tile<i64>) {
    %p = int_to_ptr %x : tile<i64> -> tile<ptr<i32>>
    %v, %t0 = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
    %t1 = store_ptr_tko weak %p, %v token=%t0 : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  entry @global(%n: tile<i32>) {
    %g = get_global @table : tile<ptr<i32>>
    %p = offset %g, %n : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %old, %t = atomic_rmw_tko relaxed device %p, add, %n
      : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    return
  }
  entry @scratch(%n: tile<i32>) {
    %mine = alloca num_elem = 4, alignment = 8 : tile<ptr<i32>>
    %p = offset %mine, %n : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %p, %n : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""


@cache
def compiled(program: str | bytes, entry: str) -> tuple[ModuleOp, str]:
    """A program, and the code of a kernel that checks its accesses."""
    module = tilewright.read(program)
    return module, compile_kernel(module, entry, "sm_90", sanitize=True)


def run(program: str | bytes, entry: str, arguments: list[object], grid: int = 1) -> list[str]:
    """Run a kernel; return the printed lines, and the final error."""
    said: list[str] = []
    module, ptx = compiled(program, entry)
    try:
        run_ptx(ptx, module, entry, (grid, 1, 1), arguments, check=True, write=said.append)
    except tilewright.UserError as error:
        said.append(str(error))
    return [text for text in said if text]


def test_a_tile_outside_of_its_view_is_reported_with_its_index_and_its_block() -> None:
    array = np.zeros((6, 8), np.int32)
    printed, error = run(VIEW, "kernel", [array, 6, 3])
    assert printed == (
        "<input>:10:10: error: store_view_tko outside of its view: "
        "expected index 0 below 3, got 3, in block (0, 0, 0)\n"
    )
    assert "assertion '<input>:10:10: error: store_view_tko outside of its view' fails" in error
    assert not array.any()


def test_accesses_of_cutile_are_reported_by_its_functions_and_columns() -> None:
    store = "tile<2x8xi32>, !tiles, tile<i32> -> token"
    program = VIEW.replace(store, f'{store} loc("k.py":7:4)')
    printed, error = run(program, "kernel", [np.zeros((6, 8), np.int32), 6, 3])
    assert printed.startswith("k.py:7:5: error: ct.store outside of its view: expected index 0")
    assert "assertion 'k.py:7:5: error: ct.store outside of its view' fails" in error


def test_bytecode_without_locations_is_reported_by_byte_offsets() -> None:
    bytecode = tilewright.write_bytecode(tilewright.read(VIEW))
    module = tilewright.read(bytecode)
    (at,) = [op.location for op in module.walk() if op.name == "cuda_tile.store_view_tko"]
    assert isinstance(at, ByteLoc)
    printed, error = run(bytecode, "kernel", [np.zeros((6, 8), np.int32), 6, 3])
    expected = f"byte {at.offset} (0x{at.offset:x}): error: store_view_tko outside of its view"
    assert printed.startswith(expected)
    assert f"assertion '{expected}' fails" in error


def test_a_negative_index_is_reported() -> None:
    printed, _ = run(VIEW, "kernel", [np.zeros((6, 8), np.int32), 6, -2])
    assert "expected index 0 below 3, got -2, in block" in printed


def test_without_checks_a_tile_outside_is_not_stored() -> None:
    array = np.zeros((6, 8), np.int32)
    tilewright.execute(VIEW, "kernel", 1, [array, 6, 3], "emulator", check=True)
    assert not array.any()


def test_the_last_tile_may_end_outside() -> None:
    array = np.zeros((5, 8), np.int32)
    assert run(VIEW, "kernel", [array, 5, 2]) == []
    assert array.tolist() == [[0] * 8] * 4 + [[1] * 8]


OUTSIDE = "load_ptr_tko outside of the memory of its pointer"


@pytest.mark.parametrize(
    ("first", "limit", "fails"),
    [(0, 8, False), (4, 8, False), (6, 8, False), (6, 9, True), (-1, 8, True), (5, 9, True)],
)
def test_pointers_stay_in_the_view_of_their_base(first: int, limit: int, fails: bool) -> None:
    # The array is larger than the view: nothing else would notice.
    array = np.arange(64, dtype=np.int32)
    said = run(POINTERS, "viewed", [array[16:], 8, first, limit])
    assert [OUTSIDE in text for text in said] == [True] * fails


def test_an_empty_view_has_no_memory() -> None:
    (error,) = run(POINTERS, "viewed", [np.zeros(4, np.int32), 0, 0, 1])
    assert OUTSIDE in error


@pytest.mark.parametrize("address", [0, 4, 4092])
def test_null_is_no_address(address: int) -> None:
    printed, _ = run(POINTERS, "null", [address])
    assert f"load_ptr_tko at a null or misaligned address: got {address:#x}, in block" in printed


@pytest.mark.parametrize(
    ("entry", "name"), [("global", "atomic_rmw_tko"), ("scratch", "store_ptr_tko")]
)
@pytest.mark.parametrize(("index", "fails"), [(0, False), (3, False), (4, True), (-1, True)])
def test_memory_of_the_program_has_an_end(entry: str, name: str, index: int, fails: bool) -> None:
    said = run(POINTERS, entry, [index])
    expected = f"{name} outside of the memory of its pointer"
    assert [expected in text for text in said] == [True, True] * fails
