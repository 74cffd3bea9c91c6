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
    """A tensor, and its tiles: the view `%{name}v`.

    Extents and strides are numbers, or names of arguments such as `%n`.
    """

    name: str
    shape: tuple[int | str, ...]
    strides: tuple[int | str, ...]
    tile: tuple[int, ...]
    element: str
    padding: str = ""
    """What is loaded out of bounds, such as `zero`."""
    pointer: str = ""
    """The name of the address, if it is not `%{name}p`."""
    aligned: bool = True
    """Whether the address is known to be a multiple of 16 bytes."""

    @property
    def address(self) -> str:
        """The name of the argument that is the address of the tensor."""
        return self.pointer or f"{self.name}p"

    @property
    def tensor_type(self) -> str:
        """The type of the whole tensor."""
        shape, strides = (
            ["?" if isinstance(each, str) else str(each) for each in numbers]
            for numbers in (self.shape, self.strides)
        )
        return f"tensor_view<{'x'.join(shape)}x{self.element}, strides=[{','.join(strides)}]>"

    @property
    def type(self) -> str:
        """The type of the view of its tiles."""
        padding = self.padding and f" padding_value = {self.padding},"
        return f"partition_view<tile=({_extents(self.tile)}),{padding} {self.tensor_type}>"

    @property
    def tile_type(self) -> str:
        """The type of one tile."""
        return f"tile<{_extents(self.tile)}x{self.element}>"

    def text(self) -> str:
        """The operations that create it."""
        name, address = self.name, self.address
        shape, strides = (", ".join(map(str, each)) for each in (self.shape, self.strides))
        dynamic = "tile<i32> -> " if "?" in self.tensor_type else ""
        assumed = ""
        if self.aligned:
            assumed = f"%{address}16 = assume div_by<16>, %{address} : tile<ptr<{self.element}>>\n"
            address += "16"
        return (
            f"{assumed}%{name}t = make_tensor_view %{address}, "
            f"shape = [{shape}], strides = [{strides}] : {dynamic}{self.tensor_type}\n"
            f"%{name}v = make_partition_view %{name}t : {self.type}\n"
        )

    def load(self, at: str, value: str, token: str) -> str:
        """Load a tile."""
        return (
            f"{value}, {token} = load_view_tko weak %{self.name}v[{at}] "
            f": {self.type}, tile<i32> -> {self.tile_type}, token"
        )

    def store(self, value: str, at: str = "%zero, %zero", token: str = "%stored") -> str:
        """Store a tile."""
        return (
            f"{token} = store_view_tko weak {value}, %{self.name}v[{at}] "
            f": {self.tile_type}, {self.type}, tile<i32> -> token"
        )


def _extents(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def whole(name: str, shape: tuple[int, ...], element: str, addresses: Addresses) -> View:
    """A tensor of one tile."""
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    if name == "b" and addresses == "k_major":
        strides[-2:] = [1, shape[-2]]
    aligned = addresses != "unaligned"
    return View(name, shape, tuple(strides), shape, element, aligned=aligned)


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
        body += f"{each.text()}{each.load(indices, f'%{name}', f'%{name}r')}\n"
    name, signs = ("mmai", how) if how else ("mmaf", "")
    start = "%none" if anew else "%c"
    if anew:
        body += f"%none = constant <{accumulator}: 0.0> : {types['c']}\n"
    body += (
        f"%s = {name} %a, %b, {start} {signs} : {types['a']}, {types['b']}, {types['c']}\n"
        f"{views['c'].store('%s', indices)}\n"
    )
    pointers = ", ".join(f"%{n}p: tile<ptr<{each.element}>>" for n, each in views.items())
    return (
        f"cuda_tile.module @m {{ entry @k({pointers}) {hint} {{\n"
        f"%z = constant <i32: 0> : tile<i32>\n{body}return\n}} }}"
    )
