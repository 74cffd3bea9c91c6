// Inverses of hyperbolic functions.
// RUN @asinh_f32 block=256 arch=base
// ARG x : f32 = np.linspace(-50, 50, 256)
// ARG y = zeros:256xf32
// LET e = exact("asinh", x)
// EXPECT y ~ documented("asinh", e) : e
//
// RUN @asinh_f64 block=256
// ARG x : f64 = np.linspace(-50, 50, 256)
// ARG y = zeros:256xf64
// LET e = exact("asinh", x)
// EXPECT y ~ documented("asinh", e) : e
//
// RUN @acosh_f32 block=256
// ARG x : f32 = np.linspace(1, 90, 256)
// ARG y = zeros:256xf32
// LET e = exact("acosh", x)
// EXPECT y ~ documented("acosh", e) : e
//
// RUN @acosh_f64 block=256
// ARG x : f64 = np.linspace(1, 90, 256)
// ARG y = zeros:256xf64
// LET e = exact("acosh", x)
// EXPECT y ~ documented("acosh", e) : e
//
// RUN @atanh_f32 block=256
// ARG x : f32 = np.linspace(-0.999, 0.999, 256)
// ARG y = zeros:256xf32
// LET e = exact("atanh", x)
// EXPECT y ~ documented("atanh", e) : e
//
// RUN @atanh_f64 block=256
// ARG x : f64 = np.linspace(-0.999, 0.999, 256)
// ARG y = zeros:256xf64
// LET e = exact("atanh", x)
// EXPECT y ~ documented("atanh", e) : e
gpu.module @kernels {
  gpu.func @asinh_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.asinh %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @asinh_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.asinh %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @acosh_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.acosh %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @acosh_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.acosh %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @atanh_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.atanh %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @atanh_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.atanh %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }
}
