// Hyperbolic functions.
// RUN @sinh_f32 block=256 arch=base
// ARG x : f32 = np.linspace(-20, 20, 256)
// ARG y = zeros:256xf32
// LET e = exact("sinh", x)
// EXPECT y ~ documented("sinh", e) : e
//
// RUN @sinh_f64 block=256
// ARG x : f64 = np.linspace(-20, 20, 256)
// ARG y = zeros:256xf64
// LET e = exact("sinh", x)
// EXPECT y ~ documented("sinh", e) : e
//
// RUN @cosh_f32 block=256
// ARG x : f32 = np.linspace(-20, 20, 256)
// ARG y = zeros:256xf32
// LET e = exact("cosh", x)
// EXPECT y ~ documented("cosh", e) : e
//
// RUN @cosh_f64 block=256
// ARG x : f64 = np.linspace(-20, 20, 256)
// ARG y = zeros:256xf64
// LET e = exact("cosh", x)
// EXPECT y ~ documented("cosh", e) : e
//
// RUN @tanh_f32 block=256
// ARG x : f32 = np.linspace(-6, 6, 256)
// ARG y = zeros:256xf32
// LET e = exact("tanh", x)
// EXPECT y ~ documented("tanh", e) : e
//
// RUN @tanh_f64 block=256
// ARG x : f64 = np.linspace(-6, 6, 256)
// ARG y = zeros:256xf64
// LET e = exact("tanh", x)
// EXPECT y ~ documented("tanh", e) : e
gpu.module @kernels {
  gpu.func @sinh_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.sinh %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @sinh_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.sinh %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @cosh_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.cosh %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @cosh_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.cosh %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @tanh_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.tanh %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @tanh_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.tanh %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }
}
