// Text of kernels: C's formats, applied to every element of a tile.
// RUN @numbers
// ARG n = -7
// PRINTS n = -7 = 0xfffffff9, 100%
// PRINTS [[0, 1], [2, 3]] and [0.50, 2.00]
// RUN @large
// PRINTS { [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31], [32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47], [48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63], [64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79], [80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95], [96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111], [112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127]] }
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
  entry @large() {
    %i = iota : tile<128xi32>
    %rows = reshape %i : tile<128xi32> -> tile<8x16xi32>
    %t = print_tko "{ %d }\0A", %rows : tile<8x16xi32> -> token
    return
  }
  entry @blocks() {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %t = print_tko "block %d\0A", %x : tile<i32> -> token
    return
  }
}
