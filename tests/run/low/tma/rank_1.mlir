// Boxes of a tensor of rank 1 through shared memory: inside of it, over its edges, and beyond them.
// RUN @copy block=32 arch=tma
// DATA source = random:208xi8:1
// DATA target = ones:64xi8
// MAP from = source box=64
// MAP to = target
// ARG x = 48
// ARG to_x = 0
// EXPECT target = source[48:112]
//
// RUN @copy block=32 arch=tma
// DATA source = random:208xi8:1
// DATA target = ones:64xi8
// MAP from = source box=64
// MAP to = target
// ARG x = -16
// ARG to_x = 0
// EXPECT target = np.pad(source, 64)[48:112]
//
// RUN @copy block=32 arch=tma
// DATA source = random:208xi8:1
// DATA target = ones:64xi8
// MAP from = source box=64
// MAP to = target
// ARG x = 176
// ARG to_x = 0
// EXPECT target = np.pad(source, 64)[240:304]
//
// RUN @copy block=32 arch=tma
// DATA source = random:64xi8:11
// DATA target = zeros:208xi8
// MAP from = source
// MAP to = target box=64
// ARG x = 0
// ARG to_x = 0
// EXPECT target = np.pad(source, ((64, 208),))[64:272]
//
// RUN @copy block=32 arch=tma
// DATA source = random:64xi8:11
// DATA target = zeros:208xi8
// MAP from = source
// MAP to = target box=64
// ARG x = 0
// ARG to_x = 160
// EXPECT target = np.pad(source, ((224, 48),))[64:272]
!map = !nvgpu.tensormap.descriptor<tensor = memref<64xi8, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @copy(%from: !map, %to: !map, %x: i32, %to_x: i32)
      workgroup(%tile: memref<64xi8, 3> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 64 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    %a_x = arith.index_cast %x : i32 to index
    %b_x = arith.index_cast %to_x : i32 to index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
      nvgpu.tma.async.load %from[%a_x], %bars[%c0] to %tile : !map, !bars -> memref<64xi8, 3>
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
      nvgpu.tma.async.store %tile to %to[%b_x] : memref<64xi8, 3> -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}
