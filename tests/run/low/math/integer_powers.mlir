// Powers with integer exponents: of floats by libdevice, a rounding for each multiplication; of integers modulo the width.
// RUN @fpowi_f32 block=256 arch=base
// ARG a : f32 = np.exp2(np.linspace(-3, 3, 256))
// ARG n : i32 = np.arange(256) % 21 - 10
// ARG r = zeros:256xf32
// LET e = exact("pow", a, n)
// EXPECT r ~ (abs(n) + 1) * u_f32 * abs(e) : e
//
// RUN @fpowi_f64 block=256
// ARG a : f64 = np.exp2(np.linspace(-3, 3, 256))
// ARG n : i32 = np.arange(256) % 21 - 10
// ARG r = zeros:256xf64
// LET e = exact("pow", a, n)
// EXPECT r ~ (abs(n) + 1) * u_f64 * abs(e) : e
//
// RUN @fpowi_narrow block=256
// ARG a : f32 = np.linspace(-3, 3, 256)
// ARG n : i8 = np.arange(256) % 9
// ARG r = zeros:256xf32
// LET e = exact("pow", a, n)
// EXPECT r ~ (abs(n) + 1) * u_f32 * abs(e) : e
//
// RUN @ipowi_i32 block=256
// ARG a : i32 = np.arange(256) % 23 - 11
// ARG n : i32 = np.arange(256) // 16
// ARG r = zeros:256xi32
// EXPECT r = [(int(b) ** int(k) + (1 << 31)) % (1 << 32) - (1 << 31) for b, k in zip(a, n)]
//
// RUN @ipowi_i64 block=256
// ARG a : i64 = np.arange(256) % 23 - 11
// ARG n : i64 = np.arange(256) // 16
// ARG r = zeros:256xi64
// EXPECT r = [(int(b) ** int(k) + (1 << 63)) % (1 << 64) - (1 << 63) for b, k in zip(a, n)]
//
// RUN @ipowi_i16 block=256
// ARG a : i16 = np.arange(256) % 23 - 11
// ARG n : i16 = np.arange(256) // 16
// ARG r = zeros:256xi16
// EXPECT r = [(int(b) ** int(k) + (1 << 15)) % (1 << 16) - (1 << 15) for b, k in zip(a, n)]
//
// RUN @ipowi_negative block=256
// ARG a : i32 = np.arange(256) % 4 * 2 - 3
// ARG n : i32 = -(np.arange(256) // 4) - 1
// ARG r = zeros:256xi32
// EXPECT r = np.where(a == 1, 1, np.where(a == -1, 1 - 2 * (n % 2), 0))
gpu.module @kernels {
  gpu.func @fpowi_f32(%as: memref<256xf32, 1>, %ns: memref<256xi32, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %n = memref.load %ns[%i] : memref<256xi32, 1>
    %r = math.fpowi %a, %n : f32, i32
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @fpowi_f64(%as: memref<256xf64, 1>, %ns: memref<256xi32, 1>, %out: memref<256xf64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf64, 1>
    %n = memref.load %ns[%i] : memref<256xi32, 1>
    %r = math.fpowi %a, %n : f64, i32
    memref.store %r, %out[%i] : memref<256xf64, 1>
    gpu.return
  }

  gpu.func @fpowi_narrow(%as: memref<256xf32, 1>, %ns: memref<256xi8, 1>, %out: memref<256xf32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xf32, 1>
    %n = memref.load %ns[%i] : memref<256xi8, 1>
    %r = math.fpowi %a, %n : f32, i8
    memref.store %r, %out[%i] : memref<256xf32, 1>
    gpu.return
  }

  gpu.func @ipowi_i32(%as: memref<256xi32, 1>, %ns: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %n = memref.load %ns[%i] : memref<256xi32, 1>
    %r = math.ipowi %a, %n : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @ipowi_i64(%as: memref<256xi64, 1>, %ns: memref<256xi64, 1>, %out: memref<256xi64, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi64, 1>
    %n = memref.load %ns[%i] : memref<256xi64, 1>
    %r = math.ipowi %a, %n : i64
    memref.store %r, %out[%i] : memref<256xi64, 1>
    gpu.return
  }

  gpu.func @ipowi_i16(%as: memref<256xi16, 1>, %ns: memref<256xi16, 1>, %out: memref<256xi16, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi16, 1>
    %n = memref.load %ns[%i] : memref<256xi16, 1>
    %r = math.ipowi %a, %n : i16
    memref.store %r, %out[%i] : memref<256xi16, 1>
    gpu.return
  }

  gpu.func @ipowi_negative(%as: memref<256xi32, 1>, %ns: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %as[%i] : memref<256xi32, 1>
    %n = memref.load %ns[%i] : memref<256xi32, 1>
    %r = math.ipowi %a, %n : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }
}
