"""GEMM kernels: one tile, with a loop over K, of any types and majors."""

from __future__ import annotations

from typing import Final

STRIDES: Final = {"k": ("[1024,1]", "[1,1024]"), "other": ("[1,1024]", "[1024,1]")}
"""The strides of A and B in memory, by what is contiguous in it."""


def gemm(
    tile: tuple[int, int, int] = (128, 64, 64),
    element: str = "f8E4M3FN",
    *,
    a: str = "k",
    b: str = "other",
    after: str = "",
    fast: str = "",
    start: str = "constant <f32: 0.0>",
    epilogue: str = "",
    result: str = "%sum",
) -> str:
    """A kernel with a loop over K; `after` follows the dot, whose result is `%d`.

    The `epilogue` follows the loop, whose result is `%sum`; `result` is stored.
    """
    m, n, k = tile
    accumulator = "i32" if element == "i8" else "f32"
    views = {
        "a": ((m, k), element, STRIDES[a][0]),
        "b": ((k, n), element, STRIDES[b][1]),
        "c": ((m, n), accumulator, "[1024,1]"),
    }
    types: dict[str, str] = {}
    made = ""
    for name, ((rows, columns), kind, strides) in views.items():
        tensor = f"tensor_view<1024x1024x{kind}, strides={strides}>"
        types[name] = f"partition_view<tile=({rows}x{columns}), padding_value = zero, {tensor}>"
        made += f"%{name}q = assume div_by<16>, %{name}p : tile<ptr<{kind}>>\n"
        made += f"%{name}t = make_tensor_view %{name}q, shape = [1024, 1024], strides = {strides} : {tensor}\n"  # noqa: E501
        made += f"%{name}v = make_partition_view %{name}t : {types[name]}\n"
    a_tile, b_tile, c_tile = (
        f"tile<{m}x{k}x{element}>",
        f"tile<{k}x{n}x{element}>",
        f"tile<{m}x{n}x{accumulator}>",
    )
    dot = "mmai %x, %y, %acc signed unsigned" if element == "i8" else f"mmaf %x, %y, %acc{fast}"
    if element == "i8":
        start = "constant <i32: 0>"
    return f"""
      cuda_tile.module @m {{
        entry @k(%ap: tile<ptr<{element}>>, %bp: tile<ptr<{element}>>, %cp: tile<ptr<{accumulator}>>, %n: tile<i32>) {{
          %zero = constant <i32: 0> : tile<i32>
          %one = constant <i32: 1> : tile<i32>
          {made}
          %none = {start} : {c_tile}
          %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %none) -> ({c_tile}) {{
            %x, %tx = load_view_tko weak %av[%zero, %i] : {types["a"]}, tile<i32> -> {a_tile}, token
            %y, %ty = load_view_tko weak %bv[%i, %zero] : {types["b"]}, tile<i32> -> {b_tile}, token
            %d = {dot} : {a_tile}, {b_tile}, {c_tile}
            {after or f"continue %d : {c_tile}"}
          }}
          {epilogue}
          %t = store_view_tko weak {result}, %cv[%zero, %zero] : {c_tile}, {types["c"]}, tile<i32> -> token
          return
        }}
      }}"""  # noqa: E501
