// A lock around an update that is not atomic: every block adds its number to one address.
// RUN grid=16
// ARG lock = zeros:1xi32
// ARG sum = zeros:1xi32
// EXPECT sum = 136
// EXPECT lock = 0
cuda_tile.module @kernels {
  entry @kernel(%lock: tile<ptr<i32>>, %sum: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %number = addi %x, %one : tile<i32>
    %locked = loop : token {
      %seen, %t0 = atomic_cas_tko acquire device %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %free = cmpi equal %seen, %zero, signed : tile<i32> -> tile<i1>
      if %free {
        break %t0 : token
      }
      continue
    }
    %before, %t1 = load_ptr_tko weak %sum token=%locked : tile<ptr<i32>> -> tile<i32>, token
    %after = addi %before, %number : tile<i32>
    %t2 = store_ptr_tko weak %sum, %after token=%t1 : tile<ptr<i32>>, tile<i32> -> token
    %old, %t3 = atomic_rmw_tko release device %lock, xchg, %zero token=%t2 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    return
  }
}
