// Functions of two numbers: angles, powers, and remainders, which are exact.
// RUN @atan2_f32 block=256 arch=base
// ARG a : f32 = np.random.default_rng(1).standard_normal(256)
// ARG b : f32 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf32
// LET e = exact("atan2", a, b)
// EXPECT r ~ documented("atan2", e) : e
//
// RUN @powf_f32 block=256
// ARG a : f32 = np.exp2(np.linspace(-3, 3, 256))
// ARG b : f32 = 10 * np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf32
// LET e = exact("pow", a, b)
// EXPECT r ~ documented("pow", e) : e
//
// RUN @remf_f32 block=256
// ARG a : f32 = 1000 * np.random.default_rng(1).standard_normal(256)
// ARG b : f32 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = np.fmod(a, b)
//
// RUN @atan2_f64 block=256
// ARG a : f64 = np.random.default_rng(1).standard_normal(256)
// ARG b : f64 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf64
// LET e = exact("atan2", a, b)
// EXPECT r ~ documented("atan2", e) : e
//
// RUN @powf_f64 block=256
// ARG a : f64 = np.exp2(np.linspace(-3, 3, 256))
// ARG b : f64 = 10 * np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf64
// LET e = exact("pow", a, b)
// EXPECT r ~ documented("pow", e) : e
//
// RUN @remf_f64 block=256
// ARG a : f64 = 1000 * np.random.default_rng(1).standard_normal(256)
// ARG b : f64 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf64
// EXPECT r = np.fmod(a, b)
gpu.module @kernels {
  gpu.func @atan2_f32(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %r = math.atan2 %a, %b : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @powf_f32(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %r = math.powf %a, %b : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @remf_f32(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %r = arith.remf %a, %b : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @atan2_f64(%as: memref<256xf64, 1>, %bs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf64, 1>
    %b = memref.load %bs[%i] : memref<256xf64, 1>
    %r = math.atan2 %a, %b : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @powf_f64(%as: memref<256xf64, 1>, %bs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf64, 1>
    %b = memref.load %bs[%i] : memref<256xf64, 1>
    %r = math.powf %a, %b : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @remf_f64(%as: memref<256xf64, 1>, %bs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf64, 1>
    %b = memref.load %bs[%i] : memref<256xf64, 1>
    %r = arith.remf %a, %b : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }
}
