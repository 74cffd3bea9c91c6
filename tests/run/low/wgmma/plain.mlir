// A tile of A * B by a warpgroup: matrices in shared memory without a swizzle.
// RUN @f16 block=128 arch=wgmma
// ARG a = small:64x64xf16:1
// ARG b = small:40x64xf16:2
// ARG c = zeros:64x40xf32
// EXPECT c = wide_f16(a) @ wide_f16(b).T
// RUN @turned block=128 arch=wgmma
// ARG a = small:32x64xf16:1
// ARG b = small:32x64xf16:2
// ARG c = zeros:64x64xf32
// EXPECT c = wide_f16(a).T @ wide_f16(b)
gpu.module @kernels {
  gpu.func @f16(%a: memref<64x64xf16, 1>, %b: memref<40x64xf16, 1>, %c: memref<64x40xf32, 1>)
      workgroup(%sa: memref<8x64x8xf16, 3> {llvm.align = 1024 : i64}, %sb: memref<8x40x8xf16, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    %count_a = arith.constant 512 : index
    %pieces_a = arith.constant 8 : index
    %span_a = arith.constant 1 : index
    %per_a = arith.constant 8 : index
    scf.for %i = %tid to %count_a step %threads {
      %row = arith.divui %i, %pieces_a : index
      %number = arith.remui %i, %pieces_a : index
      %box = arith.divui %number, %span_a : index
      %piece = arith.remui %number, %span_a : index
      %from = arith.muli %number, %per_a : index
      %to = arith.muli %piece, %per_a : index
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<64x64xf16, 1>, vector<8xf16>
      vector.store %x, %sa[%box, %row, %to] {alignment = 16 : i64} : memref<8x64x8xf16, 3>, vector<8xf16>
    }
    %count_b = arith.constant 320 : index
    %pieces_b = arith.constant 8 : index
    %span_b = arith.constant 1 : index
    %per_b = arith.constant 8 : index
    scf.for %i = %tid to %count_b step %threads {
      %row = arith.divui %i, %pieces_b : index
      %number = arith.remui %i, %pieces_b : index
      %box = arith.divui %number, %span_b : index
      %piece = arith.remui %number, %span_b : index
      %from = arith.muli %number, %per_b : index
      %to = arith.muli %piece, %per_b : index
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<40x64xf16, 1>, vector<8xf16>
      vector.store %x, %sb[%box, %row, %to] {alignment = 16 : i64} : memref<8x40x8xf16, 3>, vector<8xf16>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa
        {leading_byte_offset = 1024 : i64, matrix_stride = 128 : i64, swizzle_mode = #nvgpu.swizzle<none>}
        : memref<8x64x8xf16, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x64xf16, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %sb
        {leading_byte_offset = 640 : i64, matrix_stride = 128 : i64, swizzle_mode = #nvgpu.swizzle<none>}
        : memref<8x40x8xf16, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x40xf16, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x40xf32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero
        : !nvgpu.warpgroup.descriptor<tensor = memref<64x64xf16, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<64x40xf16, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<64x40xf32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x40xf32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<64x40xf32>> to memref<64x40xf32, 1>
    gpu.return
  }

  gpu.func @turned(%a: memref<32x64xf16, 1>, %b: memref<32x64xf16, 1>, %c: memref<64x64xf32, 1>)
      workgroup(%sa: memref<8x32x8xf16, 3> {llvm.align = 1024 : i64}, %sb: memref<8x32x8xf16, 3> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    %count_a = arith.constant 256 : index
    %pieces_a = arith.constant 8 : index
    %span_a = arith.constant 1 : index
    %per_a = arith.constant 8 : index
    scf.for %i = %tid to %count_a step %threads {
      %row = arith.divui %i, %pieces_a : index
      %number = arith.remui %i, %pieces_a : index
      %box = arith.divui %number, %span_a : index
      %piece = arith.remui %number, %span_a : index
      %from = arith.muli %number, %per_a : index
      %to = arith.muli %piece, %per_a : index
      %x = vector.load %a[%row, %from] {alignment = 16 : i64} : memref<32x64xf16, 1>, vector<8xf16>
      vector.store %x, %sa[%box, %row, %to] {alignment = 16 : i64} : memref<8x32x8xf16, 3>, vector<8xf16>
    }
    %count_b = arith.constant 256 : index
    %pieces_b = arith.constant 8 : index
    %span_b = arith.constant 1 : index
    %per_b = arith.constant 8 : index
    scf.for %i = %tid to %count_b step %threads {
      %row = arith.divui %i, %pieces_b : index
      %number = arith.remui %i, %pieces_b : index
      %box = arith.divui %number, %span_b : index
      %piece = arith.remui %number, %span_b : index
      %from = arith.muli %number, %per_b : index
      %to = arith.muli %piece, %per_b : index
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<32x64xf16, 1>, vector<8xf16>
      vector.store %x, %sb[%box, %row, %to] {alignment = 16 : i64} : memref<8x32x8xf16, 3>, vector<8xf16>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %da = nvgpu.warpgroup.generate.descriptor %sa
        {leading_byte_offset = 128 : i64, matrix_stride = 512 : i64, swizzle_mode = #nvgpu.swizzle<none>}
        : memref<8x32x8xf16, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<64x32xf16, 3>>
    %db = nvgpu.warpgroup.generate.descriptor %sb
        {leading_byte_offset = 128 : i64, matrix_stride = 512 : i64, swizzle_mode = #nvgpu.swizzle<none>}
        : memref<8x32x8xf16, 3> -> !nvgpu.warpgroup.descriptor<tensor = memref<32x64xf16, 3>>
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
    %sum = nvgpu.warpgroup.mma %da, %db, %zero {transposeA, transposeB}
        : !nvgpu.warpgroup.descriptor<tensor = memref<64x32xf16, 3>>,
          !nvgpu.warpgroup.descriptor<tensor = memref<32x64xf16, 3>>,
          !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
        -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
    nvgpu.warpgroup.mma.store %sum, %c : !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>> to memref<64x64xf32, 1>
    gpu.return
  }
}
