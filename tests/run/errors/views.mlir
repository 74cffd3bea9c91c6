// Tiles out of bounds: after the end, before the start, of strided views and of rows.
// RUN @negative
// ARG x = zeros:8xi32
// ARG n = -1
// ONLY checked
// FAILS index at NEGATIVE : expected the tile index of argument 0 along dimension 0 to be at least 0 and below 2, got -1, in block (0, 0, 0)
// RUN @negative
// ARG x = zeros:8xi32
// ARG n = 1
// RUN @negative_long
// ARG x = zeros:8xi32
// ARG n = -1
// ONLY checked
// FAILS index at LONG : expected the tile index of argument 0 along dimension 0 to be at least 0 and below 2, got -1
// RUN @negative_long
// ARG x = zeros:8xi32
// ARG n = 1
// RUN @stored grid=1x3
// ARG x = zeros:4x8xi32
// ARG out = zeros:4x8xi32
// ONLY checked
// FAILS index at STORED : expected the tile index of argument 1 along dimension 1 to be at least 0 and below 2, got 2, in block (0, 2, 0)
// RUN @added grid=3
// ARG x = zeros:4x8xi32
// ONLY checked
// FAILS index at ADDED : expected the tile index of argument 0 along dimension 0 to be at least 0 and below
// RUN @added_inside grid=1x2
// ARG x = zeros:2x6xi32
// ONLY checked
// FAILS assumption at ADDED_INSIDE : is declared in bounds, but is not in dimension 1: coordinate 6, extent 6
// RUN @strided grid=5
// ARG x = iota:10xi32
// ONLY checked
// FAILS index at STRIDED : expected the tile index of argument 0 along dimension 0 to be at least 0 and below 4, got 4
// RUN @strided grid=4
// ARG x = iota:10xi32
// EXPECT x = np.arange(10)
// RUN @rows
// ARG x = iota:8x4xi32
// ARG n = 2
// ONLY checked
// FAILS assumption at ROWS : is declared in bounds, but is not in dimension 0: coordinate 8, extent 8 at element [3, 0]
// RUN @rows
// ARG x = iota:8x4xi32
// ARG n = 1
// RUN @columns
// ARG x = iota:8x4xi32
// ARG n = 1
// ONLY checked
// FAILS assumption at COLUMNS : is declared in bounds, but is not in dimension 1
// RUN @columns
// ARG x = iota:8x4xi32
// ARG n = 0
// RUN @columns_long
// ARG x = iota:8x4xi32
// ARG n = -1
// ONLY checked
// FAILS assumption at COLUMNS_LONG : is declared in bounds, but is not in dimension 1
// RUN @columns_long
// ARG x = iota:8x4xi32
// ARG n = 0
// RUN @unused
// ARG x = zeros:8xi32
// ARG n = 7
// RUN @odd
// ARG x = zeros:2xi32
// FAILS misaligned at ODD : expected an address divisible by 4
// RUN @odd_rows
// ARG x = zeros:9x4xi32
// ARG n = 6
// FAILS misaligned at ODD_ROWS : expected an address divisible by 4
// RUN @odd_rows
// ARG x = zeros:9x4xi32
// ARG n = 8
// EXPECT x = np.zeros((9, 4))
!eight = !cuda_tile.tensor_view<8xi32, strides=[1]>
!eight_tile = !cuda_tile.partition_view<tile=(4), tensor_view<8xi32, strides=[1]>>
!ten_tile = !cuda_tile.strided_view<tile=(4), traversal_strides=[3], padding_value = zero, tensor_view<10xi32, strides=[1]>>
!wide = !cuda_tile.tensor_view<4x?xi32, strides=[8,1]>
!wide_tile = !cuda_tile.partition_view<tile=(2x4), tensor_view<4x?xi32, strides=[8,1]>>
!high = !cuda_tile.tensor_view<8x4xi32, strides=[4,1]>
!picked = !cuda_tile.gather_scatter_view<tile=(4x4), tensor_view<8x4xi32, strides=[4,1]>, sparse_dim=0>
!picked_pair = !cuda_tile.gather_scatter_view<tile=(4x2), tensor_view<8x4xi32, strides=[4,1]>, sparse_dim=0>
!one_tile = !cuda_tile.partition_view<tile=(1), tensor_view<8xi32, strides=[1]>>
cuda_tile.module @kernels {
  entry @negative(%x: tile<ptr<i32>>, %n: tile<i32>) {
    %xt = make_tensor_view %x, shape = [8], strides = [1] : !eight
    %xv = make_partition_view %xt : !eight_tile
    %v, %t0 = load_view_tko weak %xv[%n] : !eight_tile, tile<i32> -> tile<4xi32>, token // NEGATIVE
    %t1 = store_view_tko weak %v, %xv[%n] token=%t0 : tile<4xi32>, !eight_tile, tile<i32> -> token
    return
  }
  entry @negative_long(%x: tile<ptr<i32>>, %n: tile<i64>) {
    %one = constant <i32: 1> : tile<4xi32>
    %xt = make_tensor_view %x, shape = [8], strides = [1] : !eight
    %xv = make_partition_view %xt : !eight_tile
    %t = store_view_tko weak %one, %xv[%n] : tile<4xi32>, !eight_tile, tile<i64> -> token // LONG
    return
  }
  // A tensor of eight columns has two tiles of four.
  entry @stored(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %c, %z = get_tile_block_id : tile<i32>
    %eight = constant <i32: 8> : tile<i32>
    %one = constant <i32: 1> : tile<2x4xi32>
    %xt = make_tensor_view %out, shape = [4, %eight], strides = [8, 1] : tile<i32> -> !wide
    %xv = make_partition_view %xt : !wide_tile
    %t = store_view_tko weak %one, %xv[%b, %c] : tile<2x4xi32>, !wide_tile, tile<i32> -> token // STORED
    return
  }
  entry @added(%x: tile<ptr<i32>>) {
    %b, %c, %z = get_tile_block_id : tile<i32>
    %eight = constant <i32: 8> : tile<i32>
    %one = constant <i32: 1> : tile<2x4xi32>
    %xt = make_tensor_view %x, shape = [4, %eight], strides = [8, 1] : tile<i32> -> !wide
    %xv = make_partition_view %xt : !wide_tile
    %t = atomic_red_view_tko relaxed device %xv[%b, %c], add, %one : tile<2x4xi32>, !wide_tile, tile<i32> -> token // ADDED
    return
  }
  // Of six columns, the second tile of four is not in bounds.
  entry @added_inside(%x: tile<ptr<i32>>) {
    %b, %c, %z = get_tile_block_id : tile<i32>
    %six = constant <i32: 6> : tile<i32>
    %one = constant <i32: 1> : tile<2x4xi32>
    %xt = make_tensor_view %x, shape = [2, %six], strides = [6, 1] : tile<i32> -> tensor_view<2x?xi32, strides=[6,1]>
    %xv = make_partition_view %xt : partition_view<tile=(2x4), tensor_view<2x?xi32, strides=[6,1]>>
    %t = atomic_red_view_tko relaxed device %xv[%b, %c], add, %one inbounds = [true, true] : tile<2x4xi32>, partition_view<tile=(2x4), tensor_view<2x?xi32, strides=[6,1]>>, tile<i32> -> token // ADDED_INSIDE
    return
  }
  // Tiles of ten elements begin at 0, 3, 6 and 9.
  entry @strided(%x: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %x, shape = [10], strides = [1] : tensor_view<10xi32, strides=[1]>
    %xv = make_strided_view %xt : !ten_tile
    %v, %t = load_view_tko weak %xv[%b] : !ten_tile, tile<i32> -> tile<4xi32>, token // STRIDED
    %zero = constant <i32: 0> : tile<4xi32>
    %ok = cmpi greater_than_or_equal %v, %zero, signed : tile<4xi32> -> tile<4xi1>
    assert %ok, "negative" : tile<4xi1>
    return
  }
  // Every other row, from n on.
  entry @rows(%x: tile<ptr<i32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %i = iota : tile<4xi32>
    %row = reshape %n : tile<i32> -> tile<1xi32>
    %all = broadcast %row : tile<1xi32> -> tile<4xi32>
    %two = addi %all, %i : tile<4xi32>
    %which = addi %two, %i : tile<4xi32>
    %xt = make_tensor_view %x, shape = [8, 4], strides = [4, 1] : !high
    %xv = make_gather_scatter_view %xt : !picked
    %v, %t0 = load_view_tko weak %xv[%which, %zero] inbounds = [true, false] : !picked, tile<4xi32>, tile<i32> -> tile<4x4xi32>, token // ROWS
    %t1 = store_view_tko weak %v, %xv[%which, %zero] token=%t0 : tile<4x4xi32>, !picked, tile<4xi32>, tile<i32> -> token
    return
  }
  entry @columns(%x: tile<ptr<i32>>, %n: tile<i32>) {
    %which = iota : tile<4xi32>
    %xt = make_tensor_view %x, shape = [8, 4], strides = [4, 1] : !high
    %xv = make_gather_scatter_view %xt : !picked
    %v, %t0 = load_view_tko weak %xv[%which, %n] inbounds = [false, true] : !picked, tile<4xi32>, tile<i32> -> tile<4x4xi32>, token // COLUMNS
    %t1 = store_view_tko weak %v, %xv[%which, %n] token=%t0 : tile<4x4xi32>, !picked, tile<4xi32>, tile<i32> -> token
    return
  }
  entry @columns_long(%x: tile<ptr<i32>>, %n: tile<i64>) {
    %which = iota : tile<4xi64>
    %xt = make_tensor_view %x, shape = [8, 4], strides = [4, 1] : !high
    %xv = make_gather_scatter_view %xt : !picked_pair
    %v, %t0 = load_view_tko weak %xv[%which, %n] inbounds = [false, true] : !picked_pair, tile<4xi64>, tile<i64> -> tile<4x2xi32>, token // COLUMNS_LONG
    %t1 = store_view_tko weak %v, %xv[%which, %n] token=%t0 : tile<4x2xi32>, !picked_pair, tile<4xi64>, tile<i64> -> token
    return
  }
  // An access that does not run is not an error.
  entry @unused(%x: tile<ptr<i32>>, %n: tile<i32>) {
    %two = constant <i32: 2> : tile<i32>
    %there = cmpi less_than %n, %two, signed : tile<i32> -> tile<i1>
    if %there {
      %xt = make_tensor_view %x, shape = [8], strides = [1] : !eight
      %xv = make_partition_view %xt : !eight_tile
      %one = constant <i32: 1> : tile<4xi32>
      %t = store_view_tko weak %one, %xv[%n] : tile<4xi32>, !eight_tile, tile<i32> -> token
    }
    return
  }
  entry @odd(%x: tile<ptr<i32>>) {
    %two = constant <i32: 2> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<1xi32>
    %bytes = ptr_to_ptr %x : tile<ptr<i32>> -> tile<ptr<i8>>
    %next = offset %bytes, %two : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
    %p = ptr_to_ptr %next : tile<ptr<i8>> -> tile<ptr<i32>>
    %xt = make_tensor_view %p, shape = [8], strides = [1] : !eight
    %xv = make_partition_view %xt : !one_tile
    %t = store_view_tko weak %one, %xv[%zero] : tile<1xi32>, !one_tile, tile<i32> -> token // ODD
    return
  }
  // Rows from n on; those after the last one are not accessed.
  entry @odd_rows(%x: tile<ptr<i32>>, %n: tile<i32>) {
    %two = constant <i32: 2> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<4x4xi32>
    %i = iota : tile<4xi32>
    %row = reshape %n : tile<i32> -> tile<1xi32>
    %all = broadcast %row : tile<1xi32> -> tile<4xi32>
    %which = addi %all, %i : tile<4xi32>
    %bytes = ptr_to_ptr %x : tile<ptr<i32>> -> tile<ptr<i8>>
    %next = offset %bytes, %two : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
    %p = ptr_to_ptr %next : tile<ptr<i8>> -> tile<ptr<i32>>
    %xt = make_tensor_view %p, shape = [8, 4], strides = [4, 1] : !high
    %xv = make_gather_scatter_view %xt : !picked
    %t = store_view_tko weak %one, %xv[%which, %zero] : tile<4x4xi32>, !picked, tile<4xi32>, tile<i32> -> token // ODD_ROWS
    return
  }
}
