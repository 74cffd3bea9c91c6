// Arithmetic on two and three floats. The multiplication in `fused` has more bits than an element.
// RUN @floats
// ARG x = random:64xf32:1
// ARG y = random:64xf32:2
// ARG p : f32 = abs(x) + 0.25
// ARG a : f32 = 1 + 2.0 ** -np.arange(64).clip(max=20)
// ARG b : f32 = 2 - a
// ARG n : i32 = np.arange(64) % 7
// ARG sum = zeros:64xf32
// ARG difference = zeros:64xf32
// ARG product = zeros:64xf32
// ARG quotient = zeros:64xf32
// ARG remainder = zeros:64xf32
// ARG fused = zeros:64xf32
// ARG larger = zeros:64xf32
// ARG smaller = zeros:64xf32
// ARG power = zeros:64xf32
// ARG angle = zeros:64xf32
// ARG repeated = zeros:64xf32
// ARG less = zeros:64xi1
// ARG chosen = zeros:64xf32
// EXPECT sum = x + y
// EXPECT difference = x - y
// EXPECT product = x * y
// EXPECT quotient = x / y
// EXPECT remainder = np.fmod(x, y)
// EXPECT fused = wide_f32(a) * wide_f32(b) - 1
// EXPECT larger = np.maximum(x, y)
// EXPECT smaller = np.minimum(x, y)
// EXPECT power near pow(p, y)
// EXPECT angle near atan2(x, y)
// EXPECT repeated near pow(x, n)
// EXPECT less = x < y
// EXPECT chosen = np.where(x < y, x, a)
!f32_64 = !cuda_tile.tensor_view<64xf32, strides=[1]>
!f32_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
!i32_64 = !cuda_tile.tensor_view<64xi32, strides=[1]>
!i32_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xi32, strides=[1]>>
!i1_64 = !cuda_tile.tensor_view<64xi1, strides=[1]>
!i1_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xi1, strides=[1]>>
cuda_tile.module @kernels {
  entry @floats(%x_ptr: tile<ptr<f32>>, %y_ptr: tile<ptr<f32>>, %p_ptr: tile<ptr<f32>>, %a_ptr: tile<ptr<f32>>, %b_ptr: tile<ptr<f32>>, %n_ptr: tile<ptr<i32>>, %sum_ptr: tile<ptr<f32>>, %difference_ptr: tile<ptr<f32>>, %product_ptr: tile<ptr<f32>>, %quotient_ptr: tile<ptr<f32>>, %remainder_ptr: tile<ptr<f32>>, %fused_ptr: tile<ptr<f32>>, %larger_ptr: tile<ptr<f32>>, %smaller_ptr: tile<ptr<f32>>, %power_ptr: tile<ptr<f32>>, %angle_ptr: tile<ptr<f32>>, %repeated_ptr: tile<ptr<f32>>, %less_ptr: tile<ptr<i1>>, %chosen_ptr: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_tensor = make_tensor_view %x_ptr, shape = [64], strides = [1] : !f32_64
    %x_view = make_partition_view %x_tensor : !f32_64_tile
    %x, %x_read = load_view_tko weak %x_view[%zero] : !f32_64_tile, tile<i32> -> tile<64xf32>, token
    %y_tensor = make_tensor_view %y_ptr, shape = [64], strides = [1] : !f32_64
    %y_view = make_partition_view %y_tensor : !f32_64_tile
    %y, %y_read = load_view_tko weak %y_view[%zero] : !f32_64_tile, tile<i32> -> tile<64xf32>, token
    %p_tensor = make_tensor_view %p_ptr, shape = [64], strides = [1] : !f32_64
    %p_view = make_partition_view %p_tensor : !f32_64_tile
    %p, %p_read = load_view_tko weak %p_view[%zero] : !f32_64_tile, tile<i32> -> tile<64xf32>, token
    %a_tensor = make_tensor_view %a_ptr, shape = [64], strides = [1] : !f32_64
    %a_view = make_partition_view %a_tensor : !f32_64_tile
    %a, %a_read = load_view_tko weak %a_view[%zero] : !f32_64_tile, tile<i32> -> tile<64xf32>, token
    %b_tensor = make_tensor_view %b_ptr, shape = [64], strides = [1] : !f32_64
    %b_view = make_partition_view %b_tensor : !f32_64_tile
    %b, %b_read = load_view_tko weak %b_view[%zero] : !f32_64_tile, tile<i32> -> tile<64xf32>, token
    %n_tensor = make_tensor_view %n_ptr, shape = [64], strides = [1] : !i32_64
    %n_view = make_partition_view %n_tensor : !i32_64_tile
    %n, %n_read = load_view_tko weak %n_view[%zero] : !i32_64_tile, tile<i32> -> tile<64xi32>, token
    %minus_one = constant <f32: -1.0> : tile<64xf32>
    %sum = addf %x, %y : tile<64xf32>
    %difference = subf %x, %y : tile<64xf32>
    %product = mulf %x, %y : tile<64xf32>
    %quotient = divf %x, %y : tile<64xf32>
    %remainder = remf %x, %y : tile<64xf32>
    %fused = fma %a, %b, %minus_one : tile<64xf32>
    %larger = maxf %x, %y : tile<64xf32>
    %smaller = minf %x, %y : tile<64xf32>
    %power = fpowf %p, %y : tile<64xf32>
    %angle = atan2 %x, %y : tile<64xf32>
    %repeated = fpowi %x, %n : tile<64xf32>, tile<64xi32>
    %less = cmpf less_than ordered %x, %y : tile<64xf32> -> tile<64xi1>
    %chosen = select %less, %x, %a : tile<64xi1>, tile<64xf32>
    %sum_tensor = make_tensor_view %sum_ptr, shape = [64], strides = [1] : !f32_64
    %sum_view = make_partition_view %sum_tensor : !f32_64_tile
    %sum_written = store_view_tko weak %sum, %sum_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %difference_tensor = make_tensor_view %difference_ptr, shape = [64], strides = [1] : !f32_64
    %difference_view = make_partition_view %difference_tensor : !f32_64_tile
    %difference_written = store_view_tko weak %difference, %difference_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %product_tensor = make_tensor_view %product_ptr, shape = [64], strides = [1] : !f32_64
    %product_view = make_partition_view %product_tensor : !f32_64_tile
    %product_written = store_view_tko weak %product, %product_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %quotient_tensor = make_tensor_view %quotient_ptr, shape = [64], strides = [1] : !f32_64
    %quotient_view = make_partition_view %quotient_tensor : !f32_64_tile
    %quotient_written = store_view_tko weak %quotient, %quotient_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %remainder_tensor = make_tensor_view %remainder_ptr, shape = [64], strides = [1] : !f32_64
    %remainder_view = make_partition_view %remainder_tensor : !f32_64_tile
    %remainder_written = store_view_tko weak %remainder, %remainder_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %fused_tensor = make_tensor_view %fused_ptr, shape = [64], strides = [1] : !f32_64
    %fused_view = make_partition_view %fused_tensor : !f32_64_tile
    %fused_written = store_view_tko weak %fused, %fused_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %larger_tensor = make_tensor_view %larger_ptr, shape = [64], strides = [1] : !f32_64
    %larger_view = make_partition_view %larger_tensor : !f32_64_tile
    %larger_written = store_view_tko weak %larger, %larger_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %smaller_tensor = make_tensor_view %smaller_ptr, shape = [64], strides = [1] : !f32_64
    %smaller_view = make_partition_view %smaller_tensor : !f32_64_tile
    %smaller_written = store_view_tko weak %smaller, %smaller_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %power_tensor = make_tensor_view %power_ptr, shape = [64], strides = [1] : !f32_64
    %power_view = make_partition_view %power_tensor : !f32_64_tile
    %power_written = store_view_tko weak %power, %power_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %angle_tensor = make_tensor_view %angle_ptr, shape = [64], strides = [1] : !f32_64
    %angle_view = make_partition_view %angle_tensor : !f32_64_tile
    %angle_written = store_view_tko weak %angle, %angle_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %repeated_tensor = make_tensor_view %repeated_ptr, shape = [64], strides = [1] : !f32_64
    %repeated_view = make_partition_view %repeated_tensor : !f32_64_tile
    %repeated_written = store_view_tko weak %repeated, %repeated_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %less_tensor = make_tensor_view %less_ptr, shape = [64], strides = [1] : !i1_64
    %less_view = make_partition_view %less_tensor : !i1_64_tile
    %less_written = store_view_tko weak %less, %less_view[%zero] : tile<64xi1>, !i1_64_tile, tile<i32> -> token
    %chosen_tensor = make_tensor_view %chosen_ptr, shape = [64], strides = [1] : !f32_64
    %chosen_view = make_partition_view %chosen_tensor : !f32_64_tile
    %chosen_written = store_view_tko weak %chosen, %chosen_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    return
  }
}
