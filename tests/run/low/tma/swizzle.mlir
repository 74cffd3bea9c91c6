// A swizzled box in shared memory: 16-byte chunks are permuted within rows, by row.
// RUN @b32 block=32 arch=tma
// DATA source = random:16x16xf16:1
// MAP from = source swizzle=32
// ARG out = zeros:16x16xf16
// EXPECT out = source.reshape(16, 2, 8)[np.arange(16)[:, None], np.arange(2) ^ (np.arange(16)[:, None] // 4 % 2)].reshape(16, 16)
//
// RUN @b64 block=32 arch=tma
// DATA source = random:16x32xf16:2
// MAP from = source swizzle=64
// ARG out = zeros:16x32xf16
// EXPECT out = source.reshape(16, 4, 8)[np.arange(16)[:, None], np.arange(4) ^ (np.arange(16)[:, None] // 2 % 4)].reshape(16, 32)
//
// RUN @b128 block=32 arch=tma
// DATA source = random:16x64xf16:3
// MAP from = source swizzle=128
// ARG out = zeros:16x64xf16
// EXPECT out = source.reshape(16, 8, 8)[np.arange(16)[:, None], np.arange(8) ^ (np.arange(16)[:, None] % 8)].reshape(16, 64)
!map32 = !nvgpu.tensormap.descriptor<tensor = memref<16x16xf16, 3>, swizzle = swizzle_32b, l2promo = none, oob = zero, interleave = none>
!map64 = !nvgpu.tensormap.descriptor<tensor = memref<16x32xf16, 3>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
!map128 = !nvgpu.tensormap.descriptor<tensor = memref<16x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @b32(%from: !map32, %out: memref<16x16xf16, 1>)
      workgroup(%tile: memref<16x16xf16, 3> {llvm.align = 1024 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %half = arith.constant 8 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0], %bars[%c0] to %tile : !map32, !bars -> memref<16x16xf16, 3>
    }
    gpu.barrier
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
    %y = arith.divui %t, %c2 : index
    %side = arith.remui %t, %c2 : index
    %x = arith.muli %side, %half : index
    %v = vector.load %tile[%y, %x] : memref<16x16xf16, 3>, vector<8xf16>
    vector.store %v, %out[%y, %x] : memref<16x16xf16, 1>, vector<8xf16>
    gpu.return
  }

  gpu.func @b64(%from: !map64, %out: memref<16x32xf16, 1>)
      workgroup(%tile: memref<16x32xf16, 3> {llvm.align = 1024 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %half = arith.constant 16 : index
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0], %bars[%c0] to %tile : !map64, !bars -> memref<16x32xf16, 3>
    }
    gpu.barrier
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
    %y = arith.divui %t, %c2 : index
    %side = arith.remui %t, %c2 : index
    %x = arith.muli %side, %half : index
    %v = vector.load %tile[%y, %x] : memref<16x32xf16, 3>, vector<16xf16>
    vector.store %v, %out[%y, %x] : memref<16x32xf16, 1>, vector<16xf16>
    gpu.return
  }

  gpu.func @b128(%from: !map128, %out: memref<16x64xf16, 1>)
      workgroup(%tile: memref<16x64xf16, 3> {llvm.align = 1024 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %half = arith.constant 32 : index
    %bytes = arith.constant 2048 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0], %bars[%c0] to %tile : !map128, !bars -> memref<16x64xf16, 3>
    }
    gpu.barrier
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
    %y = arith.divui %t, %c2 : index
    %side = arith.remui %t, %c2 : index
    %x = arith.muli %side, %half : index
    %v = vector.load %tile[%y, %x] : memref<16x64xf16, 3>, vector<32xf16>
    vector.store %v, %out[%y, %x] : memref<16x64xf16, 1>, vector<32xf16>
    gpu.return
  }
}
