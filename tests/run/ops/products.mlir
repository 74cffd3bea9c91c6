// Dots: integers of either sign, floats, floats with a scale for each block of 32.
// RUN @integers
// ARG a = random:2x4x16xi8:1
// ARG b = random:2x16x8xi8:2
// ARG c = random:2x4x8xi32:3
// ARG ss = zeros:2x4x8xi32
// ARG su = zeros:2x4x8xi32
// ARG us = zeros:2x4x8xi32
// ARG uu = zeros:2x4x8xi32
// EXPECT ss = c + a.astype(np.int32) @ b.astype(np.int32)
// EXPECT su = c + a.astype(np.int32) @ b.view(np.uint8).astype(np.int32)
// EXPECT us = c + a.view(np.uint8).astype(np.int32) @ b.astype(np.int32)
// EXPECT uu = c + a.view(np.uint8).astype(np.int32) @ b.view(np.uint8).astype(np.int32)
// RUN @floats
// ARG a = small:8x32xf16:1
// ARG b = small:32x4xf16:2
// ARG c = small:8x4xf32:3
// ARG out = zeros:8x4xf32
// EXPECT out = c + a.astype(np.float32) @ b.astype(np.float32)
// RUN @scaled
// ARG a = small:8x64xf8E4M3FN:1
// ARG b = small:64x4xf8E4M3FN:2
// ARG c = small:8x4xf32:3
// ARG p : f8E8M0FNU = 2.0 ** (np.arange(16).reshape(8, 2) % 3 - 1)
// ARG q : f8E8M0FNU = 2.0 ** (np.arange(8).reshape(2, 4) % 4 - 2)
// ARG out = zeros:8x4xf32
// EXPECT out = c + (wide_f8E4M3FN(a) * np.repeat(wide_f8E8M0FNU(p), 32, axis=1)) @ (wide_f8E4M3FN(b) * np.repeat(wide_f8E8M0FNU(q), 32, axis=0))
!i8_2x4x16 = !cuda_tile.tensor_view<2x4x16xi8, strides=[64,16,1]>
!i8_2x4x16_tile = !cuda_tile.partition_view<tile=(2x4x16), tensor_view<2x4x16xi8, strides=[64,16,1]>>
!i8_2x16x8 = !cuda_tile.tensor_view<2x16x8xi8, strides=[128,8,1]>
!i8_2x16x8_tile = !cuda_tile.partition_view<tile=(2x16x8), tensor_view<2x16x8xi8, strides=[128,8,1]>>
!i32_2x4x8 = !cuda_tile.tensor_view<2x4x8xi32, strides=[32,8,1]>
!i32_2x4x8_tile = !cuda_tile.partition_view<tile=(2x4x8), tensor_view<2x4x8xi32, strides=[32,8,1]>>
!f16_8x32 = !cuda_tile.tensor_view<8x32xf16, strides=[32,1]>
!f16_8x32_tile = !cuda_tile.partition_view<tile=(8x32), tensor_view<8x32xf16, strides=[32,1]>>
!f16_32x4 = !cuda_tile.tensor_view<32x4xf16, strides=[4,1]>
!f16_32x4_tile = !cuda_tile.partition_view<tile=(32x4), tensor_view<32x4xf16, strides=[4,1]>>
!f32_8x4 = !cuda_tile.tensor_view<8x4xf32, strides=[4,1]>
!f32_8x4_tile = !cuda_tile.partition_view<tile=(8x4), tensor_view<8x4xf32, strides=[4,1]>>
!f8E4M3FN_8x64 = !cuda_tile.tensor_view<8x64xf8E4M3FN, strides=[64,1]>
!f8E4M3FN_8x64_tile = !cuda_tile.partition_view<tile=(8x64), tensor_view<8x64xf8E4M3FN, strides=[64,1]>>
!f8E4M3FN_64x4 = !cuda_tile.tensor_view<64x4xf8E4M3FN, strides=[4,1]>
!f8E4M3FN_64x4_tile = !cuda_tile.partition_view<tile=(64x4), tensor_view<64x4xf8E4M3FN, strides=[4,1]>>
!f8E8M0FNU_8x2 = !cuda_tile.tensor_view<8x2xf8E8M0FNU, strides=[2,1]>
!f8E8M0FNU_8x2_tile = !cuda_tile.partition_view<tile=(8x2), tensor_view<8x2xf8E8M0FNU, strides=[2,1]>>
!f8E8M0FNU_2x4 = !cuda_tile.tensor_view<2x4xf8E8M0FNU, strides=[4,1]>
!f8E8M0FNU_2x4_tile = !cuda_tile.partition_view<tile=(2x4), tensor_view<2x4xf8E8M0FNU, strides=[4,1]>>
cuda_tile.module @kernels {
  entry @integers(%a_ptr: tile<ptr<i8>>, %b_ptr: tile<ptr<i8>>, %c_ptr: tile<ptr<i32>>, %ss_ptr: tile<ptr<i32>>, %su_ptr: tile<ptr<i32>>, %us_ptr: tile<ptr<i32>>, %uu_ptr: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %a_tensor = make_tensor_view %a_ptr, shape = [2, 4, 16], strides = [64, 16, 1] : !i8_2x4x16
    %a_view = make_partition_view %a_tensor : !i8_2x4x16_tile
    %a, %a_read = load_view_tko weak %a_view[%zero, %zero, %zero] : !i8_2x4x16_tile, tile<i32> -> tile<2x4x16xi8>, token
    %b_tensor = make_tensor_view %b_ptr, shape = [2, 16, 8], strides = [128, 8, 1] : !i8_2x16x8
    %b_view = make_partition_view %b_tensor : !i8_2x16x8_tile
    %b, %b_read = load_view_tko weak %b_view[%zero, %zero, %zero] : !i8_2x16x8_tile, tile<i32> -> tile<2x16x8xi8>, token
    %c_tensor = make_tensor_view %c_ptr, shape = [2, 4, 8], strides = [32, 8, 1] : !i32_2x4x8
    %c_view = make_partition_view %c_tensor : !i32_2x4x8_tile
    %c, %c_read = load_view_tko weak %c_view[%zero, %zero, %zero] : !i32_2x4x8_tile, tile<i32> -> tile<2x4x8xi32>, token
    %ss = mmai %a, %b, %c signed signed : tile<2x4x16xi8>, tile<2x16x8xi8>, tile<2x4x8xi32>
    %su = mmai %a, %b, %c signed unsigned : tile<2x4x16xi8>, tile<2x16x8xi8>, tile<2x4x8xi32>
    %us = mmai %a, %b, %c unsigned signed : tile<2x4x16xi8>, tile<2x16x8xi8>, tile<2x4x8xi32>
    %uu = mmai %a, %b, %c unsigned unsigned : tile<2x4x16xi8>, tile<2x16x8xi8>, tile<2x4x8xi32>
    %ss_tensor = make_tensor_view %ss_ptr, shape = [2, 4, 8], strides = [32, 8, 1] : !i32_2x4x8
    %ss_view = make_partition_view %ss_tensor : !i32_2x4x8_tile
    %ss_written = store_view_tko weak %ss, %ss_view[%zero, %zero, %zero] : tile<2x4x8xi32>, !i32_2x4x8_tile, tile<i32> -> token
    %su_tensor = make_tensor_view %su_ptr, shape = [2, 4, 8], strides = [32, 8, 1] : !i32_2x4x8
    %su_view = make_partition_view %su_tensor : !i32_2x4x8_tile
    %su_written = store_view_tko weak %su, %su_view[%zero, %zero, %zero] : tile<2x4x8xi32>, !i32_2x4x8_tile, tile<i32> -> token
    %us_tensor = make_tensor_view %us_ptr, shape = [2, 4, 8], strides = [32, 8, 1] : !i32_2x4x8
    %us_view = make_partition_view %us_tensor : !i32_2x4x8_tile
    %us_written = store_view_tko weak %us, %us_view[%zero, %zero, %zero] : tile<2x4x8xi32>, !i32_2x4x8_tile, tile<i32> -> token
    %uu_tensor = make_tensor_view %uu_ptr, shape = [2, 4, 8], strides = [32, 8, 1] : !i32_2x4x8
    %uu_view = make_partition_view %uu_tensor : !i32_2x4x8_tile
    %uu_written = store_view_tko weak %uu, %uu_view[%zero, %zero, %zero] : tile<2x4x8xi32>, !i32_2x4x8_tile, tile<i32> -> token
    return
  }
  entry @floats(%a_ptr: tile<ptr<f16>>, %b_ptr: tile<ptr<f16>>, %c_ptr: tile<ptr<f32>>, %out_ptr: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %a_tensor = make_tensor_view %a_ptr, shape = [8, 32], strides = [32, 1] : !f16_8x32
    %a_view = make_partition_view %a_tensor : !f16_8x32_tile
    %a, %a_read = load_view_tko weak %a_view[%zero, %zero] : !f16_8x32_tile, tile<i32> -> tile<8x32xf16>, token
    %b_tensor = make_tensor_view %b_ptr, shape = [32, 4], strides = [4, 1] : !f16_32x4
    %b_view = make_partition_view %b_tensor : !f16_32x4_tile
    %b, %b_read = load_view_tko weak %b_view[%zero, %zero] : !f16_32x4_tile, tile<i32> -> tile<32x4xf16>, token
    %c_tensor = make_tensor_view %c_ptr, shape = [8, 4], strides = [4, 1] : !f32_8x4
    %c_view = make_partition_view %c_tensor : !f32_8x4_tile
    %c, %c_read = load_view_tko weak %c_view[%zero, %zero] : !f32_8x4_tile, tile<i32> -> tile<8x4xf32>, token
    %out = mmaf %a, %b, %c : tile<8x32xf16>, tile<32x4xf16>, tile<8x4xf32>
    %out_tensor = make_tensor_view %out_ptr, shape = [8, 4], strides = [4, 1] : !f32_8x4
    %out_view = make_partition_view %out_tensor : !f32_8x4_tile
    %out_written = store_view_tko weak %out, %out_view[%zero, %zero] : tile<8x4xf32>, !f32_8x4_tile, tile<i32> -> token
    return
  }
  entry @scaled(%a_ptr: tile<ptr<f8E4M3FN>>, %b_ptr: tile<ptr<f8E4M3FN>>, %c_ptr: tile<ptr<f32>>, %p_ptr: tile<ptr<f8E8M0FNU>>, %q_ptr: tile<ptr<f8E8M0FNU>>, %out_ptr: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %a_tensor = make_tensor_view %a_ptr, shape = [8, 64], strides = [64, 1] : !f8E4M3FN_8x64
    %a_view = make_partition_view %a_tensor : !f8E4M3FN_8x64_tile
    %a, %a_read = load_view_tko weak %a_view[%zero, %zero] : !f8E4M3FN_8x64_tile, tile<i32> -> tile<8x64xf8E4M3FN>, token
    %b_tensor = make_tensor_view %b_ptr, shape = [64, 4], strides = [4, 1] : !f8E4M3FN_64x4
    %b_view = make_partition_view %b_tensor : !f8E4M3FN_64x4_tile
    %b, %b_read = load_view_tko weak %b_view[%zero, %zero] : !f8E4M3FN_64x4_tile, tile<i32> -> tile<64x4xf8E4M3FN>, token
    %c_tensor = make_tensor_view %c_ptr, shape = [8, 4], strides = [4, 1] : !f32_8x4
    %c_view = make_partition_view %c_tensor : !f32_8x4_tile
    %c, %c_read = load_view_tko weak %c_view[%zero, %zero] : !f32_8x4_tile, tile<i32> -> tile<8x4xf32>, token
    %p_tensor = make_tensor_view %p_ptr, shape = [8, 2], strides = [2, 1] : !f8E8M0FNU_8x2
    %p_view = make_partition_view %p_tensor : !f8E8M0FNU_8x2_tile
    %p, %p_read = load_view_tko weak %p_view[%zero, %zero] : !f8E8M0FNU_8x2_tile, tile<i32> -> tile<8x2xf8E8M0FNU>, token
    %q_tensor = make_tensor_view %q_ptr, shape = [2, 4], strides = [4, 1] : !f8E8M0FNU_2x4
    %q_view = make_partition_view %q_tensor : !f8E8M0FNU_2x4_tile
    %q, %q_read = load_view_tko weak %q_view[%zero, %zero] : !f8E8M0FNU_2x4_tile, tile<i32> -> tile<2x4xf8E8M0FNU>, token
    %out = mmaf_scaled %a, %b, %c, %p, %q : tile<8x64xf8E4M3FN>, tile<64x4xf8E4M3FN>, tile<8x4xf32>, tile<8x2xf8E8M0FNU>, tile<2x4xf8E8M0FNU>
    %out_tensor = make_tensor_view %out_ptr, shape = [8, 4], strides = [4, 1] : !f32_8x4
    %out_view = make_partition_view %out_tensor : !f32_8x4_tile
    %out_written = store_view_tko weak %out, %out_view[%zero, %zero] : tile<8x4xf32>, !f32_8x4_tile, tile<i32> -> token
    return
  }
}
