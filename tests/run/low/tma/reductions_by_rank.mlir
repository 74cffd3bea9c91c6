// Add-reductions into a part of a tensor of every rank.
// RUN @add_1d block=32 arch=tma
// DATA box = random:32xi32:1
// DATA tensor = random:96xi32:6
// MAP from = box
// MAP to = tensor box=32
// EXPECT tensor = tensor + np.pad(box, ((32, 32),))
//
// RUN @add_2d block=32 arch=tma
// DATA box = random:4x16xi32:2
// DATA tensor = random:8x32xi32:7
// MAP from = box
// MAP to = tensor box=4x16
// EXPECT tensor = tensor + np.pad(box, ((4, 0), (16, 0)))
//
// RUN @add_3d block=32 arch=tma
// DATA box = random:2x4x8xi32:3
// DATA tensor = random:4x8x16xi32:8
// MAP from = box
// MAP to = tensor box=2x4x8
// EXPECT tensor = tensor + np.pad(box, ((2, 0), (4, 0), (8, 0)))
//
// RUN @add_4d block=32 arch=tma
// DATA box = random:2x2x2x8xi32:4
// DATA tensor = random:3x4x4x16xi32:9
// MAP from = box
// MAP to = tensor box=2x2x2x8
// EXPECT tensor = tensor + np.pad(box, ((1, 0), (2, 0), (2, 0), (8, 0)))
//
// RUN @add_5d block=32 arch=tma
// DATA box = random:2x2x2x2x4xi32:5
// DATA tensor = random:3x3x3x4x8xi32:10
// MAP from = box
// MAP to = tensor box=2x2x2x2x4
// EXPECT tensor = tensor + np.pad(box, ((1, 0), (1, 0), (1, 0), (2, 0), (4, 0)))
!map1 = !nvgpu.tensormap.descriptor<tensor = memref<32xi32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map2 = !nvgpu.tensormap.descriptor<tensor = memref<4x16xi32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map3 = !nvgpu.tensormap.descriptor<tensor = memref<2x4x8xi32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map4 = !nvgpu.tensormap.descriptor<tensor = memref<2x2x2x8xi32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map5 = !nvgpu.tensormap.descriptor<tensor = memref<2x2x2x2x4xi32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @add_1d(%from: !map1, %to: !map1)
      workgroup(%tile: memref<32xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %bytes = arith.constant 128 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0], %bars[%c0] to %tile : !map1, !bars -> memref<32xi32, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      cute_nvgpu.tma.reduce add %tile[%c0] to %to[%c32] : memref<32xi32, 3> to !map1
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @add_2d(%from: !map2, %to: !map2)
      workgroup(%tile: memref<4x16xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %bytes = arith.constant 256 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0], %bars[%c0] to %tile : !map2, !bars -> memref<4x16xi32, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      cute_nvgpu.tma.reduce add %tile[%c0, %c0] to %to[%c4, %c16] : memref<4x16xi32, 3> to !map2
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @add_3d(%from: !map3, %to: !map3)
      workgroup(%tile: memref<2x4x8xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %bytes = arith.constant 256 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0, %c0], %bars[%c0] to %tile : !map3, !bars -> memref<2x4x8xi32, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      cute_nvgpu.tma.reduce add %tile[%c0, %c0, %c0] to %to[%c2, %c4, %c8] : memref<2x4x8xi32, 3> to !map3
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @add_4d(%from: !map4, %to: !map4)
      workgroup(%tile: memref<2x2x2x8xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %bytes = arith.constant 256 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0, %c0, %c0], %bars[%c0] to %tile : !map4, !bars -> memref<2x2x2x8xi32, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      cute_nvgpu.tma.reduce add %tile[%c0, %c0, %c0, %c0] to %to[%c1, %c2, %c2, %c8] : memref<2x2x2x8xi32, 3> to !map4
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @add_5d(%from: !map5, %to: !map5)
      workgroup(%tile: memref<2x2x2x2x4xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %bytes = arith.constant 256 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0, %c0, %c0, %c0], %bars[%c0] to %tile : !map5, !bars -> memref<2x2x2x2x4xi32, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      cute_nvgpu.tma.reduce add %tile[%c0, %c0, %c0, %c0, %c0] to %to[%c1, %c1, %c1, %c2, %c4] : memref<2x2x2x2x4xi32, 3> to !map5
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }
}
