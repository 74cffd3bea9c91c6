"""GEMM kernels in nv_tileaa whose CTAs share tiles: each of a cluster computes its own tile of C.

The CTAs are a grid of some rows and columns. Those in the same column load the same tiles of B, and
those in the same row the same tiles of A. A (m x k), B (k x n) and C (512 x 512) are row-major in
memory, unless B is K-major.
"""

from __future__ import annotations

from typing import Final, NamedTuple

EXTENT: Final = 512
"""The rows and the columns of C."""


class ClusterGemm(NamedTuple):
    """The types of a kernel, and the texts of its parts."""

    rows: int = 2
    """CTAs of a cluster along M."""
    columns: int = 1
    """CTAs of a cluster along N."""
    element: str = "f16"
    """The type of A and B."""
    tile: tuple[int, int, int] = (64, 64, 32)
    """Of a CTA."""
    k_major: bool = False
    """Whether B is contiguous along K."""

    @property
    def ctas(self) -> int:
        """CTAs of a cluster."""
        return self.rows * self.columns

    @property
    def c(self) -> str:
        """The tile of C."""
        return f"tensor<{self.tile[0]}x{self.tile[1]}x{self.accumulator}>"

    @property
    def accumulator(self) -> str:
        """The element type of C."""
        return "i32" if self.element == "i8" else "f32"

    def memory(self, name: str) -> str:
        """The type of A, B or C in memory."""
        if name == "c":
            return (
                f"!nv_tileaa.memref<{EXTENT}x{EXTENT}x{self.accumulator}, strides = [{EXTENT}, 1]>"
            )
        strides = "[1, ?]" if name == "b" and self.k_major else "[?, 1]"
        return f"!nv_tileaa.memref<?x?x{self.element}, strides = {strides}>"

    def view(self, name: str) -> str:
        """The type of a view of A, B or C."""
        m, n, k = self.tile
        tile = {"a": (m, k), "b": (k, n), "c": (m, n)}[name]
        padding = "" if name == "c" else ", padding = zero"
        source = f"source = {self.memory(name)}{padding}"
        return f"!nv_tileaa.tiled_view<tile = [{tile[0]}, {tile[1]}], {source}>"

    def load(self, name: str, indices: str, mask: int) -> str:
        """Load a tile that the CTAs share whose ranks differ in the bits of a mask."""
        m, n, k = self.tile
        tile = f"{m}x{k}" if name == "a" else f"{k}x{n}"
        shared = f"{{nv_tileaa.cluster_shared = {mask} : i32}}" if mask else ""
        return (
            f"%{name}:2 = nv_tileaa.tiled_load weak %{name}v[{indices}] {shared} "
            f": i32, i32 of {self.view(name)} -> tensor<{tile}x{self.element}>"
        )

    def k_loop(self, name: str = "sum", steps: str = "%steps", start: str = "%none") -> str:
        """A loop over K, whose result is `name`, for the row `%row` and the column `%column`."""
        m, n, k = self.tile
        shared_a, shared_b = (self.columns - 1) * self.rows, self.rows - 1
        types = f"tensor<{m}x{k}x{self.element}>, tensor<{k}x{n}x{self.element}>, {self.c}"
        signs = ""
        if self.element == "i8":
            signs = ", signedness_a = #nv_tileaa.signedness<signed>"
            signs += ", signedness_b = #nv_tileaa.signedness<signed>"
        return f"""
      %{name} = scf.for %j = %zero to {steps} step %one iter_args(%acc = {start}) -> ({self.c}) : i32 {{
        {self.load("a", "%row, %j", shared_a)}
        {self.load("b", "%j, %column", shared_b)}
        %dot = nv_tileaa.dot %a#0, %b#0, %acc {{input_precision = "tf32"{signs}}} : {types}
        scf.yield %dot : {self.c}
      }}"""  # noqa: E501

    def store(self, value: str = "%sum", name: str = "stored") -> str:
        """Store a tile of C."""
        return (
            f"%{name} = nv_tileaa.tiled_store weak {value}, %cv[%row, %column] "
            f": {self.c}, i32, i32 of {self.view('c')}"
        )

    def program(self, body: str) -> str:
        """The kernel; `%row_of_cta` and `%column_of_cta` say which CTA of the cluster this is."""
        a, b, c = (self.memory(name) for name in "abc")
        zero = "0" if self.accumulator == "i32" else "0.0"
        stride = "%k" if self.k_major else "%n"
        pointers = [f"!nv_tileaa.ptr<{each}>" for each in (self.element, self.accumulator)]
        return f"""
gpu.module @m attributes {{nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>}} {{
  nv_tileaa.func @k(%p: {pointers[0]}, %q: {pointers[0]}, %r: {pointers[1]}, %m0: i32, %n0: i32, %k0: i32, %tiles: i32, %steps: i32)
      attributes {{kernel_spec = #nv_tileaa.kernel_spec<num_ctas = {self.ctas}>}} {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %rows = arith.constant {self.rows} : i32
    %last_row = arith.constant {self.rows - 1} : i32
    %rank = nv_tileaa.get_cta_rank : i32
    %row_of_cta = arith.andi %rank, %last_row : i32
    %column_of_cta = arith.divui %rank, %rows : i32
    %number = arith.constant {zero} : {self.accumulator}
    %none = nv_tileaa.splat %number : {self.accumulator} -> {self.c}
    %p16 = nv_tileaa.assume #nv_tileaa.div_by<16>, %p : {pointers[0]}
    %q16 = nv_tileaa.assume #nv_tileaa.div_by<16>, %q : {pointers[0]}
    %n1 = nv_tileaa.assume #nv_tileaa.bounded<0, ?>, %n0 : i32
    %k1 = nv_tileaa.assume #nv_tileaa.bounded<0, ?>, %k0 : i32
    %m = nv_tileaa.assume #nv_tileaa.bounded<0, ?>, %m0 : i32
    %n = nv_tileaa.assume #nv_tileaa.div_by<16>, %n1 : i32
    %k = nv_tileaa.assume #nv_tileaa.div_by<16>, %k1 : i32
    %at = nv_tileaa.make_memref %p16 sizes(%m, %k : i32, i32) strides(%k : i32) : {pointers[0]} -> {a}
    %bt = nv_tileaa.make_memref %q16 sizes(%k, %n : i32, i32) strides({stride} : i32) : {pointers[0]} -> {b}
    %ct = nv_tileaa.make_memref %r : {pointers[1]} -> {c}
    %av = nv_tileaa.block_tile %at : {self.view("a")}
    %bv = nv_tileaa.block_tile %bt : {self.view("b")}
    %cv = nv_tileaa.block_tile %ct : {self.view("c")}
    {body}
    nv_tileaa.return
  }}
}}"""  # noqa: E501

    def persistent(self, body: str = "") -> str:
        """A kernel whose clusters compute several rows of tiles."""
        return self.program(f"""
    scf.for %i = %zero to %tiles step %one : i32 {{
      %first = arith.muli %i, %rows : i32
      %row = arith.addi %first, %row_of_cta : i32
      %column = arith.addi %column_of_cta, %zero : i32
      {body or self.k_loop() + self.store()}
    }}""")

    def one_shot(self, body: str = "") -> str:
        """A kernel whose CTAs compute one tile."""
        return self.program(f"""
    %row = arith.addi %row_of_cta, %zero : i32
    %column = arith.addi %column_of_cta, %zero : i32
    {body or self.k_loop() + self.store()}""")


def multicast_masks(text: str) -> list[int]:
    """The masks of the copies of a kernel in nv_tileas, 0 for those that do not multicast."""
    copies = [line for line in text.splitlines() if "producer_copy" in line]
    parts = [line.partition("multicast = ")[2].partition(" ")[0] for line in copies]
    return [int(part or 0) for part in parts]
