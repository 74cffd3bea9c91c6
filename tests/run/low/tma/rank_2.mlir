// Boxes of a tensor of rank 2 through shared memory: inside of it, over its edges, and beyond them.
// RUN @copy block=32 arch=tma
// DATA source = random:24x40xf32:2
// DATA target = ones:8x16xf32
// MAP from = source box=8x16
// MAP to = target
// ARG x = 8
// ARG y = 4
// ARG to_x = 0
// ARG to_y = 0
// EXPECT target = source[4:12, 8:24]
//
// RUN @copy block=32 arch=tma
// DATA source = random:24x40xf32:2
// DATA target = ones:8x16xf32
// MAP from = source box=8x16
// MAP to = target
// ARG x = 32
// ARG y = -3
// ARG to_x = 0
// ARG to_y = 0
// EXPECT target = np.pad(source, 16)[13:21, 48:64]
//
// RUN @copy block=32 arch=tma
// DATA source = random:24x40xf32:2
// DATA target = ones:8x16xf32
// MAP from = source box=8x16
// MAP to = target
// ARG x = -8
// ARG y = 20
// ARG to_x = 0
// ARG to_y = 0
// EXPECT target = np.pad(source, 16)[36:44, 8:24]
//
// RUN @copy block=32 arch=tma
// DATA source = random:8x16xf32:12
// DATA target = zeros:24x40xf32
// MAP from = source
// MAP to = target box=8x16
// ARG x = 0
// ARG y = 0
// ARG to_x = 8
// ARG to_y = 4
// EXPECT target = np.pad(source, ((20, 28), (24, 32)))[16:40, 16:56]
//
// RUN @copy block=32 arch=tma
// DATA source = random:8x16xf32:12
// DATA target = zeros:24x40xf32
// MAP from = source
// MAP to = target box=8x16
// ARG x = 0
// ARG y = 0
// ARG to_x = 32
// ARG to_y = 20
// EXPECT target = np.pad(source, ((36, 12), (48, 8)))[16:40, 16:56]
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x16xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @copy(%from: !map, %to: !map, %x: i32, %y: i32, %to_x: i32, %to_y: i32)
      workgroup(%tile: memref<8x16xf32, 3> {llvm.align = 128 : i64}) kernel
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
    %b_x = arith.index_cast %to_x : i32 to index
    %b_y = arith.index_cast %to_y : i32 to index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%a_x, %a_y], %bars[%c0] to %tile : !map, !bars -> memref<8x16xf32, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%b_x, %b_y] : memref<8x16xf32, 3> -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}
