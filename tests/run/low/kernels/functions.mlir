// Functions that are called: several results, arrays as arguments, one that calls another.
// RUN @call block=32 arch=base
// ARG x = random:32xf32:1
// ARG n = 32
// ARG y = zeros:2x32xf32
// EXPECT y = np.stack([x * 2, x[::-1] + 1])
gpu.module @kernels {
  func.func private @twice(%v: f32) -> f32 {
    %r = arith.addf %v, %v : f32
    return %r : f32
  }

  func.func private @both(%m: memref<?xf32, 1>, %i: index) -> (f32, f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %n = memref.dim %m, %c0 : memref<?xf32, 1>
    %last = arith.subi %n, %c1 : index
    %j = arith.subi %last, %i : index
    %v = memref.load %m[%i] : memref<?xf32, 1>
    %w = memref.load %m[%j] : memref<?xf32, 1>
    %a = func.call @twice(%v) : (f32) -> f32
    %b = arith.addf %w, %one : f32
    return %a, %b : f32, f32
  }

  gpu.func @call(%x: memref<?xf32, 1>, %y: memref<2x32xf32, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = func.call @both(%x, %i) : (memref<?xf32, 1>, index) -> (f32, f32)
    memref.store %r#0, %y[%c0, %i] : memref<2x32xf32, 1>
    memref.store %r#1, %y[%c1, %i] : memref<2x32xf32, 1>
    gpu.return
  }
}
