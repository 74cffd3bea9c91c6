"""Accesses of multimem addresses as compiled code: of a multicast object with one GPU.

Such an object behaves like the memory of its GPU. Expected values come from NumPy.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from repeats import keep

import tilewright
from tilewright.reference.errors import ExecutionError

EXTENT, TILE, GRID = 100, 32, 4
TYPES = {
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}
UNSIGNED = {"i32": np.uint32, "i64": np.uint64}
COMBINED: dict[str, Any] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "umin": np.minimum,
    "umax": np.maximum,
}
UPDATES = [
    *[(name, element) for name in COMBINED for element in ("i32", "i64")],
    *[("add", element) for element in ("f16", "bf16", "f32", "f64")],
]
LOADS = [*UPDATES, *[(name, element) for name in ("min", "max") for element in ("f16", "bf16")]]


def program(element: str, body: str, aligned: int = 16, extent: int = EXTENT) -> str:
    """A kernel over two arrays of one element type, `%xv` and `%yv`."""
    tensor = f"tensor_view<{extent}x{element}, strides=[1]>"
    view = f"partition_view<tile=({TILE}), padding_value = zero, {tensor}>"
    names = "".join(
        f"""
    %{name}a = assume div_by<{aligned}>, %{name} : tile<ptr<{element}>>
    %{name}t = make_tensor_view %{name}a, shape = [{extent}], strides = [1] : {tensor}
    %{name}v = make_partition_view %{name}t : {view}"""
        for name in ("x", "y")
    )
    body = body.replace("TILE", f"tile<{TILE}x{element}>").replace("VIEW", view)
    return f"""cuda_tile.module @m {{
  entry @k(%x: tile<ptr<{element}>>, %y: tile<ptr<{element}>>) {{
    %b, %by, %bz = get_tile_block_id : tile<i32>{names}
    {body}
    return
  }}
}}"""


def load(order: str, reduction: str, bounds: str = "") -> str:
    return (
        f"%a, %t0 = multimem_load_reduce_view_tko {order} %xv[%b], {reduction}{bounds} : "
        "VIEW, tile<i32> -> TILE, token\n"
    )


def store(order: str, bounds: str = "") -> str:
    return (
        f"%t1 = multimem_store_view_tko {order} %a, %yv[%b] token = %t0{bounds} : "
        "TILE, VIEW, tile<i32> -> token\n"
    )


def update(order: str, reduction: str) -> str:
    return (
        f"%t2 = multimem_reduce_view_tko {order} %yv[%b], {reduction}, %a token = %t0 : "
        "TILE, VIEW, tile<i32> -> token\n"
    )


def numbers(element: str, seed: int, extent: int = EXTENT) -> Any:
    values = np.random.default_rng(seed).integers(-9, 9, extent)
    return values.astype(TYPES[element])


def run(text: str, x: Any, y: Any, grid: int = GRID, **options: Any) -> Any:
    result = y.copy()
    tilewright.execute(tilewright.read(text), "k", (grid,), [x.copy(), result], **options)
    return result


DEVICES: dict[str, dict[str, Any]] = {
    "executor": {"check": True},
    "emulator": {"on": "emulator", "check": True, "arch": "sm_90"},
}


def is_only_loaded(case: tuple[str, str, str]) -> bool:
    """Whether no case of `test_reductions` loads so; two others show loads in another order."""
    *loaded, device = case
    return device == "executor" or tuple(loaded) not in UPDATES[1:-2]


@pytest.mark.parametrize(
    ("reduction", "element", "device"),
    keep([(*each, device) for each in LOADS for device in DEVICES], is_only_loaded),
)
def test_loads_and_stores(reduction: str, element: str, device: str) -> None:
    """One GPU has nothing to combine a value with."""
    text = program(element, load("relaxed sys", reduction) + store("release sys"))
    x, y = numbers(element, 1), numbers(element, 2)
    assert (run(text, x, y, **DEVICES[device]) == x).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("reduction", "element"), UPDATES, ids="-".join)
def test_reductions(reduction: str, element: str, device: str) -> None:
    text = program(element, load("weak", reduction) + update("relaxed sys", reduction))
    x, y = numbers(element, 1), numbers(element, 2)
    kind = UNSIGNED[element] if reduction.startswith("u") else TYPES[element]
    expected = COMBINED[reduction](y.view(kind), x.view(kind)).view(TYPES[element])
    assert (run(text, x, y, **DEVICES[device]) == expected).all()


ORDERS = {"i8": "weak", "f16": "relaxed tl_blk", "f32": "relaxed device", "i64": "relaxed sys"}
"""The order of the stores of an element that `make test` tries."""


@pytest.mark.parametrize(
    ("element", "order"),
    keep(product(ORDERS, ORDERS.values()), lambda case: ORDERS[case[0]] == case[1]),
)
def test_orders_of_stores_of_any_element(order: str, element: str) -> None:
    """A store of 16 bytes in one instruction, whatever the elements."""
    loaded = "%a, %t0 = load_view_tko weak %xv[%b] : VIEW, tile<i32> -> TILE, token\n"
    text = program(element, loaded + store(order), extent=128)
    kind = {**TYPES, "i8": np.int8}[element]
    x, y = np.arange(128).astype(kind), np.zeros(128, kind)
    assert (run(text, x, y, on="emulator", arch="sm_90") == x).all()


@pytest.mark.parametrize(
    ("element", "aligned", "order", "expected"),
    [
        ("f16", 16, "weak", ".add.acc::f32.v4.f16x2"),
        ("f16", 4, "relaxed sys", ".add.acc::f32.f16x2"),
        ("bf16", 8, "acquire device", ".add.acc::f32.v2.bf16x2"),
        ("f32", 16, "weak", ".add.v4.f32"),
        ("f32", 4, "weak", ".add.f32"),
        ("f64", 16, "weak", ".add.f64"),
        ("i32", 16, "weak", ".add.u32"),
    ],
)
def test_instructions(element: str, aligned: int, order: str, expected: str) -> None:
    """As wide as the alignment allows, in the form that the PTX ISA has for the type."""
    text = program(element, load(order, "add") + store("weak"), aligned, extent=4096)
    text = text.replace(f"({TILE})", "(1024)").replace(f"<{TILE}x", "<1024x")
    ptx = tilewright.compile(text, "sm_90", emit="ptx").ptx
    scope = {"weak": "", "relaxed sys": ".sys", "acquire device": ".gpu"}[order]
    assert f"multimem.ld_reduce.{order.split()[0]}{scope}.global{expected} " in ptx


@pytest.mark.parametrize("arch", ["sm_90", "sm_100", "sm_107", "sm_121"])
def test_ptxas_accepts_them(arch: str) -> None:
    text = program("f16", load("acquire sys", "max") + store("weak") + update("release sys", "add"))
    assert tilewright.compile(text, arch).cubin


def test_older_gpus_have_none() -> None:
    with pytest.raises(tilewright.Unsupported, match="through multimem addresses"):
        tilewright.compile(program("f32", load("weak", "add") + store("weak")), "sm_89", emit="ptx")


@pytest.mark.parametrize(("aligned", "extent"), [(2, 128), (16, 101)])
def test_single_f16_elements_are_unsupported(aligned: int, extent: int) -> None:
    """The narrowest instruction accesses two of them, which must be in bounds together."""
    text = program("f16", load("weak", "add") + store("weak"), aligned, extent)
    with pytest.raises(tilewright.Unsupported, match="multimem access of 2 bytes: expected 4"):
        tilewright.compile(text, "sm_90", emit="ptx")


GATHERED = """
!t = !cuda_tile.tensor_view<8x4xELEMENT, strides=[4,1]>
!g = !cuda_tile.gather_scatter_view<tile=(4x4), tensor_view<8x4xELEMENT, strides=[4,1]>, sparse_dim=0>
cuda_tile.module @m {
  entry @k(%x: tile<ptr<ELEMENT>>, %y: tile<ptr<ELEMENT>>) {
    %n = iota : tile<4xi32>
    %two = constant <i32: 2> : tile<4xi32>
    %rows = muli %n, %two : tile<4xi32>
    %zero = constant <i32: 0> : tile<i32>
    %xa = assume div_by<16>, %x : tile<ptr<ELEMENT>>
    %xt = make_tensor_view %xa, shape = [8, 4], strides = [4, 1] : !t
    %xv = make_gather_scatter_view %xt : !g
    %ya = assume div_by<16>, %y : tile<ptr<ELEMENT>>
    %yt = make_tensor_view %ya, shape = [8, 4], strides = [4, 1] : !t
    %yv = make_gather_scatter_view %yt : !g
    %a, %t0 = multimem_load_reduce_view_tko weak %xv[%rows, %zero], add : !g, tile<4xi32>, tile<i32> -> tile<4x4xELEMENT>, token
    %t1 = multimem_store_view_tko weak %a, %yv[%n, %zero] token = %t0 : tile<4x4xELEMENT>, !g, tile<4xi32>, tile<i32> -> token
    return
  }
}"""  # noqa: E501


@pytest.mark.parametrize("element", ["f16", "f32", "i64"])
def test_gathered_rows(element: str) -> None:
    text, x = GATHERED.replace("ELEMENT", element), numbers(element, 1, 32).reshape(8, 4)
    y = np.zeros_like(x)
    assert (run(text, x, y, 1, on="emulator", arch="sm_90")[:4] == x[::2]).all()


def test_elements_of_four_bits_are_unsupported() -> None:
    text = program("f4E2M1FN", "%a, %t0 = load_view_tko weak %xv[%b] : VIEW, tile<i32> -> TILE, "
                   "token\n" + store("weak"), extent=128)  # fmt: skip
    with pytest.raises(tilewright.Unsupported, match="multimem access of elements of 4 bits"):
        tilewright.compile(text, "sm_100", emit="ptx")


BOUNDS = " inbounds = [true]"
ACCESSES = {
    "load": load("weak", "add", BOUNDS),
    "store": load("weak", "add") + store("weak", BOUNDS),
}


@pytest.mark.parametrize("access", ACCESSES)
def test_tiles_that_are_not_in_bounds_are_reported(access: str) -> None:
    text, x = program("f32", ACCESSES[access]), numbers("f32", 1)
    with pytest.raises(ExecutionError, match="is declared in bounds, but is not in dimension 0"):
        run(text, x, x, check=True)
    with pytest.raises(tilewright.UserError, match="which it promised not to be"):
        run(text, x, x, on="emulator", arch="sm_90", sanitize=True)
    assert (run(text, x, x, grid=3, check=True) == x).all()


def test_tiles_in_bounds_have_no_predicate() -> None:
    text = program("f32", load("weak", "add", BOUNDS) + store("weak", BOUNDS))
    ptx = tilewright.compile(text, "sm_90", emit="ptx").ptx
    lines = [line.strip() for line in ptx.splitlines() if "multimem.ld_reduce" in line]
    assert lines
    assert all(line.startswith("multimem.") for line in lines)
