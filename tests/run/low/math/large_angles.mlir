// Large angles, whose range reduction needs many bits of pi.
// RUN @sin_f32 block=256 arch=base
// ARG x : f32 = np.exp2(np.linspace(10, 100, 256))
// ARG y = zeros:256xf32
// LET e = exact("sin", x)
// EXPECT y ~ documented("sin", e) : e
//
// RUN @sin_f64 block=256
// ARG x : f64 = np.exp2(np.linspace(10, 100, 256))
// ARG y = zeros:256xf64
// LET e = exact("sin", x)
// EXPECT y ~ documented("sin", e) : e
//
// RUN @cos_f32 block=256
// ARG x : f32 = np.exp2(np.linspace(10, 100, 256))
// ARG y = zeros:256xf32
// LET e = exact("cos", x)
// EXPECT y ~ documented("cos", e) : e
//
// RUN @cos_f64 block=256
// ARG x : f64 = np.exp2(np.linspace(10, 100, 256))
// ARG y = zeros:256xf64
// LET e = exact("cos", x)
// EXPECT y ~ documented("cos", e) : e
//
// RUN @tan_f32 block=256
// ARG x : f32 = np.exp2(np.linspace(10, 100, 256))
// ARG y = zeros:256xf32
// LET e = exact("tan", x)
// EXPECT y ~ documented("tan", e) : e
//
// RUN @tan_f64 block=256
// ARG x : f64 = np.exp2(np.linspace(10, 100, 256))
// ARG y = zeros:256xf64
// LET e = exact("tan", x)
// EXPECT y ~ documented("tan", e) : e
gpu.module @kernels {
  gpu.func @sin_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.sin %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @sin_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.sin %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @cos_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.cos %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @cos_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.cos %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @tan_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.tan %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @tan_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.tan %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }
}
