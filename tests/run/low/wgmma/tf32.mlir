// A tile of A * B by a warpgroup: f32 that count as tf32, swizzled in rows of 128 and 32 bytes.
// RUN @wide block=128 arch=wgmma
// ARG a = small:64x64xf32:1
// ARG b = small:64x64xf32:2
// ARG c = zeros:64x64xf32
// EXPECT c = wide_f32(a) @ wide_f32(b).T
// RUN @wide block=128 arch=wgmma
// ARG a = random:64x64xf32:1
// ARG b = random:64x64xf32:2
// ARG c = zeros:64x64xf32
// EXPECT c ~ 64 * u_f32 * (abs(wide_f32((a.view(np.uint32) & 0xffffe000).view(np.float32))) @ abs(wide_f32((b.view(np.uint32) & 0xffffe000).view(np.float32)).T)) : wide_f32((a.view(np.uint32) & 0xffffe000).view(np.float32)) @ wide_f32((b.view(np.uint32) & 0xffffe000).view(np.float32)).T
// RUN @narrow block=128 arch=wgmma
// ARG a = small:64x16xf32:1
// ARG b = small:8x16xf32:2
// ARG c = zeros:64x8xf32
// EXPECT c = wide_f32(a) @ wide_f32(b).T
gpu.module @kernels {
  gpu.func @wide(%a: memref<64x64xf32, 1>, %b: memref<64x64xf32, 1>, %c: memref<64x64xf32, 1>)
      workgroup(%sa: memref<16384xi8, 3> {llvm.align = 1024 : i64}, %sb: memref<16384xi8, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    %view_a = memref.view %sa[%c0][] : memref<16384xi8, 3> to memref<2x64x32xf32, 3>
    %tf_a = memref.view %sa[%c0][] : memref<16384xi8, 3> to memref<2x64x32xtf32, 3>
    %count_a = arith.constant 1024 : index
    %pieces_a = arith.constant 16 : index
    %span_a = arith.constant 8 : index
    %per_a = arith.constant 4 : index
    scf.for %i = %tid to %count_a step %threads {
      %row = arith.divui %i, %pieces_a : index
      %number = arith.remui %i, %pieces_a : index
      %box = arith.divui %number, %span_a : index
      %piece = arith.remui %number, %span_a : index
      %from = arith.muli %number, %per_a : index
      %turn = arith.remui %row, %c8 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per_a : index
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<64x64xf32, 1>, vector<4xf32>
      vector.store %x, %view_a[%box, %row, %to] {alignment = 16 : i64} : memref<2x64x32xf32, 3>, vector<4xf32>
    }
    %view_b = memref.view %sb[%c0][] : memref<16384xi8, 3> to memref<2x64x32xf32, 3>
    %tf_b = memref.view %sb[%c0][] : memref<16384xi8, 3> to memref<2x64x32xtf32, 3>
    %count_b = arith.constant 1024 : index
    %pieces_b = arith.constant 16 : index
    %span_b = arith.constant 8 : index
    %per_b = arith.constant 4 : index
    scf.for %i = %tid to %count_b step %threads {
      %row = arith.divui %i, %pieces_b : index
      %number = arith.remui %i, %pieces_b : index
      %box = arith.divui %number, %span_b : index
      %piece = arith.remui %number, %span_b : index
      %from = arith.muli %number, %per_b : index
      %turn = arith.remui %row, %c8 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per_b : index
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<64x64xf32, 1>, vector<4xf32>
      vector.store %x, %view_b[%box, %row, %to] {alignment = 16 : i64} : memref<2x64x32xf32, 3>, vector<4xf32>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %tf_a
        {leading_byte_offset = 8192 : i64, matrix_stride = 1024 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_128b>}
        : memref<2x64x32xtf32, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x64xtf32, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %tf_b
        {leading_byte_offset = 8192 : i64, matrix_stride = 1024 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_128b>}
        : memref<2x64x32xtf32, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x64xtf32, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero
        : !nvgpu.warpgroup.descriptor<tensor = memref<64x64xtf32, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<64x64xtf32, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>> to memref<64x64xf32, 1>
    gpu.return
  }

  gpu.func @narrow(%a: memref<64x16xf32, 1>, %b: memref<8x16xf32, 1>, %c: memref<64x8xf32, 1>)
      workgroup(%sa: memref<4096xi8, 3> {llvm.align = 1024 : i64}, %sb: memref<512xi8, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    %view_a = memref.view %sa[%c0][] : memref<4096xi8, 3> to memref<2x64x8xf32, 3>
    %tf_a = memref.view %sa[%c0][] : memref<4096xi8, 3> to memref<2x64x8xtf32, 3>
    %count_a = arith.constant 256 : index
    %pieces_a = arith.constant 4 : index
    %span_a = arith.constant 2 : index
    %per_a = arith.constant 4 : index
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
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<64x16xf32, 1>, vector<4xf32>
      vector.store %x, %view_a[%box, %row, %to] {alignment = 16 : i64} : memref<2x64x8xf32, 3>, vector<4xf32>
    }
    %view_b = memref.view %sb[%c0][] : memref<512xi8, 3> to memref<2x8x8xf32, 3>
    %tf_b = memref.view %sb[%c0][] : memref<512xi8, 3> to memref<2x8x8xtf32, 3>
    %count_b = arith.constant 32 : index
    %pieces_b = arith.constant 4 : index
    %span_b = arith.constant 2 : index
    %per_b = arith.constant 4 : index
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
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<8x16xf32, 1>, vector<4xf32>
      vector.store %x, %view_b[%box, %row, %to] {alignment = 16 : i64} : memref<2x8x8xf32, 3>, vector<4xf32>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %tf_a
        {leading_byte_offset = 2048 : i64, matrix_stride = 256 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_32b>}
        : memref<2x64x8xtf32, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x16xtf32, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %tf_b
        {leading_byte_offset = 256 : i64, matrix_stride = 256 : i64, swizzle_mode = #nvgpu.swizzle<swizzle_32b>}
        : memref<2x8x8xtf32, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<16x8xtf32, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x8xf32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero
        : !nvgpu.warpgroup.descriptor<tensor = memref<64x16xtf32, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<16x8xtf32, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<64x8xf32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x8xf32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<64x8xf32>> to memref<64x8xf32, 1>
    gpu.return
  }
}
