// OPTIONS: --emit nvvm
cuda_tile.module @m {
  entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>, %k: tile<i32>, %stride: tile<i32>, %steps: tile<i32>) {
    %i, %j, %l = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %n64 = constant <i32: 64> : tile<i32>
    %a16 = assume div_by<16>, %a : tile<ptr<f16>>
    %b16 = assume div_by<16>, %b : tile<ptr<f16>>
    %c16 = assume div_by<16>, %c : tile<ptr<f32>>
    %k16 = assume div_by<16>, %k : tile<i32>
    %s16 = assume div_by<16>, %stride : tile<i32>
    %at = make_tensor_view %a16, shape = [%n, %n64, %k16], strides = [%s16, %k16, 1] : tile<i32> -> tensor_view<?x?x?xf16, strides=[?,?,1]>
    %bt = make_tensor_view %b16, shape = [%n, %k16, %n64], strides = [%s16, %n64, 1] : tile<i32> -> tensor_view<?x?x?xf16, strides=[?,?,1]>
    %ct = make_tensor_view %c16, shape = [%n, %n64, %n64], strides = [%s16, %n64, 1] : tile<i32> -> tensor_view<?x?x?xf32, strides=[?,?,1]>
    %av = make_partition_view %at : partition_view<tile=(1x64x64), padding_value = zero, tensor_view<?x?x?xf16, strides=[?,?,1]>>
    %bv = make_partition_view %bt : partition_view<tile=(1x64x64), padding_value = zero, tensor_view<?x?x?xf16, strides=[?,?,1]>>
    %cv = make_partition_view %ct : partition_view<tile=(1x64x64), tensor_view<?x?x?xf32, strides=[?,?,1]>>
    %none = constant <f32: 0.0> : tile<64x64xf32>
    %sum = for %s in (%zero to %steps, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<64x64xf32>) {
      // REMARK evict-first: Tile evicted from L2 first: no other block or iteration reads it
      %x3, %t0 = load_view_tko weak %av[%i, %zero, %s] : partition_view<tile=(1x64x64), padding_value = zero, tensor_view<?x?x?xf16, strides=[?,?,1]>>, tile<i32> -> tile<1x64x64xf16>, token
      %x = reshape %x3 : tile<1x64x64xf16> -> tile<64x64xf16>
      %y3, %t1 = load_view_tko weak %bv[%i, %s, %zero] : partition_view<tile=(1x64x64), padding_value = zero, tensor_view<?x?x?xf16, strides=[?,?,1]>>, tile<i32> -> tile<1x64x64xf16>, token
      %y = reshape %y3 : tile<1x64x64xf16> -> tile<64x64xf16>
      %next = mmaf %x, %y, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %next : tile<64x64xf32>
    }
    %sum3 = reshape %sum : tile<64x64xf32> -> tile<1x64x64xf32>
    %t2 = store_view_tko weak %sum3, %cv[%i, %zero, %zero] : tile<1x64x64xf32>, partition_view<tile=(1x64x64), tensor_view<?x?x?xf32, strides=[?,?,1]>>, tile<i32> -> token
    return
  }
}
