// Fast variants of functions under `afn`, within the bounds of the intrinsics that they are.
// RUN @exp block=256 arch=base
// ARG x : f32 = np.linspace(-3, 3, 256)
// ARG r = zeros:256xf32
// LET e = exact("exp", x)
// EXPECT r ~ (2 + np.floor(abs(1.173 * x))) * ulp_f32(e) : e
//
// RUN @sin block=256
// ARG x : f32 = np.linspace(-3, 3, 256)
// ARG r = zeros:256xf32
// EXPECT r ~ 2.0 ** -21.41 : exact("sin", x)
//
// RUN @cos block=256
// ARG x : f32 = np.linspace(-3, 3, 256)
// ARG r = zeros:256xf32
// EXPECT r ~ 2.0 ** -21.19 : exact("cos", x)
//
// RUN @log block=256
// ARG x : f32 = np.linspace(2, 50, 256)
// ARG r = zeros:256xf32
// LET e = exact("log", x)
// EXPECT r ~ 3 * ulp_f32(e) : e
//
// RUN @log2 block=256
// ARG x : f32 = np.linspace(2, 50, 256)
// ARG r = zeros:256xf32
// LET e = exact("log2", x)
// EXPECT r ~ 2 * ulp_f32(e) : e
//
// RUN @log10 block=256
// ARG x : f32 = np.linspace(2, 50, 256)
// ARG r = zeros:256xf32
// LET e = exact("log10", x)
// EXPECT r ~ 3 * ulp_f32(e) : e
//
// RUN @exp2 block=256
// ARG x : f32 = np.linspace(-3, 3, 256)
// ARG r = zeros:256xf32
// LET e = exact("exp2", x)
// EXPECT r ~ 2 * ulp_f32(e) : e
//
// RUN @sqrt block=256
// ARG x : f32 = np.linspace(0.1, 9, 256)
// ARG r = zeros:256xf32
// LET e = exact("sqrt", x)
// EXPECT r ~ 2.0 ** -23 * e : e
//
// RUN @rsqrt block=256
// ARG x : f32 = np.linspace(0.1, 9, 256)
// ARG r = zeros:256xf32
// LET e = exact("rsqrt", x)
// EXPECT r ~ 2.0 ** -22.9 * e : e
//
// RUN @tanh block=256
// ARG x : f32 = np.linspace(-3, 3, 256)
// ARG r = zeros:256xf32
// LET e = exact("tanh", x)
// EXPECT r ~ 2.0 ** -11 * abs(e) : e
//
// RUN @divide block=256
// ARG x : f32 = np.linspace(-3, 3, 256)
// ARG y : f32 = np.linspace(1, 30, 256)
// ARG r = zeros:256xf32
// LET e = wide_f32(x) / wide_f32(y)
// EXPECT r ~ 2 * ulp_f32(e) : e
gpu.module @kernels {
  gpu.func @exp(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.exp %x fastmath<afn> : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @sin(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.sin %x fastmath<afn> : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @cos(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.cos %x fastmath<afn> : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @log(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.log %x fastmath<afn> : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @log2(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.log2 %x fastmath<afn> : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @log10(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.log10 %x fastmath<afn> : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @exp2(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.exp2 %x fastmath<afn> : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @sqrt(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.sqrt %x fastmath<afn> : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @rsqrt(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.rsqrt %x fastmath<afn> : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @tanh(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.tanh %x fastmath<afn> : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @divide(%xs: memref<256xf32, 1>, %ys: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %y = memref.load %ys[%i] : memref<256xf32, 1>
    %r = arith.divf %x, %y fastmath<afn> : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }
}
