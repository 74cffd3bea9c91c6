// C = A · B with a ragged edge: exactly on small integers, within the bound on others.
// RUN grid=3x2
// ARG a = small:40x48xf16:1
// ARG b = small:48x24xf16:2
// ARG c = ones:40x24xf32
// EXPECT c = np.float64(a) @ np.float64(b)
// RUN grid=3x2
// ARG a = random:40x48xf16:1
// ARG b = random:48x24xf16:2
// ARG c = ones:40x24xf32
// EXPECT c near a @ b
!a = !cuda_tile.tensor_view<40x48xf16, strides=[48,1]>
!b = !cuda_tile.tensor_view<48x24xf16, strides=[24,1]>
!c = !cuda_tile.tensor_view<40x24xf32, strides=[24,1]>
!av = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<40x48xf16, strides=[48,1]>>
!bv = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<48x24xf16, strides=[24,1]>>
!cv = !cuda_tile.partition_view<tile=(16x16), tensor_view<40x24xf32, strides=[24,1]>>
cuda_tile.module @kernels {
  entry @gemm(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = make_tensor_view %a, shape = [40, 48], strides = [48, 1] : !a
    %bt = make_tensor_view %b, shape = [48, 24], strides = [24, 1] : !b
    %ct = make_tensor_view %c, shape = [40, 24], strides = [24, 1] : !c
    %av = make_partition_view %at : !av
    %bv = make_partition_view %bt : !bv
    %cv = make_partition_view %ct : !cv
    %rows, %depth = get_index_space_shape %av : !av -> tile<i32>
    %init = constant <f32: 0.0> : tile<16x16xf32>
    %sum = for %k in (%zero to %depth, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<16x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !av, tile<i32> -> tile<16x16xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !bv, tile<i32> -> tile<16x16xf16>, token
      %next = mmaf %x, %y, %acc : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      continue %next : tile<16x16xf32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<16x16xf32>, !cv, tile<i32> -> token
    return
  }
}
