// A tile of A * B by a warpgroup: fp8 of one type and of two, accumulators in f32 and f16.
// Instructions add 33 terms, of which they keep 13 bits below the first bit of the largest.
// RUN @same block=128 arch=wgmma
// ARG a = small:64x128xf8E4M3FN:1
// ARG b = small:64x128xf8E4M3FN:2
// ARG c = zeros:64x64xf32
// EXPECT c = wide_f8E4M3FN(a) @ wide_f8E4M3FN(b).T
// RUN @same block=128 arch=wgmma
// ARG a = random:64x128xf8E4M3FN:1
// ARG b = random:64x128xf8E4M3FN:2
// ARG c = zeros:64x64xf32
// EXPECT c ~ 132 * 2.0 ** -13 * (abs(wide_f8E4M3FN(a)) @ abs(wide_f8E4M3FN(b).T)) : wide_f8E4M3FN(a) @ wide_f8E4M3FN(b).T
// RUN @mixed block=128 arch=wgmma
// ARG a = small:64x64xf8E5M2:1
// ARG b = small:32x64xf8E4M3FN:2
// ARG c = zeros:64x32xf32
// EXPECT c = wide_f8E5M2(a) @ wide_f8E4M3FN(b).T
// RUN @mixed block=128 arch=wgmma
// ARG a = random:64x64xf8E5M2:1
// ARG b = random:32x64xf8E4M3FN:2
// ARG c = zeros:64x32xf32
// EXPECT c ~ 66 * 2.0 ** -13 * (abs(wide_f8E5M2(a)) @ abs(wide_f8E4M3FN(b).T)) : wide_f8E5M2(a) @ wide_f8E4M3FN(b).T
// RUN @to_f16 block=128 arch=wgmma
// ARG a = small:64x32xf8E5M2:1
// ARG b = small:16x32xf8E5M2:2
// ARG c = zeros:64x16xf16
// EXPECT c = wide_f8E5M2(a) @ wide_f8E5M2(b).T
gpu.module @kernels {
  gpu.func @same(%a: memref<64x128xf8E4M3FN, 1>, %b: memref<64x128xf8E4M3FN, 1>, %c: memref<64x64xf32, 1>)
      workgroup(%sa: memref<1x64x128xf8E4M3FN, 3> {llvm.align = 1024 : i64}, %sb: memref<1x64x128xf8E4M3FN, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c8 = arith.constant 8 : index
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    %count_a = arith.constant 512 : index
    %pieces_a = arith.constant 8 : index
    %span_a = arith.constant 8 : index
    %per_a = arith.constant 16 : index
    scf.for %i = %tid to %count_a step %threads {
      %row = arith.divui %i, %pieces_a : index
      %number = arith.remui %i, %pieces_a : index
      %box = arith.divui %number, %span_a : index
      %piece = arith.remui %number, %span_a : index
      %from = arith.muli %number, %per_a : index
      %turn = arith.remui %row, %c8 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per_a : index
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<64x128xf8E4M3FN, 1>, vector<16xf8E4M3FN>
      vector.store %x, %sa[%box, %row, %to] {alignment = 16 : i64} : memref<1x64x128xf8E4M3FN, 3>, vector<16xf8E4M3FN>
    }
    %count_b = arith.constant 512 : index
    %pieces_b = arith.constant 8 : index
    %span_b = arith.constant 8 : index
    %per_b = arith.constant 16 : index
    scf.for %i = %tid to %count_b step %threads {
      %row = arith.divui %i, %pieces_b : index
      %number = arith.remui %i, %pieces_b : index
      %box = arith.divui %number, %span_b : index
      %piece = arith.remui %number, %span_b : index
      %from = arith.muli %number, %per_b : index
      %turn = arith.remui %row, %c8 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per_b : index
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<64x128xf8E4M3FN, 1>, vector<16xf8E4M3FN>
      vector.store %x, %sb[%box, %row, %to] {alignment = 16 : i64} : memref<1x64x128xf8E4M3FN, 3>, vector<16xf8E4M3FN>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa
        {leading_byte_offset = 8192 : i64, matrix_stride = 1024 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_128b>}
        : memref<1x64x128xf8E4M3FN, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x128xf8E4M3FN, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %sb
        {leading_byte_offset = 8192 : i64, matrix_stride = 1024 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_128b>}
        : memref<1x64x128xf8E4M3FN, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<128x64xf8E4M3FN, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero
        : !nvgpu.warpgroup.descriptor<tensor = memref<64x128xf8E4M3FN, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<128x64xf8E4M3FN, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>> to memref<64x64xf32, 1>
    gpu.return
  }

  gpu.func @mixed(%a: memref<64x64xf8E5M2, 1>, %b: memref<32x64xf8E4M3FN, 1>, %c: memref<64x32xf32, 1>)
      workgroup(%sa: memref<1x64x64xf8E5M2, 3> {llvm.align = 1024 : i64}, %sb: memref<1x32x64xf8E4M3FN, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    %count_a = arith.constant 256 : index
    %pieces_a = arith.constant 4 : index
    %span_a = arith.constant 4 : index
    %per_a = arith.constant 16 : index
    scf.for %i = %tid to %count_a step %threads {
      %row = arith.divui %i, %pieces_a : index
      %number = arith.remui %i, %pieces_a : index
      %box = arith.divui %number, %span_a : index
      %piece = arith.remui %number, %span_a : index
      %from = arith.muli %number, %per_a : index
      %pair = arith.divui %row, %c2 : index
      %turn = arith.remui %pair, %c4 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per_a : index
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<64x64xf8E5M2, 1>, vector<16xf8E5M2>
      vector.store %x, %sa[%box, %row, %to] {alignment = 16 : i64} : memref<1x64x64xf8E5M2, 3>, vector<16xf8E5M2>
    }
    %count_b = arith.constant 128 : index
    %pieces_b = arith.constant 4 : index
    %span_b = arith.constant 4 : index
    %per_b = arith.constant 16 : index
    scf.for %i = %tid to %count_b step %threads {
      %row = arith.divui %i, %pieces_b : index
      %number = arith.remui %i, %pieces_b : index
      %box = arith.divui %number, %span_b : index
      %piece = arith.remui %number, %span_b : index
      %from = arith.muli %number, %per_b : index
      %pair = arith.divui %row, %c2 : index
      %turn = arith.remui %pair, %c4 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per_b : index
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<32x64xf8E4M3FN, 1>, vector<16xf8E4M3FN>
      vector.store %x, %sb[%box, %row, %to] {alignment = 16 : i64} : memref<1x32x64xf8E4M3FN, 3>, vector<16xf8E4M3FN>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa
        {leading_byte_offset = 4096 : i64, matrix_stride = 512 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_64b>}
        : memref<1x64x64xf8E5M2, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x64xf8E5M2, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %sb
        {leading_byte_offset = 2048 : i64, matrix_stride = 512 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_64b>}
        : memref<1x32x64xf8E4M3FN, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x32xf8E4M3FN, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x32xf32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero
        : !nvgpu.warpgroup.descriptor<tensor = memref<64x64xf8E5M2, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<64x32xf8E4M3FN, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<64x32xf32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x32xf32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<64x32xf32>> to memref<64x32xf32, 1>
    gpu.return
  }

  gpu.func @to_f16(%a: memref<64x32xf8E5M2, 1>, %b: memref<16x32xf8E5M2, 1>, %c: memref<64x16xf16, 1>)
      workgroup(%sa: memref<1x64x32xf8E5M2, 3> {llvm.align = 1024 : i64}, %sb: memref<1x16x32xf8E5M2, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    %count_a = arith.constant 128 : index
    %pieces_a = arith.constant 2 : index
    %span_a = arith.constant 2 : index
    %per_a = arith.constant 16 : index
    scf.for %i = %tid to %count_a step %threads {
      %row = arith.divui %i, %pieces_a : index
      %number = arith.remui %i, %pieces_a : index
      %box = arith.divui %number, %span_a : index
      %piece = arith.remui %number, %span_a : index
      %from = arith.muli %number, %per_a : index
      %four = arith.divui %row, %c4 : index
      %turn = arith.remui %four, %c2 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per_a : index
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<64x32xf8E5M2, 1>, vector<16xf8E5M2>
      vector.store %x, %sa[%box, %row, %to] {alignment = 16 : i64} : memref<1x64x32xf8E5M2, 3>, vector<16xf8E5M2>
    }
    %count_b = arith.constant 32 : index
    %pieces_b = arith.constant 2 : index
    %span_b = arith.constant 2 : index
    %per_b = arith.constant 16 : index
    scf.for %i = %tid to %count_b step %threads {
      %row = arith.divui %i, %pieces_b : index
      %number = arith.remui %i, %pieces_b : index
      %box = arith.divui %number, %span_b : index
      %piece = arith.remui %number, %span_b : index
      %from = arith.muli %number, %per_b : index
      %four = arith.divui %row, %c4 : index
      %turn = arith.remui %four, %c2 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per_b : index
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<16x32xf8E5M2, 1>, vector<16xf8E5M2>
      vector.store %x, %sb[%box, %row, %to] {alignment = 16 : i64} : memref<1x16x32xf8E5M2, 3>, vector<16xf8E5M2>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa
        {leading_byte_offset = 2048 : i64, matrix_stride = 256 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_32b>}
        : memref<1x64x32xf8E5M2, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x32xf8E5M2, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %sb
        {leading_byte_offset = 512 : i64, matrix_stride = 256 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_32b>}
        : memref<1x16x32xf8E5M2, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<32x16xf8E5M2, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x16xf16>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero
        : !nvgpu.warpgroup.descriptor<tensor = memref<64x32xf8E5M2, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<32x16xf8E5M2, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<64x16xf16>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x16xf16>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<64x16xf16>> to memref<64x16xf16, 1>
    gpu.return
  }
}
