// Powers of e and of 2.
// RUN @exp_f32 block=256 arch=base
// ARG x : f32 = np.linspace(-80, 80, 256)
// ARG y = zeros:256xf32
// LET e = exact("exp", x)
// EXPECT y ~ documented("exp", e) : e
//
// RUN @exp_f64 block=256
// ARG x : f64 = np.linspace(-80, 80, 256)
// ARG y = zeros:256xf64
// LET e = exact("exp", x)
// EXPECT y ~ documented("exp", e) : e
//
// RUN @exp2_f32 block=256
// ARG x : f32 = np.linspace(-120, 120, 256)
// ARG y = zeros:256xf32
// LET e = exact("exp2", x)
// EXPECT y ~ documented("exp2", e) : e
//
// RUN @exp2_f64 block=256
// ARG x : f64 = np.linspace(-120, 120, 256)
// ARG y = zeros:256xf64
// LET e = exact("exp2", x)
// EXPECT y ~ documented("exp2", e) : e
//
// RUN @expm1_f32 block=256
// ARG x : f32 = np.linspace(-3, 3, 256)
// ARG y = zeros:256xf32
// LET e = exact("expm1", x)
// EXPECT y ~ documented("expm1", e) : e
//
// RUN @expm1_f64 block=256
// ARG x : f64 = np.linspace(-3, 3, 256)
// ARG y = zeros:256xf64
// LET e = exact("expm1", x)
// EXPECT y ~ documented("expm1", e) : e
gpu.module @kernels {
  gpu.func @exp_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.exp %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @exp_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.exp %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @exp2_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.exp2 %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @exp2_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.exp2 %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @expm1_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.expm1 %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @expm1_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.expm1 %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }
}
