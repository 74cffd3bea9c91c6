// A tile of A * B by a warpgroup: bf16, two boxes of 64 columns side by side.
// RUN @gemm block=128 arch=wgmma
// ARG a = small:64x128xbf16:1
// ARG b = small:128x128xbf16:2
// ARG c = zeros:64x128xf32
// EXPECT c = wide_bf16(a) @ wide_bf16(b).T
// RUN @gemm block=128 arch=wgmma
// ARG a = random:64x128xbf16:1
// ARG b = random:128x128xbf16:2
// ARG c = zeros:64x128xf32
// EXPECT c ~ 128 * u_f32 * (abs(wide_bf16(a)) @ abs(wide_bf16(b).T)) : wide_bf16(a) @ wide_bf16(b).T
gpu.module @kernels {
  gpu.func @gemm(%a: memref<64x128xbf16, 1>, %b: memref<128x128xbf16, 1>, %c: memref<64x128xf32, 1>)
      workgroup(%sa: memref<2x64x64xbf16, 3> {llvm.align = 1024 : i64}, %sb: memref<2x128x64xbf16, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c8 = arith.constant 8 : index
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    %count_a = arith.constant 1024 : index
    %pieces_a = arith.constant 16 : index
    %span_a = arith.constant 8 : index
    %per_a = arith.constant 8 : index
    scf.for %i = %tid to %count_a step %threads {
      %row = arith.divui %i, %pieces_a : index
      %number = arith.remui %i, %pieces_a : index
      %box = arith.divui %number, %span_a : index
      %piece = arith.remui %number, %span_a : index
      %from = arith.muli %number, %per_a : index
      %turn = arith.remui %row, %c8 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per_a : index
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<64x128xbf16, 1>, vector<8xbf16>
      vector.store %x, %sa[%box, %row, %to] {alignment = 16 : i64} : memref<2x64x64xbf16, 3>, vector<8xbf16>
    }
    %count_b = arith.constant 2048 : index
    %pieces_b = arith.constant 16 : index
    %span_b = arith.constant 8 : index
    %per_b = arith.constant 8 : index
    scf.for %i = %tid to %count_b step %threads {
      %row = arith.divui %i, %pieces_b : index
      %number = arith.remui %i, %pieces_b : index
      %box = arith.divui %number, %span_b : index
      %piece = arith.remui %number, %span_b : index
      %from = arith.muli %number, %per_b : index
      %turn = arith.remui %row, %c8 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per_b : index
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<128x128xbf16, 1>, vector<8xbf16>
      vector.store %x, %sb[%box, %row, %to] {alignment = 16 : i64} : memref<2x128x64xbf16, 3>, vector<8xbf16>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa
        {leading_byte_offset = 8192 : i64, matrix_stride = 1024 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_128b>}
        : memref<2x64x64xbf16, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x128xbf16, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %sb
        {leading_byte_offset = 16384 : i64, matrix_stride = 1024 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_128b>}
        : memref<2x128x64xbf16, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<128x128xbf16, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero
        : !nvgpu.warpgroup.descriptor<tensor = memref<64x128xbf16, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<128x128xbf16, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>> to memref<64x128xf32, 1>
    gpu.return
  }
}
