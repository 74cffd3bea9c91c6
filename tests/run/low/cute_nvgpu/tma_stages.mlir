// Three-dimensional boxes are copied in and out through two stages of one buffer, with cache hints.
// RUN @copy block=32 arch=tma
// DATA source = random:12x8x32xf32:1
// DATA target = zeros:10x8x32xf32
// MAP from = source box=2x8x32
// MAP to = target box=2x8x32
// EXPECT target = source[2:12]
!map = !nvgpu.tensormap.descriptor<tensor = memref<2x8x32xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
!stages = memref<2x2x8x32xf32, 3>
gpu.module @kernels {
  gpu.func @copy(%from: !map, %to: !map) workgroup(%tile: !stages {llvm.align = 128 : i64})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i2 = arith.constant 2 : index
    %i10 = arith.constant 10 : index
    %bytes = arith.constant 2048 : index
    %ticks = arith.constant 1000000 : index
    // Read once: leave the cache first. Written: stay.
    %leave = arith.constant 1364590687093260288 : i64
    %stay = arith.constant 1508705875169116160 : i64
    %bars = nvgpu.mbarrier.create -> !bars
    %elected = cute_nvgpu.elect_one
    scf.if %elected {
      nvgpu.mbarrier.init %bars[%i0], %i1 : !bars
      nvgpu.mbarrier.init %bars[%i1], %i1 : !bars
      cute_nvgpu.fence.mbarrier_init
      scf.for %n = %i0 to %i10 step %i2 {
        %number = arith.divui %n, %i2 : index
        %stage = arith.remui %number, %i2 : index
        %round = arith.divui %number, %i2 : index
        %odd = arith.remui %round, %i2 : index
        %phase = arith.cmpi eq, %odd, %i1 : index
        %at = arith.addi %n, %i2 : index
        cute_nvgpu.tma.prefetch %from[%at, %i0, %i0] cache_hint %leave : !map
        // The copy out of this stage, two iterations ago, has read it.
        cute_nvgpu.tma.wait 1 read
        nvgpu.mbarrier.arrive.expect_tx %bars[%stage], %bytes : !bars
        cute_nvgpu.tma.load %from[%at, %i0, %i0], %bars[%stage] to %tile[%stage, %i0, %i0, %i0] cache_hint %leave : !map, !bars to !stages
        nvgpu.mbarrier.try_wait.parity %bars[%stage], %phase, %ticks : !bars
        cute_nvgpu.tma.store %tile[%stage, %i0, %i0, %i0] to %to[%n, %i0, %i0] cache_hint %stay : !stages to !map
        cute_nvgpu.tma.commit
      }
      cute_nvgpu.tma.wait 0
    }
    gpu.return
  }
}
