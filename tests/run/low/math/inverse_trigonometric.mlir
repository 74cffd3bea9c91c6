// Angles of sines, cosines and tangents.
// RUN @asin_f32 block=256 arch=base
// ARG x : f32 = np.linspace(-1, 1, 256)
// ARG y = zeros:256xf32
// LET e = exact("asin", x)
// EXPECT y ~ documented("asin", e) : e
//
// RUN @asin_f64 block=256
// ARG x : f64 = np.linspace(-1, 1, 256)
// ARG y = zeros:256xf64
// LET e = exact("asin", x)
// EXPECT y ~ documented("asin", e) : e
//
// RUN @acos_f32 block=256
// ARG x : f32 = np.linspace(-1, 1, 256)
// ARG y = zeros:256xf32
// LET e = exact("acos", x)
// EXPECT y ~ documented("acos", e) : e
//
// RUN @acos_f64 block=256
// ARG x : f64 = np.linspace(-1, 1, 256)
// ARG y = zeros:256xf64
// LET e = exact("acos", x)
// EXPECT y ~ documented("acos", e) : e
//
// RUN @atan_f32 block=256
// ARG x : f32 = np.linspace(-30, 30, 256)
// ARG y = zeros:256xf32
// LET e = exact("atan", x)
// EXPECT y ~ documented("atan", e) : e
//
// RUN @atan_f64 block=256
// ARG x : f64 = np.linspace(-30, 30, 256)
// ARG y = zeros:256xf64
// LET e = exact("atan", x)
// EXPECT y ~ documented("atan", e) : e
gpu.module @kernels {
  gpu.func @asin_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.asin %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @asin_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.asin %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @acos_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.acos %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @acos_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.acos %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @atan_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.atan %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @atan_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.atan %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }
}
