// A tile of A * B by a warpgroup: tensor copies load the matrices, whose descriptors follow from the tensor maps. A
// has two boxes side by side; B is N-major, and wgmma transposes it.
// RUN @gemm block=128 arch=wgmma
// DATA a = small:64x128xf16:1
// DATA b = small:128x64xf16:2
// MAP map_a = a box=64x64 swizzle=128
// MAP map_b = b swizzle=128
// ARG c = zeros:64x64xf32
// EXPECT c = wide_f16(a) @ wide_f16(b)
!map_a = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!map_b = !nvgpu.tensormap.descriptor<tensor = memref<128x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!barrier = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!a = !nvgpu.warpgroup.descriptor<tensor = memref<64x128xf16, 3>>
!b = !nvgpu.warpgroup.descriptor<tensor = memref<128x64xf16, 3>>
!sum = !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
gpu.module @kernels {
  gpu.func @gemm(%map_a: !map_a, %map_b: !map_b, %c: memref<64x64xf32, 1>)
      workgroup(%sa: memref<2x64x64xf16, 3> {llvm.align = 1024 : i64}, %sb: memref<128x64xf16, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %bytes = arith.constant 32768 : index
    %ticks = arith.constant 10000000 : index
    %false = arith.constant false
    %left = memref.subview %sa[0, 0, 0] [1, 64, 64] [1, 1, 1]
        : memref<2x64x64xf16, 3> to memref<64x64xf16, 3>
    %right = memref.subview %sa[1, 0, 0] [1, 64, 64] [1, 1, 1]
        : memref<2x64x64xf16, 3> to memref<64x64xf16, strided<[64, 1], offset: 4096>, 3>
    %arrived = nvgpu.mbarrier.create -> !barrier
    %tid = gpu.thread_id x
    %first = arith.cmpi eq, %tid, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %arrived[%c0], %c1 : !barrier
      nvvm.fence.mbarrier.init
      nvgpu.mbarrier.arrive.expect_tx %arrived[%c0], %bytes : !barrier
      nvgpu.tma.async.load %map_a[%c0, %c0], %arrived[%c0] to %left : !map_a, !barrier -> memref<64x64xf16, 3>
      nvgpu.tma.async.load %map_a[%c64, %c0], %arrived[%c0] to %right : !map_a, !barrier -> memref<64x64xf16, strided<[64, 1], offset: 4096>, 3>
      nvgpu.tma.async.load %map_b[%c0, %c0], %arrived[%c0] to %sb : !map_b, !barrier -> memref<128x64xf16, 3>
    }
    gpu.barrier
    nvgpu.mbarrier.try_wait.parity %arrived[%c0], %false, %ticks : !barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa, %map_a : memref<2x64x64xf16, 3>, !map_a -> !a
    %db = nvgpu.warpgroup.generate.descriptor %sb, %map_b : memref<128x64xf16, 3>, !map_b -> !b
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !sum
    %sum = nvgpu.warpgroup.mma %da, %db, %zero {transposeB} : !a, !b, !sum -> !sum
    nvgpu.warpgroup.mma.store %sum, %c : !sum to memref<64x64xf32, 1>
    gpu.return
  }
}
