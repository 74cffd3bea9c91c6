// A tile of A * B by a warpgroup, A in registers: f16, and bf16 with negated A.
// RUN @f16 block=128 arch=wgmma
// ARG a = small:64x64xf16:1
// ARG b = small:16x64xf16:2
// ARG c = zeros:64x16xf32
// EXPECT c = wide_f16(a) @ wide_f16(b).T
// RUN @bf16 block=128 arch=wgmma
// ARG a = small:64x64xbf16:1
// ARG b = small:8x64xbf16:2
// ARG c = zeros:64x8xf32
// EXPECT c = 0 - wide_bf16(a) @ wide_bf16(b).T
gpu.module @kernels {
  gpu.func @f16(%a: memref<64x64xf16, 1>, %b: memref<16x64xf16, 1>, %c: memref<64x16xf32, 1>)
      workgroup(%sb: memref<16x64xf16, 3> {llvm.align = 1024 : i64}) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    // B: rows of 128 bytes, in which pieces of 16 bytes change places.
    %count = arith.constant 128 : index
    %per = arith.constant 8 : index
    scf.for %i = %tid to %count step %threads {
      %row = arith.divui %i, %c8 : index
      %piece = arith.remui %i, %c8 : index
      %from = arith.muli %piece, %per : index
      %turn = arith.remui %row, %c8 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per : index
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<16x64xf16, 1>, vector<8xf16>
      vector.store %x, %sb[%row, %to] {alignment = 16 : i64} : memref<16x64xf16, 3>, vector<8xf16>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    // A: 16 rows for each warp; a lane has two of them, and of each a word out of four, and the one 16 bytes on.
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %start = arith.muli %warp, %c16 : index
    %in_warp = arith.divui %lane, %c4 : index
    %top = arith.addi %start, %in_warp : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %held = arith.constant 2 : index
    %column = arith.muli %quarter, %held : index
    %twice = arith.muli %quarter, %c2 : index
    %k0_0 = arith.constant 0 : index
    %at0_0 = arith.addi %column, %k0_0 : index
    %x0_0 = vector.load %a[%top, %at0_0] : memref<64x64xf16, 1>, vector<2xf16>
    %k0_1 = arith.constant 0 : index
    %at0_1 = arith.addi %column, %k0_1 : index
    %x0_1 = vector.load %a[%bottom, %at0_1] : memref<64x64xf16, 1>, vector<2xf16>
    %k0_2 = arith.constant 8 : index
    %at0_2 = arith.addi %column, %k0_2 : index
    %x0_2 = vector.load %a[%top, %at0_2] : memref<64x64xf16, 1>, vector<2xf16>
    %k0_3 = arith.constant 8 : index
    %at0_3 = arith.addi %column, %k0_3 : index
    %x0_3 = vector.load %a[%bottom, %at0_3] : memref<64x64xf16, 1>, vector<2xf16>
    %k1_0 = arith.constant 16 : index
    %at1_0 = arith.addi %column, %k1_0 : index
    %x1_0 = vector.load %a[%top, %at1_0] : memref<64x64xf16, 1>, vector<2xf16>
    %k1_1 = arith.constant 16 : index
    %at1_1 = arith.addi %column, %k1_1 : index
    %x1_1 = vector.load %a[%bottom, %at1_1] : memref<64x64xf16, 1>, vector<2xf16>
    %k1_2 = arith.constant 24 : index
    %at1_2 = arith.addi %column, %k1_2 : index
    %x1_2 = vector.load %a[%top, %at1_2] : memref<64x64xf16, 1>, vector<2xf16>
    %k1_3 = arith.constant 24 : index
    %at1_3 = arith.addi %column, %k1_3 : index
    %x1_3 = vector.load %a[%bottom, %at1_3] : memref<64x64xf16, 1>, vector<2xf16>
    %k2_0 = arith.constant 32 : index
    %at2_0 = arith.addi %column, %k2_0 : index
    %x2_0 = vector.load %a[%top, %at2_0] : memref<64x64xf16, 1>, vector<2xf16>
    %k2_1 = arith.constant 32 : index
    %at2_1 = arith.addi %column, %k2_1 : index
    %x2_1 = vector.load %a[%bottom, %at2_1] : memref<64x64xf16, 1>, vector<2xf16>
    %k2_2 = arith.constant 40 : index
    %at2_2 = arith.addi %column, %k2_2 : index
    %x2_2 = vector.load %a[%top, %at2_2] : memref<64x64xf16, 1>, vector<2xf16>
    %k2_3 = arith.constant 40 : index
    %at2_3 = arith.addi %column, %k2_3 : index
    %x2_3 = vector.load %a[%bottom, %at2_3] : memref<64x64xf16, 1>, vector<2xf16>
    %k3_0 = arith.constant 48 : index
    %at3_0 = arith.addi %column, %k3_0 : index
    %x3_0 = vector.load %a[%top, %at3_0] : memref<64x64xf16, 1>, vector<2xf16>
    %k3_1 = arith.constant 48 : index
    %at3_1 = arith.addi %column, %k3_1 : index
    %x3_1 = vector.load %a[%bottom, %at3_1] : memref<64x64xf16, 1>, vector<2xf16>
    %k3_2 = arith.constant 56 : index
    %at3_2 = arith.addi %column, %k3_2 : index
    %x3_2 = vector.load %a[%top, %at3_2] : memref<64x64xf16, 1>, vector<2xf16>
    %k3_3 = arith.constant 56 : index
    %at3_3 = arith.addi %column, %k3_3 : index
    %x3_3 = vector.load %a[%bottom, %at3_3] : memref<64x64xf16, 1>, vector<2xf16>
    %none_a = arith.constant dense<0.0> : vector<32xf16>
    %a0 = vector.insert_strided_slice %x0_0, %none_a {offsets = [0], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a1 = vector.insert_strided_slice %x0_1, %a0 {offsets = [2], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a2 = vector.insert_strided_slice %x0_2, %a1 {offsets = [4], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a3 = vector.insert_strided_slice %x0_3, %a2 {offsets = [6], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a4 = vector.insert_strided_slice %x1_0, %a3 {offsets = [8], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a5 = vector.insert_strided_slice %x1_1, %a4 {offsets = [10], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a6 = vector.insert_strided_slice %x1_2, %a5 {offsets = [12], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a7 = vector.insert_strided_slice %x1_3, %a6 {offsets = [14], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a8 = vector.insert_strided_slice %x2_0, %a7 {offsets = [16], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a9 = vector.insert_strided_slice %x2_1, %a8 {offsets = [18], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a10 = vector.insert_strided_slice %x2_2, %a9 {offsets = [20], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a11 = vector.insert_strided_slice %x2_3, %a10 {offsets = [22], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a12 = vector.insert_strided_slice %x3_0, %a11 {offsets = [24], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a13 = vector.insert_strided_slice %x3_1, %a12 {offsets = [26], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a14 = vector.insert_strided_slice %x3_2, %a13 {offsets = [28], strides = [1]} : vector<2xf16> into vector<32xf16>
    %a15 = vector.insert_strided_slice %x3_3, %a14 {offsets = [30], strides = [1]} : vector<2xf16> into vector<32xf16>
    %db = cute_nvgpu.wgmma.descriptor %sb[%c0, %c0] swizzle_128b leading 16 stride 1024 : memref<16x64xf16, 3>
    %none = arith.constant dense<0.0> : vector<8xf32>
    %open = cute_nvgpu.wgmma.fence(%none : vector<8xf32>)
    %under_way = cute_nvgpu.wgmma.issue %a15, %db, %open steps 4 by 0, 2 : f16, f16, vector<32xf16>, vector<8xf32>
    cute_nvgpu.wgmma.commit
    %done = cute_nvgpu.wgmma.wait 0, %under_way : vector<8xf32>
    %n0_0 = arith.constant 0 : index
    %to0_0 = arith.addi %twice, %n0_0 : index
    %r0_0 = vector.extract_strided_slice %done {offsets = [0], sizes = [2], strides = [1]} : vector<8xf32> to vector<2xf32>
    vector.store %r0_0, %c[%top, %to0_0] : memref<64x16xf32, 1>, vector<2xf32>
    %n0_1 = arith.constant 0 : index
    %to0_1 = arith.addi %twice, %n0_1 : index
    %r0_1 = vector.extract_strided_slice %done {offsets = [2], sizes = [2], strides = [1]} : vector<8xf32> to vector<2xf32>
    vector.store %r0_1, %c[%bottom, %to0_1] : memref<64x16xf32, 1>, vector<2xf32>
    %n1_0 = arith.constant 8 : index
    %to1_0 = arith.addi %twice, %n1_0 : index
    %r1_0 = vector.extract_strided_slice %done {offsets = [4], sizes = [2], strides = [1]} : vector<8xf32> to vector<2xf32>
    vector.store %r1_0, %c[%top, %to1_0] : memref<64x16xf32, 1>, vector<2xf32>
    %n1_1 = arith.constant 8 : index
    %to1_1 = arith.addi %twice, %n1_1 : index
    %r1_1 = vector.extract_strided_slice %done {offsets = [6], sizes = [2], strides = [1]} : vector<8xf32> to vector<2xf32>
    vector.store %r1_1, %c[%bottom, %to1_1] : memref<64x16xf32, 1>, vector<2xf32>
    gpu.return
  }

  gpu.func @bf16(%a: memref<64x64xbf16, 1>, %b: memref<8x64xbf16, 1>, %c: memref<64x8xf32, 1>)
      workgroup(%sb: memref<8x64xbf16, 3> {llvm.align = 1024 : i64}) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %threads = arith.constant 128 : index
    %tid = gpu.thread_id x
    // B: rows of 128 bytes, in which pieces of 16 bytes change places.
    %count = arith.constant 64 : index
    %per = arith.constant 8 : index
    scf.for %i = %tid to %count step %threads {
      %row = arith.divui %i, %c8 : index
      %piece = arith.remui %i, %c8 : index
      %from = arith.muli %piece, %per : index
      %turn = arith.remui %row, %c8 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per : index
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<8x64xbf16, 1>, vector<8xbf16>
      vector.store %x, %sb[%row, %to] {alignment = 16 : i64} : memref<8x64xbf16, 3>, vector<8xbf16>
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    // A: 16 rows for each warp; a lane has two of them, and of each a word out of four, and the one 16 bytes on.
    %warp = arith.divui %tid, %c32 : index
    %lane = arith.remui %tid, %c32 : index
    %start = arith.muli %warp, %c16 : index
    %in_warp = arith.divui %lane, %c4 : index
    %top = arith.addi %start, %in_warp : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %held = arith.constant 2 : index
    %column = arith.muli %quarter, %held : index
    %twice = arith.muli %quarter, %c2 : index
    %k0_0 = arith.constant 0 : index
    %at0_0 = arith.addi %column, %k0_0 : index
    %x0_0 = vector.load %a[%top, %at0_0] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k0_1 = arith.constant 0 : index
    %at0_1 = arith.addi %column, %k0_1 : index
    %x0_1 = vector.load %a[%bottom, %at0_1] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k0_2 = arith.constant 8 : index
    %at0_2 = arith.addi %column, %k0_2 : index
    %x0_2 = vector.load %a[%top, %at0_2] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k0_3 = arith.constant 8 : index
    %at0_3 = arith.addi %column, %k0_3 : index
    %x0_3 = vector.load %a[%bottom, %at0_3] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k1_0 = arith.constant 16 : index
    %at1_0 = arith.addi %column, %k1_0 : index
    %x1_0 = vector.load %a[%top, %at1_0] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k1_1 = arith.constant 16 : index
    %at1_1 = arith.addi %column, %k1_1 : index
    %x1_1 = vector.load %a[%bottom, %at1_1] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k1_2 = arith.constant 24 : index
    %at1_2 = arith.addi %column, %k1_2 : index
    %x1_2 = vector.load %a[%top, %at1_2] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k1_3 = arith.constant 24 : index
    %at1_3 = arith.addi %column, %k1_3 : index
    %x1_3 = vector.load %a[%bottom, %at1_3] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k2_0 = arith.constant 32 : index
    %at2_0 = arith.addi %column, %k2_0 : index
    %x2_0 = vector.load %a[%top, %at2_0] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k2_1 = arith.constant 32 : index
    %at2_1 = arith.addi %column, %k2_1 : index
    %x2_1 = vector.load %a[%bottom, %at2_1] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k2_2 = arith.constant 40 : index
    %at2_2 = arith.addi %column, %k2_2 : index
    %x2_2 = vector.load %a[%top, %at2_2] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k2_3 = arith.constant 40 : index
    %at2_3 = arith.addi %column, %k2_3 : index
    %x2_3 = vector.load %a[%bottom, %at2_3] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k3_0 = arith.constant 48 : index
    %at3_0 = arith.addi %column, %k3_0 : index
    %x3_0 = vector.load %a[%top, %at3_0] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k3_1 = arith.constant 48 : index
    %at3_1 = arith.addi %column, %k3_1 : index
    %x3_1 = vector.load %a[%bottom, %at3_1] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k3_2 = arith.constant 56 : index
    %at3_2 = arith.addi %column, %k3_2 : index
    %x3_2 = vector.load %a[%top, %at3_2] : memref<64x64xbf16, 1>, vector<2xbf16>
    %k3_3 = arith.constant 56 : index
    %at3_3 = arith.addi %column, %k3_3 : index
    %x3_3 = vector.load %a[%bottom, %at3_3] : memref<64x64xbf16, 1>, vector<2xbf16>
    %none_a = arith.constant dense<0.0> : vector<32xbf16>
    %a0 = vector.insert_strided_slice %x0_0, %none_a {offsets = [0], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a1 = vector.insert_strided_slice %x0_1, %a0 {offsets = [2], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a2 = vector.insert_strided_slice %x0_2, %a1 {offsets = [4], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a3 = vector.insert_strided_slice %x0_3, %a2 {offsets = [6], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a4 = vector.insert_strided_slice %x1_0, %a3 {offsets = [8], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a5 = vector.insert_strided_slice %x1_1, %a4 {offsets = [10], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a6 = vector.insert_strided_slice %x1_2, %a5 {offsets = [12], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a7 = vector.insert_strided_slice %x1_3, %a6 {offsets = [14], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a8 = vector.insert_strided_slice %x2_0, %a7 {offsets = [16], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a9 = vector.insert_strided_slice %x2_1, %a8 {offsets = [18], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a10 = vector.insert_strided_slice %x2_2, %a9 {offsets = [20], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a11 = vector.insert_strided_slice %x2_3, %a10 {offsets = [22], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a12 = vector.insert_strided_slice %x3_0, %a11 {offsets = [24], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a13 = vector.insert_strided_slice %x3_1, %a12 {offsets = [26], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a14 = vector.insert_strided_slice %x3_2, %a13 {offsets = [28], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %a15 = vector.insert_strided_slice %x3_3, %a14 {offsets = [30], strides = [1]} : vector<2xbf16> into vector<32xbf16>
    %db = cute_nvgpu.wgmma.descriptor %sb[%c0, %c0] swizzle_128b leading 16 stride 1024 : memref<8x64xbf16, 3>
    %none = arith.constant dense<0.0> : vector<4xf32>
    %open = cute_nvgpu.wgmma.fence(%none : vector<4xf32>)
    %under_way = cute_nvgpu.wgmma.issue %a15, %db, %open steps 4 by 0, 2 {negate_a} : bf16, bf16, vector<32xbf16>, vector<4xf32>
    cute_nvgpu.wgmma.commit
    %done = cute_nvgpu.wgmma.wait 0, %under_way : vector<4xf32>
    %n0_0 = arith.constant 0 : index
    %to0_0 = arith.addi %twice, %n0_0 : index
    %r0_0 = vector.extract_strided_slice %done {offsets = [0], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
    vector.store %r0_0, %c[%top, %to0_0] : memref<64x8xf32, 1>, vector<2xf32>
    %n0_1 = arith.constant 0 : index
    %to0_1 = arith.addi %twice, %n0_1 : index
    %r0_1 = vector.extract_strided_slice %done {offsets = [2], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
    vector.store %r0_1, %c[%bottom, %to0_1] : memref<64x8xf32, 1>, vector<2xf32>
    gpu.return
  }
}
