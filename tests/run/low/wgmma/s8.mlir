// A tile of A * B by a warpgroup: int8, signed and unsigned in every pair.
// RUN @signed block=128 arch=wgmma
// ARG a = random:64x128xi8:1
// ARG b = random:96x128xi8:2
// ARG c = zeros:64x96xi32
// EXPECT c = a.astype(np.int64) @ b.astype(np.int64).T
// RUN @unsigned block=128 arch=wgmma
// ARG a = random:64x64xi8:1
// ARG b = random:48x64xi8:2
// ARG c = zeros:64x48xi32
// EXPECT c = a.view(np.uint8).astype(np.int64) @ b.view(np.uint8).astype(np.int64).T
// RUN @mixed block=128 arch=wgmma
// ARG a = random:64x32xi8:1
// ARG b = random:8x32xi8:2
// ARG c = zeros:64x8xi32
// EXPECT c = a.view(np.uint8).astype(np.int64) @ b.astype(np.int64).T
// RUN @other block=128 arch=wgmma
// ARG a = random:64x64xi8:1
// ARG b = random:16x64xi8:2
// ARG c = zeros:64x16xi32
// EXPECT c = a.astype(np.int64) @ b.view(np.uint8).astype(np.int64).T
gpu.module @kernels {
  gpu.func @signed(%a: memref<64x128xi8, 1>, %b: memref<96x128xi8, 1>, %c: memref<64x96xi32, 1>)
      workgroup(%sa: memref<1x64x128xi8, 3> {llvm.align = 1024 : i64}, %sb: memref<1x96x128xi8, 3> {llvm.align = 1024 : i64})
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
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<64x128xi8, 1>, vector<16xi8>
      vector.store %x, %sa[%box, %row, %to] {alignment = 16 : i64} : memref<1x64x128xi8, 3>, vector<16xi8>
    }
    %count_b = arith.constant 768 : index
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
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<96x128xi8, 1>, vector<16xi8>
      vector.store %x, %sb[%box, %row, %to] {alignment = 16 : i64} : memref<1x96x128xi8, 3>, vector<16xi8>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa
        {leading_byte_offset = 8192 : i64, matrix_stride = 1024 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_128b>}
        : memref<1x64x128xi8, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x128xi8, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %sb
        {leading_byte_offset = 12288 : i64, matrix_stride = 1024 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_128b>}
        : memref<1x96x128xi8, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<128x96xi8, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x96xi32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero
        : !nvgpu.warpgroup.descriptor<tensor = memref<64x128xi8, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<128x96xi8, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<64x96xi32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x96xi32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<64x96xi32>> to memref<64x96xi32, 1>
    gpu.return
  }

  gpu.func @unsigned(%a: memref<64x64xui8, 1>, %b: memref<48x64xui8, 1>, %c: memref<64x48xi32, 1>)
      workgroup(%sa: memref<1x64x64xui8, 3> {llvm.align = 1024 : i64}, %sb: memref<1x48x64xui8, 3> {llvm.align = 1024 : i64})
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
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<64x64xui8, 1>, vector<16xui8>
      vector.store %x, %sa[%box, %row, %to] {alignment = 16 : i64} : memref<1x64x64xui8, 3>, vector<16xui8>
    }
    %count_b = arith.constant 192 : index
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
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<48x64xui8, 1>, vector<16xui8>
      vector.store %x, %sb[%box, %row, %to] {alignment = 16 : i64} : memref<1x48x64xui8, 3>, vector<16xui8>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa
        {leading_byte_offset = 4096 : i64, matrix_stride = 512 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_64b>}
        : memref<1x64x64xui8, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x64xui8, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %sb
        {leading_byte_offset = 3072 : i64, matrix_stride = 512 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_64b>}
        : memref<1x48x64xui8, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x48xui8, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x48xi32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero
        : !nvgpu.warpgroup.descriptor<tensor = memref<64x64xui8, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<64x48xui8, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<64x48xi32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x48xi32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<64x48xi32>> to memref<64x48xi32, 1>
    gpu.return
  }

  gpu.func @mixed(%a: memref<64x32xui8, 1>, %b: memref<8x32xi8, 1>, %c: memref<64x8xi32, 1>)
      workgroup(%sa: memref<1x64x32xui8, 3> {llvm.align = 1024 : i64}, %sb: memref<1x8x32xi8, 3> {llvm.align = 1024 : i64})
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
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<64x32xui8, 1>, vector<16xui8>
      vector.store %x, %sa[%box, %row, %to] {alignment = 16 : i64} : memref<1x64x32xui8, 3>, vector<16xui8>
    }
    %count_b = arith.constant 16 : index
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
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<8x32xi8, 1>, vector<16xi8>
      vector.store %x, %sb[%box, %row, %to] {alignment = 16 : i64} : memref<1x8x32xi8, 3>, vector<16xi8>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa
        {leading_byte_offset = 2048 : i64, matrix_stride = 256 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_32b>}
        : memref<1x64x32xui8, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x32xui8, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %sb
        {leading_byte_offset = 256 : i64, matrix_stride = 256 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_32b>}
        : memref<1x8x32xi8, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<32x8xi8, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x8xi32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero
        : !nvgpu.warpgroup.descriptor<tensor = memref<64x32xui8, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<32x8xi8, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<64x8xi32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x8xi32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<64x8xi32>> to memref<64x8xi32, 1>
    gpu.return
  }

  gpu.func @other(%a: memref<64x64xi8, 1>, %b: memref<16x64xui8, 1>, %c: memref<64x16xi32, 1>)
      workgroup(%sa: memref<4x64x16xi8, 3> {llvm.align = 1024 : i64}, %sb: memref<1x16x64xui8, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    %count_a = arith.constant 256 : index
    %pieces_a = arith.constant 4 : index
    %span_a = arith.constant 1 : index
    %per_a = arith.constant 16 : index
    scf.for %i = %tid to %count_a step %threads {
      %row = arith.divui %i, %pieces_a : index
      %number = arith.remui %i, %pieces_a : index
      %box = arith.divui %number, %span_a : index
      %piece = arith.remui %number, %span_a : index
      %from = arith.muli %number, %per_a : index
      %to = arith.muli %piece, %per_a : index
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<64x64xi8, 1>, vector<16xi8>
      vector.store %x, %sa[%box, %row, %to] {alignment = 16 : i64} : memref<4x64x16xi8, 3>, vector<16xi8>
    }
    %count_b = arith.constant 64 : index
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
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<16x64xui8, 1>, vector<16xui8>
      vector.store %x, %sb[%box, %row, %to] {alignment = 16 : i64} : memref<1x16x64xui8, 3>, vector<16xui8>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa
        {leading_byte_offset = 1024 : i64, matrix_stride = 128 : i64, swizzle_mode = #nvgpu.swizzle<none>}
        : memref<4x64x16xi8, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x64xi8, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %sb
        {leading_byte_offset = 1024 : i64, matrix_stride = 512 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_64b>}
        : memref<1x16x64xui8, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x16xui8, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x16xi32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero
        : !nvgpu.warpgroup.descriptor<tensor = memref<64x64xi8, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<64x16xui8, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<64x16xi32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x16xi32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<64x16xi32>> to memref<64x16xi32, 1>
    gpu.return
  }
}
