// The first block of a cluster of four sends a tile to those alone whose bits its mask has.
// RUN @send grid=4 cluster=4 block=32 arch=tma+cluster
// DATA source = random:8x32xf32:1
// MAP from = source
// ARG mask = 10
// ARG out = zeros:4x8x32xf32
// EXPECT out = np.stack([np.zeros((8, 32)), source, np.zeros((8, 32)), source])
//
// RUN @send grid=4 cluster=4 block=32 arch=tma+cluster
// DATA source = random:8x32xf32:2
// MAP from = source
// ARG mask = 15
// ARG out = zeros:4x8x32xf32
// EXPECT out = np.stack([source] * 4)
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @send(%from: !map, %mask: i32, %out: memref<4x8x32xf32, 1>)
      workgroup(%tile: memref<8x32xf32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>, known_cluster_size = array<i32: 4, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %hint = arith.constant 0x14F0000000000000 : i64
    %one = arith.constant 1 : i32
    %none = arith.constant 0 : i32
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %rank = gpu.cluster_block_id x
    %number = arith.index_castui %rank : index to i32
    %shifted = arith.shrui %mask, %number : i32
    %bit = arith.andi %shifted, %one : i32
    %listens = arith.cmpi ne, %bit, %none : i32
    %first = arith.cmpi eq, %t, %c0 : index
    %sender = arith.cmpi eq, %rank, %c0 : index
    %sends = arith.andi %first, %sender : i1
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
    }
    cute_nvgpu.cluster.arrive
    cute_nvgpu.cluster.wait
    %expects = arith.andi %first, %listens : i1
    nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes, predicate = %expects : !bars
    scf.if %sends {
      %bits = arith.trunci %mask : i32 to i16
      nvgpu.tma.async.load %from[%c0, %c0], %bars[%c0] to %tile multicast_mask = %bits l2_cache_hint = %hint : !map, !bars -> memref<8x32xf32, 3>
    }
    scf.if %listens {
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      scf.for %y = %c0 to %c8 step %c1 {
        %v = memref.load %tile[%y, %t] : memref<8x32xf32, 3>
        memref.store %v, %out[%rank, %y, %t] : memref<4x8x32xf32, 1>
      }
    }
    cute_nvgpu.cluster.arrive
    cute_nvgpu.cluster.wait
    gpu.return
  }
}
