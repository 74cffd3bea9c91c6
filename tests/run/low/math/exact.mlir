// Exact functions of the hardware: rounding, signs, fma, classification.
// RUN @floor_f32 block=256 arch=base
// ARG x : f32 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xf32
// EXPECT r = np.floor(x)
//
// RUN @floor_f64 block=256
// ARG x : f64 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xf64
// EXPECT r = np.floor(x)
//
// RUN @ceil_f32 block=256
// ARG x : f32 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xf32
// EXPECT r = np.ceil(x)
//
// RUN @ceil_f64 block=256
// ARG x : f64 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xf64
// EXPECT r = np.ceil(x)
//
// RUN @trunc_f32 block=256
// ARG x : f32 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xf32
// EXPECT r = np.trunc(x)
//
// RUN @trunc_f64 block=256
// ARG x : f64 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xf64
// EXPECT r = np.trunc(x)
//
// RUN @roundeven_f32 block=256
// ARG x : f32 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xf32
// EXPECT r = np.rint(x)
//
// RUN @roundeven_f64 block=256
// ARG x : f64 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xf64
// EXPECT r = np.rint(x)
//
// RUN @round_f32 block=256
// ARG x : f32 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xf32
// EXPECT r = np.trunc(x + np.copysign(np.nextafter(x.dtype.type(0.5), x.dtype.type(0)), x))
//
// RUN @round_f64 block=256
// ARG x : f64 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xf64
// EXPECT r = np.trunc(x + np.copysign(np.nextafter(x.dtype.type(0.5), x.dtype.type(0)), x))
//
// RUN @absf_f32 block=256
// ARG x : f32 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xf32
// EXPECT r = np.abs(x)
//
// RUN @absf_f64 block=256
// ARG x : f64 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xf64
// EXPECT r = np.abs(x)
//
// RUN @copysign block=256
// ARG x : f32 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG y : f32 = np.random.default_rng(4).standard_normal(256)
// ARG r = zeros:256xf32
// EXPECT r = np.copysign(x, y)
//
// RUN @fma block=256
// ARG x : f32 = np.random.default_rng(1).standard_normal(256)
// ARG y : f32 = np.random.default_rng(2).standard_normal(256)
// ARG z : f32 = -np.float32(x) * np.float32(y)
// ARG r = zeros:256xf32
// EXPECT r = wide_f32(x) * wide_f32(y) + wide_f32(z)
//
// RUN @clampf block=256
// ARG x : f32 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG y : f32 = np.full(256, -1.5)
// ARG z : f32 = np.full(256, 2.25)
// ARG r = zeros:256xf32
// EXPECT r = np.where(np.isnan(x), x, np.clip(x, -1.5, 2.25))
//
// RUN @isnan block=256
// ARG x : f32 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xi32
// EXPECT r = np.isnan(x)
//
// RUN @isinf block=256
// ARG x : f32 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xi32
// EXPECT r = np.isinf(x)
//
// RUN @isfinite block=256
// ARG x : f32 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xi32
// EXPECT r = np.isfinite(x)
//
// RUN @isnormal block=256
// ARG x : f32 = np.concatenate([np.linspace(-4, 4, 65), np.random.default_rng(3).standard_normal(183) * 1e5, [0.5, -0.5, 2.5, -0.0, np.inf, -np.inf, np.nan, 8388609]])
// ARG r = zeros:256xi32
// EXPECT r = np.isfinite(x) & (abs(x) >= 2.0 ** -126)
gpu.module @kernels {
  gpu.func @floor_f32(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.floor %x : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @floor_f64(%xs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf64, 1>
    %r = math.floor %x : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @ceil_f32(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.ceil %x : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @ceil_f64(%xs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf64, 1>
    %r = math.ceil %x : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @trunc_f32(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.trunc %x : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @trunc_f64(%xs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf64, 1>
    %r = math.trunc %x : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @roundeven_f32(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.roundeven %x : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @roundeven_f64(%xs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf64, 1>
    %r = math.roundeven %x : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @round_f32(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.round %x : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @round_f64(%xs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf64, 1>
    %r = math.round %x : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @absf_f32(%xs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %r = math.absf %x : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @absf_f64(%xs: memref<256xf64, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf64, 1>
    %r = math.absf %x : f64
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @copysign(%xs: memref<256xf32, 1>, %ys: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %y = memref.load %ys[%i] : memref<256xf32, 1>
    %r = math.copysign %x, %y : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @fma(%xs: memref<256xf32, 1>, %ys: memref<256xf32, 1>, %zs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %y = memref.load %ys[%i] : memref<256xf32, 1>
    %z = memref.load %zs[%i] : memref<256xf32, 1>
    %r = math.fma %x, %y, %z : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @clampf(%xs: memref<256xf32, 1>, %ys: memref<256xf32, 1>, %zs: memref<256xf32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %y = memref.load %ys[%i] : memref<256xf32, 1>
    %z = memref.load %zs[%i] : memref<256xf32, 1>
    %r = math.clampf %x to [%y, %z] : f32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @isnan(%xs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %c = math.isnan %x : f32
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @isinf(%xs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %c = math.isinf %x : f32
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @isfinite(%xs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %c = math.isfinite %x : f32
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @isnormal(%xs: memref<256xf32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xf32, 1>
    %c = math.isnormal %x : f32
    %r = arith.extui %c : i1 to i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }
}
