// Two accumulators share one fence and one wait: f16, and negated with transposed A and B.
// RUN @multiply block=128 arch=wgmma
// DATA a = small:64x64xf16:1
// DATA b = small:64x64xf16:2
// MAP map_a = a swizzle=128
// MAP map_b = b swizzle=128
// ARG plain = zeros:128x32xf16
// ARG other = zeros:128x32xf32
// EXPECT plain = (wide_f16(a) @ wide_f16(b).T).reshape(4, 2, 8, 8, 4, 2).transpose(0, 2, 4, 3, 1, 5).reshape(128, 32)
// EXPECT other = 1 - (wide_f16(a).T @ wide_f16(b)).reshape(4, 2, 8, 8, 4, 2).transpose(0, 2, 4, 3, 1, 5).reshape(128, 32)
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!tile = memref<64x64xf16, 3>
gpu.module @kernels {
  gpu.func @multiply(%map_a: !map, %map_b: !map, %plain: memref<128x32xf16, 1>, %other: memref<128x32xf32, 1>)
      workgroup(%a: !tile {llvm.align = 1024 : i64}, %b: !tile {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %bytes = arith.constant 16384 : index
    %ticks = arith.constant 1000000 : index
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %i0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%i0], %i1 : !bars
      cute_nvgpu.fence.mbarrier_init
      nvgpu.mbarrier.arrive.expect_tx %bars[%i0], %bytes : !bars
      cute_nvgpu.tma.load %map_a[%i0, %i0], %bars[%i0] to %a[%i0, %i0] : !map, !bars to !tile
      cute_nvgpu.tma.load %map_b[%i0, %i0], %bars[%i0] to %b[%i0, %i0] : !map, !bars to !tile
    }
    gpu.barrier
    nvgpu.mbarrier.try_wait.parity %bars[%i0], %false, %ticks : !bars
    %da = cute_nvgpu.wgmma.descriptor %a[%i0, %i0] swizzle_128b leading 16 stride 1024 : !tile
    %db = cute_nvgpu.wgmma.descriptor %b[%i0, %i0] swizzle_128b leading 16 stride 1024 : !tile
    %zeros = arith.constant dense<0.0> : vector<32xf16>
    %ones = arith.constant dense<1.0> : vector<32xf32>
    %x0, %y0 = cute_nvgpu.wgmma.fence(%zeros, %ones : vector<32xf16>, vector<32xf32>)
    %x1 = cute_nvgpu.wgmma.issue %da, %db, %x0 steps 4 by 2, 2 : f16, f16, i64, vector<32xf16>
    cute_nvgpu.wgmma.commit
    // Transposed, a step is 16 rows of 128 bytes further on.
    %y1 = cute_nvgpu.wgmma.issue %da, %db, %y0 steps 4 by 128, 128 {transpose_a, transpose_b, negate_a} : f16, f16, i64, vector<32xf32>
    cute_nvgpu.wgmma.commit
    %x, %y = cute_nvgpu.wgmma.wait 0, %x1, %y1 : vector<32xf16>, vector<32xf32>
    vector.store %x, %plain[%t, %i0] : memref<128x32xf16, 1>, vector<32xf16>
    vector.store %y, %other[%t, %i0] : memref<128x32xf32, 1>, vector<32xf32>
    gpu.return
  }
}
