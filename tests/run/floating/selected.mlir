// Elements that a mask selects, converted to 16 bits.
// RUN @f16
// ARG x = random:256xf32:1
// ARG m = iota:256xi32
// ARG out = zeros:256xf16
// EXPECT out = np.where(m >= 4, x, 0)
// RUN @bf16
// ARG x = random:256xf32:1
// ARG m = iota:256xi32
// ARG out = zeros:256xbf16
// EXPECT out = np.where(m >= 4, x, 0)
cuda_tile.module @kernels {
  entry @f16(%x: tile<ptr<f32>>, %m: tile<ptr<i32>>, %out: tile<ptr<f16>>) {
    %zero = constant <i32: 0> : tile<i32>
    %none = constant <f32: 0.0> : tile<256xf32>
    %least = constant <i32: 4> : tile<256xi32>
    %xt = make_tensor_view %x, shape = [256], strides = [1] : tensor_view<256xf32, strides=[1]>
    %mt = make_tensor_view %m, shape = [256], strides = [1] : tensor_view<256xi32, strides=[1]>
    %ot = make_tensor_view %out, shape = [256], strides = [1] : tensor_view<256xf16, strides=[1]>
    %xv = make_partition_view %xt : partition_view<tile=(256), tensor_view<256xf32, strides=[1]>>
    %mv = make_partition_view %mt : partition_view<tile=(256), tensor_view<256xi32, strides=[1]>>
    %ov = make_partition_view %ot : partition_view<tile=(256), tensor_view<256xf16, strides=[1]>>
    %a, %t0 = load_view_tko weak %xv[%zero] : partition_view<tile=(256), tensor_view<256xf32, strides=[1]>>, tile<i32> -> tile<256xf32>, token
    %b, %t1 = load_view_tko weak %mv[%zero] : partition_view<tile=(256), tensor_view<256xi32, strides=[1]>>, tile<i32> -> tile<256xi32>, token
    %mask = cmpi greater_than_or_equal %b, %least, signed : tile<256xi32> -> tile<256xi1>
    %chosen = select %mask, %a, %none : tile<256xi1>, tile<256xf32>
    %narrow = ftof %chosen : tile<256xf32> -> tile<256xf16>
    %t2 = store_view_tko weak %narrow, %ov[%zero] : tile<256xf16>, partition_view<tile=(256), tensor_view<256xf16, strides=[1]>>, tile<i32> -> token
    return
  }
  entry @bf16(%x: tile<ptr<f32>>, %m: tile<ptr<i32>>, %out: tile<ptr<bf16>>) {
    %zero = constant <i32: 0> : tile<i32>
    %none = constant <f32: 0.0> : tile<256xf32>
    %least = constant <i32: 4> : tile<256xi32>
    %xt = make_tensor_view %x, shape = [256], strides = [1] : tensor_view<256xf32, strides=[1]>
    %mt = make_tensor_view %m, shape = [256], strides = [1] : tensor_view<256xi32, strides=[1]>
    %ot = make_tensor_view %out, shape = [256], strides = [1] : tensor_view<256xbf16, strides=[1]>
    %xv = make_partition_view %xt : partition_view<tile=(256), tensor_view<256xf32, strides=[1]>>
    %mv = make_partition_view %mt : partition_view<tile=(256), tensor_view<256xi32, strides=[1]>>
    %ov = make_partition_view %ot : partition_view<tile=(256), tensor_view<256xbf16, strides=[1]>>
    %a, %t0 = load_view_tko weak %xv[%zero] : partition_view<tile=(256), tensor_view<256xf32, strides=[1]>>, tile<i32> -> tile<256xf32>, token
    %b, %t1 = load_view_tko weak %mv[%zero] : partition_view<tile=(256), tensor_view<256xi32, strides=[1]>>, tile<i32> -> tile<256xi32>, token
    %mask = cmpi greater_than_or_equal %b, %least, signed : tile<256xi32> -> tile<256xi1>
    %chosen = select %mask, %a, %none : tile<256xi1>, tile<256xf32>
    %narrow = ftof %chosen : tile<256xf32> -> tile<256xbf16>
    %t2 = store_view_tko weak %narrow, %ov[%zero] : tile<256xbf16>, partition_view<tile=(256), tensor_view<256xbf16, strides=[1]>>, tile<i32> -> token
    return
  }
}
