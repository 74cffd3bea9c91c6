// Reductions of floats, by several blocks at once; small integers accumulate exactly in every order.
// RUN @add_f32 grid=3 block=32 arch=tma
// DATA box = small:4x32xf32:1
// DATA tensor = small:4x32xf32:2
// MAP from = box
// MAP to = tensor
// EXPECT tensor = wide_f32(tensor) + 3 * wide_f32(box)
//
// RUN @add_f16 grid=3 block=32 arch=tma
// DATA box = small:4x32xf16:1
// DATA tensor = small:4x32xf16:2
// MAP from = box
// MAP to = tensor
// EXPECT tensor = wide_f16(tensor) + 3 * wide_f16(box)
//
// RUN @add_bf16 grid=3 block=32 arch=tma
// DATA box = small:4x32xbf16:1
// DATA tensor = small:4x32xbf16:2
// MAP from = box
// MAP to = tensor
// EXPECT tensor = wide_bf16(tensor) + 3 * wide_bf16(box)
//
// RUN @min_f16 grid=3 block=32 arch=tma
// DATA box = small:4x32xf16:1
// DATA tensor = small:4x32xf16:2
// MAP from = box
// MAP to = tensor
// EXPECT tensor = np.minimum(wide_f16(tensor), wide_f16(box))
//
// RUN @max_f16 grid=3 block=32 arch=tma
// DATA box = small:4x32xf16:1
// DATA tensor = small:4x32xf16:2
// MAP from = box
// MAP to = tensor
// EXPECT tensor = np.maximum(wide_f16(tensor), wide_f16(box))
//
// RUN @min_bf16 grid=3 block=32 arch=tma
// DATA box = small:4x32xbf16:1
// DATA tensor = small:4x32xbf16:2
// MAP from = box
// MAP to = tensor
// EXPECT tensor = np.minimum(wide_bf16(tensor), wide_bf16(box))
//
// RUN @max_bf16 grid=3 block=32 arch=tma
// DATA box = small:4x32xbf16:1
// DATA tensor = small:4x32xbf16:2
// MAP from = box
// MAP to = tensor
// EXPECT tensor = np.maximum(wide_bf16(tensor), wide_bf16(box))
!map_f16 = !nvgpu.tensormap.descriptor<tensor = memref<4x32xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map_bf16 = !nvgpu.tensormap.descriptor<tensor = memref<4x32xbf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map_f32 = !nvgpu.tensormap.descriptor<tensor = memref<4x32xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @add_f32(%from: !map_f32, %to: !map_f32)
      workgroup(%tile: memref<4x32xf32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %hint = arith.constant 0x1000000000000000 : i64
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0], %bars[%c0] to %tile : !map_f32, !bars -> memref<4x32xf32, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      cute_nvgpu.tma.reduce add %tile[%c0, %c0] to %to[%c0, %c0] cache_hint %hint : memref<4x32xf32, 3> to !map_f32
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @add_f16(%from: !map_f16, %to: !map_f16)
      workgroup(%tile: memref<4x32xf16, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 256 : index
    %ticks = arith.constant 10000000 : index
    %hint = arith.constant 0x1000000000000000 : i64
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0], %bars[%c0] to %tile : !map_f16, !bars -> memref<4x32xf16, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      cute_nvgpu.tma.reduce add %tile[%c0, %c0] to %to[%c0, %c0] cache_hint %hint : memref<4x32xf16, 3> to !map_f16
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @add_bf16(%from: !map_bf16, %to: !map_bf16)
      workgroup(%tile: memref<4x32xbf16, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 256 : index
    %ticks = arith.constant 10000000 : index
    %hint = arith.constant 0x1000000000000000 : i64
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0], %bars[%c0] to %tile : !map_bf16, !bars -> memref<4x32xbf16, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      cute_nvgpu.tma.reduce add %tile[%c0, %c0] to %to[%c0, %c0] cache_hint %hint : memref<4x32xbf16, 3> to !map_bf16
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @min_f16(%from: !map_f16, %to: !map_f16)
      workgroup(%tile: memref<4x32xf16, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 256 : index
    %ticks = arith.constant 10000000 : index
    %hint = arith.constant 0x1000000000000000 : i64
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0], %bars[%c0] to %tile : !map_f16, !bars -> memref<4x32xf16, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      cute_nvgpu.tma.reduce min %tile[%c0, %c0] to %to[%c0, %c0] cache_hint %hint : memref<4x32xf16, 3> to !map_f16
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @max_f16(%from: !map_f16, %to: !map_f16)
      workgroup(%tile: memref<4x32xf16, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 256 : index
    %ticks = arith.constant 10000000 : index
    %hint = arith.constant 0x1000000000000000 : i64
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0], %bars[%c0] to %tile : !map_f16, !bars -> memref<4x32xf16, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      cute_nvgpu.tma.reduce max %tile[%c0, %c0] to %to[%c0, %c0] cache_hint %hint : memref<4x32xf16, 3> to !map_f16
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @min_bf16(%from: !map_bf16, %to: !map_bf16)
      workgroup(%tile: memref<4x32xbf16, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 256 : index
    %ticks = arith.constant 10000000 : index
    %hint = arith.constant 0x1000000000000000 : i64
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0], %bars[%c0] to %tile : !map_bf16, !bars -> memref<4x32xbf16, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      cute_nvgpu.tma.reduce min %tile[%c0, %c0] to %to[%c0, %c0] cache_hint %hint : memref<4x32xbf16, 3> to !map_bf16
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }

  gpu.func @max_bf16(%from: !map_bf16, %to: !map_bf16)
      workgroup(%tile: memref<4x32xbf16, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 256 : index
    %ticks = arith.constant 10000000 : index
    %hint = arith.constant 0x1000000000000000 : i64
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c0], %bars[%c0] to %tile : !map_bf16, !bars -> memref<4x32xbf16, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      cute_nvgpu.tma.reduce max %tile[%c0, %c0] to %to[%c0, %c0] cache_hint %hint : memref<4x32xbf16, 3> to !map_bf16
      cute_nvgpu.tma.commit
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }
}
