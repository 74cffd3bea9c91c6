// Scalars: tiles of rank 0.
// RUN @integers_to_floats
// ARG n = 1
// ARG big = 4629700416937910272
// ARG truth = zeros:2xf8E5M2
// ARG eighth = zeros:1xf8E4M3FN
// ARG brain = zeros:1xbf16
// ARG brains = zeros:2xbf16
// EXPECT truth = np.array([-1.0, 1.0])
// EXPECT brains = np.array([-1.0, 1.0])
// EXPECT eighth = 1
// EXPECT brain = 2.0**62 + 2.0**55
cuda_tile.module @kernels {
  // The large number is just above the middle of two neighbours; rounded to f32 first, it would be
  // the middle, and go down.
  entry @integers_to_floats(%n: tile<i32>, %big: tile<i64>, %truth: tile<ptr<f8E5M2>>, %eighth: tile<ptr<f8E4M3FN>>, %brain: tile<ptr<bf16>>, %brains: tile<ptr<bf16>>) {
    %one = constant <i32: 1> : tile<i32>
    %yes = cmpi equal %n, %one, signed : tile<i32> -> tile<i1>
    %minus = itof %yes signed : tile<i1> -> tile<f8E5M2>
    %plus = itof %yes unsigned : tile<i1> -> tile<f8E5M2>
    %t0 = store_ptr_tko weak %truth, %minus : tile<ptr<f8E5M2>>, tile<f8E5M2> -> token
    %next = offset %truth, %one : tile<ptr<f8E5M2>>, tile<i32> -> tile<ptr<f8E5M2>>
    %t1 = store_ptr_tko weak %next, %plus : tile<ptr<f8E5M2>>, tile<f8E5M2> -> token
    %narrow = itof %n signed : tile<i32> -> tile<f8E4M3FN>
    %t2 = store_ptr_tko weak %eighth, %narrow : tile<ptr<f8E4M3FN>>, tile<f8E4M3FN> -> token
    %rounded = itof %big signed : tile<i64> -> tile<bf16>
    %t3 = store_ptr_tko weak %brain, %rounded : tile<ptr<bf16>>, tile<bf16> -> token
    %below = itof %yes signed : tile<i1> -> tile<bf16>
    %above = itof %yes unsigned : tile<i1> -> tile<bf16>
    %t4 = store_ptr_tko weak %brains, %below : tile<ptr<bf16>>, tile<bf16> -> token
    %last = offset %brains, %one : tile<ptr<bf16>>, tile<i32> -> tile<ptr<bf16>>
    %t5 = store_ptr_tko weak %last, %above : tile<ptr<bf16>>, tile<bf16> -> token
    return
  }
}
