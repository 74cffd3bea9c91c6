// Conversions of numbers, and of pointers to numbers and to other pointers.
// RUN @numbers
// ARG x = random:64xf32:1
// ARG big : f32 = x * 1000
// ARG size : f32 = abs(big)
// ARG n = random:64xi32:2
// ARG half = zeros:64xf16
// ARG brain = zeros:64xbf16
// ARG chopped = zeros:64xbf16
// ARG eighth = zeros:64xf8E4M3FN
// ARG double = zeros:64xf64
// ARG whole = zeros:64xi32
// ARG natural = zeros:64xi32
// ARG real = zeros:64xf32
// ARG unsigned_real = zeros:64xf32
// ARG wide = zeros:64xi64
// ARG unsigned_wide = zeros:64xi64
// ARG narrow = zeros:64xi8
// ARG bits = zeros:64xi32
// EXPECT half = x
// EXPECT brain = bf16(x)
// EXPECT chopped = (x.view(np.uint32) & 0xFFFF0000).view(np.float32)
// EXPECT eighth = f8E4M3FN(x)
// EXPECT double = x
// EXPECT whole = np.trunc(big)
// EXPECT natural = np.trunc(size)
// EXPECT real = n
// EXPECT unsigned_real = n.view(np.uint32)
// EXPECT wide = n
// EXPECT unsigned_wide = n.view(np.uint32)
// EXPECT narrow = n.astype(np.int8)
// EXPECT bits = x.view(np.int32)
// RUN @pointers
// ARG x = random:2xf32:3
// ARG next = zeros:1xf32
// ARG first = zeros:1xi32
// EXPECT next = x[1]
// EXPECT first = x.view(np.int32)[0]
!f32_64 = !cuda_tile.tensor_view<64xf32, strides=[1]>
!f32_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
!i32_64 = !cuda_tile.tensor_view<64xi32, strides=[1]>
!i32_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xi32, strides=[1]>>
!f16_64 = !cuda_tile.tensor_view<64xf16, strides=[1]>
!f16_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xf16, strides=[1]>>
!bf16_64 = !cuda_tile.tensor_view<64xbf16, strides=[1]>
!bf16_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xbf16, strides=[1]>>
!f8E4M3FN_64 = !cuda_tile.tensor_view<64xf8E4M3FN, strides=[1]>
!f8E4M3FN_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xf8E4M3FN, strides=[1]>>
!f64_64 = !cuda_tile.tensor_view<64xf64, strides=[1]>
!f64_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xf64, strides=[1]>>
!i64_64 = !cuda_tile.tensor_view<64xi64, strides=[1]>
!i64_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xi64, strides=[1]>>
!i8_64 = !cuda_tile.tensor_view<64xi8, strides=[1]>
!i8_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xi8, strides=[1]>>
cuda_tile.module @kernels {
  entry @numbers(%x_ptr: tile<ptr<f32>>, %big_ptr: tile<ptr<f32>>, %size_ptr: tile<ptr<f32>>, %n_ptr: tile<ptr<i32>>, %half_ptr: tile<ptr<f16>>, %brain_ptr: tile<ptr<bf16>>, %chopped_ptr: tile<ptr<bf16>>, %eighth_ptr: tile<ptr<f8E4M3FN>>, %double_ptr: tile<ptr<f64>>, %whole_ptr: tile<ptr<i32>>, %natural_ptr: tile<ptr<i32>>, %real_ptr: tile<ptr<f32>>, %unsigned_real_ptr: tile<ptr<f32>>, %wide_ptr: tile<ptr<i64>>, %unsigned_wide_ptr: tile<ptr<i64>>, %narrow_ptr: tile<ptr<i8>>, %bits_ptr: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_tensor = make_tensor_view %x_ptr, shape = [64], strides = [1] : !f32_64
    %x_view = make_partition_view %x_tensor : !f32_64_tile
    %x, %x_read = load_view_tko weak %x_view[%zero] : !f32_64_tile, tile<i32> -> tile<64xf32>, token
    %big_tensor = make_tensor_view %big_ptr, shape = [64], strides = [1] : !f32_64
    %big_view = make_partition_view %big_tensor : !f32_64_tile
    %big, %big_read = load_view_tko weak %big_view[%zero] : !f32_64_tile, tile<i32> -> tile<64xf32>, token
    %size_tensor = make_tensor_view %size_ptr, shape = [64], strides = [1] : !f32_64
    %size_view = make_partition_view %size_tensor : !f32_64_tile
    %size, %size_read = load_view_tko weak %size_view[%zero] : !f32_64_tile, tile<i32> -> tile<64xf32>, token
    %n_tensor = make_tensor_view %n_ptr, shape = [64], strides = [1] : !i32_64
    %n_view = make_partition_view %n_tensor : !i32_64_tile
    %n, %n_read = load_view_tko weak %n_view[%zero] : !i32_64_tile, tile<i32> -> tile<64xi32>, token
    %half = ftof %x : tile<64xf32> -> tile<64xf16>
    %brain = ftof %x : tile<64xf32> -> tile<64xbf16>
    %chopped = ftof %x rounding<zero> : tile<64xf32> -> tile<64xbf16>
    %eighth = ftof %x : tile<64xf32> -> tile<64xf8E4M3FN>
    %double = ftof %x : tile<64xf32> -> tile<64xf64>
    %whole = ftoi %big signed : tile<64xf32> -> tile<64xi32>
    %natural = ftoi %size unsigned : tile<64xf32> -> tile<64xi32>
    %real = itof %n signed : tile<64xi32> -> tile<64xf32>
    %unsigned_real = itof %n unsigned : tile<64xi32> -> tile<64xf32>
    %wide = exti %n signed : tile<64xi32> -> tile<64xi64>
    %unsigned_wide = exti %n unsigned : tile<64xi32> -> tile<64xi64>
    %narrow = trunci %n : tile<64xi32> -> tile<64xi8>
    %bits = bitcast %x : tile<64xf32> -> tile<64xi32>
    %half_tensor = make_tensor_view %half_ptr, shape = [64], strides = [1] : !f16_64
    %half_view = make_partition_view %half_tensor : !f16_64_tile
    %half_written = store_view_tko weak %half, %half_view[%zero] : tile<64xf16>, !f16_64_tile, tile<i32> -> token
    %brain_tensor = make_tensor_view %brain_ptr, shape = [64], strides = [1] : !bf16_64
    %brain_view = make_partition_view %brain_tensor : !bf16_64_tile
    %brain_written = store_view_tko weak %brain, %brain_view[%zero] : tile<64xbf16>, !bf16_64_tile, tile<i32> -> token
    %chopped_tensor = make_tensor_view %chopped_ptr, shape = [64], strides = [1] : !bf16_64
    %chopped_view = make_partition_view %chopped_tensor : !bf16_64_tile
    %chopped_written = store_view_tko weak %chopped, %chopped_view[%zero] : tile<64xbf16>, !bf16_64_tile, tile<i32> -> token
    %eighth_tensor = make_tensor_view %eighth_ptr, shape = [64], strides = [1] : !f8E4M3FN_64
    %eighth_view = make_partition_view %eighth_tensor : !f8E4M3FN_64_tile
    %eighth_written = store_view_tko weak %eighth, %eighth_view[%zero] : tile<64xf8E4M3FN>, !f8E4M3FN_64_tile, tile<i32> -> token
    %double_tensor = make_tensor_view %double_ptr, shape = [64], strides = [1] : !f64_64
    %double_view = make_partition_view %double_tensor : !f64_64_tile
    %double_written = store_view_tko weak %double, %double_view[%zero] : tile<64xf64>, !f64_64_tile, tile<i32> -> token
    %whole_tensor = make_tensor_view %whole_ptr, shape = [64], strides = [1] : !i32_64
    %whole_view = make_partition_view %whole_tensor : !i32_64_tile
    %whole_written = store_view_tko weak %whole, %whole_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %natural_tensor = make_tensor_view %natural_ptr, shape = [64], strides = [1] : !i32_64
    %natural_view = make_partition_view %natural_tensor : !i32_64_tile
    %natural_written = store_view_tko weak %natural, %natural_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    %real_tensor = make_tensor_view %real_ptr, shape = [64], strides = [1] : !f32_64
    %real_view = make_partition_view %real_tensor : !f32_64_tile
    %real_written = store_view_tko weak %real, %real_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %unsigned_real_tensor = make_tensor_view %unsigned_real_ptr, shape = [64], strides = [1] : !f32_64
    %unsigned_real_view = make_partition_view %unsigned_real_tensor : !f32_64_tile
    %unsigned_real_written = store_view_tko weak %unsigned_real, %unsigned_real_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %wide_tensor = make_tensor_view %wide_ptr, shape = [64], strides = [1] : !i64_64
    %wide_view = make_partition_view %wide_tensor : !i64_64_tile
    %wide_written = store_view_tko weak %wide, %wide_view[%zero] : tile<64xi64>, !i64_64_tile, tile<i32> -> token
    %unsigned_wide_tensor = make_tensor_view %unsigned_wide_ptr, shape = [64], strides = [1] : !i64_64
    %unsigned_wide_view = make_partition_view %unsigned_wide_tensor : !i64_64_tile
    %unsigned_wide_written = store_view_tko weak %unsigned_wide, %unsigned_wide_view[%zero] : tile<64xi64>, !i64_64_tile, tile<i32> -> token
    %narrow_tensor = make_tensor_view %narrow_ptr, shape = [64], strides = [1] : !i8_64
    %narrow_view = make_partition_view %narrow_tensor : !i8_64_tile
    %narrow_written = store_view_tko weak %narrow, %narrow_view[%zero] : tile<64xi8>, !i8_64_tile, tile<i32> -> token
    %bits_tensor = make_tensor_view %bits_ptr, shape = [64], strides = [1] : !i32_64
    %bits_view = make_partition_view %bits_tensor : !i32_64_tile
    %bits_written = store_view_tko weak %bits, %bits_view[%zero] : tile<64xi32>, !i32_64_tile, tile<i32> -> token
    return
  }
  entry @pointers(%x: tile<ptr<f32>>, %next: tile<ptr<f32>>, %first: tile<ptr<i32>>) {
    %address = ptr_to_int %x : tile<ptr<f32>> -> tile<i64>
    %four = constant <i64: 4> : tile<i64>
    %behind = addi %address, %four : tile<i64>
    %pointer = int_to_ptr %behind : tile<i64> -> tile<ptr<f32>>
    %value, %t0 = load_ptr_tko weak %pointer : tile<ptr<f32>> -> tile<f32>, token
    %t1 = store_ptr_tko weak %next, %value : tile<ptr<f32>>, tile<f32> -> token
    %integers = ptr_to_ptr %x : tile<ptr<f32>> -> tile<ptr<i32>>
    %bits, %t2 = load_ptr_tko weak %integers : tile<ptr<i32>> -> tile<i32>, token
    %t3 = store_ptr_tko weak %first, %bits : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
