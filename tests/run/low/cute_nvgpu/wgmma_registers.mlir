// A stays in registers, B has two stages: the second wgmma is issued while the first is in flight.
// RUN @multiply block=128 arch=wgmma
// DATA a = small:64x128xbf16:1
// DATA b = small:64x128xbf16:2
// MAP map_b = b box=64x64 swizzle=128
// ARG fragments : bf16 = a.reshape(4, 2, 8, 8, 2, 4, 2).transpose(0, 2, 5, 3, 4, 1, 6).reshape(128, 64)
// ARG out = zeros:128x32xf32
// EXPECT out = (wide_bf16(a) @ wide_bf16(b).T).reshape(4, 2, 8, 8, 4, 2).transpose(0, 2, 4, 3, 1, 5).reshape(128, 32)
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
!stages = memref<2x64x64xbf16, 3>
gpu.module @kernels {
  gpu.func @multiply(%map: !map, %fragments: memref<128x64xbf16, 1>, %out: memref<128x32xf32, 1>)
      workgroup(%b: !stages {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i32 = arith.constant 32 : index
    %i64 = arith.constant 64 : index
    %bytes = arith.constant 8192 : index
    %ticks = arith.constant 1000000 : index
    %false = arith.constant false
    %true = arith.constant true
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %i0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%i0], %i1 : !bars
      nvgpu.mbarrier.init %bars[%i1], %i1 : !bars
      cute_nvgpu.fence.mbarrier_init
      nvgpu.mbarrier.arrive.expect_tx %bars[%i0], %bytes : !bars
      cute_nvgpu.tma.load %map[%i0, %i0], %bars[%i0] to %b[%i0, %i0, %i0] : !map, !bars to !stages
      nvgpu.mbarrier.arrive.expect_tx %bars[%i1], %bytes : !bars
      cute_nvgpu.tma.load %map[%i0, %i64], %bars[%i1] to %b[%i1, %i0, %i0] : !map, !bars to !stages
    }
    gpu.barrier
    // Four steps of 16 columns a stage: eight elements of A each.
    %a0 = vector.load %fragments[%t, %i0] : memref<128x64xbf16, 1>, vector<32xbf16>
    %a1 = vector.load %fragments[%t, %i32] : memref<128x64xbf16, 1>, vector<32xbf16>
    %b0 = cute_nvgpu.wgmma.descriptor %b[%i0, %i0, %i0] swizzle_128b leading 16 stride 1024 : !stages
    %b1 = cute_nvgpu.wgmma.descriptor %b[%i1, %i0, %i0] swizzle_128b leading 16 stride 1024 : !stages
    // The first wgmma replaces the accumulator.
    %any = arith.constant dense<7.0> : vector<32xf32>
    nvgpu.mbarrier.try_wait.parity %bars[%i0], %false, %ticks : !bars
    %ready = cute_nvgpu.wgmma.fence(%any : vector<32xf32>)
    %one = cute_nvgpu.wgmma.issue %a0, %b0, %ready accumulate %false steps 4 by 0, 2 : bf16, bf16, vector<32xbf16>, vector<32xf32>
    cute_nvgpu.wgmma.commit
    nvgpu.mbarrier.try_wait.parity %bars[%i1], %false, %ticks : !bars
    %two = cute_nvgpu.wgmma.issue %a1, %b1, %one accumulate %true steps 4 by 0, 2 : bf16, bf16, vector<32xbf16>, vector<32xf32>
    cute_nvgpu.wgmma.commit
    %almost = cute_nvgpu.wgmma.wait 1, %two : vector<32xf32>
    %sums = cute_nvgpu.wgmma.wait 0, %almost : vector<32xf32>
    vector.store %sums, %out[%t, %i0] : memref<128x32xf32, 1>, vector<32xf32>
    gpu.return
  }
}
