// Scratch memory: each block has its own, and each iteration a new one.
// RUN @reversed grid=4
// ARG x = iota:4x8xi32
// ARG out = zeros:4x8xi32
// EXPECT out = x[:, ::-1]
// RUN @fresh grid=2
// ARG out = zeros:2xi32
// ONLY checked
// FAILS uninitialised at AGAIN : which was never written
!x = !cuda_tile.tensor_view<4x8xi32, strides=[8,1]>
!v = !cuda_tile.partition_view<tile=(1x8), tensor_view<4x8xi32, strides=[8,1]>>
cuda_tile.module @kernels {
  entry @reversed(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %seven = constant <i32: 7> : tile<8xi32>
    %xt = make_tensor_view %x, shape = [4, 8], strides = [8, 1] : !x
    %ot = make_tensor_view %out, shape = [4, 8], strides = [8, 1] : !x
    %xv = make_partition_view %xt : !v
    %ov = make_partition_view %ot : !v
    %row, %t0 = load_view_tko weak %xv[%b, %zero] : !v, tile<i32> -> tile<1x8xi32>, token
    %values = reshape %row : tile<1x8xi32> -> tile<8xi32>
    %mine = alloca num_elem = 8, alignment = 4 : tile<ptr<i32>>
    %r = reshape %mine : tile<ptr<i32>> -> tile<1xptr<i32>>
    %all = broadcast %r : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %i = iota : tile<8xi32>
    %j = subi %seven, %i : tile<8xi32>
    %p = offset %all, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %q = offset %all, %j : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %t1 = store_ptr_tko weak %p, %values : tile<8xptr<i32>>, tile<8xi32> -> token
    %back, %t2 = load_ptr_tko weak %q token=%t1 : tile<8xptr<i32>> -> tile<8xi32>, token
    %flat = reshape %back : tile<8xi32> -> tile<1x8xi32>
    %t3 = store_view_tko weak %flat, %ov[%b, %zero] : tile<1x8xi32>, !v, tile<i32> -> token
    return
  }
  // The second iteration reads before it writes.
  entry @fresh(%out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %t = make_token : token
    %end = for %i in (%zero to %two, step %one) : tile<i32> iter_values(%before = %t) -> (token) {
      %mine = alloca num_elem = 1, alignment = 4 : tile<ptr<i32>>
      %first = cmpi equal %i, %zero, signed : tile<i32> -> tile<i1>
      %after = if %first -> (token) {
        %t0 = store_ptr_tko weak %mine, %one token=%before : tile<ptr<i32>>, tile<i32> -> token
        yield %t0 : token
      } else {
        yield %before : token
      }
      %seen, %t1 = load_ptr_tko weak %mine token=%after : tile<ptr<i32>> -> tile<i32>, token // AGAIN
      continue %t1 : token
    }
    return
  }
}
