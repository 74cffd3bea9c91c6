// Boxes of a tensor of rank 5 through shared memory: inside of it, over its edges, and beyond them.
// RUN @copy block=32 arch=tma
// DATA source = random:3x3x4x4x12xi32:5
// DATA target = ones:2x2x2x2x8xi32
// MAP from = source box=2x2x2x2x8
// MAP to = target
// ARG x = 4
// ARG y = 2
// ARG z = 2
// ARG w = 1
// ARG v = 1
// ARG to_x = 0
// ARG to_y = 0
// ARG to_z = 0
// ARG to_w = 0
// ARG to_v = 0
// EXPECT target = source[1:3, 1:3, 2:4, 2:4, 4:12]
//
// RUN @copy block=32 arch=tma
// DATA source = random:3x3x4x4x12xi32:5
// DATA target = ones:2x2x2x2x8xi32
// MAP from = source box=2x2x2x2x8
// MAP to = target
// ARG x = -4
// ARG y = -1
// ARG z = 3
// ARG w = -1
// ARG v = 2
// ARG to_x = 0
// ARG to_y = 0
// ARG to_z = 0
// ARG to_w = 0
// ARG to_v = 0
// EXPECT target = np.pad(source, 8)[10:12, 7:9, 11:13, 7:9, 4:12]
//
// RUN @copy block=32 arch=tma
// DATA source = random:2x2x2x2x8xi32:15
// DATA target = zeros:3x3x4x4x12xi32
// MAP from = source
// MAP to = target box=2x2x2x2x8
// ARG x = 0
// ARG y = 0
// ARG z = 0
// ARG w = 0
// ARG v = 0
// ARG to_x = 4
// ARG to_y = 1
// ARG to_z = 2
// ARG to_w = 0
// ARG to_v = 1
// EXPECT target = np.pad(source, ((9, 8), (8, 9), (10, 8), (9, 9), (12, 8)))[8:11, 8:11, 8:12, 8:12, 8:20]
//
// RUN @copy block=32 arch=tma
// DATA source = random:2x2x2x2x8xi32:15
// DATA target = zeros:3x3x4x4x12xi32
// MAP from = source
// MAP to = target box=2x2x2x2x8
// ARG x = 0
// ARG y = 0
// ARG z = 0
// ARG w = 0
// ARG v = 0
// ARG to_x = 8
// ARG to_y = 3
// ARG to_z = 3
// ARG to_w = 2
// ARG to_v = 2
// EXPECT target = np.pad(source, ((10, 7), (10, 7), (11, 7), (11, 7), (16, 4)))[8:11, 8:11, 8:12, 8:12, 8:20]
!map = !nvgpu.tensormap.descriptor<tensor = memref<2x2x2x2x8xi32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @copy(%from: !map, %to: !map, %x: i32, %y: i32, %z: i32, %w: i32, %v: i32, %to_x: i32, %to_y: i32, %to_z: i32, %to_w: i32, %to_v: i32)
      workgroup(%tile: memref<2x2x2x2x8xi32, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    %a_x = arith.index_cast %x : i32 to index
    %a_y = arith.index_cast %y : i32 to index
    %a_z = arith.index_cast %z : i32 to index
    %a_w = arith.index_cast %w : i32 to index
    %a_v = arith.index_cast %v : i32 to index
    %b_x = arith.index_cast %to_x : i32 to index
    %b_y = arith.index_cast %to_y : i32 to index
    %b_z = arith.index_cast %to_z : i32 to index
    %b_w = arith.index_cast %to_w : i32 to index
    %b_v = arith.index_cast %to_v : i32 to index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%a_x, %a_y, %a_z, %a_w, %a_v], %bars[%c0] to %tile : !map, !bars -> memref<2x2x2x2x8xi32, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%b_x, %b_y, %b_z, %b_w, %b_v] : memref<2x2x2x2x8xi32, 3> -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}
