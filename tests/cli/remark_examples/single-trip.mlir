// OPTIONS: --emit nvvm
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %rows: tile<i32>, %columns: tile<i32>, %tiles: tile<i32>) {
    %row, %j, %l = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %none = constant <f32: 0.0> : tile<1x512xf32>
    %p16 = assume div_by<16>, %p : tile<ptr<f32>>
    %q16 = assume div_by<16>, %q : tile<ptr<f32>>
    %x = make_tensor_view %p16, shape = [%rows, %columns], strides = [4096, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[4096,1]>
    %xv = make_partition_view %x : partition_view<tile=(1x512), padding_value = zero, tensor_view<?x?xf32, strides=[4096,1]>>
    %y = make_tensor_view %q16, shape = [%rows, %columns], strides = [4096, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[4096,1]>
    %yv = make_partition_view %y : partition_view<tile=(1x512), tensor_view<?x?xf32, strides=[4096,1]>>
    // REMARK single-trip: 2 loops versioned for one iteration
    %partial = for %i in (%zero to %tiles, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<1x512xf32>) {
      %a, %t = load_view_tko weak %xv[%row, %i] : partition_view<tile=(1x512), padding_value = zero, tensor_view<?x?xf32, strides=[4096,1]>>, tile<i32> -> tile<1x512xf32>, token
      %next = addf %acc, %a : tile<1x512xf32>
      continue %next : tile<1x512xf32>
    }
    %sum = reduce %partial dim=1 identities=[0.0 : f32] : tile<1x512xf32> -> tile<1xf32>
      (%left: tile<f32>, %right: tile<f32>) {
      %added = addf %left, %right : tile<f32>
      yield %added : tile<f32>
    }
    %sum2 = reshape %sum : tile<1xf32> -> tile<1x1xf32>
    %sums = broadcast %sum2 : tile<1x1xf32> -> tile<1x512xf32>
    for %i in (%zero to %tiles, step %one) : tile<i32> {
      %a, %t = load_view_tko weak %xv[%row, %i] : partition_view<tile=(1x512), padding_value = zero, tensor_view<?x?xf32, strides=[4096,1]>>, tile<i32> -> tile<1x512xf32>, token
      %scaled = mulf %a, %sums : tile<1x512xf32>
      %u = store_view_tko weak %scaled, %yv[%row, %i] : tile<1x512xf32>, partition_view<tile=(1x512), tensor_view<?x?xf32, strides=[4096,1]>>, tile<i32> -> token
    }
    return
  }
}
