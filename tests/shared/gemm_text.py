"""The text of GEMM kernels: tiles of A times tiles of B, in a loop over K.

Programs of tests differ in what is around the loop and in it; each passes its own parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matrix_programs import View


def accumulator_of(element: str) -> str:
    """The type in which dots of an element type are accumulated."""
    return "i32" if element == "i8" else "f32"


def zeros(tile: str, name: str = "%none") -> str:
    """A tile of zeros, of a type such as `tile<64x64xf32>`."""
    element = tile.removesuffix(">").rpartition("x")[2]
    return f"{name} = constant <{element}: {'0' if element[0] == 'i' else '0.0'}> : {tile}"


def extent(name: str, argument: str, divisor: int = 16) -> str:
    """Name an argument that is no negative number, as TMA needs it, and a multiple of another."""
    return f"""%{name}_bounded = assume bounded<0, ?>, %{argument} : tile<i32>
    %{name} = assume div_by<{divisor}>, %{name}_bounded : tile<i32>"""


class Names(NamedTuple):
    """The values of an iteration that parts of a program may use."""

    a: str = "%x"
    a_token: str = "%tx"
    b: str = "%y"
    b_token: str = "%ty"
    accumulator: str = "%acc"
    iteration: str = "%i"


class KLoop(NamedTuple):
    """A loop over K whose iterations load a tile of A and one of B, and multiply them."""

    a: View
    b: View
    c: str
    """The type of the accumulator."""
    names: Names = Names()
    row: str = "%zero"
    """The row of tiles of A."""
    column: str = "%zero"
    """The column of tiles of B."""
    bounds: str = "%zero to %n, step %one"
    counter: str = "i32"
    start: str = "%none"
    carried: tuple[str, str, str] | None = None
    """One more tile like C, which is zero at first: in an iteration, after it, after the loop."""
    inside: str = ""
    """What follows the loads."""
    operands: tuple[str, str] | None = None
    """The operands of the dot, if `inside` computes them."""
    precision: str = ""
    """The element type of the operands, if it is not that of the tiles."""
    into: str = ""
    """What the dot is added to, if not to the accumulator."""
    signs: str = "signed signed"
    """Of the operands, if they are integers."""
    fast: str = ""
    """`fast_acc` for a dot of fp8."""
    after: str = ""
    """What follows the dot, `%d`, with `continue`."""

    def load_a(self) -> str:
        """Load a tile of A."""
        at = f"{self.row}, {self.names.iteration}"
        return self.a.load(at, self.names.a, self.names.a_token)

    def load_b(self) -> str:
        """Load a tile of B."""
        at = f"{self.names.iteration}, {self.column}"
        return self.b.load(at, self.names.b, self.names.b_token)

    def dot(self) -> str:
        """Multiply the operands."""
        name, how = ("mmai", self.signs) if self.a.element == "i8" else ("mmaf", self.fast)
        left, right = self.operands or (self.names.a, self.names.b)
        types = [
            each._replace(element=self.precision or each.element).tile_type
            for each in (self.a, self.b)
        ]
        into = self.into or self.names.accumulator
        modifiers = f"{into} {how}".strip()
        return f"%d = {name} {left}, {right}, {modifiers} : {', '.join(types)}, {self.c}"

    def text(self, result: str = "%sum") -> str:
        """The loop, with the name of its result."""
        results, types, yielded = result, self.c, "%d"
        values = f"{self.names.accumulator} = {self.start}"
        if self.carried is not None:
            inside, after, outside = self.carried
            results, values = f"{results}, {outside}", f"{values}, {inside} = %none"
            types, yielded = f"{types}, {types}", f"{yielded}, {after}"
        return f"""
      {results} = for {self.names.iteration} in ({self.bounds}) : tile<{self.counter}>
          iter_values({values}) -> ({types}) {{
        {self.load_a()}
        {self.load_b()}
        {self.inside}
        {self.dot()}
        {self.after or f"continue {yielded} : {types}"}
      }}"""


def kernel(
    views: Sequence[View],
    body: str,
    *,
    name: str = "k",
    arguments: str = "",
    hints: str = "",
    before: str = "",
) -> str:
    """A kernel with the numbers `%zero` and `%one`, and views of matrices.

    Its arguments are the addresses of the matrices, and others; `before` precedes the views.
    """
    pointers = ", ".join(f"%{each.address}: tile<ptr<{each.element}>>" for each in views)
    made = "".join(each.text() for each in views)
    return f"""
cuda_tile.module @m {{
  entry @{name}({pointers}{arguments and ", " + arguments}) {hints} {{
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    {before}
    {made}
    {body}
    return
  }}
}}"""
