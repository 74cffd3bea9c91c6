// Shapes of tiles: permute, cat, extract, insert, broadcast; bytes packed and unpacked.
// RUN @shapes
// ARG x = random:4x8xf32:1
// ARG y = random:4x8xf32:2
// ARG permuted = zeros:8x4xf32
// ARG reshaped = zeros:2x16xf32
// ARG joined = zeros:4x16xf32
// ARG cut = zeros:4x2xf32
// ARG put = zeros:4x8xf32
// ARG spread = zeros:4x4x2xf32
// ARG counted = zeros:16xi32
// ARG listed = zeros:4xi16
// ARG packed = zeros:128xi8
// ARG unpacked = zeros:32xi32
// EXPECT permuted = x.T
// EXPECT reshaped = x
// EXPECT joined = np.concatenate([x, y], axis=1)
// EXPECT cut = x[:, 4:6]
// EXPECT put = np.concatenate([x[:, :4], y[:, 2:4], x[:, 6:]], axis=1)
// EXPECT spread = np.broadcast_to(x[:, None, 4:6], (4, 4, 2))
// EXPECT counted = np.arange(16)
// EXPECT listed = np.array([3, -1, 4, -1])
// EXPECT packed = x.view(np.int8)
// EXPECT unpacked = x.view(np.int32)
!f32_4x8 = !cuda_tile.tensor_view<4x8xf32, strides=[8,1]>
!f32_4x8_tile = !cuda_tile.partition_view<tile=(4x8), tensor_view<4x8xf32, strides=[8,1]>>
!f32_8x4 = !cuda_tile.tensor_view<8x4xf32, strides=[4,1]>
!f32_8x4_tile = !cuda_tile.partition_view<tile=(8x4), tensor_view<8x4xf32, strides=[4,1]>>
!f32_2x16 = !cuda_tile.tensor_view<2x16xf32, strides=[16,1]>
!f32_2x16_tile = !cuda_tile.partition_view<tile=(2x16), tensor_view<2x16xf32, strides=[16,1]>>
!f32_4x16 = !cuda_tile.tensor_view<4x16xf32, strides=[16,1]>
!f32_4x16_tile = !cuda_tile.partition_view<tile=(4x16), tensor_view<4x16xf32, strides=[16,1]>>
!f32_4x2 = !cuda_tile.tensor_view<4x2xf32, strides=[2,1]>
!f32_4x2_tile = !cuda_tile.partition_view<tile=(4x2), tensor_view<4x2xf32, strides=[2,1]>>
!f32_4x4x2 = !cuda_tile.tensor_view<4x4x2xf32, strides=[8,2,1]>
!f32_4x4x2_tile = !cuda_tile.partition_view<tile=(4x4x2), tensor_view<4x4x2xf32, strides=[8,2,1]>>
!i32_16 = !cuda_tile.tensor_view<16xi32, strides=[1]>
!i32_16_tile = !cuda_tile.partition_view<tile=(16), tensor_view<16xi32, strides=[1]>>
!i16_4 = !cuda_tile.tensor_view<4xi16, strides=[1]>
!i16_4_tile = !cuda_tile.partition_view<tile=(4), tensor_view<4xi16, strides=[1]>>
!i8_128 = !cuda_tile.tensor_view<128xi8, strides=[1]>
!i8_128_tile = !cuda_tile.partition_view<tile=(128), tensor_view<128xi8, strides=[1]>>
!i32_32 = !cuda_tile.tensor_view<32xi32, strides=[1]>
!i32_32_tile = !cuda_tile.partition_view<tile=(32), tensor_view<32xi32, strides=[1]>>
cuda_tile.module @kernels {
  entry @shapes(%x_ptr: tile<ptr<f32>>, %y_ptr: tile<ptr<f32>>, %permuted_ptr: tile<ptr<f32>>, %reshaped_ptr: tile<ptr<f32>>, %joined_ptr: tile<ptr<f32>>, %cut_ptr: tile<ptr<f32>>, %put_ptr: tile<ptr<f32>>, %spread_ptr: tile<ptr<f32>>, %counted_ptr: tile<ptr<i32>>, %listed_ptr: tile<ptr<i16>>, %packed_ptr: tile<ptr<i8>>, %unpacked_ptr: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_tensor = make_tensor_view %x_ptr, shape = [4, 8], strides = [8, 1] : !f32_4x8
    %x_view = make_partition_view %x_tensor : !f32_4x8_tile
    %x, %x_read = load_view_tko weak %x_view[%zero, %zero] : !f32_4x8_tile, tile<i32> -> tile<4x8xf32>, token
    %y_tensor = make_tensor_view %y_ptr, shape = [4, 8], strides = [8, 1] : !f32_4x8
    %y_view = make_partition_view %y_tensor : !f32_4x8_tile
    %y, %y_read = load_view_tko weak %y_view[%zero, %zero] : !f32_4x8_tile, tile<i32> -> tile<4x8xf32>, token
    %permuted = permute %x [1, 0] : tile<4x8xf32> -> tile<8x4xf32>
    %reshaped = reshape %x : tile<4x8xf32> -> tile<2x16xf32>
    %joined = cat %x, %y dim = 1 : tile<4x8xf32>, tile<4x8xf32> -> tile<4x16xf32>
    // Indices count pieces, not elements.
    %two = constant <i32: 2> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %cut = extract %x[%zero, %two] : tile<4x8xf32> -> tile<4x2xf32>
    %other = extract %y[%zero, %one] : tile<4x8xf32> -> tile<4x2xf32>
    %put = insert %other, %x[%zero, %two] : tile<4x2xf32>, tile<4x8xf32>
    %between = reshape %cut : tile<4x2xf32> -> tile<4x1x2xf32>
    %spread = broadcast %between : tile<4x1x2xf32> -> tile<4x4x2xf32>
    %counted = iota : tile<16xi32>
    %listed = constant <i16: [3, -1, 4, -1]> : tile<4xi16>
    %flat = reshape %x : tile<4x8xf32> -> tile<32xf32>
    %packed = pack %flat : tile<32xf32> -> tile<128xi8>
    %unpacked = unpack %packed : tile<128xi8> -> tile<32xi32>
    %permuted_tensor = make_tensor_view %permuted_ptr, shape = [8, 4], strides = [4, 1] : !f32_8x4
    %permuted_view = make_partition_view %permuted_tensor : !f32_8x4_tile
    %permuted_written = store_view_tko weak %permuted, %permuted_view[%zero, %zero] : tile<8x4xf32>, !f32_8x4_tile, tile<i32> -> token
    %reshaped_tensor = make_tensor_view %reshaped_ptr, shape = [2, 16], strides = [16, 1] : !f32_2x16
    %reshaped_view = make_partition_view %reshaped_tensor : !f32_2x16_tile
    %reshaped_written = store_view_tko weak %reshaped, %reshaped_view[%zero, %zero] : tile<2x16xf32>, !f32_2x16_tile, tile<i32> -> token
    %joined_tensor = make_tensor_view %joined_ptr, shape = [4, 16], strides = [16, 1] : !f32_4x16
    %joined_view = make_partition_view %joined_tensor : !f32_4x16_tile
    %joined_written = store_view_tko weak %joined, %joined_view[%zero, %zero] : tile<4x16xf32>, !f32_4x16_tile, tile<i32> -> token
    %cut_tensor = make_tensor_view %cut_ptr, shape = [4, 2], strides = [2, 1] : !f32_4x2
    %cut_view = make_partition_view %cut_tensor : !f32_4x2_tile
    %cut_written = store_view_tko weak %cut, %cut_view[%zero, %zero] : tile<4x2xf32>, !f32_4x2_tile, tile<i32> -> token
    %put_tensor = make_tensor_view %put_ptr, shape = [4, 8], strides = [8, 1] : !f32_4x8
    %put_view = make_partition_view %put_tensor : !f32_4x8_tile
    %put_written = store_view_tko weak %put, %put_view[%zero, %zero] : tile<4x8xf32>, !f32_4x8_tile, tile<i32> -> token
    %spread_tensor = make_tensor_view %spread_ptr, shape = [4, 4, 2], strides = [8, 2, 1] : !f32_4x4x2
    %spread_view = make_partition_view %spread_tensor : !f32_4x4x2_tile
    %spread_written = store_view_tko weak %spread, %spread_view[%zero, %zero, %zero] : tile<4x4x2xf32>, !f32_4x4x2_tile, tile<i32> -> token
    %counted_tensor = make_tensor_view %counted_ptr, shape = [16], strides = [1] : !i32_16
    %counted_view = make_partition_view %counted_tensor : !i32_16_tile
    %counted_written = store_view_tko weak %counted, %counted_view[%zero] : tile<16xi32>, !i32_16_tile, tile<i32> -> token
    %listed_tensor = make_tensor_view %listed_ptr, shape = [4], strides = [1] : !i16_4
    %listed_view = make_partition_view %listed_tensor : !i16_4_tile
    %listed_written = store_view_tko weak %listed, %listed_view[%zero] : tile<4xi16>, !i16_4_tile, tile<i32> -> token
    %packed_tensor = make_tensor_view %packed_ptr, shape = [128], strides = [1] : !i8_128
    %packed_view = make_partition_view %packed_tensor : !i8_128_tile
    %packed_written = store_view_tko weak %packed, %packed_view[%zero] : tile<128xi8>, !i8_128_tile, tile<i32> -> token
    %unpacked_tensor = make_tensor_view %unpacked_ptr, shape = [32], strides = [1] : !i32_32
    %unpacked_view = make_partition_view %unpacked_tensor : !i32_32_tile
    %unpacked_written = store_view_tko weak %unpacked, %unpacked_view[%zero] : tile<32xi32>, !i32_32_tile, tile<i32> -> token
    return
  }
}
