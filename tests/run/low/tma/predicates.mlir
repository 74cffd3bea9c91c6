// No branch: every operation of the copy is guarded by a predicate that one thread alone has.
// RUN @copy block=64 arch=tma
// DATA source = random:16x32xf32:1
// DATA target = zeros:16x32xf32
// MAP from = source
// MAP to = target
// EXPECT target = source + 1
!map = !nvgpu.tensormap.descriptor<tensor = memref<16x32xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
gpu.module @kernels {
  gpu.func @copy(%from: !map, %to: !map) workgroup(%tile: memref<16x32xf32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %bytes = arith.constant 2048 : index
    %ticks = arith.constant 10000000 : index
    %hint = arith.constant 0x1000000000000000 : i64
    %false = arith.constant false
    %ones = arith.constant dense<1.0> : vector<8xf32>
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    nvgpu.tma.prefetch.descriptor %from, predicate = %first : !map
    nvgpu.mbarrier.init %bars[%c1], %c1, predicate = %first : !bars
    nvvm.fence.mbarrier.init
    gpu.barrier
    nvgpu.mbarrier.arrive.expect_tx %bars[%c1], %bytes, predicate = %first : !bars
    nvgpu.tma.async.load %from[%c0, %c0], %bars[%c1] to %tile, predicate = %first l2_cache_hint = %hint : !map, !bars -> memref<16x32xf32, 3>
    nvgpu.mbarrier.try_wait.parity %bars[%c1], %false, %ticks : !bars
    %y = arith.divui %t, %c4 : index
    %part = arith.remui %t, %c4 : index
    %x = arith.muli %part, %c8 : index
    %v = vector.load %tile[%y, %x] : memref<16x32xf32, 3>, vector<8xf32>
    %w = arith.addf %v, %ones : vector<8xf32>
    vector.store %w, %tile[%y, %x] : memref<16x32xf32, 3>, vector<8xf32>
    // The writes of threads must be visible to the copy.
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    nvgpu.tma.async.store %tile to %to[%c0, %c0], predicate = %first l2_cache_hint = %hint : memref<16x32xf32, 3> -> !map
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0
    gpu.return
  }
}
