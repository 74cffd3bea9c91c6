// A store after the end of an array, in the second of two blocks.
// RUN grid=2
// ARG out = zeros:4xi32
// FAILS out_of_bounds at STORE : accesses 4 bytes at 0x700000000010, byte 16 of argument 0, which has 16 (element 4 of 4), in block (1, 0, 0)
cuda_tile.module @kernels {
  entry @kernel(%out: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %where = muli %x, %four : tile<i32>
    %p = offset %out, %where : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %p, %x : tile<ptr<i32>>, tile<i32> -> token // STORE
    return
  }
}
