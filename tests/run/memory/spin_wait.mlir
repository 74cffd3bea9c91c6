// Blocks that wait for each other in a loop, and reduce when the wait is over.
// RUN @flag grid=8
// ARG x = small:8x256xi32:1
// ARG flag = zeros:1xi32
// ARG sums = zeros:8xi32
// ARG totals = zeros:8xi32
// EXPECT sums = x.sum(1)
// EXPECT totals = x.sum()
// EXPECT flag = 8
// RUN @lock grid=8
// ARG x = small:8x256xf32:2
// ARG lock = zeros:1xi32
// ARG best = zeros:256xf32
// ARG total = zeros:1xf32
// EXPECT best = x.sum(0)
// EXPECT total = x.sum()
// EXPECT lock = 0
!line = !cuda_tile.partition_view<tile=(1x256), tensor_view<8x256xi32, strides=[256,1]>>
!reals = !cuda_tile.partition_view<tile=(1x256), tensor_view<8x256xf32, strides=[256,1]>>
cuda_tile.module @kernels {
  // Every block reduces its own row, waits until all have done so, and reduces the results.
  entry @flag(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>, %sums: tile<ptr<i32>>, %totals: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %eight = constant <i32: 8> : tile<i32>
    %xt = make_tensor_view %x, shape = [8, 256], strides = [256, 1] : tensor_view<8x256xi32, strides=[256,1]>
    %xv = make_partition_view %xt : !line
    %row, %t0 = load_view_tko weak %xv[%b, %zero] : !line, tile<i32> -> tile<1x256xi32>, token
    %values = reshape %row : tile<1x256xi32> -> tile<256xi32>
    %own = reduce %values dim=0 identities=[0 : i32] : tile<256xi32> -> tile<i32> (%a: tile<i32>, %c: tile<i32>) {
      %sum = addi %a, %c : tile<i32>
      yield %sum : tile<i32>
    }
    %mine = offset %sums, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t1 = store_ptr_tko weak %mine, %own : tile<ptr<i32>>, tile<i32> -> token
    %old, %t2 = atomic_rmw_tko release device %flag, add, %one token=%t1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %seen = loop : token {
      %now, %t3 = load_ptr_tko acquire device %flag token=%t2 : tile<ptr<i32>> -> tile<i32>, token
      %done = cmpi equal %now, %eight, signed : tile<i32> -> tile<i1>
      if %done {
        break %t3 : token
      }
      continue
    }
    %r = reshape %sums : tile<ptr<i32>> -> tile<1xptr<i32>>
    %rb = broadcast %r : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %i = iota : tile<8xi32>
    %p = offset %rb, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %all, %t4 = load_ptr_tko weak %p token=%seen : tile<8xptr<i32>> -> tile<8xi32>, token
    %total = reduce %all dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32> (%a: tile<i32>, %c: tile<i32>) {
      %sum = addi %a, %c : tile<i32>
      yield %sum : tile<i32>
    }
    %out = offset %totals, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t5 = store_ptr_tko weak %out, %total : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  // Under a lock, every block adds its row to a vector, and the sum of its row to a number.
  entry @lock(%x: tile<ptr<f32>>, %lock: tile<ptr<i32>>, %best: tile<ptr<f32>>, %total: tile<ptr<f32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %xt = make_tensor_view %x, shape = [8, 256], strides = [256, 1] : tensor_view<8x256xf32, strides=[256,1]>
    %xv = make_partition_view %xt : !reals
    %row, %t0 = load_view_tko weak %xv[%b, %zero] : !reals, tile<i32> -> tile<1x256xf32>, token
    %values = reshape %row : tile<1x256xf32> -> tile<256xf32>
    %locked = loop : token {
      %found, %t1 = atomic_cas_tko acquire device %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %free = cmpi equal %found, %zero, signed : tile<i32> -> tile<i1>
      if %free {
        break %t1 : token
      }
      continue
    }
    %r = reshape %best : tile<ptr<f32>> -> tile<1xptr<f32>>
    %rb = broadcast %r : tile<1xptr<f32>> -> tile<256xptr<f32>>
    %i = iota : tile<256xi32>
    %p = offset %rb, %i : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
    %before, %t2 = load_ptr_tko weak %p token=%locked : tile<256xptr<f32>> -> tile<256xf32>, token
    %after = addf %before, %values : tile<256xf32>
    %t3 = store_ptr_tko weak %p, %after token=%t2 : tile<256xptr<f32>>, tile<256xf32> -> token
    %own = reduce %values dim=0 identities=[0.0 : f32] : tile<256xf32> -> tile<f32> (%a: tile<f32>, %c: tile<f32>) {
      %sum = addf %a, %c : tile<f32>
      yield %sum : tile<f32>
    }
    %sofar, %t4 = load_ptr_tko weak %total token=%locked : tile<ptr<f32>> -> tile<f32>, token
    %more = addf %sofar, %own : tile<f32>
    %t5 = store_ptr_tko weak %total, %more token=%t4 : tile<ptr<f32>>, tile<f32> -> token
    %both = join_tokens %t3, %t5 : token
    %last, %t6 = atomic_rmw_tko release device %lock, xchg, %zero token=%both : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    return
  }
}
