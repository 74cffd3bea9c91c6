// Two fp8 dots in a row: the accumulator of the first, truncated, is an operand of the second; its rows are reduced in between.
// RUN @chain
// ARG a = small:64x64xf8E4M3FN:1
// ARG b = small:64x64xf8E4M3FN:2
// ARG d = small:64x32xf8E4M3FN:3
// ARG m = zeros:64xf32
// ARG c = zeros:64x32xf32
// LET s = wide_f8E4M3FN(a) @ wide_f8E4M3FN(b)
// LET w = np.clip(s, -2, 2)
// EXPECT m = s.max(axis=1)
// EXPECT c = w @ wide_f8E4M3FN(d) + w @ wide_f8E4M3FN(d)
!a = !cuda_tile.tensor_view<64x64xf8E4M3FN, strides=[64,1]>
!av = !cuda_tile.partition_view<tile=(64x64), tensor_view<64x64xf8E4M3FN, strides=[64,1]>>
!d = !cuda_tile.tensor_view<64x32xf8E4M3FN, strides=[32,1]>
!dv = !cuda_tile.partition_view<tile=(64x32), tensor_view<64x32xf8E4M3FN, strides=[32,1]>>
!c = !cuda_tile.tensor_view<64x32xf32, strides=[32,1]>
!cv = !cuda_tile.partition_view<tile=(64x32), tensor_view<64x32xf32, strides=[32,1]>>
!m = !cuda_tile.tensor_view<64xf32, strides=[1]>
!mv = !cuda_tile.partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
cuda_tile.module @kernels {
  entry @chain(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %d: tile<ptr<f8E4M3FN>>, %m: tile<ptr<f32>>, %c: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %at = make_tensor_view %a, shape = [64, 64], strides = [64, 1] : !a
    %av = make_partition_view %at : !av
    %bt = make_tensor_view %b, shape = [64, 64], strides = [64, 1] : !a
    %bv = make_partition_view %bt : !av
    %dt = make_tensor_view %d, shape = [64, 32], strides = [32, 1] : !d
    %dv = make_partition_view %dt : !dv
    %ct = make_tensor_view %c, shape = [64, 32], strides = [32, 1] : !c
    %cv = make_partition_view %ct : !cv
    %mt = make_tensor_view %m, shape = [64], strides = [1] : !m
    %mv = make_partition_view %mt : !mv
    %none = constant <f32: 0.0> : tile<64x64xf32>
    %low = constant <f32: -2.0> : tile<64x64xf32>
    %high = constant <f32: 2.0> : tile<64x64xf32>
    %init = constant <f32: 0.0> : tile<64x32xf32>
    %least = constant <f32: -1.0e9> : tile<64xf32>
    %x, %t0 = load_view_tko weak %av[%zero, %zero] : !av, tile<i32> -> tile<64x64xf8E4M3FN>, token
    %y, %t1 = load_view_tko weak %bv[%zero, %zero] : !av, tile<i32> -> tile<64x64xf8E4M3FN>, token
    %v, %t2 = load_view_tko weak %dv[%zero, %zero] : !dv, tile<i32> -> tile<64x32xf8E4M3FN>, token
    %sum, %best = for %k in (%zero to %two, step %one) : tile<i32> iter_values(%acc = %init, %top = %least) -> (tile<64x32xf32>, tile<64xf32>) {
      %s = mmaf %x, %y, %none : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>
      %r = reduce %s dim=1 identities=[-1.0e30 : f32] : tile<64x64xf32> -> tile<64xf32>
      (%p: tile<f32>, %q: tile<f32>) {
        %g = maxf %p, %q : tile<f32>
        yield %g : tile<f32>
      }
      %w0 = maxf %s, %low : tile<64x64xf32>
      %w1 = minf %w0, %high : tile<64x64xf32>
      %w = ftof %w1 : tile<64x64xf32> -> tile<64x64xf8E4M3FN>
      %next = mmaf %w, %v, %acc : tile<64x64xf8E4M3FN>, tile<64x32xf8E4M3FN>, tile<64x32xf32>
      %higher = maxf %top, %r : tile<64xf32>
      continue %next, %higher : tile<64x32xf32>, tile<64xf32>
    }
    %t3 = store_view_tko weak %sum, %cv[%zero, %zero] : tile<64x32xf32>, !cv, tile<i32> -> token
    %t4 = store_view_tko weak %best, %mv[%zero] : tile<64xf32>, !mv, tile<i32> -> token
    return
  }
}
