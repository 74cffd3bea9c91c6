// Logarithms to the bases e, 2 and 10, and around 1.
// RUN @log_f32 block=256 arch=base
// ARG x : f32 = np.exp2(np.linspace(-40, 40, 256))
// ARG y = zeros:256xf32
// LET e = exact("log", x)
// EXPECT y ~ documented("log", e) : e
//
// RUN @log_f64 block=256
// ARG x : f64 = np.exp2(np.linspace(-40, 40, 256))
// ARG y = zeros:256xf64
// LET e = exact("log", x)
// EXPECT y ~ documented("log", e) : e
//
// RUN @log2_f32 block=256
// ARG x : f32 = np.exp2(np.linspace(-40, 40, 256))
// ARG y = zeros:256xf32
// LET e = exact("log2", x)
// EXPECT y ~ documented("log2", e) : e
//
// RUN @log2_f64 block=256
// ARG x : f64 = np.exp2(np.linspace(-40, 40, 256))
// ARG y = zeros:256xf64
// LET e = exact("log2", x)
// EXPECT y ~ documented("log2", e) : e
//
// RUN @log10_f32 block=256
// ARG x : f32 = np.exp2(np.linspace(-40, 40, 256))
// ARG y = zeros:256xf32
// LET e = exact("log10", x)
// EXPECT y ~ documented("log10", e) : e
//
// RUN @log10_f64 block=256
// ARG x : f64 = np.exp2(np.linspace(-40, 40, 256))
// ARG y = zeros:256xf64
// LET e = exact("log10", x)
// EXPECT y ~ documented("log10", e) : e
//
// RUN @log1p_f32 block=256
// ARG x : f32 = np.linspace(-0.9, 3, 256)
// ARG y = zeros:256xf32
// LET e = exact("log1p", x)
// EXPECT y ~ documented("log1p", e) : e
//
// RUN @log1p_f64 block=256
// ARG x : f64 = np.linspace(-0.9, 3, 256)
// ARG y = zeros:256xf64
// LET e = exact("log1p", x)
// EXPECT y ~ documented("log1p", e) : e
gpu.module @kernels {
  gpu.func @log_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.log %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @log_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.log %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @log2_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.log2 %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @log2_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.log2 %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @log10_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.log10 %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @log10_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.log10 %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @log1p_f32(%x: memref<256xf32, 1>, %y: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32, 1>
    %r = math.log1p %v : f32
    memref.store %r, %y[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @log1p_f64(%x: memref<256xf64, 1>, %y: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf64, 1>
    %r = math.log1p %v : f64
    memref.store %r, %y[%i] : memref<256xf64, 1>
    gpu.return
  }
}
