// Warp specialization: a producer warpgroup with fewer registers loads rows into a ring of two stages, a consumer with more adds them up.
// RUN @sum block=256 arch=setmaxnreg
// DATA source = small:96x128xf32:1
// MAP map = source box=16x128
// ARG out = zeros:128xf32
// EXPECT out = source.sum(axis=0)
!map = !nvgpu.tensormap.descriptor<tensor = memref<16x128xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
!stages = memref<2x16x128xf32, 3>
gpu.module @kernels {
  gpu.func @sum(%map: !map, %out: memref<128xf32, 1>) workgroup(%tile: !stages {llvm.align = 128 : i64})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i2 = arith.constant 2 : index
    %i5 = arith.constant 5 : index
    %i6 = arith.constant 6 : index
    %i16 = arith.constant 16 : index
    %i128 = arith.constant 128 : index
    %bytes = arith.constant 8192 : index
    %warps = arith.constant 4 : index
    %ticks = arith.constant 1000000 : index
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %c4 = arith.constant 4 : i32
    %zero = arith.constant 0.0 : f32
    %true = arith.constant true
    %full = nvgpu.mbarrier.create -> !bars
    %empty = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %i0 : index
    scf.if %first {
      nvgpu.mbarrier.init %full[%i0], %i1 : !bars
      nvgpu.mbarrier.init %full[%i1], %i1 : !bars
      nvgpu.mbarrier.init %empty[%i0], %warps : !bars
      nvgpu.mbarrier.init %empty[%i1], %warps : !bars
      cute_nvgpu.fence.mbarrier_init
    }
    gpu.barrier
    %warp_index = arith.shrui %t, %i5 : index
    %own_warp = arith.index_cast %warp_index : index to i32
    %warp, %valid = gpu.shuffle idx %own_warp, %c0, %c32 : i32
    %produces = arith.cmpi ult, %warp, %c4 : i32
    scf.if %produces {
      cute_nvgpu.set_max_registers decrease 24
      %first_warp = arith.cmpi eq, %warp, %c0 : i32
      scf.if %first_warp {
        %elected = cute_nvgpu.elect_one
        scf.if %elected {
          scf.for %n = %i0 to %i6 step %i1 {
            %stage = arith.remui %n, %i2 : index
            %round = arith.divui %n, %i2 : index
            %bit = arith.remui %round, %i2 : index
            %odd = arith.cmpi eq, %bit, %i1 : index
            %before = arith.xori %odd, %true : i1
            %row = arith.muli %n, %i16 : index
            nvgpu.mbarrier.try_wait.parity %empty[%stage], %before, %ticks : !bars
            nvgpu.mbarrier.arrive.expect_tx %full[%stage], %bytes : !bars
            cute_nvgpu.tma.load %map[%row, %i0], %full[%stage] to %tile[%stage, %i0, %i0] : !map, !bars to !stages
          }
        }
      }
    } else {
      cute_nvgpu.set_max_registers increase 160
      %column = arith.subi %t, %i128 : index
      %sum = scf.for %n = %i0 to %i6 step %i1 iter_args(%all = %zero) -> (f32) {
        %stage = arith.remui %n, %i2 : index
        %round = arith.divui %n, %i2 : index
        %bit = arith.remui %round, %i2 : index
        %odd = arith.cmpi eq, %bit, %i1 : index
        nvgpu.mbarrier.try_wait.parity %full[%stage], %odd, %ticks : !bars
        %part = scf.for %row = %i0 to %i16 step %i1 iter_args(%some = %all) -> (f32) {
          %x = memref.load %tile[%stage, %row, %column] : !stages
          %more = arith.addf %some, %x : f32
          scf.yield %more : f32
        }
        cute_nvgpu.warp_sync
        %elected = cute_nvgpu.elect_one
        scf.if %elected {
          %token = nvgpu.mbarrier.arrive %empty[%stage] : !bars -> !nvgpu.mbarrier.token
        }
        scf.yield %part : f32
      }
      memref.store %sum, %out[%column] : memref<128xf32, 1>
    }
    gpu.return
  }
}
