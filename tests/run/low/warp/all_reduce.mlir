// Reductions over a block: of one, three and eight warps, of known size or not,
// by an operation or by a body, again and again through the same memory.
// RUN @sum grid=2 block=256 arch=base
// ARG x = small:512xf32:1
// ARG out = zeros:512xf32
// EXPECT out = np.repeat(x.reshape(2, 256).sum(axis=1), 256)
//
// RUN @sum grid=2 block=96
// ARG x = small:192xf32:1
// ARG out = zeros:192xf32
// EXPECT out = np.repeat(x.reshape(2, 96).sum(axis=1), 96)
//
// RUN @sum block=32x2x2
// ARG x = small:128xf32:4
// ARG out = zeros:128xf32
// EXPECT out = x.sum()
//
// RUN @sum block=1024
// ARG x = random:1024xf32:4
// ARG out = zeros:1024xf32
// EXPECT out ~ 1024 * u_f32 * abs(x).sum() : wide_f32(x).sum()
//
// RUN @kinds block=160
// ARG x = random:160xi32:1
// ARG out = zeros:5x160xi32
// EXPECT out = np.repeat([x.max(), x.view(np.uint32).min().view(np.int32), np.bitwise_and.reduce(x), np.bitwise_xor.reduce(x), np.multiply.reduce(x)], 160)
//
// RUN @body block=64
// ARG x = random:64xi64:1
// ARG out = zeros:64xi64
// EXPECT out = np.bitwise_or.reduce(x)
//
// RUN @one_warp block=32
// ARG x = random:32xf64:1
// ARG out = zeros:32xf64
// EXPECT out = x.max()
gpu.module @kernels {
  gpu.func @sum(%x: memref<1024xf32, 1>, %out: memref<1024xf32, 1>) kernel {
    %i = func.call @number() : () -> index
    %v = memref.load %x[%i] : memref<1024xf32, 1>
    %r = gpu.all_reduce add %v {} : (f32) -> f32
    memref.store %r, %out[%i] : memref<1024xf32, 1>
    gpu.return
  }

  func.func private @number() -> index {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %z = gpu.thread_id z
    %b = gpu.block_id x
    %nx = gpu.block_dim x
    %ny = gpu.block_dim y
    %nz = gpu.block_dim z
    %a0 = arith.muli %b, %nz : index
    %a1 = arith.addi %a0, %z : index
    %a2 = arith.muli %a1, %ny : index
    %a3 = arith.addi %a2, %y : index
    %a4 = arith.muli %a3, %nx : index
    %a5 = arith.addi %a4, %x : index
    return %a5 : index
  }

  gpu.func @kinds(%x: memref<160xi32, 1>, %out: memref<5x160xi32, 1>) kernel
      attributes {known_block_size = array<i32: 160, 1, 1>} {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %v = memref.load %x[%i] : memref<160xi32, 1>
    %a = gpu.all_reduce maxsi %v {} : (i32) -> i32
    %b = gpu.all_reduce minui %v {} : (i32) -> i32
    %c = gpu.all_reduce and %v {} : (i32) -> i32
    %d = gpu.all_reduce xor %v {} : (i32) -> i32
    %e = gpu.all_reduce mul %v {} : (i32) -> i32
    memref.store %a, %out[%c0, %i] : memref<5x160xi32, 1>
    memref.store %b, %out[%c1, %i] : memref<5x160xi32, 1>
    memref.store %c, %out[%c2, %i] : memref<5x160xi32, 1>
    memref.store %d, %out[%c3, %i] : memref<5x160xi32, 1>
    memref.store %e, %out[%c4, %i] : memref<5x160xi32, 1>
    gpu.return
  }

  gpu.func @body(%x: memref<64xi64, 1>, %out: memref<64xi64, 1>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<64xi64, 1>
    %r = gpu.all_reduce %v {
    ^bb0(%a: i64, %b: i64):
      %o = arith.ori %a, %b : i64
      gpu.yield %o : i64
    } : (i64) -> i64
    memref.store %r, %out[%i] : memref<64xi64, 1>
    gpu.return
  }

  gpu.func @one_warp(%x: memref<32xf64, 1>, %out: memref<32xf64, 1>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xf64, 1>
    %r = gpu.all_reduce maximumf %v {} : (f64) -> f64
    memref.store %r, %out[%i] : memref<32xf64, 1>
    gpu.return
  }
}
