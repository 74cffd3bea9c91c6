// Bits of integers, counted, and their magnitudes.
// RUN @ctlz_i32 block=256 arch=base
// ARG x : i32 = np.random.default_rng(5).integers(-(1 << 31), 1 << 31, 256) >> (np.arange(256) % 32)
// ARG r = zeros:256xi32
// EXPECT r = [32 - (int(v) % (1 << 32)).bit_length() for v in x]
//
// RUN @cttz_i32 block=256
// ARG x : i32 = np.random.default_rng(5).integers(-(1 << 31), 1 << 31, 256) << (np.arange(256) % 32)
// ARG r = zeros:256xi32
// EXPECT r = [((int(v) & -int(v)) % (1 << 32)).bit_length() - 1 if v else 32 for v in x]
//
// RUN @ctpop_i32 block=256
// ARG x : i32 = np.random.default_rng(5).integers(-(1 << 31), 1 << 31, 256)
// ARG r = zeros:256xi32
// EXPECT r = [bin(int(v) % (1 << 32)).count('1') for v in x]
//
// RUN @absi_i32 block=256
// ARG x : i32 = np.random.default_rng(5).integers(-(1 << 31), 1 << 31, 256)
// ARG r = zeros:256xi32
// EXPECT r = np.abs(x)
//
// RUN @ctlz_i64 block=256
// ARG x : i64 = np.random.default_rng(5).integers(-(1 << 63), 1 << 63, 256) >> (np.arange(256) % 64)
// ARG r = zeros:256xi64
// EXPECT r = [64 - (int(v) % (1 << 64)).bit_length() for v in x]
//
// RUN @cttz_i64 block=256
// ARG x : i64 = np.random.default_rng(5).integers(-(1 << 63), 1 << 63, 256) << (np.arange(256) % 64)
// ARG r = zeros:256xi64
// EXPECT r = [((int(v) & -int(v)) % (1 << 64)).bit_length() - 1 if v else 64 for v in x]
//
// RUN @ctpop_i64 block=256
// ARG x : i64 = np.random.default_rng(5).integers(-(1 << 63), 1 << 63, 256)
// ARG r = zeros:256xi64
// EXPECT r = [bin(int(v) % (1 << 64)).count('1') for v in x]
//
// RUN @absi_i64 block=256
// ARG x : i64 = np.random.default_rng(5).integers(-(1 << 63), 1 << 63, 256)
// ARG r = zeros:256xi64
// EXPECT r = np.abs(x)
//
// RUN @ctlz_i16 block=256
// ARG x : i16 = np.random.default_rng(5).integers(-(1 << 15), 1 << 15, 256) >> (np.arange(256) % 16)
// ARG r = zeros:256xi16
// EXPECT r = [16 - (int(v) % (1 << 16)).bit_length() for v in x]
//
// RUN @cttz_i16 block=256
// ARG x : i16 = np.random.default_rng(5).integers(-(1 << 15), 1 << 15, 256) << (np.arange(256) % 16)
// ARG r = zeros:256xi16
// EXPECT r = [((int(v) & -int(v)) % (1 << 16)).bit_length() - 1 if v else 16 for v in x]
//
// RUN @ctpop_i16 block=256
// ARG x : i16 = np.random.default_rng(5).integers(-(1 << 15), 1 << 15, 256)
// ARG r = zeros:256xi16
// EXPECT r = [bin(int(v) % (1 << 16)).count('1') for v in x]
//
// RUN @absi_i16 block=256
// ARG x : i16 = np.random.default_rng(5).integers(-(1 << 15), 1 << 15, 256)
// ARG r = zeros:256xi16
// EXPECT r = np.abs(x)
gpu.module @kernels {
  gpu.func @ctlz_i32(%xs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi32, 1>
    %r = math.ctlz %x : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @cttz_i32(%xs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi32, 1>
    %r = math.cttz %x : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @ctpop_i32(%xs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi32, 1>
    %r = math.ctpop %x : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @absi_i32(%xs: memref<256xi32, 1>, %out: memref<256xi32, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi32, 1>
    %r = math.absi %x : i32
    memref.store %r, %out[%i] : memref<256xi32, 1>
    gpu.return
  }

  gpu.func @ctlz_i64(%xs: memref<256xi64, 1>, %out: memref<256xi64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi64, 1>
    %r = math.ctlz %x : i64
    memref.store %r, %out[%i] : memref<256xi64, 1>
    gpu.return
  }

  gpu.func @cttz_i64(%xs: memref<256xi64, 1>, %out: memref<256xi64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi64, 1>
    %r = math.cttz %x : i64
    memref.store %r, %out[%i] : memref<256xi64, 1>
    gpu.return
  }

  gpu.func @ctpop_i64(%xs: memref<256xi64, 1>, %out: memref<256xi64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi64, 1>
    %r = math.ctpop %x : i64
    memref.store %r, %out[%i] : memref<256xi64, 1>
    gpu.return
  }

  gpu.func @absi_i64(%xs: memref<256xi64, 1>, %out: memref<256xi64, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi64, 1>
    %r = math.absi %x : i64
    memref.store %r, %out[%i] : memref<256xi64, 1>
    gpu.return
  }

  gpu.func @ctlz_i16(%xs: memref<256xi16, 1>, %out: memref<256xi16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi16, 1>
    %r = math.ctlz %x : i16
    memref.store %r, %out[%i] : memref<256xi16, 1>
    gpu.return
  }

  gpu.func @cttz_i16(%xs: memref<256xi16, 1>, %out: memref<256xi16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi16, 1>
    %r = math.cttz %x : i16
    memref.store %r, %out[%i] : memref<256xi16, 1>
    gpu.return
  }

  gpu.func @ctpop_i16(%xs: memref<256xi16, 1>, %out: memref<256xi16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi16, 1>
    %r = math.ctpop %x : i16
    memref.store %r, %out[%i] : memref<256xi16, 1>
    gpu.return
  }

  gpu.func @absi_i16(%xs: memref<256xi16, 1>, %out: memref<256xi16, 1>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %xs[%i] : memref<256xi16, 1>
    %r = math.absi %x : i16
    memref.store %r, %out[%i] : memref<256xi16, 1>
    gpu.return
  }
}
