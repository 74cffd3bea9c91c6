"""Tile IR programs of one dot of single-tile matrices."""

from __future__ import annotations

from math import prod
from typing import Any, Final, Literal, NamedTuple

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
"""The dtypes of the arrays that hold matrices of a type."""

Addresses = Literal["unaligned", "aligned", "k_major"]
"""The facts about the addresses of matrices; with `k_major`, B is aligned and K-major."""


class View(NamedTuple):
    """A tensor at the address `%{name}p`, and its tiles, `%{name}v`."""

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    tile: tuple[int, ...]
    element: str

    @property
    def tensor_type(self) -> str:
        """The type of the whole tensor."""
        strides = ",".join(map(str, self.strides))
        return f"tensor_view<{_extents(self.shape)}x{self.element}, strides=[{strides}]>"

    @property
    def type(self) -> str:
        """The type of the view of its tiles."""
        return f"partition_view<tile=({_extents(self.tile)}), {self.tensor_type}>"

    @property
    def tile_type(self) -> str:
        """The type of one tile."""
        return f"tile<{_extents(self.tile)}x{self.element}>"

    def text(self, *, aligned: bool = True) -> str:
        """The operations that create it, with an assumption of 16-byte alignment if `aligned`."""
        name, shape, strides = self.name, list(self.shape), list(self.strides)
        return (
            f"%{name}d = assume div_by<16>, %{name}p : tile<ptr<{self.element}>>\n"
            f"%{name}t = make_tensor_view %{name}{'d' if aligned else 'p'}, "
            f"shape = {shape}, strides = {strides} : {self.tensor_type}\n"
            f"%{name}v = make_partition_view %{name}t : {self.type}\n"
        )


def _extents(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def whole(name: str, shape: tuple[int, ...], element: str, addresses: Addresses) -> View:
    """A tensor of one tile."""
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    if name == "b" and addresses == "k_major":
        strides[-2:] = [1, shape[-2]]
    return View(name, shape, tuple(strides), shape, element)


def dot_program(
    a: tuple[int, ...],
    b: tuple[int, ...],
    element: str,
    accumulator: str,
    how: str = "",
    hint: str = "",
    addresses: Addresses = "unaligned",
    anew: bool = False,
) -> str:
    """Return a program that computes `c = a @ b + c`, or `c = a @ b` if `anew`."""
    shapes = {"a": (a, element), "b": (b, element), "c": ((*a[:-1], b[-1]), accumulator)}
    views = {name: whole(name, shape, of, addresses) for name, (shape, of) in shapes.items()}
    types = {name: each.tile_type for name, each in views.items()}
    body = ""
    indices = ", ".join(["%z"] * len(a))
    for name, each in views.items():
        body += each.text(aligned=addresses != "unaligned") + (
            f"%{name}, %{name}r = load_view_tko weak %{name}v[{indices}] "
            f": {each.type}, tile<i32> -> {each.tile_type}, token\n"
        )
    tiles = views["c"].type
    name, signs = ("mmai", how) if how else ("mmaf", "")
    start = "%none" if anew else "%c"
    if anew:
        body += f"%none = constant <{accumulator}: 0.0> : {types['c']}\n"
    body += (
        f"%s = {name} %a, %b, {start} {signs} : {types['a']}, {types['b']}, {types['c']}\n"
        f"%w = store_view_tko weak %s, %cv[{indices}] : {types['c']}, {tiles}, tile<i32> -> token\n"
    )
    pointers = ", ".join(f"%{n}p: tile<ptr<{each.element}>>" for n, each in views.items())
    return (
        f"cuda_tile.module @m {{ entry @k({pointers}) {hint} {{\n"
        f"%z = constant <i32: 0> : tile<i32>\n{body}return\n}} }}"
    )
