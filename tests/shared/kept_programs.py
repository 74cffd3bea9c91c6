"""Kernels whose loops load the same tiles: rows are reduced twice, and then written.

Of each row `x` of `columns` elements, `s` is the sum and `q` the sum of squares; `y = x * s + q`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

WIDTH = 512
"""Elements of a tile: 16 bytes for each of 128 threads in f32."""
STRIDE = 8 * WIDTH
"""Elements of a row in memory."""
TILE = f"tile<1x{WIDTH}xf32>"
TENSOR = f"tensor_view<?x?xf32, strides=[{STRIDE},1]>"
UNTOUCHED = 77

PRELUDE = f"""
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c2 = constant <i32: 2> : tile<i32>
    %none = constant <f32: 0.0> : {TILE}
    %zero = constant <f32: 0.0> : tile<f32>
    %t0 = make_token : token
    %ap = assume div_by<16>, %a : tile<ptr<f32>>
    %bp = assume div_by<16>, %b : tile<ptr<f32>>
    %at = make_tensor_view %ap, shape = [%rows, %columns], strides = [{STRIDE}, 1] :
      tile<i32> -> {TENSOR}
    %bt = make_tensor_view %bp, shape = [%rows, %columns], strides = [{STRIDE}, 1] :
      tile<i32> -> {TENSOR}
    %x, %y, %z = get_tile_block_id : tile<i32>"""


def view(padding: str = "zero") -> str:
    """The type of a view of rows."""
    value = f" padding_value = {padding}," if padding else ""
    return f"partition_view<tile=(1x{WIDTH}),{value} {TENSOR}>"


def load(name: str, source: str = "%av", index: str = "%i", token: str = "%t0") -> str:
    return (
        f"%{name}, %t_{name} = load_view_tko weak {source}[%row, {index}] token = {token} : "
        f"{view()}, tile<i32> -> {TILE}, token\n"
    )


def store(value: str, target: str = "%bv", index: str = "%i", token: str = "%t0") -> str:
    return (
        f"%stored = store_view_tko weak {value}, {target}[%row, {index}] token = {token} : "
        f"{TILE}, {view('')}, tile<i32> -> token\n"
    )


def loop(inside: str, carried: str = "", bounds: str = "%start to %end, step %c1") -> str:
    """A loop over tiles; `carried` names a tile that it accumulates, `%next` its next value."""
    if not carried:
        return f"for %i in ({bounds}) : tile<i32> {{ {inside} continue }}\n"
    return f"""{carried} = for %i in ({bounds}) : tile<i32> iter_values(%acc = %none) -> ({TILE}) {{
      {inside} continue %next : {TILE} }}
"""


def reduced(tile: str, name: str) -> str:
    """The sum of a tile, broadcast to a tile."""
    return f"""
    %{name}_1 = reduce {tile} dim=1 identities=[0.0 : f32] : {TILE} -> tile<1xf32>
      (%l: tile<f32>, %r: tile<f32>) {{ %lr = addf %l, %r : tile<f32> yield %lr : tile<f32> }}
    %{name}_2 = reshape %{name}_1 : tile<1xf32> -> tile<1x1xf32>
    %{name} = broadcast %{name}_2 : tile<1x1xf32> -> {TILE}
"""


ADDED = f"%next = addf %acc, %p : {TILE} "
SQUARED = f"%square = mulf %p, %p : {TILE} %next = addf %acc, %square : {TILE} "
WRITTEN = f"%scaled = mulf %p, %s : {TILE} %value = addf %scaled, %q : {TILE} "
FIRST = load("p") + ADDED
SECOND = load("p") + SQUARED
THIRD = load("p") + WRITTEN + store("%value")


def rows(first: str = FIRST, second: str = SECOND, third: str = THIRD, **bounds: str) -> str:
    """The three loops over the tiles of `%row`."""
    return (
        loop(first, "%added", **bounds)
        + reduced("%added", "s")
        + loop(second, "%squares", **bounds)
        + reduced("%squares", "q")
        + loop(third, **bounds)
    )


UNDEFINED = f"%au = make_partition_view %at : {view('')}\n"
"""A view of the first matrix that leaves padding undefined."""
UNPADDED = load("p", source="%au").replace(view(), view(""))
"""Load a tile of it."""


def program(body: str, hints: str = "") -> str:
    """A kernel with the matrices %a and %b."""
    return f"""
cuda_tile.module @m {{
  entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %rows: tile<i32>, %columns: tile<i32>,
           %start: tile<i32>, %end: tile<i32>, %blocks: tile<i32>) {hints} {{
    {PRELUDE}
    %av = make_partition_view %at : {view()}
    %bv = make_partition_view %bt : {view("")}
    {body}
    return
  }}
}}
"""


def one_row(body: str) -> str:
    """A kernel whose blocks have one row each."""
    return program(f"%row = addi %x, %c0 : tile<i32>\n{body}")


def persistent(body: str) -> str:
    """A kernel whose blocks have several rows."""
    return program(f"for %row in (%x to %rows, step %blocks) : tile<i32> {{ {body} continue }}")


NORM = one_row(rows())
PERSISTENT = persistent(rows())


def matrices(rows: int, columns: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """A matrix of small integers, NaN after the last column, and one for the result."""
    a = np.full((rows, STRIDE), np.nan, np.float32)
    a[:, :columns] = np.random.default_rng(columns).integers(-3, 4, (rows, columns))
    return a, np.full((rows, STRIDE), UNTOUCHED, np.float32)


def expected(a: npt.NDArray[np.float32], columns: int, indices: range) -> npt.NDArray[np.float32]:
    """The result of the three loops over some tiles."""
    chosen = np.zeros(STRIDE, np.bool_)
    for index in indices:
        chosen[index * WIDTH : (index + 1) * WIDTH] = True
    chosen[columns:] = False
    x = np.where(chosen, a, 0)
    s, q = x.sum(1, keepdims=True), (x * x).sum(1, keepdims=True)
    return np.where(chosen, x * s + q, UNTOUCHED).astype(np.float32)
