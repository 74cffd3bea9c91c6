// An accumulator that is read between two dots on the same registers: the first and the second value must be distinct.
// A loop reads it in each iteration.
// RUN @twice_f16 grid=1
// ARG a = small:64x32xf16:1
// ARG b = small:32x16xf16:2
// ARG x = zeros:64x16xf32
// ARG y = zeros:64x16xf32
// EXPECT x = 2 * (np.float64(a) @ np.float64(b))
// EXPECT y = 4 * (np.float64(a) @ np.float64(b))
// RUN @rounds_f16 grid=1
// ARG a = small:64x32xf16:1
// ARG b = small:32x16xf16:2
// ARG x = zeros:64x16xf32
// ARG y = zeros:4x64x16xf32
// EXPECT x = 4 * (np.float64(a) @ np.float64(b))
// EXPECT y = 2 * np.arange(1, 5)[:, None, None] * (np.float64(a) @ np.float64(b))
// RUN @twice_bytes grid=1
// ARG a = small:64x32xf8E4M3FN:1
// ARG b = small:32x16xf8E4M3FN:2
// ARG x = zeros:64x16xf32
// ARG y = zeros:64x16xf32
// EXPECT x = 2 * (wide_f8E4M3FN(a) @ wide_f8E4M3FN(b))
// EXPECT y = 4 * (wide_f8E4M3FN(a) @ wide_f8E4M3FN(b))
// RUN @rounds_bytes grid=1
// ARG a = small:64x32xf8E4M3FN:1
// ARG b = small:32x16xf8E4M3FN:2
// ARG x = zeros:64x16xf32
// ARG y = zeros:4x64x16xf32
// EXPECT x = 4 * (wide_f8E4M3FN(a) @ wide_f8E4M3FN(b))
// EXPECT y = 2 * np.arange(1, 5)[:, None, None] * (wide_f8E4M3FN(a) @ wide_f8E4M3FN(b))
// RUN @twice_fast grid=1
// ARG a = small:64x32xf8E4M3FN:1
// ARG b = small:32x16xf8E4M3FN:2
// ARG x = zeros:64x16xf32
// ARG y = zeros:64x16xf32
// EXPECT x = 2 * (wide_f8E4M3FN(a) @ wide_f8E4M3FN(b))
// EXPECT y = 4 * (wide_f8E4M3FN(a) @ wide_f8E4M3FN(b))
// RUN @rounds_fast grid=1
// ARG a = small:64x32xf8E4M3FN:1
// ARG b = small:32x16xf8E4M3FN:2
// ARG x = zeros:64x16xf32
// ARG y = zeros:4x64x16xf32
// EXPECT x = 4 * (wide_f8E4M3FN(a) @ wide_f8E4M3FN(b))
// EXPECT y = 2 * np.arange(1, 5)[:, None, None] * (wide_f8E4M3FN(a) @ wide_f8E4M3FN(b))
!ah = !cuda_tile.tensor_view<64x32xf16, strides=[32,1]>
!ahv = !cuda_tile.partition_view<tile=(64x32), tensor_view<64x32xf16, strides=[32,1]>>
!bh = !cuda_tile.tensor_view<32x16xf16, strides=[16,1]>
!bhv = !cuda_tile.partition_view<tile=(32x16), tensor_view<32x16xf16, strides=[16,1]>>
!ab = !cuda_tile.tensor_view<64x32xf8E4M3FN, strides=[32,1]>
!abv = !cuda_tile.partition_view<tile=(64x32), tensor_view<64x32xf8E4M3FN, strides=[32,1]>>
!bb = !cuda_tile.tensor_view<32x16xf8E4M3FN, strides=[16,1]>
!bbv = !cuda_tile.partition_view<tile=(32x16), tensor_view<32x16xf8E4M3FN, strides=[16,1]>>
!c = !cuda_tile.tensor_view<64x16xf32, strides=[16,1]>
!cv = !cuda_tile.partition_view<tile=(64x16), tensor_view<64x16xf32, strides=[16,1]>>
!d = !cuda_tile.tensor_view<256x16xf32, strides=[16,1]>
!dv = !cuda_tile.partition_view<tile=(64x16), tensor_view<256x16xf32, strides=[16,1]>>
cuda_tile.module @kernels {
  entry @twice_f16(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %none = constant <f32: 0.0> : tile<64x16xf32>
    %two = constant <f32: 2.0> : tile<64x16xf32>
    %at = make_tensor_view %a, shape = [64, 32], strides = [32, 1] : !ah
    %av = make_partition_view %at : !ahv
    %bt = make_tensor_view %b, shape = [32, 16], strides = [16, 1] : !bh
    %bv = make_partition_view %bt : !bhv
    %xt = make_tensor_view %x, shape = [64, 16], strides = [16, 1] : !c
    %xv = make_partition_view %xt : !cv
    %u, %t0 = load_view_tko weak %av[%zero, %zero] : !ahv, tile<i32> -> tile<64x32xf16>, token
    %v, %t1 = load_view_tko weak %bv[%zero, %zero] : !bhv, tile<i32> -> tile<32x16xf16>, token
    %yt = make_tensor_view %y, shape = [64, 16], strides = [16, 1] : !c
    %yv = make_partition_view %yt : !cv
    %first = mmaf %u, %v, %none : tile<64x32xf16>, tile<32x16xf16>, tile<64x16xf32>
    %p = mulf %first, %two : tile<64x16xf32>
    %t2 = store_view_tko weak %p, %xv[%zero, %zero] : tile<64x16xf32>, !cv, tile<i32> -> token
    %second = mmaf %u, %v, %first : tile<64x32xf16>, tile<32x16xf16>, tile<64x16xf32>
    %q = mulf %second, %two : tile<64x16xf32>
    %t3 = store_view_tko weak %q, %yv[%zero, %zero] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
  entry @rounds_f16(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %none = constant <f32: 0.0> : tile<64x16xf32>
    %two = constant <f32: 2.0> : tile<64x16xf32>
    %at = make_tensor_view %a, shape = [64, 32], strides = [32, 1] : !ah
    %av = make_partition_view %at : !ahv
    %bt = make_tensor_view %b, shape = [32, 16], strides = [16, 1] : !bh
    %bv = make_partition_view %bt : !bhv
    %xt = make_tensor_view %x, shape = [64, 16], strides = [16, 1] : !c
    %xv = make_partition_view %xt : !cv
    %u, %t0 = load_view_tko weak %av[%zero, %zero] : !ahv, tile<i32> -> tile<64x32xf16>, token
    %v, %t1 = load_view_tko weak %bv[%zero, %zero] : !bhv, tile<i32> -> tile<32x16xf16>, token
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %yt = make_tensor_view %y, shape = [256, 16], strides = [16, 1] : !d
    %yv = make_partition_view %yt : !dv
    %last = for %i in (%zero to %four, step %one) : tile<i32> iter_values(%sum = %none) -> (tile<64x16xf32>) {
      %next = mmaf %u, %v, %sum : tile<64x32xf16>, tile<32x16xf16>, tile<64x16xf32>
      %q = mulf %next, %two : tile<64x16xf32>
      %t3 = store_view_tko weak %q, %yv[%i, %zero] : tile<64x16xf32>, !dv, tile<i32> -> token
      continue %next : tile<64x16xf32>
    }
    %t4 = store_view_tko weak %last, %xv[%zero, %zero] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
  entry @twice_bytes(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %none = constant <f32: 0.0> : tile<64x16xf32>
    %two = constant <f32: 2.0> : tile<64x16xf32>
    %at = make_tensor_view %a, shape = [64, 32], strides = [32, 1] : !ab
    %av = make_partition_view %at : !abv
    %bt = make_tensor_view %b, shape = [32, 16], strides = [16, 1] : !bb
    %bv = make_partition_view %bt : !bbv
    %xt = make_tensor_view %x, shape = [64, 16], strides = [16, 1] : !c
    %xv = make_partition_view %xt : !cv
    %u, %t0 = load_view_tko weak %av[%zero, %zero] : !abv, tile<i32> -> tile<64x32xf8E4M3FN>, token
    %v, %t1 = load_view_tko weak %bv[%zero, %zero] : !bbv, tile<i32> -> tile<32x16xf8E4M3FN>, token
    %yt = make_tensor_view %y, shape = [64, 16], strides = [16, 1] : !c
    %yv = make_partition_view %yt : !cv
    %first = mmaf %u, %v, %none : tile<64x32xf8E4M3FN>, tile<32x16xf8E4M3FN>, tile<64x16xf32>
    %p = mulf %first, %two : tile<64x16xf32>
    %t2 = store_view_tko weak %p, %xv[%zero, %zero] : tile<64x16xf32>, !cv, tile<i32> -> token
    %second = mmaf %u, %v, %first : tile<64x32xf8E4M3FN>, tile<32x16xf8E4M3FN>, tile<64x16xf32>
    %q = mulf %second, %two : tile<64x16xf32>
    %t3 = store_view_tko weak %q, %yv[%zero, %zero] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
  entry @rounds_bytes(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %none = constant <f32: 0.0> : tile<64x16xf32>
    %two = constant <f32: 2.0> : tile<64x16xf32>
    %at = make_tensor_view %a, shape = [64, 32], strides = [32, 1] : !ab
    %av = make_partition_view %at : !abv
    %bt = make_tensor_view %b, shape = [32, 16], strides = [16, 1] : !bb
    %bv = make_partition_view %bt : !bbv
    %xt = make_tensor_view %x, shape = [64, 16], strides = [16, 1] : !c
    %xv = make_partition_view %xt : !cv
    %u, %t0 = load_view_tko weak %av[%zero, %zero] : !abv, tile<i32> -> tile<64x32xf8E4M3FN>, token
    %v, %t1 = load_view_tko weak %bv[%zero, %zero] : !bbv, tile<i32> -> tile<32x16xf8E4M3FN>, token
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %yt = make_tensor_view %y, shape = [256, 16], strides = [16, 1] : !d
    %yv = make_partition_view %yt : !dv
    %last = for %i in (%zero to %four, step %one) : tile<i32> iter_values(%sum = %none) -> (tile<64x16xf32>) {
      %next = mmaf %u, %v, %sum : tile<64x32xf8E4M3FN>, tile<32x16xf8E4M3FN>, tile<64x16xf32>
      %q = mulf %next, %two : tile<64x16xf32>
      %t3 = store_view_tko weak %q, %yv[%i, %zero] : tile<64x16xf32>, !dv, tile<i32> -> token
      continue %next : tile<64x16xf32>
    }
    %t4 = store_view_tko weak %last, %xv[%zero, %zero] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
  entry @twice_fast(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %none = constant <f32: 0.0> : tile<64x16xf32>
    %two = constant <f32: 2.0> : tile<64x16xf32>
    %at = make_tensor_view %a, shape = [64, 32], strides = [32, 1] : !ab
    %av = make_partition_view %at : !abv
    %bt = make_tensor_view %b, shape = [32, 16], strides = [16, 1] : !bb
    %bv = make_partition_view %bt : !bbv
    %xt = make_tensor_view %x, shape = [64, 16], strides = [16, 1] : !c
    %xv = make_partition_view %xt : !cv
    %u, %t0 = load_view_tko weak %av[%zero, %zero] : !abv, tile<i32> -> tile<64x32xf8E4M3FN>, token
    %v, %t1 = load_view_tko weak %bv[%zero, %zero] : !bbv, tile<i32> -> tile<32x16xf8E4M3FN>, token
    %yt = make_tensor_view %y, shape = [64, 16], strides = [16, 1] : !c
    %yv = make_partition_view %yt : !cv
    %first = mmaf %u, %v, %none fast_acc : tile<64x32xf8E4M3FN>, tile<32x16xf8E4M3FN>, tile<64x16xf32>
    %p = mulf %first, %two : tile<64x16xf32>
    %t2 = store_view_tko weak %p, %xv[%zero, %zero] : tile<64x16xf32>, !cv, tile<i32> -> token
    %second = mmaf %u, %v, %first fast_acc : tile<64x32xf8E4M3FN>, tile<32x16xf8E4M3FN>, tile<64x16xf32>
    %q = mulf %second, %two : tile<64x16xf32>
    %t3 = store_view_tko weak %q, %yv[%zero, %zero] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
  entry @rounds_fast(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %none = constant <f32: 0.0> : tile<64x16xf32>
    %two = constant <f32: 2.0> : tile<64x16xf32>
    %at = make_tensor_view %a, shape = [64, 32], strides = [32, 1] : !ab
    %av = make_partition_view %at : !abv
    %bt = make_tensor_view %b, shape = [32, 16], strides = [16, 1] : !bb
    %bv = make_partition_view %bt : !bbv
    %xt = make_tensor_view %x, shape = [64, 16], strides = [16, 1] : !c
    %xv = make_partition_view %xt : !cv
    %u, %t0 = load_view_tko weak %av[%zero, %zero] : !abv, tile<i32> -> tile<64x32xf8E4M3FN>, token
    %v, %t1 = load_view_tko weak %bv[%zero, %zero] : !bbv, tile<i32> -> tile<32x16xf8E4M3FN>, token
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %yt = make_tensor_view %y, shape = [256, 16], strides = [16, 1] : !d
    %yv = make_partition_view %yt : !dv
    %last = for %i in (%zero to %four, step %one) : tile<i32> iter_values(%sum = %none) -> (tile<64x16xf32>) {
      %next = mmaf %u, %v, %sum fast_acc : tile<64x32xf8E4M3FN>, tile<32x16xf8E4M3FN>, tile<64x16xf32>
      %q = mulf %next, %two : tile<64x16xf32>
      %t3 = store_view_tko weak %q, %yv[%i, %zero] : tile<64x16xf32>, !dv, tile<i32> -> token
      continue %next : tile<64x16xf32>
    }
    %t4 = store_view_tko weak %last, %xv[%zero, %zero] : tile<64x16xf32>, !cv, tile<i32> -> token
    return
  }
}
