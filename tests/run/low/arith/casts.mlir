// Conversions between all kinds of numbers, rounded once.
// RUN @truncf_f32_f16 block=256 arch=base
// ARG x : f32 = 100 * np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xf16
// EXPECT r = f16(wide_f32(x))
//
// RUN @truncf_f32_bf16 block=256
// ARG x : f32 = 100 * np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xbf16
// EXPECT r = bf16(wide_f32(x))
//
// RUN @truncf_f64_f32 block=256
// ARG x : f64 = 100 * np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = f32(wide_f64(x))
//
// RUN @truncf_f64_f16 block=256
// ARG x : f64 = 100 * np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xf16
// EXPECT r = f16(wide_f64(x))
//
// RUN @truncf_f64_bf16 block=256
// ARG x : f64 = 100 * np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xbf16
// EXPECT r = bf16(wide_f64(x))
//
// RUN @extf_f16_f32 block=256
// ARG x : f16 = np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = wide_f16(x)
//
// RUN @extf_bf16_f32 block=256
// ARG x : bf16 = np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = wide_bf16(x)
//
// RUN @extf_f32_f64 block=256
// ARG x : f32 = np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xf64
// EXPECT r = wide_f32(x)
//
// RUN @extf_f16_f64 block=256
// ARG x : f16 = np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xf64
// EXPECT r = wide_f16(x)
//
// RUN @extf_bf16_f64 block=256
// ARG x : bf16 = np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xf64
// EXPECT r = wide_bf16(x)
//
// RUN @convertf_f16_bf16 block=256
// ARG x : f16 = np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xbf16
// EXPECT r = bf16(wide_f16(x))
//
// RUN @convertf_bf16_f16 block=256
// ARG x : bf16 = np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xf16
// EXPECT r = f16(wide_bf16(x))
//
// RUN @sitofp_i32_f32 block=256
// ARG x : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG r = zeros:256xf32
// EXPECT r = f32(x.astype(np.int64))
//
// RUN @sitofp_i64_f64 block=256
// ARG x : i64 = np.random.default_rng(1).integers(-(1 << 63), 1 << 63, 256)
// ARG r = zeros:256xf64
// EXPECT r = f64(x.astype(np.int64))
//
// RUN @sitofp_i64_f32 block=256
// ARG x : i64 = np.random.default_rng(1).integers(-(1 << 63), 1 << 63, 256)
// ARG r = zeros:256xf32
// EXPECT r = f32(x.astype(np.int64))
//
// RUN @sitofp_i16_f16 block=256
// ARG x : i16 = np.random.default_rng(1).integers(-(1 << 15), 1 << 15, 256)
// ARG r = zeros:256xf16
// EXPECT r = f16(x.astype(np.int64))
//
// RUN @sitofp_i8_bf16 block=256
// ARG x : i8 = np.random.default_rng(1).integers(-(1 << 7), 1 << 7, 256)
// ARG r = zeros:256xbf16
// EXPECT r = bf16(x.astype(np.int64))
//
// RUN @uitofp block=256
// ARG x : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG r = zeros:256xf64
// EXPECT r = x.view(np.uint32)
//
// RUN @fptosi_f32_i32 block=256
// ARG x : f32 = 30 * np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xi32
// EXPECT r = np.trunc(wide_f32(x))
//
// RUN @fptosi_f64_i64 block=256
// ARG x : f64 = 30 * np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xi64
// EXPECT r = np.trunc(wide_f64(x))
//
// RUN @fptosi_f16_i16 block=256
// ARG x : f16 = 30 * np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xi16
// EXPECT r = np.trunc(wide_f16(x))
//
// RUN @fptosi_f32_i8 block=256
// ARG x : f32 = 30 * np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xi8
// EXPECT r = np.trunc(wide_f32(x))
//
// RUN @fptoui block=256
// ARG x : f32 = abs(1e9 * np.random.default_rng(1).standard_normal(256))
// ARG r = zeros:256xi32
// EXPECT r = i32(np.trunc(wide_f32(x)).astype(np.int64))
//
// RUN @extsi_i8_i32 block=256
// ARG x : i8 = np.random.default_rng(1).integers(-(1 << 7), 1 << 7, 256)
// ARG r = zeros:256xi32
// EXPECT r = x
//
// RUN @extui_i8_i32 block=256
// ARG x : i8 = np.random.default_rng(1).integers(-(1 << 7), 1 << 7, 256)
// ARG r = zeros:256xi32
// EXPECT r = x.view(np.uint8)
//
// RUN @extsi_i16_i64 block=256
// ARG x : i16 = np.random.default_rng(1).integers(-(1 << 15), 1 << 15, 256)
// ARG r = zeros:256xi64
// EXPECT r = x
//
// RUN @extui_i16_i64 block=256
// ARG x : i16 = np.random.default_rng(1).integers(-(1 << 15), 1 << 15, 256)
// ARG r = zeros:256xi64
// EXPECT r = x.view(np.uint16)
//
// RUN @extsi_i32_i64 block=256
// ARG x : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG r = zeros:256xi64
// EXPECT r = x
//
// RUN @extui_i32_i64 block=256
// ARG x : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG r = zeros:256xi64
// EXPECT r = x.view(np.uint32)
//
// RUN @trunci block=256
// ARG x : i64 = np.random.default_rng(1).integers(-(1 << 62), 1 << 62, 256)
// ARG r = zeros:256xi16
// EXPECT r = i16(x)
//
// RUN @bitcast block=256
// ARG x : f32 = np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xi32
// EXPECT r = x.view(np.int32)
//
// RUN @index block=256
// ARG x : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG r = zeros:256xi64
// EXPECT r = x
//
// RUN @index_unsigned block=256
// ARG x : i32 = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 256)
// ARG r = zeros:256xi64
// EXPECT r = x.view(np.uint32)
gpu.module @kernels {
  gpu.func @truncf_f32_f16(%xs: memref<256xf32, 1>, %out: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = arith.truncf %x : f32 to f16
    memref.store %r, %out[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @truncf_f32_bf16(%xs: memref<256xf32, 1>, %out: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = arith.truncf %x : f32 to bf16
    memref.store %r, %out[%i] : memref<256xbf16, 1>
    gpu.return
  }

  gpu.func @truncf_f64_f32(%xs: memref<256xf64, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf64, 1>
    %r = arith.truncf %x : f64 to f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @truncf_f64_f16(%xs: memref<256xf64, 1>, %out: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf64, 1>
    %r = arith.truncf %x : f64 to f16
    memref.store %r, %out[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @truncf_f64_bf16(%xs: memref<256xf64, 1>, %out: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf64, 1>
    %r = arith.truncf %x : f64 to bf16
    memref.store %r, %out[%i] : memref<256xbf16, 1>
    gpu.return
  }

  gpu.func @extf_f16_f32(%xs: memref<256xf16, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf16, 1>
    %r = arith.extf %x : f16 to f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @extf_bf16_f32(%xs: memref<256xbf16, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xbf16, 1>
    %r = arith.extf %x : bf16 to f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @extf_f32_f64(%xs: memref<256xf32, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = arith.extf %x : f32 to f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @extf_f16_f64(%xs: memref<256xf16, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf16, 1>
    %r = arith.extf %x : f16 to f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @extf_bf16_f64(%xs: memref<256xbf16, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xbf16, 1>
    %r = arith.extf %x : bf16 to f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @convertf_f16_bf16(%xs: memref<256xf16, 1>, %out: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf16, 1>
    %r = arith.convertf %x : f16 to bf16
    memref.store %r, %out[%i] : memref<256xbf16, 1>
    gpu.return
  }

  gpu.func @convertf_bf16_f16(%xs: memref<256xbf16, 1>, %out: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xbf16, 1>
    %r = arith.convertf %x : bf16 to f16
    memref.store %r, %out[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @sitofp_i32_f32(%xs: memref<256xi32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi32, 1>
    %r = arith.sitofp %x : i32 to f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @sitofp_i64_f64(%xs: memref<256xi64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi64, 1>
    %r = arith.sitofp %x : i64 to f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @sitofp_i64_f32(%xs: memref<256xi64, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi64, 1>
    %r = arith.sitofp %x : i64 to f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @sitofp_i16_f16(%xs: memref<256xi16, 1>, %out: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi16, 1>
    %r = arith.sitofp %x : i16 to f16
    memref.store %r, %out[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @sitofp_i8_bf16(%xs: memref<256xi8, 1>, %out: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi8, 1>
    %r = arith.sitofp %x : i8 to bf16
    memref.store %r, %out[%i] : memref<256xbf16, 1>
    gpu.return
  }

  gpu.func @uitofp(%xs: memref<256xi32, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi32, 1>
    %r = arith.uitofp %x : i32 to f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @fptosi_f32_i32(%xs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = arith.fptosi %x : f32 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @fptosi_f64_i64(%xs: memref<256xf64, 1>, %out: memref<256xi64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf64, 1>
    %r = arith.fptosi %x : f64 to i64
    memref.store %r, %out[%i] : memref<256xi64, 1>
    gpu.return
  }

  gpu.func @fptosi_f16_i16(%xs: memref<256xf16, 1>, %out: memref<256xi16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf16, 1>
    %r = arith.fptosi %x : f16 to i16
    memref.store %r, %out[%i] : memref<256xi16, 1>
    gpu.return
  }

  gpu.func @fptosi_f32_i8(%xs: memref<256xf32, 1>, %out: memref<256xi8, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = arith.fptosi %x : f32 to i8
    memref.store %r, %out[%i] : memref<256xi8, 1>
    gpu.return
  }

  gpu.func @fptoui(%xs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = arith.fptoui %x : f32 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @extsi_i8_i32(%xs: memref<256xi8, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi8, 1>
    %r = arith.extsi %x : i8 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @extui_i8_i32(%xs: memref<256xi8, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi8, 1>
    %r = arith.extui %x : i8 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @extsi_i16_i64(%xs: memref<256xi16, 1>, %out: memref<256xi64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi16, 1>
    %r = arith.extsi %x : i16 to i64
    memref.store %r, %out[%i] : memref<256xi64, 1>
    gpu.return
  }

  gpu.func @extui_i16_i64(%xs: memref<256xi16, 1>, %out: memref<256xi64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi16, 1>
    %r = arith.extui %x : i16 to i64
    memref.store %r, %out[%i] : memref<256xi64, 1>
    gpu.return
  }

  gpu.func @extsi_i32_i64(%xs: memref<256xi32, 1>, %out: memref<256xi64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi32, 1>
    %r = arith.extsi %x : i32 to i64
    memref.store %r, %out[%i] : memref<256xi64, 1>
    gpu.return
  }

  gpu.func @extui_i32_i64(%xs: memref<256xi32, 1>, %out: memref<256xi64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi32, 1>
    %r = arith.extui %x : i32 to i64
    memref.store %r, %out[%i] : memref<256xi64, 1>
    gpu.return
  }

  gpu.func @trunci(%xs: memref<256xi64, 1>, %out: memref<256xi16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi64, 1>
    %r = arith.trunci %x : i64 to i16
    memref.store %r, %out[%i] : memref<256xi16, 1>
    gpu.return
  }

  gpu.func @bitcast(%xs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = arith.bitcast %x : f32 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @index(%xs: memref<256xi32, 1>, %out: memref<256xi64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi32, 1>
    %n = arith.index_cast %x : i32 to index
    %r = arith.index_cast %n : index to i64
    memref.store %r, %out[%i] : memref<256xi64, 1>
    gpu.return
  }

  gpu.func @index_unsigned(%xs: memref<256xi32, 1>, %out: memref<256xi64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi32, 1>
    %n = arith.index_castui %x : i32 to index
    %r = arith.index_castui %n : index to i64
    memref.store %r, %out[%i] : memref<256xi64, 1>
    gpu.return
  }
}
