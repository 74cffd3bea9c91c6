// A * B in tiles of 64 by 64, a block for each; the accumulator is carried by a loop over K.
// RUN @gemm grid=2x3 block=128 arch=wgmma
// ARG a = small:192x256xf16:1
// ARG b = small:128x256xf16:2
// ARG c = zeros:192x128xf32
// EXPECT c = wide_f16(a) @ wide_f16(b).T
// RUN @gemm grid=2x3 block=128 arch=wgmma
// ARG a = random:192x256xf16:3
// ARG b = random:128x256xf16:4
// ARG c = zeros:192x128xf32
// EXPECT c ~ 256 * u_f32 * (abs(wide_f16(a)) @ abs(wide_f16(b).T)) : wide_f16(a) @ wide_f16(b).T
!a = !nvgpu.warpgroup.descriptor<tensor = memref<64x64xf16, 3>>
!b = !nvgpu.warpgroup.descriptor<tensor = memref<64x64xf16, 3>>
!sum = !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
!part = memref<64x64xf32, strided<[128, 1], offset: ?>, 1>
gpu.module @kernels {
  gpu.func @gemm(%a: memref<192x256xf16, 1>, %b: memref<128x256xf16, 1>, %c: memref<192x128xf32, 1>)
      workgroup(%sa: memref<64x64xf16, 3> {llvm.align = 1024 : i64}, %sb: memref<64x64xf16, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %c512 = arith.constant 512 : index
    %tid = gpu.thread_id x
    %across = gpu.block_id x
    %down = gpu.block_id y
    %first_row = arith.muli %down, %c64 : index
    %first_column = arith.muli %across, %c64 : index
    %none = nvgpu.warpgroup.mma.init.accumulator -> !sum
    %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%before = %none) -> (!sum) {
      // Rows of 128 bytes, in which chunks of 16 bytes are swizzled.
      scf.for %i = %tid to %c512 step %c128 {
        %row = arith.divui %i, %c8 : index
        %piece = arith.remui %i, %c8 : index
        %turn = arith.remui %row, %c8 : index
        %place = arith.xori %piece, %turn : index
        %to = arith.muli %place, %c8 : index
        %start = arith.muli %piece, %c8 : index
        %from = arith.addi %k, %start : index
        %row_a = arith.addi %first_row, %row : index
        %row_b = arith.addi %first_column, %row : index
        %x = vector.load %a[%row_a, %from] {alignment = 16 : i64} : memref<192x256xf16, 1>, vector<8xf16>
        %y = vector.load %b[%row_b, %from] {alignment = 16 : i64} : memref<128x256xf16, 1>, vector<8xf16>
        vector.store %x, %sa[%row, %to] {alignment = 16 : i64} : memref<64x64xf16, 3>, vector<8xf16>
        vector.store %y, %sb[%row, %to] {alignment = 16 : i64} : memref<64x64xf16, 3>, vector<8xf16>
      }
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      %da = nvgpu.warpgroup.generate.descriptor %sa
          {leading_byte_offset = 16 : i64, matrix_stride = 1024 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_128b>}
          : memref<64x64xf16, 3> -> !a
      %db = nvgpu.warpgroup.generate.descriptor %sb
          {leading_byte_offset = 16 : i64, matrix_stride = 1024 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_128b>}
          : memref<64x64xf16, 3> -> !b
      %after = nvgpu.warpgroup.mma %da, %db, %before : !a, !b, !sum -> !sum
      // The wgmma is done; no thread fills the buffers again before all threads know.
      gpu.barrier
      scf.yield %after : !sum
    }
    %part = memref.subview %c[%first_row, %first_column] [64, 64] [1, 1] : memref<192x128xf32, 1> to !part
    nvgpu.warpgroup.mma.store %sum, %part : !sum to !part
    gpu.return
  }
}
