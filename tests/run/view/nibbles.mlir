// 4-bit elements in memory: two share a byte, the first in its low bits.
// RUN @widened grid=2x2
// ARG x = random:8x16xi8:1
// ARG out = zeros:8x32xf32
// LET places = np.stack([x & 15, x >> 4 & 15], -1).reshape(8, 32)
// LET numbers = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
// EXPECT out = numbers[places]
// RUN @transposed grid=2
// ARG x = random:8x16xi8:2
// ARG out = zeros:32x8xf16
// LET places = np.stack([x & 15, x >> 4 & 15], -1).reshape(8, 32)
// LET numbers = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
// EXPECT out = numbers[places].T
// RUN @columns grid=2
// ARG x = random:8x16xi8:3
// ARG out = zeros:32x8xf32
// LET places = np.stack([x & 15, x >> 4 & 15], -1).reshape(8, 32)
// LET numbers = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
// EXPECT out = numbers[places].T
// RUN @ragged grid=2x2
// ARG x = random:5x24xi8:4
// ARG rows = 5
// ARG columns = 22
// ARG stride = 48
// ARG out = ones:8x32xf32
// ARG counts = zeros:4xi32
// LET places = np.stack([x & 15, x >> 4 & 15], -1).reshape(5, 48)[:, :22]
// LET numbers = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
// EXPECT out = np.pad(numbers[places], [(0, 3), (0, 10)])
// EXPECT counts = np.array([5, 22, 2, 2])
// RUN @negative
// ARG x = random:3x4xi8:5
// ARG rows = 3
// ARG out = zeros:4x16xf32
// LET places = np.stack([x & 15, x >> 4 & 15], -1).reshape(3, 8)[:, :6]
// LET numbers = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
// EXPECT out = np.pad(numbers[places], [(0, 1), (0, 10)], constant_values=-0.0)
// RUN @narrowed grid=2x2
// ARG x : f32 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])[np.arange(8 * 32) * 5 % 8].reshape(8, 32)
// ARG out = random:5x16xi8:6
// ARG stride = 32
// LET places = np.arange(8 * 32).reshape(8, 32) * 5 % 8
// LET bytes = (places[:, ::2] | places[:, 1::2] << 4)[:5, :11]
// EXPECT out = np.concatenate([bytes, out[:, 11:]], 1)
// RUN @stored_columns
// ARG x : f32 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])[np.arange(8 * 4) * 3 % 8].reshape(8, 4)
// ARG out = zeros:4x4xi8
// LET places = (np.arange(8 * 4).reshape(8, 4) * 3 % 8).T
// EXPECT out = places[:, ::2] | places[:, 1::2] << 4
// RUN @overlapping grid=3x4
// ARG x = random:8x16xi8:7
// ARG out = zeros:12x32xf32
// LET places = np.stack([x & 15, x >> 4 & 15], -1).reshape(8, 32)
// LET numbers = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
// LET wide = np.pad(numbers[places], [(0, 1), (0, 0)])
// EXPECT out = np.block([[wide[3 * i : 3 * i + 4, 6 * j : 6 * j + 8] if i < 2 else np.pad(wide[6:8, 6 * j : 6 * j + 8], [(0, 2), (0, 0)]) for j in range(4)] for i in range(3)])
// RUN @picked
// ARG x = random:8x8xi8:8
// ARG rows : i32 = np.array([6, 0, 9, 3])
// ARG at = 8
// ARG out = zeros:8x8xi8
// LET line = np.zeros((1, 4), np.int8)
// EXPECT out = np.concatenate([np.zeros((8, 4)), np.concatenate([line, x[6:7, 4:], line, x[:1, 4:], line, line - 120, line, x[3:4, 4:]])], 1)
// RUN @table
// ARG out = zeros:8xf32
// EXPECT out = np.array([0, -0.5, 1, -1.5, 2, 3, -4, 6])
// RUN @large
// ARG x = random:256x64xi8:9
// ARG out = zeros:256x64xi8
// LET places = np.stack([x & 15, x >> 4 & 15], -1)
// LET turned = np.where(places % 8, places ^ 8, 0)
// EXPECT out = turned[..., 0] | turned[..., 1] << 4
cuda_tile.module @kernels {
  global @numbers <f4E2M1FN: [0.0, -0.5, 1.0, -1.5, 2.0, 3.0, -4.0, 6.0]> : tile<8xf4E2M1FN>
  entry @widened(%x: tile<ptr<f4E2M1FN>>, %out: tile<ptr<f32>>) {
    %b, %c, %z = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %x, shape = [8, 32], strides = [32, 1] : tensor_view<8x32xf4E2M1FN, strides=[32,1]>
    %ot = make_tensor_view %out, shape = [8, 32], strides = [32, 1] : tensor_view<8x32xf32, strides=[32,1]>
    %xv = make_partition_view %xt : partition_view<tile=(4x16), tensor_view<8x32xf4E2M1FN, strides=[32,1]>>
    %ov = make_partition_view %ot : partition_view<tile=(4x16), tensor_view<8x32xf32, strides=[32,1]>>
    %t, %t0 = load_view_tko weak %xv[%b, %c] : partition_view<tile=(4x16), tensor_view<8x32xf4E2M1FN, strides=[32,1]>>, tile<i32> -> tile<4x16xf4E2M1FN>, token
    %f = ftof %t : tile<4x16xf4E2M1FN> -> tile<4x16xf32>
    %t1 = store_view_tko weak %f, %ov[%b, %c] : tile<4x16xf32>, partition_view<tile=(4x16), tensor_view<8x32xf32, strides=[32,1]>>, tile<i32> -> token
    return
  }
  entry @transposed(%x: tile<ptr<f4E2M1FN>>, %out: tile<ptr<f16>>) {
    %b, %c, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [8, 32], strides = [32, 1] : tensor_view<8x32xf4E2M1FN, strides=[32,1]>
    %ot = make_tensor_view %out, shape = [32, 8], strides = [8, 1] : tensor_view<32x8xf16, strides=[8,1]>
    %xv = make_partition_view %xt : partition_view<tile=(16x8), tensor_view<8x32xf4E2M1FN, strides=[32,1]>, dim_map=[1, 0]>
    %ov = make_partition_view %ot : partition_view<tile=(16x8), tensor_view<32x8xf16, strides=[8,1]>>
    %t, %t0 = load_view_tko weak %xv[%b, %zero] : partition_view<tile=(16x8), tensor_view<8x32xf4E2M1FN, strides=[32,1]>, dim_map=[1, 0]>, tile<i32> -> tile<16x8xf4E2M1FN>, token
    %f = ftof %t : tile<16x8xf4E2M1FN> -> tile<16x8xf16>
    %t1 = store_view_tko weak %f, %ov[%b, %zero] : tile<16x8xf16>, partition_view<tile=(16x8), tensor_view<32x8xf16, strides=[8,1]>>, tile<i32> -> token
    return
  }
  entry @columns(%x: tile<ptr<f4E2M1FN>>, %out: tile<ptr<f32>>) {
    %b, %c, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [32, 8], strides = [1, 32] : tensor_view<32x8xf4E2M1FN, strides=[1,32]>
    %ot = make_tensor_view %out, shape = [32, 8], strides = [8, 1] : tensor_view<32x8xf32, strides=[8,1]>
    %xv = make_partition_view %xt : partition_view<tile=(16x8), tensor_view<32x8xf4E2M1FN, strides=[1,32]>>
    %ov = make_partition_view %ot : partition_view<tile=(16x8), tensor_view<32x8xf32, strides=[8,1]>>
    %t, %t0 = load_view_tko weak %xv[%b, %zero] : partition_view<tile=(16x8), tensor_view<32x8xf4E2M1FN, strides=[1,32]>>, tile<i32> -> tile<16x8xf4E2M1FN>, token
    %f = ftof %t : tile<16x8xf4E2M1FN> -> tile<16x8xf32>
    %t1 = store_view_tko weak %f, %ov[%b, %zero] : tile<16x8xf32>, partition_view<tile=(16x8), tensor_view<32x8xf32, strides=[8,1]>>, tile<i32> -> token
    return
  }
  entry @ragged(%x: tile<ptr<f4E2M1FN>>, %n: tile<i32>, %m: tile<i32>, %s: tile<i32>, %out: tile<ptr<f32>>, %counts: tile<ptr<i32>>) {
    %b, %c, %z = get_tile_block_id : tile<i32>
    %columns = assume div_by<2>, %m : tile<i32>
    %stride = assume div_by<16>, %s : tile<i32>
    %xt = make_tensor_view %x, shape = [%n, %columns], strides = [%stride, 1] : tile<i32> -> tensor_view<?x?xf4E2M1FN, strides=[?,1]>
    %ot = make_tensor_view %out, shape = [8, 32], strides = [32, 1] : tensor_view<8x32xf32, strides=[32,1]>
    %xv = make_partition_view %xt : partition_view<tile=(4x16), padding_value = zero, tensor_view<?x?xf4E2M1FN, strides=[?,1]>>
    %ov = make_partition_view %ot : partition_view<tile=(4x16), tensor_view<8x32xf32, strides=[32,1]>>
    %t, %t0 = load_view_tko weak %xv[%b, %c] : partition_view<tile=(4x16), padding_value = zero, tensor_view<?x?xf4E2M1FN, strides=[?,1]>>, tile<i32> -> tile<4x16xf4E2M1FN>, token
    %f = ftof %t : tile<4x16xf4E2M1FN> -> tile<4x16xf32>
    %t1 = store_view_tko weak %f, %ov[%b, %c] : tile<4x16xf32>, partition_view<tile=(4x16), tensor_view<8x32xf32, strides=[32,1]>>, tile<i32> -> token
    %zero = constant <i32: 0> : tile<i32>
    %sum = ori %b, %c : tile<i32>
    %first = cmpi equal %sum, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %d0, %d1 = get_tensor_shape %xt : tensor_view<?x?xf4E2M1FN, strides=[?,1]> -> tile<i32>
      %g0, %g1 = get_index_space_shape %xv : partition_view<tile=(4x16), padding_value = zero, tensor_view<?x?xf4E2M1FN, strides=[?,1]>> -> tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %two = constant <i32: 2> : tile<i32>
      %three = constant <i32: 3> : tile<i32>
      %p1 = offset %counts, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %p2 = offset %counts, %two : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %p3 = offset %counts, %three : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %u0 = store_ptr_tko weak %counts, %d0 : tile<ptr<i32>>, tile<i32> -> token
      %u1 = store_ptr_tko weak %p1, %d1 : tile<ptr<i32>>, tile<i32> -> token
      %u2 = store_ptr_tko weak %p2, %g0 : tile<ptr<i32>>, tile<i32> -> token
      %u3 = store_ptr_tko weak %p3, %g1 : tile<ptr<i32>>, tile<i32> -> token
    }
    return
  }
  entry @negative(%x: tile<ptr<f4E2M1FN>>, %n: tile<i32>, %out: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [%n, 6], strides = [8, 1] : tile<i32> -> tensor_view<?x6xf4E2M1FN, strides=[8,1]>
    %ot = make_tensor_view %out, shape = [4, 16], strides = [16, 1] : tensor_view<4x16xf32, strides=[16,1]>
    %xv = make_partition_view %xt : partition_view<tile=(4x16), padding_value = neg_zero, tensor_view<?x6xf4E2M1FN, strides=[8,1]>>
    %ov = make_partition_view %ot : partition_view<tile=(4x16), tensor_view<4x16xf32, strides=[16,1]>>
    %t, %t0 = load_view_tko weak %xv[%zero, %zero] : partition_view<tile=(4x16), padding_value = neg_zero, tensor_view<?x6xf4E2M1FN, strides=[8,1]>>, tile<i32> -> tile<4x16xf4E2M1FN>, token
    %f = ftof %t : tile<4x16xf4E2M1FN> -> tile<4x16xf32>
    %t1 = store_view_tko weak %f, %ov[%zero, %zero] : tile<4x16xf32>, partition_view<tile=(4x16), tensor_view<4x16xf32, strides=[16,1]>>, tile<i32> -> token
    return
  }
  entry @narrowed(%x: tile<ptr<f32>>, %out: tile<ptr<f4E2M1FN>>, %s: tile<i32>) {
    %b, %c, %z = get_tile_block_id : tile<i32>
    %stride = assume div_by<2>, %s : tile<i32>
    %xt = make_tensor_view %x, shape = [8, 32], strides = [32, 1] : tensor_view<8x32xf32, strides=[32,1]>
    %ot = make_tensor_view %out, shape = [5, 22], strides = [%stride, 1] : tile<i32> -> tensor_view<5x22xf4E2M1FN, strides=[?,1]>
    %xv = make_partition_view %xt : partition_view<tile=(4x16), tensor_view<8x32xf32, strides=[32,1]>>
    %ov = make_partition_view %ot : partition_view<tile=(4x16), tensor_view<5x22xf4E2M1FN, strides=[?,1]>>
    %t, %t0 = load_view_tko weak %xv[%b, %c] : partition_view<tile=(4x16), tensor_view<8x32xf32, strides=[32,1]>>, tile<i32> -> tile<4x16xf32>, token
    %f = ftof %t : tile<4x16xf32> -> tile<4x16xf4E2M1FN>
    %t1 = store_view_tko weak %f, %ov[%b, %c] : tile<4x16xf4E2M1FN>, partition_view<tile=(4x16), tensor_view<5x22xf4E2M1FN, strides=[?,1]>>, tile<i32> -> token
    return
  }
  entry @stored_columns(%x: tile<ptr<f32>>, %out: tile<ptr<f4E2M1FN>>) {
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [8, 4], strides = [4, 1] : tensor_view<8x4xf32, strides=[4,1]>
    %ot = make_tensor_view %out, shape = [8, 4], strides = [1, 8] : tensor_view<8x4xf4E2M1FN, strides=[1,8]>
    %xv = make_partition_view %xt : partition_view<tile=(8x4), tensor_view<8x4xf32, strides=[4,1]>>
    %ov = make_partition_view %ot : partition_view<tile=(8x4), tensor_view<8x4xf4E2M1FN, strides=[1,8]>>
    %t, %t0 = load_view_tko weak %xv[%zero, %zero] : partition_view<tile=(8x4), tensor_view<8x4xf32, strides=[4,1]>>, tile<i32> -> tile<8x4xf32>, token
    %f = ftof %t : tile<8x4xf32> -> tile<8x4xf4E2M1FN>
    %t1 = store_view_tko weak %f, %ov[%zero, %zero] : tile<8x4xf4E2M1FN>, partition_view<tile=(8x4), tensor_view<8x4xf4E2M1FN, strides=[1,8]>>, tile<i32> -> token
    return
  }
  entry @overlapping(%x: tile<ptr<f4E2M1FN>>, %out: tile<ptr<f32>>) {
    %b, %c, %z = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %x, shape = [8, 32], strides = [32, 1] : tensor_view<8x32xf4E2M1FN, strides=[32,1]>
    %ot = make_tensor_view %out, shape = [12, 32], strides = [32, 1] : tensor_view<12x32xf32, strides=[32,1]>
    %xv = make_strided_view %xt : strided_view<tile=(4x8), traversal_strides=[3,6], padding_value = zero, tensor_view<8x32xf4E2M1FN, strides=[32,1]>>
    %ov = make_partition_view %ot : partition_view<tile=(4x8), tensor_view<12x32xf32, strides=[32,1]>>
    %t, %t0 = load_view_tko weak %xv[%b, %c] : strided_view<tile=(4x8), traversal_strides=[3,6], padding_value = zero, tensor_view<8x32xf4E2M1FN, strides=[32,1]>>, tile<i32> -> tile<4x8xf4E2M1FN>, token
    %f = ftof %t : tile<4x8xf4E2M1FN> -> tile<4x8xf32>
    %t1 = store_view_tko weak %f, %ov[%b, %c] : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<12x32xf32, strides=[32,1]>>, tile<i32> -> token
    return
  }
  entry @picked(%x: tile<ptr<f4E2M1FN>>, %rows: tile<ptr<i32>>, %n: tile<i32>, %out: tile<ptr<f4E2M1FN>>) {
    %zero = constant <i32: 0> : tile<i32>
    %at = assume div_by<8>, %n : tile<i32>
    %rt = make_tensor_view %rows, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %rv = make_partition_view %rt : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %r, %t0 = load_view_tko weak %rv[%zero] : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> tile<4xi32>, token
    %xt = make_tensor_view %x, shape = [8, 16], strides = [16, 1] : tensor_view<8x16xf4E2M1FN, strides=[16,1]>
    %ot = make_tensor_view %out, shape = [8, 16], strides = [16, 1] : tensor_view<8x16xf4E2M1FN, strides=[16,1]>
    %xv = make_gather_scatter_view %xt : gather_scatter_view<tile=(4x8), padding_value = neg_zero, tensor_view<8x16xf4E2M1FN, strides=[16,1]>, sparse_dim=0>
    %ov = make_gather_scatter_view %ot : gather_scatter_view<tile=(4x8), tensor_view<8x16xf4E2M1FN, strides=[16,1]>, sparse_dim=0>
    %t, %t1 = load_view_tko weak %xv[%r, %at] : gather_scatter_view<tile=(4x8), padding_value = neg_zero, tensor_view<8x16xf4E2M1FN, strides=[16,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> tile<4x8xf4E2M1FN>, token
    %i = iota : tile<4xi32>
    %two = constant <i32: 2> : tile<4xi32>
    %one = constant <i32: 1> : tile<4xi32>
    %even = muli %i, %two : tile<4xi32>
    %odd = addi %even, %one : tile<4xi32>
    %t2 = store_view_tko weak %t, %ov[%odd, %at] : tile<4x8xf4E2M1FN>, gather_scatter_view<tile=(4x8), tensor_view<8x16xf4E2M1FN, strides=[16,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> token
    return
  }
  entry @table(%out: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %p = get_global @numbers : tile<ptr<f4E2M1FN>>
    %xt = make_tensor_view %p, shape = [8], strides = [1] : tensor_view<8xf4E2M1FN, strides=[1]>
    %ot = make_tensor_view %out, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %xv = make_partition_view %xt : partition_view<tile=(8), tensor_view<8xf4E2M1FN, strides=[1]>>
    %ov = make_partition_view %ot : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %t, %t0 = load_view_tko weak %xv[%zero] inbounds = [true] : partition_view<tile=(8), tensor_view<8xf4E2M1FN, strides=[1]>>, tile<i32> -> tile<8xf4E2M1FN>, token
    %f = ftof %t : tile<8xf4E2M1FN> -> tile<8xf32>
    %t1 = store_view_tko weak %f, %ov[%zero] : tile<8xf32>, partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> token
    return
  }
  entry @large(%x: tile<ptr<f4E2M1FN>>, %out: tile<ptr<f4E2M1FN>>) {
    %zero = constant <i32: 0> : tile<i32>
    %none = constant <f32: 0.0> : tile<256x128xf32>
    %xt = make_tensor_view %x, shape = [256, 128], strides = [128, 1] : tensor_view<256x128xf4E2M1FN, strides=[128,1]>
    %ot = make_tensor_view %out, shape = [256, 128], strides = [128, 1] : tensor_view<256x128xf4E2M1FN, strides=[128,1]>
    %xv = make_partition_view %xt : partition_view<tile=(256x128), tensor_view<256x128xf4E2M1FN, strides=[128,1]>>
    %ov = make_partition_view %ot : partition_view<tile=(256x128), tensor_view<256x128xf4E2M1FN, strides=[128,1]>>
    %t, %t0 = load_view_tko weak %xv[%zero, %zero] : partition_view<tile=(256x128), tensor_view<256x128xf4E2M1FN, strides=[128,1]>>, tile<i32> -> tile<256x128xf4E2M1FN>, token
    %f = ftof %t : tile<256x128xf4E2M1FN> -> tile<256x128xf32>
    %g = subf %none, %f : tile<256x128xf32>
    %h = ftof %g : tile<256x128xf32> -> tile<256x128xf4E2M1FN>
    %t1 = store_view_tko weak %h, %ov[%zero, %zero] : tile<256x128xf4E2M1FN>, partition_view<tile=(256x128), tensor_view<256x128xf4E2M1FN, strides=[128,1]>>, tile<i32> -> token
    return
  }
}
