// The error function and its complement.
// RUN @erf_f32 block=256 arch=base
// ARG x : f32 = np.linspace(-3, 3, 256)
// ARG y = zeros:256xf32
// LET e = exact("erf", x)
// EXPECT y ~ documented("erf", e) : e
//
// RUN @erf_f64 block=256
// ARG x : f64 = np.linspace(-3, 3, 256)
// ARG y = zeros:256xf64
// LET e = exact("erf", x)
// EXPECT y ~ documented("erf", e) : e
//
// RUN @erfc_f32 block=256
// ARG x : f32 = np.linspace(-3, 5, 256)
// ARG y = zeros:256xf32
// LET e = exact("erfc", x)
// EXPECT y ~ documented("erfc", e) : e
//
// RUN @erfc_f64 block=256
// ARG x : f64 = np.linspace(-3, 5, 256)
// ARG y = zeros:256xf64
// LET e = exact("erfc", x)
// EXPECT y ~ documented("erfc", e) : e
gpu.module @kernels {
  gpu.func @erf_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.erf %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @erf_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.erf %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @erfc_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.erfc %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @erfc_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.erfc %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }
}
