// A pipeline of three stages: one warp loads tiles, another adds them up row by row; barriers signal when a stage is
// full and when it is empty again.
// RUN @sum block=64 arch=tma
// DATA source = small:64x32xf32:1
// MAP from = source box=8x32
// ARG tiles = 8
// ARG out = zeros:32xf32
// EXPECT out = source.sum(0)
//
// RUN @sum block=64 arch=tma
// DATA source = small:16x32xf32:2
// MAP from = source box=8x32
// ARG tiles = 2
// ARG out = zeros:32xf32
// EXPECT out = source.sum(0)
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
!stage = memref<8x32xf32, strided<[32, 1], offset: ?>, 3>
gpu.module @kernels {
  gpu.func @sum(%from: !map, %tiles: index, %out: memref<32xf32, 1>)
      workgroup(%ring: memref<3x8x32xf32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %zero = arith.constant 0.0 : f32
    %false = arith.constant false
    %true = arith.constant true
    %full = nvgpu.mbarrier.create -> !bars
    %empty = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    %loads = arith.cmpi ult, %t, %c32 : index
    scf.if %first {
      nvgpu.tma.prefetch.descriptor %from : !map
      scf.for %s = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%s], %c1 : !bars
        nvgpu.mbarrier.init %empty[%s], %c32 : !bars
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    scf.if %loads {
      scf.if %first {
        // The first iteration waits for phases that are over already.
        %end:2 = scf.for %i = %c0 to %tiles step %c1 iter_args(%s = %c0, %parity = %true) -> (index, i1) {
          nvgpu.mbarrier.try_wait.parity %empty[%s], %parity, %ticks : !bars
          %stage = memref.subview %ring[%s, 0, 0][1, 8, 32][1, 1, 1] : memref<3x8x32xf32, 3> to !stage
          %y = arith.muli %i, %c8 : index
          nvgpu.mbarrier.arrive.expect_tx %full[%s], %bytes : !bars
          nvgpu.tma.async.load %from[%c0, %y], %full[%s] to %stage : !map, !bars -> !stage
          %after = arith.addi %s, %c1 : index
          %wraps = arith.cmpi eq, %after, %c3 : index
          %next = arith.select %wraps, %c0, %after : index
          %flipped = arith.xori %parity, %wraps : i1
          scf.yield %next, %flipped : index, i1
        }
      }
    } else {
      %x = arith.subi %t, %c32 : index
      %end:3 = scf.for %i = %c0 to %tiles step %c1 iter_args(%sum = %zero, %s = %c0, %parity = %false) -> (f32, index, i1) {
        nvgpu.mbarrier.try_wait.parity %full[%s], %parity, %ticks : !bars
        %more = scf.for %y = %c0 to %c8 step %c1 iter_args(%part = %sum) -> (f32) {
          %v = memref.load %ring[%s, %y, %x] : memref<3x8x32xf32, 3>
          %added = arith.addf %part, %v : f32
          scf.yield %added : f32
        }
        %token = nvgpu.mbarrier.arrive %empty[%s] : !bars -> !nvgpu.mbarrier.token
        %after = arith.addi %s, %c1 : index
        %wraps = arith.cmpi eq, %after, %c3 : index
        %next = arith.select %wraps, %c0, %after : index
        %flipped = arith.xori %parity, %wraps : i1
        scf.yield %more, %next, %flipped : f32, index, i1
      }
      memref.store %end#0, %out[%x] : memref<32xf32, 1>
    }
    gpu.return
  }
}
