// 128 and 192 rows by a warpgroup: two and three instructions per step of K, one group.
// RUN @two block=128 arch=wgmma
// ARG a = small:128x64xf16:1
// ARG b = small:128x64xf16:2
// ARG c = zeros:128x128xf32
// EXPECT c = wide_f16(a) @ wide_f16(b).T
// RUN @two block=128 arch=wgmma
// ARG a = random:128x64xf16:1
// ARG b = random:128x64xf16:2
// ARG c = zeros:128x128xf32
// EXPECT c ~ 64 * u_f32 * (abs(wide_f16(a)) @ abs(wide_f16(b).T)) : wide_f16(a) @ wide_f16(b).T
// RUN @turned block=128 arch=wgmma
// ARG a = small:64x128xbf16:1
// ARG b = small:32x64xbf16:2
// ARG c = zeros:128x32xf32
// EXPECT c = wide_bf16(a).T @ wide_bf16(b).T
// RUN @three block=128 arch=wgmma
// ARG a = random:192x64xi8:1
// ARG b = random:32x64xi8:2
// ARG c = zeros:192x32xi32
// EXPECT c = a.astype(np.int64) @ b.astype(np.int64).T
gpu.module @kernels {
  gpu.func @two(%a: memref<128x64xf16, 1>, %b: memref<128x64xf16, 1>, %c: memref<128x128xf32, 1>)
      workgroup(%sa: memref<1x128x64xf16, 3> {llvm.align = 1024 : i64}, %sb: memref<1x128x64xf16, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c8 = arith.constant 8 : index
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    %count_a = arith.constant 1024 : index
    %pieces_a = arith.constant 8 : index
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
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<128x64xf16, 1>, vector<8xf16>
      vector.store %x, %sa[%box, %row, %to] {alignment = 16 : i64} : memref<1x128x64xf16, 3>, vector<8xf16>
    }
    %count_b = arith.constant 1024 : index
    %pieces_b = arith.constant 8 : index
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
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<128x64xf16, 1>, vector<8xf16>
      vector.store %x, %sb[%box, %row, %to] {alignment = 16 : i64} : memref<1x128x64xf16, 3>, vector<8xf16>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa
        {leading_byte_offset = 16384 : i64, matrix_stride = 1024 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_128b>}
        : memref<1x128x64xf16, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<128x64xf16, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %sb
        {leading_byte_offset = 16384 : i64, matrix_stride = 1024 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_128b>}
        : memref<1x128x64xf16, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x128xf16, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero
        : !nvgpu.warpgroup.descriptor<tensor = memref<128x64xf16, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<64x128xf16, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>> to memref<128x128xf32, 1>
    gpu.return
  }

  gpu.func @turned(%a: memref<64x128xbf16, 1>, %b: memref<32x64xbf16, 1>, %c: memref<128x32xf32, 1>)
      workgroup(%sa: memref<4x64x32xbf16, 3> {llvm.align = 1024 : i64}, %sb: memref<1x32x64xbf16, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    %count_a = arith.constant 1024 : index
    %pieces_a = arith.constant 16 : index
    %span_a = arith.constant 4 : index
    %per_a = arith.constant 8 : index
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
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<64x128xbf16, 1>, vector<8xbf16>
      vector.store %x, %sa[%box, %row, %to] {alignment = 16 : i64} : memref<4x64x32xbf16, 3>, vector<8xbf16>
    }
    %count_b = arith.constant 256 : index
    %pieces_b = arith.constant 8 : index
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
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<32x64xbf16, 1>, vector<8xbf16>
      vector.store %x, %sb[%box, %row, %to] {alignment = 16 : i64} : memref<1x32x64xbf16, 3>, vector<8xbf16>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa
        {leading_byte_offset = 4096 : i64, matrix_stride = 512 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_64b>}
        : memref<4x64x32xbf16, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<128x64xbf16, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %sb
        {leading_byte_offset = 4096 : i64, matrix_stride = 1024 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_128b>}
        : memref<1x32x64xbf16, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x32xbf16, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<128x32xf32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero {transposeA}
        : !nvgpu.warpgroup.descriptor<tensor = memref<128x64xbf16, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<64x32xbf16, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<128x32xf32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<128x32xf32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<128x32xf32>> to memref<128x32xf32, 1>
    gpu.return
  }

  gpu.func @three(%a: memref<192x64xi8, 1>, %b: memref<32x64xi8, 1>, %c: memref<192x32xi32, 1>)
      workgroup(%sa: memref<1x192x64xi8, 3> {llvm.align = 1024 : i64}, %sb: memref<1x32x64xi8, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    %count_a = arith.constant 768 : index
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
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<192x64xi8, 1>, vector<16xi8>
      vector.store %x, %sa[%box, %row, %to] {alignment = 16 : i64} : memref<1x192x64xi8, 3>, vector<16xi8>
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
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<32x64xi8, 1>, vector<16xi8>
      vector.store %x, %sb[%box, %row, %to] {alignment = 16 : i64} : memref<1x32x64xi8, 3>, vector<16xi8>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa
        {leading_byte_offset = 12288 : i64, matrix_stride = 512 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_64b>}
        : memref<1x192x64xi8, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<192x64xi8, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %sb
        {leading_byte_offset = 2048 : i64, matrix_stride = 512 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_64b>}
        : memref<1x32x64xi8, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x32xi8, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<192x32xi32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero
        : !nvgpu.warpgroup.descriptor<tensor = memref<192x64xi8, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<64x32xi8, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<192x32xi32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<192x32xi32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<192x32xi32>> to memref<192x32xi32, 1>
    gpu.return
  }
}
