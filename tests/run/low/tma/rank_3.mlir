// Boxes of a tensor of rank 3 through shared memory: inside of it, over its edges, and beyond them.
// RUN @copy block=32 arch=tma
// DATA source = random:5x12x32xf16:3
// DATA target = ones:2x4x16xf16
// MAP from = source box=2x4x16
// MAP to = target
// ARG x = 8
// ARG y = 4
// ARG z = 1
// ARG to_x = 0
// ARG to_y = 0
// ARG to_z = 0
// EXPECT target = source[1:3, 4:8, 8:24]
//
// RUN @copy block=32 arch=tma
// DATA source = random:5x12x32xf16:3
// DATA target = ones:2x4x16xf16
// MAP from = source box=2x4x16
// MAP to = target
// ARG x = 24
// ARG y = 10
// ARG z = -1
// ARG to_x = 0
// ARG to_y = 0
// ARG to_z = 0
// EXPECT target = np.pad(source, 16)[15:17, 26:30, 40:56]
//
// RUN @copy block=32 arch=tma
// DATA source = random:2x4x16xf16:13
// DATA target = zeros:5x12x32xf16
// MAP from = source
// MAP to = target box=2x4x16
// ARG x = 0
// ARG y = 0
// ARG z = 0
// ARG to_x = 16
// ARG to_y = 8
// ARG to_z = 3
// EXPECT target = np.pad(source, ((19, 16), (24, 16), (32, 16)))[16:21, 16:28, 16:48]
//
// RUN @copy block=32 arch=tma
// DATA source = random:2x4x16xf16:13
// DATA target = zeros:5x12x32xf16
// MAP from = source
// MAP to = target box=2x4x16
// ARG x = 0
// ARG y = 0
// ARG z = 0
// ARG to_x = 24
// ARG to_y = 10
// ARG to_z = 4
// EXPECT target = np.pad(source, ((20, 15), (26, 14), (40, 8)))[16:21, 16:28, 16:48]
!map = !nvgpu.tensormap.descriptor<tensor = memref<2x4x16xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @copy(%from: !map, %to: !map, %x: i32, %y: i32, %z: i32, %to_x: i32, %to_y: i32, %to_z: i32)
      workgroup(%tile: memref<2x4x16xf16, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 256 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    %a_x = arith.index_cast %x : i32 to index
    %a_y = arith.index_cast %y : i32 to index
    %a_z = arith.index_cast %z : i32 to index
    %b_x = arith.index_cast %to_x : i32 to index
    %b_y = arith.index_cast %to_y : i32 to index
    %b_z = arith.index_cast %to_z : i32 to index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%a_x, %a_y, %a_z], %bars[%c0] to %tile : !map, !bars -> memref<2x4x16xf16, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%b_x, %b_y, %b_z] : memref<2x4x16xf16, 3> -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}
