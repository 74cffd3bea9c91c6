// fp8 from and to all other floats: rounded once, and saturated.
// RUN @to_f8E4M3FN_f32 block=256 arch=fp8
// ARG x : f32 = np.random.default_rng(1).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf8E4M3FN
// EXPECT r = f8E4M3FN(np.clip(wide_f32(x), -448, 448))
//
// RUN @from_f8E4M3FN_f32 block=256 arch=fp8
// ARG x : f8E4M3FN = np.random.default_rng(2).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf32
// EXPECT r = f32(wide_f8E4M3FN(x))
//
// RUN @to_f8E4M3FN_f16 block=256 arch=fp8
// ARG x : f16 = np.random.default_rng(1).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf8E4M3FN
// EXPECT r = f8E4M3FN(np.clip(wide_f16(x), -448, 448))
//
// RUN @from_f8E4M3FN_f16 block=256 arch=fp8
// ARG x : f8E4M3FN = np.random.default_rng(2).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf16
// EXPECT r = f16(wide_f8E4M3FN(x))
//
// RUN @to_f8E4M3FN_bf16 block=256 arch=fp8
// ARG x : bf16 = np.random.default_rng(1).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf8E4M3FN
// EXPECT r = f8E4M3FN(np.clip(wide_bf16(x), -448, 448))
//
// RUN @from_f8E4M3FN_bf16 block=256 arch=fp8
// ARG x : f8E4M3FN = np.random.default_rng(2).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xbf16
// EXPECT r = bf16(wide_f8E4M3FN(x))
//
// RUN @to_f8E4M3FN_f64 block=256 arch=fp8
// ARG x : f64 = np.random.default_rng(1).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf8E4M3FN
// EXPECT r = f8E4M3FN(np.clip(wide_f64(x), -448, 448))
//
// RUN @from_f8E4M3FN_f64 block=256 arch=fp8
// ARG x : f8E4M3FN = np.random.default_rng(2).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf64
// EXPECT r = f64(wide_f8E4M3FN(x))
//
// RUN @to_f8E5M2_f32 block=256 arch=fp8
// ARG x : f32 = np.random.default_rng(1).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf8E5M2
// EXPECT r = f8E5M2(np.clip(wide_f32(x), -57344, 57344))
//
// RUN @from_f8E5M2_f32 block=256 arch=fp8
// ARG x : f8E5M2 = np.random.default_rng(2).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf32
// EXPECT r = f32(wide_f8E5M2(x))
//
// RUN @to_f8E5M2_f16 block=256 arch=fp8
// ARG x : f16 = np.random.default_rng(1).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf8E5M2
// EXPECT r = f8E5M2(np.clip(wide_f16(x), -57344, 57344))
//
// RUN @from_f8E5M2_f16 block=256 arch=fp8
// ARG x : f8E5M2 = np.random.default_rng(2).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf16
// EXPECT r = f16(wide_f8E5M2(x))
//
// RUN @to_f8E5M2_bf16 block=256 arch=fp8
// ARG x : bf16 = np.random.default_rng(1).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf8E5M2
// EXPECT r = f8E5M2(np.clip(wide_bf16(x), -57344, 57344))
//
// RUN @from_f8E5M2_bf16 block=256 arch=fp8
// ARG x : f8E5M2 = np.random.default_rng(2).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xbf16
// EXPECT r = bf16(wide_f8E5M2(x))
//
// RUN @to_f8E5M2_f64 block=256 arch=fp8
// ARG x : f64 = np.random.default_rng(1).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf8E5M2
// EXPECT r = f8E5M2(np.clip(wide_f64(x), -57344, 57344))
//
// RUN @from_f8E5M2_f64 block=256 arch=fp8
// ARG x : f8E5M2 = np.random.default_rng(2).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf64
// EXPECT r = f64(wide_f8E5M2(x))
//
// RUN @once block=256 arch=fp8
// ARG x : f64 = (1 + (2 * (np.arange(256) % 8) + 1) / 16) * (1 + (np.arange(256) // 8 % 3 - 1) * 2.0 ** -45)
// ARG r = zeros:256xf8E4M3FN
// EXPECT r = f8E4M3FN(x)
//
// RUN @between block=256 arch=fp8
// ARG x : f8E4M3FN = np.random.default_rng(3).standard_normal(256) * np.exp2(np.arange(256) % 24 - 12)
// ARG r = zeros:256xf8E5M2
// EXPECT r = f8E5M2(wide_f8E4M3FN(x))
gpu.module @kernels {
  gpu.func @to_f8E4M3FN_f32(%xs: memref<256xf32, 1>, %out: memref<256xf8E4M3FN, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = arith.truncf %x : f32 to f8E4M3FN
    memref.store %r, %out[%i] : memref<256xf8E4M3FN, 1>
    gpu.return
  }

  gpu.func @from_f8E4M3FN_f32(%xs: memref<256xf8E4M3FN, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf8E4M3FN, 1>
    %r = arith.extf %x : f8E4M3FN to f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @to_f8E4M3FN_f16(%xs: memref<256xf16, 1>, %out: memref<256xf8E4M3FN, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf16, 1>
    %r = arith.truncf %x : f16 to f8E4M3FN
    memref.store %r, %out[%i] : memref<256xf8E4M3FN, 1>
    gpu.return
  }

  gpu.func @from_f8E4M3FN_f16(%xs: memref<256xf8E4M3FN, 1>, %out: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf8E4M3FN, 1>
    %r = arith.extf %x : f8E4M3FN to f16
    memref.store %r, %out[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @to_f8E4M3FN_bf16(%xs: memref<256xbf16, 1>, %out: memref<256xf8E4M3FN, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xbf16, 1>
    %r = arith.truncf %x : bf16 to f8E4M3FN
    memref.store %r, %out[%i] : memref<256xf8E4M3FN, 1>
    gpu.return
  }

  gpu.func @from_f8E4M3FN_bf16(%xs: memref<256xf8E4M3FN, 1>, %out: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf8E4M3FN, 1>
    %r = arith.extf %x : f8E4M3FN to bf16
    memref.store %r, %out[%i] : memref<256xbf16, 1>
    gpu.return
  }

  gpu.func @to_f8E4M3FN_f64(%xs: memref<256xf64, 1>, %out: memref<256xf8E4M3FN, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf64, 1>
    %r = arith.truncf %x : f64 to f8E4M3FN
    memref.store %r, %out[%i] : memref<256xf8E4M3FN, 1>
    gpu.return
  }

  gpu.func @from_f8E4M3FN_f64(%xs: memref<256xf8E4M3FN, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf8E4M3FN, 1>
    %r = arith.extf %x : f8E4M3FN to f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @to_f8E5M2_f32(%xs: memref<256xf32, 1>, %out: memref<256xf8E5M2, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = arith.truncf %x : f32 to f8E5M2
    memref.store %r, %out[%i] : memref<256xf8E5M2, 1>
    gpu.return
  }

  gpu.func @from_f8E5M2_f32(%xs: memref<256xf8E5M2, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf8E5M2, 1>
    %r = arith.extf %x : f8E5M2 to f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @to_f8E5M2_f16(%xs: memref<256xf16, 1>, %out: memref<256xf8E5M2, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf16, 1>
    %r = arith.truncf %x : f16 to f8E5M2
    memref.store %r, %out[%i] : memref<256xf8E5M2, 1>
    gpu.return
  }

  gpu.func @from_f8E5M2_f16(%xs: memref<256xf8E5M2, 1>, %out: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf8E5M2, 1>
    %r = arith.extf %x : f8E5M2 to f16
    memref.store %r, %out[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @to_f8E5M2_bf16(%xs: memref<256xbf16, 1>, %out: memref<256xf8E5M2, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xbf16, 1>
    %r = arith.truncf %x : bf16 to f8E5M2
    memref.store %r, %out[%i] : memref<256xf8E5M2, 1>
    gpu.return
  }

  gpu.func @from_f8E5M2_bf16(%xs: memref<256xf8E5M2, 1>, %out: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf8E5M2, 1>
    %r = arith.extf %x : f8E5M2 to bf16
    memref.store %r, %out[%i] : memref<256xbf16, 1>
    gpu.return
  }

  gpu.func @to_f8E5M2_f64(%xs: memref<256xf64, 1>, %out: memref<256xf8E5M2, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf64, 1>
    %r = arith.truncf %x : f64 to f8E5M2
    memref.store %r, %out[%i] : memref<256xf8E5M2, 1>
    gpu.return
  }

  gpu.func @from_f8E5M2_f64(%xs: memref<256xf8E5M2, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf8E5M2, 1>
    %r = arith.extf %x : f8E5M2 to f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @once(%xs: memref<256xf64, 1>, %out: memref<256xf8E4M3FN, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf64, 1>
    %r = arith.truncf %x : f64 to f8E4M3FN
    memref.store %r, %out[%i] : memref<256xf8E4M3FN, 1>
    gpu.return
  }

  gpu.func @between(%xs: memref<256xf8E4M3FN, 1>, %out: memref<256xf8E5M2, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf8E4M3FN, 1>
    %r = arith.convertf %x : f8E4M3FN to f8E5M2
    memref.store %r, %out[%i] : memref<256xf8E5M2, 1>
    gpu.return
  }
}
