// Powers with exponents that are constants: squares are exact, the others approximate.
// RUN @powers
// ARG x = random:64xf32:1
// ARG first = zeros:64xf32
// ARG second = zeros:64xf32
// ARG third = zeros:64xf32
// ARG tenth = zeros:64xf32
// ARG inverse = zeros:64xf32
// ARG fifth = zeros:64xf32
// ARG square = zeros:64xf32
// EXPECT first = x
// EXPECT second = x * x
// EXPECT third near pow(x, np.full(64, 3, np.int32))
// EXPECT tenth near pow(x, np.full(64, 10, np.int32))
// EXPECT inverse near pow(x, np.full(64, -1, np.int32))
// EXPECT fifth near pow(x, np.full(64, -5, np.int32))
// EXPECT square = x * x
!f32_64 = !cuda_tile.tensor_view<64xf32, strides=[1]>
!f32_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
cuda_tile.module @m {
  entry @powers(%x_ptr : tile<ptr<f32>>, %first_ptr : tile<ptr<f32>>, %second_ptr : tile<ptr<f32>>, %third_ptr : tile<ptr<f32>>, %tenth_ptr : tile<ptr<f32>>, %inverse_ptr : tile<ptr<f32>>, %fifth_ptr : tile<ptr<f32>>, %square_ptr : tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_tensor = make_tensor_view %x_ptr, shape = [64], strides = [1] : !f32_64
    %x_view = make_partition_view %x_tensor : !f32_64_tile
    %x, %x_read = load_view_tko weak %x_view[%zero] : !f32_64_tile, tile<i32> -> tile<64xf32>, token
    %first_exponent = constant <i32: 1> : tile<64xi32>
    %first = fpowi %x, %first_exponent : tile<64xf32>, tile<64xi32>
    %second_exponent = constant <i32: 2> : tile<64xi32>
    %second = fpowi %x, %second_exponent : tile<64xf32>, tile<64xi32>
    %third_exponent = constant <i8: 3> : tile<64xi8>
    %third = fpowi %x, %third_exponent : tile<64xf32>, tile<64xi8>
    %tenth_exponent = constant <i32: 10> : tile<64xi32>
    %tenth = fpowi %x, %tenth_exponent : tile<64xf32>, tile<64xi32>
    %inverse_exponent = constant <i32: -1> : tile<64xi32>
    %inverse = fpowi %x, %inverse_exponent : tile<64xf32>, tile<64xi32>
    %fifth_exponent = constant <i32: -5> : tile<64xi32>
    %fifth = fpowi %x, %fifth_exponent : tile<64xf32>, tile<64xi32>
    %two = constant <f32: 2.0> : tile<64xf32>
    %square = fpowf %x, %two : tile<64xf32>
    %first_tensor = make_tensor_view %first_ptr, shape = [64], strides = [1] : !f32_64
    %first_view = make_partition_view %first_tensor : !f32_64_tile
    %first_written = store_view_tko weak %first, %first_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %second_tensor = make_tensor_view %second_ptr, shape = [64], strides = [1] : !f32_64
    %second_view = make_partition_view %second_tensor : !f32_64_tile
    %second_written = store_view_tko weak %second, %second_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %third_tensor = make_tensor_view %third_ptr, shape = [64], strides = [1] : !f32_64
    %third_view = make_partition_view %third_tensor : !f32_64_tile
    %third_written = store_view_tko weak %third, %third_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %tenth_tensor = make_tensor_view %tenth_ptr, shape = [64], strides = [1] : !f32_64
    %tenth_view = make_partition_view %tenth_tensor : !f32_64_tile
    %tenth_written = store_view_tko weak %tenth, %tenth_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %inverse_tensor = make_tensor_view %inverse_ptr, shape = [64], strides = [1] : !f32_64
    %inverse_view = make_partition_view %inverse_tensor : !f32_64_tile
    %inverse_written = store_view_tko weak %inverse, %inverse_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %fifth_tensor = make_tensor_view %fifth_ptr, shape = [64], strides = [1] : !f32_64
    %fifth_view = make_partition_view %fifth_tensor : !f32_64_tile
    %fifth_written = store_view_tko weak %fifth, %fifth_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %square_tensor = make_tensor_view %square_ptr, shape = [64], strides = [1] : !f32_64
    %square_view = make_partition_view %square_tensor : !f32_64_tile
    %square_written = store_view_tko weak %square, %square_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    return
  }
}
