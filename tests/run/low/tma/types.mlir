// Boxes of every element type; out-of-bounds elements are zero, or NaN if the map says so.
// RUN @copy_i8 block=32 arch=tma
// DATA source = random:8x64xi8:1
// DATA target = ones:8x64xi8
// MAP from = source
// MAP to = target
// EXPECT target = np.append(source[4:], np.zeros_like(source[4:]), axis=0)
//
// RUN @copy_f8E5M2 block=32 arch=tma
// DATA source = random:8x64xf8E5M2:1
// DATA target = ones:8x64xf8E5M2
// MAP from = source
// MAP to = target
// EXPECT target = np.append(source[4:], np.zeros_like(source[4:]), axis=0)
//
// RUN @copy_i16 block=32 arch=tma
// DATA source = random:8x32xi16:2
// DATA target = ones:8x32xi16
// MAP from = source
// MAP to = target
// EXPECT target = np.append(source[4:], np.zeros_like(source[4:]), axis=0)
//
// RUN @copy_f16 block=32 arch=tma
// DATA source = random:8x32xf16:2
// DATA target = ones:8x32xf16
// MAP from = source
// MAP to = target
// EXPECT target = np.append(source[4:], np.zeros_like(source[4:]), axis=0)
//
// RUN @copy_bf16 block=32 arch=tma
// DATA source = random:8x32xbf16:2
// DATA target = ones:8x32xbf16
// MAP from = source
// MAP to = target
// EXPECT target = np.append(source[4:], np.zeros_like(source[4:]), axis=0)
//
// RUN @copy_i32 block=32 arch=tma
// DATA source = random:8x16xi32:4
// DATA target = ones:8x16xi32
// MAP from = source
// MAP to = target
// EXPECT target = np.append(source[4:], np.zeros_like(source[4:]), axis=0)
//
// RUN @copy_f32 block=32 arch=tma
// DATA source = random:8x16xf32:4
// DATA target = ones:8x16xf32
// MAP from = source
// MAP to = target
// EXPECT target = np.append(source[4:], np.zeros_like(source[4:]), axis=0)
//
// RUN @copy_i64 block=32 arch=tma
// DATA source = random:8x8xi64:8
// DATA target = ones:8x8xi64
// MAP from = source
// MAP to = target
// EXPECT target = np.append(source[4:], np.zeros_like(source[4:]), axis=0)
//
// RUN @copy_f64 block=32 arch=tma
// DATA source = random:8x8xf64:8
// DATA target = ones:8x8xf64
// MAP from = source
// MAP to = target
// EXPECT target = np.append(source[4:], np.zeros_like(source[4:]), axis=0)
//
// RUN @copy_f16 block=32 arch=tma
// DATA source = random:8x32xf16:2
// DATA target = ones:8x32xf16
// MAP from = source fill=nan
// MAP to = target
// EXPECT target = np.append(source[4:], np.full_like(source[4:], np.nan), axis=0)
//
// RUN @copy_bf16 block=32 arch=tma
// DATA source = random:8x32xbf16:2
// DATA target = ones:8x32xbf16
// MAP from = source fill=nan
// MAP to = target
// EXPECT target = np.append(source[4:], np.full_like(source[4:], np.nan), axis=0)
//
// RUN @copy_f32 block=32 arch=tma
// DATA source = random:8x16xf32:4
// DATA target = ones:8x16xf32
// MAP from = source fill=nan
// MAP to = target
// EXPECT target = np.append(source[4:], np.full_like(source[4:], np.nan), axis=0)
//
// RUN @copy_f64 block=32 arch=tma
// DATA source = random:8x8xf64:8
// DATA target = ones:8x8xf64
// MAP from = source fill=nan
// MAP to = target
// EXPECT target = np.append(source[4:], np.full_like(source[4:], np.nan), axis=0)
!map_i8 = !nvgpu.tensormap.descriptor<tensor = memref<8x64xi8, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map_f8E5M2 = !nvgpu.tensormap.descriptor<tensor = memref<8x64xf8E5M2, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map_i16 = !nvgpu.tensormap.descriptor<tensor = memref<8x32xi16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map_f16 = !nvgpu.tensormap.descriptor<tensor = memref<8x32xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map_bf16 = !nvgpu.tensormap.descriptor<tensor = memref<8x32xbf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map_i32 = !nvgpu.tensormap.descriptor<tensor = memref<8x16xi32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map_f32 = !nvgpu.tensormap.descriptor<tensor = memref<8x16xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map_i64 = !nvgpu.tensormap.descriptor<tensor = memref<8x8xi64, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map_f64 = !nvgpu.tensormap.descriptor<tensor = memref<8x8xf64, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @copy_i8(%from: !map_i8, %to: !map_i8)
      workgroup(%tile: memref<8x64xi8, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c4], %bars[%c0] to %tile : !map_i8, !bars -> memref<8x64xi8, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%c0, %c0] : memref<8x64xi8, 3> -> !map_i8
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  gpu.func @copy_f8E5M2(%from: !map_f8E5M2, %to: !map_f8E5M2)
      workgroup(%tile: memref<8x64xf8E5M2, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c4], %bars[%c0] to %tile : !map_f8E5M2, !bars -> memref<8x64xf8E5M2, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%c0, %c0] : memref<8x64xf8E5M2, 3> -> !map_f8E5M2
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  gpu.func @copy_i16(%from: !map_i16, %to: !map_i16)
      workgroup(%tile: memref<8x32xi16, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c4], %bars[%c0] to %tile : !map_i16, !bars -> memref<8x32xi16, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%c0, %c0] : memref<8x32xi16, 3> -> !map_i16
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  gpu.func @copy_f16(%from: !map_f16, %to: !map_f16)
      workgroup(%tile: memref<8x32xf16, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c4], %bars[%c0] to %tile : !map_f16, !bars -> memref<8x32xf16, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%c0, %c0] : memref<8x32xf16, 3> -> !map_f16
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  gpu.func @copy_bf16(%from: !map_bf16, %to: !map_bf16)
      workgroup(%tile: memref<8x32xbf16, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c4], %bars[%c0] to %tile : !map_bf16, !bars -> memref<8x32xbf16, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%c0, %c0] : memref<8x32xbf16, 3> -> !map_bf16
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  gpu.func @copy_i32(%from: !map_i32, %to: !map_i32)
      workgroup(%tile: memref<8x16xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c4], %bars[%c0] to %tile : !map_i32, !bars -> memref<8x16xi32, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%c0, %c0] : memref<8x16xi32, 3> -> !map_i32
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  gpu.func @copy_f32(%from: !map_f32, %to: !map_f32)
      workgroup(%tile: memref<8x16xf32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c4], %bars[%c0] to %tile : !map_f32, !bars -> memref<8x16xf32, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%c0, %c0] : memref<8x16xf32, 3> -> !map_f32
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  gpu.func @copy_i64(%from: !map_i64, %to: !map_i64)
      workgroup(%tile: memref<8x8xi64, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c4], %bars[%c0] to %tile : !map_i64, !bars -> memref<8x8xi64, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%c0, %c0] : memref<8x8xi64, 3> -> !map_i64
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  gpu.func @copy_f64(%from: !map_f64, %to: !map_f64)
      workgroup(%tile: memref<8x8xf64, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%c0, %c4], %bars[%c0] to %tile : !map_f64, !bars -> memref<8x8xf64, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%c0, %c0] : memref<8x8xf64, 3> -> !map_f64
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}
