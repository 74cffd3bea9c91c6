// Blocks of a cluster share a tile: each loads a part of it for all of them.
// RUN @share grid=2 cluster=2 block=64 arch=tma+cluster
// DATA source = random:16x32xf32:1
// MAP from = source box=8x32
// ARG out = zeros:2x16x32xf32
// EXPECT out = np.stack([source, source])
//
// RUN @share grid=4 cluster=2 block=64 arch=tma+cluster
// DATA source = random:32x32xf32:2
// MAP from = source box=8x32
// ARG out = zeros:4x16x32xf32
// EXPECT out = source.reshape(2, 16, 32)[[0, 0, 1, 1]]
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!part = memref<8x32xf32, strided<[32, 1], offset: ?>, 3>
gpu.module @kernels {
  gpu.func @share(%from: !map, %out: memref<4x16x32xf32, 1>)
      workgroup(%tile: memref<16x32xf32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %bytes = arith.constant 2048 : index
    %ticks = arith.constant 10000000 : index
    %both = arith.constant 3 : i16
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %rank = gpu.cluster_block_id x
    %cluster = gpu.cluster_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      // The barrier expects the bytes of both blocks.
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
    }
    // No block sends before all barriers are initialized.
    nvvm.cluster.arrive
    nvvm.cluster.wait
    scf.if %first {
      %from_row = arith.muli %rank, %c8 : index
      %start = arith.muli %cluster, %c16 : index
      %at = arith.addi %start, %from_row : index
      %part = memref.subview %tile[%from_row, 0][8, 32][1, 1] : memref<16x32xf32, 3> to !part
      nvgpu.tma.async.load %from[%c0, %at], %bars[%c0] to %part multicast_mask = %both : !map, !bars -> !part
    }
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
    %y = arith.divui %t, %c4 : index
    %quarter = arith.remui %t, %c4 : index
    %x = arith.muli %quarter, %c8 : index
    %row = vector.load %tile[%y, %x] : memref<16x32xf32, 3>, vector<8xf32>
    vector.store %row, %out[%block, %y, %x] : memref<4x16x32xf32, 1>, vector<8xf32>
    // No block exits while another may still write here.
    nvvm.cluster.arrive
    nvvm.cluster.wait
    gpu.return
  }
}
