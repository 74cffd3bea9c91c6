// Two blocks of a cluster multicast half of each tile to both; a stage is empty when both have read it.
// RUN @share grid=4 block=64 cluster=2 arch=tma+cluster
// DATA source = random:48x64xf32:1
// MAP map = source box=4x64
// ARG out = zeros:4x24x64xf32
// EXPECT out = np.stack([source[:24], source[:24] * 2, source[24:], source[24:] * 2])
!map = !nvgpu.tensormap.descriptor<tensor = memref<4x64xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!tile = memref<8x64xf32, 3>
gpu.module @kernels {
  gpu.func @share(%map: !map, %out: memref<4x24x64xf32, 1>) workgroup(%tile: !tile {llvm.align = 128 : i64})
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i2 = arith.constant 2 : index
    %i3 = arith.constant 3 : index
    %i4 = arith.constant 4 : index
    %i8 = arith.constant 8 : index
    %i24 = arith.constant 24 : index
    %bytes = arith.constant 2048 : index
    %readers = arith.constant 4 : index
    %ticks = arith.constant 1000000 : index
    %both = arith.constant 3 : i16
    %c2 = arith.constant 2 : i32
    %true = arith.constant true
    %full = nvgpu.mbarrier.create -> !bars
    %empty = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %rank = gpu.cluster_block_id x
    %pair = gpu.cluster_id x
    %first = arith.cmpi eq, %t, %i0 : index
    scf.if %first {
      nvgpu.mbarrier.init %full[%i0], %i1 : !bars
      nvgpu.mbarrier.init %empty[%i0], %readers : !bars
      cute_nvgpu.fence.mbarrier_init
    }
    cute_nvgpu.cluster.arrive aligned
    cute_nvgpu.cluster.wait aligned
    %lane = gpu.lane_id
    %number = arith.index_cast %lane : index to i32
    %tells = arith.cmpi ult, %number, %c2 : i32
    %top = arith.muli %pair, %i24 : index
    %share = arith.muli %rank, %i4 : index
    %factor_index = arith.addi %rank, %i1 : index
    %factor_int = arith.index_cast %factor_index : index to i32
    %factor = arith.sitofp %factor_int : i32 to f32
    scf.for %round = %i0 to %i3 step %i1 {
      %bit = arith.remui %round, %i2 : index
      %odd = arith.cmpi eq, %bit, %i1 : index
      %before = arith.xori %odd, %true : i1
      %start = arith.muli %round, %i8 : index
      scf.if %first {
        // The first iteration waits for a phase that is over already.
        nvgpu.mbarrier.try_wait.parity %empty[%i0], %before, %ticks : !bars
        nvgpu.mbarrier.arrive.expect_tx %full[%i0], %bytes : !bars
        %down = arith.addi %top, %start : index
        %row = arith.addi %down, %share : index
        cute_nvgpu.tma.load %map[%row, %i0], %full[%i0] to %tile[%share, %i0] multicast %both : !map, !bars to !tile
      }
      nvgpu.mbarrier.try_wait.parity %full[%i0], %odd, %ticks : !bars
      scf.for %row = %i0 to %i8 step %i1 {
        %x = memref.load %tile[%row, %t] : !tile
        %y = arith.mulf %x, %factor : f32
        %there = arith.addi %start, %row : index
        memref.store %y, %out[%block, %there, %t] : memref<4x24x64xf32, 1>
      }
      cute_nvgpu.warp_sync
      // Lane 0 of each warp arrives at block 0, lane 1 at block 1.
      scf.if %tells {
        cute_nvgpu.mbarrier.arrive_remote %empty[%i0], %number : !bars
      }
    }
    cute_nvgpu.cluster.arrive
    cute_nvgpu.cluster.wait
    gpu.return
  }
}
