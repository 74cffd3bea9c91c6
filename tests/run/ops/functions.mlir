// Functions of one float: exact ones, and those within the ulps that CUDA documents.
// RUN @functions
// ARG x = random:64xf32:1
// ARG p : f32 = abs(x) + 0.25
// ARG absf_x = zeros:64xf32
// ARG negf_x = zeros:64xf32
// ARG ceil_x = zeros:64xf32
// ARG floor_x = zeros:64xf32
// ARG sqrt_x = zeros:64xf32
// ARG rsqrt_x = zeros:64xf32
// ARG exp_x = zeros:64xf32
// ARG exp2_x = zeros:64xf32
// ARG log_x = zeros:64xf32
// ARG log2_x = zeros:64xf32
// ARG sin_x = zeros:64xf32
// ARG cos_x = zeros:64xf32
// ARG tan_x = zeros:64xf32
// ARG sinh_x = zeros:64xf32
// ARG cosh_x = zeros:64xf32
// ARG tanh_x = zeros:64xf32
// EXPECT absf_x = abs(x)
// EXPECT negf_x = -x
// EXPECT ceil_x = np.ceil(x)
// EXPECT floor_x = np.floor(x)
// EXPECT sqrt_x = np.sqrt(p)
// EXPECT rsqrt_x near rsqrt(p)
// EXPECT exp_x near exp(x)
// EXPECT exp2_x near exp2(x)
// EXPECT log_x near log(p)
// EXPECT log2_x near log2(p)
// EXPECT sin_x near sin(x)
// EXPECT cos_x near cos(x)
// EXPECT tan_x near tan(x)
// EXPECT sinh_x near sinh(x)
// EXPECT cosh_x near cosh(x)
// EXPECT tanh_x near tanh(x)
!f32_64 = !cuda_tile.tensor_view<64xf32, strides=[1]>
!f32_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
cuda_tile.module @kernels {
  entry @functions(%x_ptr: tile<ptr<f32>>, %p_ptr: tile<ptr<f32>>, %absf_x_ptr: tile<ptr<f32>>, %negf_x_ptr: tile<ptr<f32>>, %ceil_x_ptr: tile<ptr<f32>>, %floor_x_ptr: tile<ptr<f32>>, %sqrt_x_ptr: tile<ptr<f32>>, %rsqrt_x_ptr: tile<ptr<f32>>, %exp_x_ptr: tile<ptr<f32>>, %exp2_x_ptr: tile<ptr<f32>>, %log_x_ptr: tile<ptr<f32>>, %log2_x_ptr: tile<ptr<f32>>, %sin_x_ptr: tile<ptr<f32>>, %cos_x_ptr: tile<ptr<f32>>, %tan_x_ptr: tile<ptr<f32>>, %sinh_x_ptr: tile<ptr<f32>>, %cosh_x_ptr: tile<ptr<f32>>, %tanh_x_ptr: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_tensor = make_tensor_view %x_ptr, shape = [64], strides = [1] : !f32_64
    %x_view = make_partition_view %x_tensor : !f32_64_tile
    %x, %x_read = load_view_tko weak %x_view[%zero] : !f32_64_tile, tile<i32> -> tile<64xf32>, token
    %p_tensor = make_tensor_view %p_ptr, shape = [64], strides = [1] : !f32_64
    %p_view = make_partition_view %p_tensor : !f32_64_tile
    %p, %p_read = load_view_tko weak %p_view[%zero] : !f32_64_tile, tile<i32> -> tile<64xf32>, token
    %absf_x = absf %x : tile<64xf32>
    %negf_x = negf %x : tile<64xf32>
    %ceil_x = ceil %x : tile<64xf32>
    %floor_x = floor %x : tile<64xf32>
    %sqrt_x = sqrt %p : tile<64xf32>
    %rsqrt_x = rsqrt %p : tile<64xf32>
    %exp_x = exp %x : tile<64xf32>
    %exp2_x = exp2 %x : tile<64xf32>
    %log_x = log %p : tile<64xf32>
    %log2_x = log2 %p : tile<64xf32>
    %sin_x = sin %x : tile<64xf32>
    %cos_x = cos %x : tile<64xf32>
    %tan_x = tan %x : tile<64xf32>
    %sinh_x = sinh %x : tile<64xf32>
    %cosh_x = cosh %x : tile<64xf32>
    %tanh_x = tanh %x : tile<64xf32>
    %absf_x_tensor = make_tensor_view %absf_x_ptr, shape = [64], strides = [1] : !f32_64
    %absf_x_view = make_partition_view %absf_x_tensor : !f32_64_tile
    %absf_x_written = store_view_tko weak %absf_x, %absf_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %negf_x_tensor = make_tensor_view %negf_x_ptr, shape = [64], strides = [1] : !f32_64
    %negf_x_view = make_partition_view %negf_x_tensor : !f32_64_tile
    %negf_x_written = store_view_tko weak %negf_x, %negf_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %ceil_x_tensor = make_tensor_view %ceil_x_ptr, shape = [64], strides = [1] : !f32_64
    %ceil_x_view = make_partition_view %ceil_x_tensor : !f32_64_tile
    %ceil_x_written = store_view_tko weak %ceil_x, %ceil_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %floor_x_tensor = make_tensor_view %floor_x_ptr, shape = [64], strides = [1] : !f32_64
    %floor_x_view = make_partition_view %floor_x_tensor : !f32_64_tile
    %floor_x_written = store_view_tko weak %floor_x, %floor_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %sqrt_x_tensor = make_tensor_view %sqrt_x_ptr, shape = [64], strides = [1] : !f32_64
    %sqrt_x_view = make_partition_view %sqrt_x_tensor : !f32_64_tile
    %sqrt_x_written = store_view_tko weak %sqrt_x, %sqrt_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %rsqrt_x_tensor = make_tensor_view %rsqrt_x_ptr, shape = [64], strides = [1] : !f32_64
    %rsqrt_x_view = make_partition_view %rsqrt_x_tensor : !f32_64_tile
    %rsqrt_x_written = store_view_tko weak %rsqrt_x, %rsqrt_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %exp_x_tensor = make_tensor_view %exp_x_ptr, shape = [64], strides = [1] : !f32_64
    %exp_x_view = make_partition_view %exp_x_tensor : !f32_64_tile
    %exp_x_written = store_view_tko weak %exp_x, %exp_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %exp2_x_tensor = make_tensor_view %exp2_x_ptr, shape = [64], strides = [1] : !f32_64
    %exp2_x_view = make_partition_view %exp2_x_tensor : !f32_64_tile
    %exp2_x_written = store_view_tko weak %exp2_x, %exp2_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %log_x_tensor = make_tensor_view %log_x_ptr, shape = [64], strides = [1] : !f32_64
    %log_x_view = make_partition_view %log_x_tensor : !f32_64_tile
    %log_x_written = store_view_tko weak %log_x, %log_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %log2_x_tensor = make_tensor_view %log2_x_ptr, shape = [64], strides = [1] : !f32_64
    %log2_x_view = make_partition_view %log2_x_tensor : !f32_64_tile
    %log2_x_written = store_view_tko weak %log2_x, %log2_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %sin_x_tensor = make_tensor_view %sin_x_ptr, shape = [64], strides = [1] : !f32_64
    %sin_x_view = make_partition_view %sin_x_tensor : !f32_64_tile
    %sin_x_written = store_view_tko weak %sin_x, %sin_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %cos_x_tensor = make_tensor_view %cos_x_ptr, shape = [64], strides = [1] : !f32_64
    %cos_x_view = make_partition_view %cos_x_tensor : !f32_64_tile
    %cos_x_written = store_view_tko weak %cos_x, %cos_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %tan_x_tensor = make_tensor_view %tan_x_ptr, shape = [64], strides = [1] : !f32_64
    %tan_x_view = make_partition_view %tan_x_tensor : !f32_64_tile
    %tan_x_written = store_view_tko weak %tan_x, %tan_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %sinh_x_tensor = make_tensor_view %sinh_x_ptr, shape = [64], strides = [1] : !f32_64
    %sinh_x_view = make_partition_view %sinh_x_tensor : !f32_64_tile
    %sinh_x_written = store_view_tko weak %sinh_x, %sinh_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %cosh_x_tensor = make_tensor_view %cosh_x_ptr, shape = [64], strides = [1] : !f32_64
    %cosh_x_view = make_partition_view %cosh_x_tensor : !f32_64_tile
    %cosh_x_written = store_view_tko weak %cosh_x, %cosh_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    %tanh_x_tensor = make_tensor_view %tanh_x_ptr, shape = [64], strides = [1] : !f32_64
    %tanh_x_view = make_partition_view %tanh_x_tensor : !f32_64_tile
    %tanh_x_written = store_view_tko weak %tanh_x, %tanh_x_view[%zero] : tile<64xf32>, !f32_64_tile, tile<i32> -> token
    return
  }
}
