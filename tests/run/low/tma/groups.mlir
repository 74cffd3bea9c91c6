// Double-buffered stores: a thread waits until the copy before the last has read its buffer.
// RUN @fill block=32 arch=tma
// DATA target = zeros:6x128xi32
// MAP to = target box=1x128
// EXPECT target = np.arange(6)[:, None] * 1000 + np.arange(128)
!map = !nvgpu.tensormap.descriptor<tensor = memref<1x128xi32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!row = memref<1x128xi32, strided<[128, 1], offset: ?>, 3>
gpu.module @kernels {
  gpu.func @fill(%to: !map) workgroup(%rows: memref<2x128xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %thousand = arith.constant 1000 : index
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.for %i = %c0 to %c6 step %c1 {
      %side = arith.remui %i, %c2 : index
      scf.if %first {
        nvvm.cp.async.bulk.wait_group 1 {read}
      }
      gpu.barrier
      %start = arith.muli %i, %thousand : index
      scf.for %x = %t to %c128 step %c32 {
        %number = arith.addi %start, %x : index
        %v = arith.index_cast %number : index to i32
        memref.store %v, %rows[%side, %x] : memref<2x128xi32, 3>
      }
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      scf.if %first {
        %row = memref.subview %rows[%side, 0][1, 128][1, 1] : memref<2x128xi32, 3> to !row
        nvgpu.tma.async.store %row to %to[%c0, %i] : !row -> !map
        nvvm.cp.async.bulk.commit.group
      }
    }
    scf.if %first {
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}
