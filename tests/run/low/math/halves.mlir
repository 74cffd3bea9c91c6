// Functions of f16: computed in f32 and rounded.
// RUN @sin_f16 block=256 arch=base
// ARG x : f16 = np.linspace(-10, 10, 256)
// ARG y = zeros:256xf16
// LET e = exact("sin", x)
// EXPECT y ~ documented("sin", e) : e
//
// RUN @sin_bf16 block=256
// ARG x : bf16 = np.linspace(-10, 10, 256)
// ARG y = zeros:256xbf16
// LET e = exact("sin", x)
// EXPECT y ~ documented("sin", e) : e
//
// RUN @exp_f16 block=256
// ARG x : f16 = np.linspace(-8, 8, 256)
// ARG y = zeros:256xf16
// LET e = exact("exp", x)
// EXPECT y ~ documented("exp", e) : e
//
// RUN @exp_bf16 block=256
// ARG x : bf16 = np.linspace(-8, 8, 256)
// ARG y = zeros:256xbf16
// LET e = exact("exp", x)
// EXPECT y ~ documented("exp", e) : e
//
// RUN @log_f16 block=256
// ARG x : f16 = np.exp2(np.linspace(-10, 10, 256))
// ARG y = zeros:256xf16
// LET e = exact("log", x)
// EXPECT y ~ documented("log", e) : e
//
// RUN @log_bf16 block=256
// ARG x : bf16 = np.exp2(np.linspace(-10, 10, 256))
// ARG y = zeros:256xbf16
// LET e = exact("log", x)
// EXPECT y ~ documented("log", e) : e
//
// RUN @tanh_f16 block=256
// ARG x : f16 = np.linspace(-4, 4, 256)
// ARG y = zeros:256xf16
// LET e = exact("tanh", x)
// EXPECT y ~ documented("tanh", e) : e
//
// RUN @tanh_bf16 block=256
// ARG x : bf16 = np.linspace(-4, 4, 256)
// ARG y = zeros:256xbf16
// LET e = exact("tanh", x)
// EXPECT y ~ documented("tanh", e) : e
//
// RUN @rsqrt_f16 block=256
// ARG x : f16 = np.exp2(np.linspace(-10, 10, 256))
// ARG y = zeros:256xf16
// LET e = exact("rsqrt", x)
// EXPECT y ~ documented("rsqrt", e) : e
//
// RUN @rsqrt_bf16 block=256
// ARG x : bf16 = np.exp2(np.linspace(-10, 10, 256))
// ARG y = zeros:256xbf16
// LET e = exact("rsqrt", x)
// EXPECT y ~ documented("rsqrt", e) : e
gpu.module @kernels {
  gpu.func @sin_f16(%x: memref<256xf16, 1>, %y: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf16, 1>
    %r = math.sin %v : f16
    memref.store %r, %y[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @sin_bf16(%x: memref<256xbf16, 1>, %y: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xbf16, 1>
    %r = math.sin %v : bf16
    memref.store %r, %y[%i] : memref<256xbf16, 1>
    gpu.return
  }

  gpu.func @exp_f16(%x: memref<256xf16, 1>, %y: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf16, 1>
    %r = math.exp %v : f16
    memref.store %r, %y[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @exp_bf16(%x: memref<256xbf16, 1>, %y: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xbf16, 1>
    %r = math.exp %v : bf16
    memref.store %r, %y[%i] : memref<256xbf16, 1>
    gpu.return
  }

  gpu.func @log_f16(%x: memref<256xf16, 1>, %y: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf16, 1>
    %r = math.log %v : f16
    memref.store %r, %y[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @log_bf16(%x: memref<256xbf16, 1>, %y: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xbf16, 1>
    %r = math.log %v : bf16
    memref.store %r, %y[%i] : memref<256xbf16, 1>
    gpu.return
  }

  gpu.func @tanh_f16(%x: memref<256xf16, 1>, %y: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf16, 1>
    %r = math.tanh %v : f16
    memref.store %r, %y[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @tanh_bf16(%x: memref<256xbf16, 1>, %y: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xbf16, 1>
    %r = math.tanh %v : bf16
    memref.store %r, %y[%i] : memref<256xbf16, 1>
    gpu.return
  }

  gpu.func @rsqrt_f16(%x: memref<256xf16, 1>, %y: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf16, 1>
    %r = math.rsqrt %v : f16
    memref.store %r, %y[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @rsqrt_bf16(%x: memref<256xbf16, 1>, %y: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xbf16, 1>
    %r = math.rsqrt %v : bf16
    memref.store %r, %y[%i] : memref<256xbf16, 1>
    gpu.return
  }
}
