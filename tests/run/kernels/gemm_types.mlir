// C = A · B for the element types of tensor cores, with ragged edges: exactly on small integers, within the bound on others.
// RUN @bf16 grid=2x2
// ARG a = small:24x40xbf16:1
// ARG b = small:40x20xbf16:2
// ARG c = zeros:24x20xf32
// EXPECT c = wide_bf16(a) @ wide_bf16(b)
// RUN @bf16 grid=2x2
// ARG a = random:24x40xbf16:1
// ARG b = random:40x20xbf16:2
// ARG c = zeros:24x20xf32
// EXPECT c near a @ b
// RUN @tf32 grid=2x2
// ARG a = small:24x40xf32:1
// ARG b = small:40x20xf32:2
// ARG c = zeros:24x20xf32
// EXPECT c = np.float64(a) @ np.float64(b)
// RUN @tf32 grid=2x2
// ARG a = random:24x40xf32:1
// ARG b = random:40x20xf32:2
// ARG c = zeros:24x20xf32
// EXPECT c near tf32(a) @ tf32(b)
// RUN @f8E4M3FN grid=2x2
// ARG a = small:24x40xf8E4M3FN:1
// ARG b = small:40x20xf8E4M3FN:2
// ARG c = zeros:24x20xf32
// EXPECT c = wide_f8E4M3FN(a) @ wide_f8E4M3FN(b)
// RUN @f8E4M3FN grid=2x2
// ARG a = random:24x40xf8E4M3FN:1
// ARG b = random:40x20xf8E4M3FN:2
// ARG c = zeros:24x20xf32
// EXPECT c near a @ b
// RUN @f8E5M2 grid=2x2
// ARG a = small:24x40xf8E5M2:1
// ARG b = small:40x20xf8E5M2:2
// ARG c = zeros:24x20xf32
// EXPECT c = wide_f8E5M2(a) @ wide_f8E5M2(b)
// RUN @f8E5M2 grid=2x2
// ARG a = random:24x40xf8E5M2:1
// ARG b = random:40x20xf8E5M2:2
// ARG c = zeros:24x20xf32
// EXPECT c near a @ b
// RUN @f32 grid=2x2
// ARG a = small:24x40xf32:1
// ARG b = small:40x20xf32:2
// ARG c = zeros:24x20xf32
// EXPECT c = np.float64(a) @ np.float64(b)
// RUN @f32 grid=2x2
// ARG a = random:24x40xf32:1
// ARG b = random:40x20xf32:2
// ARG c = zeros:24x20xf32
// EXPECT c near a @ b
// RUN @f64 grid=2x2
// ARG a = small:24x40xf64:1
// ARG b = small:40x20xf64:2
// ARG c = zeros:24x20xf64
// EXPECT c = np.float64(a) @ np.float64(b)
// RUN @f64 grid=2x2
// ARG a = random:24x40xf64:1
// ARG b = random:40x20xf64:2
// ARG c = zeros:24x20xf64
// EXPECT c near a @ b
!a_bf16 = !cuda_tile.tensor_view<24x40xbf16, strides=[40,1]>
!a_bf16v = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<24x40xbf16, strides=[40,1]>>
!b_bf16 = !cuda_tile.tensor_view<40x20xbf16, strides=[20,1]>
!b_bf16v = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<40x20xbf16, strides=[20,1]>>
!a_tf32 = !cuda_tile.tensor_view<24x40xf32, strides=[40,1]>
!a_tf32v = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<24x40xf32, strides=[40,1]>>
!b_tf32 = !cuda_tile.tensor_view<40x20xf32, strides=[20,1]>
!b_tf32v = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<40x20xf32, strides=[20,1]>>
!a_f8E4M3FN = !cuda_tile.tensor_view<24x40xf8E4M3FN, strides=[40,1]>
!a_f8E4M3FNv = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<24x40xf8E4M3FN, strides=[40,1]>>
!b_f8E4M3FN = !cuda_tile.tensor_view<40x20xf8E4M3FN, strides=[20,1]>
!b_f8E4M3FNv = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<40x20xf8E4M3FN, strides=[20,1]>>
!a_f8E5M2 = !cuda_tile.tensor_view<24x40xf8E5M2, strides=[40,1]>
!a_f8E5M2v = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<24x40xf8E5M2, strides=[40,1]>>
!b_f8E5M2 = !cuda_tile.tensor_view<40x20xf8E5M2, strides=[20,1]>
!b_f8E5M2v = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<40x20xf8E5M2, strides=[20,1]>>
!a_f32 = !cuda_tile.tensor_view<24x40xf32, strides=[40,1]>
!a_f32v = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<24x40xf32, strides=[40,1]>>
!b_f32 = !cuda_tile.tensor_view<40x20xf32, strides=[20,1]>
!b_f32v = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<40x20xf32, strides=[20,1]>>
!a_f64 = !cuda_tile.tensor_view<24x40xf64, strides=[40,1]>
!a_f64v = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<24x40xf64, strides=[40,1]>>
!b_f64 = !cuda_tile.tensor_view<40x20xf64, strides=[20,1]>
!b_f64v = !cuda_tile.partition_view<tile=(16x16), padding_value = zero, tensor_view<40x20xf64, strides=[20,1]>>
!c_f32 = !cuda_tile.tensor_view<24x20xf32, strides=[20,1]>
!c_f32v = !cuda_tile.partition_view<tile=(16x16), tensor_view<24x20xf32, strides=[20,1]>>
!c_f64 = !cuda_tile.tensor_view<24x20xf64, strides=[20,1]>
!c_f64v = !cuda_tile.partition_view<tile=(16x16), tensor_view<24x20xf64, strides=[20,1]>>
cuda_tile.module @kernels {
  entry @bf16(%a: tile<ptr<bf16>>, %b: tile<ptr<bf16>>, %c: tile<ptr<f32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = make_tensor_view %a, shape = [24, 40], strides = [40, 1] : !a_bf16
    %av = make_partition_view %at : !a_bf16v
    %bt = make_tensor_view %b, shape = [40, 20], strides = [20, 1] : !b_bf16
    %bv = make_partition_view %bt : !b_bf16v
    %ct = make_tensor_view %c, shape = [24, 20], strides = [20, 1] : !c_f32
    %cv = make_partition_view %ct : !c_f32v
    %rows, %depth = get_index_space_shape %av : !a_bf16v -> tile<i32>
    %init = constant <f32: 0.0> : tile<16x16xf32>
    %sum = for %k in (%zero to %depth, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<16x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_bf16v, tile<i32> -> tile<16x16xbf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_bf16v, tile<i32> -> tile<16x16xbf16>, token
      %next = mmaf %x, %y, %acc : tile<16x16xbf16>, tile<16x16xbf16>, tile<16x16xf32>
      continue %next : tile<16x16xf32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<16x16xf32>, !c_f32v, tile<i32> -> token
    return
  }
  entry @tf32(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = make_tensor_view %a, shape = [24, 40], strides = [40, 1] : !a_tf32
    %av = make_partition_view %at : !a_tf32v
    %bt = make_tensor_view %b, shape = [40, 20], strides = [20, 1] : !b_tf32
    %bv = make_partition_view %bt : !b_tf32v
    %ct = make_tensor_view %c, shape = [24, 20], strides = [20, 1] : !c_f32
    %cv = make_partition_view %ct : !c_f32v
    %rows, %depth = get_index_space_shape %av : !a_tf32v -> tile<i32>
    %init = constant <f32: 0.0> : tile<16x16xf32>
    %sum = for %k in (%zero to %depth, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<16x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_tf32v, tile<i32> -> tile<16x16xf32>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_tf32v, tile<i32> -> tile<16x16xf32>, token
      %u = ftof %x : tile<16x16xf32> -> tile<16x16xtf32>
      %v = ftof %y : tile<16x16xf32> -> tile<16x16xtf32>
      %next = mmaf %u, %v, %acc : tile<16x16xtf32>, tile<16x16xtf32>, tile<16x16xf32>
      continue %next : tile<16x16xf32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<16x16xf32>, !c_f32v, tile<i32> -> token
    return
  }
  entry @f8E4M3FN(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = make_tensor_view %a, shape = [24, 40], strides = [40, 1] : !a_f8E4M3FN
    %av = make_partition_view %at : !a_f8E4M3FNv
    %bt = make_tensor_view %b, shape = [40, 20], strides = [20, 1] : !b_f8E4M3FN
    %bv = make_partition_view %bt : !b_f8E4M3FNv
    %ct = make_tensor_view %c, shape = [24, 20], strides = [20, 1] : !c_f32
    %cv = make_partition_view %ct : !c_f32v
    %rows, %depth = get_index_space_shape %av : !a_f8E4M3FNv -> tile<i32>
    %init = constant <f32: 0.0> : tile<16x16xf32>
    %sum = for %k in (%zero to %depth, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<16x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_f8E4M3FNv, tile<i32> -> tile<16x16xf8E4M3FN>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_f8E4M3FNv, tile<i32> -> tile<16x16xf8E4M3FN>, token
      %next = mmaf %x, %y, %acc : tile<16x16xf8E4M3FN>, tile<16x16xf8E4M3FN>, tile<16x16xf32>
      continue %next : tile<16x16xf32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<16x16xf32>, !c_f32v, tile<i32> -> token
    return
  }
  entry @f8E5M2(%a: tile<ptr<f8E5M2>>, %b: tile<ptr<f8E5M2>>, %c: tile<ptr<f32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = make_tensor_view %a, shape = [24, 40], strides = [40, 1] : !a_f8E5M2
    %av = make_partition_view %at : !a_f8E5M2v
    %bt = make_tensor_view %b, shape = [40, 20], strides = [20, 1] : !b_f8E5M2
    %bv = make_partition_view %bt : !b_f8E5M2v
    %ct = make_tensor_view %c, shape = [24, 20], strides = [20, 1] : !c_f32
    %cv = make_partition_view %ct : !c_f32v
    %rows, %depth = get_index_space_shape %av : !a_f8E5M2v -> tile<i32>
    %init = constant <f32: 0.0> : tile<16x16xf32>
    %sum = for %k in (%zero to %depth, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<16x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_f8E5M2v, tile<i32> -> tile<16x16xf8E5M2>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_f8E5M2v, tile<i32> -> tile<16x16xf8E5M2>, token
      %next = mmaf %x, %y, %acc : tile<16x16xf8E5M2>, tile<16x16xf8E5M2>, tile<16x16xf32>
      continue %next : tile<16x16xf32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<16x16xf32>, !c_f32v, tile<i32> -> token
    return
  }
  entry @f32(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = make_tensor_view %a, shape = [24, 40], strides = [40, 1] : !a_f32
    %av = make_partition_view %at : !a_f32v
    %bt = make_tensor_view %b, shape = [40, 20], strides = [20, 1] : !b_f32
    %bv = make_partition_view %bt : !b_f32v
    %ct = make_tensor_view %c, shape = [24, 20], strides = [20, 1] : !c_f32
    %cv = make_partition_view %ct : !c_f32v
    %rows, %depth = get_index_space_shape %av : !a_f32v -> tile<i32>
    %init = constant <f32: 0.0> : tile<16x16xf32>
    %sum = for %k in (%zero to %depth, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<16x16xf32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_f32v, tile<i32> -> tile<16x16xf32>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_f32v, tile<i32> -> tile<16x16xf32>, token
      %next = mmaf %x, %y, %acc : tile<16x16xf32>, tile<16x16xf32>, tile<16x16xf32>
      continue %next : tile<16x16xf32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<16x16xf32>, !c_f32v, tile<i32> -> token
    return
  }
  entry @f64(%a: tile<ptr<f64>>, %b: tile<ptr<f64>>, %c: tile<ptr<f64>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = make_tensor_view %a, shape = [24, 40], strides = [40, 1] : !a_f64
    %av = make_partition_view %at : !a_f64v
    %bt = make_tensor_view %b, shape = [40, 20], strides = [20, 1] : !b_f64
    %bv = make_partition_view %bt : !b_f64v
    %ct = make_tensor_view %c, shape = [24, 20], strides = [20, 1] : !c_f64
    %cv = make_partition_view %ct : !c_f64v
    %rows, %depth = get_index_space_shape %av : !a_f64v -> tile<i32>
    %init = constant <f64: 0.0> : tile<16x16xf64>
    %sum = for %k in (%zero to %depth, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<16x16xf64>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !a_f64v, tile<i32> -> tile<16x16xf64>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !b_f64v, tile<i32> -> tile<16x16xf64>, token
      %next = mmaf %x, %y, %acc : tile<16x16xf64>, tile<16x16xf64>, tile<16x16xf64>
      continue %next : tile<16x16xf64>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<16x16xf64>, !c_f64v, tile<i32> -> token
    return
  }
}
