// wgmma of two fp8 types, once with A in registers.
// RUN @multiply block=128 arch=wgmma
// DATA a = small:64x64xf8E4M3FN:1
// DATA b = small:32x64xf8E5M2:2
// MAP map_a = a swizzle=64
// MAP map_b = b swizzle=64
// ARG fragments : f8E4M3FN = a.reshape(4, 2, 8, 2, 2, 4, 4).transpose(0, 2, 5, 3, 4, 1, 6).reshape(128, 32)
// ARG out = zeros:128x16xf32
// EXPECT out = 2 * (wide_f8E4M3FN(a) @ wide_f8E5M2(b).T).reshape(4, 2, 8, 4, 4, 2).transpose(0, 2, 4, 3, 1, 5).reshape(128, 16)
!map_a = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf8E4M3FN, 3>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
!map_b = !nvgpu.tensormap.descriptor<tensor = memref<32x64xf8E5M2, 3>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!a = memref<64x64xf8E4M3FN, 3>
!b = memref<32x64xf8E5M2, 3>
gpu.module @kernels {
  gpu.func @multiply(%map_a: !map_a, %map_b: !map_b, %fragments: memref<128x32xf8E4M3FN, 1>, %out: memref<128x16xf32, 1>)
      workgroup(%a: !a {llvm.align = 1024 : i64}, %b: !b {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %bytes = arith.constant 6144 : index
    %ticks = arith.constant 1000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %i0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%i0], %i1 : !bars
      cute_nvgpu.fence.mbarrier_init
      nvgpu.mbarrier.arrive.expect_tx %bars[%i0], %bytes : !bars
      cute_nvgpu.tma.load %map_a[%i0, %i0], %bars[%i0] to %a[%i0, %i0] : !map_a, !bars to !a
      cute_nvgpu.tma.load %map_b[%i0, %i0], %bars[%i0] to %b[%i0, %i0] : !map_b, !bars to !b
    }
    gpu.barrier
    nvgpu.mbarrier.try_wait.parity %bars[%i0], %false, %ticks : !bars
    %own = vector.load %fragments[%t, %i0] : memref<128x32xf8E4M3FN, 1>, vector<32xf8E4M3FN>
    %da = cute_nvgpu.wgmma.descriptor %a[%i0, %i0] swizzle_64b leading 16 stride 512 : !a
    %db = cute_nvgpu.wgmma.descriptor %b[%i0, %i0] swizzle_64b leading 16 stride 512 : !b
    %zeros = arith.constant dense<0.0> : vector<16xf32>
    %s0 = cute_nvgpu.wgmma.fence(%zeros : vector<16xf32>)
    %s1 = cute_nvgpu.wgmma.issue %da, %db, %s0 steps 2 by 2, 2 : f8E4M3FN, f8E5M2, i64, vector<16xf32>
    %s2 = cute_nvgpu.wgmma.issue %own, %db, %s1 steps 2 by 0, 2 : f8E4M3FN, f8E5M2, vector<32xf8E4M3FN>, vector<16xf32>
    cute_nvgpu.wgmma.commit
    %sums = cute_nvgpu.wgmma.wait 0, %s2 : vector<16xf32>
    vector.store %sums, %out[%t, %i0] : memref<128x16xf32, 1>, vector<16xf32>
    gpu.return
  }
}
