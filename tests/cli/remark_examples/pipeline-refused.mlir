// OPTIONS: --emit nvvm
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %steps: tile<i32>) {
    %i, %j, %l = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %none = constant <f32: 0.0> : tile<128x128xf32>
    %p16 = assume div_by<16>, %p : tile<ptr<f32>>
    %q16 = assume div_by<16>, %q : tile<ptr<f32>>
    %n16 = assume div_by<16>, %n : tile<i32>
    %x = make_tensor_view %p16, shape = [%m, %n16], strides = [%n16, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %xv = make_partition_view %x : partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>
    %y = make_tensor_view %q16, shape = [%m, %n16], strides = [%n16, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %yv = make_partition_view %y : partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>
    // REMARK pipeline-refused: Loop not pipelined: an iteration loads 65536 bytes: above 32768, early copies do not pay
    %sum = for %k in (%zero to %steps, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<128x128xf32>) {
      %a, %t = load_view_tko weak %xv[%i, %k] : partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<128x128xf32>, token
      %next = addf %acc, %a : tile<128x128xf32>
      continue %next : tile<128x128xf32>
    }
    %u = store_view_tko weak %sum, %yv[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    return
  }
}
