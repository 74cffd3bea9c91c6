// Additions of each type, in each rounding mode.
// RUN @f32
// ARG x = random:64xf32:1
// ARG y = random:64xf32:2
// ARG out = zeros:64xf32
// EXPECT out = x + y
// RUN @f32_down
// ARG x = random:64xf32:1
// ARG y = random:64xf32:2
// ARG out = zeros:64xf32
// EXPECT out = np.where(f32(np.float64(x) + y) > np.float64(x) + y, np.nextafter(x + y, np.float32(-np.inf)), x + y)
// RUN @bf16
// ARG x = random:64xbf16:3
// ARG y = random:64xbf16:4
// ARG out = zeros:64xbf16
// EXPECT out = bf16(np.float64(x) + np.float64(y))
cuda_tile.module @kernels {
  entry @f32(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
    %i = iota : tile<64xi32>
    %xr = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %yr = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
    %or = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
    %xb = broadcast %xr : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %yb = broadcast %yr : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %ob = broadcast %or : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %xp = offset %xb, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %yp = offset %yb, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %op = offset %ob, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %a, %t0 = load_ptr_tko weak %xp : tile<64xptr<f32>> -> tile<64xf32>, token
    %b, %t1 = load_ptr_tko weak %yp : tile<64xptr<f32>> -> tile<64xf32>, token
    %sum = addf %a, %b : tile<64xf32>
    %t2 = store_ptr_tko weak %op, %sum : tile<64xptr<f32>>, tile<64xf32> -> token
    return
  }
  entry @f32_down(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %yt = make_tensor_view %y, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %ot = make_tensor_view %out, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %xv = make_partition_view %xt : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
    %yv = make_partition_view %yt : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
    %ov = make_partition_view %ot : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
    %a, %t0 = load_view_tko weak %xv[%zero] : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
    %b, %t1 = load_view_tko weak %yv[%zero] : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
    %sum = addf %a, %b rounding<negative_inf> : tile<64xf32>
    %t2 = store_view_tko weak %sum, %ov[%zero] : tile<64xf32>, partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
    return
  }
  entry @bf16(%x: tile<ptr<bf16>>, %y: tile<ptr<bf16>>, %out: tile<ptr<bf16>>) {
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [64], strides = [1] : tensor_view<64xbf16, strides=[1]>
    %yt = make_tensor_view %y, shape = [64], strides = [1] : tensor_view<64xbf16, strides=[1]>
    %ot = make_tensor_view %out, shape = [64], strides = [1] : tensor_view<64xbf16, strides=[1]>
    %xv = make_partition_view %xt : partition_view<tile=(64), tensor_view<64xbf16, strides=[1]>>
    %yv = make_partition_view %yt : partition_view<tile=(64), tensor_view<64xbf16, strides=[1]>>
    %ov = make_partition_view %ot : partition_view<tile=(64), tensor_view<64xbf16, strides=[1]>>
    %a, %t0 = load_view_tko weak %xv[%zero] : partition_view<tile=(64), tensor_view<64xbf16, strides=[1]>>, tile<i32> -> tile<64xbf16>, token
    %b, %t1 = load_view_tko weak %yv[%zero] : partition_view<tile=(64), tensor_view<64xbf16, strides=[1]>>, tile<i32> -> tile<64xbf16>, token
    %sum = addf %a, %b : tile<64xbf16>
    %t2 = store_view_tko weak %sum, %ov[%zero] : tile<64xbf16>, partition_view<tile=(64), tensor_view<64xbf16, strides=[1]>>, tile<i32> -> token
    return
  }
}
