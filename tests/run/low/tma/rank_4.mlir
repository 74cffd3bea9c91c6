// Boxes of a tensor of rank 4 through shared memory: inside of it, over its edges, and beyond them.
// RUN @copy block=32 arch=tma
// DATA source = random:3x4x6x24xbf16:4
// DATA target = ones:2x2x3x16xbf16
// MAP from = source box=2x2x3x16
// MAP to = target
// ARG x = 8
// ARG y = 3
// ARG z = 2
// ARG w = 1
// ARG to_x = 0
// ARG to_y = 0
// ARG to_z = 0
// ARG to_w = 0
// EXPECT target = source[1:3, 2:4, 3:6, 8:24]
//
// RUN @copy block=32 arch=tma
// DATA source = random:3x4x6x24xbf16:4
// DATA target = ones:2x2x3x16xbf16
// MAP from = source box=2x2x3x16
// MAP to = target
// ARG x = -8
// ARG y = 5
// ARG z = -1
// ARG w = 2
// ARG to_x = 0
// ARG to_y = 0
// ARG to_z = 0
// ARG to_w = 0
// EXPECT target = np.pad(source, 16)[18:20, 15:17, 21:24, 8:24]
//
// RUN @copy block=32 arch=tma
// DATA source = random:2x2x3x16xbf16:14
// DATA target = zeros:3x4x6x24xbf16
// MAP from = source
// MAP to = target box=2x2x3x16
// ARG x = 0
// ARG y = 0
// ARG z = 0
// ARG w = 0
// ARG to_x = 8
// ARG to_y = 3
// ARG to_z = 2
// ARG to_w = 1
// EXPECT target = np.pad(source, ((17, 16), (18, 16), (19, 16), (24, 16)))[16:19, 16:20, 16:22, 16:40]
//
// RUN @copy block=32 arch=tma
// DATA source = random:2x2x3x16xbf16:14
// DATA target = zeros:3x4x6x24xbf16
// MAP from = source
// MAP to = target box=2x2x3x16
// ARG x = 0
// ARG y = 0
// ARG z = 0
// ARG w = 0
// ARG to_x = 16
// ARG to_y = 4
// ARG to_z = 3
// ARG to_w = 2
// EXPECT target = np.pad(source, ((18, 15), (19, 15), (20, 15), (32, 8)))[16:19, 16:20, 16:22, 16:40]
!map = !nvgpu.tensormap.descriptor<tensor = memref<2x2x3x16xbf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @copy(%from: !map, %to: !map, %x: i32, %y: i32, %z: i32, %w: i32, %to_x: i32, %to_y: i32, %to_z: i32, %to_w: i32)
      workgroup(%tile: memref<2x2x3x16xbf16, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 384 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    %a_x = arith.index_cast %x : i32 to index
    %a_y = arith.index_cast %y : i32 to index
    %a_z = arith.index_cast %z : i32 to index
    %a_w = arith.index_cast %w : i32 to index
    %b_x = arith.index_cast %to_x : i32 to index
    %b_y = arith.index_cast %to_y : i32 to index
    %b_z = arith.index_cast %to_z : i32 to index
    %b_w = arith.index_cast %to_w : i32 to index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%a_x, %a_y, %a_z, %a_w], %bars[%c0] to %tile : !map, !bars -> memref<2x2x3x16xbf16, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%b_x, %b_y, %b_z, %b_w] : memref<2x2x3x16xbf16, 3> -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}
