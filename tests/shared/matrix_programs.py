"""Programs that multiply matrices of one tile each."""

from __future__ import annotations

from typing import Any, Final, Literal

import ml_dtypes
import numpy as np

DTYPES: Final[dict[str, Any]] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i8": np.int8,
    "i32": np.int32,
}
"""The arrays that hold matrices of a type."""

Lies = Literal["anywhere", "aligned", "turned"]
"""What is known of the addresses of matrices; columns of B that are turned are contiguous."""


def view(name: str, shape: tuple[int, ...], element: str, lies: Lies) -> tuple[str, str, str]:
    """A tensor of one tile: how it is viewed, and its types."""
    strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    if name == "b" and lies == "turned":
        strides[-2:] = [1, shape[-2]]
    extents = "x".join(map(str, shape))
    tensor = f"tensor_view<{extents}x{element}, strides={strides}>".replace(", ", ",")
    tensor = tensor.replace(",strides", ", strides")
    tiles = f"partition_view<tile=({extents}), {tensor}>"
    pointer = f"%{name}p" if lies == "anywhere" else f"%{name}d"
    text = (
        f"%{name}d = assume div_by<16>, %{name}p : tile<ptr<{element}>>\n"
        f"%{name}t = make_tensor_view {pointer}, shape = {list(shape)}, strides = {strides} "
        f": {tensor}\n%{name}v = make_partition_view %{name}t : {tiles}\n"
    )
    return text, tiles, f"tile<{extents}x{element}>"


def matrix_product(
    a: tuple[int, ...],
    b: tuple[int, ...],
    element: str,
    total: str,
    how: str = "",
    hint: str = "",
    lies: Lies = "anywhere",
    anew: bool = False,
) -> str:
    """`c = a @ b + c`, or without the last."""
    shapes = {"a": (a, element), "b": (b, element), "c": ((*a[:-1], b[-1]), total)}
    body, types = "", {}
    where = ", ".join(["%z"] * len(a))
    for name, (shape, kind) in shapes.items():
        text, tiles, types[name] = view(name, shape, kind, lies)
        body += text + (
            f"%{name}, %{name}r = load_view_tko weak %{name}v[{where}] "
            f": {tiles}, tile<i32> -> {types[name]}, token\n"
        )
    tiles = view("c", shapes["c"][0], total, lies)[1]
    name, signs = ("mmai", how) if how else ("mmaf", "")
    start = "%none" if anew else "%c"
    if anew:
        body += f"%none = constant <{total}: 0.0> : {types['c']}\n"
    body += (
        f"%s = {name} %a, %b, {start} {signs} : {types['a']}, {types['b']}, {types['c']}\n"
        f"%w = store_view_tko weak %s, %cv[{where}] : {types['c']}, {tiles}, tile<i32> -> token\n"
    )
    pointers = ", ".join(f"%{n}p: tile<ptr<{kind}>>" for n, (_, kind) in shapes.items())
    return (
        f"cuda_tile.module @m {{ entry @k({pointers}) {hint} {{\n"
        f"%z = constant <i32: 0> : tile<i32>\n{body}return\n}} }}"
    )
