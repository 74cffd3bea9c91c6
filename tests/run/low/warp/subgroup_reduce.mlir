// Reductions over a warp, of every width, of whole warps and of groups of lanes.
// RUN @add_f32 block=32 arch=base
// ARG x = small:32xf32:1
// ARG y = zeros:32xf32
// EXPECT y = x.sum()
//
// RUN @add_i32 block=32
// ARG x = random:32xi32:2
// ARG y = zeros:32xi32
// EXPECT y = x.sum(dtype=np.int32)
//
// RUN @mul_f64 block=32
// ARG x = small:32xf64:3
// ARG y = zeros:32xf64
// EXPECT y = x.prod()
//
// RUN @maxsi_i16 block=32
// ARG x = random:32xi16:4
// ARG y = zeros:32xi16
// EXPECT y = x.max()
//
// RUN @minui_i8 block=32
// ARG x = random:32xi8:5
// ARG y = zeros:32xi8
// EXPECT y = x.view(np.uint8).min().view(np.int8)
//
// RUN @and_i64 block=32
// ARG x = random:32xi64:6
// ARG y = zeros:32xi64
// EXPECT y = np.bitwise_and.reduce(x)
//
// RUN @xor_i32 block=32
// ARG x = random:32xi32:7
// ARG y = zeros:32xi32
// EXPECT y = np.bitwise_xor.reduce(x)
//
// RUN @maxnumf_f16 block=32
// ARG x = random:32xf16:8
// ARG y = zeros:32xf16
// EXPECT y = x.max()
//
// RUN @minimumf_bf16 block=32
// ARG x = random:32xbf16:9
// ARG y = zeros:32xbf16
// EXPECT y = x[np.argmin(wide_bf16(x))]
//
// RUN @maximumf_f64 block=32
// ARG x = random:32xf64:10
// ARG y = zeros:32xf64
// EXPECT y = x.max()
//
// RUN @groups block=32
// ARG x = small:32xf32:9
// ARG y = zeros:32xf32
// ARG z = zeros:32xf32
// EXPECT y = np.repeat(x.reshape(4, 8).sum(axis=1), 8)
// EXPECT z = np.tile(x.reshape(8, 4).sum(axis=0), 8)
//
// RUN @vectors block=32
// ARG x = small:32x4xf32:9
// ARG y = zeros:32x4xf32
// EXPECT y = np.tile(x.sum(axis=0), (32, 1))
gpu.module @kernels {
  gpu.func @add_f32(%x: memref<32xf32, 1>, %y: memref<32xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xf32, 1>
    %r = gpu.subgroup_reduce add %v : (f32) -> f32
    memref.store %r, %y[%i] : memref<32xf32, 1>
    gpu.return
  }

  gpu.func @add_i32(%x: memref<32xi32, 1>, %y: memref<32xi32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xi32, 1>
    %r = gpu.subgroup_reduce add %v : (i32) -> i32
    memref.store %r, %y[%i] : memref<32xi32, 1>
    gpu.return
  }

  gpu.func @mul_f64(%x: memref<32xf64, 1>, %y: memref<32xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xf64, 1>
    %r = gpu.subgroup_reduce mul %v : (f64) -> f64
    memref.store %r, %y[%i] : memref<32xf64, 1>
    gpu.return
  }

  gpu.func @maxsi_i16(%x: memref<32xi16, 1>, %y: memref<32xi16, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xi16, 1>
    %r = gpu.subgroup_reduce maxsi %v : (i16) -> i16
    memref.store %r, %y[%i] : memref<32xi16, 1>
    gpu.return
  }

  gpu.func @minui_i8(%x: memref<32xi8, 1>, %y: memref<32xi8, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xi8, 1>
    %r = gpu.subgroup_reduce minui %v : (i8) -> i8
    memref.store %r, %y[%i] : memref<32xi8, 1>
    gpu.return
  }

  gpu.func @and_i64(%x: memref<32xi64, 1>, %y: memref<32xi64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xi64, 1>
    %r = gpu.subgroup_reduce and %v : (i64) -> i64
    memref.store %r, %y[%i] : memref<32xi64, 1>
    gpu.return
  }

  gpu.func @xor_i32(%x: memref<32xi32, 1>, %y: memref<32xi32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xi32, 1>
    %r = gpu.subgroup_reduce xor %v : (i32) -> i32
    memref.store %r, %y[%i] : memref<32xi32, 1>
    gpu.return
  }

  gpu.func @maxnumf_f16(%x: memref<32xf16, 1>, %y: memref<32xf16, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xf16, 1>
    %r = gpu.subgroup_reduce maxnumf %v : (f16) -> f16
    memref.store %r, %y[%i] : memref<32xf16, 1>
    gpu.return
  }

  gpu.func @minimumf_bf16(%x: memref<32xbf16, 1>, %y: memref<32xbf16, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xbf16, 1>
    %r = gpu.subgroup_reduce minimumf %v : (bf16) -> bf16
    memref.store %r, %y[%i] : memref<32xbf16, 1>
    gpu.return
  }

  gpu.func @maximumf_f64(%x: memref<32xf64, 1>, %y: memref<32xf64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xf64, 1>
    %r = gpu.subgroup_reduce maximumf %v : (f64) -> f64
    memref.store %r, %y[%i] : memref<32xf64, 1>
    gpu.return
  }

  gpu.func @groups(%x: memref<32xf32, 1>, %y: memref<32xf32, 1>, %z: memref<32xf32, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xf32, 1>
    %a = gpu.subgroup_reduce add %v cluster(size = 8) : (f32) -> f32
    %b = gpu.subgroup_reduce add %v cluster(size = 8, stride = 4) : (f32) -> f32
    memref.store %a, %y[%i] : memref<32xf32, 1>
    memref.store %b, %z[%i] : memref<32xf32, 1>
    gpu.return
  }

  gpu.func @vectors(%x: memref<32x4xf32, 1>, %y: memref<32x4xf32, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %v = vector.load %x[%i, %c0] : memref<32x4xf32, 1>, vector<4xf32>
    %r = gpu.subgroup_reduce add %v : (vector<4xf32>) -> vector<4xf32>
    vector.store %r, %y[%i, %c0] : memref<32x4xf32, 1>, vector<4xf32>
    gpu.return
  }
}
