// Float arithmetic, rounded once in every type and direction; comparisons with and without order.
// RUN @addf_f32 block=256 arch=base
// ARG a : f32 = np.random.default_rng(1).standard_normal(256)
// ARG b : f32 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = a + b
//
// RUN @subf_f32 block=256
// ARG a : f32 = np.random.default_rng(1).standard_normal(256)
// ARG b : f32 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = a - b
//
// RUN @mulf_f32 block=256
// ARG a : f32 = np.random.default_rng(1).standard_normal(256)
// ARG b : f32 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = a * b
//
// RUN @divf_f32 block=256
// ARG a : f32 = np.random.default_rng(1).standard_normal(256)
// ARG b : f32 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = a / b
//
// RUN @maximumf_f32 block=256
// ARG a : f32 = np.random.default_rng(1).standard_normal(256)
// ARG b : f32 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = np.maximum(a, b)
//
// RUN @minimumf_f32 block=256
// ARG a : f32 = np.random.default_rng(1).standard_normal(256)
// ARG b : f32 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = np.minimum(a, b)
//
// RUN @maxnumf_f32 block=256
// ARG a : f32 = np.random.default_rng(1).standard_normal(256)
// ARG b : f32 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = np.fmax(a, b)
//
// RUN @minnumf_f32 block=256
// ARG a : f32 = np.random.default_rng(1).standard_normal(256)
// ARG b : f32 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = np.fmin(a, b)
//
// RUN @addf_f64 block=256
// ARG a : f64 = np.random.default_rng(1).standard_normal(256)
// ARG b : f64 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf64
// EXPECT r = a + b
//
// RUN @subf_f64 block=256
// ARG a : f64 = np.random.default_rng(1).standard_normal(256)
// ARG b : f64 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf64
// EXPECT r = a - b
//
// RUN @mulf_f64 block=256
// ARG a : f64 = np.random.default_rng(1).standard_normal(256)
// ARG b : f64 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf64
// EXPECT r = a * b
//
// RUN @divf_f64 block=256
// ARG a : f64 = np.random.default_rng(1).standard_normal(256)
// ARG b : f64 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf64
// EXPECT r = a / b
//
// RUN @maximumf_f64 block=256
// ARG a : f64 = np.random.default_rng(1).standard_normal(256)
// ARG b : f64 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf64
// EXPECT r = np.maximum(a, b)
//
// RUN @minimumf_f64 block=256
// ARG a : f64 = np.random.default_rng(1).standard_normal(256)
// ARG b : f64 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf64
// EXPECT r = np.minimum(a, b)
//
// RUN @maxnumf_f64 block=256
// ARG a : f64 = np.random.default_rng(1).standard_normal(256)
// ARG b : f64 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf64
// EXPECT r = np.fmax(a, b)
//
// RUN @minnumf_f64 block=256
// ARG a : f64 = np.random.default_rng(1).standard_normal(256)
// ARG b : f64 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf64
// EXPECT r = np.fmin(a, b)
//
// RUN @addf_f16 block=256
// ARG a : f16 = np.random.default_rng(1).standard_normal(256)
// ARG b : f16 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf16
// EXPECT r = f16(wide_f16(a) + wide_f16(b))
//
// RUN @mulf_f16 block=256
// ARG a : f16 = np.random.default_rng(1).standard_normal(256)
// ARG b : f16 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf16
// EXPECT r = f16(wide_f16(a) * wide_f16(b))
//
// RUN @divf_f16 block=256
// ARG a : f16 = np.random.default_rng(1).standard_normal(256)
// ARG b : f16 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf16
// EXPECT r = f16(wide_f16(a) / wide_f16(b))
//
// RUN @addf_bf16 block=256
// ARG a : bf16 = np.random.default_rng(1).standard_normal(256)
// ARG b : bf16 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xbf16
// EXPECT r = bf16(wide_bf16(a) + wide_bf16(b))
//
// RUN @mulf_bf16 block=256
// ARG a : bf16 = np.random.default_rng(1).standard_normal(256)
// ARG b : bf16 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xbf16
// EXPECT r = bf16(wide_bf16(a) * wide_bf16(b))
//
// RUN @divf_bf16 block=256
// ARG a : bf16 = np.random.default_rng(1).standard_normal(256)
// ARG b : bf16 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xbf16
// EXPECT r = bf16(wide_bf16(a) / wide_bf16(b))
//
// RUN @negf block=256
// ARG a : f32 = np.random.default_rng(1).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = -a
//
// RUN @down block=256
// ARG a : f32 = np.random.default_rng(1).standard_normal(256)
// ARG b : f32 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf32
// LET s = wide_f32(a) + wide_f32(b)
// EXPECT r = np.where(f32(s) > s, np.nextafter(f32(s), np.float32(-np.inf)), f32(s))
//
// RUN @up block=256
// ARG a : f32 = np.random.default_rng(1).standard_normal(256)
// ARG b : f32 = np.random.default_rng(2).standard_normal(256)
// ARG r = zeros:256xf32
// LET s = wide_f32(a) * wide_f32(b)
// EXPECT r = np.where(f32(s) < s, np.nextafter(f32(s), np.float32(np.inf)), f32(s))
//
// RUN @cmpf_oeq block=256
// ARG a : f32 = np.where(np.arange(256) % 7 == 0, np.nan, np.arange(256) % 5)
// ARG b : f32 = np.where(np.arange(256) % 11 == 0, np.nan, np.arange(256) % 3)
// ARG r = zeros:256xi32
// EXPECT r = a == b
//
// RUN @cmpf_olt block=256
// ARG a : f32 = np.where(np.arange(256) % 7 == 0, np.nan, np.arange(256) % 5)
// ARG b : f32 = np.where(np.arange(256) % 11 == 0, np.nan, np.arange(256) % 3)
// ARG r = zeros:256xi32
// EXPECT r = a < b
//
// RUN @cmpf_ole block=256
// ARG a : f32 = np.where(np.arange(256) % 7 == 0, np.nan, np.arange(256) % 5)
// ARG b : f32 = np.where(np.arange(256) % 11 == 0, np.nan, np.arange(256) % 3)
// ARG r = zeros:256xi32
// EXPECT r = a <= b
//
// RUN @cmpf_ogt block=256
// ARG a : f32 = np.where(np.arange(256) % 7 == 0, np.nan, np.arange(256) % 5)
// ARG b : f32 = np.where(np.arange(256) % 11 == 0, np.nan, np.arange(256) % 3)
// ARG r = zeros:256xi32
// EXPECT r = a > b
//
// RUN @cmpf_one block=256
// ARG a : f32 = np.where(np.arange(256) % 7 == 0, np.nan, np.arange(256) % 5)
// ARG b : f32 = np.where(np.arange(256) % 11 == 0, np.nan, np.arange(256) % 3)
// ARG r = zeros:256xi32
// EXPECT r = (a < b) | (a > b)
//
// RUN @cmpf_uno block=256
// ARG a : f32 = np.where(np.arange(256) % 7 == 0, np.nan, np.arange(256) % 5)
// ARG b : f32 = np.where(np.arange(256) % 11 == 0, np.nan, np.arange(256) % 3)
// ARG r = zeros:256xi32
// EXPECT r = np.isnan(a) | np.isnan(b)
//
// RUN @cmpf_ord block=256
// ARG a : f32 = np.where(np.arange(256) % 7 == 0, np.nan, np.arange(256) % 5)
// ARG b : f32 = np.where(np.arange(256) % 11 == 0, np.nan, np.arange(256) % 3)
// ARG r = zeros:256xi32
// EXPECT r = ~(np.isnan(a) | np.isnan(b))
//
// RUN @cmpf_ult block=256
// ARG a : f32 = np.where(np.arange(256) % 7 == 0, np.nan, np.arange(256) % 5)
// ARG b : f32 = np.where(np.arange(256) % 11 == 0, np.nan, np.arange(256) % 3)
// ARG r = zeros:256xi32
// EXPECT r = ~(a >= b)
//
// RUN @cmpf_ueq block=256
// ARG a : f32 = np.where(np.arange(256) % 7 == 0, np.nan, np.arange(256) % 5)
// ARG b : f32 = np.where(np.arange(256) % 11 == 0, np.nan, np.arange(256) % 3)
// ARG r = zeros:256xi32
// EXPECT r = ~((a < b) | (a > b))
gpu.module @kernels {
  gpu.func @addf_f32(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %r = arith.addf %a, %b : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @subf_f32(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %r = arith.subf %a, %b : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @mulf_f32(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %r = arith.mulf %a, %b : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @divf_f32(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %r = arith.divf %a, %b : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @maximumf_f32(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %r = arith.maximumf %a, %b : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @minimumf_f32(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %r = arith.minimumf %a, %b : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @maxnumf_f32(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %r = arith.maxnumf %a, %b : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @minnumf_f32(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %r = arith.minnumf %a, %b : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @addf_f64(%as: memref<256xf64, 1>, %bs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf64, 1>
    %b = memref.load %bs[%i] : memref<256xf64, 1>
    %r = arith.addf %a, %b : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @subf_f64(%as: memref<256xf64, 1>, %bs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf64, 1>
    %b = memref.load %bs[%i] : memref<256xf64, 1>
    %r = arith.subf %a, %b : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @mulf_f64(%as: memref<256xf64, 1>, %bs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf64, 1>
    %b = memref.load %bs[%i] : memref<256xf64, 1>
    %r = arith.mulf %a, %b : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @divf_f64(%as: memref<256xf64, 1>, %bs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf64, 1>
    %b = memref.load %bs[%i] : memref<256xf64, 1>
    %r = arith.divf %a, %b : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @maximumf_f64(%as: memref<256xf64, 1>, %bs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf64, 1>
    %b = memref.load %bs[%i] : memref<256xf64, 1>
    %r = arith.maximumf %a, %b : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @minimumf_f64(%as: memref<256xf64, 1>, %bs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf64, 1>
    %b = memref.load %bs[%i] : memref<256xf64, 1>
    %r = arith.minimumf %a, %b : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @maxnumf_f64(%as: memref<256xf64, 1>, %bs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf64, 1>
    %b = memref.load %bs[%i] : memref<256xf64, 1>
    %r = arith.maxnumf %a, %b : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @minnumf_f64(%as: memref<256xf64, 1>, %bs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf64, 1>
    %b = memref.load %bs[%i] : memref<256xf64, 1>
    %r = arith.minnumf %a, %b : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @addf_f16(%as: memref<256xf16, 1>, %bs: memref<256xf16, 1>, %out: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf16, 1>
    %b = memref.load %bs[%i] : memref<256xf16, 1>
    %r = arith.addf %a, %b : f16
    memref.store %r, %out[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @mulf_f16(%as: memref<256xf16, 1>, %bs: memref<256xf16, 1>, %out: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf16, 1>
    %b = memref.load %bs[%i] : memref<256xf16, 1>
    %r = arith.mulf %a, %b : f16
    memref.store %r, %out[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @divf_f16(%as: memref<256xf16, 1>, %bs: memref<256xf16, 1>, %out: memref<256xf16, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf16, 1>
    %b = memref.load %bs[%i] : memref<256xf16, 1>
    %r = arith.divf %a, %b : f16
    memref.store %r, %out[%i] : memref<256xf16, 1>
    gpu.return
  }

  gpu.func @addf_bf16(%as: memref<256xbf16, 1>, %bs: memref<256xbf16, 1>, %out: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xbf16, 1>
    %b = memref.load %bs[%i] : memref<256xbf16, 1>
    %r = arith.addf %a, %b : bf16
    memref.store %r, %out[%i] : memref<256xbf16, 1>
    gpu.return
  }

  gpu.func @mulf_bf16(%as: memref<256xbf16, 1>, %bs: memref<256xbf16, 1>, %out: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xbf16, 1>
    %b = memref.load %bs[%i] : memref<256xbf16, 1>
    %r = arith.mulf %a, %b : bf16
    memref.store %r, %out[%i] : memref<256xbf16, 1>
    gpu.return
  }

  gpu.func @divf_bf16(%as: memref<256xbf16, 1>, %bs: memref<256xbf16, 1>, %out: memref<256xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xbf16, 1>
    %b = memref.load %bs[%i] : memref<256xbf16, 1>
    %r = arith.divf %a, %b : bf16
    memref.store %r, %out[%i] : memref<256xbf16, 1>
    gpu.return
  }

  gpu.func @negf(%as: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %r = arith.negf %a : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @down(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %r = arith.addf %a, %b downward : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @up(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %r = arith.mulf %a, %b upward : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @cmpf_oeq(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %c = arith.cmpf oeq, %a, %b : f32
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @cmpf_olt(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %c = arith.cmpf olt, %a, %b : f32
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @cmpf_ole(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %c = arith.cmpf ole, %a, %b : f32
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @cmpf_ogt(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %c = arith.cmpf ogt, %a, %b : f32
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @cmpf_one(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %c = arith.cmpf one, %a, %b : f32
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @cmpf_uno(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %c = arith.cmpf uno, %a, %b : f32
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @cmpf_ord(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %c = arith.cmpf ord, %a, %b : f32
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @cmpf_ult(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %c = arith.cmpf ult, %a, %b : f32
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @cmpf_ueq(%as: memref<256xf32, 1>, %bs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %b = memref.load %bs[%i] : memref<256xf32, 1>
    %c = arith.cmpf ueq, %a, %b : f32
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }
}
