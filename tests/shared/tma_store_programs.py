"""GEMM kernels whose consumers store by TMA: C and D have aligned rows, and extents of their own.

A is m x k, B is k x n; C and D are rows x columns with 256 elements from a row to the next.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from gemm_text import extent, kernel, zeros
from matrix_programs import View
from specialized_programs import ARGUMENTS, ASSUMPTIONS, Gemm

PITCH: Final = 256
"""Elements from a row of C or D to the next."""


class StoredGemm(NamedTuple):
    """The types of a kernel, and the texts of its parts."""

    gemm: Gemm
    output: str = "f16"
    """The element type of C and D."""
    padding: str = ""
    """Of the views of C and D."""
    column_divisor: int = 16
    """What the columns of C and D are known to be a multiple of."""

    @property
    def tile(self) -> str:
        """The tile of C."""
        m, n, _ = self.gemm.tile
        return f"tile<{m}x{n}x{self.output}>"

    def matrix(self, name: str) -> View:
        """C or D."""
        shape, (m, n, _) = ("%rows", "%columns"), self.gemm.tile
        pointer = {"c": "r", "d": "s"}[name]
        return View(name, shape, (PITCH, 1), (m, n), self.output, self.padding, pointer)

    @property
    def view(self) -> str:
        """The type of the views of C and D."""
        return self.matrix("c").type

    @property
    def bias(self) -> View:
        """A row of C, in f32."""
        n = self.gemm.tile[1]
        return View("e", (n,), (1,), (n,), "f32", "", "t", aligned=False)

    def converted(self, name: str = "o", value: str = "%sum") -> str:
        """Convert an accumulator to the type of C."""
        if self.output == "i32":
            return f"%{name} = ftoi {value} signed : {self.gemm.c} -> {self.tile}"
        if self.output == self.gemm.accumulator:
            return f"%{name} = addf {value}, %none : {self.gemm.c}"
        return f"%{name} = ftof {value} : {self.gemm.c} -> {self.tile}"

    def store(
        self,
        value: str = "%o",
        view: str = "%cv",
        row: str = "%i",
        name: str = "stored",
        token: str = "",
        hints: str = "",
    ) -> str:
        """Store a tile of C or D."""
        after = f" token={token}" if token else ""
        return (
            f"%{name} = store_view_tko weak {value}, {view}[{row}, %zero]{after} {hints}"
            f": {self.tile}, {self.view}, tile<i32> -> token"
        )

    def reduce(self, mode: str, value: str = "%o") -> str:
        """Combine a tile of C with a value, atomically."""
        return (
            f"%reduced = atomic_red_view_tko relaxed device %cv[%i, %zero], {mode}, {value} "
            f": {self.tile}, {self.view}, tile<i32> -> token"
        )

    def load(self, name: str, view: str, row: str, token: str) -> str:
        """Load a tile of C or D."""
        return (
            f"%{name}, %{name}_token = load_view_tko weak {view}[{row}, %zero] token={token} "
            f": {self.view}, tile<i32> -> {self.tile}, token"
        )

    def one_tile(self, epilogue: str) -> str:
        """One tile of C a block."""
        return self.program(f"{self.gemm.k_loop(row='%zero')}\n{epilogue}")

    def persistent(self, epilogue: str) -> str:
        """A loop over rows of tiles."""
        return self.program(f"""
    for %i in (%zero to %tiles, step %one) : tile<i32> {{
      {self.gemm.k_loop()}
      {epilogue}
    }}""")

    def program(self, body: str) -> str:
        """The kernel."""
        gemm = self.gemm
        numbers = "%rows0: tile<i32>, %columns0: tile<i32>, %tiles: tile<i32>, %steps: tile<i32>"
        rows, columns = (
            extent("rows", "rows0", 1),
            extent("columns", "columns0", self.column_divisor),
        )
        return kernel(
            [gemm.matrix("a"), gemm.matrix("b"), self.matrix("c"), self.matrix("d"), self.bias],
            f"{zeros(gemm.c)}\n{body}",
            arguments=f"{ARGUMENTS}, {numbers}",
            before=f"{ASSUMPTIONS}\n{rows}\n{columns}",
        )

    @property
    def bias_and_relu(self) -> str:
        """Add a row to each row of the accumulator, and clear negative elements: `%z`."""
        c, n = self.gemm.c, self.gemm.tile[1]
        return f"""
      {self.bias.load("%zero", "%row", "%row_token")}
      %row1 = reshape %row : tile<{n}xf32> -> tile<1x{n}xf32>
      %bias = broadcast %row1 : tile<1x{n}xf32> -> {c}
      %biased = addf %sum, %bias : {c}
      %z = maxf %biased, %none : {c}"""
