// Copies by TMA: a warp encodes the tensor maps of its views in shared memory and publishes them to a slot in global memory, unless the
// slot has them already, and one of its lanes issues a copy for each box of a tile.
// RUN: tilewright opt --pass allocate,synchronize,convert-tileas-to-nvgpu %s | filecheck %s
#a = #nv_tileas.layout<[16, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0]]>
#b = #nv_tileas.layout<[8, 128], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [0, 64]]>
#c = #nv_tileas.layout<[64], offset = [[1], [2], [4], [8], [16], [32]]>
!a = tensor<16x64xf16, #a>
!b = tensor<8x128xf16, #b>
!c = tensor<64xf32, #c>
!a_tiles = !nv_tileaa.tiled_view<tile = [16, 64], source = !nv_tileaa.memref<?x?xf16, strides = [?, 1]>>
!b_tiles = !nv_tileaa.tiled_view<tile = [8, 128], source = !nv_tileaa.memref<256x512xf16, strides = [512, 1]>>
!c_tiles = !nv_tileaa.tiled_view<tile = [64], source = !nv_tileaa.memref<4096xf32, strides = [1]>>
!a_map = !nv_tileas.tensor_map<!a_tiles, !a>
!b_map = !nv_tileas.tensor_map<!b_tiles, !b>
!c_map = !nv_tileas.tensor_map<!c_tiles, !c>
!c_rounded = tensor<64xtf32, #c>
!rounding_map = !nv_tileas.tensor_map<!c_tiles, !c_rounded>
!ring = !nv_tileas.pipeline<2, [!a, !b, !c]>
!iterator = !nv_tileas.pipeline_iterator<2>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // A slot has 32 words for each map and as many for its lock and its key. The maps are encoded above the stages: twice 2048, 2048 and 256 bytes.
  // CHECK: memref.global "private" @maps_tensor_maps : memref<1024x128xi32, 1> = dense<0> {alignment = 128 : i64}
  // CHECK-LABEL: gpu.func @maps
  // CHECK-SAME: memref<9088xi8, 3> {llvm.align = 1024 : i64}
  // A size of 0 becomes 1, and all coordinates of that tensor are out of bounds; one of more than 32 bits saturates.
  // CHECK: [[M64:%.*]] = arith.minui %arg1, %c4294967295_i64
  // CHECK: [[M:%.*]] = arith.trunci [[M64]] : i64 to i32
  // CHECK: [[NO_M:%.*]] = arith.cmpi eq, [[M]], %c0
  // CHECK: [[ROWS:%.*]] = arith.maxui [[M]], %c1
  // CHECK: [[N64:%.*]] = arith.minui %arg2, %c4294967295_i64
  // CHECK: [[N:%.*]] = arith.trunci [[N64]] : i64 to i32
  // CHECK: [[NO_N:%.*]] = arith.cmpi eq, [[N]], %c0
  // CHECK: [[EMPTY:%.*]] = arith.ori [[NO_M]], [[NO_N]] : i1
  // CHECK: [[COLUMNS:%.*]] = arith.maxui [[N]], %c1
  // CHECK: [[BEYOND:%.*]] = arith.select [[EMPTY]], %c1073741824_i32, %c0
  // CHECK: [[STRIDE:%.*]] = arith.muli %arg3, %c2_i64 : i64
  // The key: addresses, sizes and strides that are not constant. That of a used slot is not 0.
  // CHECK: [[USED:%.*]] = arith.addi %arg0, %c1_i64
  // CHECK: [[UPPER:%.*]] = arith.shrui [[USED]], %c32_i64
  // CHECK: [[KEY0:%.*]] = arith.trunci [[USED]]
  // CHECK: [[KEY1:%.*]] = arith.trunci [[UPPER]]
  // CHECK: arith.shrui %arg1, %c32_i64
  // CHECK: arith.shrui %arg2, %c32_i64
  // CHECK: arith.shrui %arg3, %c32_i64
  // CHECK: arith.shrui %arg4, %c32_i64
  // CHECK: arith.shrui %arg5, %c32_i64
  // CHECK-NEXT: arith.trunci %arg5
  // CHECK-NEXT: [[KEY11:%.*]] = arith.trunci
  // CHECK-NEXT: [[SLOTS:%.*]] = memref.get_global @maps_tensor_maps
  // The first lane acquires the slot of its SM, or the next one that is free, and compares its key.
  // CHECK: [[HINT:%.*]] = arith.remui {{.*}}, %c1024
  // CHECK: [[SLOT:%.*]] = scf.while (%{{.*}} = [[HINT]]) : (i32) -> i32
  // CHECK: cute_nvgpu.slot.acquire [[SLOTS]][{{.*}}, %c96] users 1
  // CHECK: cute_nvgpu.nanosleep
  // CHECK: [[N:%.*]] = arith.index_cast [[SLOT]]
  // CHECK: [[KEPT:%.*]] = memref.load [[SLOTS]][[[N]], %c100] {alignment = 16 : i64}
  // CHECK: arith.cmpi eq, [[KEPT]], [[KEY0]]
  // CHECK: memref.load [[SLOTS]][[[N]], %c101] :
  // CHECK-COUNT-10: memref.load [[SLOTS]]
  // CHECK-NOT: memref.load
  // CHECK: scf.yield [[SLOT]], {{.*}} : i32, i1
  // CHECK: cute_nvgpu.warp_sync
  // CHECK: [[OWN:%.*]], {{.*}} = gpu.shuffle idx {{.*}} : i32
  // CHECK: [[MATCHES:%.*]], {{.*}} = gpu.shuffle idx {{.*}} : i1
  // CHECK: [[SLOT:%.*]] = arith.index_cast [[OWN]]
  // CHECK: [[DIFFERS:%.*]] = arith.xori [[MATCHES]], %true
  // CHECK: scf.if [[DIFFERS]]
  // CHECK: [[MAPS:%.*]] = memref.view %arg7[%c8704][] : memref<9088xi8, 3> to memref<3x32xi32, 3>
  // CHECK-COUNT-3: memref.store {{.*}}, [[MAPS]]
  // CHECK: cute_nvgpu.warp_sync
  // A and B differ in the rows of a box: two lanes encode their maps at the same time. That of C is encoded on its own.
  // CHECK: [[IS_A:%.*]] = arith.cmpi eq, {{.*}}, %c0
  // CHECK: [[ADDRESS:%.*]] = arith.select [[IS_A]], %arg0, %arg4 : i64
  // CHECK: [[SIZE0:%.*]] = arith.select [[IS_A]], [[ROWS]], %c256
  // CHECK: [[SIZE1:%.*]] = arith.select [[IS_A]], [[COLUMNS]], %c512
  // CHECK: [[BYTES:%.*]] = arith.select [[IS_A]], [[STRIDE]], %c1024_i64
  // CHECK: [[BOX:%.*]] = arith.select [[IS_A]], %c16_i32, %c8_i32
  // CHECK: cute_nvgpu.tensormap.fill [[MAPS]][{{.*}}], [[ADDRESS]] sizes[[[SIZE0]], [[SIZE1]]] strides[[[BYTES]]] box[[[BOX]]] : {{.*}}memref<?x64xf16, 3>, swizzle = swizzle_128b
  // CHECK: cute_nvgpu.tensormap.fill [[MAPS]][{{.*}}], %arg5 sizes[%c4096{{.*}}] strides[] : {{.*}}memref<64xf32, 3>, swizzle = none
  // CHECK: cute_nvgpu.warp_sync
  // CHECK-COUNT-3: cute_nvgpu.tensormap.publish [[MAPS]]
  // One lane stores the key.
  // CHECK: scf.if
  // CHECK: memref.store [[KEY0]], [[SLOTS]][[[SLOT]], %c100]
  // CHECK: memref.store [[KEY1]], [[SLOTS]][[[SLOT]], %c101]
  // CHECK: memref.store [[KEY11]], [[SLOTS]][[[SLOT]], %c111]
  // CHECK-COUNT-3: cute_nvgpu.tensormap.at [[SLOTS]][[[SLOT]],
  // CHECK-COUNT-3: nvgpu.tma.fence.descriptor
  // No bytes of threads: the first copy arrives, and expects the bytes of all.
  // A tile of A is one box. Indices whose coordinates would overflow are out of bounds, too.
  // CHECK: nvgpu.mbarrier.try_wait.parity
  // CHECK: cute_nvgpu.elect_one
  // CHECK-NEXT: scf.if
  // CHECK: nvgpu.mbarrier.arrive.expect_tx {{.*}}, %c4352
  // CHECK: [[I:%.*]] = arith.minui %arg6, %c134217728_i32
  // CHECK: [[ROW:%.*]] = arith.muli [[I]], %c16_i32
  // CHECK: [[J:%.*]] = arith.minui %arg6, %c33554432_i32
  // CHECK: [[COLUMN:%.*]] = arith.muli [[J]], %c64_i32
  // CHECK: arith.addi [[ROW]], [[BEYOND]]
  // CHECK: nvgpu.tma.async.load
  // CHECK-NOT: nvgpu.tma.async.load
  // A tile of B is two boxes, the second 64 columns and 1024 bytes after the first.
  // CHECK: [[COLUMN:%.*]] = arith.muli {{.*}}, %c128_i32
  // CHECK: nvgpu.tma.async.load
  // CHECK: arith.addi {{.*}}, %c1024_i32
  // CHECK: arith.addi [[COLUMN]], %c64_i32
  // CHECK: nvgpu.tma.async.load
  // CHECK: nvgpu.tma.async.load
  // CHECK-NOT: nvgpu.tma.async.load
  // CHECK-NOT: mbarrier.arrive
  // CHECK: cute_nvgpu.warp_sync
  // CHECK: cute_nvgpu.elect_one
  // CHECK: cute_nvgpu.slot.release [[SLOTS]]
  nv_tileaa.func @maps(%av: !a_tiles, %bv: !b_tiles, %cv: !c_tiles, %i: i32)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %ring = nv_tileas.async.pipeline.create_pipeline {slot = 0 : i32} : !ring
    nv_tileas.async.pipeline.agent_switch attributes {first = 1 : i32, warps = 1 : i32} {
      %maps:3 = nv_tileas.create_tensor_maps %av, %bv, %cv : !a_tiles, !b_tiles, !c_tiles -> !a_map, !b_map, !c_map
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !ring -> !iterator
      %s = nv_tileas.async.pipeline.producer_acquire %ring[%begin] : !ring, !iterator
      nv_tileas.async.pipeline.producer_copy %ring, %s, %maps#0[%i, %i] {engine = #nv_tileas.engine<tma>} : !ring, !a_map, i32, i32
      nv_tileas.async.pipeline.producer_copy %ring, %s, %maps#1[%i, %i] {engine = #nv_tileas.engine<tma>, number = 1 : i32} : !ring, !b_map, i32, i32
      nv_tileas.async.pipeline.producer_copy %ring, %s, %maps#2[%i] {engine = #nv_tileas.engine<tma>, number = 2 : i32} : !ring, !c_map, i32
      nv_tileas.async.pipeline.producer_commit %ring, %s : !ring
      nv_tileas.release_tensor_maps %maps#0, %maps#1, %maps#2 : !a_map, !b_map, !c_map
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
  // A tile of tf32 has a map of that type, by which TMA rounds the f32 in memory. Its lines are the first to be evicted from L2.
  // CHECK-LABEL: gpu.func @rounded
  // CHECK: cute_nvgpu.tensormap.fill {{.*}}memref<64xtf32, 3>
  // CHECK: [[POLICY:%.*]] = nvvm.createpolicy.fractional evict_first
  // CHECK: nvgpu.tma.async.load {{.*}} l2_cache_hint = [[POLICY]] :
  nv_tileaa.func @rounded(%cv: !c_tiles, %i: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
    %ring = nv_tileas.async.pipeline.create_pipeline {slot = 0 : i32} : !nv_tileas.pipeline<2, [!c_rounded]>
    nv_tileas.async.pipeline.agent_switch attributes {first = 1 : i32, warps = 1 : i32} {
      %map = nv_tileas.create_tensor_maps %cv : !c_tiles -> !rounding_map
      %begin = nv_tileas.async.pipeline.create_iterator %ring : !nv_tileas.pipeline<2, [!c_rounded]> -> !iterator
      %s = nv_tileas.async.pipeline.producer_acquire %ring[%begin] : !nv_tileas.pipeline<2, [!c_rounded]>, !iterator
      nv_tileas.async.pipeline.producer_copy %ring, %s, %map[%i] {engine = #nv_tileas.engine<tma>, evict_first} : !nv_tileas.pipeline<2, [!c_rounded]>, !rounding_map, i32
      nv_tileas.async.pipeline.producer_commit %ring, %s : !nv_tileas.pipeline<2, [!c_rounded]>
      nv_tileas.release_tensor_maps %map : !rounding_map
      nv_tileas.async.pipeline.yield
    }
    nv_tileaa.return
  }
}
