// Effects happen exactly once: on tiles that have fewer elements than the block has threads, and on
// results that many threads hold.
// RUN @modes_i32
// ARG x = random:9x4xi32:5
// ARG old = zeros:9x4xi32
// EXPECT x = np.stack([np.asarray(row).astype(np.int32) for row in [x[0] & 12, x[1] | 5, x[2] ^ 6, x[3] + 3, np.maximum(x[4], 7), np.minimum(x[5], 7), np.maximum(x[6].view(np.uint32), 7), np.minimum(x[7].view(np.uint32), 7), np.full(4, 9)]])
// EXPECT old = x
// RUN @modes_i64
// ARG x = random:9x4xi64:5
// ARG old = zeros:9x4xi64
// EXPECT x = np.stack([np.asarray(row).astype(np.int64) for row in [x[0] & 12, x[1] | 5, x[2] ^ 6, x[3] + 3, np.maximum(x[4], 7), np.minimum(x[5], 7), np.maximum(x[6].view(np.uint64), 7), np.minimum(x[7].view(np.uint64), 7), np.full(4, 9)]])
// EXPECT old = x
// RUN @addf_f16
// ARG x = small:4xf16:5
// ARG old = zeros:4xf16
// EXPECT x = x + 2
// EXPECT old = x
// RUN @addf_f32
// ARG x = small:4xf32:5
// ARG old = zeros:4xf32
// EXPECT x = x + 2
// EXPECT old = x
// RUN @addf_f64
// ARG x = small:4xf64:5
// ARG old = zeros:4xf64
// EXPECT x = x + 2
// EXPECT old = x
// RUN @cas
// ARG x : i32 = np.array([0, 1, 0, 5])
// ARG old = zeros:4xi32
// EXPECT x = np.array([1, 1, 1, 5])
// EXPECT old = x
// RUN @scalar grid=5x2
// ARG x = zeros:1xi32
// ARG seen = zeros:12xi32
// EXPECT x = 10
// EXPECT seen = np.array([1] * 10 + [0, 0])
// RUN @broadcast grid=3
// ARG x = iota:8xi32
// ARG out = zeros:4x8xi32
// ARG sum = zeros:1xi32
// EXPECT out = 3 * np.broadcast_to(x, (4, 8))
// EXPECT sum = 3 * 4 * x.sum()
// RUN @reduced_0 grid=2
// ARG x = small:32x64xi32:3
// ARG out = zeros:64xi32
// ARG count = zeros:1xi32
// EXPECT out = 2 * x.sum(0)
// EXPECT count = 2 * (x.sum(0) % 2).sum()
// RUN @reduced_1 grid=2
// ARG x = small:64x32xi32:3
// ARG out = zeros:64xi32
// ARG count = zeros:1xi32
// EXPECT out = 2 * x.sum(1)
// EXPECT count = 2 * (x.sum(1) % 2).sum()
// RUN @in_place
// ARG x = iota:4xi32
// EXPECT x = x + 10
// RUN @in_place_scalar
// ARG x = iota:1xi32
// EXPECT x = 10
// RUN @views grid=3x3
// ARG x = zeros:6x10xi32
// EXPECT x = 1
// RUN @messages grid=2
// ARG x = iota:4x8xi32
// PRINTS sums [28, 92, 156, 220] of 2, twice [[28, 28], [92, 92], [156, 156], [220, 220]]
// PRINTS sums [28, 92, 156, 220] of 2, twice [[28, 28], [92, 92], [156, 156], [220, 220]]
cuda_tile.module @kernels {
  // Every mode on four elements: the old value of each element is the initial one.
  entry @modes_i32(%x: tile<ptr<i32>>, %old: tile<ptr<i32>>) {
    %p_r = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %p_b = broadcast %p_r : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %p_i = iota : tile<4xi32>
    %p = offset %p_b, %p_i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %q_r = reshape %old : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_b = broadcast %q_r : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %q_i = iota : tile<4xi32>
    %q = offset %q_b, %q_i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %step = constant <i32: 4> : tile<4xi32>
    %v0 = constant <i32: 12> : tile<4xi32>
    %o0, %t0 = atomic_rmw_tko relaxed device %p, and, %v0 : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    %s0 = store_ptr_tko weak %q, %o0 : tile<4xptr<i32>>, tile<4xi32> -> token
    %p0 = offset %p, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %q0 = offset %q, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %v1 = constant <i32: 5> : tile<4xi32>
    %o1, %t1 = atomic_rmw_tko relaxed device %p0, or, %v1 : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    %s1 = store_ptr_tko weak %q0, %o1 : tile<4xptr<i32>>, tile<4xi32> -> token
    %p1 = offset %p0, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %q1 = offset %q0, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %v2 = constant <i32: 6> : tile<4xi32>
    %o2, %t2 = atomic_rmw_tko relaxed device %p1, xor, %v2 : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    %s2 = store_ptr_tko weak %q1, %o2 : tile<4xptr<i32>>, tile<4xi32> -> token
    %p2 = offset %p1, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %q2 = offset %q1, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %v3 = constant <i32: 3> : tile<4xi32>
    %o3, %t3 = atomic_rmw_tko relaxed device %p2, add, %v3 : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    %s3 = store_ptr_tko weak %q2, %o3 : tile<4xptr<i32>>, tile<4xi32> -> token
    %p3 = offset %p2, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %q3 = offset %q2, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %v4 = constant <i32: 7> : tile<4xi32>
    %o4, %t4 = atomic_rmw_tko relaxed device %p3, max, %v4 : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    %s4 = store_ptr_tko weak %q3, %o4 : tile<4xptr<i32>>, tile<4xi32> -> token
    %p4 = offset %p3, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %q4 = offset %q3, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %v5 = constant <i32: 7> : tile<4xi32>
    %o5, %t5 = atomic_rmw_tko relaxed device %p4, min, %v5 : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    %s5 = store_ptr_tko weak %q4, %o5 : tile<4xptr<i32>>, tile<4xi32> -> token
    %p5 = offset %p4, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %q5 = offset %q4, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %v6 = constant <i32: 7> : tile<4xi32>
    %o6, %t6 = atomic_rmw_tko relaxed device %p5, umax, %v6 : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    %s6 = store_ptr_tko weak %q5, %o6 : tile<4xptr<i32>>, tile<4xi32> -> token
    %p6 = offset %p5, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %q6 = offset %q5, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %v7 = constant <i32: 7> : tile<4xi32>
    %o7, %t7 = atomic_rmw_tko relaxed device %p6, umin, %v7 : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    %s7 = store_ptr_tko weak %q6, %o7 : tile<4xptr<i32>>, tile<4xi32> -> token
    %p7 = offset %p6, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %q7 = offset %q6, %step : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %v8 = constant <i32: 9> : tile<4xi32>
    %o8, %t8 = atomic_rmw_tko relaxed device %p7, xchg, %v8 : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    %s8 = store_ptr_tko weak %q7, %o8 : tile<4xptr<i32>>, tile<4xi32> -> token
    return
  }
  entry @modes_i64(%x: tile<ptr<i64>>, %old: tile<ptr<i64>>) {
    %p_r = reshape %x : tile<ptr<i64>> -> tile<1xptr<i64>>
    %p_b = broadcast %p_r : tile<1xptr<i64>> -> tile<4xptr<i64>>
    %p_i = iota : tile<4xi32>
    %p = offset %p_b, %p_i : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %q_r = reshape %old : tile<ptr<i64>> -> tile<1xptr<i64>>
    %q_b = broadcast %q_r : tile<1xptr<i64>> -> tile<4xptr<i64>>
    %q_i = iota : tile<4xi32>
    %q = offset %q_b, %q_i : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %step = constant <i32: 4> : tile<4xi32>
    %v0 = constant <i64: 12> : tile<4xi64>
    %o0, %t0 = atomic_rmw_tko relaxed device %p, and, %v0 : tile<4xptr<i64>>, tile<4xi64> -> tile<4xi64>, token
    %s0 = store_ptr_tko weak %q, %o0 : tile<4xptr<i64>>, tile<4xi64> -> token
    %p0 = offset %p, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %q0 = offset %q, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %v1 = constant <i64: 5> : tile<4xi64>
    %o1, %t1 = atomic_rmw_tko relaxed device %p0, or, %v1 : tile<4xptr<i64>>, tile<4xi64> -> tile<4xi64>, token
    %s1 = store_ptr_tko weak %q0, %o1 : tile<4xptr<i64>>, tile<4xi64> -> token
    %p1 = offset %p0, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %q1 = offset %q0, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %v2 = constant <i64: 6> : tile<4xi64>
    %o2, %t2 = atomic_rmw_tko relaxed device %p1, xor, %v2 : tile<4xptr<i64>>, tile<4xi64> -> tile<4xi64>, token
    %s2 = store_ptr_tko weak %q1, %o2 : tile<4xptr<i64>>, tile<4xi64> -> token
    %p2 = offset %p1, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %q2 = offset %q1, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %v3 = constant <i64: 3> : tile<4xi64>
    %o3, %t3 = atomic_rmw_tko relaxed device %p2, add, %v3 : tile<4xptr<i64>>, tile<4xi64> -> tile<4xi64>, token
    %s3 = store_ptr_tko weak %q2, %o3 : tile<4xptr<i64>>, tile<4xi64> -> token
    %p3 = offset %p2, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %q3 = offset %q2, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %v4 = constant <i64: 7> : tile<4xi64>
    %o4, %t4 = atomic_rmw_tko relaxed device %p3, max, %v4 : tile<4xptr<i64>>, tile<4xi64> -> tile<4xi64>, token
    %s4 = store_ptr_tko weak %q3, %o4 : tile<4xptr<i64>>, tile<4xi64> -> token
    %p4 = offset %p3, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %q4 = offset %q3, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %v5 = constant <i64: 7> : tile<4xi64>
    %o5, %t5 = atomic_rmw_tko relaxed device %p4, min, %v5 : tile<4xptr<i64>>, tile<4xi64> -> tile<4xi64>, token
    %s5 = store_ptr_tko weak %q4, %o5 : tile<4xptr<i64>>, tile<4xi64> -> token
    %p5 = offset %p4, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %q5 = offset %q4, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %v6 = constant <i64: 7> : tile<4xi64>
    %o6, %t6 = atomic_rmw_tko relaxed device %p5, umax, %v6 : tile<4xptr<i64>>, tile<4xi64> -> tile<4xi64>, token
    %s6 = store_ptr_tko weak %q5, %o6 : tile<4xptr<i64>>, tile<4xi64> -> token
    %p6 = offset %p5, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %q6 = offset %q5, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %v7 = constant <i64: 7> : tile<4xi64>
    %o7, %t7 = atomic_rmw_tko relaxed device %p6, umin, %v7 : tile<4xptr<i64>>, tile<4xi64> -> tile<4xi64>, token
    %s7 = store_ptr_tko weak %q6, %o7 : tile<4xptr<i64>>, tile<4xi64> -> token
    %p7 = offset %p6, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %q7 = offset %q6, %step : tile<4xptr<i64>>, tile<4xi32> -> tile<4xptr<i64>>
    %v8 = constant <i64: 9> : tile<4xi64>
    %o8, %t8 = atomic_rmw_tko relaxed device %p7, xchg, %v8 : tile<4xptr<i64>>, tile<4xi64> -> tile<4xi64>, token
    %s8 = store_ptr_tko weak %q7, %o8 : tile<4xptr<i64>>, tile<4xi64> -> token
    return
  }
  entry @addf_f16(%x: tile<ptr<f16>>, %old: tile<ptr<f16>>) {
    %p_r = reshape %x : tile<ptr<f16>> -> tile<1xptr<f16>>
    %p_b = broadcast %p_r : tile<1xptr<f16>> -> tile<4xptr<f16>>
    %p_i = iota : tile<4xi32>
    %p = offset %p_b, %p_i : tile<4xptr<f16>>, tile<4xi32> -> tile<4xptr<f16>>
    %q_r = reshape %old : tile<ptr<f16>> -> tile<1xptr<f16>>
    %q_b = broadcast %q_r : tile<1xptr<f16>> -> tile<4xptr<f16>>
    %q_i = iota : tile<4xi32>
    %q = offset %q_b, %q_i : tile<4xptr<f16>>, tile<4xi32> -> tile<4xptr<f16>>
    %v = constant <f16: 2.0> : tile<4xf16>
    %o, %t = atomic_rmw_tko relaxed device %p, addf, %v : tile<4xptr<f16>>, tile<4xf16> -> tile<4xf16>, token
    %s = store_ptr_tko weak %q, %o : tile<4xptr<f16>>, tile<4xf16> -> token
    return
  }
  entry @addf_f32(%x: tile<ptr<f32>>, %old: tile<ptr<f32>>) {
    %p_r = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_b = broadcast %p_r : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %p_i = iota : tile<4xi32>
    %p = offset %p_b, %p_i : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %q_r = reshape %old : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q_b = broadcast %q_r : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %q_i = iota : tile<4xi32>
    %q = offset %q_b, %q_i : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %v = constant <f32: 2.0> : tile<4xf32>
    %o, %t = atomic_rmw_tko relaxed device %p, addf, %v : tile<4xptr<f32>>, tile<4xf32> -> tile<4xf32>, token
    %s = store_ptr_tko weak %q, %o : tile<4xptr<f32>>, tile<4xf32> -> token
    return
  }
  entry @addf_f64(%x: tile<ptr<f64>>, %old: tile<ptr<f64>>) {
    %p_r = reshape %x : tile<ptr<f64>> -> tile<1xptr<f64>>
    %p_b = broadcast %p_r : tile<1xptr<f64>> -> tile<4xptr<f64>>
    %p_i = iota : tile<4xi32>
    %p = offset %p_b, %p_i : tile<4xptr<f64>>, tile<4xi32> -> tile<4xptr<f64>>
    %q_r = reshape %old : tile<ptr<f64>> -> tile<1xptr<f64>>
    %q_b = broadcast %q_r : tile<1xptr<f64>> -> tile<4xptr<f64>>
    %q_i = iota : tile<4xi32>
    %q = offset %q_b, %q_i : tile<4xptr<f64>>, tile<4xi32> -> tile<4xptr<f64>>
    %v = constant <f64: 2.0> : tile<4xf64>
    %o, %t = atomic_rmw_tko relaxed device %p, addf, %v : tile<4xptr<f64>>, tile<4xf64> -> tile<4xf64>, token
    %s = store_ptr_tko weak %q, %o : tile<4xptr<f64>>, tile<4xf64> -> token
    return
  }
  // A second exchange would return a one.
  entry @cas(%x: tile<ptr<i32>>, %old: tile<ptr<i32>>) {
    %p_r = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %p_b = broadcast %p_r : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %p_i = iota : tile<4xi32>
    %p = offset %p_b, %p_i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %q_r = reshape %old : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_b = broadcast %q_r : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %q_i = iota : tile<4xi32>
    %q = offset %q_b, %q_i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %zero = constant <i32: 0> : tile<4xi32>
    %one = constant <i32: 1> : tile<4xi32>
    %o, %t = atomic_cas_tko relaxed device %p, %zero, %one : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    %s = store_ptr_tko weak %q, %o : tile<4xptr<i32>>, tile<4xi32> -> token
    return
  }
  // Every block counts itself, and marks the number that it got.
  entry @scalar(%x: tile<ptr<i32>>, %seen: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %o, %t = atomic_rmw_tko relaxed device %x, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %p = offset %seen, %o : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %o1, %t1 = atomic_rmw_tko relaxed device %p, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    return
  }
  // Rows that are all the same: each element of each row is added once.
  entry @broadcast(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>, %sum: tile<ptr<i32>>) {
    %p_r = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %p_b = broadcast %p_r : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %p_i = iota : tile<8xi32>
    %p = offset %p_b, %p_i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %q_r = reshape %out : tile<ptr<i32>> -> tile<1x1xptr<i32>>
    %q_b = broadcast %q_r : tile<1x1xptr<i32>> -> tile<4x8xptr<i32>>
    %q_i0 = iota : tile<4xi32>
    %q_i1 = reshape %q_i0 : tile<4xi32> -> tile<4x1xi32>
    %q_i2 = broadcast %q_i1 : tile<4x1xi32> -> tile<4x8xi32>
    %q_w = constant <i32: 8> : tile<4x8xi32>
    %q_i3 = muli %q_i2, %q_w : tile<4x8xi32>
    %q_j0 = iota : tile<8xi32>
    %q_j1 = reshape %q_j0 : tile<8xi32> -> tile<1x8xi32>
    %q_j2 = broadcast %q_j1 : tile<1x8xi32> -> tile<4x8xi32>
    %q_i = addi %q_i3, %q_j2 : tile<4x8xi32>
    %q = offset %q_b, %q_i : tile<4x8xptr<i32>>, tile<4x8xi32> -> tile<4x8xptr<i32>>
    %v, %t0 = load_ptr_tko weak %p : tile<8xptr<i32>> -> tile<8xi32>, token
    %v1 = reshape %v : tile<8xi32> -> tile<1x8xi32>
    %v2 = broadcast %v1 : tile<1x8xi32> -> tile<4x8xi32>
    %o, %t1 = atomic_rmw_tko relaxed device %q, add, %v2 : tile<4x8xptr<i32>>, tile<4x8xi32> -> tile<4x8xi32>, token
    %sum_r = reshape %sum : tile<ptr<i32>> -> tile<1x1xptr<i32>>
    %sum_b = broadcast %sum_r : tile<1x1xptr<i32>> -> tile<4x8xptr<i32>>
    %o1, %t2 = atomic_rmw_tko relaxed device %sum_b, add, %v2 : tile<4x8xptr<i32>>, tile<4x8xi32> -> tile<4x8xi32>, token
    return
  }
  // Reductions that several threads hold, and the number of odd ones.
  entry @reduced_0(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %p_r = reshape %x : tile<ptr<i32>> -> tile<1x1xptr<i32>>
    %p_b = broadcast %p_r : tile<1x1xptr<i32>> -> tile<32x64xptr<i32>>
    %p_i0 = iota : tile<32xi32>
    %p_i1 = reshape %p_i0 : tile<32xi32> -> tile<32x1xi32>
    %p_i2 = broadcast %p_i1 : tile<32x1xi32> -> tile<32x64xi32>
    %p_w = constant <i32: 64> : tile<32x64xi32>
    %p_i3 = muli %p_i2, %p_w : tile<32x64xi32>
    %p_j0 = iota : tile<64xi32>
    %p_j1 = reshape %p_j0 : tile<64xi32> -> tile<1x64xi32>
    %p_j2 = broadcast %p_j1 : tile<1x64xi32> -> tile<32x64xi32>
    %p_i = addi %p_i3, %p_j2 : tile<32x64xi32>
    %p = offset %p_b, %p_i : tile<32x64xptr<i32>>, tile<32x64xi32> -> tile<32x64xptr<i32>>
    %q_r = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_b = broadcast %q_r : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %q_i = iota : tile<64xi32>
    %q = offset %q_b, %q_i : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %v, %t0 = load_ptr_tko weak %p : tile<32x64xptr<i32>> -> tile<32x64xi32>, token
    %s = reduce %v dim=0 identities=[0 : i32] : tile<32x64xi32> -> tile<64xi32>
    (%a: tile<i32>, %b: tile<i32>) {
      %c = addi %a, %b : tile<i32>
      yield %c : tile<i32>
    }
    %o, %t1 = atomic_rmw_tko relaxed device %q, add, %s : tile<64xptr<i32>>, tile<64xi32> -> tile<64xi32>, token
    %one = constant <i32: 1> : tile<64xi32>
    %even = andi %s, %one : tile<64xi32>
    %is = cmpi equal %even, %one, signed : tile<64xi32> -> tile<64xi1>
    %count_r = reshape %count : tile<ptr<i32>> -> tile<1xptr<i32>>
    %count_b = broadcast %count_r : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %o1, %t2 = atomic_rmw_tko relaxed device %count_b, add, %one, %is : tile<64xptr<i32>>, tile<64xi32>, tile<64xi1> -> tile<64xi32>, token
    return
  }
  entry @reduced_1(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %p_r = reshape %x : tile<ptr<i32>> -> tile<1x1xptr<i32>>
    %p_b = broadcast %p_r : tile<1x1xptr<i32>> -> tile<64x32xptr<i32>>
    %p_i0 = iota : tile<64xi32>
    %p_i1 = reshape %p_i0 : tile<64xi32> -> tile<64x1xi32>
    %p_i2 = broadcast %p_i1 : tile<64x1xi32> -> tile<64x32xi32>
    %p_w = constant <i32: 32> : tile<64x32xi32>
    %p_i3 = muli %p_i2, %p_w : tile<64x32xi32>
    %p_j0 = iota : tile<32xi32>
    %p_j1 = reshape %p_j0 : tile<32xi32> -> tile<1x32xi32>
    %p_j2 = broadcast %p_j1 : tile<1x32xi32> -> tile<64x32xi32>
    %p_i = addi %p_i3, %p_j2 : tile<64x32xi32>
    %p = offset %p_b, %p_i : tile<64x32xptr<i32>>, tile<64x32xi32> -> tile<64x32xptr<i32>>
    %q_r = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_b = broadcast %q_r : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %q_i = iota : tile<64xi32>
    %q = offset %q_b, %q_i : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %v, %t0 = load_ptr_tko weak %p : tile<64x32xptr<i32>> -> tile<64x32xi32>, token
    %s = reduce %v dim=1 identities=[0 : i32] : tile<64x32xi32> -> tile<64xi32>
    (%a: tile<i32>, %b: tile<i32>) {
      %c = addi %a, %b : tile<i32>
      yield %c : tile<i32>
    }
    %o, %t1 = atomic_rmw_tko relaxed device %q, add, %s : tile<64xptr<i32>>, tile<64xi32> -> tile<64xi32>, token
    %one = constant <i32: 1> : tile<64xi32>
    %even = andi %s, %one : tile<64xi32>
    %is = cmpi equal %even, %one, signed : tile<64xi32> -> tile<64xi1>
    %count_r = reshape %count : tile<ptr<i32>> -> tile<1xptr<i32>>
    %count_b = broadcast %count_r : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %o1, %t2 = atomic_rmw_tko relaxed device %count_b, add, %one, %is : tile<64xptr<i32>>, tile<64xi32>, tile<64xi1> -> tile<64xi32>, token
    return
  }
  // Ten increments: a repeated one would add to a value that another thread stored.
  entry @in_place(%x: tile<ptr<i32>>) {
    %p_r = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %p_b = broadcast %p_r : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %p_i = iota : tile<4xi32>
    %p = offset %p_b, %p_i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %ten = constant <i32: 10> : tile<i32>
    %ones = constant <i32: 1> : tile<4xi32>
    %t = make_token : token
    %end = for %i in (%zero to %ten, step %one) : tile<i32> iter_values(%before = %t) -> (token) {
      %v, %t0 = load_ptr_tko weak %p token=%before : tile<4xptr<i32>> -> tile<4xi32>, token
      %w = addi %v, %ones : tile<4xi32>
      %t1 = store_ptr_tko weak %p, %w token=%t0 : tile<4xptr<i32>>, tile<4xi32> -> token
      continue %t1 : token
    }
    return
  }
  entry @in_place_scalar(%x: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %ten = constant <i32: 10> : tile<i32>
    %t = make_token : token
    %end = for %i in (%zero to %ten, step %one) : tile<i32> iter_values(%before = %t) -> (token) {
      %v, %t0 = load_ptr_tko weak %x token=%before : tile<ptr<i32>> -> tile<i32>, token
      %w = addi %v, %one : tile<i32>
      %t1 = store_ptr_tko weak %x, %w token=%t0 : tile<ptr<i32>>, tile<i32> -> token
      continue %t1 : token
    }
    return
  }
  // Partly out-of-bounds tiles: elements in bounds are counted once.
  entry @views(%x: tile<ptr<i32>>) {
    %bx, %by, %bz = get_tile_block_id : tile<i32>
    %view = make_tensor_view %x, shape = [6, 10], strides = [10, 1] : tensor_view<6x10xi32, strides=[10,1]>
    %tiles = make_partition_view %view : partition_view<tile=(2x4), tensor_view<6x10xi32, strides=[10,1]>>
    %one = constant <i32: 1> : tile<2x4xi32>
    %t = atomic_red_view_tko relaxed device %tiles[%bx, %by], add, %one : tile<2x4xi32>, partition_view<tile=(2x4), tensor_view<6x10xi32, strides=[10,1]>>, tile<i32> -> token
    return
  }
  // A value that is reduced and broadcast is printed once by each block.
  entry @messages(%x: tile<ptr<i32>>) {
    %p_r = reshape %x : tile<ptr<i32>> -> tile<1x1xptr<i32>>
    %p_b = broadcast %p_r : tile<1x1xptr<i32>> -> tile<4x8xptr<i32>>
    %p_i0 = iota : tile<4xi32>
    %p_i1 = reshape %p_i0 : tile<4xi32> -> tile<4x1xi32>
    %p_i2 = broadcast %p_i1 : tile<4x1xi32> -> tile<4x8xi32>
    %p_w = constant <i32: 8> : tile<4x8xi32>
    %p_i3 = muli %p_i2, %p_w : tile<4x8xi32>
    %p_j0 = iota : tile<8xi32>
    %p_j1 = reshape %p_j0 : tile<8xi32> -> tile<1x8xi32>
    %p_j2 = broadcast %p_j1 : tile<1x8xi32> -> tile<4x8xi32>
    %p_i = addi %p_i3, %p_j2 : tile<4x8xi32>
    %p = offset %p_b, %p_i : tile<4x8xptr<i32>>, tile<4x8xi32> -> tile<4x8xptr<i32>>
    %v, %t0 = load_ptr_tko weak %p : tile<4x8xptr<i32>> -> tile<4x8xi32>, token
    %s = reduce %v dim=1 identities=[0 : i32] : tile<4x8xi32> -> tile<4xi32>
    (%a: tile<i32>, %b: tile<i32>) {
      %c = addi %a, %b : tile<i32>
      yield %c : tile<i32>
    }
    %r = reshape %s : tile<4xi32> -> tile<4x1xi32>
    %w = broadcast %r : tile<4x1xi32> -> tile<4x2xi32>
    %two = constant <i32: 2> : tile<i32>
    %limit = constant <i32: 1000> : tile<4x2xi32>
    %small = cmpi less_than %w, %limit, signed : tile<4x2xi32> -> tile<4x2xi1>
    assert %small, "sums are small" : tile<4x2xi1>
    print_tko "sums %i of %i, twice %i\n", %s, %two, %w : tile<4xi32>, tile<i32>, tile<4x2xi32> -> token
    return
  }
}
