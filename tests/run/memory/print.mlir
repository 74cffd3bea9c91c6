// Text of kernels: C's formats, applied to every element of a tile.
// RUN @numbers
// ARG n = -7
// PRINTS n = -7 = 0xfffffff9, 100%
// PRINTS [[0, 1], [2, 3]] and [0.50, 2.00]
// RUN @blocks grid=3
// PRINTS block 0
// PRINTS block 1
// PRINTS block 2
cuda_tile.module @kernels {
  entry @numbers(%n: tile<i32>) {
    %t0 = print_tko "n = %d = 0x%x, 100%%\0A", %n, %n : tile<i32>, tile<i32> -> token
    %i = iota : tile<4xi32>
    %square = reshape %i : tile<4xi32> -> tile<2x2xi32>
    %f = constant <f32: [0.5, 2.0]> : tile<2xf32>
    %t1 = print_tko "%d and %4.2f\0A", %square, %f token=%t0 : tile<2x2xi32>, tile<2xf32> -> token
    return
  }
  entry @blocks() {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %t = print_tko "block %d\0A", %x : tile<i32> -> token
    return
  }
}
