// A tile of A * B by a warpgroup, A in registers: tf32, fp8, int8.
// RUN @tf32 block=128 arch=wgmma
// ARG a = small:64x32xf32:1
// ARG b = small:8x32xf32:2
// ARG c = zeros:64x8xf32
// EXPECT c = wide_f32(a) @ wide_f32(b).T
// RUN @f8 block=128 arch=wgmma
// ARG a = small:64x128xf8E4M3FN:1
// ARG b = small:8x128xf8E4M3FN:2
// ARG c = zeros:64x8xf32
// EXPECT c = wide_f8E4M3FN(a) @ wide_f8E4M3FN(b).T
// RUN @s8 block=128 arch=wgmma
// ARG a = random:64x128xi8:1
// ARG b = random:8x128xi8:2
// ARG c = zeros:64x8xi32
// EXPECT c = a.astype(np.int64) @ b.astype(np.int64).T
gpu.module @kernels {
  gpu.func @tf32(%a: memref<64x32xtf32, 1>, %b: memref<8x32xf32, 1>, %c: memref<64x8xf32, 1>)
      workgroup(%sb: memref<8x32xf32, 3> {llvm.align = 1024 : i64}) kernel
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
    %per = arith.constant 4 : index
    scf.for %i = %tid to %count step %threads {
      %row = arith.divui %i, %c8 : index
      %piece = arith.remui %i, %c8 : index
      %from = arith.muli %piece, %per : index
      %turn = arith.remui %row, %c8 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per : index
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<8x32xf32, 1>, vector<4xf32>
      vector.store %x, %sb[%row, %to] {alignment = 16 : i64} : memref<8x32xf32, 3>, vector<4xf32>
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
    %held = arith.constant 1 : index
    %column = arith.muli %quarter, %held : index
    %twice = arith.muli %quarter, %c2 : index
    %k0_0 = arith.constant 0 : index
    %at0_0 = arith.addi %column, %k0_0 : index
    %x0_0 = memref.load %a[%top, %at0_0] : memref<64x32xtf32, 1>
    %k0_1 = arith.constant 0 : index
    %at0_1 = arith.addi %column, %k0_1 : index
    %x0_1 = memref.load %a[%bottom, %at0_1] : memref<64x32xtf32, 1>
    %k0_2 = arith.constant 4 : index
    %at0_2 = arith.addi %column, %k0_2 : index
    %x0_2 = memref.load %a[%top, %at0_2] : memref<64x32xtf32, 1>
    %k0_3 = arith.constant 4 : index
    %at0_3 = arith.addi %column, %k0_3 : index
    %x0_3 = memref.load %a[%bottom, %at0_3] : memref<64x32xtf32, 1>
    %k1_0 = arith.constant 8 : index
    %at1_0 = arith.addi %column, %k1_0 : index
    %x1_0 = memref.load %a[%top, %at1_0] : memref<64x32xtf32, 1>
    %k1_1 = arith.constant 8 : index
    %at1_1 = arith.addi %column, %k1_1 : index
    %x1_1 = memref.load %a[%bottom, %at1_1] : memref<64x32xtf32, 1>
    %k1_2 = arith.constant 12 : index
    %at1_2 = arith.addi %column, %k1_2 : index
    %x1_2 = memref.load %a[%top, %at1_2] : memref<64x32xtf32, 1>
    %k1_3 = arith.constant 12 : index
    %at1_3 = arith.addi %column, %k1_3 : index
    %x1_3 = memref.load %a[%bottom, %at1_3] : memref<64x32xtf32, 1>
    %k2_0 = arith.constant 16 : index
    %at2_0 = arith.addi %column, %k2_0 : index
    %x2_0 = memref.load %a[%top, %at2_0] : memref<64x32xtf32, 1>
    %k2_1 = arith.constant 16 : index
    %at2_1 = arith.addi %column, %k2_1 : index
    %x2_1 = memref.load %a[%bottom, %at2_1] : memref<64x32xtf32, 1>
    %k2_2 = arith.constant 20 : index
    %at2_2 = arith.addi %column, %k2_2 : index
    %x2_2 = memref.load %a[%top, %at2_2] : memref<64x32xtf32, 1>
    %k2_3 = arith.constant 20 : index
    %at2_3 = arith.addi %column, %k2_3 : index
    %x2_3 = memref.load %a[%bottom, %at2_3] : memref<64x32xtf32, 1>
    %k3_0 = arith.constant 24 : index
    %at3_0 = arith.addi %column, %k3_0 : index
    %x3_0 = memref.load %a[%top, %at3_0] : memref<64x32xtf32, 1>
    %k3_1 = arith.constant 24 : index
    %at3_1 = arith.addi %column, %k3_1 : index
    %x3_1 = memref.load %a[%bottom, %at3_1] : memref<64x32xtf32, 1>
    %k3_2 = arith.constant 28 : index
    %at3_2 = arith.addi %column, %k3_2 : index
    %x3_2 = memref.load %a[%top, %at3_2] : memref<64x32xtf32, 1>
    %k3_3 = arith.constant 28 : index
    %at3_3 = arith.addi %column, %k3_3 : index
    %x3_3 = memref.load %a[%bottom, %at3_3] : memref<64x32xtf32, 1>
    %fa = vector.from_elements %x0_0, %x0_1, %x0_2, %x0_3, %x1_0, %x1_1, %x1_2, %x1_3, %x2_0, %x2_1, %x2_2, %x2_3, %x3_0, %x3_1, %x3_2, %x3_3 : vector<16xtf32>
    %db = cute_nvgpu.wgmma.descriptor %sb[%c0, %c0] swizzle_128b leading 16 stride 1024 : memref<8x32xf32, 3>
    %none = arith.constant dense<0.0> : vector<4xf32>
    %open = cute_nvgpu.wgmma.fence(%none : vector<4xf32>)
    %under_way = cute_nvgpu.wgmma.issue %fa, %db, %open steps 4 by 0, 2 : tf32, tf32, vector<16xtf32>, vector<4xf32>
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

  gpu.func @f8(%a: memref<64x128xf8E4M3FN, 1>, %b: memref<8x128xf8E4M3FN, 1>, %c: memref<64x8xf32, 1>)
      workgroup(%sb: memref<8x128xf8E4M3FN, 3> {llvm.align = 1024 : i64}) kernel
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
    %per = arith.constant 16 : index
    scf.for %i = %tid to %count step %threads {
      %row = arith.divui %i, %c8 : index
      %piece = arith.remui %i, %c8 : index
      %from = arith.muli %piece, %per : index
      %turn = arith.remui %row, %c8 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per : index
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<8x128xf8E4M3FN, 1>, vector<16xf8E4M3FN>
      vector.store %x, %sb[%row, %to] {alignment = 16 : i64} : memref<8x128xf8E4M3FN, 3>, vector<16xf8E4M3FN>
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
    %held = arith.constant 4 : index
    %column = arith.muli %quarter, %held : index
    %twice = arith.muli %quarter, %c2 : index
    %k0_0 = arith.constant 0 : index
    %at0_0 = arith.addi %column, %k0_0 : index
    %x0_0 = vector.load %a[%top, %at0_0] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k0_1 = arith.constant 0 : index
    %at0_1 = arith.addi %column, %k0_1 : index
    %x0_1 = vector.load %a[%bottom, %at0_1] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k0_2 = arith.constant 16 : index
    %at0_2 = arith.addi %column, %k0_2 : index
    %x0_2 = vector.load %a[%top, %at0_2] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k0_3 = arith.constant 16 : index
    %at0_3 = arith.addi %column, %k0_3 : index
    %x0_3 = vector.load %a[%bottom, %at0_3] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k1_0 = arith.constant 32 : index
    %at1_0 = arith.addi %column, %k1_0 : index
    %x1_0 = vector.load %a[%top, %at1_0] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k1_1 = arith.constant 32 : index
    %at1_1 = arith.addi %column, %k1_1 : index
    %x1_1 = vector.load %a[%bottom, %at1_1] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k1_2 = arith.constant 48 : index
    %at1_2 = arith.addi %column, %k1_2 : index
    %x1_2 = vector.load %a[%top, %at1_2] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k1_3 = arith.constant 48 : index
    %at1_3 = arith.addi %column, %k1_3 : index
    %x1_3 = vector.load %a[%bottom, %at1_3] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k2_0 = arith.constant 64 : index
    %at2_0 = arith.addi %column, %k2_0 : index
    %x2_0 = vector.load %a[%top, %at2_0] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k2_1 = arith.constant 64 : index
    %at2_1 = arith.addi %column, %k2_1 : index
    %x2_1 = vector.load %a[%bottom, %at2_1] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k2_2 = arith.constant 80 : index
    %at2_2 = arith.addi %column, %k2_2 : index
    %x2_2 = vector.load %a[%top, %at2_2] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k2_3 = arith.constant 80 : index
    %at2_3 = arith.addi %column, %k2_3 : index
    %x2_3 = vector.load %a[%bottom, %at2_3] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k3_0 = arith.constant 96 : index
    %at3_0 = arith.addi %column, %k3_0 : index
    %x3_0 = vector.load %a[%top, %at3_0] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k3_1 = arith.constant 96 : index
    %at3_1 = arith.addi %column, %k3_1 : index
    %x3_1 = vector.load %a[%bottom, %at3_1] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k3_2 = arith.constant 112 : index
    %at3_2 = arith.addi %column, %k3_2 : index
    %x3_2 = vector.load %a[%top, %at3_2] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %k3_3 = arith.constant 112 : index
    %at3_3 = arith.addi %column, %k3_3 : index
    %x3_3 = vector.load %a[%bottom, %at3_3] : memref<64x128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %none_a = arith.constant dense<0.0> : vector<64xf8E4M3FN>
    %a0 = vector.insert_strided_slice %x0_0, %none_a {offsets = [0], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a1 = vector.insert_strided_slice %x0_1, %a0 {offsets = [4], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a2 = vector.insert_strided_slice %x0_2, %a1 {offsets = [8], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a3 = vector.insert_strided_slice %x0_3, %a2 {offsets = [12], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a4 = vector.insert_strided_slice %x1_0, %a3 {offsets = [16], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a5 = vector.insert_strided_slice %x1_1, %a4 {offsets = [20], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a6 = vector.insert_strided_slice %x1_2, %a5 {offsets = [24], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a7 = vector.insert_strided_slice %x1_3, %a6 {offsets = [28], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a8 = vector.insert_strided_slice %x2_0, %a7 {offsets = [32], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a9 = vector.insert_strided_slice %x2_1, %a8 {offsets = [36], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a10 = vector.insert_strided_slice %x2_2, %a9 {offsets = [40], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a11 = vector.insert_strided_slice %x2_3, %a10 {offsets = [44], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a12 = vector.insert_strided_slice %x3_0, %a11 {offsets = [48], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a13 = vector.insert_strided_slice %x3_1, %a12 {offsets = [52], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a14 = vector.insert_strided_slice %x3_2, %a13 {offsets = [56], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %a15 = vector.insert_strided_slice %x3_3, %a14 {offsets = [60], strides = [1]} : vector<4xf8E4M3FN> into vector<64xf8E4M3FN>
    %db = cute_nvgpu.wgmma.descriptor %sb[%c0, %c0] swizzle_128b leading 16 stride 1024 : memref<8x128xf8E4M3FN, 3>
    %none = arith.constant dense<0.0> : vector<4xf32>
    %open = cute_nvgpu.wgmma.fence(%none : vector<4xf32>)
    %under_way = cute_nvgpu.wgmma.issue %a15, %db, %open steps 4 by 0, 2 : f8E4M3FN, f8E4M3FN, vector<64xf8E4M3FN>, vector<4xf32>
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

  gpu.func @s8(%a: memref<64x128xi8, 1>, %b: memref<8x128xi8, 1>, %c: memref<64x8xi32, 1>)
      workgroup(%sb: memref<8x128xi8, 3> {llvm.align = 1024 : i64}) kernel
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
    %per = arith.constant 16 : index
    scf.for %i = %tid to %count step %threads {
      %row = arith.divui %i, %c8 : index
      %piece = arith.remui %i, %c8 : index
      %from = arith.muli %piece, %per : index
      %turn = arith.remui %row, %c8 : index
      %place = arith.xori %piece, %turn : index
      %to = arith.muli %place, %per : index
      %x = vector.load %b[%row, %from] {alignment = 16 : i64} : memref<8x128xi8, 1>, vector<16xi8>
      vector.store %x, %sb[%row, %to] {alignment = 16 : i64} : memref<8x128xi8, 3>, vector<16xi8>
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
    %held = arith.constant 4 : index
    %column = arith.muli %quarter, %held : index
    %twice = arith.muli %quarter, %c2 : index
    %k0_0 = arith.constant 0 : index
    %at0_0 = arith.addi %column, %k0_0 : index
    %x0_0 = vector.load %a[%top, %at0_0] : memref<64x128xi8, 1>, vector<4xi8>
    %k0_1 = arith.constant 0 : index
    %at0_1 = arith.addi %column, %k0_1 : index
    %x0_1 = vector.load %a[%bottom, %at0_1] : memref<64x128xi8, 1>, vector<4xi8>
    %k0_2 = arith.constant 16 : index
    %at0_2 = arith.addi %column, %k0_2 : index
    %x0_2 = vector.load %a[%top, %at0_2] : memref<64x128xi8, 1>, vector<4xi8>
    %k0_3 = arith.constant 16 : index
    %at0_3 = arith.addi %column, %k0_3 : index
    %x0_3 = vector.load %a[%bottom, %at0_3] : memref<64x128xi8, 1>, vector<4xi8>
    %k1_0 = arith.constant 32 : index
    %at1_0 = arith.addi %column, %k1_0 : index
    %x1_0 = vector.load %a[%top, %at1_0] : memref<64x128xi8, 1>, vector<4xi8>
    %k1_1 = arith.constant 32 : index
    %at1_1 = arith.addi %column, %k1_1 : index
    %x1_1 = vector.load %a[%bottom, %at1_1] : memref<64x128xi8, 1>, vector<4xi8>
    %k1_2 = arith.constant 48 : index
    %at1_2 = arith.addi %column, %k1_2 : index
    %x1_2 = vector.load %a[%top, %at1_2] : memref<64x128xi8, 1>, vector<4xi8>
    %k1_3 = arith.constant 48 : index
    %at1_3 = arith.addi %column, %k1_3 : index
    %x1_3 = vector.load %a[%bottom, %at1_3] : memref<64x128xi8, 1>, vector<4xi8>
    %k2_0 = arith.constant 64 : index
    %at2_0 = arith.addi %column, %k2_0 : index
    %x2_0 = vector.load %a[%top, %at2_0] : memref<64x128xi8, 1>, vector<4xi8>
    %k2_1 = arith.constant 64 : index
    %at2_1 = arith.addi %column, %k2_1 : index
    %x2_1 = vector.load %a[%bottom, %at2_1] : memref<64x128xi8, 1>, vector<4xi8>
    %k2_2 = arith.constant 80 : index
    %at2_2 = arith.addi %column, %k2_2 : index
    %x2_2 = vector.load %a[%top, %at2_2] : memref<64x128xi8, 1>, vector<4xi8>
    %k2_3 = arith.constant 80 : index
    %at2_3 = arith.addi %column, %k2_3 : index
    %x2_3 = vector.load %a[%bottom, %at2_3] : memref<64x128xi8, 1>, vector<4xi8>
    %k3_0 = arith.constant 96 : index
    %at3_0 = arith.addi %column, %k3_0 : index
    %x3_0 = vector.load %a[%top, %at3_0] : memref<64x128xi8, 1>, vector<4xi8>
    %k3_1 = arith.constant 96 : index
    %at3_1 = arith.addi %column, %k3_1 : index
    %x3_1 = vector.load %a[%bottom, %at3_1] : memref<64x128xi8, 1>, vector<4xi8>
    %k3_2 = arith.constant 112 : index
    %at3_2 = arith.addi %column, %k3_2 : index
    %x3_2 = vector.load %a[%top, %at3_2] : memref<64x128xi8, 1>, vector<4xi8>
    %k3_3 = arith.constant 112 : index
    %at3_3 = arith.addi %column, %k3_3 : index
    %x3_3 = vector.load %a[%bottom, %at3_3] : memref<64x128xi8, 1>, vector<4xi8>
    %none_a = arith.constant dense<0> : vector<64xi8>
    %a0 = vector.insert_strided_slice %x0_0, %none_a {offsets = [0], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a1 = vector.insert_strided_slice %x0_1, %a0 {offsets = [4], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a2 = vector.insert_strided_slice %x0_2, %a1 {offsets = [8], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a3 = vector.insert_strided_slice %x0_3, %a2 {offsets = [12], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a4 = vector.insert_strided_slice %x1_0, %a3 {offsets = [16], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a5 = vector.insert_strided_slice %x1_1, %a4 {offsets = [20], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a6 = vector.insert_strided_slice %x1_2, %a5 {offsets = [24], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a7 = vector.insert_strided_slice %x1_3, %a6 {offsets = [28], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a8 = vector.insert_strided_slice %x2_0, %a7 {offsets = [32], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a9 = vector.insert_strided_slice %x2_1, %a8 {offsets = [36], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a10 = vector.insert_strided_slice %x2_2, %a9 {offsets = [40], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a11 = vector.insert_strided_slice %x2_3, %a10 {offsets = [44], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a12 = vector.insert_strided_slice %x3_0, %a11 {offsets = [48], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a13 = vector.insert_strided_slice %x3_1, %a12 {offsets = [52], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a14 = vector.insert_strided_slice %x3_2, %a13 {offsets = [56], strides = [1]} : vector<4xi8> into vector<64xi8>
    %a15 = vector.insert_strided_slice %x3_3, %a14 {offsets = [60], strides = [1]} : vector<4xi8> into vector<64xi8>
    %db = cute_nvgpu.wgmma.descriptor %sb[%c0, %c0] swizzle_128b leading 16 stride 1024 : memref<8x128xi8, 3>
    %none = arith.constant dense<0> : vector<4xi32>
    %open = cute_nvgpu.wgmma.fence(%none : vector<4xi32>)
    %under_way = cute_nvgpu.wgmma.issue %a15, %db, %open steps 4 by 0, 2 : i8, i8, vector<64xi8>, vector<4xi32>
    cute_nvgpu.wgmma.commit
    %done = cute_nvgpu.wgmma.wait 0, %under_way : vector<4xi32>
    %n0_0 = arith.constant 0 : index
    %to0_0 = arith.addi %twice, %n0_0 : index
    %r0_0 = vector.extract_strided_slice %done {offsets = [0], sizes = [2], strides = [1]} : vector<4xi32> to vector<2xi32>
    vector.store %r0_0, %c[%top, %to0_0] : memref<64x8xi32, 1>, vector<2xi32>
    %n0_1 = arith.constant 0 : index
    %to0_1 = arith.addi %twice, %n0_1 : index
    %r0_1 = vector.extract_strided_slice %done {offsets = [2], sizes = [2], strides = [1]} : vector<4xi32> to vector<2xi32>
    vector.store %r0_1, %c[%bottom, %to0_1] : memref<64x8xi32, 1>, vector<2xi32>
    gpu.return
  }
}
