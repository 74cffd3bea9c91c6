"""GEMM kernels whose consumers store by TMA: C and D have aligned rows, and extents of their own.

A is m x k, B is k x n; C and D are rows x columns with 256 elements from a row to the next.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from specialized_programs import Gemm

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

    @property
    def tensor(self) -> str:
        """The type of C and D in memory."""
        return f"tensor_view<?x?x{self.output}, strides=[{PITCH},1]>"

    @property
    def view(self) -> str:
        """The type of the views of C and D."""
        m, n, _ = self.gemm.tile
        return f"partition_view<tile=({m}x{n}), {self.padding}{self.tensor}>"

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
        gemm, output = self.gemm, self.output
        a, b = (gemm.view(name).partition("tensor_view")[2].removesuffix(">") for name in "ab")
        n = gemm.tile[1]
        return f"""
cuda_tile.module @m {{
  entry @k(%p: tile<ptr<{gemm.element}>>, %q: tile<ptr<{gemm.element}>>,
           %r: tile<ptr<{output}>>, %s: tile<ptr<{output}>>, %t: tile<ptr<f32>>,
           %m: tile<i32>, %n0: tile<i32>, %k0: tile<i32>, %rows: tile<i32>, %columns0: tile<i32>,
           %tiles: tile<i32>, %steps: tile<i32>) {{
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %none = constant <f32: 0.0> : {gemm.c}
    %p16 = assume div_by<16>, %p : tile<ptr<{gemm.element}>>
    %q16 = assume div_by<16>, %q : tile<ptr<{gemm.element}>>
    %r16 = assume div_by<16>, %r : tile<ptr<{output}>>
    %s16 = assume div_by<16>, %s : tile<ptr<{output}>>
    %n = assume div_by<16>, %n0 : tile<i32>
    %k = assume div_by<16>, %k0 : tile<i32>
    %columns = assume div_by<{self.column_divisor}>, %columns0 : tile<i32>
    %at = make_tensor_view %p16, shape = [%m, %k], strides = [%k, 1] : tile<i32> -> tensor_view{a}
    %bt = make_tensor_view %q16, shape = [%k, %n], strides = [%n, 1] : tile<i32> -> tensor_view{b}
    %ct = make_tensor_view %r16, shape = [%rows, %columns], strides = [{PITCH}, 1]
        : tile<i32> -> {self.tensor}
    %dt = make_tensor_view %s16, shape = [%rows, %columns], strides = [{PITCH}, 1]
        : tile<i32> -> {self.tensor}
    %et = make_tensor_view %t, shape = [{n}], strides = [1] : tensor_view<{n}xf32, strides=[1]>
    %av = make_partition_view %at : {gemm.view("a")}
    %bv = make_partition_view %bt : {gemm.view("b")}
    %cv = make_partition_view %ct : {self.view}
    %dv = make_partition_view %dt : {self.view}
    %ev = make_partition_view %et : partition_view<tile=({n}), tensor_view<{n}xf32, strides=[1]>>
    {body}
    return
  }}
}}"""

    @property
    def bias_and_relu(self) -> str:
        """Add a row to each row of the accumulator, and clear negative elements: `%z`."""
        c, n = self.gemm.c, self.gemm.tile[1]
        return f"""
      %row, %row_token = load_view_tko weak %ev[%zero]
          : partition_view<tile=({n}), tensor_view<{n}xf32, strides=[1]>>, tile<i32>
          -> tile<{n}xf32>, token
      %row1 = reshape %row : tile<{n}xf32> -> tile<1x{n}xf32>
      %bias = broadcast %row1 : tile<1x{n}xf32> -> {c}
      %biased = addf %sum, %bias : {c}
      %z = maxf %biased, %none : {c}"""
