"""GEMM kernels for warp specialization: tiles of 64 rows, with control flow around the loop over K.

The kernel has A (m x k), B (k x n) and C (256 x 256) in memory, all row-major unless B is K-major.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from gemm_text import KLoop, Names, accumulator_of, extent, kernel, zeros
from matrix_programs import View

ROWS: Final = 256
"""The rows of C."""
COLUMNS: Final = 256
"""The columns of C."""
ARGUMENTS: Final = "%m0: tile<i32>, %n0: tile<i32>, %k0: tile<i32>"
ASSUMPTIONS: Final = f"""%two = constant <i32: 2> : tile<i32>
    {extent("m", "m0", 1)}
    {extent("n", "n0")}
    {extent("k", "k0")}"""
"""N and K are multiples of 16, which makes rows of A and B aligned."""


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
        return "f16" if self.half else accumulator_of(self.element)

    @property
    def c(self) -> str:
        """The tile of C."""
        return f"tile<{self.tile[0]}x{self.tile[1]}x{self.accumulator}>"

    def matrix(self, name: str) -> View:
        """A, B or C."""
        m, n, k = self.tile
        if name == "a":
            return View("a", ("%m", "%k"), ("%k", 1), (m, k), self.element, "zero", "p")
        if name == "b":
            strides = (1, "%k") if self.k_major else ("%n", 1)
            return View("b", ("%k", "%n"), strides, (k, n), self.element, "zero", "q")
        shape, strides = (ROWS, COLUMNS), (COLUMNS, 1)
        return View("c", shape, strides, (m, n), self.accumulator, "", "r", aligned=False)

    def view(self, name: str) -> str:
        """The type of a view of A, B or C."""
        return self.matrix(name).type

    def k_loop(
        self,
        name: str = "sum",
        row: str = "%i",
        bounds: str = "%zero to %steps, step %one",
        start: str = "%none",
    ) -> str:
        """A loop over K, whose result is `name`, for a row of tiles."""
        a, b = self.matrix("a"), self.matrix("b")
        loop = KLoop(a, b, self.c, Names(iteration="%j"), row, bounds=bounds, start=start)
        if self.precision:
            tiles = [(each.tile_type, each._replace(element=self.precision)) for each in (a, b)]
            converted = [
                f"%{name}r = ftof %{name} : {before} -> {after.tile_type}"
                for name, (before, after) in zip("xy", tiles, strict=True)
            ]
            inside = "\n".join(converted)
            loop = loop._replace(inside=inside, operands=("%xr", "%yr"), precision=self.precision)
        return loop.text(f"%{name}")

    def store(self, value: str = "%sum", row: str = "%i", name: str = "stored") -> str:
        """Store a tile of C."""
        return self.matrix("c").store(value, f"{row}, %zero", f"%{name}")

    def program(self, body: str) -> str:
        """The kernel."""
        return kernel(
            [self.matrix(name) for name in "abc"],
            f"{zeros(self.c)}\n{body}",
            arguments=f"{ARGUMENTS}, %tiles: tile<i32>, %steps: tile<i32>",
            hints=self.hints,
            before=ASSUMPTIONS,
        )

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
