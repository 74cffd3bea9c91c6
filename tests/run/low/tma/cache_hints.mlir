// Cache hints change where data stays, never what it is: evict_first for loads, evict_last for stores.
// RUN @copy grid=3 block=32 arch=tma
// DATA source = random:24x64xf16:1
// DATA target = zeros:24x64xf16
// MAP from = source box=8x64
// MAP to = target box=8x64
// EXPECT target = source
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x64xf16, 3>, swizzle = none, l2promo = l2promo_128b, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @copy(%from: !map, %to: !map) workgroup(%tile: memref<8x64xf16, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %evict_first = arith.constant 0x12F0000000000000 : i64
    %evict_last = arith.constant 0x14F0000000000000 : i64
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %y = arith.muli %block, %c8 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %y], %bars[%c0] to %tile l2_cache_hint = %evict_first : !map, !bars -> memref<8x64xf16, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%c0, %y] l2_cache_hint = %evict_last : memref<8x64xf16, 3> -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}
