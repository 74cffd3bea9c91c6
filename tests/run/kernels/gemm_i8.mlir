// C = A · B of int8, accumulated in i32, with every choice of signs.
// RUN @signed_signed grid=2x2
// ARG a = random:32x40xi8:1
// ARG b = random:40x32xi8:2
// ARG c = zeros:32x32xi32
// EXPECT c = np.int64(a) @ np.int64(b)
// RUN @signed_unsigned grid=2x2
// ARG a = random:32x40xi8:1
// ARG b = random:40x32xi8:2
// ARG c = zeros:32x32xi32
// EXPECT c = np.int64(a) @ np.int64(b.view(np.uint8))
// RUN @unsigned_signed grid=2x2
// ARG a = random:32x40xi8:1
// ARG b = random:40x32xi8:2
// ARG c = zeros:32x32xi32
// EXPECT c = np.int64(a.view(np.uint8)) @ np.int64(b)
// RUN @unsigned_unsigned grid=2x2
// ARG a = random:32x40xi8:1
// ARG b = random:40x32xi8:2
// ARG c = zeros:32x32xi32
// EXPECT c = np.int64(a.view(np.uint8)) @ np.int64(b.view(np.uint8))
!a = !cuda_tile.tensor_view<32x40xi8, strides=[40,1]>
!av = !cuda_tile.partition_view<tile=(16x32), padding_value = zero, tensor_view<32x40xi8, strides=[40,1]>>
!b = !cuda_tile.tensor_view<40x32xi8, strides=[32,1]>
!bv = !cuda_tile.partition_view<tile=(32x16), padding_value = zero, tensor_view<40x32xi8, strides=[32,1]>>
!c = !cuda_tile.tensor_view<32x32xi32, strides=[32,1]>
!cv = !cuda_tile.partition_view<tile=(16x16), tensor_view<32x32xi32, strides=[32,1]>>
cuda_tile.module @kernels {
  entry @signed_signed(%a: tile<ptr<i8>>, %b: tile<ptr<i8>>, %c: tile<ptr<i32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = make_tensor_view %a, shape = [32, 40], strides = [40, 1] : !a
    %av = make_partition_view %at : !av
    %bt = make_tensor_view %b, shape = [40, 32], strides = [32, 1] : !b
    %bv = make_partition_view %bt : !bv
    %ct = make_tensor_view %c, shape = [32, 32], strides = [32, 1] : !c
    %cv = make_partition_view %ct : !cv
    %rows, %depth = get_index_space_shape %av : !av -> tile<i32>
    %init = constant <i32: 0> : tile<16x16xi32>
    %sum = for %k in (%zero to %depth, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<16x16xi32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !av, tile<i32> -> tile<16x32xi8>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !bv, tile<i32> -> tile<32x16xi8>, token
      %next = mmai %x, %y, %acc signed signed : tile<16x32xi8>, tile<32x16xi8>, tile<16x16xi32>
      continue %next : tile<16x16xi32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<16x16xi32>, !cv, tile<i32> -> token
    return
  }
  entry @signed_unsigned(%a: tile<ptr<i8>>, %b: tile<ptr<i8>>, %c: tile<ptr<i32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = make_tensor_view %a, shape = [32, 40], strides = [40, 1] : !a
    %av = make_partition_view %at : !av
    %bt = make_tensor_view %b, shape = [40, 32], strides = [32, 1] : !b
    %bv = make_partition_view %bt : !bv
    %ct = make_tensor_view %c, shape = [32, 32], strides = [32, 1] : !c
    %cv = make_partition_view %ct : !cv
    %rows, %depth = get_index_space_shape %av : !av -> tile<i32>
    %init = constant <i32: 0> : tile<16x16xi32>
    %sum = for %k in (%zero to %depth, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<16x16xi32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !av, tile<i32> -> tile<16x32xi8>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !bv, tile<i32> -> tile<32x16xi8>, token
      %next = mmai %x, %y, %acc signed unsigned : tile<16x32xi8>, tile<32x16xi8>, tile<16x16xi32>
      continue %next : tile<16x16xi32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<16x16xi32>, !cv, tile<i32> -> token
    return
  }
  entry @unsigned_signed(%a: tile<ptr<i8>>, %b: tile<ptr<i8>>, %c: tile<ptr<i32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = make_tensor_view %a, shape = [32, 40], strides = [40, 1] : !a
    %av = make_partition_view %at : !av
    %bt = make_tensor_view %b, shape = [40, 32], strides = [32, 1] : !b
    %bv = make_partition_view %bt : !bv
    %ct = make_tensor_view %c, shape = [32, 32], strides = [32, 1] : !c
    %cv = make_partition_view %ct : !cv
    %rows, %depth = get_index_space_shape %av : !av -> tile<i32>
    %init = constant <i32: 0> : tile<16x16xi32>
    %sum = for %k in (%zero to %depth, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<16x16xi32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !av, tile<i32> -> tile<16x32xi8>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !bv, tile<i32> -> tile<32x16xi8>, token
      %next = mmai %x, %y, %acc unsigned signed : tile<16x32xi8>, tile<32x16xi8>, tile<16x16xi32>
      continue %next : tile<16x16xi32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<16x16xi32>, !cv, tile<i32> -> token
    return
  }
  entry @unsigned_unsigned(%a: tile<ptr<i8>>, %b: tile<ptr<i8>>, %c: tile<ptr<i32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %at = make_tensor_view %a, shape = [32, 40], strides = [40, 1] : !a
    %av = make_partition_view %at : !av
    %bt = make_tensor_view %b, shape = [40, 32], strides = [32, 1] : !b
    %bv = make_partition_view %bt : !bv
    %ct = make_tensor_view %c, shape = [32, 32], strides = [32, 1] : !c
    %cv = make_partition_view %ct : !cv
    %rows, %depth = get_index_space_shape %av : !av -> tile<i32>
    %init = constant <i32: 0> : tile<16x16xi32>
    %sum = for %k in (%zero to %depth, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<16x16xi32>) {
      %x, %t0 = load_view_tko weak %av[%i, %k] : !av, tile<i32> -> tile<16x32xi8>, token
      %y, %t1 = load_view_tko weak %bv[%k, %j] : !bv, tile<i32> -> tile<32x16xi8>, token
      %next = mmai %x, %y, %acc unsigned unsigned : tile<16x32xi8>, tile<32x16xi8>, tile<16x16xi32>
      continue %next : tile<16x16xi32>
    }
    %t2 = store_view_tko weak %sum, %cv[%i, %j] : tile<16x16xi32>, !cv, tile<i32> -> token
    return
  }
}
