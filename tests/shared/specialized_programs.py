"""GEMM kernels for warp specialization: tiles of 64 rows, with control flow around the loop over K.

The kernel has A (m x k), B (k x n) and C (256 x 256) in memory, all row-major unless B is K-major.
"""

from __future__ import annotations

from typing import Final, NamedTuple

ROWS: Final = 256
"""The rows of C."""
COLUMNS: Final = 256
"""The columns of C."""


class Gemm(NamedTuple):
    """The types of a kernel, and the texts of its parts."""

    element: str = "f16"
    """The type of A and B in memory."""
    tile: tuple[int, int, int] = (64, 64, 32)
    k_major: bool = False
    """Whether B is contiguous along K."""
    precision: str = ""
    """The type of A and B in the dot, if they are rounded to another one."""
    half: bool = False
    """Whether f16 is accumulated in f16."""
    hints: str = ""

    @property
    def accumulator(self) -> str:
        """The element type of C."""
        if self.half:
            return "f16"
        return "i32" if self.element == "i8" else "f32"

    @property
    def c(self) -> str:
        """The tile of C."""
        return f"tile<{self.tile[0]}x{self.tile[1]}x{self.accumulator}>"

    def view(self, name: str) -> str:
        """The type of a view of A, B or C."""
        m, n, k = self.tile
        if name == "c":
            tensor = f"tensor_view<{ROWS}x{COLUMNS}x{self.accumulator}, strides=[{COLUMNS},1]>"
            return f"partition_view<tile=({m}x{n}), {tensor}>"
        strides = "[1,?]" if name == "b" and self.k_major else "[?,1]"
        tile = f"{m}x{k}" if name == "a" else f"{k}x{n}"
        tensor = f"tensor_view<?x?x{self.element}, strides={strides}>"
        return f"partition_view<tile=({tile}), padding_value = zero, {tensor}>"

    def k_loop(
        self,
        name: str = "sum",
        row: str = "%i",
        bounds: str = "%zero to %steps, step %one",
        start: str = "%none",
    ) -> str:
        """A loop over K, whose result is `name`, for a row of tiles."""
        m, n, k = self.tile
        a, b = f"tile<{m}x{k}x", f"tile<{k}x{n}x"
        x, y, element, converted = "%x", "%y", self.element, ""
        if self.precision:
            element, x, y = self.precision, "%xr", "%yr"
            converted = (
                f"%xr = ftof %x : {a}{self.element}> -> {a}{element}>\n"
                f"%yr = ftof %y : {b}{self.element}> -> {b}{element}>"
            )
        dot = f"mmai {x}, {y}, %acc signed signed" if element == "i8" else f"mmaf {x}, {y}, %acc"
        return f"""
      %{name} = for %j in ({bounds}) : tile<i32> iter_values(%acc = {start}) -> ({self.c}) {{
        %x, %tx = load_view_tko weak %av[{row}, %j] : {self.view("a")}, tile<i32> -> {a}{self.element}>, token
        %y, %ty = load_view_tko weak %bv[%j, %zero] : {self.view("b")}, tile<i32> -> {b}{self.element}>, token
        {converted}
        %d = {dot} : {a}{element}>, {b}{element}>, {self.c}
        continue %d : {self.c}
      }}"""  # noqa: E501

    def store(self, value: str = "%sum", row: str = "%i", name: str = "stored") -> str:
        """Store a tile of C."""
        return (
            f"%{name} = store_view_tko weak {value}, %cv[{row}, %zero] "
            f": {self.c}, {self.view('c')}, tile<i32> -> token"
        )

    def program(self, body: str) -> str:
        """The kernel."""
        a, b, c = (self.view(name).partition("tensor_view")[2] for name in "abc")
        a, b, c = (f"tensor_view{each.removesuffix('>')}" for each in (a, b, c))
        zero = "0" if self.accumulator == "i32" else "0.0"
        b_strides = "[1, %k]" if self.k_major else "[%n, 1]"
        return f"""
cuda_tile.module @m {{
  entry @k(%p: tile<ptr<{self.element}>>, %q: tile<ptr<{self.element}>>, %r: tile<ptr<{self.accumulator}>>,
           %m0: tile<i32>, %n0: tile<i32>, %k0: tile<i32>, %tiles: tile<i32>, %steps: tile<i32>) {self.hints} {{
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %none = constant <{self.accumulator}: {zero}> : {self.c}
    %p16 = assume div_by<16>, %p : tile<ptr<{self.element}>>
    %q16 = assume div_by<16>, %q : tile<ptr<{self.element}>>
    %m = assume bounded<0, ?>, %m0 : tile<i32>
    %n1 = assume bounded<0, ?>, %n0 : tile<i32>
    %k1 = assume bounded<0, ?>, %k0 : tile<i32>
    %n = assume div_by<16>, %n1 : tile<i32>
    %k = assume div_by<16>, %k1 : tile<i32>
    %at = make_tensor_view %p16, shape = [%m, %k], strides = [%k, 1] : tile<i32> -> {a}
    %bt = make_tensor_view %q16, shape = [%k, %n], strides = {b_strides} : tile<i32> -> {b}
    %ct = make_tensor_view %r, shape = [{ROWS}, {COLUMNS}], strides = [{COLUMNS}, 1] : {c}
    %av = make_partition_view %at : {self.view("a")}
    %bv = make_partition_view %bt : {self.view("b")}
    %cv = make_partition_view %ct : {self.view("c")}
    {body}
    return
  }}
}}"""  # noqa: E501

    def persistent(self, body: str = "") -> str:
        """A kernel whose blocks compute several rows of tiles."""
        inside = body or self.k_loop() + "\n      " + self.store()
        return self.program(f"""
    for %i in (%zero to %tiles, step %one) : tile<i32> {{
      {inside}
      continue
    }}""")

    def one_shot(self) -> str:
        """A kernel whose blocks compute one tile."""
        return self.program(f"{self.k_loop(row='%zero')}\n{self.store(row='%zero')}")

    def after_another_dot(self) -> str:
        """A persistent kernel that starts each tile with a dot of tiles that are twice as wide."""
        m, n, k = self.tile
        wide = self._replace(tile=(m, n, 2 * k))
        a, b = f"tile<{m}x{2 * k}x{self.element}>", f"tile<{2 * k}x{n}x{self.element}>"
        return self.program(f"""
    %wide = make_partition_view %at : {wide.view("a")}
    %high = make_partition_view %bt : {wide.view("b")}
    for %i in (%zero to %tiles, step %one) : tile<i32> {{
      %wx, %wt = load_view_tko weak %wide[%i, %zero] : {wide.view("a")}, tile<i32> -> {a}, token
      %wy, %wu = load_view_tko weak %high[%i, %zero] : {wide.view("b")}, tile<i32> -> {b}, token
      %start = mmaf %wx, %wy, %none : {a}, {b}, {self.c}
      {self.k_loop(start="%start")}
      {self.store()}
      continue
    }}""")
