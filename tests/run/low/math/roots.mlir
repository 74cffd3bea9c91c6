// Square and cube roots; square roots are rounded once.
// RUN @sqrt_f32 block=256 arch=base
// ARG x : f32 = np.exp2(np.linspace(-40, 40, 256))
// ARG y = zeros:256xf32
// LET e = exact("sqrt", x)
// EXPECT y ~ documented("sqrt", e) : e
//
// RUN @sqrt_f64 block=256
// ARG x : f64 = np.exp2(np.linspace(-40, 40, 256))
// ARG y = zeros:256xf64
// LET e = exact("sqrt", x)
// EXPECT y ~ documented("sqrt", e) : e
//
// RUN @rsqrt_f32 block=256
// ARG x : f32 = np.exp2(np.linspace(-40, 40, 256))
// ARG y = zeros:256xf32
// LET e = exact("rsqrt", x)
// EXPECT y ~ documented("rsqrt", e) : e
//
// RUN @rsqrt_f64 block=256
// ARG x : f64 = np.exp2(np.linspace(-40, 40, 256))
// ARG y = zeros:256xf64
// LET e = exact("rsqrt", x)
// EXPECT y ~ documented("rsqrt", e) : e
//
// RUN @cbrt_f32 block=256
// ARG x : f32 = np.append(-np.exp2(np.linspace(-40, 40, 128)), np.exp2(np.linspace(-40, 40, 128)))
// ARG y = zeros:256xf32
// LET e = exact("cbrt", x)
// EXPECT y ~ documented("cbrt", e) : e
//
// RUN @cbrt_f64 block=256
// ARG x : f64 = np.append(-np.exp2(np.linspace(-40, 40, 128)), np.exp2(np.linspace(-40, 40, 128)))
// ARG y = zeros:256xf64
// LET e = exact("cbrt", x)
// EXPECT y ~ documented("cbrt", e) : e
gpu.module @kernels {
  gpu.func @sqrt_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.sqrt %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @sqrt_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.sqrt %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @rsqrt_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.rsqrt %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @rsqrt_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.rsqrt %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @cbrt_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.cbrt %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @cbrt_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.cbrt %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }
}
