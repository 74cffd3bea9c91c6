// Masked loads from one address, with a padding that differs from block to block.
// RUN @pad grid=4
// ARG x = ones:1xi32
// ARG out = zeros:4xi32
// EXPECT out = np.array([1, 101, 1, 103])
cuda_tile.module @kernels {
  entry @pad(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %hundred = constant <i32: 100> : tile<i32>
    %bit = andi %b, %one : tile<i32>
    %even = cmpi equal %bit, %zero, signed : tile<i32> -> tile<i1>
    %padding = addi %b, %hundred : tile<i32>
    %v, %t = load_ptr_tko weak %x, %even, %padding : tile<ptr<i32>>, tile<i1>, tile<i32> -> tile<i32>, token
    %p = offset %out, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %u = store_ptr_tko weak %p, %v : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
