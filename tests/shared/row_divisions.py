"""A Tile IR program that divides the rows of a matrix by a number each."""

from __future__ import annotations

ROWS, COLUMNS = 16, 128


def program(
    divisors: str, rows: int = ROWS, columns: int = COLUMNS, all_rows: int | None = None
) -> str:
    """`q = x / y`, where each row of x has a divisor, or where all elements have the first one.

    Each block divides as many rows as its tile has.
    """
    height = rows if all_rows is None else all_rows
    tile, view = f"tile<{rows}x{columns}xf32>", f"tensor_view<{height}x{columns}xf32,"
    steps = f" strides=[{columns},1]>"
    matrix = f"partition_view<tile=({rows}x{columns}), {view}{steps}>"
    column = f"partition_view<tile=({rows}), tensor_view<{height}xf32, strides=[1]>>"
    if divisors == "rows":
        spread = f"""
    %y, %t1 = load_view_tko weak %yv[%b] : {column}, tile<i32> -> tile<{rows}xf32>, token
    %y1 = reshape %y : tile<{rows}xf32> -> tile<{rows}x1xf32>
    %y2 = broadcast %y1 : tile<{rows}x1xf32> -> {tile}"""
    else:
        spread = f"""
    %y, %t1 = load_ptr_tko weak %yp : tile<ptr<f32>> -> tile<f32>, token
    %y1 = reshape %y : tile<f32> -> tile<1x1xf32>
    %y2 = broadcast %y1 : tile<1x1xf32> -> {tile}"""
    return f"""
cuda_tile.module @m {{
  entry @k(%x0: tile<ptr<f32>>, %yp: tile<ptr<f32>>, %q0: tile<ptr<f32>>) {{
    %xp = assume div_by<16>, %x0 : tile<ptr<f32>>
    %qp = assume div_by<16>, %q0 : tile<ptr<f32>>
    %z = constant <i32: 0> : tile<i32>
    %b, %b1, %b2 = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %xp, shape = [{height}, {columns}], strides = [{columns}, 1]
        : {view}{steps}
    %qt = make_tensor_view %qp, shape = [{height}, {columns}], strides = [{columns}, 1]
        : {view}{steps}
    %yt = make_tensor_view %yp, shape = [{height}], strides = [1]
        : tensor_view<{height}xf32, strides=[1]>
    %xv = make_partition_view %xt : {matrix}
    %qv = make_partition_view %qt : {matrix}
    %yv = make_partition_view %yt : {column}
    %x, %t0 = load_view_tko weak %xv[%b, %z] : {matrix}, tile<i32> -> {tile}, token{spread}
    %q = divf %x, %y2 : {tile}
    %t2 = store_view_tko weak %q, %qv[%b, %z] : {tile}, {matrix}, tile<i32> -> token
    return
  }}
}}
"""
