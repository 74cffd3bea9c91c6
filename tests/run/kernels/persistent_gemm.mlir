// C = A · B in a persistent kernel: each block computes several tiles of C. For sm_90 a warp copies A and B by TMA, the others multiply.
// RUN @f16 grid=2
// ARG a = small:136x80xf16:1
// ARG b = small:80x144xf16:2
// ARG c = zeros:136x144xf16
// ARG m0 = 136
// ARG n0 = 144
// ARG k0 = 80
// EXPECT c = wide_f16(a) @ wide_f16(b)
// RUN @tf32 grid=2
// ARG a = random:136x48xf32:1
// ARG b = random:48x144xf32:2
// ARG c = zeros:136x144xf32
// ARG m0 = 136
// ARG n0 = 144
// ARG k0 = 48
// EXPECT c near tf32(a) @ tf32(b)
!half = !cuda_tile.tensor_view<?x?xf16, strides=[?,1]>
!half_a = !cuda_tile.partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
!half_b = !cuda_tile.partition_view<tile=(64x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
!half_c = !cuda_tile.partition_view<tile=(128x128), tensor_view<?x?xf16, strides=[?,1]>>
!single = !cuda_tile.tensor_view<?x?xf32, strides=[?,1]>
!single_a = !cuda_tile.partition_view<tile=(128x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
!single_b = !cuda_tile.partition_view<tile=(32x128), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
!single_c = !cuda_tile.partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>
cuda_tile.module @kernels {
  entry @f16(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %m0: tile<i32>, %n0: tile<i32>, %k0: tile<i32>) {
    %pa = assume div_by<16>, %a : tile<ptr<f16>>
    %pb = assume div_by<16>, %b : tile<ptr<f16>>
    %pc = assume div_by<16>, %c : tile<ptr<f16>>
    %m = assume bounded<0, ?>, %m0 : tile<i32>
    %n = assume bounded<0, ?>, %n0 : tile<i32>
    %k = assume bounded<0, ?>, %k0 : tile<i32>
    %columns = assume div_by<16>, %n : tile<i32>
    %inner = assume div_by<16>, %k : tile<i32>
    %at = make_tensor_view %pa, shape = [%m, %inner], strides = [%inner, 1] : tile<i32> -> !half
    %bt = make_tensor_view %pb, shape = [%inner, %columns], strides = [%columns, 1] : tile<i32> -> !half
    %ct = make_tensor_view %pc, shape = [%m, %columns], strides = [%columns, 1] : tile<i32> -> !half
    %av = make_partition_view %at : !half_a
    %bv = make_partition_view %bt : !half_b
    %cv = make_partition_view %ct : !half_c
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %side = constant <i32: 128> : tile<i32>
    %step = constant <i32: 64> : tile<i32>
    %none = constant <f32: 0.0> : tile<128x128xf32>
    %down = divi %m, %side signed rounding<positive_inf> : tile<i32>
    %across = divi %columns, %side signed rounding<positive_inf> : tile<i32>
    %steps = divi %inner, %step signed rounding<positive_inf> : tile<i32>
    %tiles = muli %down, %across : tile<i32>
    %first, %y, %z = get_tile_block_id : tile<i32>
    %blocks, %ny, %nz = get_num_tile_blocks : tile<i32>
    for %t in (%first to %tiles, step %blocks) : tile<i32> {
      %i = divi %t, %across signed : tile<i32>
      %j = remi %t, %across signed : tile<i32>
      %sum = for %p in (%zero to %steps, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<128x128xf32>) {
        %u, %t0 = load_view_tko weak %av[%i, %p] : !half_a, tile<i32> -> tile<128x64xf16>, token
        %v, %t1 = load_view_tko weak %bv[%p, %j] : !half_b, tile<i32> -> tile<64x128xf16>, token
        %next = mmaf %u, %v, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
        continue %next : tile<128x128xf32>
      }
      %narrow = ftof %sum : tile<128x128xf32> -> tile<128x128xf16>
      %t2 = store_view_tko weak %narrow, %cv[%i, %j] : tile<128x128xf16>, !half_c, tile<i32> -> token
      continue
    }
    return
  }
  entry @tf32(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %m0: tile<i32>, %n0: tile<i32>, %k0: tile<i32>) {
    %pa = assume div_by<16>, %a : tile<ptr<f32>>
    %pb = assume div_by<16>, %b : tile<ptr<f32>>
    %pc = assume div_by<16>, %c : tile<ptr<f32>>
    %m = assume bounded<0, ?>, %m0 : tile<i32>
    %n = assume bounded<0, ?>, %n0 : tile<i32>
    %k = assume bounded<0, ?>, %k0 : tile<i32>
    %columns = assume div_by<16>, %n : tile<i32>
    %inner = assume div_by<16>, %k : tile<i32>
    %at = make_tensor_view %pa, shape = [%m, %inner], strides = [%inner, 1] : tile<i32> -> !single
    %bt = make_tensor_view %pb, shape = [%inner, %columns], strides = [%columns, 1] : tile<i32> -> !single
    %ct = make_tensor_view %pc, shape = [%m, %columns], strides = [%columns, 1] : tile<i32> -> !single
    %av = make_partition_view %at : !single_a
    %bv = make_partition_view %bt : !single_b
    %cv = make_partition_view %ct : !single_c
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %side = constant <i32: 128> : tile<i32>
    %step = constant <i32: 32> : tile<i32>
    %none = constant <f32: 0.0> : tile<128x128xf32>
    %down = divi %m, %side signed rounding<positive_inf> : tile<i32>
    %across = divi %columns, %side signed rounding<positive_inf> : tile<i32>
    %steps = divi %inner, %step signed rounding<positive_inf> : tile<i32>
    %tiles = muli %down, %across : tile<i32>
    %first, %y, %z = get_tile_block_id : tile<i32>
    %blocks, %ny, %nz = get_num_tile_blocks : tile<i32>
    for %t in (%first to %tiles, step %blocks) : tile<i32> {
      %i = divi %t, %across signed : tile<i32>
      %j = remi %t, %across signed : tile<i32>
      %sum = for %p in (%zero to %steps, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<128x128xf32>) {
        %u, %t0 = load_view_tko weak %av[%i, %p] : !single_a, tile<i32> -> tile<128x32xf32>, token
        %v, %t1 = load_view_tko weak %bv[%p, %j] : !single_b, tile<i32> -> tile<32x128xf32>, token
        %ur = ftof %u : tile<128x32xf32> -> tile<128x32xtf32>
        %vr = ftof %v : tile<32x128xf32> -> tile<32x128xtf32>
        %next = mmaf %ur, %vr, %acc : tile<128x32xtf32>, tile<32x128xtf32>, tile<128x128xf32>
        continue %next : tile<128x128xf32>
      }
      %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<128x128xf32>, !single_c, tile<i32> -> token
      continue
    }
    return
  }
}
